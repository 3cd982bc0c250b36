/* exchange.h -- the door between libheed and the module heed_mpi.so: what machines that train together tell each other.
 *
 * The machines, called ranks, run the same program on the same text and differ in which shards of an update they compute. All of them make
 * the same calls in the same order. Sizes are in bytes; at[i] and n[i] are about rank i. A call that fails has ended the others too. */
#ifndef HD_MPI_EXCHANGE_H
#define HD_MPI_EXCHANGE_H

#include <heed.h>

enum { HD_EXCHANGE_SLOTS = 16 }; /* messages that may be under way at a time */

struct hd_exchange_module {
    const char *version; /* HEED_VERSION of the build */

    /* Join the others. How many ranks there are, which is this one, and how many of them share this machine. */
    bool (*open)(int *rank, int *n_ranks, int *n_here, heed_error *err);

    /* Leave. A rank that has failed takes the others with it when its process ends, so that nobody waits for it. */
    void (*close)(bool has_failed);

    /* Part i of `from` goes to rank i; what comes from rank j is put at to_at[j] of `to`. Under way until wait(slot). */
    bool (*scatter)(int slot, const void *from, const size_t *at, const size_t *n, void *to,
                    const size_t *to_at, const size_t *to_n, heed_error *err);

    /* Part i of `all` is rank i's and becomes everybody's. Under way until wait(slot). */
    bool (*gather)(int slot, void *all, const size_t *at, const size_t *n, heed_error *err);

    bool (*wait)(int slot, heed_error *err);

    /* The bytes of rank `from` to all. */
    bool (*tell)(int from, void *bytes, size_t n, heed_error *err);
};

/* What the library looks for in the module. */
extern HEED_API const struct hd_exchange_module hd_exchange_module;

#endif
