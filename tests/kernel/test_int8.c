/* test_int8.c -- 8-bit products are exact, on every instruction set and at every odd size. */
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

static void *room(size_t bytes)
{
    void *p = calloc(bytes + 1, 1);
    assert_non_null(p);
    return p;
}

/* In [-127, 127], the ends often: they are where 16-bit sums would overflow. */
static int8_t *bytes_of(size_t n)
{
    int8_t *p = room(n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t r = next();
        p[i] = r % 4 == 0 ? 127 : r % 4 == 1 ? -127 : (int8_t)((int)(r / 4 % 255) - 127);
    }
    return p;
}

/* M rows of K, padded as quantise pads them. */
static int8_t *padded_rows(int M, int K)
{
    int8_t *p = bytes_of((size_t)M * (size_t)hd_int8_stride(K));
    for (int m = 0; m < M; m++)
        for (long k = K; k < hd_int8_stride(K); k++)
            p[m * hd_int8_stride(K) + k] = 0;
    return p;
}

static void check_sums(const struct hd_kernels *k, int M, int K, int N, bool is_transposed)
{
    const long stride = hd_int8_stride(K), ldy = N + 3;
    int8_t *x = padded_rows(M, K), *w = bytes_of((size_t)K * (size_t)N);
    uint8_t *packed = room(hd_packed_size_int8(K, N)),
            *packed_ref = room(hd_packed_size_int8(K, N));
    int32_t *y = room((size_t)M * (size_t)ldy * sizeof *y);
    const long k_stride = is_transposed ? 1 : N, n_stride = is_transposed ? K : 1;
    k->pack_int8(packed, w, k_stride, n_stride, K, N);
    hd_kernels_ref.pack_int8(packed_ref, w, k_stride, n_stride, K, N);
    assert_memory_equal(packed, packed_ref, hd_packed_size_int8(K, N));
    for (long i = 0; i < M * ldy; i++)
        y[i] = 12345;
    k->gemm_int8_sums(y, ldy, x, stride, packed, M, K, N);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < ldy; n++) {
            int64_t sum = 12345; /* beyond the row nothing is touched */
            if (n < N) {
                sum = 0;
                for (int i = 0; i < K; i++)
                    sum += x[m * stride + i] * w[i * k_stride + n * n_stride];
            }
            assert_that(y[m * ldy + n] == sum, "%s, M %d K %d N %d: y[%d,%d] is %d, not %ld",
                        k->name, M, K, N, m, n, y[m * ldy + n], (long)sum);
        }
    free(x), free(w), free(packed), free(packed_ref), free(y);
}

static void sums_are_exact_at_every_size(void **state)
{
    (void)state;
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        for (int M = 0; M <= 9; M++)
            for (int K = 0; K <= 11; K++)
                check_sums(k, M, K, 19 - K, K % 2);
        for (int N = 0; N <= 81; N += 3)
            check_sums(k, 3, 37, N, N % 2);
        check_sums(k, 14, 64, 64, false);
        check_sums(k, 100, 21, 17, true); /* more rows than pass at once */
        check_sums(k, 2, 1031, 130, false);
        for (int M = 3; M <= 70; M += M < 20 ? 1 : 7) /* what tiles of 16 rows take */
            for (int N = 49; N <= 100; N += 17)
                check_sums(k, M, 64 * (1 + M % 3), N, M % 2);
    }
}

static void sums_at_the_largest_depth_do_not_overflow(void **state)
{
    (void)state;
    const int K = HD_INT8_MAX_K, N = 17;
    int8_t *x = room((size_t)K), *w = room((size_t)K * N);
    uint8_t *packed = room(hd_packed_size_int8(K, N));
    memset(x, 127, (size_t)K);
    for (int n = 0; n < N; n++)
        memset(w + (size_t)n * (size_t)K, n % 2 ? 127 : -127, (size_t)K);
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        int32_t y[17];
        k->pack_int8(packed, w, 1, K, K, N);
        k->gemm_int8_sums(y, N, x, K, packed, 1, K, N);
        for (int n = 0; n < N; n++)
            assert_that(y[n] == (n % 2 ? 1 : -1) * 127 * 127 * K, "%s: column %d is %d", k->name, n,
                        y[n]);
    }
    free(x), free(w), free(packed);
}

static void floats_from_sums_have_the_bits_of_the_reference(void **state)
{
    (void)state;
    const int M = 7, K = 45, N = 71;
    const long stride = hd_int8_stride(K);
    int8_t *x = padded_rows(M, K), *w = bytes_of((size_t)K * (size_t)N);
    uint8_t *packed = room(hd_packed_size_int8(K, N));
    float x_scale[7], w_scale[71], bias[71], y[7 * 71], wanted[7 * 71];
    for (int i = 0; i < M; i++)
        x_scale[i] = (float)next() * 0x1p-30F;
    for (int i = 0; i < N; i++) {
        w_scale[i] = (float)next() * 0x1p-31F;
        bias[i] = (float)next() * 0x1p-24F - 0.5F;
    }
    hd_kernels_ref.pack_int8(packed, w, N, 1, K, N);
    for (int i = 0; hd_kernels_available()[i]; i++)
        for (int act = HD_NONE; act <= HD_SIGMOID; act++)
            for (int has_bias = 0; has_bias < 2; has_bias++) {
                const struct hd_kernels *k = hd_kernels_available()[i];
                const float *b = has_bias ? bias : NULL;
                k->gemm_int8(y, N, x, stride, x_scale, packed, w_scale, b, (enum hd_function)act, M,
                             K, N);
                hd_kernels_ref.gemm_int8(wanted, N, x, stride, x_scale, packed, w_scale, b,
                                         (enum hd_function)act, M, K, N);
                assert_that(memcmp(y, wanted, sizeof y) == 0, "%s, activation %d, bias %d", k->name,
                            act, has_bias);
            }
    free(x), free(w), free(packed);
}

/* Columns that no longer fit a panel count as little as can be: a panel's bound is that of its own columns. */
static void check_bounds(const struct hd_kernels *k, int K, int N)
{
    int8_t *x = padded_rows(1, K);
    uint8_t *code = room((size_t)N * (size_t)K), *packed = room(hd_packed_size_int4(K, N)),
            *packed_ref = room(hd_packed_size_int4(K, N));
    float scale[200], radius[200], bias[200], above[14], wanted[14];
    for (int i = 0; i < N * K; i++)
        code[i] = next() % 3 == 0 ? 15 : (uint8_t)(next() % 16);
    for (int n = 0; n < N; n++) {
        scale[n] = (float)(1 + next() % 1000) * 1e-4F;
        radius[n] = (float)(next() % 1000) * 1e-3F;
        bias[n] = (float)(next() % 1000) * 0.1F - (n % 5 ? 50 : 5000);
    }
    k->pack_int4(packed, code, K, K, N);
    hd_kernels_ref.pack_int4(packed_ref, code, K, K, N);
    assert_memory_equal(packed, packed_ref, hd_packed_size_int4(K, N));
    for (int i = 0; i < 14; i++)
        above[i] = wanted[i] = 12345; /* beyond the panels nothing is touched */
    k->bounds_int4(above, x, 0.013F, 2.5F, packed, scale, radius, bias, K, N);
    for (int n = 0; n < N; n++) {
        int64_t sum = 0;
        for (int i = 0; i < K; i++)
            sum += x[i] * (2 * code[n * K + i] - 15);
        const float y = fmaf(2.5F, radius[n], fmaf((float)sum, 0.013F * scale[n], bias[n]));
        wanted[n / 16] = n % 16 == 0 || y > wanted[n / 16] ? y + 0 : wanted[n / 16];
    }
    assert_that(memcmp(above, wanted, sizeof above) == 0, "%s, K %d, N %d", k->name, K, N);
    free(x), free(code), free(packed), free(packed_ref);
}

static void bounds_of_4_bits_have_the_bits_of_the_definition_at_every_size(void **state)
{
    (void)state;
    static const int widths[] = {1, 2, 15, 16, 17, 63, 64, 65, 128, 131, 200};
    for (int i = 0; hd_kernels_available()[i]; i++)
        for (size_t n = 0; n < sizeof widths / sizeof *widths; n++)
            for (int K = 1; K <= 600; K += K < 40 ? 1 : 187)
                check_bounds(hd_kernels_available()[i], K, widths[n]);
}

static void quantise_has_the_bits_of_the_reference_and_fills_up_with_zeros(void **state)
{
    (void)state;
    static const float odd[] = {0,        -0.0F,    1e-40F,    -1e-40F, 0x1p-120F, FLT_MAX,
                                -FLT_MAX, INFINITY, -INFINITY, NAN,     1,         -1};
    for (int n = 0; n <= 70; n++)
        for (int kind = 0; kind < 14; kind++) {
            float x[70], scale, scale_ref;
            int8_t q[72], q_ref[72];
            for (int i = 0; i < n; i++)
                x[i] = ((float)next() * 0x1p-23F - 1) * (kind == 13 ? 1e-38F : 3);
            if (kind < 12 && n)
                x[next() % (unsigned)n] = odd[kind];
            memset(q_ref, 99, sizeof q_ref);
            hd_kernels_ref.quantise(q_ref, &scale_ref, x, n);
            for (long i = n; i < hd_int8_stride(n); i++)
                assert_int_equal(q_ref[i], 0);
            for (int i = 0; hd_kernels_available()[i]; i++) {
                memset(q, 99, sizeof q);
                hd_kernels_available()[i]->quantise(q, &scale, x, n);
                assert_that(memcmp(q, q_ref, sizeof q) == 0 &&
                                memcmp(&scale, &scale_ref, sizeof scale) == 0,
                            "%s, n %d, kind %d: scale %g, not %g", hd_kernels_available()[i]->name,
                            n, kind, (double)scale, (double)scale_ref);
            }
        }
}

static void a_quantised_row_is_within_half_a_step_of_itself(void **state)
{
    (void)state;
    float x[100], scale;
    int8_t q[100];
    for (int i = 0; i < 100; i++)
        x[i] = (float)next() * 0x1p-20F - 8;
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        k->quantise(q, &scale, x, 100);
        int most = 0;
        for (int j = 0; j < 100; j++) {
            const float back = scale * (float)q[j];
            assert_that(fabsf(back - x[j]) <= 0.5001F * scale, "%s: %g became %g, step %g", k->name,
                        (double)x[j], (double)back, (double)scale);
            most = abs(q[j]) > most ? abs(q[j]) : most;
        }
        assert_int_equal(most, 127);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_at_every_size),
        cmocka_unit_test(sums_at_the_largest_depth_do_not_overflow),
        cmocka_unit_test(floats_from_sums_have_the_bits_of_the_reference),
        cmocka_unit_test(bounds_of_4_bits_have_the_bits_of_the_definition_at_every_size),
        cmocka_unit_test(quantise_has_the_bits_of_the_reference_and_fills_up_with_zeros),
        cmocka_unit_test(a_quantised_row_is_within_half_a_step_of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
