/* test_gradients.c -- the derivative of every op against central differences, in double
 * precision.
 *
 * The same sources as in the library, built once more with `float` meaning `double`: what is
 * compared is the formula, undisturbed by rounding. A case builds some node from leaves; the
 * test weighs its numbers into one, walks back, and compares the gradient of every number of
 * every leaf with (f(x + h) - f(x - h)) / 2h. Each case runs three times: its leaves as
 * variables, as parameters beside one variable, and as parameters brought to the tape with
 * hd_on().
 *
 * To add a case: write a function that makes leaves and returns a node, and name it in the table
 * at the end. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "double.h" /* heed in double precision */

#define HD_SLICE_FLOATS 1 /* hd_output_loss cuts as small as it can */
#include "graph/attention.c"
#include "graph/cell_ops.c"
#include "graph/context.c"
#include "graph/ctc.c"
#include "graph/elementwise.c"
#include "graph/guide.c"
#include "graph/init.c"
#include "graph/linear.c"
#include "graph/location.c"
#include "graph/loss.c"
#include "graph/output_layer.c"
#include "graph/params.c"
#include "graph/ragged.c"
#include "graph/recurrence.c"
#include "graph/reduce.c"
#include "graph/scan.c"
#include "graph/score_ops.c"
#include "graph/shape.c"
#include "graph/spans.c"
#include "graph/tape.c"

/* ---- leaves ---------------------------------------------------------------------------------- */

enum { MOST_LEAVES = 12, MOST_NUMBERS = 4096 };

enum kind { VARIABLES, PARAMETERS, PARAMETERS_ON_TAPE };

/* One run of a case: which tape, what leaves are made of, and which number of which leaf is
 * moved by how much. */
struct check {
    hd_tape *t;
    hd_params *params; /* with PARAMETERS…: leaf i is parameter i */
    enum kind kind;
    int n_leaves;
    hd_node *leaf[MOST_LEAVES];
    int moved_leaf; /* -1: none */
    size_t moved;
    double by;
};

/* Some number in (-1, 1) that depends on leaf and place alone. */
static double some_number(int leaf, size_t i)
{
    const struct hd_rng rng = {.key = 7, .stream = (uint64_t)leaf};
    return 2 * hd_uniform_of(hd_rng_u32_at(&rng, i)) - 1;
}

/* The next leaf, with numbers in (low, high). */
static hd_node *leaf_between(struct check *c, double low, double high, const int *dims, int n_dims)
{
    const int number = c->n_leaves++;
    assert_true(number < MOST_LEAVES);
    hd_node *n;
    if (c->kind == VARIABLES || (c->kind == PARAMETERS && number == 0)) {
        n = hd_variable_dims(c->t, NULL, dims, n_dims);
    } else {
        char name[16];
        snprintf(name, sizeof name, "leaf %d", number);
        hd_node *param = hd_params_find(c->params, name);
        if (!param) { /* the first run declares them; their values come later */
            assert_int_equal(hd_params_values(c->params), NULL);
            param = hd_param_dims(c->params, name, dims, n_dims);
            c->leaf[number] = param;
            return hd_variable_dims(c->t, NULL, dims, n_dims);
        }
        n = param;
    }
    c->leaf[number] = n;
    for (size_t i = 0; i < hd_count(n); i++)
        n->x[i] = low + (high - low) * (some_number(number, i) + 1) / 2;
    if (c->moved_leaf == number)
        n->x[c->moved] += c->by;
    return c->kind == PARAMETERS_ON_TAPE ? hd_on(c->t, n) : n;
}

#define leaf(c, ...)     leaf_in(c, -1, 1, __VA_ARGS__)
#define positive(c, ...) leaf_in(c, 0.5, 2, __VA_ARGS__)
#define leaf_in(c, low, high, ...)                         \
    leaf_between(c, low, high, (const int[]){__VA_ARGS__}, \
                 (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

/* Numbers that get no gradient. */
#define constant(c, ...)                         \
    constant_dims(c, (const int[]){__VA_ARGS__}, \
                  (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
static hd_node *constant_dims(struct check *c, const int *dims, int n_dims)
{
    hd_node *n = hd_input_dims(c->t, NULL, dims, n_dims);
    for (size_t i = 0; i < hd_count(n); i++)
        n->x[i] = some_number(1000, i);
    return n;
}

/* ---- the check ------------------------------------------------------------------------------- */

struct gradient_case {
    const char *name;
    hd_node *(*build)(struct check *);
};

/* All numbers of the case, weighed differently, in one. */
static hd_node *run(struct check *c, const struct gradient_case *k, bool record)
{
    hd_tape_reset(c->t);
    hd_tape_record(c->t, record);
    hd_tape_train(c->t, 99);
    c->n_leaves = 0;
    hd_node *y = k->build(c);
    hd_node *weights = hd_input_dims(c->t, NULL, y->dim, y->n_dims);
    for (size_t i = 0; i < hd_count(weights); i++)
        weights->x[i] = some_number(2000, i);
    return hd_sum(hd_mul(y, weights));
}

static double value_of(struct check *c, const struct gradient_case *k)
{
    const hd_node *f = run(c, k, false);
    if (hd_tape_error(c->t)->code)
        fail_msg("%s: %s", k->name, hd_tape_error(c->t)->message);
    return f->x[0];
}

/* Declare the leaves of the case as parameters. */
static void declare(struct check *c, const struct gradient_case *k)
{
    heed_error err = {0};
    run(c, k, false);
    if (!hd_params_make(c->params, &err))
        fail_msg("%s: %s", k->name, err.message);
}

static void compare(struct check *c, const struct gradient_case *k, int leaf, size_t i,
                    double there)
{
    const double h = 1e-5;
    c->moved_leaf = leaf;
    c->moved = i;
    c->by = h;
    const double above = value_of(c, k);
    c->by = -h;
    const double below = value_of(c, k);
    c->moved_leaf = -1;
    const double expected = (above - below) / (2 * h);
    const double size = fabs(expected) > 1 ? fabs(expected) : 1;
    if (!(fabs(there - expected) <= 2e-7 * size))
        fail_msg("%s, leaf %d (%s), number %zu: the gradient is %.10g, differences say %.10g",
                 k->name, leaf, c->kind == VARIABLES ? "variable" : "parameter", i, there,
                 expected);
}

static void check_kind(const struct gradient_case *k, enum kind kind)
{
    heed_error err = {0};
    struct check c = {.kind = kind, .moved_leaf = -1};
    c.t = hd_tape_new(&err);
    c.params = hd_params_new(&err);
    assert_non_null(c.t);
    assert_non_null(c.params);
    declare(&c, k);

    const double quiet = value_of(&c, k);
    double *gradients = calloc(hd_params_size(c.params) + 1, sizeof *gradients);
    hd_node *loss = run(&c, k, true);
    assert_true(loss->x[0] == quiet);
    if (!hd_backward(loss, gradients))
        fail_msg("%s: %s", k->name, hd_tape_error(c.t)->message);

    double *there[MOST_LEAVES] = {0};
    const int n_leaves = c.n_leaves;
    for (int l = 0; l < n_leaves; l++) { /* the next run will forget the tape's */
        const hd_node *n = c.leaf[l];
        const double *g = n->tape ? n->g : gradients + hd_param_offset(n);
        there[l] = calloc(hd_count(n) + 1, sizeof **there);
        if (g)
            memcpy(there[l], g, hd_count(n) * sizeof *g);
    }
    for (int l = 0; l < n_leaves; l++) {
        const size_t count = hd_count(c.leaf[l]);
        for (size_t i = 0; i < count; i++)
            compare(&c, k, l, i, there[l][i]);
        free(there[l]);
    }
    free(gradients);
    hd_params_free(c.params);
    hd_tape_free(c.t);
}

static void the_gradient_is_the_slope(void **state)
{
    const struct gradient_case *k = *state;
    for (enum kind kind = VARIABLES; kind <= PARAMETERS_ON_TAPE; kind++)
        check_kind(k, kind);
}

/* ---- linear maps ----------------------------------------------------------------------------- */

static hd_node *lin_case(struct check *c)
{
    hd_node *x = leaf(c, 3, 5), *W = leaf(c, 5, 4);
    return hd_lin(W, x);
}

static hd_node *lin_vector_case(struct check *c)
{
    hd_node *x = leaf(c, 5), *W = leaf(c, 5, 17);
    return hd_lin(W, x);
}

static hd_node *lin_block_case(struct check *c)
{
    hd_node *x = leaf(c, 2, 3, 5), *W = leaf(c, 5, 3);
    return hd_lin(W, x);
}

static hd_node *lin_square_case(struct check *c) /* one node on both sides */
{
    hd_node *x = leaf(c, 4, 4);
    return hd_lin(x, x);
}

static hd_node *affine_case(struct check *c)
{
    hd_node *x = leaf(c, 3, 5), *W = leaf(c, 5, 4), *b = leaf(c, 4);
    return hd_affine(W, b, x);
}

static hd_node *lin_transposed_case(struct check *c)
{
    hd_node *x = leaf(c, 2, 2, 5), *W = leaf(c, 7, 5);
    return hd_lin_transposed(W, x);
}

static hd_node *affine_transposed_case(struct check *c)
{
    hd_node *b = leaf(c, 7), *x = leaf(c, 2, 2, 5), *W = leaf(c, 7, 5);
    return hd_affine_transposed(W, b, x);
}

static hd_node *dense_of(struct check *c, enum hd_function f)
{
    hd_node *x = leaf(c, 3, 5), *W = leaf(c, 5, 4), *b = leaf(c, 4);
    return hd_add(hd_dense(W, b, x, f), hd_dense(W, NULL, x, f));
}

static hd_node *dense_none_case(struct check *c)
{
    return dense_of(c, HD_NONE);
}

static hd_node *dense_relu_case(struct check *c)
{
    return dense_of(c, HD_RELU);
}

static hd_node *dense_tanh_case(struct check *c)
{
    return dense_of(c, HD_TANH);
}

static hd_node *dense_sigmoid_case(struct check *c)
{
    return dense_of(c, HD_SIGMOID);
}

static hd_node *dense_gelu_case(struct check *c)
{
    return dense_of(c, HD_GELU);
}

static hd_node *dense_swish_case(struct check *c)
{
    return dense_of(c, HD_SWISH);
}

/* A weight used in many small steps, in one large product and in between again. */
static hd_node *deferred_case(struct check *c)
{
    hd_node *s = leaf(c, 2, 2), *W = leaf(c, 2, 2), *many = hd_on(c->t, leaf(c, 70, 2));
    hd_node *sum = hd_sum_rows(hd_lin(W, many));
    for (int step = 0; step < 300; step++) {
        s = hd_tanh(hd_lin(W, s));
        if (step == 150)
            sum = hd_add(sum, hd_sum_rows(hd_lin(W, many)));
    }
    return hd_add(sum, hd_sum_rows(hd_lin_transposed(W, s)));
}

static hd_node *embed_case(struct check *c)
{
    hd_node *x = leaf(c, 5, 3), *table = leaf(c, 4, 3);
    return hd_add(x, hd_embed(c->t, table, (const int[]){3, 0, 3, 3, 1}, 5));
}

static hd_node *tied_embedding_case(struct check *c) /* looked up and used as output layer */
{
    hd_node *x = leaf(c, 3, 3), *table = leaf(c, 4, 3);
    return hd_lin_transposed(table, hd_add(x, hd_embed(c->t, table, (const int[]){3, 0, 3}, 3)));
}

static hd_node *rows_case(struct check *c)
{
    hd_node *x = leaf(c, 2, 2, 3);
    return hd_rows(hd_scale(x, 1), (const int[]){3, -1, 0, 3, 2}, 5);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static hd_node *concat_case(struct check *c)
{
    hd_node *a = leaf(c, 2, 3, 1), *b = leaf(c, 2, 3, 4);
    return hd_concat(a, b);
}

static hd_node *join_case(struct check *c)
{
    hd_node *parts[] = {leaf(c, 2, 3), leaf(c, 2, 0), leaf(c, 2, 5), NULL};
    parts[3] = parts[0];
    return hd_join(parts, 4);
}

static hd_node *pile_case(struct check *c)
{
    hd_node *parts[] = {leaf(c, 2, 3), leaf(c, 0, 3), leaf(c, 1, 3), NULL};
    parts[3] = parts[0];
    return hd_pile(parts, 4);
}

static hd_node *part_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 2, 2, 5), 2);
    return hd_add(hd_part(x, 1, 3), hd_part(x, 2, 3));
}

static hd_node *slice_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 4, 2, 3), 2);
    return hd_add(hd_slice(x, 0, 2), hd_slice(x, 1, 2));
}

static hd_node *transpose_case(struct check *c)
{
    return hd_transpose(hd_scale(leaf(c, 19, 33), 2));
}

static hd_node *reshape_case(struct check *c)
{
    return hd_softmax(hd_reshape(hd_scale(leaf(c, 2, 6), 2), 3, 1, 4), NULL);
}

static hd_node *spread_case(struct check *c)
{
    return hd_spread(hd_scale(leaf(c, 4, 3), 2), hd_spans_of(c->t, (const int[]){2, 0, 3, 1}, 4));
}

static hd_node *pad_case(struct check *c)
{
    const int starts[] = {1, 0, 1}, lengths[] = {3, 0, 2}; /* shared rows */
    const hd_spans *spans = hd_spans_at(c->t, starts, lengths, 3);
    hd_node *e = hd_scale(leaf(c, 5), 2);
    return hd_add(hd_pad(e, spans), hd_pad(hd_reshape(e, 5, 1), spans));
}

/* ---- element by element ---------------------------------------------------------------------- */

static hd_node *all_three(hd_node *a, hd_node *b) /* a + b, a - b, a ∘ b, and the other way round */
{
    hd_node *y = hd_add(hd_add(a, b), hd_mul(hd_sub(a, b), hd_mul(a, b)));
    return hd_add(y, hd_mul(hd_add(b, a), hd_sub(b, a)));
}

static hd_node *same_shape_case(struct check *c)
{
    hd_node *a = leaf(c, 2, 3, 2, 2), *b = leaf(c, 2, 3, 2, 2);
    return all_three(a, b);
}

static hd_node *same_node_case(struct check *c)
{
    hd_node *a = hd_tanh(hd_scale(leaf(c, 3, 5), 1));
    return hd_add(hd_mul(a, a), hd_sub(hd_add(a, a), hd_mul(a, hd_sub(a, a))));
}

static hd_node *vector_case(struct check *c)
{
    hd_node *a = leaf(c, 2, 3, 5), *b = leaf(c, 5);
    return all_three(a, b);
}

static hd_node *scalar_case(struct check *c)
{
    hd_node *a = leaf(c, 3, 5), *b = leaf(c, 1);
    return all_three(a, b);
}

static hd_node *column_case(struct check *c) /* [B,1] against [B,S] */
{
    hd_node *a = leaf(c, 3, 5), *b = leaf(c, 3, 1);
    return all_three(a, b);
}

static hd_node *outer_case(struct check *c) /* [B,1] against [1,S]: both are repeated */
{
    hd_node *a = leaf(c, 3, 1), *b = leaf(c, 1, 5);
    return all_three(a, b);
}

static hd_node *query_case(struct check *c) /* [B,A] against [B,S,A], where B = S */
{
    hd_node *a = leaf(c, 3, 5), *b = leaf(c, 3, 3, 5);
    return all_three(a, b);
}

static hd_node *ones_case(struct check *c)
{
    hd_node *a = leaf(c, 2, 1, 3, 1), *b = leaf(c, 1, 4, 3, 5);
    return all_three(a, b);
}

static hd_node *scale_case(struct check *c)
{
    return hd_shift(hd_scale(hd_tanh(hd_shift(hd_scale(leaf(c, 3, 5), 3), 0.25)), -2.5), 7);
}

static hd_node *blend_case(struct check *c) /* more than it takes at a time */
{
    hd_node *z = leaf(c, 3, 100), *a = leaf(c, 3, 100), *b = leaf(c, 3, 100);
    return hd_blend(z, a, b);
}

static hd_node *blend_itself_case(struct check *c)
{
    hd_node *z = leaf(c, 2, 3), *a = leaf(c, 2, 3);
    return hd_add(hd_blend(z, z, a), hd_blend(a, z, z));
}

static hd_node *functions_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 3, 7), 3), *p = hd_on(c->t, positive(c, 3, 7));
    hd_node *parts[] = {hd_tanh(x),  hd_sigmoid(x), hd_relu(x), hd_gelu(x),
                        hd_swish(x), hd_exp(x),     hd_log(p)};
    return hd_pile(parts, 7);
}

static hd_node *dropout_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 5, 11), 1);
    return hd_add(hd_dropout(x, 0.5), hd_dropout(x, 0.25));
}

static hd_node *maxout_case(struct check *c)
{
    return hd_maxout(hd_scale(leaf(c, 2, 3, 8), 1));
}

/* ---- rows and reductions --------------------------------------------------------------------- */

static hd_node *softmax_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 2, 3, 19), 2);
    return hd_softmax(x, NULL);
}

static hd_node *softmax_masked_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 4, 5), 2);
    hd_node *a = hd_softmax(x, hd_mask_lengths(c->t, (const int[]){5, 3, 0, 1}, 4, 5));
    hd_node *b = hd_softmax(
        x, hd_mask_ranges(c->t, (const int[]){-2, 1, 4, 3}, (const int[]){2, 9, 5, 3}, 4, 5));
    return hd_add(a, b);
}

static hd_node *log_softmax_case(struct check *c)
{
    return hd_log_softmax(hd_scale(leaf(c, 3, 19), 2), NULL);
}

/* Outside the mask it is -inf, so only what is inside is weighed. */
static hd_node *log_softmax_masked_case(struct check *c)
{
    const uint8_t keep[] = {1, 0, 1, 1, 0, 1, 0, 1, 1, 1};
    hd_node *y = hd_log_softmax(hd_scale(leaf(c, 2, 5), 2), hd_mask_bytes(c->t, keep, 2, 5));
    hd_node *inside[] = {hd_part(y, 0, 1), hd_part(y, 2, 2)};
    return hd_slice(hd_join(inside, 2), 0, 1);
}

static hd_node *layer_norm_case(struct check *c)
{
    hd_node *x = leaf(c, 2, 2, 19), *gain = leaf(c, 19), *bias = leaf(c, 19);
    return hd_layer_norm(x, gain, bias, 1e-3);
}

static hd_node *layer_norm_shared_case(struct check *c)
{
    hd_node *x = leaf(c, 3, 7), *gain = leaf(c, 7);
    hd_node *row = hd_reshape(hd_slice(hd_scale(x, 1), 1, 1), 7);
    return hd_add(hd_layer_norm(x, gain, gain, 1e-3), hd_layer_norm(row, row, row, 1e-3));
}

static hd_node *rms_norm_case(struct check *c)
{
    hd_node *x = leaf(c, 2, 2, 19), *gain = leaf(c, 19);
    hd_node *row = hd_reshape(hd_rows(hd_scale(x, 1), (const int[]){2}, 1), 19);
    return hd_add(hd_rms_norm(x, gain, 1e-3), hd_rms_norm(row, row, 1e-3));
}

static hd_node *sums_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 2, 3, 5), 2);
    hd_node *parts[] = {hd_sum(x), hd_mean(x), hd_sum_squares(x), hd_sum_rows(x),
                        hd_reshape(hd_sum_last(x), 6)};
    return hd_pile(parts, 5);
}

static hd_node *mean_spans_case(struct check *c)
{
    const hd_spans *spans =
        hd_spans_at(c->t, (const int[]){0, 1, 3, 2}, (const int[]){3, 4, 0, 1}, 4);
    return hd_mean_spans(hd_scale(leaf(c, 5, 3), 2), spans);
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Four sentences in seven rows: one is empty, two share rows, and row 6 belongs to nobody. */
static const hd_spans *ragged(struct check *c)
{
    return hd_spans_at(c->t, (const int[]){0, 1, 3, 2}, (const int[]){3, 4, 0, 4}, 4);
}

static hd_node *dot_case(struct check *c)
{
    hd_node *x = leaf(c, 2, 3, 19), *v = leaf(c, 19);
    return hd_dot(v, x);
}

static hd_node *dot_vector_case(struct check *c)
{
    hd_node *x = leaf(c, 5), *v = leaf(c, 5);
    return hd_concat(hd_dot(v, x), hd_dot(x, x));
}

static hd_node *dot_each_case(struct check *c)
{
    hd_node *q = leaf(c, 2, 17), *k = leaf(c, 2, 3, 17);
    return hd_dot_each(q, k);
}

static hd_node *dot_spans_case(struct check *c)
{
    hd_node *q = leaf(c, 4, 3), *k = leaf(c, 7, 3);
    return hd_dot_each(q, hd_ragged(hd_on(c->t, k), ragged(c)));
}

static hd_node *dot_itself_case(struct check *c) /* queries and keys are one node */
{
    hd_node *x = hd_scale(leaf(c, 4, 3), 2);
    return hd_dot_each(x, hd_ragged(x, hd_spans_of(c->t, (const int[]){1, 2, 0, 1}, 4)));
}

static hd_node *additive_case(struct check *c)
{
    hd_node *q = leaf(c, 2, 17), *v = leaf(c, 17), *k = leaf(c, 2, 3, 17);
    return hd_additive(v, q, k);
}

static hd_node *additive_spans_case(struct check *c)
{
    hd_node *q = leaf(c, 4, 3), *v = leaf(c, 3), *k = leaf(c, 7, 3);
    return hd_additive(v, q, hd_ragged(hd_on(c->t, k), ragged(c)));
}

static hd_node *additive_cover_case(struct check *c)
{
    hd_node *q = leaf(c, 4, 3), *v = leaf(c, 3), *k = leaf(c, 7, 3), *cover = leaf(c, 4, 4),
            *w = leaf(c, 3);
    return hd_additive_covered(v, q, hd_ragged(hd_on(c->t, k), ragged(c)), w, cover);
}

static hd_node *additive_itself_case(struct check *c) /* v is w, and q, k and cover are one node */
{
    hd_node *x = hd_on(c->t, leaf(c, 3, 3)), *v = leaf(c, 3);
    const hd_spans *spans = hd_spans_at(c->t, (const int[]){0, 0, 1}, (const int[]){3, 1, 2}, 3);
    return hd_additive_covered(v, x, hd_ragged(x, spans), v, x);
}

static hd_node *located_case(struct check *c)
{
    hd_node *q = leaf(c, 4, 3), *v = leaf(c, 3), *k = leaf(c, 7, 3), *x = leaf(c, 11, 3);
    return hd_additive_located(v, q, hd_ragged(hd_on(c->t, k), ragged(c)), x);
}

static hd_node *located_itself_case(struct check *c) /* queries share keys, which are x, too */
{
    hd_node *x = hd_on(c->t, leaf(c, 6, 3)), *v = leaf(c, 3);
    const hd_spans *spans = hd_spans_at(c->t, (const int[]){0, 0, 1}, (const int[]){3, 1, 2}, 3);
    return hd_additive_located(v, hd_slice(x, 1, 3), hd_ragged(x, spans), x);
}

static hd_node *windows_case(struct check *c) /* wider than a sentence, and than all of them */
{
    hd_node *x = leaf(c, 4, 4);
    return hd_concat(hd_windows(x, ragged(c), 3), hd_windows(x, ragged(c), 11));
}

static hd_node *mix_case(struct check *c)
{
    hd_node *alpha = leaf(c, 2, 3), *h = leaf(c, 2, 3, 17);
    return hd_mix(alpha, h);
}

static hd_node *mix_spans_case(struct check *c)
{
    hd_node *alpha = leaf(c, 4, 4), *h = leaf(c, 7, 3);
    return hd_mix(alpha, hd_ragged(hd_on(c->t, h), ragged(c)));
}

static hd_node *bahdanau_case(struct check *c) /* the whole formula of the header */
{
    hd_node *s = leaf(c, 2, 3), *W = leaf(c, 3, 5), *U = leaf(c, 4, 5), *v = leaf(c, 5),
            *h = leaf(c, 2, 3, 4);
    hd_node *Uh = hd_lin(U, hd_on(c->t, h));
    hd_node *e = hd_dot(v, hd_tanh(hd_add(hd_lin(W, hd_on(c->t, s)), Uh)));
    hd_node *a = hd_softmax(e, hd_mask_lengths(c->t, (const int[]){3, 2}, 2, 3));
    return hd_mix(a, h);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static hd_node *rnn_cell_case(struct check *c)
{
    hd_node *x = leaf(c, 3, 5), *u = leaf(c, 3, 5);
    return hd_add(hd_rnn_cell(x, u), hd_rnn_cell(u, hd_on(c->t, u)));
}

static hd_node *gru_cell_case(struct check *c)
{
    hd_node *x = leaf(c, 3, 15), *u = leaf(c, 3, 15), *s = leaf(c, 3, 5);
    return hd_add(hd_gru_cell(x, u, s), hd_gru_cell(u, u, hd_on(c->t, s)));
}

static hd_node *lstm_cell_case(struct check *c)
{
    hd_node *x = leaf(c, 3, 20), *u = leaf(c, 3, 20), *cell = leaf(c, 3, 5);
    return hd_add(hd_lstm_cell(x, u, cell), hd_lstm_cell(u, u, hd_on(c->t, cell)));
}

static hd_node *gru_steps_case(struct check *c)
{
    hd_node *s = leaf(c, 2, 3), *U = leaf(c, 3, 9), *W = leaf(c, 4, 9), *b = leaf(c, 9);
    for (int step = 0; step < 4; step++) {
        hd_node *x = hd_affine(W, b, constant(c, 2, 4));
        s = hd_gru_cell(x, hd_lin(U, s), s);
    }
    return s;
}

static hd_node *lstm_steps_case(struct check *c)
{
    hd_node *s = leaf(c, 2, 3), *cell = leaf(c, 2, 3), *U = leaf(c, 3, 12), *W = leaf(c, 4, 12);
    for (int step = 0; step < 4; step++) {
        hd_node *both = hd_lstm_cell(hd_lin(W, constant(c, 2, 4)), hd_lin(U, hd_on(c->t, s)), cell);
        s = hd_part(both, 0, 3);
        cell = hd_part(both, 3, 3);
    }
    return hd_concat(s, cell);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static hd_node *cross_entropy_case(struct check *c)
{
    hd_node *x = hd_scale(leaf(c, 4, 19), 2);
    return hd_concat(hd_cross_entropy(x, (const int[]){3, -1, 0, 18}, 0),
                     hd_cross_entropy(x, (const int[]){3, 18, -1, 3}, 0.1));
}

static hd_node *ctc_case(struct check *c) /* labels that repeat, none at all, too many */
{
    hd_node *x = hd_scale(leaf(c, 12, 4), 2);
    const hd_spans *spans = hd_spans_of(c->t, (const int[]){5, 3, 2, 2}, 4);
    static const int labels[] = {2, 2, 1, 0, 1, 1, 0, 2}, n_labels[] = {3, 0, 2, 2};
    hd_node *one = hd_ctc(x, spans, labels, n_labels, NULL);
    return hd_concat(one, hd_scale(hd_ctc(x, spans, labels + 1, n_labels, NULL), 0.5));
}

static hd_node *kl_case(struct check *c)
{
    hd_node *a = leaf(c, 3, 19), *b = leaf(c, 3, 19);
    return hd_concat(hd_kl(a, b), hd_scale(hd_kl(b, a), 0.5));
}

static hd_node *kl_itself_case(struct check *c)
{
    hd_node *a = hd_scale(leaf(c, 3, 5), 1);
    return hd_add(hd_kl(a, a), hd_kl(a, hd_stop(a)));
}

/* ---- attention of many heads ----------------------------------------------------------------- */

#define ints(...)      ((const int[]){__VA_ARGS__})
#define count_of(...)  (int)(sizeof ints(__VA_ARGS__) / sizeof(int))
#define spans(c, ...)  hd_spans_of((c)->t, ints(__VA_ARGS__), count_of(__VA_ARGS__))
#define attend_by(...) (&(const hd_attention_options){__VA_ARGS__})

static hd_node *attention_self_case(struct check *c)
{
    const hd_spans *s = spans(c, 3, 1, 2);
    hd_node *q = leaf(c, 6, 6), *k = leaf(c, 6, 6), *v = leaf(c, 6, 6);
    return hd_attention(q, k, v, attend_by(.queries = s, .keys = s, .n_heads = 2));
}

static hd_node *attention_cross_case(struct check *c)
{
    hd_node *k = leaf(c, 6, 4), *q = leaf(c, 4, 4), *v = leaf(c, 6, 4);
    return hd_attention(q, k, v,
                        attend_by(.queries = spans(c, 1, 3), .keys = spans(c, 4, 2), .n_heads = 1));
}

/* Guides of one head, two of them for one row; what is attended to has a gradient as well. */
static hd_node *attention_guided_case(struct check *c)
{
    const hd_guide guides[] = {{0, 3, 0.5}, {1, 0, 1}, {3, 0, 0.25}, {3, 1, 0.75}};
    hd_node *q = leaf(c, 4, 4), *k = leaf(c, 6, 4), *v = leaf(c, 6, 4);
    hd_node *y = hd_attention(
        q, k, v, attend_by(.queries = spans(c, 1, 3), .keys = spans(c, 4, 2), .n_heads = 2));
    hd_node *loss = hd_guide_attention(y, 1, guides, 4);
    return hd_add(hd_sum(hd_mul(y, y)), loss);
}

static hd_node *attention_guided_alone_case(struct check *c)
{
    const hd_guide guides[] = {{0, 1, 1}, {2, 0, 2}};
    hd_node *q = leaf(c, 3, 2), *k = leaf(c, 3, 2), *v = leaf(c, 3, 2);
    hd_node *y = hd_attention(
        q, k, v, attend_by(.queries = spans(c, 2, 1), .keys = spans(c, 2, 1), .n_heads = 1));
    return hd_guide_attention(y, 0, guides, 2);
}

static hd_node *guided_weights_case(struct check *c)
{
    const hd_guide guides[] = {{0, 0, 0.5}, {0, 2, 0.5}, {2, 1, 3}};
    return hd_guide_weights(hd_softmax(leaf(c, 3, 4), NULL), guides, 3);
}

static hd_node *attention_causal_case(struct check *c)
{
    const hd_spans *s = spans(c, 4, 1, 2);
    hd_node *v = leaf(c, 7, 6), *q = leaf(c, 7, 6), *k = leaf(c, 7, 6);
    return hd_attention(q, k, v,
                        attend_by(.queries = s, .keys = s, .n_heads = 3, .is_causal = true));
}

/* Fewer queries than keys (those before are already known), as many, and more (the first ones
 * see nothing). */
static hd_node *attention_uneven_case(struct check *c)
{
    hd_node *q = leaf(c, 9, 2), *k = leaf(c, 9, 2), *v = leaf(c, 9, 2);
    return hd_attention(q, k, v,
                        attend_by(.queries = spans(c, 2, 2, 4, 1), .keys = spans(c, 4, 2, 2, 1),
                                  .n_heads = 2, .is_causal = true));
}

static hd_node *attention_empty_of(struct check *c, bool is_causal)
{
    hd_node *q = leaf(c, 6, 4), *k = leaf(c, 8, 4), *v = leaf(c, 8, 4);
    return hd_attention(q, k, v,
                        attend_by(.queries = spans(c, 2, 0, 3, 1, 0),
                                  .keys = spans(c, 3, 2, 0, 3, 0), .n_heads = 2,
                                  .is_causal = is_causal));
}

static hd_node *attention_empty_case(struct check *c)
{
    return attention_empty_of(c, false);
}

static hd_node *attention_empty_causal_case(struct check *c)
{
    return attention_empty_of(c, true);
}

static hd_node *attention_beam_case(struct check *c) /* sentences 0 and 1, 2 and 3 share keys */
{
    hd_node *q = leaf(c, 5, 4), *k = leaf(c, 6, 4), *v = leaf(c, 6, 4);
    const hd_spans *keys = hd_spans_at(c->t, ints(0, 0, 2, 3), ints(3, 3, 4, 2), 4);
    return hd_attention(q, k, v,
                        attend_by(.queries = spans(c, 1, 2, 1, 1), .keys = keys, .n_heads = 2));
}

static hd_node *attention_nobody_case(struct check *c) /* rows between, before and after */
{
    hd_node *q = leaf(c, 7, 4), *k = leaf(c, 8, 4), *v = leaf(c, 8, 4);
    const hd_spans *queries = hd_spans_at(c->t, ints(4, 1), ints(2, 2), 2);
    const hd_spans *keys = hd_spans_at(c->t, ints(1, 5), ints(3, 2), 2);
    return hd_attention(
        q, k, v, attend_by(.queries = queries, .keys = keys, .n_heads = 2, .is_causal = true));
}

static hd_node *attention_widths_case(struct check *c) /* d = 17, e = 3; blocks of rows */
{
    hd_node *q = leaf(c, 1, 3, 34), *k = leaf(c, 2, 2, 34), *v = leaf(c, 4, 6);
    return hd_attention(q, k, v,
                        attend_by(.queries = spans(c, 1, 2), .keys = spans(c, 3, 1), .n_heads = 2));
}

static hd_node *attention_scale_case(struct check *c)
{
    const hd_spans *s = spans(c, 3, 2);
    hd_node *q = leaf(c, 5, 4), *k = leaf(c, 5, 4), *v = leaf(c, 5, 4);
    return hd_attention(q, k, v, attend_by(.queries = s, .keys = s, .n_heads = 2, .scale = -1.75));
}

static hd_node *attention_dropout_of(struct check *c, bool is_causal)
{
    const hd_spans *s = spans(c, 5, 0, 4);
    hd_node *q = leaf(c, 9, 4), *k = leaf(c, 9, 4), *v = leaf(c, 9, 4);
    hd_node *before = hd_dropout(hd_scale(q, 1), 0.25);
    return hd_attention(
        before, k, v,
        attend_by(.queries = s, .keys = s, .n_heads = 2, .is_causal = is_causal, .dropout = 0.5));
}

static hd_node *attention_dropout_case(struct check *c)
{
    return attention_dropout_of(c, false);
}

static hd_node *attention_dropout_causal_case(struct check *c)
{
    return attention_dropout_of(c, true);
}

static hd_node *attention_itself_case(struct check *c) /* one node as q, k and v */
{
    const hd_spans *s = spans(c, 3, 0, 2);
    hd_node *x = hd_scale(leaf(c, 5, 4), 2);
    return hd_add(
        hd_attention(x, x, x, attend_by(.queries = s, .keys = s, .n_heads = 2, .is_causal = true)),
        hd_attention(x, x, x, attend_by(.queries = s, .keys = s, .n_heads = 1, .dropout = 0.5)));
}

static hd_node *attention_constants_case(struct check *c) /* only one of the three is a variable */
{
    const hd_spans *s = spans(c, 3, 2);
    const hd_attention_options *o = attend_by(.queries = s, .keys = s, .n_heads = 2);
    hd_node *x = leaf(c, 5, 4), *constant = constant(c, 5, 4);
    hd_node *y = hd_attention(x, constant, constant, o);
    y = hd_add(y, hd_attention(constant, x, constant, o));
    return hd_add(y, hd_attention(constant, constant, x, o));
}

static hd_node *transformer_case(struct check *c) /* a layer: attention to itself, then a network */
{
    const hd_spans *s = spans(c, 2, 3);
    hd_node *x = hd_on(c->t, leaf(c, 5, 4)), *W = leaf(c, 4, 12), *gain = leaf(c, 4),
            *bias = leaf(c, 4), *W_1 = leaf(c, 4, 5), *W_2 = leaf(c, 5, 4);
    hd_node *qkv = hd_lin(W, hd_layer_norm(x, gain, bias, 1e-3));
    x = hd_add(x, hd_attention(hd_part(qkv, 0, 4), hd_part(qkv, 4, 4), hd_part(qkv, 8, 4),
                               attend_by(.queries = s, .keys = s, .n_heads = 2)));
    return hd_add(x, hd_lin(W_2, hd_dense(W_1, NULL, hd_layer_norm(x, gain, bias, 1e-3), HD_GELU)));
}

/* ---- recurrences ----------------------------------------------------------------------------- */

enum with { NOTHING, BIAS = 1, START = 2, REVERSED = 4 };

/* The recurrence of width D over these sentences; x has `rows` rows. The state before comes
 * first, so that among parameters it is the one with a tape. */
static hd_node *recurrence_of(struct check *c, enum hd_cell cell, int D, int rows,
                              const hd_spans *s, enum with with)
{
    const int G = D * gates_of(cell), width = cell == HD_LSTM ? 2 * D : D;
    hd_node *start = with & START ? leaf(c, s->n, width) : NULL, *x = leaf(c, rows, G),
            *U = leaf(c, D, G), *b = with & BIAS ? leaf(c, G) : NULL;
    const hd_recurrence_options o = {
        .cell = cell, .spans = s, .is_reversed = (with & REVERSED) != 0};
    return hd_recurrence(x, U, b, start, &o);
}

/* In any order, an empty one, equal lengths, and rows 0, 6 and 11 that belong to nobody. */
static const hd_spans *scattered(struct check *c)
{
    return hd_spans_at(c->t, ints(4, 7, 2, 1, 1), ints(2, 4, 2, 0, 1), 5);
}

static hd_node *rnn_case(struct check *c)
{
    return recurrence_of(c, HD_RNN, 3, 6, spans(c, 3, 1, 2), NOTHING);
}

static hd_node *rnn_all_case(struct check *c)
{
    return recurrence_of(c, HD_RNN, 3, 12, scattered(c), BIAS | START | REVERSED);
}

static hd_node *gru_case(struct check *c)
{
    return recurrence_of(c, HD_GRU, 3, 6, spans(c, 1, 3, 2), NOTHING);
}

static hd_node *gru_bias_case(struct check *c)
{
    return recurrence_of(c, HD_GRU, 3, 6, spans(c, 3, 3), BIAS);
}

static hd_node *gru_start_case(struct check *c)
{
    return recurrence_of(c, HD_GRU, 3, 6, spans(c, 0, 4, 0, 1), START);
}

static hd_node *gru_reversed_case(struct check *c)
{
    return recurrence_of(c, HD_GRU, 3, 6, spans(c, 2, 1, 3), REVERSED);
}

static hd_node *gru_all_case(struct check *c)
{
    return recurrence_of(c, HD_GRU, 3, 12, scattered(c), BIAS | START | REVERSED);
}

static hd_node *gru_forward_all_case(struct check *c)
{
    return recurrence_of(c, HD_GRU, 2, 12, scattered(c), BIAS | START);
}

static hd_node *lstm_case(struct check *c)
{
    return recurrence_of(c, HD_LSTM, 3, 6, spans(c, 1, 2, 3), NOTHING);
}

static hd_node *lstm_bias_case(struct check *c)
{
    return recurrence_of(c, HD_LSTM, 2, 5, spans(c, 3, 0, 2), BIAS);
}

static hd_node *lstm_all_case(struct check *c)
{
    return recurrence_of(c, HD_LSTM, 3, 12, scattered(c), BIAS | START | REVERSED);
}

static hd_node *lstm_forward_all_case(struct check *c)
{
    return recurrence_of(c, HD_LSTM, 2, 12, scattered(c), BIAS | START);
}

/* The gated scan of width D over these sentences; z and u have `rows` rows. */
static hd_node *scan_of(struct check *c, int D, int rows, const hd_spans *s, enum with with)
{
    hd_node *start = with & START ? leaf(c, s->n, D) : NULL, *z = leaf(c, rows, D),
            *u = leaf(c, rows, D);
    return hd_gated_scan(z, u, start, s);
}

static hd_node *scan_case(struct check *c)
{
    return scan_of(c, 3, 6, spans(c, 3, 1, 2), NOTHING);
}

static hd_node *scan_start_case(struct check *c)
{
    return scan_of(c, 3, 12, scattered(c), START);
}

static hd_node *scan_itself_case(struct check *c)
{
    hd_node *z = hd_on(c->t, leaf(c, 5, 2));
    return hd_gated_scan(z, z, NULL, spans(c, 2, 3));
}

static hd_node *recurrence_many_case(struct check *c) /* 70 sentences at once, then 1 for long */
{
    int lengths[70];
    for (int i = 0; i < 70; i++)
        lengths[i] = 1;
    lengths[33] = 140;
    return recurrence_of(c, HD_GRU, 1, 209, hd_spans_of(c->t, lengths, 70), BIAS);
}

static hd_node *recurrence_shared_case(struct check *c) /* U and b elsewhere too, and both ways */
{
    hd_node *x = leaf(c, 5, 3), *U = leaf(c, 3, 3), *b = leaf(c, 3);
    const hd_recurrence_options forth = {.cell = HD_RNN, .spans = spans(c, 3, 2)},
                                back = {.cell = HD_RNN, .spans = forth.spans, .is_reversed = true};
    hd_node *y = hd_add(hd_recurrence(x, U, b, NULL, &forth), hd_recurrence(x, U, b, NULL, &back));
    return hd_concat(hd_lin_transposed(U, y), hd_affine(U, b, hd_on(c->t, x)));
}

static hd_node *recurrence_itself_case(struct check *c) /* one node as x, U and start */
{
    hd_node *x = leaf(c, 3, 3);
    const hd_recurrence_options o = {.cell = HD_RNN, .spans = spans(c, 1, 2, 0)};
    return hd_recurrence(hd_on(c->t, x), x, NULL, x, &o);
}

static hd_node *recurrence_made_case(struct check *c) /* U, b and start are made by other ops */
{
    hd_node *x = leaf(c, 5, 6), *U = leaf(c, 2, 6), *b = leaf(c, 6), *start = leaf(c, 2, 2);
    const hd_recurrence_options o = {.cell = HD_GRU, .spans = spans(c, 3, 2)};
    return hd_recurrence(hd_tanh(hd_on(c->t, x)), hd_scale(hd_on(c->t, U), 2),
                         hd_scale(hd_on(c->t, b), 0.5), hd_tanh(hd_on(c->t, start)), &o);
}

static hd_node *recurrence_constants_case(struct check *c) /* only one operand is a variable */
{
    const hd_recurrence_options o = {.cell = HD_LSTM, .spans = spans(c, 3, 2)};
    hd_node *sum = constant(c, 5, 2);
    for (int i = 0; i < 4; i++) {
        hd_node *x = i == 0 ? leaf(c, 5, 4) : constant(c, 5, 4);
        hd_node *U = i == 1 ? leaf(c, 1, 4) : constant(c, 1, 4);
        hd_node *b = i == 2 ? leaf(c, 4) : constant(c, 4);
        hd_node *start = i == 3 ? leaf(c, 2, 2) : constant(c, 2, 2);
        sum = hd_add(sum, hd_recurrence(x, U, b, start, &o));
    }
    return sum;
}

/* ---- output layers --------------------------------------------------------------------------- */

/* The loss is multiplied by a number, which is a leaf too, and appears twice. */
static hd_node *weighed(struct check *c, hd_node *loss)
{
    return hd_add(hd_mul(loss, leaf(c, 1)), hd_tanh(hd_scale(loss, 0.1)));
}

static hd_node *output_of(struct check *c, bool has_bias, hd_output_options o)
{
    hd_node *W = o.is_transposed ? leaf(c, 19, 3) : leaf(c, 3, 19), *x = leaf(c, 2, 2, 3),
            *b = has_bias ? leaf(c, 19) : NULL;
    return weighed(c, hd_output_loss(W, b, x, ints(4, -1, 18, 0), &o));
}

static hd_node *output_case(struct check *c)
{
    return output_of(c, false, (hd_output_options){0});
}

static hd_node *output_bias_case(struct check *c)
{
    return output_of(c, true, (hd_output_options){.smoothing = 0.1});
}

static hd_node *output_transposed_case(struct check *c)
{
    return output_of(c, false, (hd_output_options){.is_transposed = true, .smoothing = 0.1});
}

static hd_node *output_transposed_bias_case(struct check *c)
{
    return output_of(c, true, (hd_output_options){.is_transposed = true});
}

static hd_node *output_default_case(struct check *c) /* without options, as the loss itself */
{
    hd_node *x = leaf(c, 2, 3), *W = leaf(c, 3, 5);
    return hd_output_loss(W, NULL, x, ints(4, 0), NULL);
}

static hd_node *output_tied_case(struct check *c) /* the words' own embedding */
{
    hd_node *x = leaf(c, 3, 3), *table = leaf(c, 5, 3), *b = leaf(c, 5);
    hd_node *h = hd_tanh(hd_add(x, hd_embed(c->t, table, ints(3, 0, 3), 3)));
    return weighed(c, hd_output_loss(table, b, h, ints(0, 3, -1),
                                     &(hd_output_options){.is_transposed = true}));
}

static hd_node *output_itself_case(struct check *c) /* one node as W and x */
{
    hd_node *W = leaf(c, 4, 4);
    return hd_concat(hd_output_loss(hd_on(c->t, W), NULL, W, ints(1, -1, 3, 0), NULL),
                     hd_output_loss(W, NULL, hd_on(c->t, W), ints(1, 2, 3, 0),
                                    &(hd_output_options){.is_transposed = true}));
}

static const int many_targets[70] = {1, 2, 0, -1, 1, 1, [20] = -1, -1, 2, [40] = 2, [69] = 1};

static hd_node *output_slices_case(struct check *c)
{
    hd_node *x = leaf(c, 70, 2), *W = leaf(c, 2, 3), *b = leaf(c, 3);
    return weighed(c,
                   hd_output_loss(W, b, x, many_targets, &(hd_output_options){.smoothing = 0.1}));
}

static hd_node *pair_of(struct check *c, bool is_transposed, hd_consistency weights)
{
    const hd_output_options o = {.is_transposed = is_transposed, .smoothing = 0.1};
    hd_node *W = is_transposed ? leaf(c, 7, 3) : leaf(c, 3, 7), *b = leaf(c, 7),
            *x1 = leaf(c, 4, 3), *x2 = leaf(c, 4, 3);
    return weighed(c, hd_output_loss_pair(W, b, x1, x2, ints(4, -1, 6, 0), &o, &weights));
}

static hd_node *pair_case(struct check *c)
{
    return pair_of(c, false, (hd_consistency){0.5, 2, 0.75, -0.25});
}

static hd_node *pair_transposed_case(struct check *c)
{
    return pair_of(c, true, (hd_consistency){1, 1, 0.5, 0.5});
}

static hd_node *pair_first_case(struct check *c)
{
    return pair_of(c, false, (hd_consistency){.weight1 = 1.5});
}

static hd_node *pair_second_case(struct check *c)
{
    return pair_of(c, false, (hd_consistency){.weight2 = 1.5});
}

static hd_node *pair_forward_case(struct check *c)
{
    return pair_of(c, false, (hd_consistency){.forward = 1.5});
}

static hd_node *pair_backward_case(struct check *c)
{
    return pair_of(c, false, (hd_consistency){.backward = 1.5});
}

static hd_node *pair_itself_case(struct check *c) /* one node for both passes */
{
    hd_node *x = leaf(c, 3, 3), *W = leaf(c, 3, 5);
    return weighed(c, hd_output_loss_pair(W, NULL, x, x, ints(4, -1, 0), NULL,
                                          &(hd_consistency){0.5, 2, 0.75, 0.25}));
}

static hd_node *pair_one_sided_case(struct check *c) /* SimCut: the first pass is held still */
{
    hd_node *x = leaf(c, 3, 3), *W = leaf(c, 3, 5), *still = constant(c, 3, 3);
    return hd_output_loss_pair(W, NULL, still, x, ints(4, -1, 0), NULL,
                               &(hd_consistency){0, 1, 0.5, 0});
}

/* Only one operand has a tape among the parameters, and it is not one of the first. */
static hd_node *output_home_case(struct check *c)
{
    hd_node *b = leaf(c, 5), *W = leaf(c, 3, 5), *x = leaf(c, 2, 3);
    return hd_output_loss(W, b, x, ints(4, 0), NULL);
}

static hd_node *pair_home_case(struct check *c)
{
    hd_node *x2 = leaf(c, 2, 3), *W = leaf(c, 3, 5), *b = leaf(c, 5), *x1 = leaf(c, 2, 3);
    return hd_output_loss_pair(W, b, x1, x2, ints(4, 0), NULL, &(hd_consistency){1, 1, 1, 1});
}

static hd_node *pair_constants_case(struct check *c) /* only one operand is a variable */
{
    hd_node *sum = constant(c, 1);
    for (int i = 0; i < 4; i++) {
        hd_node *W = i == 0 ? leaf(c, 3, 5) : constant(c, 3, 5);
        hd_node *b = i == 1 ? leaf(c, 5) : constant(c, 5);
        hd_node *x1 = i == 2 ? leaf(c, 2, 3) : constant(c, 2, 3);
        hd_node *x2 = i == 3 ? leaf(c, 2, 3) : hd_scale(constant(c, 2, 3), -1);
        sum = hd_add(sum, hd_output_loss_pair(W, b, x1, x2, ints(4, 0), NULL,
                                              &(hd_consistency){0.5, 2, 0.75, 0.25}));
    }
    return sum;
}

static hd_node *pair_slices_case(struct check *c)
{
    hd_node *x1 = leaf(c, 70, 2), *W = leaf(c, 2, 3), *b = leaf(c, 3), *x2 = leaf(c, 70, 2);
    return hd_output_loss_pair(W, b, x1, x2, many_targets, NULL,
                               &(hd_consistency){0.5, 2, 0.75, 0.25});
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct gradient_case cases[] = {
    {"hd_lin", lin_case},
    {"hd_lin on a vector", lin_vector_case},
    {"hd_lin on a block", lin_block_case},
    {"hd_lin of a node by itself", lin_square_case},
    {"hd_affine", affine_case},
    {"hd_lin_transposed", lin_transposed_case},
    {"hd_affine_transposed", affine_transposed_case},
    {"hd_dense without a function", dense_none_case},
    {"hd_dense with relu", dense_relu_case},
    {"hd_dense with tanh", dense_tanh_case},
    {"hd_dense with sigmoid", dense_sigmoid_case},
    {"hd_dense with gelu", dense_gelu_case},
    {"hd_dense with swish", dense_swish_case},
    {"a weight used in hundreds of steps", deferred_case},
    {"hd_embed", embed_case},
    {"a tied embedding", tied_embedding_case},
    {"hd_rows", rows_case},
    {"hd_concat", concat_case},
    {"hd_join", join_case},
    {"hd_pile", pile_case},
    {"hd_part", part_case},
    {"hd_slice", slice_case},
    {"hd_transpose", transpose_case},
    {"hd_reshape", reshape_case},
    {"hd_spread", spread_case},
    {"hd_pad", pad_case},
    {"hd_add, hd_sub, hd_mul of one shape", same_shape_case},
    {"hd_add, hd_sub, hd_mul of one node", same_node_case},
    {"hd_add, hd_sub, hd_mul with a vector", vector_case},
    {"hd_add, hd_sub, hd_mul with a scalar", scalar_case},
    {"hd_add, hd_sub, hd_mul with a column", column_case},
    {"hd_add, hd_sub, hd_mul of column and row", outer_case},
    {"hd_add, hd_sub, hd_mul of [B,A] and [B,S,A]", query_case},
    {"hd_add, hd_sub, hd_mul with dimensions of 1", ones_case},
    {"hd_scale and hd_shift", scale_case},
    {"hd_blend", blend_case},
    {"hd_blend of a node with itself", blend_itself_case},
    {"functions of one number", functions_case},
    {"hd_dropout", dropout_case},
    {"hd_maxout", maxout_case},
    {"hd_softmax", softmax_case},
    {"hd_softmax with masks", softmax_masked_case},
    {"hd_log_softmax", log_softmax_case},
    {"hd_log_softmax with a mask", log_softmax_masked_case},
    {"hd_layer_norm", layer_norm_case},
    {"hd_layer_norm with operands shared", layer_norm_shared_case},
    {"hd_rms_norm", rms_norm_case},
    {"sums and means", sums_case},
    {"hd_mean_spans", mean_spans_case},
    {"hd_dot", dot_case},
    {"hd_dot of vectors", dot_vector_case},
    {"hd_dot_each", dot_each_case},
    {"hd_dot_each, ragged", dot_spans_case},
    {"hd_dot_each of a node with itself", dot_itself_case},
    {"hd_additive", additive_case},
    {"hd_additive, ragged", additive_spans_case},
    {"hd_additive_covered", additive_cover_case},
    {"hd_additive_covered with operands shared", additive_itself_case},
    {"hd_additive_located", located_case},
    {"hd_additive_located with operands shared", located_itself_case},
    {"hd_windows", windows_case},
    {"hd_mix", mix_case},
    {"hd_mix, ragged", mix_spans_case},
    {"Bahdanau's attention as a formula", bahdanau_case},
    {"hd_rnn_cell", rnn_cell_case},
    {"hd_gru_cell", gru_cell_case},
    {"hd_lstm_cell", lstm_cell_case},
    {"gru steps in a loop", gru_steps_case},
    {"lstm steps in a loop", lstm_steps_case},
    {"hd_cross_entropy", cross_entropy_case},
    {"hd_ctc", ctc_case},
    {"hd_kl", kl_case},
    {"hd_kl of a node with itself", kl_itself_case},
    {"hd_attention of sentences with themselves", attention_self_case},
    {"hd_attention of sentences with others", attention_cross_case},
    {"hd_guide_attention", attention_guided_case},
    {"hd_guide_attention alone", attention_guided_alone_case},
    {"hd_guide_weights", guided_weights_case},
    {"hd_attention, causal", attention_causal_case},
    {"hd_attention, causal, with more keys or more queries", attention_uneven_case},
    {"hd_attention with empty sentences", attention_empty_case},
    {"hd_attention with empty sentences, causal", attention_empty_causal_case},
    {"hd_attention of sentences that share keys", attention_beam_case},
    {"hd_attention beside rows that belong to nobody", attention_nobody_case},
    {"hd_attention with keys and values of different widths", attention_widths_case},
    {"hd_attention with a given scale", attention_scale_case},
    {"hd_attention with dropout", attention_dropout_case},
    {"hd_attention with dropout, causal", attention_dropout_causal_case},
    {"hd_attention of one node as q, k and v", attention_itself_case},
    {"hd_attention of constants and one variable", attention_constants_case},
    {"a layer of a Transformer", transformer_case},
    {"hd_recurrence, rnn", rnn_case},
    {"hd_recurrence, rnn, reversed with b and start", rnn_all_case},
    {"hd_recurrence, gru", gru_case},
    {"hd_recurrence, gru, with b and equal lengths", gru_bias_case},
    {"hd_recurrence, gru, with start and empty sentences", gru_start_case},
    {"hd_recurrence, gru, reversed", gru_reversed_case},
    {"hd_recurrence, gru, reversed with b and start, in any order", gru_all_case},
    {"hd_recurrence, gru, with b and start, in any order", gru_forward_all_case},
    {"hd_recurrence, lstm", lstm_case},
    {"hd_recurrence, lstm, with b", lstm_bias_case},
    {"hd_recurrence, lstm, reversed with b and start, in any order", lstm_all_case},
    {"hd_recurrence, lstm, with b and start, in any order", lstm_forward_all_case},
    {"hd_recurrence of many sentences and many steps", recurrence_many_case},
    {"hd_gated_scan", scan_case},
    {"hd_gated_scan from given states", scan_start_case},
    {"hd_gated_scan of a node gated by itself", scan_itself_case},
    {"hd_recurrence with U and b used elsewhere", recurrence_shared_case},
    {"hd_recurrence of one node as x, U and start", recurrence_itself_case},
    {"hd_recurrence of what other ops made", recurrence_made_case},
    {"hd_recurrence of constants and one variable", recurrence_constants_case},
    {"hd_output_loss", output_case},
    {"hd_output_loss with b and smoothing", output_bias_case},
    {"hd_output_loss, transposed, with smoothing", output_transposed_case},
    {"hd_output_loss, transposed, with b", output_transposed_bias_case},
    {"hd_output_loss without options", output_default_case},
    {"hd_output_loss tied to an embedding", output_tied_case},
    {"hd_output_loss of one node as W and x", output_itself_case},
    {"hd_output_loss in several slices", output_slices_case},
    {"hd_output_loss_pair", pair_case},
    {"hd_output_loss_pair, transposed", pair_transposed_case},
    {"hd_output_loss_pair, first loss only", pair_first_case},
    {"hd_output_loss_pair, second loss only", pair_second_case},
    {"hd_output_loss_pair, forward divergence only", pair_forward_case},
    {"hd_output_loss_pair, backward divergence only", pair_backward_case},
    {"hd_output_loss_pair of one node", pair_itself_case},
    {"hd_output_loss_pair with the first pass held still", pair_one_sided_case},
    {"hd_output_loss_pair in several slices", pair_slices_case},
    {"hd_output_loss of parameters and a b that is none", output_home_case},
    {"hd_output_loss_pair of parameters and an x2 that is none", pair_home_case},
    {"hd_output_loss_pair of constants and one variable", pair_constants_case},
};

int main(void)
{
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N];
    for (int i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, the_gradient_is_the_slope, NULL, NULL,
                                       (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
