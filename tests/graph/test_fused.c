/* test_fused.c -- ops that do several things at once, against the formula they stand for: values
 * and gradients.
 *
 * Each case builds the same result twice from the same leaves, by the fused op and by plain
 * ones. */
#include "test.h"

#include "base/rng.h"
#include <heed_graph.h>
#include <math.h>

enum { MOST_LEAVES = 8 };

struct build {
    hd_tape *t;
    int n_leaves;
    hd_node *leaf[MOST_LEAVES];
};

static float some_number(int stream, size_t i)
{
    const struct hd_rng rng = {.key = 3, .stream = (uint64_t)stream};
    return 2 * hd_uniform_of(hd_rng_u32_at(&rng, i)) - 1;
}

#define leaf(c, ...)                         \
    leaf_dims(c, (const int[]){__VA_ARGS__}, \
              (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
static hd_node *leaf_dims(struct build *c, const int *dims, int n_dims)
{
    hd_node *n = hd_variable_dims(c->t, NULL, dims, n_dims);
    for (size_t i = 0; i < hd_count(n); i++)
        n->x[i] = some_number(c->n_leaves, i);
    return c->leaf[c->n_leaves++] = n;
}

static void make(struct build *c, hd_node *(*result)(struct build *), hd_node **y)
{
    c->t = hd_tape_new(NULL);
    assert_non_null(c->t);
    hd_tape_record(c->t, true);
    hd_tape_train(c->t, 5);
    *y = result(c);
    hd_node *weights = hd_input_dims(c->t, NULL, (*y)->dim, (*y)->n_dims);
    for (size_t i = 0; i < hd_count(weights); i++)
        weights->x[i] = some_number(100, i);
    const bool is_done = hd_backward(hd_sum(hd_mul(*y, weights)), NULL);
    assert_that(is_done, "%s", hd_tape_error(c->t)->message);
}

static void assert_near(const char *what, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float there = a ? a[i] : 0, expected = b ? b[i] : 0;
        if (!(fabsf(there - expected) <= 1e-5F * (1 + fabsf(expected))))
            fail_msg("%s, number %zu: %.9g by the fused op, %.9g by the formula", what, i,
                     (double)there, (double)expected);
    }
}

struct fused_case {
    const char *name;
    hd_node *(*fused)(struct build *), *(*formula)(struct build *);
};

static void it_is_its_formula(void **state)
{
    const struct fused_case *k = *state;
    struct build a = {0}, b = {0};
    hd_node *fused, *formula;
    make(&a, k->fused, &fused);
    make(&b, k->formula, &formula);
    assert_int_equal(fused->n_dims, formula->n_dims);
    assert_memory_equal(fused->dim, formula->dim, sizeof fused->dim);
    assert_near("value", fused->x, formula->x, hd_count(fused));
    assert_int_equal(a.n_leaves, b.n_leaves);
    for (int l = 0; l < a.n_leaves; l++) {
        char what[32];
        snprintf(what, sizeof what, "gradient of leaf %d", l);
        assert_near(what, a.leaf[l]->g, b.leaf[l]->g, hd_count(a.leaf[l]));
    }
    hd_tape_free(a.t);
    hd_tape_free(b.t);
}

/* ---- f(W x + b) ------------------------------------------------------------------------------ */

static hd_node *affine_fused(struct build *c)
{
    hd_node *W = leaf(c, 19, 33), *b = leaf(c, 33), *x = leaf(c, 2, 3, 19);
    return hd_affine(W, b, x);
}

static hd_node *affine_formula(struct build *c)
{
    hd_node *W = leaf(c, 19, 33), *b = leaf(c, 33), *x = leaf(c, 2, 3, 19);
    return hd_add(hd_lin(W, x), b);
}

static hd_node *lin_transposed_fused(struct build *c)
{
    hd_node *W = leaf(c, 33, 19), *x = leaf(c, 5, 19);
    return hd_lin_transposed(W, x);
}

static hd_node *lin_transposed_formula(struct build *c)
{
    hd_node *W = leaf(c, 33, 19), *x = leaf(c, 5, 19);
    return hd_lin(hd_transpose(W), x);
}

static hd_node *dense_fused(struct build *c)
{
    hd_node *W = leaf(c, 19, 33), *b = leaf(c, 33), *x = leaf(c, 5, 19), *parts[6];
    for (enum hd_function f = HD_NONE; f <= HD_SWISH; f++)
        parts[f] = hd_dense(W, b, x, f);
    return hd_join(parts, 6);
}

static hd_node *dense_formula(struct build *c)
{
    hd_node *W = leaf(c, 19, 33), *b = leaf(c, 33), *x = leaf(c, 5, 19);
    hd_node *z = hd_affine(W, b, x);
    return hd_join((hd_node *[]){z, hd_relu(z), hd_tanh(z), hd_sigmoid(z), hd_gelu(z), hd_swish(z)},
                   6);
}

static hd_node *swish_fused(struct build *c)
{
    return hd_swish(leaf(c, 5, 19));
}

static hd_node *swish_formula(struct build *c)
{
    hd_node *x = leaf(c, 5, 19);
    return hd_mul(x, hd_sigmoid(x));
}

static hd_node *blend_fused(struct build *c)
{
    hd_node *z = leaf(c, 5, 19), *a = leaf(c, 5, 19), *b = leaf(c, 5, 19);
    return hd_blend(z, a, b);
}

static hd_node *blend_formula(struct build *c)
{
    hd_node *z = leaf(c, 5, 19), *a = leaf(c, 5, 19), *b = leaf(c, 5, 19);
    return hd_add(hd_mul(hd_shift(hd_scale(z, -1), 1), a), hd_mul(z, b));
}

static hd_node *embed_fused(struct build *c)
{
    return hd_embed(c->t, leaf(c, 4, 19), (const int[]){1, 3, 1}, 3);
}

static hd_node *embed_formula(struct build *c)
{
    hd_node *table = leaf(c, 4, 19);
    return hd_pile(
        (hd_node *[]){hd_slice(table, 1, 1), hd_slice(table, 3, 1), hd_slice(table, 1, 1)}, 3);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static hd_node *softmax_fused(struct build *c)
{
    return hd_softmax(leaf(c, 5, 19), NULL);
}

static hd_node *softmax_formula(struct build *c)
{
    hd_node *e = hd_exp(leaf(c, 5, 19));
    return hd_mul(e, hd_exp(hd_scale(hd_log(hd_sum_last(e)), -1)));
}

static hd_node *log_softmax_fused(struct build *c)
{
    return hd_log_softmax(leaf(c, 5, 19), NULL);
}

static hd_node *log_softmax_formula(struct build *c)
{
    hd_node *x = leaf(c, 5, 19);
    return hd_sub(x, hd_log(hd_sum_last(hd_exp(x))));
}

/* (x - mean) / √(var + eps), with 1/√z = exp(-½ log z) */
static hd_node *normalised(hd_node *x, float eps)
{
    const float n = (float)hd_width(x);
    hd_node *variance = hd_scale(hd_sum_last(hd_mul(x, x)), 1 / n);
    return hd_mul(x, hd_exp(hd_scale(hd_log(hd_shift(variance, eps)), -0.5F)));
}

static hd_node *layer_norm_fused(struct build *c)
{
    hd_node *x = leaf(c, 5, 19), *gain = leaf(c, 19), *bias = leaf(c, 19);
    return hd_layer_norm(x, gain, bias, 0.01F);
}

static hd_node *layer_norm_formula(struct build *c)
{
    hd_node *x = leaf(c, 5, 19), *gain = leaf(c, 19), *bias = leaf(c, 19);
    hd_node *centred = hd_sub(x, hd_scale(hd_sum_last(x), 1 / 19.0F));
    return hd_add(hd_mul(normalised(centred, 0.01F), gain), bias);
}

static hd_node *rms_norm_fused(struct build *c)
{
    hd_node *x = leaf(c, 5, 19), *gain = leaf(c, 19);
    return hd_rms_norm(x, gain, 0.01F);
}

static hd_node *rms_norm_formula(struct build *c)
{
    hd_node *x = leaf(c, 5, 19), *gain = leaf(c, 19);
    return hd_mul(normalised(x, 0.01F), gain);
}

/* ---- attention, dense ------------------------------------------------------------------------ */

static hd_node *dot_each_fused(struct build *c)
{
    hd_node *q = leaf(c, 3, 19), *k = leaf(c, 3, 5, 19);
    return hd_dot_each(q, k);
}

static hd_node *dot_each_formula(struct build *c)
{
    hd_node *q = leaf(c, 3, 19), *k = leaf(c, 3, 5, 19);
    return hd_reshape(hd_sum_last(hd_mul(q, k)), 3, 5);
}

static hd_node *additive_fused(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 3, 19), *k = leaf(c, 3, 5, 19);
    return hd_additive(v, q, k);
}

static hd_node *additive_formula(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 3, 19), *k = leaf(c, 3, 5, 19);
    return hd_dot(v, hd_tanh(hd_add(q, k)));
}

static hd_node *mix_fused(struct build *c)
{
    hd_node *alpha = leaf(c, 3, 5), *h = leaf(c, 3, 5, 19);
    return hd_mix(alpha, h);
}

static hd_node *mix_formula(struct build *c)
{
    hd_node *alpha = leaf(c, 3, 5), *h = leaf(c, 3, 5, 19);
    hd_node *weighted = hd_mul(hd_reshape(alpha, 3, 5, 1), h), *sums[3];
    for (int b = 0; b < 3; b++)
        sums[b] = hd_reshape(hd_sum_rows(hd_slice(weighted, b, 1)), 1, 19);
    return hd_pile(sums, 3);
}

/* ---- attention, ragged ----------------------------------------------------------------------- */

static const int lengths[] = {2, 0, 4, 1};

static const hd_spans *ragged(struct build *c)
{
    return hd_spans_of(c->t, lengths, 4);
}

static hd_node *dot_spans_fused(struct build *c)
{
    hd_node *q = leaf(c, 4, 19), *k = leaf(c, 7, 19);
    return hd_dot_spans(q, k, ragged(c));
}

static hd_node *dot_spans_formula(struct build *c)
{
    hd_node *q = leaf(c, 4, 19), *k = leaf(c, 7, 19);
    return hd_pad(hd_sum_last(hd_mul(hd_spread(q, ragged(c)), k)), ragged(c));
}

static hd_node *additive_spans_fused(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19);
    return hd_additive_spans(v, q, k, ragged(c), NULL, NULL);
}

static hd_node *additive_spans_formula(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19);
    return hd_pad(hd_dot(v, hd_tanh(hd_add(hd_spread(q, ragged(c)), k))), ragged(c));
}

/* A padded [B,longest] as one number per row: the other way round than hd_pad. */
static hd_node *unpad(hd_node *padded, const hd_spans *spans)
{
    int index[16], n = 0;
    for (int b = 0; b < spans->n; b++)
        for (int j = 0; j < spans->length[b]; j++)
            index[n++] = b * spans->longest + j;
    return hd_rows(hd_reshape(padded, spans->n * spans->longest, 1), index, n);
}

static hd_node *additive_cover_fused(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19), *cover = leaf(c, 4, 4),
            *w = leaf(c, 19);
    return hd_additive_spans(v, q, k, ragged(c), cover, w);
}

static hd_node *additive_cover_formula(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19), *cover = leaf(c, 4, 4),
            *w = leaf(c, 19);
    hd_node *covered = hd_mul(unpad(cover, ragged(c)), w);
    return hd_pad(hd_dot(v, hd_tanh(hd_add(hd_add(hd_spread(q, ragged(c)), k), covered))),
                  ragged(c));
}

static hd_node *mix_spans_fused(struct build *c)
{
    hd_node *alpha = leaf(c, 4, 4), *h = leaf(c, 7, 19);
    return hd_mix_spans(alpha, h, ragged(c));
}

static hd_node *mix_spans_formula(struct build *c)
{
    hd_node *alpha = leaf(c, 4, 4), *h = leaf(c, 7, 19), *sums[4];
    const hd_spans *spans = ragged(c);
    hd_node *weighted = hd_mul(unpad(alpha, spans), h);
    for (int b = 0; b < 4; b++)
        sums[b] =
            hd_reshape(hd_sum_rows(hd_slice(weighted, spans->start[b], spans->length[b])), 1, 19);
    return hd_pile(sums, 4);
}

static hd_node *mean_spans_fused(struct build *c)
{
    return hd_mean_spans(leaf(c, 7, 19), ragged(c));
}

static hd_node *mean_spans_formula(struct build *c)
{
    hd_node *h = leaf(c, 7, 19), *weights = hd_input(c->t, NULL, 4, 4);
    for (int b = 0; b < 4; b++)
        for (int j = 0; j < lengths[b]; j++)
            weights->x[4 * b + j] = 1 / (float)lengths[b];
    return hd_mix_spans(weights, h, ragged(c));
}

/* ---- cells: FORMULAS of rnn, gru and lstm ---------------------------------------------------- */

static hd_node *rnn_cell_fused(struct build *c)
{
    hd_node *x = leaf(c, 3, 19), *u = leaf(c, 3, 19);
    return hd_rnn_cell(x, u);
}

static hd_node *rnn_cell_formula(struct build *c)
{
    hd_node *x = leaf(c, 3, 19), *u = leaf(c, 3, 19);
    return hd_tanh(hd_add(x, u));
}

enum { D = 19 };

static hd_node *gru_cell_fused(struct build *c)
{
    hd_node *x = leaf(c, 3, 3 * D), *u = leaf(c, 3, 3 * D), *s = leaf(c, 3, D);
    return hd_gru_cell(x, u, s);
}

static hd_node *gru_cell_formula(struct build *c)
{
    hd_node *x = leaf(c, 3, 3 * D), *u = leaf(c, 3, 3 * D), *s = leaf(c, 3, D);
    hd_node *x_n = hd_part(x, 2 * D, D), *u_n = hd_part(u, 2 * D, D);
    hd_node *r = hd_sigmoid(hd_add(hd_part(x, 0, D), hd_part(u, 0, D))); /* σ(W_r x + U_r s') */
    hd_node *z = hd_sigmoid(hd_add(hd_part(x, D, D), hd_part(u, D, D))); /* σ(W_z x + U_z s') */
    hd_node *n = hd_tanh(hd_add(x_n, hd_mul(r, u_n))); /* tanh(W_n x + r ∘ U_n s') */
    return hd_blend(z, n, s);                          /* (1-z) ∘ n + z ∘ s' */
}

static hd_node *lstm_cell_fused(struct build *c)
{
    hd_node *x = leaf(c, 3, 4 * D), *u = leaf(c, 3, 4 * D), *cell = leaf(c, 3, D);
    return hd_lstm_cell(x, u, cell);
}

static hd_node *lstm_cell_formula(struct build *c)
{
    hd_node *x = leaf(c, 3, 4 * D), *u = leaf(c, 3, 4 * D), *cell = leaf(c, 3, D);
    hd_node *sum = hd_add(x, u);
    hd_node *i = hd_sigmoid(hd_part(sum, 0, D)), *f = hd_sigmoid(hd_part(sum, D, D));
    hd_node *g = hd_tanh(hd_part(sum, 2 * D, D)), *o = hd_sigmoid(hd_part(sum, 3 * D, D));
    hd_node *next = hd_add(hd_mul(f, cell), hd_mul(i, g)); /* f ∘ c' + i ∘ g */
    return hd_concat(hd_mul(o, hd_tanh(next)), next);      /* o ∘ tanh(c) */
}

/* ---- losses ---------------------------------------------------------------------------------- */

static hd_node *cross_entropy_fused(struct build *c)
{
    return hd_cross_entropy(leaf(c, 3, 19), (const int[]){4, -1, 18}, 0.1F);
}

static hd_node *cross_entropy_formula(struct build *c)
{
    hd_node *log_p = hd_log_softmax(leaf(c, 3, 19), NULL), *wanted = hd_input(c->t, NULL, 3, 19);
    const int targets[] = {4, -1, 18};
    for (int i = 0; i < 3; i++)
        for (int v = 0; v < 19 && targets[i] >= 0; v++)
            wanted->x[19 * i + v] = 0.1F / 19 + (v == targets[i] ? 0.9F : 0);
    return hd_scale(hd_sum(hd_mul(wanted, log_p)), -1);
}

static hd_node *kl_fused(struct build *c)
{
    hd_node *a = leaf(c, 3, 19), *b = leaf(c, 3, 19);
    return hd_kl(a, b);
}

static hd_node *kl_formula(struct build *c)
{
    hd_node *a = leaf(c, 3, 19), *b = leaf(c, 3, 19);
    return hd_sum(
        hd_mul(hd_softmax(a, NULL), hd_sub(hd_log_softmax(a, NULL), hd_log_softmax(b, NULL))));
}

static const struct fused_case cases[] = {
    {"hd_affine is hd_lin plus b", affine_fused, affine_formula},
    {"hd_lin_transposed is hd_lin of the transposed", lin_transposed_fused, lin_transposed_formula},
    {"hd_dense is a function of hd_affine", dense_fused, dense_formula},
    {"hd_swish is x times sigmoid", swish_fused, swish_formula},
    {"hd_blend is (1-z) a + z b", blend_fused, blend_formula},
    {"hd_embed is rows of the table", embed_fused, embed_formula},
    {"hd_softmax is exp over its sum", softmax_fused, softmax_formula},
    {"hd_log_softmax is x - log sum exp", log_softmax_fused, log_softmax_formula},
    {"hd_layer_norm is mean 0, variance 1, gain and bias", layer_norm_fused, layer_norm_formula},
    {"hd_rms_norm is x over its root mean square", rms_norm_fused, rms_norm_formula},
    {"hd_dot_each is the sum of q times k_j", dot_each_fused, dot_each_formula},
    {"hd_additive is v tanh(q + k_j)", additive_fused, additive_formula},
    {"hd_mix is the sum of alpha_j times h_j", mix_fused, mix_formula},
    {"hd_dot_spans is hd_dot_each over rows", dot_spans_fused, dot_spans_formula},
    {"hd_additive_spans is hd_additive over rows", additive_spans_fused, additive_spans_formula},
    {"hd_additive_spans with coverage", additive_cover_fused, additive_cover_formula},
    {"hd_mix_spans is hd_mix over rows", mix_spans_fused, mix_spans_formula},
    {"hd_mean_spans is hd_mix_spans with equal weights", mean_spans_fused, mean_spans_formula},
    {"hd_rnn_cell is tanh(x + u)", rnn_cell_fused, rnn_cell_formula},
    {"hd_gru_cell is its formula", gru_cell_fused, gru_cell_formula},
    {"hd_lstm_cell is its formula", lstm_cell_fused, lstm_cell_formula},
    {"hd_cross_entropy is the wanted distribution times -log p", cross_entropy_fused,
     cross_entropy_formula},
    {"hd_kl is the sum of p1 (log p1 - log p2)", kl_fused, kl_formula},
};

int main(void)
{
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N];
    for (int i = 0; i < N; i++)
        tests[i] =
            (struct CMUnitTest){cases[i].name, it_is_its_formula, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
