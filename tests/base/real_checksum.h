/* real_checksum.h -- one number for many logarithms and exponentials: equal on every CPU and compiler, or a test
 * fails. */
#ifndef HD_TEST_REAL_CHECKSUM_H
#define HD_TEST_REAL_CHECKSUM_H

#include "base/real.h"
#include "base/rng.h"

#include <string.h>

#define REAL_CHECKSUM UINT64_C(0x79952b70368d4000)

static inline uint64_t real_checksum(void)
{
    uint64_t sum = 0;
    struct hd_rng rng = {.key = 0x123456789ABCDEF0, .stream = 18};
    for (int i = 0; i < 100000; i++) {
        const double u = (double)hd_rng_u32(&rng) * 0x1p-32 + (double)hd_rng_u32(&rng) * 0x1p-64;
        const double numbers[2] = {hd_real_exp(1460 * u - 750), hd_real_log(u)};
        uint64_t bits[2];
        memcpy(bits, numbers, sizeof bits);
        sum = (sum ^ bits[0]) * UINT64_C(0x9E3779B97F4A7C15);
        sum = (sum ^ sum >> 29 ^ bits[1]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return sum;
}

#endif
