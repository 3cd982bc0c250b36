/* generic.c -- the fast kernels in plain C: for CPUs we know nothing of. fmaf makes it slow and exact. */
#include "kernel/v16_c.h"

#define HD_ISA generic
#include "kernel/kernels.inc"
