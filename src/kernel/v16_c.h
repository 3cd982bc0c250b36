/* v16_c.h -- the vector of 16 floats in plain C, and the meaning of every function of its siblings.
 *
 * v16_avx512.h, v16_avx2.h and v16_neon.h offer the same names over real registers. Each operation is exact or rounded
 * once, so that all four give the same bits. Masks (m16) have one flag per lane; i16 are 32-bit integers that wrap. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Not inlined as in the siblings: with 16 calls of fmaf in each of them gcc would work on this for more than a minute. */
#define HD_INLINE static __attribute__((noinline, unused))

typedef struct {
    float l[16];
} v16;
typedef struct {
    uint32_t l[16];
} i16;
typedef uint32_t m16; /* bit l is lane l */

#define HD_EACH for (int l = 0; l < 16; l++)

HD_INLINE m16 m16_first(long n)
{
    return n >= 16 ? 0xffffu : (1u << n) - 1;
} /* the first n lanes, 0 ≤ n */

HD_INLINE v16 v16_set(float x)
{
    v16 r;
    HD_EACH r.l[l] = x;
    return r;
}
HD_INLINE v16 v16_zero(void)
{
    return v16_set(0);
}
HD_INLINE v16 v16_load(const float *p) /* any alignment */
{
    v16 r;
    memcpy(&r, p, sizeof r);
    return r;
}
HD_INLINE v16 v16_load_part(const float *p, long n) /* the first n, then +0; reads nothing beyond */
{
    v16 r;
    HD_EACH r.l[l] = l < n ? p[l] : 0.0f;
    return r;
}
HD_INLINE void v16_store(float *p, v16 a)
{
    memcpy(p, &a, sizeof a);
}
HD_INLINE void v16_store_part(float *p, v16 a, long n)
{
    for (int l = 0; l < 16 && l < n; l++)
        p[l] = a.l[l];
}
#define HD_LANEWISE(name, expression) \
    HD_INLINE v16 name(v16 a, v16 b)  \
    {                                 \
        v16 r;                        \
        HD_EACH r.l[l] = expression;  \
        return r;                     \
    }
HD_LANEWISE(v16_add, a.l[l] + b.l[l])
HD_LANEWISE(v16_sub, a.l[l] - b.l[l])
HD_LANEWISE(v16_mul, a.l[l] * b.l[l])
HD_LANEWISE(v16_div, a.l[l] / b.l[l])
HD_LANEWISE(v16_max, a.l[l] > b.l[l] ? a.l[l] : b.l[l]) /* b where either is NaN */
HD_LANEWISE(v16_min, a.l[l] < b.l[l] ? a.l[l] : b.l[l]) /* b where either is NaN */
#undef HD_LANEWISE
HD_INLINE v16 v16_sqrt(v16 a)
{
    HD_EACH a.l[l] = sqrtf(a.l[l]);
    return a;
}
HD_INLINE v16 v16_fma(v16 a, v16 b, v16 c) /* a·b + c, rounded once */
{
    HD_EACH c.l[l] = fmaf(a.l[l], b.l[l], c.l[l]);
    return c;
}
HD_INLINE v16 v16_fnma(v16 a, v16 b, v16 c) /* c - a·b, rounded once */
{
    HD_EACH c.l[l] = fmaf(-a.l[l], b.l[l], c.l[l]);
    return c;
}
HD_INLINE v16 v16_abs(v16 a)
{
    HD_EACH a.l[l] = fabsf(a.l[l]);
    return a;
}
HD_INLINE v16 v16_neg(v16 a) /* turns the sign, of zeros as well */
{
    HD_EACH a.l[l] = -a.l[l];
    return a;
}
HD_INLINE v16 v16_round(v16 a) /* to the nearest whole number, ties to even */
{
    HD_EACH a.l[l] = rintf(a.l[l]);
    return a;
}

#define HD_COMPARE(name, type, operator)   \
    HD_INLINE m16 name(type a, type b)     \
    {                                      \
        m16 r = 0;                         \
        HD_EACH r |= (m16)(operator) << l; \
        return r;                          \
    }
HD_COMPARE(v16_gt, v16, a.l[l] > b.l[l]) /* false where either is NaN, as all of these */
HD_COMPARE(v16_lt, v16, a.l[l] < b.l[l])
HD_COMPARE(v16_ge, v16, a.l[l] >= b.l[l])
HD_COMPARE(v16_eq, v16, a.l[l] == b.l[l])
HD_COMPARE(i16_gt, i16, (int32_t)a.l[l] > (int32_t)b.l[l]) /* signed */
HD_COMPARE(i16_eq, i16, a.l[l] == b.l[l])
#undef HD_COMPARE
HD_INLINE m16 v16_is_nan(v16 a)
{
    m16 r = 0;
    HD_EACH r |= (m16)(a.l[l] != a.l[l]) << l;
    return r;
}
HD_INLINE v16 v16_select(m16 m, v16 a, v16 b) /* m ? a : b */
{
    HD_EACH a.l[l] = m >> l & 1 ? a.l[l] : b.l[l];
    return a;
}
HD_INLINE m16 m16_and(m16 a, m16 b)
{
    return a & b;
}
HD_INLINE m16 m16_or(m16 a, m16 b)
{
    return a | b;
}
HD_INLINE unsigned m16_bits(m16 a)
{
    return a;
} /* bit l is lane l */
HD_INLINE m16
m16_from_bytes(const uint8_t *p) /* lane l is set where p[l] is not 0; reads 16 bytes */
{
    m16 r = 0;
    HD_EACH r |= (m16)(p[l] != 0) << l;
    return r;
}

HD_INLINE i16 i16_set(int x)
{
    i16 r;
    HD_EACH r.l[l] = (uint32_t)x;
    return r;
}
HD_INLINE i16 i16_load(const int *p)
{
    i16 r;
    memcpy(&r, p, sizeof r);
    return r;
}
HD_INLINE void i16_store(int *p, i16 a)
{
    memcpy(p, &a, sizeof a);
}
HD_INLINE i16 i16_count(void) /* 0, 1, 2 … 15 */
{
    i16 r;
    HD_EACH r.l[l] = (uint32_t)l;
    return r;
}
#define HD_LANEWISE(name, operator)              \
    HD_INLINE i16 name(i16 a, i16 b)             \
    {                                            \
        HD_EACH a.l[l] = a.l[l] operator b.l[l]; \
        return a;                                \
    }
HD_LANEWISE(i16_add, +)
HD_LANEWISE(i16_sub, -)
HD_LANEWISE(i16_and, &)
HD_LANEWISE(i16_or, |)
HD_LANEWISE(i16_xor, ^)
#undef HD_LANEWISE
HD_INLINE i16 i16_select(m16 m, i16 a, i16 b)
{
    HD_EACH a.l[l] = m >> l & 1 ? a.l[l] : b.l[l];
    return a;
}
HD_INLINE i16 i16_shl(i16 a, int bits)
{
    HD_EACH a.l[l] <<= bits;
    return a;
}
HD_INLINE i16 i16_shr(i16 a, int bits) /* zeros come in */
{
    HD_EACH a.l[l] >>= bits;
    return a;
}
HD_INLINE i16 i16_sar(i16 a, int bits) /* the sign comes in */
{
    HD_EACH a.l[l] = (uint32_t)((int32_t)a.l[l] >> bits);
    return a;
}
/* Half of the work each, for those who need many: the 64-bit products of the even lanes, low half in the even and high
 * half in the odd lane; the odd lanes moved to the even ones; even lanes of two vectors joined. Where only even lanes are
 * said to be moved or read, the odd ones hold anything. */
HD_INLINE i16 i16_mul_even(i16 a, i16 b)
{
    i16 r;
    for (int l = 0; l < 16; l += 2) {
        const uint64_t p = (uint64_t)a.l[l] * b.l[l];
        r.l[l] = (uint32_t)p;
        r.l[l + 1] = (uint32_t)(p >> 32);
    }
    return r;
}
HD_INLINE i16 i16_odd_to_even(i16 a)
{
    for (int l = 0; l < 16; l += 2)
        a.l[l] = a.l[l + 1];
    return a;
}
HD_INLINE i16 i16_join(i16 even, i16 odd)
{
    for (int l = 0; l < 16; l += 2)
        even.l[l + 1] = odd.l[l];
    return even;
}
HD_INLINE v16 v16_bits(i16 a) /* the same bits, read as floats */
{
    v16 r;
    memcpy(&r, &a, sizeof r);
    return r;
}
HD_INLINE i16 i16_bits(v16 a)
{
    i16 r;
    memcpy(&r, &a, sizeof r);
    return r;
}
HD_INLINE v16 v16_from_int(i16 a) /* signed, rounded to nearest */
{
    v16 r;
    HD_EACH r.l[l] = (float)(int32_t)a.l[l];
    return r;
}
HD_INLINE i16 i16_nearest(
    v16 a) /* to the nearest, ties to even; |a| must be below 2^31 (else any result, no trap) */
{
    i16 r;
    HD_EACH r.l[l] = a.l[l] > -2147483648.0f && a.l[l] < 2147483648.0f
                         ? (uint32_t)(int32_t)rintf(a.l[l])
                         : 0x80000000u;
    return r;
}

HD_INLINE float v16_sum(v16 a) /* the one tree: l and l+8, l and l+4, l and l+2, l and l+1 */
{
    for (int step = 8; step > 0; step /= 2)
        for (int l = 0; l < step; l++)
            a.l[l] = a.l[l] + a.l[l + step];
    return a.l[0];
}
HD_INLINE v16 v16_sums(const v16 r[16]) /* lane i is v16_sum(r[i]) */
{
    v16 s;
    HD_EACH s.l[l] = v16_sum(r[l]);
    return s;
}
HD_INLINE float v16_largest(v16 a) /* no NaN in a; either zero when +0 and -0 are both largest */
{
    for (int step = 8; step > 0; step /= 2)
        for (int l = 0; l < step; l++)
            a.l[l] = a.l[l + step] > a.l[l] ? a.l[l + step] : a.l[l];
    return a.l[0];
}
#undef HD_EACH
