/* int8_matrix.h -- a matrix in 8 bits: w_kn = scale_n q_kn, where q is a whole number from -127 to 127.
 *
 * There is one scale for each output n, so a column that is small beside the others keeps its precision. A product quantises each row
 * of x by itself, sums exactly in 32 bits and scales once (kernel gemm_int8): a row of the result depends on its row of x alone,
 * and all CPUs give the same bits. */
#ifndef HD_GRAPH_INT8_MATRIX_H
#define HD_GRAPH_INT8_MATRIX_H

#include "kernel/kernel.h"

/* {0} is none. The memory is the caller's. */
struct hd_int8_matrix {
    int K, N;        /* inputs, outputs */
    uint8_t *packed; /* as the kernel pack_int8 lays it out, whatever the CPU */
    float *scale;    /* [N], each above 0 */
};

/* Quantise w(k,n) = w[k·k_stride + n·n_stride], finite numbers. False with HEED_NO_MEMORY. */
bool hd_int8_matrix_quantise(struct hd_int8_matrix *m, const float *w, long k_stride, long n_stride,
                             heed_error *err);

/* The same without memory of its own: `scratch` has so many bytes, aligned to 64. */
size_t hd_int8_matrix_scratch(int K);
void hd_int8_matrix_quantise_in(struct hd_int8_matrix *m, const float *w, long k_stride,
                                long n_stride, void *scratch);

/* The q of the matrix, to q[k·k_stride + n·n_stride]. */
void hd_int8_matrix_read(const struct hd_int8_matrix *m, int8_t *q, long k_stride, long n_stride);

/* w_kn of one output n for all k, to w[k·stride]. */
void hd_int8_matrix_column(const struct hd_int8_matrix *m, int n, float *w, long stride);

#endif
