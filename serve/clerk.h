/* clerk.h -- a thread that makes what takes long, one piece of work after the other in the order in which they were given: large answers, and
 * changes of the memory. So neither the daemon's thread nor those that take results wait for it.
 *
 * Work that was given is answered once: by the clerk, or, where the server ends before its turn, with a sentence that says so. */
#ifndef HD_SERVE_CLERK_H
#define HD_SERVE_CLERK_H

#include <heed.h>
#include <pthread.h>

struct hd_work;

struct hd_clerk {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t given;
    struct hd_work *first, *last; /* that wait */
    size_t n_waiting;
    void (*make)(struct hd_work *work, bool is_too_late);
    pthread_t thread;
    bool is_running, is_ending;
};

/* make() is called by the clerk's thread; the work may be gone after it. */
void hd_clerk_init(struct hd_clerk *clerk, void (*make)(struct hd_work *work, bool is_too_late));
bool hd_clerk_start(struct hd_clerk *clerk, heed_error *err);

/* False: the clerk takes nothing more, or too much waits already (`most`), and the work is still the caller's. */
bool hd_clerk_give(struct hd_clerk *clerk, struct hd_work *work, size_t most);

/* Begin to end: what waits is too late. */
void hd_clerk_hurry(struct hd_clerk *clerk);

/* The same, and wait until all is made. May be called again. */
void hd_clerk_end(struct hd_clerk *clerk);
void hd_clerk_release(struct hd_clerk *clerk);

#endif
