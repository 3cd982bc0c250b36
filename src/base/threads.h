/* threads.h -- a pool of threads that runs numbered tasks, and how many cores there are for it.
 *
 * A task's result belongs to its index, never to the thread that happened to run it: that is
 * what keeps results the same for any number of threads. Threads are used by train and translate, and
 * where a model's file is read. */
#ifndef HD_BASE_THREADS_H
#define HD_BASE_THREADS_H

#include <heed.h>

struct hd_pool;

/* A pool of `n_threads` workers, one of which is the thread that calls hd_pool_run(); 1 starts
 * no thread at all. NULL with the reason in `err` (HEED_BAD_OPTION: n_threads below 1 or above
 * 4096; HEED_NO_MEMORY: the system gives no more threads). */
struct hd_pool *hd_pool_new(int n_threads, heed_error *err);

/* Ends the threads. No run may be under way. NULL is fine. */
void hd_pool_free(struct hd_pool *pool);

int hd_pool_size(const struct hd_pool *pool);

/* Call task(context, index, worker) once for each index in [0, n_tasks), and return when all are
 * done. Tasks start in ascending order, each on the next free worker; `worker` in [0, n_threads)
 * says which, so that each can have its own arena. What tasks wrote is visible to the caller
 * afterwards. One run at a time: a task must not run tasks of the same pool. */
void hd_pool_run(struct hd_pool *pool, void (*task)(void *context, int index, int worker),
                 void *context, int n_tasks);

/* While hd_pool_run() has no task left for its caller but waits for others', it calls idle(context) some ten times a second. NULL: never. */
void hd_pool_set_idle(struct hd_pool *pool, void (*idle)(void *context), void *context);

/* The quota part of heed_cores(), reading `root`/proc/self/cgroup and `root`/sys/fs/cgroup/...;
 * tests have a root of their own. Cores, rounded up, or 0 when there is no quota. */
int hd_cores_of_quota(const char *root);

#endif
