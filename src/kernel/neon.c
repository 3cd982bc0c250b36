/* neon.c -- the fast kernels for 64-bit ARM. */
#if defined(__aarch64__)
#include "kernel/v16_neon.h"

#define HD_ISA  neon
#define HD_NEON 1
#include "kernel/kernels.inc"
#else
typedef int hd_nothing_here; /* another CPU */
#endif
