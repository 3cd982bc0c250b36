/* v16_avx2.h -- the vector of 16 floats as two AVX2 registers. See v16_c.h for what each function means. */
#include <immintrin.h>
#include <stdint.h>

#define HD_INLINE static inline __attribute__((always_inline, unused))

typedef struct {
    __m256 a, b;
} v16;
typedef struct {
    __m256i a, b;
} i16;
typedef struct {
    __m256 a, b;
} m16; /* all bits of a lane, or none */

static const int32_t hd_lane_flags[32] __attribute__((unused)) = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
};
HD_INLINE m16 m16_first(long n)
{
    const int32_t *p = hd_lane_flags + 16 - (n > 16 ? 16 : n);
    return (m16){_mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)p)),
                 _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(p + 8)))};
}

HD_INLINE v16 v16_zero(void)
{
    return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()};
}
HD_INLINE v16 v16_set(float x)
{
    return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
HD_INLINE v16 v16_load(const float *p)
{
    return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
HD_INLINE v16 v16_load_part(const float *p, long n)
{
    const m16 m = m16_first(n);
    return (v16){_mm256_maskload_ps(p, _mm256_castps_si256(m.a)),
                 _mm256_maskload_ps(p + 8, _mm256_castps_si256(m.b))};
}
HD_INLINE void v16_store(float *p, v16 x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
HD_INLINE void v16_store_part(float *p, v16 x, long n)
{
    const m16 m = m16_first(n);
    _mm256_maskstore_ps(p, _mm256_castps_si256(m.a), x.a);
    _mm256_maskstore_ps(p + 8, _mm256_castps_si256(m.b), x.b);
}
HD_INLINE v16 v16_add(v16 x, v16 y)
{
    return (v16){_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)};
}
HD_INLINE v16 v16_sub(v16 x, v16 y)
{
    return (v16){_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)};
}
HD_INLINE v16 v16_mul(v16 x, v16 y)
{
    return (v16){_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)};
}
HD_INLINE v16 v16_div(v16 x, v16 y)
{
    return (v16){_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)};
}
HD_INLINE v16 v16_max(v16 x, v16 y)
{
    return (v16){_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)};
}
HD_INLINE v16 v16_min(v16 x, v16 y)
{
    return (v16){_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)};
}
HD_INLINE v16 v16_sqrt(v16 x)
{
    return (v16){_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)};
}
HD_INLINE v16 v16_fma(v16 x, v16 y, v16 z)
{
    return (v16){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
HD_INLINE v16 v16_fnma(v16 x, v16 y, v16 z)
{
    return (v16){_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)};
}
HD_INLINE v16 v16_abs(v16 x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return (v16){_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
HD_INLINE v16 v16_neg(v16 x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return (v16){_mm256_xor_ps(sign, x.a), _mm256_xor_ps(sign, x.b)};
}
HD_INLINE v16 v16_round(v16 x)
{
    return (v16){_mm256_round_ps(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                 _mm256_round_ps(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

#define HD_COMPARE(name, predicate)                                                           \
    HD_INLINE m16 name(v16 x, v16 y)                                                          \
    {                                                                                         \
        return (m16){_mm256_cmp_ps(x.a, y.a, predicate), _mm256_cmp_ps(x.b, y.b, predicate)}; \
    }
HD_COMPARE(v16_gt, _CMP_GT_OQ)
HD_COMPARE(v16_lt, _CMP_LT_OQ)
HD_COMPARE(v16_ge, _CMP_GE_OQ)
HD_COMPARE(v16_eq, _CMP_EQ_OQ)
#undef HD_COMPARE
HD_INLINE m16 v16_is_nan(v16 x)
{
    return (m16){_mm256_cmp_ps(x.a, x.a, _CMP_UNORD_Q), _mm256_cmp_ps(x.b, x.b, _CMP_UNORD_Q)};
}
HD_INLINE v16 v16_select(m16 m, v16 x, v16 y)
{
    return (v16){_mm256_blendv_ps(y.a, x.a, m.a), _mm256_blendv_ps(y.b, x.b, m.b)};
}
HD_INLINE m16 m16_and(m16 x, m16 y)
{
    return (m16){_mm256_and_ps(x.a, y.a), _mm256_and_ps(x.b, y.b)};
}
HD_INLINE m16 m16_or(m16 x, m16 y)
{
    return (m16){_mm256_or_ps(x.a, y.a), _mm256_or_ps(x.b, y.b)};
}
HD_INLINE unsigned m16_bits(m16 m)
{
    return (unsigned)_mm256_movemask_ps(m.a) | (unsigned)_mm256_movemask_ps(m.b) << 8;
}
HD_INLINE m16 m16_from_bytes(const uint8_t *p)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    const __m256i zero = _mm256_setzero_si256();
    return (m16){_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_cvtepu8_epi32(bytes), zero)),
                 _mm256_castsi256_ps(
                     _mm256_cmpgt_epi32(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)), zero))};
}

HD_INLINE i16 i16_set(int x)
{
    return (i16){_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
HD_INLINE i16 i16_load(const int *p)
{
    return (i16){_mm256_loadu_si256((const __m256i *)p),
                 _mm256_loadu_si256((const __m256i *)(p + 8))};
}
HD_INLINE void i16_store(int *p, i16 x)
{
    _mm256_storeu_si256((__m256i *)p, x.a);
    _mm256_storeu_si256((__m256i *)(p + 8), x.b);
}
HD_INLINE i16 i16_count(void)
{
    return (i16){_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                 _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)};
}
HD_INLINE i16 i16_add(i16 x, i16 y)
{
    return (i16){_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)};
}
HD_INLINE i16 i16_sub(i16 x, i16 y)
{
    return (i16){_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)};
}
HD_INLINE i16 i16_and(i16 x, i16 y)
{
    return (i16){_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b)};
}
HD_INLINE i16 i16_or(i16 x, i16 y)
{
    return (i16){_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)};
}
HD_INLINE i16 i16_xor(i16 x, i16 y)
{
    return (i16){_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b)};
}
HD_INLINE m16 i16_gt(i16 x, i16 y)
{
    return (m16){_mm256_castsi256_ps(_mm256_cmpgt_epi32(x.a, y.a)),
                 _mm256_castsi256_ps(_mm256_cmpgt_epi32(x.b, y.b))};
}
HD_INLINE m16 i16_eq(i16 x, i16 y)
{
    return (m16){_mm256_castsi256_ps(_mm256_cmpeq_epi32(x.a, y.a)),
                 _mm256_castsi256_ps(_mm256_cmpeq_epi32(x.b, y.b))};
}
HD_INLINE i16 i16_select(m16 m, i16 x, i16 y)
{
    return (i16){_mm256_blendv_epi8(y.a, x.a, _mm256_castps_si256(m.a)),
                 _mm256_blendv_epi8(y.b, x.b, _mm256_castps_si256(m.b))};
}
HD_INLINE i16 i16_shl(i16 x, int bits)
{
    return (i16){_mm256_slli_epi32(x.a, bits), _mm256_slli_epi32(x.b, bits)};
}
HD_INLINE i16 i16_shr(i16 x, int bits)
{
    return (i16){_mm256_srli_epi32(x.a, bits), _mm256_srli_epi32(x.b, bits)};
}
HD_INLINE i16 i16_sar(i16 x, int bits)
{
    return (i16){_mm256_srai_epi32(x.a, bits), _mm256_srai_epi32(x.b, bits)};
}
HD_INLINE i16 i16_mul_even(i16 x, i16 y)
{
    return (i16){_mm256_mul_epu32(x.a, y.a), _mm256_mul_epu32(x.b, y.b)};
}
HD_INLINE i16 i16_odd_to_even(i16 x)
{
    return (i16){_mm256_srli_epi64(x.a, 32), _mm256_srli_epi64(x.b, 32)};
}
HD_INLINE i16 i16_join(i16 even, i16 odd)
{
    return (i16){_mm256_blend_epi32(even.a, _mm256_slli_epi64(odd.a, 32), 0xaa),
                 _mm256_blend_epi32(even.b, _mm256_slli_epi64(odd.b, 32), 0xaa)};
}
HD_INLINE v16 v16_bits(i16 x)
{
    return (v16){_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b)};
}
HD_INLINE i16 i16_bits(v16 x)
{
    return (i16){_mm256_castps_si256(x.a), _mm256_castps_si256(x.b)};
}
HD_INLINE v16 v16_from_int(i16 x)
{
    return (v16){_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)};
}
HD_INLINE i16 i16_nearest(v16 x)
{
    return (i16){_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)};
}

HD_INLINE __m128 hd_half_sums(v16 x) /* 8+8, then 4+4 */
{
    const __m256 s = _mm256_add_ps(x.a, x.b);
    return _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
}
HD_INLINE float v16_sum(v16 x)
{
    __m128 c = hd_half_sums(x);
    c = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
HD_INLINE float v16_largest(v16 x)
{
    const __m256 s = _mm256_max_ps(x.b, x.a);
    __m128 c = _mm_max_ps(_mm256_extractf128_ps(s, 1), _mm256_castps256_ps128(s));
    c = _mm_max_ps(_mm_movehl_ps(c, c), c);
    return _mm_cvtss_f32(_mm_max_ss(_mm_shuffle_ps(c, c, 1), c));
}
HD_INLINE v16 v16_sums(const v16 r[16])
{
    __m128 part[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m128 p = hd_half_sums(r[4 * i]), q = hd_half_sums(r[4 * i + 1]);
        const __m128 s = hd_half_sums(r[4 * i + 2]), t = hd_half_sums(r[4 * i + 3]);
        const __m128 u =
            _mm_add_ps(_mm_movelh_ps(p, q), _mm_movehl_ps(q, p)); /* 2+2 of two vectors */
        const __m128 w = _mm_add_ps(_mm_movelh_ps(s, t), _mm_movehl_ps(t, s));
        part[i] = _mm_add_ps(_mm_shuffle_ps(u, w, 0x88), _mm_shuffle_ps(u, w, 0xdd));
    }
    return (v16){_mm256_set_m128(part[1], part[0]), _mm256_set_m128(part[3], part[2])};
}
