/* v16_avx512.h -- the vector of 16 floats as one AVX-512 register. See v16_c.h for what each function means. */
#include <immintrin.h>
#include <stdint.h>

#define HD_INLINE static inline __attribute__((always_inline, unused))

typedef __m512 v16;
typedef __m512i i16;
typedef __mmask16 m16;

HD_INLINE m16 m16_first(long n)
{
    return n >= 16 ? 0xffff : (m16)((1u << n) - 1);
}

HD_INLINE v16 v16_zero(void)
{
    return _mm512_setzero_ps();
}
HD_INLINE v16 v16_set(float x)
{
    return _mm512_set1_ps(x);
}
HD_INLINE v16 v16_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
HD_INLINE v16 v16_load_part(const float *p, long n)
{
    return _mm512_maskz_loadu_ps(m16_first(n), p);
}
HD_INLINE void v16_store(float *p, v16 a)
{
    _mm512_storeu_ps(p, a);
}
HD_INLINE void v16_store_part(float *p, v16 a, long n)
{
    _mm512_mask_storeu_ps(p, m16_first(n), a);
}
HD_INLINE v16 v16_add(v16 a, v16 b)
{
    return _mm512_add_ps(a, b);
}
HD_INLINE v16 v16_sub(v16 a, v16 b)
{
    return _mm512_sub_ps(a, b);
}
HD_INLINE v16 v16_mul(v16 a, v16 b)
{
    return _mm512_mul_ps(a, b);
}
HD_INLINE v16 v16_div(v16 a, v16 b)
{
    return _mm512_div_ps(a, b);
}
HD_INLINE v16 v16_sqrt(v16 a)
{
    return _mm512_sqrt_ps(a);
}
HD_INLINE v16 v16_fma(v16 a, v16 b, v16 c)
{
    return _mm512_fmadd_ps(a, b, c);
}
HD_INLINE v16 v16_fnma(v16 a, v16 b, v16 c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
HD_INLINE v16 v16_max(v16 a, v16 b)
{
    return _mm512_max_ps(a, b);
}
HD_INLINE v16 v16_min(v16 a, v16 b)
{
    return _mm512_min_ps(a, b);
}
HD_INLINE v16 v16_abs(v16 a)
{
    return _mm512_abs_ps(a);
}
HD_INLINE v16 v16_neg(v16 a)
{
    return _mm512_castsi512_ps(
        _mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32((int)0x80000000u)));
}
HD_INLINE v16 v16_round(v16 a)
{
    return _mm512_roundscale_ps(a, 0);
}

HD_INLINE m16 v16_gt(v16 a, v16 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
HD_INLINE m16 v16_lt(v16 a, v16 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
HD_INLINE m16 v16_ge(v16 a, v16 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}
HD_INLINE m16 v16_eq(v16 a, v16 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
HD_INLINE m16 v16_is_nan(v16 a)
{
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}
HD_INLINE v16 v16_select(m16 m, v16 a, v16 b)
{
    return _mm512_mask_blend_ps(m, b, a);
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
}
HD_INLINE m16 m16_from_bytes(const uint8_t *p)
{
    return (m16)_mm_test_epi8_mask(_mm_loadu_si128((const __m128i *)p),
                                   _mm_loadu_si128((const __m128i *)p));
}

HD_INLINE i16 i16_set(int x)
{
    return _mm512_set1_epi32(x);
}
HD_INLINE i16 i16_load(const int *p)
{
    return _mm512_loadu_si512(p);
}
HD_INLINE void i16_store(int *p, i16 a)
{
    _mm512_storeu_si512(p, a);
}
HD_INLINE i16 i16_count(void)
{
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
HD_INLINE i16 i16_add(i16 a, i16 b)
{
    return _mm512_add_epi32(a, b);
}
HD_INLINE i16 i16_sub(i16 a, i16 b)
{
    return _mm512_sub_epi32(a, b);
}
HD_INLINE i16 i16_and(i16 a, i16 b)
{
    return _mm512_and_si512(a, b);
}
HD_INLINE i16 i16_or(i16 a, i16 b)
{
    return _mm512_or_si512(a, b);
}
HD_INLINE i16 i16_xor(i16 a, i16 b)
{
    return _mm512_xor_si512(a, b);
}
HD_INLINE m16 i16_gt(i16 a, i16 b)
{
    return _mm512_cmpgt_epi32_mask(a, b);
}
HD_INLINE m16 i16_eq(i16 a, i16 b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
}
HD_INLINE i16 i16_select(m16 m, i16 a, i16 b)
{
    return _mm512_mask_blend_epi32(m, b, a);
}
#define i16_shl(a, bits) _mm512_slli_epi32(a, bits)
#define i16_shr(a, bits) _mm512_srli_epi32(a, bits)
#define i16_sar(a, bits) _mm512_srai_epi32(a, bits)
HD_INLINE i16 i16_mul_even(i16 a, i16 b)
{
    return _mm512_mul_epu32(a, b);
}
HD_INLINE i16 i16_odd_to_even(i16 a)
{
    return _mm512_srli_epi64(a, 32);
}
HD_INLINE i16 i16_join(i16 even, i16 odd)
{
    return _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
}
HD_INLINE v16 v16_bits(i16 a)
{
    return _mm512_castsi512_ps(a);
}
HD_INLINE i16 i16_bits(v16 a)
{
    return _mm512_castps_si512(a);
}
HD_INLINE v16 v16_from_int(i16 a)
{
    return _mm512_cvtepi32_ps(a);
}
HD_INLINE i16 i16_nearest(v16 a)
{
    return _mm512_cvtps_epi32(a);
}

HD_INLINE float v16_sum(v16 a)
{
    __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
HD_INLINE float v16_largest(v16 a)
{
    __m256 b = _mm256_max_ps(_mm512_extractf32x8_ps(a, 1), _mm512_castps512_ps256(a));
    __m128 c = _mm_max_ps(_mm256_extractf128_ps(b, 1), _mm256_castps256_ps128(b));
    c = _mm_max_ps(_mm_movehl_ps(c, c), c);
    return _mm_cvtss_f32(_mm_max_ss(_mm_shuffle_ps(c, c, 1), c));
}
/* Sums of 16 vectors at once, each by the same tree as v16_sum: every step adds the two halves of two vectors. */
HD_INLINE v16 v16_sums(const v16 r[16])
{
    v16 a[8], b[4], c[2];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) /* 8+8: vectors i and i+8, eight lanes each */
        a[i] = v16_add(_mm512_shuffle_f32x4(r[i], r[i + 8], 0x44),
                       _mm512_shuffle_f32x4(r[i], r[i + 8], 0xee));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) /* 4+4: vectors i, i+4, i+8, i+12 */
        b[i] = v16_add(_mm512_shuffle_f32x4(a[i], a[i + 4], 0x88),
                       _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd));
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) /* 2+2 */
        c[i] = v16_add(_mm512_shuffle_ps(b[i], b[i + 2], 0x44),
                       _mm512_shuffle_ps(b[i], b[i + 2], 0xee));
    v16 d =
        v16_add(_mm512_shuffle_ps(c[0], c[1], 0x88), _mm512_shuffle_ps(c[0], c[1], 0xdd)); /* 1+1 */
    /* lane order now: 128-bit part p holds vectors (0,2,1,3 within) of group p, where the parts are a: 0,8,4,12 */
    return _mm512_permutexvar_ps(
        _mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15), d);
}
