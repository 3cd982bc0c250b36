/* clock.h -- time that only goes forward, for measuring and for deadlines. */
#ifndef HD_BASE_CLOCK_H
#define HD_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment in the past; changes of the wall clock do not move it. */
static inline double hd_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
