/* avx2.c -- the fast kernels for AVX2 with FMA. */
#if defined(__x86_64__)
#include "kernel/v16_avx2.h"

#define HD_ISA  avx2
#define HD_AVX2 1
#include "kernel/kernels.inc"
#else
typedef int hd_nothing_here; /* another CPU */
#endif
