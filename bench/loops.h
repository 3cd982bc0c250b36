/* loops.h -- what a second thread can gain on this machine at this moment: two bare loops of multiply-adds, by one thread or two. */
#ifndef HD_BENCH_LOOPS_H
#define HD_BENCH_LOOPS_H

#include "base/threads.h"
#include "peak.h"

static inline void bench_loop(void *context, int index, int worker)
{
    (void)context;
    (void)index;
    (void)worker;
    for (int i = 0; i < 200; i++)
        (void)peak_run();
}

/* Two loops by the threads of a pool; a contestant of bench_race(). */
static inline void bench_two_loops(void *pool)
{
    hd_pool_run(pool, bench_loop, NULL, 2);
}
#endif
