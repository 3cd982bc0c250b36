/* test_params.c -- parameters: one block, names, packing, and start values. */
#include "test.h"

#include "base/rng.h"
#include "graph/tape.h"
#include "kernel/kernel.h"
#include <heed_graph.h>
#include <limits.h>
#include <math.h>

static hd_params *new_params(void)
{
    heed_error err = {0};
    hd_params *params = hd_params_new(&err);
    assert_non_null(params);
    return params;
}

static void make(hd_params *params)
{
    heed_error err = {0};
    assert_that(hd_params_make(params, &err), "%s", err.message);
}

/* ---- the block ------------------------------------------------------------------------------- */

static void parameters_stand_in_one_block_at_multiples_of_16(void **state)
{
    (void)state;
    hd_params *params = new_params();
    const struct {
        const char *name;
        int dims[4], n_dims;
        size_t offset, count;
    } expected[] = {
        {"a", {3}, 1, 0, 3},         {"b", {4, 4}, 2, 16, 16},        {"nothing", {5, 0}, 2, 32, 0},
        {"c", {2, 3, 5}, 3, 32, 30}, {"d", {1, 1, 1, 17}, 4, 64, 17},
    };
    enum { N = sizeof expected / sizeof *expected };
    for (int i = 0; i < N; i++)
        hd_param_dims(params, expected[i].name, expected[i].dims, expected[i].n_dims);
    assert_null(hd_params_values(params));
    make(params);
    assert_int_equal(hd_params_size(params), 96);
    assert_int_equal(hd_params_number(params), N);
    for (int i = 0; i < N; i++) {
        const hd_node *p = hd_params_at(params, i);
        assert_ptr_equal(p, hd_params_find(params, expected[i].name));
        assert_string_equal(hd_param_name(p), expected[i].name);
        assert_int_equal(hd_param_offset(p), expected[i].offset);
        assert_int_equal(hd_count(p), expected[i].count);
        assert_ptr_equal(p->x, hd_params_values(params) + expected[i].offset);
        assert_int_equal((uintptr_t)p->x % 64, 0);
        assert_true(p->wants_gradient && p->tape == NULL && p->g == NULL);
    }
    for (size_t i = 0; i < 96; i++)
        assert_true(hd_params_values(params)[i] == 0);
    assert_null(hd_params_at(params, N));
    assert_null(hd_params_at(params, -1));
    assert_null(hd_params_find(params, "e"));
    make(params); /* once more does nothing */
    hd_params_free(params);
}

static void there_may_be_many_parameters_and_none(void **state)
{
    (void)state;
    hd_params *params = new_params();
    char name[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "p%d", i);
        hd_param(params, name, i % 7);
    }
    make(params);
    assert_int_equal(hd_params_number(params), 1000);
    assert_string_equal(hd_param_name(hd_params_at(params, 999)), "p999");
    hd_params_free(params);
    params = new_params();
    make(params);
    assert_int_equal(hd_params_size(params), 0);
    hd_params_free(params);
    hd_params_free(NULL);
}

/* hd_params_make() says this after a declaration with these sizes. */
static void refused(const char *sentence, const char *name, const int *dims, int n_dims)
{
    heed_error err = {0};
    hd_params *params = new_params();
    hd_param(params, "fine", 3);
    hd_param_dims(params, name, dims, n_dims);
    hd_param(params, "also fine", 3);
    assert_false(hd_params_make(params, &err));
    assert_string_equal(err.message, sentence);
    hd_params_free(params);
}

static void a_failed_declaration_is_told_when_they_are_made(void **state)
{
    (void)state;
    refused("hd_param: W has a size of -4", "W", (const int[]){3, -4}, 2);
    refused("hd_param: W has 0 dimensions, a parameter has 1 to 4", "W", NULL, 0);
    refused("hd_param: W has 5 dimensions, a parameter has 1 to 4", "W",
            (const int[]){1, 1, 1, 1, 1}, 5);
    refused("hd_param: W [2147483647,2147483647,2] is too large", "W",
            (const int[]){INT_MAX, INT_MAX, 2}, 3);
    refused("hd_param: W [2147483647,2147483647] is too large", "W",
            (const int[]){INT_MAX, INT_MAX}, 2);
    refused("hd_param: W [70000,70000,1] is too large", "W", (const int[]){70000, 70000, 1}, 3);
    refused("hd_param: there are two parameters called fine", "fine", (const int[]){3}, 1);
    refused("hd_param: a parameter needs a name", "", (const int[]){3}, 1);

    heed_error err = {0};
    hd_params *params = new_params();
    make(params);
    hd_param(params, "late", 3);
    assert_false(hd_params_make(params, &err));
    assert_string_equal(err.message,
                        "hd_param: late comes too late, hd_params_make() was called before");
    hd_params_free(params);
}

/* ---- start values ---------------------------------------------------------------------------- */

static void fresh(hd_params **params, hd_node **p, int rows, int columns)
{
    *params = new_params();
    *p = hd_param(*params, "W", rows, columns);
    make(*params);
}

static void moments(const hd_node *p, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < hd_count(p); i++) {
        sum += (double)p->x[i];
        squares += (double)p->x[i] * (double)p->x[i];
    }
    *mean = sum / (double)hd_count(p);
    *variance = squares / (double)hd_count(p) - *mean * *mean;
}

static void start_values_have_the_spread_they_should(void **state)
{
    (void)state;
    hd_params *params;
    hd_node *W;
    double mean, variance;
    fresh(&params, &W, 100, 200);
    hd_init_uniform(W, 0.5F, 1);
    moments(W, &mean, &variance);
    assert_true(fabs(mean) < 0.01 && fabs(variance - 0.25 / 3) < 0.002);
    for (size_t i = 0; i < hd_count(W); i++)
        assert_true(W->x[i] >= -0.5F && W->x[i] < 0.5F);
    hd_init_normal(W, 2, 1);
    moments(W, &mean, &variance);
    assert_true(fabs(mean) < 0.05 && fabs(variance - 4) < 0.15);
    hd_init_glorot(W, 1);
    moments(W, &mean, &variance);
    assert_true(fabs(variance * 3 - 6.0 / 300) < 0.001);
    hd_init_fill(W, 3);
    moments(W, &mean, &variance);
    assert_true(mean == 3 && variance == 0);
    hd_params_free(params);
}

static void seed_and_name_decide_the_numbers_and_nothing_else(void **state)
{
    (void)state;
    hd_params *params;
    hd_node *W;
    fresh(&params, &W, 5, 7);
    hd_params *others = new_params();
    hd_node *before = hd_param(others, "before", 3), *same = hd_param(others, "W", 5, 7);
    hd_node *twin = hd_param(others, "W'", 5, 7);
    make(others);
    hd_init_normal(W, 1, 42);
    hd_init_normal(before, 1, 42);
    hd_init_normal(same, 1, 42);
    hd_init_normal(twin, 1, 42);
    assert_memory_equal(W->x, same->x, 35 * sizeof(float));
    assert_memory_not_equal(W->x, twin->x, 35 * sizeof(float));
    hd_init_normal(same, 1, 43);
    assert_memory_not_equal(W->x, same->x, 35 * sizeof(float));
    hd_params_free(others);
    hd_params_free(params);
}

/* Rows or columns [from, from + n) of W, seen as vectors of `length`, are orthogonal and `gain`
 * long. */
static void assert_orthogonal(const float *x, long step, long stride, int n, int length,
                              double gain, const char *what)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double dot = 0;
            for (int l = 0; l < length; l++)
                dot += (double)x[i * step + l * stride] * (double)x[j * step + l * stride];
            const double expected = i == j ? gain * gain : 0;
            assert_that(fabs(dot - expected) < 1e-5, "%s: %d and %d give %g", what, i, j, dot);
        }
}

static void orthogonal_matrices_are_orthogonal(void **state)
{
    (void)state;
    const int sizes[][2] = {{1, 1},   {7, 7},  {64, 64}, {130, 130}, {16, 48},
                            {20, 80}, {5, 13}, {13, 5},  {300, 270}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int rows = sizes[s][0], columns = sizes[s][1];
        hd_params *params;
        hd_node *W;
        fresh(&params, &W, rows, columns);
        hd_init_orthogonal(W, 1.5F, 3);
        char what[32];
        snprintf(what, sizeof what, "[%d,%d]", rows, columns);
        if (rows > columns)
            assert_orthogonal(W->x, 1, columns, columns, rows, 1.5, what);
        else if (columns % rows == 0)
            for (int block = 0; block < columns; block += rows) {
                assert_orthogonal(W->x + block, columns, 1, rows, rows, 1.5, what);
                assert_orthogonal(W->x + block, 1, columns, rows, rows, 1.5, what);
            }
        else
            assert_orthogonal(W->x, columns, 1, rows, columns, 1.5, what);
        hd_params_free(params);
    }
}

static void empty_parameters_have_no_start_values_to_fail_on(void **state)
{
    (void)state;
    const int sizes[][2] = {{0, 0}, {0, 5}, {5, 0}};
    for (int s = 0; s < 3; s++) {
        hd_params *params;
        hd_node *W;
        fresh(&params, &W, sizes[s][0], sizes[s][1]);
        hd_init_fill(W, 1);
        hd_init_uniform(W, 1, 1);
        hd_init_normal(W, 1, 1);
        hd_init_glorot(W, 1);
        hd_init_orthogonal(W, 1, 1);
        assert_true(hd_params_pack(params, NULL));
        hd_params_free(params);
    }
}

/* ---- packing --------------------------------------------------------------------------------- */

static void rows_packed_in_any_order_make_the_copy_of_the_whole(void **state)
{
    (void)state;
    const int sizes[][2] = {{1, 1}, {16, 16}, {37, 53}, {100, 16}, {64, 130}, {5, 300}};
    for (int s = 0; s < 6; s++)
        for (int step = 16; step <= 48; step += 32) {
            hd_params *params;
            hd_node *W;
            const int rows = sizes[s][0], columns = sizes[s][1];
            fresh(&params, &W, rows, columns);
            hd_init_normal(W, 1, 7);
            struct hd_packed *copies[] = {&W->param->straight, &W->param->crossed};
            const size_t bytes[] = {hd_packed_size(rows, columns) * sizeof(float),
                                    hd_packed_size(columns, rows) * sizeof(float)};
            copies[0]->is_wanted = copies[1]->is_wanted = true;
            assert_true(hd_params_pack(params, NULL));
            float *whole[2];
            for (int c = 0; c < 2; c++) {
                assert_true(copies[c]->is_current);
                memcpy(whole[c] = malloc(bytes[c]), copies[c]->at, bytes[c]);
                memset(copies[c]->at, 0xFF, bytes[c]);
            }
            hd_params_changed(params);
            assert_true(hd_params_pack_begin(params, NULL));
            for (int from = (rows - 1) / step * step; from >= 0; from -= step)
                hd_params_pack_rows(params, 0, from, from + step < rows ? from + step : rows);
            assert_false(copies[0]->is_current || copies[1]->is_current);
            hd_params_pack_end(params);
            for (int c = 0; c < 2; c++) {
                assert_true(copies[c]->is_current);
                assert_memory_equal(copies[c]->at, whole[c], bytes[c]);
                free(whole[c]);
            }
            hd_params_free(params);
        }
}

/* A map held for products alone gives its values back and multiplies with the same bits; other ops refuse it. */
static void a_packed_map_is_the_map(void **state)
{
    (void)state;
    enum { K = 13, N = 37, ROWS = 5 };
    hd_params *sets[2] = {new_params(), new_params()};
    hd_node *W[2], *b[2];
    float values[K * N], x[ROWS * K], again[K * N], column[K];
    for (int i = 0; i < K * N; i++)
        values[i] = (float)(i * 7919 % 101) / 50 - 1;
    for (int i = 0; i < ROWS * K; i++)
        x[i] = (float)(i * 104729 % 97) / 40 - 1;
    hd_tape *tape = hd_tape_new(NULL);
    const hd_node *y[2];
    for (int i = 0; i < 2; i++) {
        W[i] = hd_param(sets[i], "W", K, N);
        b[i] = hd_param(sets[i], "b", N);
        hd_param_set_use(W[i], HD_PARAM_MAP);
        if (i == 1)
            hd_param_hold(W[i], HD_HELD_PACKED);
        hd_param_hold(b[i], HD_HELD_PACKED); /* no matrix */
        make(sets[i]);
        assert_true(hd_param_write(W[i], values, NULL) && hd_params_pack(sets[i], NULL));
        y[i] = hd_dense(W[i], b[i], hd_input(tape, x, ROWS, K), HD_TANH);
        assert_int_equal(hd_tape_error(tape)->code, HEED_OK);
        hd_param_read(W[i], again);
        assert_memory_equal(again, values, sizeof values);
        hd_param_read_output(W[i], 33, column);
        for (int k = 0; k < K; k++)
            assert_true(column[k] == values[k * N + 33]);
    }
    assert_memory_equal(y[0]->x, y[1]->x, ROWS * N * sizeof(float));
    assert_true(!W[1]->x && b[1]->x && !W[1]->wants_gradient && !hd_params_values(sets[1]));
    hd_tanh(hd_on(tape, W[1]));
    assert_non_null(strstr(hd_tape_error(tape)->message, "W is held packed for products"));
    hd_tape_free(tape);
    hd_params_free(sets[0]);
    hd_params_free(sets[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_stand_in_one_block_at_multiples_of_16),
        cmocka_unit_test(there_may_be_many_parameters_and_none),
        cmocka_unit_test(a_failed_declaration_is_told_when_they_are_made),
        cmocka_unit_test(start_values_have_the_spread_they_should),
        cmocka_unit_test(seed_and_name_decide_the_numbers_and_nothing_else),
        cmocka_unit_test(orthogonal_matrices_are_orthogonal),
        cmocka_unit_test(empty_parameters_have_no_start_values_to_fail_on),
        cmocka_unit_test(rows_packed_in_any_order_make_the_copy_of_the_whole),
        cmocka_unit_test(a_packed_map_is_the_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
