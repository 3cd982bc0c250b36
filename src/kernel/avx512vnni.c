/* avx512vnni.c -- the fast kernels for AVX-512 with VNNI, whose 8-bit products take one instruction. */
#if defined(__x86_64__)
#include "kernel/v16_avx512.h"

#define HD_ISA    avx512vnni
#define HD_AVX512 1
#define HD_VNNI   1
#include "kernel/kernels.inc"
#else
typedef int hd_nothing_here; /* another CPU */
#endif
