/* ref_math.h -- exp, log, tanh and the like, one number at a time: the definition that math.inc repeats 16 at a time.
 *
 * Only IEEE operations, fmaf, and bits read as numbers: every machine gets the same result. All 2^32 floats have been
 * tried against double precision (test_math.c tries a million of them again); the largest errors, in units of the last
 * place of the exact result, denormal ones included:
 *
 *     exp 0.90   log 0.94   tanh 1.86   sigmoid 1.65   sin 1.56   cos 1.56   erf 1.10
 *     gelu 1.15 where x ≥ 0; below, 1.4 · 2^-24 |x|
 *     swish 2.69, until its σ becomes denormal (below -87) */
#ifndef HD_REF_MATH_H
#define HD_REF_MATH_H

#include "kernel/angle.h"
#include "kernel/polynomials.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Adding and subtracting this rounds to a whole number; in between, the low bits of the sum are that number. */
#define HD_ROUNDER 0x1.8p23F

static inline uint32_t ref_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float ref_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float ref_power_of_2(int n) /* -126 ≤ n ≤ 127 */
{
    return ref_from_bits((uint32_t)(n + 127) << 23);
}

/* y ≥ 0 with the sign of x */
static inline float ref_with_sign(float y, float x)
{
    return ref_from_bits(ref_bits(y) | (ref_bits(x) & 0x80000000U));
}

/* x = n ln 2 + r, exp(x) = 2^n · (1 + r + …). The power of 2 goes in two halves, so that only the last product
 * rounds, denormal or not. */
static inline float ref_exp_of(float x)
{
    if (x != x)
        return x;
    x = 89.0F < x ? 89.0F : x; /* beyond: inf, and 0 */
    x = -104.0F > x ? -104.0F : x;
    const float n = fmaf(x, HD_LOG2E, HD_ROUNDER) - HD_ROUNDER;
    const float r = fmaf(n, -HD_LN2_2, fmaf(n, -HD_LN2_1, x));
    float p = HD_EXP_6;
    p = fmaf(p, r, HD_EXP_5);
    p = fmaf(p, r, HD_EXP_4);
    p = fmaf(p, r, HD_EXP_3);
    p = fmaf(p, r, HD_EXP_2);
    p = fmaf(p, r, 1.0F);
    p = fmaf(p, r, 1.0F);
    const int half = (int)n / 2; /* whichever way it rounds: the first product is exact */
    return p * ref_power_of_2(half) * ref_power_of_2((int)n - half);
}

/* x = 2^e · (1 + f), log(x) = e ln 2 + f - f²/2 + … */
static inline float ref_log_of(float x)
{
    if (!(x > 0.0F))
        return x == 0.0F ? -INFINITY : NAN;
    if (!(x < INFINITY))
        return x;
    const int is_denormal = x < 0x1p-126F;
    const uint32_t bits = ref_bits(is_denormal ? x * 0x1p23F : x);
    const int32_t e = (int32_t)(bits - ref_bits(HD_SQRT_HALF)) >> 23;
    const float f = ref_from_bits(bits - ((uint32_t)e << 23)) - 1.0F;
    const float n = (float)e - (is_denormal ? 23.0F : 0.0F);
    float p = HD_LOG_10;
    p = fmaf(p, f, HD_LOG_9);
    p = fmaf(p, f, HD_LOG_8);
    p = fmaf(p, f, HD_LOG_7);
    p = fmaf(p, f, HD_LOG_6);
    p = fmaf(p, f, HD_LOG_5);
    p = fmaf(p, f, HD_LOG_4);
    p = fmaf(p, f, HD_LOG_3);
    p = fmaf(p, f, -0.5F);
    p = fmaf(f * f, p, f);
    return fmaf(n, HD_LN2_1, fmaf(n, HD_LN2_2, p));
}

/* tanh |x| = h / (h + 1), where h = (exp(2|x|) - 1) / 2 = ½ 2^n (1 + p) - ½ = ½ 2^n p + (½ 2^n - ½): nothing cancels.
 * Where h < 1, h - h tanh |x| says the same and forgets half of what the division and h + 1 rounded off. */
static inline float ref_tanh_of(float x)
{
    if (x != x)
        return x;
    float a = fabsf(x) + fabsf(x);
    a = 20.0F < a ? 20.0F : a; /* beyond: 1 */
    const float n = fmaf(a, HD_LOG2E, HD_ROUNDER) - HD_ROUNDER;
    const float r = fmaf(n, -HD_LN2_1, a);
    float p = HD_EXPM1_6;
    p = fmaf(p, r, HD_EXPM1_5);
    p = fmaf(p, r, HD_EXPM1_4);
    p = fmaf(p, r, HD_EXPM1_3);
    p = fmaf(p, r, HD_EXPM1_2);
    p = fmaf(r * r, p, r);
    const float power = ref_power_of_2((int)n - 1);
    const float h = fmaf(power, p, power - 0.5F);
    const float y = h / (h + 1.0F);
    return ref_with_sign(h < 1.0F ? fmaf(-h, y, h) : y, x);
}

/* With e = exp(-|x|) and t = e / (1 + e): σ(x) = e - e t where x < 0, else 1 - t. */
static inline float ref_sigmoid_of(float x)
{
    const float e = ref_exp_of(-fabsf(x));
    const float one = x < 0.0F ? e : 1.0F;
    return fmaf(-one, e / (1.0F + e), one);
}

/* sin(|x| + quarters · π/2) */
static inline float ref_sin_from(float x, uint32_t quarters)
{
    const float a = fabsf(x);
    if (!(a < INFINITY))
        return NAN;
    float r;
    if (a >= HD_ANGLE_LARGE) {
        uint32_t more;
        r = hd_reduce_angle(a, &more);
        quarters += more;
    } else {
        const float n = fmaf(a, HD_TWO_OVER_PI, HD_ROUNDER) - HD_ROUNDER;
        r = fmaf(n, -HD_HALF_PI_3, fmaf(n, -HD_HALF_PI_2, fmaf(n, -HD_HALF_PI_1, a)));
        quarters += (uint32_t)n;
    }
    const float z = r * r;
    float y;
    if (quarters & 1) {
        y = fmaf(fmaf(HD_COS_8, z, HD_COS_6), z, HD_COS_4);
        y = fmaf(fmaf(y, z, -0.5F), z, 1.0F);
    } else {
        y = fmaf(fmaf(HD_SIN_7, z, HD_SIN_5), z, HD_SIN_3);
        y = fmaf(y, r * z, r);
    }
    return quarters & 2 ? -y : y;
}

static inline float ref_sin_of(float x)
{
    const float y = ref_sin_from(x, 0);
    return ref_bits(x) >> 31 ? -y : y;
}

static inline float ref_cos_of(float x)
{
    return ref_sin_from(x, 1);
}

/* Below 0.9 an odd polynomial; from there 1 - exp(polynomial), as log erfc is smooth. */
static inline float ref_erf_of(float x)
{
    if (x != x)
        return x;
    float a = fabsf(x);
    float y;
    if (a < 0.9F) {
        const float z = a * a;
        float p = HD_ERF_10;
        p = fmaf(p, z, HD_ERF_8);
        p = fmaf(p, z, HD_ERF_6);
        p = fmaf(p, z, HD_ERF_4);
        p = fmaf(p, z, HD_ERF_2);
        p = fmaf(p, z, HD_ERF_0);
        y = fmaf(a, p, a);
    } else {
        a = 4.0F < a ? 4.0F : a; /* beyond: 1 */
        float t = HD_ERFC_6;
        t = fmaf(t, a, HD_ERFC_5);
        t = fmaf(t, a, HD_ERFC_4);
        t = fmaf(t, a, HD_ERFC_3);
        t = fmaf(t, a, HD_ERFC_2);
        t = fmaf(t, a, HD_ERFC_1);
        t = fmaf(t, a, HD_ERFC_0);
        const float n = fmaf(t, HD_LOG2E, HD_ROUNDER) - HD_ROUNDER;
        const float r = fmaf(n, -HD_LN2_1, t);
        float p = HD_EXP_6;
        p = fmaf(p, r, HD_EXP_5);
        p = fmaf(p, r, HD_EXP_4);
        p = fmaf(p, r, HD_EXP_3);
        p = fmaf(p, r, HD_EXP_2);
        p = fmaf(p, r, 1.0F);
        p = fmaf(p, r, 1.0F);
        y = fmaf(-p, ref_power_of_2((int)n), 1.0F);
    }
    return ref_with_sign(y, x);
}

static inline float ref_relu_of(float x)
{
    return 0.0F > x ? 0.0F : x;
}

/* x/2 · (1 + erf(x/√2)); where x < 0 the sum cancels, so that the error there is one of x, not of the result */
static inline float ref_gelu_of(float x)
{
    const float half = 0.5F * x;
    return fmaf(half, ref_erf_of(x * HD_SQRT_HALF), half);
}

static inline float ref_swish_of(float x)
{
    return x * ref_sigmoid_of(x);
}
#endif
