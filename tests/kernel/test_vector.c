/* test_vector.c -- long vectors: the same bits from every kernel; sums, dropout and top-k do what they say. */
#include "base/rng.h"
#include "kernel/common.h"

/* y from a and b, all three random: run on both, compare y. `call` names them k, y, a, b, n. */
#define COMPARE(what, call)                                                            \
    do {                                                                               \
        float *const start = random_numbers(n, kind), *const mine = copy_of(start, n); \
        float *const a = random_numbers(n, kind), *const b = random_numbers(n, kind);  \
        (void)a, (void)b;                                                              \
        for (int is_ref = 0; is_ref < 2; is_ref++) {                                   \
            const struct hd_kernels *const k = is_ref ? &hd_kernels_ref : fast;        \
            float *const y = is_ref ? start : mine;                                    \
            call;                                                                      \
        }                                                                              \
        assert_same_bits(mine, start, n, "%s %s, kind %d", fast->name, what, kind);    \
        numbers_free(start), numbers_free(mine), numbers_free(a), numbers_free(b);     \
    } while (0)

static void every_length_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(fast)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        COMPARE("add", k->add(y, a, b, n));
        COMPARE("add in place", k->add(y, y, b, n));
        COMPARE("sub", k->sub(y, a, b, n));
        COMPARE("mul", k->mul(y, a, b, n));
        COMPARE("scale", k->scale(y, 0.3F, a, n));
        COMPARE("scale in place", k->scale(y, -3e38F, y, n));
        COMPARE("add_scaled", k->add_scaled(y, 0.7F, a, n));
        COMPARE("add_product", k->add_product(y, a, b, n));
        COMPARE("sum_rows", k->sum_rows(y, a, 1, n > 3 ? 3 : 0, n - 3 > 0 ? n - 3 : 0));
    }
}

static void sums_return_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        float *a = random_numbers(n, kind), *b = random_numbers(n, kind);
        assert_same_number(k->sum(a, n), hd_kernels_ref.sum(a, n), k->name, "sum", n);
        assert_same_number(k->dot(a, b, n), hd_kernels_ref.dot(a, b, n), k->name, "dot", n);
        assert_same_number(k->max(a, n), hd_kernels_ref.max(a, n), k->name, "max", n);
        const double squares = k->sum_squares(a, n), wanted = hd_kernels_ref.sum_squares(a, n);
        assert_that(squares == wanted || (squares != squares && wanted != wanted),
                    "%s sum_squares, n %d: %a, not %a", k->name, n, squares, wanted);
        assert_that(k->all_finite(a, n) == hd_kernels_ref.all_finite(a, n), "%s all_finite, n %d",
                    k->name, n);
        numbers_free(a), numbers_free(b);
    }
}

/* A product too small for a float is -0 or +0 by its sign; a zero added to it for a missing element is not the same. */
static void sums_of_zeros_keep_the_sign_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    for (int n = 0; n <= 40; n++) {
        float a[40], b[40];
        for (int i = 0; i < n; i++) {
            a[i] = -1e-30F;
            b[i] = 1e-30F;
        }
        assert_same_number(k->dot(a, b, n), hd_kernels_ref.dot(a, b, n), k->name, "dot", n);
        assert_same_number(k->dot(a, b, n), n % 16 || n == 0 ? 0.0F : -0.0F, k->name, "dot", n);
    }
}

static void sum_and_dot_are_near_the_exact_ones(void **state)
{
    (void)state;
    FOR_EACH_SIZE(n)
    {
        float *a = random_numbers(n, KIND_PLAIN), *b = random_numbers(n, KIND_PLAIN);
        double sum = 0, dot = 0, squares = 0, size = 1;
        for (int i = 0; i < n; i++) {
            sum += (double)a[i];
            dot += (double)a[i] * (double)b[i];
            squares += (double)a[i] * (double)a[i];
            size += 16;
        }
        const double bound = size * 0x1p-24 * (n / 16 + 5);
        assert_that(fabs((double)hd_kernels_ref.sum(a, n) - sum) <= bound, "sum, n %d", n);
        assert_that(fabs((double)hd_kernels_ref.dot(a, b, n) - dot) <= bound, "dot, n %d", n);
        assert_that(fabs(hd_kernels_ref.sum_squares(a, n) - squares) <= bound, "sum_squares, n %d",
                    n);
        numbers_free(a), numbers_free(b);
    }
}

static void a_long_sum_of_squares_is_added_in_double(void **state)
{
    (void)state;
    const long n = 1 << 20;
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (long i = 0; i < n; i++)
        x[i] = 0.1F;
    const double exact = (double)n * (double)0.1F * (double)0.1F;
    FOR_EACH_KERNEL(k)
    {
        const double sum = k->sum_squares(x, n);
        assert_that(fabs(sum - exact) < 2e-6 * exact, "%s: %.9g, not %.9g", k->name, sum, exact);
        for (long m = n - 3; m > n - 4099; m -= 1365)
            assert_true(k->sum_squares(x, m) == hd_kernels_available()[1]->sum_squares(x, m));
    }
    free(x);
}

static void max_passes_over_nan_and_has_no_negative_zero(void **state)
{
    (void)state;
    const float x[4] = {NAN, -3, NAN, -0.0F};
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        assert_same_number((*k)->max(x, 3), -3, (*k)->name, "max", 3);
        assert_same_number((*k)->max(x, 4), 0, (*k)->name, "max", 4);
        assert_same_number((*k)->max(x, 1), -INFINITY, (*k)->name, "max", 1);
        assert_same_number((*k)->max(x, 0), -INFINITY, (*k)->name, "max", 0);
    }
}

static void one_infinity_or_nan_anywhere_is_seen(void **state)
{
    (void)state;
    const float bad[3] = {INFINITY, -INFINITY, NAN};
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++)
        for (int n = 1; n < 70; n++) {
            float *x = random_numbers(n, KIND_WIDE);
            x[n / 2] = FLT_MAX;
            assert_true((*k)->all_finite(x, n));
            const int at = (int)random_bits() % n;
            x[at] = bad[n % 3];
            assert_that(!(*k)->all_finite(x, n), "%s, n %d, at %d", (*k)->name, n, at);
            assert_true((*k)->all_finite(x, at));
            numbers_free(x);
        }
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

static void rows_return_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(fast)
    FOR_EACH_KIND(kind)
    for (int rows = 0; rows <= 5; rows++)
        for (int width = 0; width <= 150; width += width < 20 ? 1 : 13) {
            const int n = rows * width;
            int ids[5];
            for (int r = 0; r < rows; r++)
                ids[r] = (int)random_bits() % rows; /* some twice */
            COMPARE("sum_rows", k->sum_rows(y, a, width, rows, n ? width : 0));
            COMPARE("gather_rows", k->gather_rows(y, a, ids, rows, width));
            COMPARE("scatter_add_rows", k->scatter_add_rows(y, a, ids, rows, width));
        }
}

static void gather_and_scatter_know_their_rows(void **state)
{
    (void)state;
    const int ids[4] = {2, 0, 2, 1};
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        const float table[6] = {1, 2, 3, 4, 5, 6};
        float y[8], back[6] = {0};
        (*k)->gather_rows(y, table, ids, 4, 2);
        const float wanted[8] = {5, 6, 1, 2, 5, 6, 3, 4};
        assert_memory_equal(y, wanted, sizeof y);
        (*k)->scatter_add_rows(back, y, ids, 4, 2);
        const float wanted_back[6] = {1, 2, 3, 4, 10, 12};
        assert_memory_equal(back, wanted_back, sizeof back);
    }
}

/* ---- dropout ------------------------------------------------------------------------------------------------------- */

static void dropout_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    static const float rates[] = {0, 0.1F, 0.5F, 0.9F, 1e-6F, 0.99999F, 1};
    FOR_EACH_KERNEL(fast)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        const float rate = rates[random_bits() % 7];
        const uint64_t key = random_bits() * 0x100000001ULL,
                       stream = random_bits() * 0x300000001ULL;
        COMPARE("dropout", k->dropout(y, a, rate, key, stream, false, n));
        COMPARE("dropout added", k->dropout(y, a, rate, key, stream, true, n));
        COMPARE("dropout in place", k->dropout(y, y, rate, key, stream, false, n));
    }
}

/* So many elements that some of them have bits equal to the threshold. */
static void dropout_draws_the_line_where_the_reference_does(void **state)
{
    (void)state;
    const int n = 400000;
    float *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y),
          *wanted = malloc((size_t)n * sizeof *y);
    assert_true(x && y && wanted);
    for (int i = 0; i < n; i++)
        x[i] = 1;
    hd_kernels_ref.dropout(wanted, x, 0.3F, 1, 2, false, n);
    FOR_EACH_KERNEL(k)
    {
        k->dropout(y, x, 0.3F, 1, 2, false, n);
        assert_that(memcmp(y, wanted, (size_t)n * sizeof *y) == 0, "%s", k->name);
    }
    free(x), free(y), free(wanted);
}

static void dropout_keeps_its_share_and_scales_it(void **state)
{
    (void)state;
    enum { N = 1 << 17 };
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_true(x && y);
    for (int i = 0; i < N; i++)
        x[i] = 1;
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    for (int r = 0; r <= 10; r++) {
        const float rate = (float)r / 10;
        k->dropout(y, x, rate, 1234, 5, false, N);
        int n_dropped = 0;
        for (int i = 0; i < N; i++) {
            n_dropped += y[i] == 0;
            assert_true(y[i] == 0 || y[i] == 1 / (1 - rate));
        }
        const double wanted = N * (double)rate,
                     spread = sqrt(N * (double)rate * (1 - (double)rate));
        assert_that(fabs(n_dropped - wanted) <= 4 * spread + 2, "rate %.1f: %d dropped",
                    (double)rate, n_dropped);
    }
    free(x), free(y);
}

/* Neighbours in a vector, in the next words, in the other half of a word, in the next block. */
static void dropped_elements_are_independent_of_their_neighbours(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    static float x[N], y[N], z[N];
    for (int i = 0; i < N; i++)
        x[i] = 1;
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    k->dropout(y, x, 0.5F, 7, 1, false, N);
    k->dropout(z, x, 0.5F, 7, 2, false, N);
    static const int distances[] = {1, 2, 16, 64, 128};
    for (int d = 0; d < 5; d++) {
        int n_alike = 0;
        for (int i = 0; i + distances[d] < N; i++)
            n_alike += (y[i] == 0) == (y[i + distances[d]] == 0);
        assert_that(abs(n_alike - N / 2) < 4 * 128 + 64, "distance %d: %d of %d alike",
                    distances[d], n_alike, N);
    }
    int n_alike = 0;
    for (int i = 0; i < N; i++)
        n_alike += (y[i] == 0) == (z[i] == 0);
    assert_that(abs(n_alike - N / 2) < 4 * 128, "another stream: %d of %d alike", n_alike, N);
}

static void dropout_without_a_rate_copies(void **state)
{
    (void)state;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        float *x = random_numbers(300, KIND_NASTY), *y = random_numbers(300, KIND_PLAIN);
        (*k)->dropout(y, x, 0, 1, 2, false, 300);
        for (int i = 0; i < 300; i++)
            assert_true(is_same(x[i], y[i]));
        numbers_free(x), numbers_free(y);
    }
}

/* ---- the k largest -------------------------------------------------------------------------------------------------- */

static void check_top_k(const struct hd_kernels *k, const float *x, int n, int size)
{
    int index[80], index_ref[80];
    float value[80], value_ref[80];
    memset(index, 7, sizeof index);
    memset(value, 7, sizeof value);
    memcpy(index_ref, index, sizeof index);
    memcpy(value_ref, value, sizeof value);
    k->top_k(index, value, x, n, size);
    hd_kernels_ref.top_k(index_ref, value_ref, x, n, size);
    for (int j = 0; j < 80; j++)
        assert_that(index[j] == index_ref[j] && is_same(value[j], value_ref[j]),
                    "%s top_k, n %d, k %d: place %d is %d (%a), not %d (%a)", k->name, n, size, j,
                    index[j], (double)value[j], index_ref[j], (double)value_ref[j]);
}

static void top_k_returns_the_places_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        float *x = random_numbers(n, kind);
        for (int size = 0; size <= 70; size += size < 18 ? 1 : 13)
            check_top_k(k, x, n, size);
        for (int i = 0; i < n; i++)
            x[i] = (float)(random_bits() % 5); /* many ties */
        for (int size = 0; size <= 70; size += size < 4 ? 1 : 11)
            check_top_k(k, x, n, size);
        numbers_free(x);
    }
}

static void top_k_orders_ties_by_place_and_nan_last(void **state)
{
    (void)state;
    const float x[8] = {NAN, -0.0F, 5, 0.0F, -INFINITY, 5, NAN, 1};
    const int wanted[10] = {2, 5, 7, 1, 3, 4, 0, 6, -1, -1};
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        int index[10];
        float value[10];
        (*k)->top_k(index, value, x, 8, 10);
        for (int j = 0; j < 10; j++) {
            assert_that(index[j] == wanted[j], "%s: place %d is %d, not %d", (*k)->name, j,
                        index[j], wanted[j]);
            assert_true(is_same(value[j], wanted[j] < 0 ? -INFINITY : x[wanted[j]]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_returns_the_bits_of_the_reference),
        cmocka_unit_test(sums_return_the_bits_of_the_reference),
        cmocka_unit_test(sums_of_zeros_keep_the_sign_of_the_reference),
        cmocka_unit_test(sum_and_dot_are_near_the_exact_ones),
        cmocka_unit_test(a_long_sum_of_squares_is_added_in_double),
        cmocka_unit_test(max_passes_over_nan_and_has_no_negative_zero),
        cmocka_unit_test(one_infinity_or_nan_anywhere_is_seen),
        cmocka_unit_test(rows_return_the_bits_of_the_reference),
        cmocka_unit_test(gather_and_scatter_know_their_rows),
        cmocka_unit_test(dropout_returns_the_bits_of_the_reference),
        cmocka_unit_test(dropout_draws_the_line_where_the_reference_does),
        cmocka_unit_test(dropout_keeps_its_share_and_scales_it),
        cmocka_unit_test(dropped_elements_are_independent_of_their_neighbours),
        cmocka_unit_test(dropout_without_a_rate_copies),
        cmocka_unit_test(top_k_returns_the_places_of_the_reference),
        cmocka_unit_test(top_k_orders_ties_by_place_and_nan_last),
    };
    return cmocka_run_group_tests_name("kernel/vector", tests, NULL, NULL);
}
