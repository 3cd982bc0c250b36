/* rng_checksum.h -- one number for many random numbers: equal on every CPU and compiler, or a test
 * fails. */
#ifndef HD_TEST_RNG_CHECKSUM_H
#define HD_TEST_RNG_CHECKSUM_H

#include "base/rng.h"

#include <string.h>

#define RNG_CHECKSUM UINT64_C(0x27cb0449b8b0dc98)

static inline uint64_t rng_checksum(void)
{
    uint64_t sum = 0;
    struct hd_rng rng = {.key = 0x123456789ABCDEF0, .stream = 17};
    for (int i = 0; i < 100000; i++) {
        const float numbers[2] = {hd_rng_uniform(&rng), hd_rng_normal(&rng)};
        uint64_t bits;
        memcpy(&bits, numbers, sizeof bits);
        sum = (sum ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 29;
        sum ^= hd_rng_below(&rng, (uint32_t)i * 40000 + 3);
    }
    return sum;
}

#endif
