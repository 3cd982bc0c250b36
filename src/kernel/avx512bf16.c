/* avx512bf16.c -- the fast kernels for AVX-512 with VNNI and BF16, whose products of bf16 take one instruction for a pair. */
#if defined(__x86_64__)
#include "kernel/v16_avx512.h"

#define HD_ISA    avx512bf16
#define HD_AVX512 1
#define HD_VNNI   1
#define HD_BF16   1
#include "kernel/kernels.inc"
#else
typedef int hd_nothing_here; /* another CPU */
#endif
