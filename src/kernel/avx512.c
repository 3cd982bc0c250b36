/* avx512.c -- the fast kernels for AVX-512 (F, BW, DQ, VL). */
#if defined(__x86_64__)
#include "kernel/v16_avx512.h"

#define HD_ISA    avx512
#define HD_AVX512 1
#include "kernel/kernels.inc"
#else
typedef int hd_nothing_here; /* another CPU */
#endif
