/* test_int8_matrix.c -- matrices held in 8 bits: what products with them are, on every kernel, and what cannot be done with them. */
#include "test.h"

#include "base/memory.h"
#include "graph/tape.h"
#include <math.h>

enum { K = 37, N = 21, ROWS = 9 };

static uint32_t seed = 1;

static float number(void)
{
    seed = seed * 1664525U + 1013904223U;
    return (float)((int)(seed >> 8 & 0xffff) - 0x8000) / 0x4000;
}

struct held {
    hd_params *params;
    hd_node *map, *table, *b, *other;
    float map_values[K * N], table_values[N * K];
};

/* A map [K,N], a table [N,K], a bias and a matrix that stays as it is. One column is zeros. */
static struct held held(void)
{
    heed_error err = {0};
    struct held h = {.params = hd_params_new(&err)};
    h.map = hd_param(h.params, "map", K, N);
    h.table = hd_param(h.params, "table", N, K);
    h.b = hd_param(h.params, "b", N);
    h.other = hd_param(h.params, "other", K, N);
    hd_param_set_use(h.map, HD_PARAM_MAP);
    hd_param_set_use(h.table, HD_PARAM_TABLE);
    for (int i = 0; i < hd_params_number(h.params); i++)
        hd_param_hold(hd_params_at(h.params, i), HD_HELD_INT8);
    assert_that(hd_params_make(h.params, &err), "%s", err.message);
    for (int i = 0; i < K * N; i++) {
        h.map_values[i] = i % N == 3 ? 0 : number() * (float)(1 + i % N);
        h.table_values[i] = number();
    }
    assert_true(hd_param_write(h.map, h.map_values, &err));
    assert_true(hd_param_write(h.table, h.table_values, &err));
    for (int i = 0; i < N; i++)
        h.b->x[i] = number();
    return h;
}

/* The nearest whole number, ties to even. */
static int nearest(float x)
{
    return (int)rintf(x);
}

/* bias + t s Σ_k p_k q_k of one output, from the definition. w(k) = w[k·stride]. */
static float output_of(const float *x, const float *w, long stride, float bias)
{
    float most_x = 0, most_w = 0;
    for (int k = 0; k < K; k++) {
        most_x = fmaxf(most_x, fabsf(x[k]));
        most_w = fmaxf(most_w, fabsf(w[k * stride]));
    }
    int sum = 0;
    for (int k = 0; k < K && most_w > 0; k++)
        sum += nearest(x[k] * (127 / most_x)) * nearest(w[k * stride] * (127 / most_w));
    return fmaf((float)sum, most_x / 127 * (most_w > 0 ? most_w / 127 : 1), bias);
}

static void assert_rows(const hd_node *y, const float *x, const float *w, long k_stride,
                        long n_stride, const float *bias, const char *kernel)
{
    for (int r = 0; r < ROWS; r++)
        for (int n = 0; n < N; n++) {
            const float expected =
                output_of(x + r * K, w + n * n_stride, k_stride, bias ? bias[n] : 0);
            assert_that(y->x[r * N + n] == expected, "%s: [%d,%d] is %.9g, not %.9g", kernel, r, n,
                        (double)y->x[r * N + n], (double)expected);
        }
}

static void products_are_their_formula_on_every_kernel(void **state)
{
    (void)state;
    const struct hd_kernels *chosen = hd_kernels_chosen(NULL);
    for (int i = 0; hd_kernels_available()[i]; i++) {
        hd_kernels_choose(hd_kernels_available()[i]);
        struct held h = held();
        hd_tape *tape = hd_tape_new(NULL);
        float x[ROWS * K];
        for (int j = 0; j < ROWS * K; j++)
            x[j] = number();
        const char *name = hd_kernels_available()[i]->name;
        hd_node *in = hd_input(tape, x, ROWS, K);
        assert_rows(hd_lin(h.map, in), x, h.map_values, N, 1, NULL, name);
        assert_rows(hd_affine(h.map, h.b, in), x, h.map_values, N, 1, h.b->x, name);
        assert_rows(hd_lin_transposed(h.table, in), x, h.table_values, 1, K, NULL, name);
        assert_rows(hd_affine_transposed(h.table, h.b, in), x, h.table_values, 1, K, h.b->x, name);
        const hd_node *affine = hd_affine(h.map, h.b, in);
        const hd_node *dense = hd_dense(h.map, h.b, in, HD_TANH);
        const hd_node *after = hd_tanh((hd_node *)affine);
        assert_memory_equal(dense->x, after->x, dense->count * sizeof(float));
        assert_int_equal(hd_tape_error(tape)->code, HEED_OK);
        hd_tape_free(tape);
        hd_params_free(h.params);
    }
    hd_kernels_choose(chosen);
}

static void rows_of_a_table_are_its_values(void **state)
{
    (void)state;
    struct held h = held();
    hd_tape *tape = hd_tape_new(NULL);
    const int index[] = {20, -1, 0, 20};
    const hd_node *y = hd_rows(hd_on(tape, h.table), index, 4);
    float values[N * K];
    hd_param_read(h.table, values);
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < K; k++)
            assert_true(y->x[r * K + k] == (index[r] < 0 ? 0 : values[index[r] * K + k]));
    int8_t q[N * K];
    hd_param_read_int8(h.table, q);
    for (int i = 0; i < N * K; i++)
        assert_true(values[i] == h.table->param->int8.scale[i / K] * (float)q[i]);
    hd_tape_free(tape);
    hd_params_free(h.params);
}

/* What needs floats says so; what was declared as a map is no table, and the other way round. */
static void what_needs_floats_refuses(void **state)
{
    (void)state;
    struct held h = held();
    hd_tape *tape = hd_tape_new(NULL);
    for (int i = 0; i < 5; i++) {
        hd_tape_reset(tape);
        hd_node *x = hd_input(tape, NULL, 2, i == 2 ? N : K);
        hd_node *y = i == 0   ? hd_tanh(hd_on(tape, h.map))
                     : i == 1 ? hd_rows(hd_on(tape, h.map), (const int[]){0}, 1)
                     : i == 2 ? hd_lin_transposed(h.map, x)
                     : i == 3 ? hd_lin(h.table, hd_input(tape, NULL, 2, N))
                              : hd_add(x, hd_on(tape, h.table));
        (void)y;
        assert_that(hd_tape_error(tape)->code == HEED_BAD_SHAPE &&
                        strstr(hd_tape_error(tape)->message, "is held in 8 bits"),
                    "%d: %s", i, hd_tape_error(tape)->message);
    }
    assert_false(h.map->wants_gradient || h.b->wants_gradient);
    assert_null(hd_params_values(h.params));
    assert_true(h.other->x && !hd_is_int8(h.other));
    hd_tape_free(tape);
    hd_params_free(h.params);
}

/* In training, products are those of 8 bits, and gradients are as if they were not. */
static void a_rounded_map_learns_straight_through(void **state)
{
    (void)state;
    struct held h = held();
    heed_error err = {0};
    float values[K * N], x[ROWS * K], expected[K];
    hd_params *params = hd_params_new(&err);
    hd_node *map = hd_param(params, "map", K, N), *b = hd_param(params, "b", N);
    hd_param_set_use(map, HD_PARAM_MAP);
    assert_true(hd_params_make(params, &err));
    for (int i = 0; i < K * N; i++)
        values[i] = (float)(i * 7919 % 1009) / 300 - 1.5F;
    for (int i = 0; i < ROWS * K; i++)
        x[i] = (float)(i * 104729 % 97) / 40 - 1;
    assert_true(hd_param_write(map, values, &err) && hd_param_write(h.map, values, &err));
    memcpy(b->x, h.b->x, N * sizeof(float));
    assert_true(hd_params_multiply_int8(params, &err));
    assert_true(map->x && hd_params_values(params));
    float *gradients = calloc(hd_params_size(params), sizeof *gradients);
    hd_tape *tape = hd_tape_new(NULL);
    for (int change = 0; change < 2; change++) { /* again, when the values have changed */
        hd_tape_reset(tape);
        hd_tape_record(tape, true);
        hd_node *in = hd_input(tape, x, ROWS, K);
        hd_node *y = hd_affine(map, b, in);
        const hd_node *wanted = hd_affine(h.map, h.b, hd_input(tape, x, ROWS, K));
        assert_memory_equal(y->x, wanted->x, ROWS * N * sizeof(float));
        memset(gradients, 0, hd_params_size(params) * sizeof *gradients);
        assert_true(hd_backward(hd_sum(y), gradients));
        for (int k = 0; k < K; k++) { /* dW = xᵀ dy of the x that is not rounded, dy = 1 */
            expected[k] = 0;
            for (int r = 0; r < ROWS; r++)
                expected[k] += x[r * K + k];
            for (int n = 0; n < N; n++)
                assert_that(fabsf(gradients[hd_param_offset(map) + (size_t)(k * N + n)] -
                                  expected[k]) < 1e-5F,
                            "dW[%d,%d]", k, n);
        }
        for (int i = 0; i < K * N; i++)
            values[i] *= i % 3 == 0 ? -0.7F : 1.1F;
        assert_true(hd_param_write(map, values, &err) && hd_param_write(h.map, values, &err));
        hd_params_changed(params);
        hd_params_requantise(params, 0);
    }
    assert_int_equal(hd_tape_error(tape)->code, HEED_OK);
    free(gradients);
    hd_tape_free(tape);
    hd_params_free(params);
    hd_params_free(h.params);
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_params *params = hd_params_new(&err);
        hd_node *map = hd_param(params, "map", K, N);
        hd_param_set_use(map, HD_PARAM_MAP);
        hd_param_hold(map, HD_HELD_INT8);
        static float values[K * N];
        hd_alloc_fail_after(n);
        const bool ok = hd_params_make(params, &err) && hd_param_write(map, values, &err) &&
                        hd_params_pack(params, &err);
        hd_alloc_fail_after(-1);
        hd_params_free(params);
        if (ok)
            break;
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_their_formula_on_every_kernel),
        cmocka_unit_test(rows_of_a_table_are_its_values),
        cmocka_unit_test(what_needs_floats_refuses),
        cmocka_unit_test(a_rounded_map_learns_straight_through),
        cmocka_unit_test(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
