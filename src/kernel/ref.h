/* ref.h -- the definition of every kernel of list.h, in plain C: ref_add(), ref_gemm() and so on.
 *
 * ref.c has most of them, ref_gemm.c the products; together they fill the table hd_kernels_ref. */
#ifndef HD_KERNEL_REF_H
#define HD_KERNEL_REF_H

#include "kernel/kernel.h"

#define HD_DECLARE(returns, name, arguments) returns ref_##name arguments;
HD_KERNEL_LIST(HD_DECLARE)
#undef HD_DECLARE
#endif
