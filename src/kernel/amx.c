/* amx.c -- the fast kernels for AVX-512 with AMX, whose tiles multiply 16 rows of 64 bytes with 64 rows of 16 in one instruction. */
#if defined(__x86_64__)
#include "kernel/v16_avx512.h"

#define HD_ISA    amx
#define HD_AVX512 1
#define HD_VNNI   1
#define HD_AMX    1
#include "kernel/kernels.inc"
#else
typedef int hd_nothing_here; /* another CPU */
#endif
