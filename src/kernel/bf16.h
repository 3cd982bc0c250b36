/* bf16.h -- the arithmetic of bf16 on single numbers: the definition that ref_gemm.c is made of.
 *
 * A bf16 is the upper half of a float: its sign, its exponent, 7 bits of its fraction. Products of two are exact in a float, so a sum
 * of products has one rounding per addition. Denormals are zeros, here as in the instructions vdpbf16ps and tdpbf16ps. These add in orders
 * of their own: one chain, or blocks. */
#ifndef HD_KERNEL_BF16_H
#define HD_KERNEL_BF16_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float hd_bf16_value(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float x = 0;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* To the nearest, ties to even; a denormal becomes a zero of its sign, a NaN a quiet NaN. */
static inline uint16_t hd_bf16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x)
        return (uint16_t)(bits >> 16 | 0x40);
    if ((bits & 0x7f800000) == 0)
        return (uint16_t)(bits >> 16 & 0x8000);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float hd_bf16_flush(float x)
{
    return x > -FLT_MIN && x < FLT_MIN ? copysignf(0, x) : x;
}

/* a·b + c, rounded once, for values of bf16 a and b. Denormal operands are zeros, and so is a result that would be denormal if
 * exponents went on below the smallest: just below FLT_MIN what rounds up to it with 24 bits stays, what has a float of its own there does not. */
static inline float hd_bf16_fma(float a, float b, float c)
{
    a = hd_bf16_flush(a);
    b = hd_bf16_flush(b);
    c = hd_bf16_flush(c);
    const float sum = fmaf(a, b, c);
    if (sum == FLT_MIN || sum == -FLT_MIN) {
        const double exact = (double)a * (double)b + (double)c; /* all its bits are there */
        const double least = 0x1p-126 - 0x1p-151;
        return exact > -least && exact < least ? copysignf(0, sum) : sum;
    }
    return hd_bf16_flush(sum);
}

/* a + b, with denormals as zeros. */
static inline float hd_bf16_add(float a, float b)
{
    return hd_bf16_flush(hd_bf16_flush(a) + hd_bf16_flush(b));
}

/* ---- sums in blocks --------------------------------------------------------------------------------------------- */

enum { HD_BF16_BLOCK = 32 }; /* of k: what AMX takes at a time */

/* A sum over k in blocks: of each block the even and the odd products are chains of their own, which are added, and then added to the sum. */
struct hd_bf16_sum {
    float sum, part[2];
};

/* The next product; the last block is to be filled up with zeros. */
static inline void hd_bf16_sum_add(struct hd_bf16_sum *s, int k, float a, float b)
{
    s->part[k % 2] = hd_bf16_fma(a, b, s->part[k % 2]);
    if (k % HD_BF16_BLOCK == HD_BF16_BLOCK - 1) {
        s->sum = hd_bf16_add(s->sum, hd_bf16_add(s->part[0], s->part[1]));
        s->part[0] = s->part[1] = 0;
    }
}
#endif
