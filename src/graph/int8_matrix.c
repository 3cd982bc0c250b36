/* int8_matrix.c -- from floats to 8 bits and back. */
#include "graph/int8_matrix.h"

#include "base/memory.h"

/* Sixteen columns at a time: so many are a panel of the packed layout. */
bool hd_int8_matrix_quantise(struct hd_int8_matrix *m, const float *w, long k_stride, long n_stride,
                             heed_error *err)
{
    const struct hd_kernels *k = hd_kernels_chosen(err);
    const long stride = hd_int8_stride(m->K);
    int8_t *q = k ? hd_alloc((size_t)stride, HD_LANES, err) : NULL;
    float *column = q ? hd_alloc((size_t)m->K, sizeof *column, err) : NULL;
    for (int first = 0; column && first < m->N; first += HD_LANES) {
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
    const bool is_done = column != NULL;
    hd_free(column);
    hd_free(q);
    return is_done;
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
