/* test_gemm.c -- matrix products return the bits of the reference, whatever the size, the strides and the company. */
#include "kernel/kernel.h"
#include "test.h"
#include <float.h>
#include <math.h>

static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525U + 1013904223U;
    return seed >> 8;
}

static float *room(size_t n)
{
    float *p = aligned_alloc(64, (n * sizeof *p + 127) / 64 * 64);
    assert_non_null(p);
    return p;
}

/* Numbers of both signs and of many sizes. */
static float *numbers(size_t n)
{
    float *p = room(n);
    for (size_t i = 0; i < n; i++)
        p[i] = ((float)next() * 0x1p-23F - 1) * (next() % 8 == 0 ? 0x1p-12F : 1);
    return p;
}

/* Numbers that break careless sums: zeros of both signs, denormals, the largest, infinities, NaN. */
static float *nasty_numbers(size_t n)
{
    static const float odd[] = {0,       -0.0F,   1e-45F,   -1e-45F,  1e-30F,
                                -1e-30F, FLT_MAX, -FLT_MAX, INFINITY, NAN};
    float *p = numbers(n);
    for (size_t i = 0; i < n; i++)
        if (next() % 3 == 0)
            p[i] = odd[next() % (next() % 4 ? 6 : 10)];
    return p;
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static void assert_same(const float *y, const float *wanted, size_t n, const char *what,
                        const char *kernel, int M, int K, int N)
{
    for (size_t i = 0; i < n; i++)
        assert_that(same(y[i], wanted[i]), "%s, %s, M %d K %d N %d: element %zu is %a, not %a",
                    what, kernel, M, K, N, i, (double)y[i], (double)wanted[i]);
}

typedef float *maker(size_t n);

/* y = act(start + x·W): packed, with every kind of start. Strides are longer than rows, x and y unaligned. */
static void check_packed(const struct hd_kernels *k, maker *make, int M, int K, int N, int kind)
{
    const long ldx = K + 1, ldy = N + 3;
    const bool is_transposed = kind & 1, accumulate = kind % 3 == 1, has_bias = kind % 3 == 2;
    const enum hd_function act = (enum hd_function)(HD_NONE + kind % 6);
    const size_t size = (size_t)M * (size_t)ldy + 1, packed_size = hd_packed_size(K, N);
    float *x = make((size_t)M * (size_t)ldx + 1), *w = make((size_t)K * (size_t)N),
          *bias = make((size_t)N);
    float *packed = room(packed_size), *packed_ref = room(packed_size);
    float *y = make(size), *wanted = room(size);
    memcpy(wanted, y, size * sizeof *y);
    const long k_stride = is_transposed ? 1 : N, n_stride = is_transposed ? K : 1;
    k->pack(packed, w, k_stride, n_stride, K, N);
    hd_kernels_ref.pack(packed_ref, w, k_stride, n_stride, K, N);
    assert_same(packed, packed_ref, packed_size, "pack", k->name, M, K, N);
    k->gemm(y + 1, ldy, x + 1, ldx, packed, has_bias ? bias : NULL, accumulate, act, M, K, N);
    hd_kernels_ref.gemm(wanted + 1, ldy, x + 1, ldx, packed_ref, has_bias ? bias : NULL, accumulate,
                        act, M, K, N);
    assert_same(y, wanted, size, "gemm", k->name, M, K, N);
    free(x), free(w), free(bias), free(packed), free(packed_ref), free(y), free(wanted);
}

/* y (+)= a·b in the four ways of standing. */
static void check_free(const struct hd_kernels *k, maker *make, int M, int K, int N, int kind)
{
    const bool a_turned = kind & 1, b_turned = kind & 2, accumulate = kind & 4;
    const long lda = (a_turned ? M : K) + 1, ldb = (b_turned ? K : N) + 2, ldy = N + 3;
    const size_t size = (size_t)M * (size_t)ldy + 1;
    float *a = make((size_t)(a_turned ? K : M) * (size_t)lda + 1),
          *b = make((size_t)(b_turned ? N : K) * (size_t)ldb + 1);
    float *y = make(size), *wanted = room(size), *scratch = room(HD_GEMM_SCRATCH);
    memcpy(wanted, y, size * sizeof *y);
    const long a_row = a_turned ? 1 : lda, a_k = a_turned ? lda : 1, b_k = b_turned ? 1 : ldb,
               b_col = b_turned ? ldb : 1;
    k->gemm_free(y + 1, ldy, a + 1, a_row, a_k, b + 1, b_k, b_col, accumulate, M, K, N, scratch);
    hd_kernels_ref.gemm_free(wanted + 1, ldy, a + 1, a_row, a_k, b + 1, b_k, b_col, accumulate, M,
                             K, N, NULL);
    assert_same(y, wanted, size, "gemm_free", k->name, M, K, N);
    free(a), free(b), free(y), free(wanted), free(scratch);
}

static void check_dots(const struct hd_kernels *k, maker *make, int T, int S, int D,
                       bool accumulate)
{
    const long ldq = D + 1, ldk = D + 2, lde = S + 1;
    const size_t size = (size_t)T * (size_t)lde + 1;
    float *q = make((size_t)T * (size_t)ldq + 1), *keys = make((size_t)S * (size_t)ldk + 1),
          *e = make(size), *wanted = room(size);
    memcpy(wanted, e, size * sizeof *e);
    k->dots(e + 1, lde, q + 1, ldq, keys + 1, ldk, 0.125F, accumulate, T, S, D);
    hd_kernels_ref.dots(wanted + 1, lde, q + 1, ldq, keys + 1, ldk, 0.125F, accumulate, T, S, D);
    assert_same(e, wanted, size, "dots", k->name, T, D, S);
    free(q), free(keys), free(e), free(wanted);
}

/* One query against S keys in any order, some of them twice. */
static void check_attend(const struct hd_kernels *k, maker *make, int heads, int S, int d, int e,
                         bool has_rows)
{
    const long ldk = heads * d + 1, ldv = heads * e + 3;
    const size_t D = (size_t)(heads * d), E = (size_t)(heads * e), n = (size_t)S,
                 n_weights = n * (size_t)heads;
    float *q = make(D + 1), *keys = make(n * (size_t)ldk + 1), *v = make(n * (size_t)ldv + 1),
          *y = make(E + 1), *wanted = room(E + 1), *w = make(n_weights + 1),
          *w_wanted = room(n_weights + 1);
    int *rows = malloc((n + 1) * sizeof *rows);
    for (int j = 0; j < S; j++)
        rows[j] = (j * 7 + 3) % S;
    memcpy(wanted, y, (E + 1) * sizeof *y);
    memcpy(w_wanted, w, (n_weights + 1) * sizeof *w);
    k->attend(y + 1, w + 1, q + 1, keys + 1, ldk, v + 1, ldv, has_rows ? rows : NULL, 0.25F, heads,
              S, d, e);
    hd_kernels_ref.attend(wanted + 1, w_wanted + 1, q + 1, keys + 1, ldk, v + 1, ldv,
                          has_rows ? rows : NULL, 0.25F, heads, S, d, e);
    assert_same(y, wanted, E + 1, "attend", k->name, heads, d, S);
    assert_same(w, w_wanted, n_weights + 1, "weights of attend", k->name, heads, d, S);
    free(q), free(keys), free(v), free(y), free(wanted), free(w), free(w_wanted), free(rows);
}

static void one_query_of_attention_has_the_bits_of_the_reference(void **state)
{
    (void)state;
    static const int widths[][2] = {{16, 16}, {64, 64}, {5, 7}, {20, 48}, {32, 33}, {1, 16}};
    for (int i = 0; hd_kernels_available()[i]; i++)
        for (int S = 0; S <= 40; S++)
            for (int heads = 1; heads <= 9; heads += 4)
                for (int width = 0; width < 6; width++)
                    check_attend(hd_kernels_available()[i], S % 5 == 4 ? nasty_numbers : numbers,
                                 heads, S, widths[width][0], widths[width][1], width % 2);
}

/* The same as products, softmax and mixture head by head. */
static void one_query_of_attention_is_dots_softmax_and_product(void **state)
{
    (void)state;
    enum { H = 3, S = 21, D = 20 };
    float *q = numbers(H * D), *keys = numbers((size_t)S * H * D), *v = numbers((size_t)S * H * D),
          *scratch = room(HD_GEMM_SCRATCH);
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        float y[H * D], w[H * S], z[H * D], u[H * S];
        k->attend(y, w, q, keys, H * D, v, H * D, NULL, 0.3F, H, S, D, D);
        for (int h = 0; h < H; h++) {
            k->dots(u + h * S, S, q + h * D, D, keys + h * D, H * D, 0.3F, false, 1, S, D);
            k->softmax(u + h * S, u + h * S, NULL, S);
            k->gemm_free(z + h * D, D, u + h * S, S, 1, v + h * D, H * D, 1, false, 1, S, D,
                         scratch);
        }
        assert_same(y, z, H * D, "attend", k->name, H, D, S);
        assert_same(w, u, H * S, "weights of attend", k->name, H, D, S);
    }
    free(q), free(keys), free(v), free(scratch);
}

static bool is_slow(const struct hd_kernels *k)
{
    return strcmp(k->name, "ref") == 0 || strcmp(k->name, "generic") == 0;
}

static void every_kernel_returns_the_bits_of_the_reference_at_small_sizes(void **state)
{
    (void)state;
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        int kind = 0;
        for (int M = 0; M <= 14; M++)
            for (int N = 0; N <= 67; N += is_slow(k) ? 7 : 1, kind++) {
                const int K = kind % 19;
                maker *make = kind % 4 == 3 ? nasty_numbers : numbers;
                check_packed(k, make, M, K, N, kind);
                check_free(k, make, M, K, N, kind);
                check_dots(k, make, M, N, K * 3, kind % 2);
            }
    }
}

/* Larger than every block: K beyond the steps of a block, columns and rows beyond what stays in a cache. */
static void every_kernel_returns_the_bits_of_the_reference_across_blocks(void **state)
{
    (void)state;
    static const int sizes[][3] = {{7, 1100, 300}, {3, 513, 129}, {530, 31, 70}, {40, 520, 530},
                                   {2, 2500, 16},  {13, 17, 600}, {130, 700, 33}};
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        for (int s = 0; s < (is_slow(k) ? 2 : 7); s++)
            for (int kind = 0; kind < (is_slow(k) ? 2 : 8); kind++) {
                check_packed(k, numbers, sizes[s][0], sizes[s][1], sizes[s][2], kind);
                check_free(k, numbers, sizes[s][0], sizes[s][1], sizes[s][2], kind);
            }
        check_dots(k, numbers, 3, 40, 600, false);
    }
}

static void a_row_does_not_depend_on_how_many_rows_there_are_nor_on_its_place(void **state)
{
    (void)state;
    enum { MOST = 130, K = 67, N = 83 };
    float *x = numbers((size_t)MOST * K), *w = numbers((size_t)K * N),
          *packed = room(hd_packed_size(K, N));
    float *alone = room((size_t)MOST * N), *y = room((size_t)MOST * N),
          *scratch = room(HD_GEMM_SCRATCH);
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        k->pack(packed, w, N, 1, K, N);
        for (int m = 0; m < MOST; m++)
            k->gemm(alone + m * N, N, x + m * K, K, packed, NULL, false, HD_NONE, 1, K, N);
        for (int M = 1; M <= MOST; M += is_slow(k) ? 43 : 1) {
            const int from = (MOST - M) / 2; /* row m stands at another place in every call */
            k->gemm(y, N, x + from * K, K, packed, NULL, false, HD_NONE, M, K, N);
            assert_same(y, alone + from * N, (size_t)M * N, "packed", k->name, M, K, N);
            k->gemm_free(y, N, x + from * K, K, 1, w, N, 1, false, M, K, N, scratch);
            assert_same(y, alone + from * N, (size_t)M * N, "free", k->name, M, K, N);
        }
    }
    free(x), free(w), free(packed), free(alone), free(y), free(scratch);
}

static void scores_are_the_same_for_one_query_and_for_many(void **state)
{
    (void)state;
    enum { T = 9, S = 37, D = 50 };
    float *q = numbers(T * D), *keys = numbers(S * D), many[T * S], one[S], single;
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        k->dots(many, S, q, D, keys, D, 1, false, T, S, D);
        for (int t = 0; t < T; t++) {
            k->dots(one, S, q + t * D, D, keys, D, 1, false, 1, S, D);
            assert_same(one, many + t * S, S, "one query", k->name, 1, D, S);
            for (int j = 0; j < S; j++) {
                k->dots(&single, 1, q + t * D, D, keys + j * D, D, 1, false, 1, 1, D);
                assert_same(&single, one + j, 1, "one key", k->name, 1, D, 1);
            }
        }
    }
    free(q), free(keys);
}

/* The chain's error bound: |error| ≤ K · 2^-24 · Σ|x w|. */
static void the_reference_is_accurate(void **state)
{
    (void)state;
    enum { M = 3, K = 700, N = 20 };
    float *x = numbers(M * K), *w = numbers((size_t)K * N), *packed = room(hd_packed_size(K, N)),
          y[M * N];
    hd_kernels_ref.pack(packed, w, N, 1, K, N);
    hd_kernels_ref.gemm(y, N, x, K, packed, NULL, false, HD_NONE, M, K, N);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0, size = 0;
            for (int k = 0; k < K; k++) {
                sum += (double)x[m * K + k] * (double)w[k * N + n];
                size += fabs((double)x[m * K + k] * (double)w[k * N + n]);
            }
            const double bound = K * 0x1p-24 * size;
            assert_that(fabs((double)y[m * N + n] - sum) <= bound, "[%d,%d] is %g, not %g", m, n,
                        (double)y[m * N + n], sum);
            assert_true(bound < 1e-2 && fabs(sum) > 1e-9);
        }
    free(x), free(w), free(packed);
}

/* (float)((double)a*b + c) rounds twice: these three numbers show it, random ones do not. */
static void a_fused_multiply_add_rounds_once(void **state)
{
    (void)state;
    const float a = 0x1.000002p-24F, b = 0x1.fffffcp-1F, c = 0x1.000002p0F;
    float packed[16], y;
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        k->pack(packed, &b, 1, 1, 1, 1);
        y = c;
        k->gemm(&y, 1, &a, 1, packed, NULL, true, HD_NONE, 1, 1, 1);
        assert_that(y == 0x1.000002p0F, "%s: %a", k->name, (double)y);
        assert_true((float)((double)a * (double)b + (double)c) != y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_query_of_attention_has_the_bits_of_the_reference),
        cmocka_unit_test(one_query_of_attention_is_dots_softmax_and_product),
        cmocka_unit_test(every_kernel_returns_the_bits_of_the_reference_at_small_sizes),
        cmocka_unit_test(every_kernel_returns_the_bits_of_the_reference_across_blocks),
        cmocka_unit_test(a_row_does_not_depend_on_how_many_rows_there_are_nor_on_its_place),
        cmocka_unit_test(scores_are_the_same_for_one_query_and_for_many),
        cmocka_unit_test(the_reference_is_accurate),
        cmocka_unit_test(a_fused_multiply_add_rounds_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
