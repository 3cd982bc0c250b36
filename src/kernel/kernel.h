/* kernel.h -- arithmetic on plain pointers: no structs, no allocation, no threads.
 *
 * ref.c is the definition of right, order of additions included. The fast kernels are one source over a vector of 16
 * floats, built once per instruction set; all of them return the bits of ref.c (a NaN where it has a NaN).
 * What there is to call, and what each does, is in list.h. */
#ifndef HD_KERNEL_H
#define HD_KERNEL_H

#include "kernel/list.h"
#include <heed_graph.h> /* enum hd_function */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HD_LANES = 16, /* the virtual vector: one AVX-512 register, two of AVX2, four of NEON */
    HD_GEMM_SCRATCH = 1 << 17, /* floats that gemm_free wants, aligned to 64 bytes: 512 KiB */
    HD_SQUARES_BLOCK =
        4096, /* squares that sum_squares adds as floats; sums of these are added as doubles */
    HD_INT8_MAX_K = 131072, /* 127 · 127 · K must stay below 2^31 */
};

struct hd_kernels {
    const char *name;
#define HD_FIELD(returns, name, arguments) returns(*name) arguments;
    HD_KERNEL_LIST(HD_FIELD)
#undef HD_FIELD
};

extern const struct hd_kernels hd_kernels_ref;

/* Those this CPU can run, slowest first (ref, generic, …), ended by NULL. */
const struct hd_kernels *const *hd_kernels_available(void);

/* The fastest of them, or the one named by the environment variable HEED_KERNEL. NULL when that is not one of
 * them, with the reason in `err` (HEED_BAD_OPTION). The environment is read once per process. */
const struct hd_kernels *hd_kernels_chosen(heed_error *err);

/* A sentence on kernels that this CPU seems to have and that are not used, or NULL. */
const char *hd_kernels_note(void);

/* The precision of training (--precision) for which this CPU has a unit that is faster than floats and in use, "bf16" or "bf16-blocks", and how
 * many times as fast a training is about, 0 where that was not measured; NULL without one. */
const char *hd_kernels_fast_precision(double *times);

/* For tests: these from now on, for tapes that are made from now on. */
void hd_kernels_choose(const struct hd_kernels *kernels);

/* Floats of a packed [K,N]; the caller checks that K·N fits a size_t. */
static inline size_t hd_packed_size(int K, int N)
{
    return ((size_t)N + HD_LANES - 1) / HD_LANES * HD_LANES * (size_t)K;
}

/* Bytes of a packed 8-bit [K,N]. */
static inline size_t hd_packed_size_int8(int K, int N)
{
    return ((size_t)N + HD_LANES - 1) / HD_LANES * HD_LANES * (((size_t)K + 3) / 4 * 4);
}

/* Bytes of a packed 4-bit [K,N]. */
static inline size_t hd_packed_size_int4(int K, int N)
{
    return ((size_t)N + HD_LANES - 1) / HD_LANES * HD_LANES * (((size_t)K + 7) / 8 * 4);
}

/* Bytes from one quantised row to the next. */
static inline long hd_int8_stride(int K)
{
    return ((long)K + 3) / 4 * 4;
}

/* Pairs of a packed bf16 [K,N]. */
static inline size_t hd_packed_size_bf16(int K, int N)
{
    return ((size_t)N + HD_LANES - 1) / HD_LANES * HD_LANES * (((size_t)K + 1) / 2);
}

/* Numbers from one row of bf16 to the next. */
static inline long hd_bf16_stride(int n)
{
    return ((long)n + 1) / 2 * 2;
}
#endif
