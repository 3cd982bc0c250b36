/* v16_neon.h -- the vector of 16 floats as four NEON registers. See v16_c.h for what each function means. */
#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#define HD_INLINE static inline __attribute__((always_inline, unused))

typedef struct {
    float32x4_t q[4];
} v16;
typedef struct {
    uint32x4_t q[4];
} i16;
typedef struct {
    uint32x4_t q[4];
} m16; /* all bits of a lane, or none */

#define HD_QUARTERS _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++)

HD_INLINE i16 i16_count(void)
{
    static const uint32_t count[4] = {0, 1, 2, 3};
    i16 r;
    HD_QUARTERS r.q[i] = vaddq_u32(vld1q_u32(count), vdupq_n_u32(4 * (uint32_t)i));
    return r;
}
HD_INLINE m16 m16_first(long n)
{
    const i16 count = i16_count();
    m16 r;
    HD_QUARTERS r.q[i] = vcltq_u32(count.q[i], vdupq_n_u32(n > 16 ? 16 : (uint32_t)n));
    return r;
}
HD_INLINE v16 v16_set(float x)
{
    v16 r;
    HD_QUARTERS r.q[i] = vdupq_n_f32(x);
    return r;
}
HD_INLINE v16 v16_zero(void)
{
    return v16_set(0);
}
HD_INLINE v16 v16_load(const float *p)
{
    v16 r;
    HD_QUARTERS r.q[i] = vld1q_f32(p + 4 * i);
    return r;
}
HD_INLINE v16 v16_load_part(const float *p, long n)
{
    float whole[16] = {0};
    memcpy(whole, p, (size_t)(n > 16 ? 16 : n) * sizeof *p);
    return v16_load(whole);
}
HD_INLINE void v16_store(float *p, v16 a)
{
    HD_QUARTERS vst1q_f32(p + 4 * i, a.q[i]);
}
HD_INLINE void v16_store_part(float *p, v16 a, long n)
{
    float whole[16];
    v16_store(whole, a);
    memcpy(p, whole, (size_t)(n > 16 ? 16 : n) * sizeof *p);
}
#define HD_LANEWISE(type, name, expression) \
    HD_INLINE type name(type a, type b)     \
    {                                       \
        type r;                             \
        HD_QUARTERS r.q[i] = expression;    \
        return r;                           \
    }
HD_LANEWISE(v16, v16_add, vaddq_f32(a.q[i], b.q[i]))
HD_LANEWISE(v16, v16_sub, vsubq_f32(a.q[i], b.q[i]))
HD_LANEWISE(v16, v16_mul, vmulq_f32(a.q[i], b.q[i]))
HD_LANEWISE(v16, v16_div, vdivq_f32(a.q[i], b.q[i]))
HD_LANEWISE(v16, v16_max,
            vbslq_f32(vcgtq_f32(a.q[i], b.q[i]), a.q[i], b.q[i])) /* fmax would keep a NaN of a */
HD_LANEWISE(v16, v16_min, vbslq_f32(vcltq_f32(a.q[i], b.q[i]), a.q[i], b.q[i]))
HD_LANEWISE(i16, i16_add, vaddq_u32(a.q[i], b.q[i]))
HD_LANEWISE(i16, i16_sub, vsubq_u32(a.q[i], b.q[i]))
HD_LANEWISE(i16, i16_and, vandq_u32(a.q[i], b.q[i]))
HD_LANEWISE(i16, i16_or, vorrq_u32(a.q[i], b.q[i]))
HD_LANEWISE(i16, i16_xor, veorq_u32(a.q[i], b.q[i]))
HD_LANEWISE(m16, m16_and, vandq_u32(a.q[i], b.q[i]))
HD_LANEWISE(m16, m16_or, vorrq_u32(a.q[i], b.q[i]))
#undef HD_LANEWISE
HD_INLINE v16 v16_fma(v16 a, v16 b, v16 c)
{
    HD_QUARTERS c.q[i] = vfmaq_f32(c.q[i], a.q[i], b.q[i]);
    return c;
}
HD_INLINE v16 v16_fnma(v16 a, v16 b, v16 c)
{
    HD_QUARTERS c.q[i] = vfmsq_f32(c.q[i], a.q[i], b.q[i]);
    return c;
}
#define HD_UNARY(name, function)               \
    HD_INLINE v16 name(v16 a)                  \
    {                                          \
        HD_QUARTERS a.q[i] = function(a.q[i]); \
        return a;                              \
    }
HD_UNARY(v16_sqrt, vsqrtq_f32)
HD_UNARY(v16_abs, vabsq_f32)
HD_UNARY(v16_neg, vnegq_f32)
HD_UNARY(v16_round, vrndnq_f32)
#undef HD_UNARY

#define HD_COMPARE(name, type, expression) \
    HD_INLINE m16 name(type a, type b)     \
    {                                      \
        m16 r;                             \
        HD_QUARTERS r.q[i] = expression;   \
        return r;                          \
    }
HD_COMPARE(v16_gt, v16, vcgtq_f32(a.q[i], b.q[i]))
HD_COMPARE(v16_lt, v16, vcltq_f32(a.q[i], b.q[i]))
HD_COMPARE(v16_ge, v16, vcgeq_f32(a.q[i], b.q[i]))
HD_COMPARE(v16_eq, v16, vceqq_f32(a.q[i], b.q[i]))
HD_COMPARE(i16_gt, i16, vcgtq_s32(vreinterpretq_s32_u32(a.q[i]), vreinterpretq_s32_u32(b.q[i])))
HD_COMPARE(i16_eq, i16, vceqq_u32(a.q[i], b.q[i]))
#undef HD_COMPARE
HD_INLINE m16 v16_is_nan(v16 a)
{
    m16 r;
    HD_QUARTERS r.q[i] = vmvnq_u32(vceqq_f32(a.q[i], a.q[i]));
    return r;
}
HD_INLINE v16 v16_select(m16 m, v16 a, v16 b)
{
    HD_QUARTERS a.q[i] = vbslq_f32(m.q[i], a.q[i], b.q[i]);
    return a;
}
HD_INLINE i16 i16_select(m16 m, i16 a, i16 b)
{
    HD_QUARTERS a.q[i] = vbslq_u32(m.q[i], a.q[i], b.q[i]);
    return a;
}
HD_INLINE unsigned m16_bits(m16 m)
{
    static const uint32_t weight[4] = {1, 2, 4, 8};
    unsigned r = 0;
    HD_QUARTERS r |= vaddvq_u32(vandq_u32(m.q[i], vld1q_u32(weight))) << 4 * i;
    return r;
}
HD_INLINE m16 m16_from_bytes(const uint8_t *p)
{
    const uint8x16_t set = vtstq_u8(vld1q_u8(p), vld1q_u8(p));
    const int16x8_t low = vmovl_s8(vreinterpret_s8_u8(vget_low_u8(set)));
    const int16x8_t high = vmovl_s8(vreinterpret_s8_u8(vget_high_u8(set)));
    return (m16){{vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(low))),
                  vreinterpretq_u32_s32(vmovl_s16(vget_high_s16(low))),
                  vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(high))),
                  vreinterpretq_u32_s32(vmovl_s16(vget_high_s16(high)))}};
}

HD_INLINE i16 i16_set(int x)
{
    i16 r;
    HD_QUARTERS r.q[i] = vdupq_n_u32((uint32_t)x);
    return r;
}
HD_INLINE i16 i16_load(const int *p)
{
    i16 r;
    HD_QUARTERS r.q[i] = vreinterpretq_u32_s32(vld1q_s32(p + 4 * i));
    return r;
}
HD_INLINE void i16_store(int *p, i16 a)
{
    HD_QUARTERS vst1q_s32(p + 4 * i, vreinterpretq_s32_u32(a.q[i]));
}
HD_INLINE i16 i16_shl(i16 a, int bits)
{
    HD_QUARTERS a.q[i] = vshlq_u32(a.q[i], vdupq_n_s32(bits));
    return a;
}
HD_INLINE i16 i16_shr(i16 a, int bits)
{
    HD_QUARTERS a.q[i] = vshlq_u32(a.q[i], vdupq_n_s32(-bits));
    return a;
}
HD_INLINE i16 i16_sar(i16 a, int bits)
{
    HD_QUARTERS a.q[i] =
        vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(a.q[i]), vdupq_n_s32(-bits)));
    return a;
}
HD_INLINE i16 i16_mul_even(i16 a, i16 b)
{
    i16 r;
    HD_QUARTERS r.q[i] = vreinterpretq_u32_u64(vmull_u32(vmovn_u64(vreinterpretq_u64_u32(a.q[i])),
                                                         vmovn_u64(vreinterpretq_u64_u32(b.q[i]))));
    return r;
}
HD_INLINE i16 i16_odd_to_even(i16 a)
{
    HD_QUARTERS a.q[i] = vreinterpretq_u32_u64(vshrq_n_u64(vreinterpretq_u64_u32(a.q[i]), 32));
    return a;
}
HD_INLINE i16 i16_join(i16 even, i16 odd)
{
    HD_QUARTERS even.q[i] = vtrn1q_u32(even.q[i], odd.q[i]);
    return even;
}
HD_INLINE v16 v16_bits(i16 a)
{
    v16 r;
    HD_QUARTERS r.q[i] = vreinterpretq_f32_u32(a.q[i]);
    return r;
}
HD_INLINE i16 i16_bits(v16 a)
{
    i16 r;
    HD_QUARTERS r.q[i] = vreinterpretq_u32_f32(a.q[i]);
    return r;
}
HD_INLINE v16 v16_from_int(i16 a)
{
    v16 r;
    HD_QUARTERS r.q[i] = vcvtq_f32_s32(vreinterpretq_s32_u32(a.q[i]));
    return r;
}
HD_INLINE i16 i16_nearest(v16 a)
{
    i16 r;
    HD_QUARTERS r.q[i] = vreinterpretq_u32_s32(vcvtnq_s32_f32(a.q[i]));
    return r;
}

HD_INLINE float v16_sum(v16 a)
{
    const float32x4_t s =
        vaddq_f32(vaddq_f32(a.q[0], a.q[2]), vaddq_f32(a.q[1], a.q[3])); /* 8+8, 4+4 */
    const float32x2_t t = vadd_f32(vget_low_f32(s), vget_high_f32(s));
    return vget_lane_f32(t, 0) + vget_lane_f32(t, 1);
}
HD_INLINE float v16_largest(v16 a)
{
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(a.q[0], a.q[1]), vmaxq_f32(a.q[2], a.q[3])));
}
HD_INLINE v16 v16_sums(const v16 r[16])
{
    float s[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        s[i] = v16_sum(r[i]);
    return v16_load(s);
}
#undef HD_QUARTERS
