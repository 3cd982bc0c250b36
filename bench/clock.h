/* clock.h -- how benchmarks measure: contestants take turns, and each keeps its best time.
 *
 * Machines are shared and change their pace; taking turns lets the noise hit all alike, and the best of many turns is the
 * machine undisturbed. Only ratios of times taken in one run are worth writing down. */
#ifndef HD_BENCH_CLOCK_H
#define HD_BENCH_CLOCK_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct contestant {
    void (*run)(void *context);
    void *context;
    double best; /* seconds of one run; set by bench_race */
};

/* Run all in turn, `rounds` times. A contestant that is quick is run several times in a turn, so that a turn takes at
 * least half a millisecond. */
static inline void bench_race(struct contestant *all, int n, int rounds)
{
    for (int i = 0; i < n; i++)
        all[i].best = 1e30;
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++) {
            const int times = r == 0 || all[i].best > 5e-4 ? 1 : (int)(5e-4 / all[i].best) + 1;
            const double start = bench_now();
            for (int k = 0; k < times; k++)
                all[i].run(all[i].context);
            const double took = (bench_now() - start) / times;
            if (took < all[i].best)
                all[i].best = took;
        }
}
#endif
