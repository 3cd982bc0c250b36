/* bf16_check.h -- whether a CPU's own products of bf16 have the bits of ours. */
#ifndef HD_KERNEL_BF16_CHECK_H
#define HD_KERNEL_BF16_CHECK_H

#include "kernel/kernel.h"

/* Do these kernels round, pack and multiply as the reference does, on a few hundred numbers of every kind? */
bool hd_bf16_agrees(const struct hd_kernels *k);
#endif
