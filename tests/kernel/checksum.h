/* checksum.h -- every kernel of the list run on the same numbers, and one checksum of all that came out: equal for all
 * instruction sets, CPUs and compilers, or a test fails.
 *
 * Plain C without the test library, so that it also runs on another CPU. When a kernel is meant to change its bits,
 * run the test and put the checksum that it prints here. */
#ifndef HD_KERNEL_CHECKSUM_H
#define HD_KERNEL_CHECKSUM_H

#include "kernel/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_CHECKSUM UINT64_C(0xd3f5745d96eee6db)

enum checked_kernel {
#define ENUM(returns, name, arguments) CHECKED_##name,
    HD_KERNEL_LIST(ENUM)
#undef ENUM
        N_CHECKED
};

static const char *const checked_names[N_CHECKED] = {
#define NAME(returns, name, arguments) #name,
    HD_KERNEL_LIST(NAME)
#undef NAME
};

/* One checksum per kernel; 0 where it was never run. */
struct checksums {
    uint64_t of[N_CHECKED];
};

static inline void checksum_add(uint64_t *sum, uint32_t bits)
{
    *sum = *sum ? *sum : UINT64_C(0xcbf29ce484222325); /* FNV-1a, four bytes at a time */
    *sum = (*sum ^ bits) * UINT64_C(0x100000001b3);
    *sum ^= *sum >> 29;
}

static inline void add_floats(uint64_t *sum, const float *y, long n)
{
    checksum_add(sum, (uint32_t)n);
    for (long i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        checksum_add(sum, y[i] != y[i] ? 0x7fc00000U : bits); /* all NaN are one */
    }
}

static inline uint64_t checksum_of_all(const struct checksums *sums)
{
    uint64_t all = 0;
    for (int k = 0; k < N_CHECKED; k++) {
        checksum_add(&all, (uint32_t)sums->of[k]);
        checksum_add(&all, (uint32_t)(sums->of[k] >> 32));
    }
    return all;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------- */

enum { MOST = 8192 };

/* Inputs a, b, c (few of them odd: zeros, denormals, large ones), p positive, and outputs y, z that hold numbers too. */
struct numbers {
    uint32_t state;
    float a[MOST], b[MOST], c[MOST], p[MOST], y[MOST], z[MOST], t[MOST], stats[2];
    float *scratch;
};

static inline uint32_t next_bits(struct numbers *s)
{
    s->state = s->state * 1664525U + 1013904223U;
    return s->state >> 8;
}

static inline float next_number(struct numbers *s)
{
    static const float odd[] = {0.0F, -0.0F, 1e-45F, -1e-40F, 30000.0F, -1e10F, 1e-10F, -90.0F};
    const uint32_t bits = next_bits(s);
    return bits % 64 == 0 ? odd[next_bits(s) % 8] : (float)bits * 0x1p-22F - 2;
}

static inline void fresh_numbers(struct numbers *s, uint32_t seed)
{
    s->state = seed;
    for (int i = 0; i < MOST; i++) {
        s->a[i] = next_number(s);
        s->b[i] = next_number(s);
        s->c[i] = next_number(s);
        s->p[i] = fabsf(next_number(s)) + 0.01F;
        s->y[i] = next_number(s);
        s->z[i] = next_number(s);
        s->t[i] = next_number(s);
    }
}

/* ---- the kernels, a group each; NOTE takes the n numbers at y into the checksum of a kernel ----------------------------- */

#define NOTE(kernel, y, n) add_floats(&sums->of[CHECKED_##kernel], y, n)

/* What makes n numbers of its other arguments */
#define RUN(kernel, ...)              \
    do {                              \
        k->kernel(s->y, __VA_ARGS__); \
        NOTE(kernel, s->y, n);        \
    } while (0)

static inline void check_bf16(struct checksums *sums, const struct hd_kernels *k, struct numbers *s,
                              int M, int K, int N)
{
    static uint16_t x[2 * MOST], d[2 * MOST];
    static uint32_t packed[MOST];
    const long ldx = hd_bf16_stride(K), ldd = hd_bf16_stride(N);
    for (int i = 0; i < M * K; i += 5)
        s->a[i] *= i % 2 ? 0x1p-70F : 0x1p-55F; /* products that are denormals */
    k->to_bf16(x, ldx, s->a, K, M, K);
    for (long i = 0; i < M * ldx; i++)
        checksum_add(&sums->of[CHECKED_to_bf16], x[i]);
    k->to_bf16(d, ldd, s->c, N, M, N);
    k->pack_bf16(packed, s->b, N, 1, K, N);
    for (size_t i = 0; i < hd_packed_size_bf16(K, N); i++)
        checksum_add(&sums->of[CHECKED_pack_bf16], packed[i]);
    for (int i = 0; i < 3; i++) {
        k->gemm_bf16(s->y, N + 1, x, ldx, packed, i == 1 ? s->c : NULL, i == 2,
                     i ? HD_NONE : HD_SWISH, M, K, N);
        NOTE(gemm_bf16, s->y, (long)M * (N + 1));
        k->gemm_bf16_blocks(s->y, N + 1, x, ldx, packed, i == 1 ? s->c : NULL, i == 2,
                            i ? HD_NONE : HD_SWISH, M, K, N);
        NOTE(gemm_bf16_blocks, s->y, (long)M * (N + 1));
    }
    k->gemm_bf16_free(s->z, N, x, ldx, d, ldd, true, K, M, N, s->scratch);
    NOTE(gemm_bf16_free, s->z, (long)K * N);
    k->gemm_bf16_blocks_free(s->z, N, x, ldx, d, ldd, true, K, M, N, s->scratch);
    NOTE(gemm_bf16_blocks_free, s->z, (long)K * N);
}

static inline void check_products(struct checksums *sums, const struct hd_kernels *k,
                                  struct numbers *s, int M, int K, int N)
{
    float *packed = s->t;
    k->pack(packed, s->b, N, 1, K, N);
    NOTE(pack, packed, (long)hd_packed_size(K, N));
    static const enum hd_function acts[] = {HD_NONE,    HD_RELU, HD_TANH,
                                            HD_SIGMOID, HD_GELU, HD_SWISH};
    for (int i = 0; i < 6; i++) {
        k->gemm(s->y, N + 1, s->a, K, packed, i % 2 ? s->c : NULL, i % 3 == 0, acts[i], M, K, N);
        NOTE(gemm, s->y, (long)M * (N + 1));
    }
    k->gemm_free(s->y, N, s->a, K, 1, s->b, 1, K, true, M, K, N, s->scratch);
    k->gemm_free(s->z, N, s->a, 1, M, s->b, N, 1, false, M, K, N, s->scratch);
    NOTE(gemm_free, s->y, (long)M * N);
    NOTE(gemm_free, s->z, (long)M * N);
    k->dots(s->y, N, s->a, K, s->b, K, 0.3F, true, M, N, K);
    NOTE(dots, s->y, (long)M * N);
    static int rows[MOST];
    for (int j = 0; j < N; j++)
        rows[j] = N - 1 - j;
    for (int heads = 1; heads <= 2; heads++) {
        const int d = K / heads;
        k->attend(s->y, s->z, s->a, s->b, K, s->b, K, heads == 2 ? rows : NULL, 0.3F, heads, N, d,
                  d);
        NOTE(attend, s->y, (long)heads * d);
        NOTE(attend, s->z, (long)heads * N);
    }

    static int8_t q[MOST], w[MOST];
    static uint8_t packed8[MOST];
    static int32_t whole[MOST];
    const long stride = hd_int8_stride(K);
    for (int m = 0; m < M; m++) {
        k->quantise(q + m * stride, &s->stats[0], s->a + m * K, K);
        s->z[m] = s->stats[0];
        NOTE(quantise, s->stats, 1);
    }
    for (int i = 0; i < K * N; i++)
        w[i] = (int8_t)((int)(next_bits(s) % 255) - 127);
    k->pack_int8(packed8, w, N, 1, K, N);
    for (size_t i = 0; i < hd_packed_size_int8(K, N); i++)
        checksum_add(&sums->of[CHECKED_pack_int8], packed8[i]);
    k->gemm_int8_sums(whole, N, q, stride, packed8, M, K, N);
    for (int i = 0; i < M * N; i++)
        checksum_add(&sums->of[CHECKED_gemm_int8_sums], (uint32_t)whole[i]);
    k->gemm_int8(s->y, N, q, stride, s->z, packed8, s->p, s->c, HD_TANH, M, K, N);
    NOTE(gemm_int8, s->y, (long)M * N);
    static uint8_t code[MOST], packed4[MOST];
    for (int i = 0; i < K * N; i++)
        code[i] = (uint8_t)w[i] % 16;
    k->pack_int4(packed4, code, K, K, N);
    for (size_t i = 0; i < hd_packed_size_int4(K, N); i++)
        checksum_add(&sums->of[CHECKED_pack_int4], packed4[i]);
    k->bounds_int4(s->y, q, s->z[0], 2.5F, packed4, s->p, s->c, s->c, K, N);
    NOTE(bounds_int4, s->y, (N + HD_LANES - 1) / HD_LANES);
    check_bf16(sums, k, s, M, K, N);
}

static inline void check_math(struct checksums *sums, const struct hd_kernels *k, struct numbers *s,
                              int n)
{
    RUN(exp, s->a, n);
    RUN(log, s->a, n);
    RUN(tanh, s->a, n);
    RUN(sigmoid, s->a, n);
    RUN(sin, s->a, n);
    RUN(cos, s->a, n);
    RUN(erf, s->a, n);
    RUN(relu, s->a, n);
    RUN(gelu, s->a, n);
    RUN(swish, s->a, n);
    k->scale(s->z, 25.0F, s->a, n); /* a wider range */
    RUN(exp, s->z, n);
    RUN(log, s->y, n);
    RUN(sin, s->z, n);
    RUN(tanh_back, s->b, s->a, true, n);
    RUN(sigmoid_back, s->b, s->a, true, n);
    RUN(relu_back, s->b, s->a, true, n);
    RUN(gelu_back, s->b, s->a, true, n);
    RUN(swish_back, s->b, s->a, true, n);
    RUN(exp_back, s->b, s->a, true, n);
    RUN(log_back, s->b, s->a, true, n);
}

static inline void check_vector(struct checksums *sums, const struct hd_kernels *k,
                                struct numbers *s, int n)
{
    RUN(add, s->a, s->b, n);
    RUN(sub, s->a, s->b, n);
    RUN(mul, s->a, s->b, n);
    RUN(scale, 0.3F, s->a, n);
    RUN(add_scaled, 0.7F, s->a, n);
    RUN(add_product, s->a, s->b, n);
    RUN(dropout, s->a, 0.1F, 12345, 678, false, n);
    RUN(dropout, s->a, 0.5F, UINT64_MAX, UINT64_MAX, true, n);
    const float sums_of[4] = {k->sum(s->a, n), k->dot(s->a, s->b, n), k->max(s->a, n),
                              (float)k->sum_squares(s->a, n)};
    NOTE(sum, sums_of, 1);
    NOTE(dot, sums_of + 1, 1);
    NOTE(max, sums_of + 2, 1);
    NOTE(sum_squares, sums_of + 3, 1);
    checksum_add(&sums->of[CHECKED_all_finite], k->all_finite(s->a, n));

    const int rows = 5, ids[5] = {3, 0, 3, 4, 1}, width = n % 300;
    k->sum_rows(s->y, s->a, width + 1, rows, width);
    NOTE(sum_rows, s->y, width);
    k->gather_rows(s->y, s->a, ids, rows, width);
    NOTE(gather_rows, s->y, rows * width);
    k->scatter_add_rows(s->z, s->y, ids, rows, width);
    NOTE(scatter_add_rows, s->z, rows * width);
    int index[20];
    k->top_k(index, s->y, s->a, n, 20);
    NOTE(top_k, s->y, 20);
    for (int j = 0; j < 20; j++)
        checksum_add(&sums->of[CHECKED_top_k], (uint32_t)index[j]);
}

static inline void check_rows(struct checksums *sums, const struct hd_kernels *k, struct numbers *s,
                              int n)
{
    static uint8_t keep[MOST];
    for (int i = 0; i < n; i++)
        keep[i] = next_bits(s) % 3 > 0;
    for (int masked = 0; masked < 2; masked++) {
        k->softmax(s->y, s->a, masked ? keep : NULL, n);
        NOTE(softmax, s->y, n);
        k->log_softmax(s->t, s->a, masked ? keep : NULL, n);
        NOTE(log_softmax, s->t, n);
        k->softmax_back(s->z, s->b, s->y, n);
        NOTE(softmax_back, s->z, n);
        k->log_softmax_back(s->z, s->b, s->t, n);
        NOTE(log_softmax_back, s->z, n);
    }
    for (int most = 0; most <= 7 && n; most += 7) {
        int index[7];
        s->stats[1] = k->log_sum(&s->stats[0], index, s->y, s->a, n, most);
        NOTE(log_sum, s->stats, 2);
        NOTE(log_sum, s->y, most);
        for (int j = 0; j < most; j++)
            checksum_add(&sums->of[CHECKED_log_sum], (uint32_t)index[j]);
    }
    for (int i = 0; i < 3 && n; i++) {
        s->stats[0] = k->xent(i == 2 ? NULL : s->y, NULL, s->a, n / 2, (float)i * 0.1F, 0.7F, n);
        NOTE(xent, s->y, n);
        NOTE(xent, s->stats, 1);
    }
    s->stats[0] = k->kl(s->y, s->z, s->a, s->b, 0.3F, n);
    NOTE(kl, s->stats, 1);
    NOTE(kl, s->y, n);
    NOTE(kl, s->z, n);
    k->layer_norm(s->y, s->stats, s->a, s->b, s->c, 1e-5F, n);
    NOTE(layer_norm, s->y, n);
    NOTE(layer_norm, s->stats, 2);
    k->layer_norm_back(s->y, s->z, s->t, s->c, s->a, s->b, s->stats, true, n);
    NOTE(layer_norm_back, s->y, n);
    NOTE(layer_norm_back, s->z, n);
    NOTE(layer_norm_back, s->t, n);
    k->rms_norm(s->y, s->stats, s->a, s->b, 1e-5F, n);
    NOTE(rms_norm, s->y, n);
    k->rms_norm_back(s->y, s->z, s->c, s->a, s->b, s->stats, true, n);
    NOTE(rms_norm_back, s->y, n);
    NOTE(rms_norm_back, s->z, n);

    const int S = 7, A = n % 100;
    for (int covers = 0; covers < 2; covers++) {
        const float *cover = covers ? s->p : NULL, *w = covers ? s->c : NULL;
        k->additive(s->y, s->a, s->b, s->a + 500, A + 1, cover, w, S, A);
        NOTE(additive, s->y, S);
        float *dv = s->z, *dq = s->z + 100, *dw = s->z + 200, *dcover = s->z + 300;
        k->additive_back(dv, dq, s->y, A, covers ? dcover : NULL, covers ? dw : NULL, s->c + 700,
                         s->a, s->b, s->a + 500, A + 1, cover, w, S, A);
        NOTE(additive_back, s->z, 400);
        NOTE(additive_back, s->y, S * A);
    }
}

static inline void check_cells(struct checksums *sums, const struct hd_kernels *k,
                               struct numbers *s, int n)
{
    const int D = n % 500;
    k->rnn_cell(s->y, s->a, s->b, D);
    NOTE(rnn_cell, s->y, D);
    k->rnn_cell_back(s->z, s->c, s->y, D);
    NOTE(rnn_cell_back, s->z, D);
    k->gru_cell(s->y, s->t, s->a, s->b, s->c, D);
    NOTE(gru_cell, s->y, D);
    NOTE(gru_cell, s->t, 3L * D);
    k->gru_cell_back(s->y, s->y + 3L * D, s->z, s->p, s->t, s->b, s->c, D);
    NOTE(gru_cell_back, s->y, 6L * D);
    NOTE(gru_cell_back, s->z, D);
    k->lstm_cell(s->y, s->z, s->t, s->a, s->b, s->c, D);
    NOTE(lstm_cell, s->y, D);
    NOTE(lstm_cell, s->z, D);
    NOTE(lstm_cell, s->t, 4L * D);
    k->lstm_cell_back(s->y, s->y + 4L * D, s->p, D % 2 ? s->b : NULL, s->t, s->z, s->c, D);
    NOTE(lstm_cell_back, s->y, 5L * D);
}

static inline void check_updates(struct checksums *sums, const struct hd_kernels *k,
                                 struct numbers *s, int n)
{
    k->adam(s->y, s->z, s->p, s->a, 0.01F, 0.9F, 0.98F, 1e-9F, 0.1F, 0.02F, 0.03F, 0, 0.5F, n);
    NOTE(adam, s->y, n);
    k->adam(s->y, s->z, s->p, s->a, 0.01F, 0.9F, 0.98F, 1e-9F, 0.1F, 0.02F, 0, 0.01F, 0.5F, n);
    NOTE(adam, s->y, n);
    NOTE(adam, s->z, n);
    NOTE(adam, s->p, n);
    k->sgd(s->y, s->z, s->a, 0.01F, 0.9F, 0.01F, 0.5F, n);
    k->sgd(s->y, NULL, s->b, 0.01F, 0.9F, 0.01F, 0.5F, n);
    NOTE(sgd, s->y, n);
    NOTE(sgd, s->z, n);
}
#undef RUN
#undef NOTE

/* Everything, in several sizes. false when there is no memory for it. */
static inline bool kernel_checksums(struct checksums *sums, const struct hd_kernels *k)
{
    static const int sizes[] = {0, 1, 15, 16, 37, 64, 129, 1000};
    memset(sums, 0, sizeof *sums);
    struct numbers *s = malloc(sizeof *s);
    float *scratch = aligned_alloc(64, HD_GEMM_SCRATCH * sizeof *scratch);
    for (int i = 0; i < 8 && s && scratch; i++) {
        void (*const groups[])(struct checksums *, const struct hd_kernels *, struct numbers *,
                               int) = {check_math, check_vector, check_rows, check_cells,
                                       check_updates};
        s->scratch = scratch;
        for (int g = 0; g < 5; g++) {
            fresh_numbers(s, (uint32_t)(100 * i + g));
            groups[g](sums, k, s, sizes[i]);
        }
        fresh_numbers(s, (uint32_t)(100 * i + 5));
        check_products(sums, k, s, 1 + i, sizes[i] % 67, 1 + 7 * i);
    }
    free(scratch);
    free(s);
    return s && scratch;
}

#endif
