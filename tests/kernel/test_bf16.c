/* test_bf16.c -- products of bf16 have the bits of the reference on every instruction set, and the reference those of its definition. */
#include "kernel/common.h"
#include "kernel/bf16.h"
#include "kernel/bf16_check.h"
#include <pthread.h>

static float one_pair(const struct hd_kernels *k, float a0, float b0, float a1, float b1, float c)
{
    const float x[2] = {a0, a1}, w[2] = {b0, b1};
    uint16_t rounded[2];
    uint32_t packed[HD_LANES];
    float y = c;
    k->to_bf16(rounded, 2, x, 2, 1, 2);
    k->pack_bf16(packed, w, 1, 1, 2, 1);
    k->gemm_bf16(&y, 1, rounded, 2, packed, NULL, true, HD_NONE, 1, 2, 1);
    return y;
}

static void assert_pair(float a0, float b0, float a1, float b1, float c, float wanted)
{
    for (int i = 0; hd_kernels_available()[i]; i++) {
        const struct hd_kernels *k = hd_kernels_available()[i];
        const float y = one_pair(k, a0, b0, a1, b1, c);
        assert_that(is_same(y, wanted), "%s: %a + %a·%a + %a·%a is %a, not %a", k->name, (double)c,
                    (double)a1, (double)b1, (double)a0, (double)b0, (double)y, (double)wanted);
    }
}

static void a_pair_is_two_fused_multiply_adds_the_odd_one_first(void **state)
{
    (void)state;
    assert_pair(2, 3, 5, 7, 1, 42);
    /* 2^24 + 1 is no float: what is added last is lost, what comes first is not. */
    assert_pair(0x1p24F, 1, 1, 1, 1, 0x1p24F + 2);
    assert_pair(1, 1, 0x1p24F, 1, 1, 0x1p24F);
    assert_pair(1, 1, 1, -1, 0x1p-30F, 0); /* 2^-30 - 1 is no float, either */
    assert_pair(0x1p100F, 0x1p100F, 1, 1, 1, INFINITY);
    assert_pair(INFINITY, 0, 1, 1, 1, NAN);
    assert_pair(INFINITY, 1, -INFINITY, 1, 1, NAN);
    assert_pair(1, 1, 1, 1, NAN, NAN);
}

static void denormals_are_zeros_that_keep_their_sign(void **state)
{
    (void)state;
    const float least = FLT_MIN;
    assert_pair(1e-40F, 1e30F, 0, 0, 0, 0); /* an operand */
    assert_pair(1, 0, 1, 0, 1e-40F, 0);     /* what stands there */
    assert_pair(0x1p-70F, 0x1p-70F, 0, 0, 0, 0);
    assert_pair(0x1p-70F, -0x1p-70F, 0, 0, 0, -0.0F);
    assert_pair(0, 0, 0x1p-70F, -0x1p-70F, 0, 0); /* -0 + 0 */
    assert_pair(0, 0, 0, 0, -0.0F, 0);
    assert_pair(-1, 0, -1, 0, -0.0F, -0.0F);
    assert_pair(0x1p-63F, 0x1p-63F, 0, 0, 0, least);
    /* Below the smallest by half a place of its neighbours: rounds up to it. By a whole place: is a float of its own, were there one. */
    assert_pair(0x1p-75F, -0x1p-76F, 0, 0, least, least);
    assert_pair(0x1p-75F, -0x1p-75F, 0, 0, least, 0);
    assert_pair(0x1.02p-75F, -0x1p-76F, 0, 0, least, 0);
    assert_pair(0x1.02p-75F, 0x1p-76F, 0, 0, -least, -0.0F);
    assert_pair(0x1.fep-76F, 0x1p-76F, 0, 0, -least, -least);
}

static void rounding_is_to_the_nearest_even(void **state)
{
    (void)state;
    static const struct {
        float x, wanted;
    } known[] = {
        {1, 1},
        {1 + 0x1p-8F, 1},
        {1 + 0x3p-8F, 1 + 0x1p-6F},
        {1 + 0x1.01p-8F, 1 + 0x1p-7F},
        {-1 - 0x1.01p-8F, -1 - 0x1p-7F},
        {FLT_MAX, INFINITY},
        {-FLT_MAX, -INFINITY},
        {0x1.feffp127F, 0x1.fep127F},
        {INFINITY, INFINITY},
        {FLT_MIN, FLT_MIN},
        {1e-45F, 0},
        {-1e-45F, -0.0F},
        {0x1.fffffcp-127F, 0}, /* the largest denormal, however near the smallest normal number */
        {-0.0F, -0.0F},
        {NAN, NAN},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        FOR_EACH_KERNEL(k)
        {
            uint16_t y[2] = {7, 7};
            k->to_bf16(y, 2, &known[i].x, 1, 1, 1);
            assert_that(is_same(hd_bf16_value(y[0]), known[i].wanted) && y[1] == 0,
                        "%s: %a became %a", k->name, (double)known[i].x,
                        (double)hd_bf16_value(y[0]));
        }
    const float loud = -NAN;
    uint16_t y[2];
    hd_kernels_ref.to_bf16(y, 2, &loud, 1, 1, 1);
    assert_int_equal(y[0], 0xffc0);
}

static uint16_t *halves_new(size_t n)
{
    uint16_t *p = malloc((n + 2) * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n + 2; i++)
        p[i] = 0x1234;
    return p;
}

static void rows_are_rounded_as_the_reference_does(void **state)
{
    (void)state;
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        const int rows = n < 70 ? 3 : 1;
        const long ldx = n + 1, ldy = hd_bf16_stride(n) + 2;
        float *x = random_numbers(rows * ldx, kind);
        uint16_t *wanted = halves_new((size_t)(rows * ldy));
        hd_kernels_ref.to_bf16(wanted + 1, ldy, x, ldx, rows, n);
        FOR_EACH_KERNEL(k)
        {
            uint16_t *y = halves_new((size_t)(rows * ldy));
            k->to_bf16(y + 1, ldy, x, ldx, rows, n);
            assert_that(memcmp(y, wanted, (size_t)(rows * ldy + 2) * sizeof *y) == 0,
                        "%s to_bf16, n = %d, kind %d", k->name, n, kind);
            free(y);
        }
        free(wanted);
        numbers_free(x);
    }
}

/* A product in all its forms. Numbers are rounded by the reference, except that now and then any bits stand there, denormals, too. */
static uint16_t *random_halves(size_t n, enum kind kind)
{
    uint16_t *p = halves_new(n);
    for (size_t i = 1; i <= n; i++)
        p[i] = kind == KIND_NASTY && random_bits() % 8 == 0 ? (uint16_t)random_bits()
                                                            : hd_bf16_of(random_number(kind));
    return p + 1;
}

static void check_gemm(const struct hd_kernels *k, int M, int K, int N, enum kind kind)
{
    static int turn;
    const bool is_turned = turn % 2;
    const enum hd_function act = (enum hd_function)(turn / 2 % 6);
    const int start = turn / 3 % 3;
    turn++;
    const long ldx = hd_bf16_stride(K) + 2, ldy = N + 3;
    const long k_stride = is_turned ? 1 : N, n_stride = is_turned ? K : 1;
    uint16_t *x = random_halves((size_t)(M * ldx), kind);
    for (int m = 0; m < M && K % 2; m++)
        x[m * ldx + K] = 0;
    float *w = random_numbers((long)K * N, kind), *bias = random_numbers(N, kind);
    float *y = random_numbers(M * ldy, kind), *wanted = copy_of(y, M * ldy);
    float *y2 = copy_of(y, M * ldy), *wanted2 = copy_of(y, M * ldy);
    const size_t pairs = hd_packed_size_bf16(K, N);
    uint32_t *packed = calloc(2 * pairs + 1, sizeof *packed), *packed_ref = packed + pairs;
    assert_non_null(packed);
    k->pack_bf16(packed, w, k_stride, n_stride, K, N);
    hd_kernels_ref.pack_bf16(packed_ref, w, k_stride, n_stride, K, N);
    assert_that(memcmp(packed, packed_ref, pairs * sizeof *packed) == 0,
                "%s pack_bf16, K %d N %d, kind %d", k->name, K, N, kind);
    const float *b = start == 1 ? bias : NULL;
    k->gemm_bf16(y, ldy, x, ldx, packed, b, start == 2, act, M, K, N);
    hd_kernels_ref.gemm_bf16(wanted, ldy, x, ldx, packed, b, start == 2, act, M, K, N);
    assert_same_bits(y, wanted, M * ldy, "%s gemm_bf16, M %d K %d N %d, kind %d, start %d, act %d",
                     k->name, M, K, N, kind, start, (int)act);
    k->gemm_bf16_blocks(y2, ldy, x, ldx, packed, b, start == 2, act, M, K, N);
    hd_kernels_ref.gemm_bf16_blocks(wanted2, ldy, x, ldx, packed, b, start == 2, act, M, K, N);
    assert_same_bits(y2, wanted2, M * ldy,
                     "%s gemm_bf16_blocks, M %d K %d N %d, kind %d, start %d, act %d", k->name, M,
                     K, N, kind, start, (int)act);
    free(x - 1), free(packed);
    numbers_free(w), numbers_free(bias), numbers_free(y), numbers_free(wanted);
    numbers_free(y2), numbers_free(wanted2);
}

static void check_free(const struct hd_kernels *k, int M, int K, int N, enum kind kind)
{
    static bool adds;
    static float *scratch;
    adds = !adds;
    if (!scratch)
        scratch = aligned_alloc(64, HD_GEMM_SCRATCH * sizeof *scratch);
    assert_non_null(scratch);
    const long lda = hd_bf16_stride(M) + 2, ldb = hd_bf16_stride(N), ldy = N + 3;
    uint16_t *a = random_halves((size_t)(K * lda), kind),
             *b = random_halves((size_t)(K * ldb), kind);
    float *y = random_numbers(M * ldy, kind), *wanted = copy_of(y, M * ldy);
    float *y2 = copy_of(y, M * ldy), *wanted2 = copy_of(y, M * ldy);
    k->gemm_bf16_free(y, ldy, a, lda, b, ldb, adds, M, K, N, scratch);
    hd_kernels_ref.gemm_bf16_free(wanted, ldy, a, lda, b, ldb, adds, M, K, N, NULL);
    assert_same_bits(y, wanted, M * ldy, "%s gemm_bf16_free, M %d K %d N %d, kind %d, adds %d",
                     k->name, M, K, N, kind, adds);
    k->gemm_bf16_blocks_free(y2, ldy, a, lda, b, ldb, adds, M, K, N, scratch);
    hd_kernels_ref.gemm_bf16_blocks_free(wanted2, ldy, a, lda, b, ldb, adds, M, K, N, NULL);
    assert_same_bits(y2, wanted2, M * ldy,
                     "%s gemm_bf16_blocks_free, M %d K %d N %d, kind %d, adds %d", k->name, M, K, N,
                     kind, adds);
    free(a - 1), free(b - 1);
    numbers_free(y), numbers_free(wanted), numbers_free(y2), numbers_free(wanted2);
}

static void products_have_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    {
        void (*const checks[])(const struct hd_kernels *, int, int, int, enum kind) = {check_gemm,
                                                                                       check_free};
        for (int c = 0; c < 2; c++) {
            for (int M = 0; M <= 18; M++)
                for (int K = 0; K <= 19; K++)
                    checks[c](k, M, K, (M * 20 + K) % 37, kind);
            for (int N = 0; N <= 135; N += 3)
                checks[c](k, 7, 33, N, kind);
            checks[c](k, 13, 1100, 21, kind); /* blocks of K, */
            checks[c](k, 3, 9, 300, kind);    /* of N, */
            checks[c](k, 250, 5, 65, kind);   /* of M, */
            checks[c](k, 100, 530, 18, kind);
            for (int K = 30; K <= 66; K++) /* whole blocks of sums, and others */
                checks[c](k, 5 + K % 40, K, 17 + K % 31, kind);
            checks[c](k, 490, 40, 70, kind);
            checks[c](k, 830, 9, 40, kind);
            checks[c](k, 40, 70, 530, kind);
        }
    }
}

/* ---- sums in blocks ------------------------------------------------------------------------------------------------ */

/* x·w for one output by each kernel, with this in y before. */
static void check_sum(const float *x, const float *w, float before, int K, float wanted)
{
    FOR_EACH_KERNEL(k)
    {
        uint16_t rounded[80];
        uint32_t packed[40 * HD_LANES];
        float y = before;
        k->to_bf16(rounded, hd_bf16_stride(K), x, K, 1, K);
        k->pack_bf16(packed, w, 1, 1, K, 1);
        k->gemm_bf16_blocks(&y, 1, rounded, hd_bf16_stride(K), packed, NULL, true, HD_NONE, 1, K,
                            1);
        assert_that(is_same(y, wanted), "%s, K %d: %a instead of %a", k->name, K, (double)y,
                    (double)wanted);
    }
}

static void a_sum_in_blocks_has_two_chains_for_each_32(void **state)
{
    (void)state;
    const float small = 0x1p-24F; /* half of what 1 can be larger by */
    float x[70], w[70];
    for (int k = 0; k < 70; k++)
        x[k] = k % 2 ? 1 : small, w[k] = 1;
    for (int k = 1; k < 70; k += 2)
        x[k] = 0;
    x[1] = 1;
    /* 16 even products of the first block are a chain of their own, and so not lost beside the odd one */
    check_sum(x, w, 0, 32, 1 + 16 * small);
    /* those of the second block are added before they meet the sum: the first block's is not there */
    check_sum(x, w, 0, 64, 1 + 32 * small);
    check_sum(x, w, 0, 70, 1 + 32 * small + 4 * small); /* of the last, 3 · small: rounds to even */
    for (int k = 0; k < 70; k++)
        x[k] = k == 0 ? 1 : k % 2 ? 0 : small;
    /* beside a 1 of their own chain they are lost, each */
    check_sum(x, w, 0, 32, 1);
    /* a last block that is no whole one is filled up with zeros, which turn a negative zero that was flushed into a positive one */
    x[0] = 0x1p-75F;
    w[0] = -0x1p-76F;
    check_sum(x, w, -0.0F, 1, 0);
}

/* ---- the CPU's modes ---------------------------------------------------------------------------------------------- */

static bool flushes(void)
{
    volatile float x = FLT_MIN;
    x *= 0.5F;
    return x == 0;
}

static void *multiply(void *failed)
{
    FOR_EACH_KERNEL(k)
    {
        enum { M = 7, K = 21, N = 19 };
        static uint16_t x[M * (K + 1)], d[M * (N + 1)];
        static uint32_t packed[HD_LANES * 2 * (K + 1) / 2];
        float y[M * N] = {0}, w[K * N];
        float *scratch = aligned_alloc(64, HD_GEMM_SCRATCH * sizeof *scratch);
        if (!scratch)
            return NULL;
        k->gemm_bf16(y, N, x, K + 1, packed, NULL, false, HD_TANH, M, K, N);
        *(bool *)failed |= flushes();
        k->gemm_bf16_free(w, N, x, K + 1, d, N + 1, false, K, M, N, scratch);
        *(bool *)failed |= flushes();
        k->gemm_bf16_blocks(y, N, x, K + 1, packed, NULL, false, HD_TANH, M, K, N);
        *(bool *)failed |= flushes();
        k->gemm_bf16_blocks_free(w, N, x, K + 1, d, N + 1, false, K, M, N, scratch);
        *(bool *)failed |= flushes();
        free(scratch);
    }
    return NULL;
}

static void every_thread_has_its_denormals_back_after_a_product(void **state)
{
    (void)state;
    bool failed[3] = {0};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, multiply, &failed[i]), 0);
    multiply(&failed[2]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_false(failed[0] || failed[1] || failed[2]);
}

#if defined(__x86_64__)
static void what_flushed_before_flushes_afterwards(void **state)
{
    (void)state;
    const unsigned before = __builtin_ia32_stmxcsr();
    FOR_EACH_KERNEL(k)
    {
        uint16_t x[2] = {0};
        uint32_t packed[HD_LANES] = {0};
        float y;
        __builtin_ia32_ldmxcsr(before | 0x8000);
        k->gemm_bf16(&y, 1, x, 2, packed, NULL, false, HD_NONE, 1, 2, 1);
        const unsigned after = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(before);
        assert_that((after & 0x8040) == 0x8000, "%s: mode %x", k->name, after);
    }
}
#endif

/* ---- a unit that deviates ----------------------------------------------------------------------------------------- */

static float (*pair_of)(float a0, float b0, float a1, float b1, float c);

static void deviating(float *y, long ldy, const uint16_t *x, long ldx, const uint32_t *packed,
                      const float *bias, bool accumulate, enum hd_function act, int M, int K, int N)
{
    (void)accumulate, (void)act;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float c = bias[n];
            for (int i = 0; i < (K + 1) / 2; i++) {
                const uint32_t w = packed[i * HD_LANES + n];
                c = pair_of(hd_bf16_value(x[m * ldx + 2 * i]), hd_bf16_value((uint16_t)w),
                            hd_bf16_value(x[m * ldx + 2 * i + 1]),
                            hd_bf16_value((uint16_t)(w >> 16)), c);
            }
            y[m * ldy + n] = c;
        }
}

static float as_defined(float a0, float b0, float a1, float b1, float c)
{
    return hd_bf16_fma(a0, b0, hd_bf16_fma(a1, b1, c));
}
static float even_first(float a0, float b0, float a1, float b1, float c)
{
    return hd_bf16_fma(a1, b1, hd_bf16_fma(a0, b0, c));
}
static float no_flush(float a0, float b0, float a1, float b1, float c)
{
    return fmaf(a0, b0, fmaf(a1, b1, c));
}
static float flush_after_rounding_to_a_denormal(float a0, float b0, float a1, float b1, float c)
{
    const float odd = hd_bf16_flush(fmaf(hd_bf16_flush(a1), hd_bf16_flush(b1), hd_bf16_flush(c)));
    return hd_bf16_flush(fmaf(hd_bf16_flush(a0), hd_bf16_flush(b0), odd));
}
static float one_rounding(float a0, float b0, float a1, float b1, float c)
{
    return hd_bf16_flush((float)((double)a0 * (double)b0 + (double)a1 * (double)b1 + (double)c));
}

static void a_unit_that_deviates_is_found_out(void **state)
{
    (void)state;
    struct hd_kernels unit = hd_kernels_ref;
    unit.gemm_bf16 = deviating;
    pair_of = as_defined;
    assert_true(hd_bf16_agrees(&unit));
    float (*const wrong[])(float, float, float, float, float) = {
        even_first, no_flush, flush_after_rounding_to_a_denormal, one_rounding};
    for (int i = 0; i < 4; i++) {
        pair_of = wrong[i];
        assert_that(!hd_bf16_agrees(&unit), "deviation %d is not noticed", i);
    }
    pair_of = as_defined; /* one chain is not blocks */
    unit = hd_kernels_ref;
    unit.gemm_bf16_blocks = deviating;
    assert_false(hd_bf16_agrees(&unit));
    FOR_EACH_KERNEL(k)
    assert_that(hd_bf16_agrees(k), "%s deviates", k->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_two_fused_multiply_adds_the_odd_one_first),
        cmocka_unit_test(denormals_are_zeros_that_keep_their_sign),
        cmocka_unit_test(rounding_is_to_the_nearest_even),
        cmocka_unit_test(rows_are_rounded_as_the_reference_does),
        cmocka_unit_test(products_have_the_bits_of_the_reference),
        cmocka_unit_test(a_sum_in_blocks_has_two_chains_for_each_32),
        cmocka_unit_test(every_thread_has_its_denormals_back_after_a_product),
#if defined(__x86_64__)
        cmocka_unit_test(what_flushed_before_flushes_afterwards),
#endif
        cmocka_unit_test(a_unit_that_deviates_is_found_out),
    };
    return cmocka_run_group_tests_name("kernel/bf16", tests, NULL, NULL);
}
