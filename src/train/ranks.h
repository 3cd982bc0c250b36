/* ranks.h -- the machines that train together: which one this is, and what they tell each other.
 *
 * Started by mpirun or its like there are several ranks, otherwise one, which talks to nobody. The module that talks (mpi/exchange.h) is
 * loaded only under a launcher. */
#ifndef HD_TRAIN_RANKS_H
#define HD_TRAIN_RANKS_H

#include "mpi/exchange.h"

struct hd_ranks {
    int rank, n;                             /* this one of n */
    int n_here;                              /* ranks of this machine */
    const struct hd_exchange_module *module; /* NULL when alone */
    double seconds;                          /* spent waiting for others */
};

/* Join the others, if there are any. */
bool hd_ranks_join(struct hd_ranks *ranks, heed_error *err);
void hd_ranks_leave(struct hd_ranks *ranks, bool has_failed);

/* The bytes of rank 0 to all. */
bool hd_ranks_tell(struct hd_ranks *ranks, void *bytes, size_t n, heed_error *err);

/* Everybody's part of `all` to everybody, and back when it is there; in bytes. */
bool hd_ranks_gather(struct hd_ranks *ranks, void *all, const size_t *at, const size_t *n,
                     heed_error *err);

/* The bits that any rank has set. */
bool hd_ranks_vote(struct hd_ranks *ranks, unsigned *bits, heed_error *err);

bool hd_ranks_wait(struct hd_ranks *ranks, int slot, heed_error *err);

#endif
