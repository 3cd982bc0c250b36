/* angle.h -- a large angle brought near 0, exactly: shared by ref_math.h and math.inc.
 *
 * Payne & Hanek (1983): x = m·2^e, and only those bits of 2/π matter that, multiplied by m·2^e, weigh less than 4
 * quarter turns. So m times 96 bits of 2/π, picked by e, in whole numbers: no error but the one of the last step. */
#ifndef HD_ANGLE_H
#define HD_ANGLE_H

#include "kernel/polynomials.h"
#include <stdint.h>
#include <string.h>

#define HD_ANGLE_LARGE 16384.0F /* below, three fused steps do */

/* For a finite x ≥ HD_ANGLE_LARGE: r with x = r + quarters · π/2 (modulo whole turns), |r| ≤ π/4, to half an ulp. */
static inline float hd_reduce_angle(float x, uint32_t *quarters)
{
    static const uint32_t two_over_pi[] = {
        0, HD_TWO_OVER_PI_BITS}; /* 32 zeros, then the bits after the point */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t m = (bits & 0x7fffff) | 0x800000;
    const int e = (int)(bits >> 23) - 150; /* -9 to 104 */
    const int skipped = 32 + e - 2;        /* the first bit kept weighs 2 quarters */
    const uint32_t *word = two_over_pi + skipped / 32;
    uint64_t part[3];
    for (int i = 0; i < 3; i++)
        part[i] = ((uint64_t)word[i] << 32 | word[i + 1]) << skipped % 32 >> 32;
    const uint64_t turn =
        (m * part[0] << 32) + m * part[1] + (m * part[2] >> 32); /* 2^64 is a whole turn */
    *quarters = (uint32_t)((turn + (1ULL << 61)) >> 62);
    return (float)((double)(int64_t)(turn << 2) * 0x1.921fb54442d18p-64); /* π/2 · 2^-64 */
}
#endif
