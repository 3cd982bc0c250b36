/* int8_matrix.c -- from floats to 8 bits and back. */
#include "graph/int8_matrix.h"

#include "base/memory.h"

size_t hd_int8_matrix_scratch(int K)
{
    const size_t stride = (size_t)hd_int8_stride(K);
    return (stride * HD_LANES + (size_t)K * sizeof(float) + 63) / 64 * 64;
}

/* Sixteen columns at a time: so many are a panel of the packed layout. */
void hd_int8_matrix_quantise_in(struct hd_int8_matrix *m, const float *w, long k_stride,
                                long n_stride, void *scratch)
{
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    const long stride = hd_int8_stride(m->K);
    int8_t *q = scratch;
    float *column = (float *)(q + stride * HD_LANES);
    for (int first = 0; first < m->N; first += HD_LANES) {
        const int n = m->N - first < HD_LANES ? m->N - first : HD_LANES;
        for (int i = 0; i < n; i++) {
            for (long j = 0; j < m->K; j++)
                column[j] = w[j * k_stride + (first + i) * n_stride];
            float *scale = &m->scale[first + i];
            k->quantise(q + i * stride, scale, column, m->K);
            *scale = *scale > 0 ? *scale : 1; /* of zeros */
        }
        k->pack_int8(m->packed + (size_t)first * (size_t)stride, q, 1, stride, m->K, n);
    }
}

bool hd_int8_matrix_quantise(struct hd_int8_matrix *m, const float *w, long k_stride, long n_stride,
                             heed_error *err)
{
    void *scratch = hd_kernels_chosen(err) ? hd_alloc(hd_int8_matrix_scratch(m->K), 1, err) : NULL;
    if (scratch)
        hd_int8_matrix_quantise_in(m, w, k_stride, n_stride, scratch);
    hd_free(scratch);
    return scratch != NULL;
}

/* Where the four numbers k, k+1, … of column n stand, k a multiple of 4. */
static const uint8_t *group_at(const struct hd_int8_matrix *m, int n, int k)
{
    const size_t panel = (size_t)(n / HD_LANES) * HD_LANES * (size_t)hd_int8_stride(m->K);
    return m->packed + panel + (size_t)k * HD_LANES + (size_t)(n % HD_LANES) * 4;
}

void hd_int8_matrix_read(const struct hd_int8_matrix *m, int8_t *q, long k_stride, long n_stride)
{
    for (int n = 0; n < m->N; n++)
        for (int k = 0; k < m->K; k++)
            q[k * k_stride + n * n_stride] = (int8_t)((int)group_at(m, n, k & ~3)[k & 3] - 128);
}

void hd_int8_matrix_column(const struct hd_int8_matrix *m, int n, float *w, long stride)
{
    const float scale = m->scale[n];
    const uint8_t *at = group_at(m, n, 0);
    for (int k = 0; k < m->K; k += 4, at += (size_t)4 * HD_LANES)
        for (int i = 0; i < 4 && k + i < m->K; i++)
            w[(k + i) * stride] = scale * (float)((int)at[i] - 128);
}
