/* peak.h -- what this core can do at most: multiply-adds on registers only, in its widest vectors. */
#ifndef HD_BENCH_PEAK_H
#define HD_BENCH_PEAK_H

enum { PEAK_TURNS = 20000, PEAK_CHAINS = 16 };

#if defined(__x86_64__)
#include <immintrin.h>
/* vzmm and vymm are separate functions, because a function can only use what the CPU has. */
#define HD_PEAK(name, isa, type, set, fma, width)                                                  \
    __attribute__((target(isa), noinline)) static double name(void)                                \
    {                                                                                              \
        type c[PEAK_CHAINS];                                                                       \
        for (int i = 0; i < PEAK_CHAINS; i++)                                                      \
            c[i] = set((float)i);                                                                  \
        const type a = set(0.5f), b = set(1.0f);                                                   \
        for (int turn = 0; turn < PEAK_TURNS; turn++) {                                            \
            _Pragma("GCC unroll 16") for (int i = 0; i < PEAK_CHAINS; i++) c[i] = fma(c[i], a, b); \
            _Pragma("GCC unroll 16") for (int i = 0; i < PEAK_CHAINS; i++) c[i] = fma(c[i], a, b); \
            __asm__ volatile("" : : "v"(c[0]));                                                    \
        }                                                                                          \
        for (int i = 0; i < PEAK_CHAINS; i++)                                                      \
            __asm__ volatile("" : : "v"(c[i]));                                                    \
        return 2.0 * 2 * PEAK_CHAINS * PEAK_TURNS * (width);                                       \
    }
HD_PEAK(peak_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)
enum { PEAK_CHAINS_AVX2 = 12 };
__attribute__((target("avx2,fma"), noinline)) static double peak_avx2(void)
{
    __m256 c[PEAK_CHAINS_AVX2];
    for (int i = 0; i < PEAK_CHAINS_AVX2; i++)
        c[i] = _mm256_set1_ps((float)i);
    const __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(1.0f);
    for (int turn = 0; turn < PEAK_TURNS; turn++) {
#pragma GCC unroll 12
        for (int i = 0; i < PEAK_CHAINS_AVX2; i++)
            c[i] = _mm256_fmadd_ps(c[i], a, b);
        __asm__ volatile("" : : "x"(c[0]));
    }
    for (int i = 0; i < PEAK_CHAINS_AVX2; i++)
        __asm__ volatile("" : : "x"(c[i]));
    return 2.0 * PEAK_CHAINS_AVX2 * PEAK_TURNS * 8;
}
static inline double peak_run(void)
{
    return __builtin_cpu_supports("avx512f") ? peak_avx512() : peak_avx2();
}

/* The same with vdpbf16ps, two multiply-adds per lane; 0 without the unit. */
__attribute__((target("avx512f,avx512bf16"), noinline)) static double peak_avx512bf16(void)
{
    __m512 c[PEAK_CHAINS];
    const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1.0f);
#pragma GCC unroll 16
    for (int i = 0; i < PEAK_CHAINS; i++)
        c[i] = _mm512_set1_ps((float)i);
    for (int turn = 0; turn < PEAK_TURNS; turn++) {
#pragma GCC unroll 16
        for (int i = 0; i < PEAK_CHAINS; i++)
            __asm__ volatile("vdpbf16ps %2, %1, %0" : "+v"(c[i]) : "v"(a), "v"(b));
    }
#pragma GCC unroll 16
    for (int i = 0; i < PEAK_CHAINS; i++)
        __asm__ volatile("" : : "v"(c[i]));
    return 2.0 * 2 * PEAK_CHAINS * PEAK_TURNS * 16;
}
static inline double peak_run_bf16(void)
{
    return __builtin_cpu_supports("avx512bf16") ? peak_avx512bf16() : 0;
}

/* And with vpdpbusd, four multiply-adds of 8-bit numbers per lane. */
__attribute__((target("avx512f,avx512vnni"), noinline)) static double peak_avx512vnni(void)
{
    __m512i c[PEAK_CHAINS];
    const __m512i a = _mm512_set1_epi8(1), b = _mm512_set1_epi8(2);
#pragma GCC unroll 16
    for (int i = 0; i < PEAK_CHAINS; i++)
        c[i] = _mm512_set1_epi32(i);
    for (int turn = 0; turn < PEAK_TURNS; turn++) {
#pragma GCC unroll 16
        for (int i = 0; i < PEAK_CHAINS; i++)
            __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(c[i]) : "v"(a), "v"(b));
    }
#pragma GCC unroll 16
    for (int i = 0; i < PEAK_CHAINS; i++)
        __asm__ volatile("" : : "v"(c[i]));
    return 2.0 * 4 * PEAK_CHAINS * PEAK_TURNS * 16;
}
static inline double peak_run_int8(void)
{
    return __builtin_cpu_supports("avx512vnni") ? peak_avx512vnni() : 0;
}
#elif defined(__aarch64__)
#include <arm_neon.h>
static inline double peak_run(void)
{
    float32x4_t c[PEAK_CHAINS];
    for (int i = 0; i < PEAK_CHAINS; i++)
        c[i] = vdupq_n_f32((float)i);
    const float32x4_t a = vdupq_n_f32(0.5f), b = vdupq_n_f32(1.0f);
    for (int turn = 0; turn < PEAK_TURNS; turn++) {
#pragma GCC unroll 16
        for (int i = 0; i < PEAK_CHAINS; i++)
            c[i] = vfmaq_f32(b, c[i], a);
        __asm__ volatile("" : : "w"(c[0]));
    }
    for (int i = 0; i < PEAK_CHAINS; i++)
        __asm__ volatile("" : : "w"(c[i]));
    return 2.0 * PEAK_CHAINS * PEAK_TURNS * 4;
}
static inline double peak_run_bf16(void)
{
    return 0;
}
static inline double peak_run_int8(void)
{
    return 0;
}
#endif
#endif
