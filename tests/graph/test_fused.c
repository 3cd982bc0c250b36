/* test_fused.c -- ops that do several things at once, against the formula they stand for: values
 * and gradients.
 *
 * Each case builds the same result twice from the same leaves, by the fused op and by plain
 * ones. */
#include "test.h"

#include "base/rng.h"
#include "graph/context.h"
#include <heed_graph.h>
#include <math.h>

enum { MOST_LEAVES = 8 };

struct build {
    hd_tape *t;
    int variant; /* of the case */
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
    int variant;
};

static void it_is_its_formula(void **state)
{
    const struct fused_case *k = *state;
    struct build a = {.variant = k->variant}, b = {.variant = k->variant};
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

static hd_node *affine_transposed_fused(struct build *c)
{
    hd_node *W = leaf(c, 33, 19), *b = leaf(c, 33), *x = leaf(c, 5, 19);
    return hd_affine_transposed(W, b, x);
}

static hd_node *affine_transposed_formula(struct build *c)
{
    hd_node *W = leaf(c, 33, 19), *b = leaf(c, 33), *x = leaf(c, 5, 19);
    return hd_add(hd_lin_transposed(W, x), b);
}

static hd_node *dense_fused(struct build *c)
{
    hd_node *W = leaf(c, 19, 33), *b = leaf(c, 33), *x = leaf(c, 5, 19), *parts[6];
    for (int f = HD_NONE; f <= HD_SIGMOID; f++)
        parts[f - HD_NONE] = hd_dense(W, b, x, (enum hd_function)f);
    return hd_join(parts, 6);
}

static hd_node *dense_formula(struct build *c)
{
    hd_node *W = leaf(c, 19, 33), *b = leaf(c, 33), *x = leaf(c, 5, 19);
    hd_node *z = hd_affine(W, b, x);
    return hd_join((hd_node *[]){z, hd_relu(z), hd_gelu(z), hd_swish(z), hd_tanh(z), hd_sigmoid(z)},
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
    return hd_dot_each(q, hd_ragged(hd_on(c->t, k), ragged(c)));
}

static hd_node *dot_spans_formula(struct build *c)
{
    hd_node *q = leaf(c, 4, 19), *k = leaf(c, 7, 19);
    return hd_pad(hd_sum_last(hd_mul(hd_spread(q, ragged(c)), k)), ragged(c));
}

static hd_node *additive_spans_fused(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19);
    return hd_additive(v, q, hd_ragged(hd_on(c->t, k), ragged(c)));
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
    return hd_additive_covered(v, q, hd_ragged(hd_on(c->t, k), ragged(c)), w, cover);
}

static hd_node *additive_cover_formula(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19), *cover = leaf(c, 4, 4),
            *w = leaf(c, 19);
    hd_node *covered = hd_mul(unpad(cover, ragged(c)), w);
    return hd_pad(hd_dot(v, hd_tanh(hd_add(hd_add(hd_spread(q, ragged(c)), k), covered))),
                  ragged(c));
}

static hd_node *located_fused(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19), *x = leaf(c, 7, 19);
    return hd_additive_located(v, q, hd_ragged(hd_on(c->t, k), ragged(c)), x);
}

static hd_node *located_formula(struct build *c)
{
    hd_node *v = leaf(c, 19), *q = leaf(c, 4, 19), *k = leaf(c, 7, 19), *x = leaf(c, 7, 19);
    hd_node *sum = hd_add(hd_spread(q, ragged(c)), hd_add(k, x));
    return hd_pad(hd_dot(v, hd_tanh(sum)), ragged(c));
}

static hd_node *mix_spans_fused(struct build *c)
{
    hd_node *alpha = leaf(c, 4, 4), *h = leaf(c, 7, 19);
    return hd_mix(alpha, hd_ragged(hd_on(c->t, h), ragged(c)));
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
    return hd_mix(weights, hd_ragged(hd_on(c->t, h), ragged(c)));
}

/* ---- contexts: W c through W h, and their numbers where somebody asks for them ------------------ */

enum { MAP = 13 };

/* The map that was made known, another one, and another op. */
static hd_node *use_context(hd_node *W, hd_node *V, hd_node *c)
{
    hd_node *Wc = hd_lin(W, c), *Vc = hd_lin(V, c);
    return hd_join((hd_node *[]){Wc, Vc, hd_scale(c, 0.5F)}, 3);
}

static hd_node *context_fused(struct build *c)
{
    hd_node *alpha = leaf(c, 4, 4), *h = leaf(c, 7, 19), *W = leaf(c, 19, MAP),
            *V = leaf(c, 19, MAP);
    struct hd_values values = {.h = hd_on(c->t, h)};
    hd_values_map(&values, W);
    return use_context(W, V, hd_context(hd_on(c->t, alpha), &values, ragged(c)));
}

static hd_node *context_formula(struct build *c)
{
    hd_node *alpha = leaf(c, 4, 4), *h = leaf(c, 7, 19), *W = leaf(c, 19, MAP),
            *V = leaf(c, 19, MAP);
    return use_context(W, V, hd_mix(alpha, hd_ragged(hd_on(c->t, h), ragged(c))));
}

static const int chosen[] = {3, 0, 3, 6};

static hd_node *context_row_fused(struct build *c)
{
    hd_node *h = leaf(c, 7, 19), *W = leaf(c, 19, MAP), *V = leaf(c, 19, MAP);
    struct hd_values values = {.h = hd_on(c->t, h)};
    hd_values_map(&values, W);
    return use_context(W, V, hd_context_row(c->t, &values, chosen, 4));
}

static hd_node *context_row_formula(struct build *c)
{
    hd_node *h = leaf(c, 7, 19), *W = leaf(c, 19, MAP), *V = leaf(c, 19, MAP);
    return use_context(W, V, hd_rows(hd_on(c->t, h), chosen, 4));
}

/* ---- attention of many heads: Vaswani et al. (2017), section 3.2 ----------------------------- */

enum { HEADS = 2, KEY = 5, VALUE = 3, QUERIES = 9, KEYS = 11 };
enum attention_variant { ITSELF, CAUSAL, OTHERS, BEAMS, SCALED, DROPPED, CAUSAL_DROPPED };

static hd_attention_options attention_variant(const struct build *c)
{
    static const int three[] = {3, 0, 4, 2}, others[] = {5, 1, 2, 0};
    static const int starts[] = {0, 2, 0, 6}, lengths_at[] = {6, 1, 0, 4},
                     at[] = {2, 4, 6, 6}; /* rows 0, 1 and 5 belong to nobody */
    hd_attention_options o = {.n_heads = HEADS};
    o.queries = o.keys = hd_spans_of(c->t, three, 4);
    switch ((enum attention_variant)c->variant) {
    case ITSELF:
        break;
    case CAUSAL:
        o.is_causal = true;
        break;
    case OTHERS: /* more keys than queries, fewer, and none */
        o.keys = hd_spans_of(c->t, others, 4);
        o.is_causal = true;
        break;
    case BEAMS: /* shared keys */
        o.queries = hd_spans_at(c->t, at, (const int[]){2, 1, 0, 3}, 4);
        o.keys = hd_spans_at(c->t, starts, lengths_at, 4);
        break;
    case SCALED:
        o.scale = 1.5F;
        break;
    case CAUSAL_DROPPED:
        o.is_causal = true;
        o.dropout = 0.3F;
        break;
    case DROPPED:
        o.dropout = 0.3F;
        break;
    }
    return o;
}

static hd_node *attention_fused(struct build *c)
{
    hd_node *q = leaf(c, QUERIES, HEADS * KEY), *k = leaf(c, KEYS, HEADS * KEY),
            *v = leaf(c, KEYS, HEADS * VALUE);
    const hd_attention_options o = attention_variant(c);
    return hd_attention(q, k, v, &o);
}

/* With another dropout behind it, which is to draw numbers of its own. */
static hd_node *attention_then_dropout_fused(struct build *c)
{
    return hd_dropout(attention_fused(c), 0.25F);
}

/* softmax(scale · q kᵀ) of one sentence and head, [T,S] */
static hd_node *weights_formula(const hd_attention_options *o, hd_node *q, hd_node *k, int b,
                                int head)
{
    const int T = o->queries->length[b], S = o->keys->length[b];
    hd_node *q_b = hd_part(hd_slice(q, o->queries->start[b], T), head * KEY, KEY);
    hd_node *k_b = hd_part(hd_slice(k, o->keys->start[b], S), head * KEY, KEY);
    hd_node *e =
        hd_scale(hd_lin(hd_transpose(k_b), q_b), o->scale != 0 ? o->scale : 1 / sqrtf(KEY));
    int n_seen[QUERIES];
    for (int i = 0; i < T; i++)
        n_seen[i] = o->is_causal ? S - (T - 1 - i) : S;
    return hd_softmax(e, hd_mask_ranges(q->tape, NULL, n_seen, T, S));
}

/* The rows of all sentences, one sentence after the other, put where they belong; zeros
 * elsewhere. */
static hd_node *back_in_place(hd_node *rows, const hd_spans *spans, int n_rows)
{
    int index[QUERIES];
    for (int i = 0; i < n_rows; i++)
        index[i] = -1;
    for (int b = 0, from = 0; b < spans->n; b++)
        for (int i = 0; i < spans->length[b]; i++)
            index[spans->start[b] + i] = from++;
    return hd_rows(rows, index, n_rows);
}

static hd_node *attention_formula(struct build *c)
{
    hd_node *q = leaf(c, QUERIES, HEADS * KEY), *k = leaf(c, KEYS, HEADS * KEY),
            *v = leaf(c, KEYS, HEADS * VALUE);
    const hd_attention_options o = attention_variant(c);
    hd_node *weights[4 * HEADS], *sentences[4]; /* weights as one long vector, for the dropout */
    for (int i = 0; i < 4 * HEADS; i++) {
        const int size = o.queries->length[i / HEADS] * o.keys->length[i / HEADS];
        weights[i] = hd_reshape(weights_formula(&o, q, k, i / HEADS, i % HEADS), size);
    }
    hd_node *alpha = hd_dropout(hd_pile(weights, 4 * HEADS), o.dropout);
    for (int b = 0, from = 0; b < 4; b++) {
        const int T = o.queries->length[b], S = o.keys->length[b];
        hd_node *v_b = hd_slice(v, o.keys->start[b], S), *heads[HEADS];
        for (int i = 0; i < HEADS; i++, from += T * S)
            heads[i] = hd_lin(hd_part(v_b, i * VALUE, VALUE),
                              hd_reshape(hd_slice(alpha, from, T * S), T, S));
        sentences[b] = hd_join(heads, HEADS);
    }
    return back_in_place(hd_pile(sentences, 4), o.queries, QUERIES);
}

static hd_node *attention_then_dropout_formula(struct build *c)
{
    return hd_dropout(attention_formula(c), 0.25F);
}

static void the_weights_of_hd_attention_can_be_read(void **state)
{
    (void)state;
    struct build c = {.t = hd_tape_new(NULL), .variant = CAUSAL_DROPPED};
    assert_non_null(c.t);
    hd_tape_train(c.t, 5);
    hd_node *y = attention_fused(&c);
    const hd_attention_options o = attention_variant(&c);
    for (int b = 0; b < 4; b++)
        for (int head = 0; head < HEADS; head++) {
            const hd_node *alpha = weights_formula(&o, c.leaf[0], c.leaf[1], b, head);
            assert_near("weight", hd_attention_weights(y, b, head), alpha->x, hd_count(alpha));
        }
    const float *first = hd_attention_weights(y, 0, 1); /* the first of 3 queries sees 1 of 3 */
    assert_true(first[0] == 1 && first[1] == 0 && first[2] == 0);
    assert_null(hd_attention_weights(y, -1, 0));
    assert_null(hd_attention_weights(y, 4, 0));
    assert_null(hd_attention_weights(y, 0, -1));
    assert_null(hd_attention_weights(y, 0, HEADS));
    assert_null(hd_attention_weights(hd_transpose(leaf(&c, 3)), 0, 0)); /* an error */
    hd_tape_free(c.t);
}

/* ---- cells and their equations ---------------------------------------------------- */

static hd_node *rnn_cell_fused(struct build *c)
{
    hd_node *x = leaf(c, 3, 19), *u = leaf(c, 3, 19);
    return hd_rnn_cell(x, u);
}

static hd_node *rnn_cell_formula(struct build *c)
{
    hd_node *x = leaf(c, 3, 19), *u = leaf(c, 3, 19);
    return hd_rnn_equations(x, u);
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
    return hd_gru_equations(x, u, s);
}

static hd_node *lstm_cell_fused(struct build *c)
{
    hd_node *x = leaf(c, 3, 4 * D), *u = leaf(c, 3, 4 * D), *cell = leaf(c, 3, D);
    return hd_lstm_cell(x, u, cell);
}

static hd_node *lstm_cell_formula(struct build *c)
{
    hd_node *x = leaf(c, 3, 4 * D), *u = leaf(c, 3, 4 * D), *cell = leaf(c, 3, D);
    return hd_lstm_equations(x, u, cell);
}

/* ---- recurrences, step by step --------------------------------------------------------------- */

enum { CELL = 3, BIAS = 4, START = 8, BACKWARDS = 16, ROWS = 9 }; /* of a variant */

struct recurrence_leaves {
    hd_node *x, *U, *b, *start; /* the last two may be NULL */
    hd_recurrence_options o;
};

static struct recurrence_leaves recurrence_leaves(struct build *c)
{
    static const int gates[] = {[HD_RNN] = 1, [HD_GRU] = 3, [HD_LSTM] = 4}, starts[] = {5, 1, 0, 8},
                     lengths_of[] = {2, 4, 0, 1}; /* 0 and 7 are nobody's */
    const enum hd_cell cell = (enum hd_cell)(c->variant & CELL);
    const int G = gates[cell] * D;
    hd_node *x = leaf(c, ROWS, G), *U = leaf(c, D, G), *b = c->variant & BIAS ? leaf(c, G) : NULL;
    hd_node *start = c->variant & START ? leaf(c, 4, cell == HD_LSTM ? 2 * D : D) : NULL;
    return (struct recurrence_leaves){
        .x = x,
        .U = U,
        .b = b,
        .start = start,
        .o = {.cell = cell,
              .spans = hd_spans_at(c->t, starts, lengths_of, 4),
              .is_reversed = (c->variant & BACKWARDS) != 0},
    };
}

static hd_node *recurrence_fused(struct build *c)
{
    const struct recurrence_leaves l = recurrence_leaves(c);
    return hd_recurrence(l.x, l.U, l.b, l.start, &l.o);
}

/* [s; c] or s after one more step from row `row` of x. */
static hd_node *step_formula(const struct recurrence_leaves *l, hd_node *before, int row)
{
    hd_node *x = hd_rows(l->x, &row, 1), *s = hd_part(before, 0, D);
    hd_node *u = l->b ? hd_affine(l->U, l->b, s) : hd_lin(l->U, s);
    if (l->o.cell == HD_LSTM)
        return hd_lstm_cell(x, u, hd_part(before, D, D));
    return l->o.cell == HD_GRU ? hd_gru_cell(x, u, s) : hd_rnn_cell(x, u);
}

static hd_node *recurrence_formula(struct build *c)
{
    const struct recurrence_leaves l = recurrence_leaves(c);
    const hd_spans *spans = l.o.spans;
    const int width = l.o.cell == HD_LSTM ? 2 * D : D;
    hd_node *rows[ROWS]; /* zeros where no sentence is */
    for (int i = 0; i < ROWS; i++)
        rows[i] = hd_input(c->t, NULL, 1, width);
    for (int b = 0; b < 4; b++) {
        hd_node *s = l.start ? hd_rows(l.start, &b, 1) : hd_input(c->t, NULL, 1, width);
        for (int i = 0; i < spans->length[b]; i++) {
            const int row = spans->start[b] + (l.o.is_reversed ? spans->length[b] - 1 - i : i);
            s = rows[row] = step_formula(&l, s, row);
        }
    }
    return hd_pile(rows, ROWS);
}

struct scan_leaves {
    hd_node *z, *u, *start; /* the last may be NULL */
    const hd_spans *spans;
};

static struct scan_leaves scan_leaves(struct build *c)
{
    static const int starts[] = {5, 1, 0, 8},
                     lengths_of[] = {2, 4, 0, 1}; /* 0 and 7 are nobody's */
    hd_node *z = leaf(c, ROWS, D), *u = leaf(c, ROWS, D);
    return (struct scan_leaves){.z = z,
                                .u = u,
                                .start = c->variant & START ? leaf(c, 4, D) : NULL,
                                .spans = hd_spans_at(c->t, starts, lengths_of, 4)};
}

static hd_node *scan_fused(struct build *c)
{
    const struct scan_leaves l = scan_leaves(c);
    return hd_gated_scan(l.z, l.u, l.start, l.spans);
}

static hd_node *scan_formula(struct build *c)
{
    const struct scan_leaves l = scan_leaves(c);
    hd_node *rows[ROWS]; /* zeros where no sentence is */
    for (int i = 0; i < ROWS; i++)
        rows[i] = hd_input(c->t, NULL, 1, D);
    for (int b = 0; b < 4; b++) {
        hd_node *s = l.start ? hd_rows(l.start, &b, 1) : hd_input(c->t, NULL, 1, D);
        for (int i = 0; i < l.spans->length[b]; i++) {
            const int row = l.spans->start[b] + i;
            hd_node *f = hd_sigmoid(hd_rows(l.z, &row, 1)), *u = hd_rows(l.u, &row, 1);
            hd_node *kept = hd_mul(f, s), *added = hd_sub(u, hd_mul(f, u));
            s = rows[row] = hd_add(kept, added);
        }
    }
    return hd_pile(rows, ROWS);
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

/* ---- output layers --------------------------------------------------------------------------- */

enum { WITH_BIAS = 1, TIED = 2, SMOOTH = 4, LARGE = 8 }; /* of a variant */
enum { MOST_TARGETS = 4300 };

struct output_leaves {
    hd_node *W, *b, *x1, *x2;
    const int *targets;
    hd_output_options o;
};

/* LARGE: more logits than are made at a time. */
static struct output_leaves output_leaves(struct build *c, bool has_two)
{
    static int targets[MOST_TARGETS];
    for (int i = 0; i < MOST_TARGETS; i++)
        targets[i] = i * 5 % 20 - 1;
    const bool is_large = c->variant & LARGE, is_tied = c->variant & TIED;
    const int V = is_large ? 2003 : 19, N = is_large ? MOST_TARGETS : 13, width = is_large ? 2 : 7;
    hd_node *W = is_tied ? leaf(c, V, width) : leaf(c, width, V),
            *b = c->variant & WITH_BIAS ? leaf(c, V) : NULL, *x1 = leaf(c, N, width),
            *x2 = has_two ? leaf(c, N, width) : NULL;
    return (struct output_leaves){
        .W = W,
        .b = b,
        .x1 = x1,
        .x2 = x2,
        .targets = targets,
        .o = {.is_transposed = is_tied, .smoothing = c->variant & SMOOTH ? 0.1F : 0},
    };
}

static hd_node *logits_formula(const struct output_leaves *l, hd_node *x)
{
    hd_node *logits = l->o.is_transposed ? hd_lin_transposed(l->W, x) : hd_lin(l->W, x);
    return l->b ? hd_add(logits, l->b) : logits;
}

static hd_node *output_fused(struct build *c)
{
    const struct output_leaves l = output_leaves(c, false);
    return hd_output_loss(l.W, l.b, l.x1, l.targets, &l.o);
}

static hd_node *output_formula(struct build *c)
{
    const struct output_leaves l = output_leaves(c, false);
    return hd_cross_entropy(logits_formula(&l, l.x1), l.targets, l.o.smoothing);
}

static const hd_consistency some_weights = {0.5F, 2, 0.75F, 0.25F};

static hd_node *pair_fused(struct build *c)
{
    const struct output_leaves l = output_leaves(c, true);
    return hd_output_loss_pair(l.W, l.b, l.x1, l.x2, l.targets, &l.o, &some_weights);
}

static hd_node *pair_formula(struct build *c)
{
    const struct output_leaves l = output_leaves(c, true);
    hd_node *y1 = logits_formula(&l, l.x1), *y2 = logits_formula(&l, l.x2);
    hd_node *sum =
        hd_add(hd_scale(hd_cross_entropy(y1, l.targets, l.o.smoothing), some_weights.weight1),
               hd_scale(hd_cross_entropy(y2, l.targets, l.o.smoothing), some_weights.weight2));
    int index[MOST_TARGETS], n = 0; /* rows left out do not take part in the divergence either */
    for (int i = 0; i < l.x1->dim[0]; i++)
        if (l.targets[i] >= 0)
            index[n++] = i;
    hd_node *in1 = hd_rows(y1, index, n), *in2 = hd_rows(y2, index, n);
    sum = hd_add(sum, hd_scale(hd_kl(in1, in2), some_weights.forward));
    return hd_add(sum, hd_scale(hd_kl(in2, in1), some_weights.backward));
}

static const struct fused_case cases[] = {
    {"hd_affine is hd_lin plus b", affine_fused, affine_formula, 0},
    {"hd_lin_transposed is hd_lin of the transposed", lin_transposed_fused, lin_transposed_formula,
     0},
    {"hd_affine_transposed is hd_lin_transposed plus b", affine_transposed_fused,
     affine_transposed_formula, 0},
    {"hd_dense is a function of hd_affine", dense_fused, dense_formula, 0},
    {"hd_swish is x times sigmoid", swish_fused, swish_formula, 0},
    {"hd_blend is (1-z) a + z b", blend_fused, blend_formula, 0},
    {"hd_embed is rows of the table", embed_fused, embed_formula, 0},
    {"hd_softmax is exp over its sum", softmax_fused, softmax_formula, 0},
    {"hd_log_softmax is x - log sum exp", log_softmax_fused, log_softmax_formula, 0},
    {"hd_layer_norm is mean 0, variance 1, gain and bias", layer_norm_fused, layer_norm_formula, 0},
    {"hd_rms_norm is x over its root mean square", rms_norm_fused, rms_norm_formula, 0},
    {"hd_dot_each is the sum of q times k_j", dot_each_fused, dot_each_formula, 0},
    {"hd_additive is v tanh(q + k_j)", additive_fused, additive_formula, 0},
    {"hd_mix is the sum of alpha_j times h_j", mix_fused, mix_formula, 0},
    {"hd_dot_each over ragged rows", dot_spans_fused, dot_spans_formula, 0},
    {"hd_additive over ragged rows", additive_spans_fused, additive_spans_formula, 0},
    {"hd_additive_covered", additive_cover_fused, additive_cover_formula, 0},
    {"hd_additive_located", located_fused, located_formula, 0},
    {"hd_mix over ragged rows", mix_spans_fused, mix_spans_formula, 0},
    {"hd_context is hd_mix", context_fused, context_formula, 0},
    {"hd_context_row is hd_rows", context_row_fused, context_row_formula, 0},
    {"hd_mean_spans is hd_mix with equal weights", mean_spans_fused, mean_spans_formula, 0},
    {"hd_rnn_cell is tanh(x + u)", rnn_cell_fused, rnn_cell_formula, 0},
    {"hd_gru_cell is its formula", gru_cell_fused, gru_cell_formula, 0},
    {"hd_lstm_cell is its formula", lstm_cell_fused, lstm_cell_formula, 0},
    {"hd_cross_entropy is the wanted distribution times -log p", cross_entropy_fused,
     cross_entropy_formula, 0},
    {"hd_kl is the sum of p1 (log p1 - log p2)", kl_fused, kl_formula, 0},
    {"hd_attention is softmax(scale q k) v of each sentence and head", attention_fused,
     attention_formula, ITSELF},
    {"hd_attention, causal, does not see what comes later", attention_fused, attention_formula,
     CAUSAL},
    {"hd_attention, causal, lets the last query see all keys", attention_fused, attention_formula,
     OTHERS},
    {"hd_attention lets sentences share keys and leaves rows of nobody alone", attention_fused,
     attention_formula, BEAMS},
    {"hd_attention takes a scale", attention_fused, attention_formula, SCALED},
    {"hd_attention drops weights as hd_dropout does", attention_then_dropout_fused,
     attention_then_dropout_formula, DROPPED},
    {"hd_attention, causal, drops weights as hd_dropout does", attention_then_dropout_fused,
     attention_then_dropout_formula, CAUSAL_DROPPED},
    {"hd_gated_scan is a loop of f c + (1-f) u", scan_fused, scan_formula, 0},
    {"hd_gated_scan is a loop of f c + (1-f) u, from given states", scan_fused, scan_formula,
     START},
    {"hd_recurrence is a loop of hd_rnn_cell", recurrence_fused, recurrence_formula, HD_RNN},
    {"hd_recurrence is a loop of hd_rnn_cell, backwards with b and start", recurrence_fused,
     recurrence_formula, HD_RNN | BIAS | START | BACKWARDS},
    {"hd_recurrence is a loop of hd_gru_cell", recurrence_fused, recurrence_formula, HD_GRU},
    {"hd_recurrence is a loop of hd_gru_cell with b and start", recurrence_fused,
     recurrence_formula, HD_GRU | BIAS | START},
    {"hd_recurrence is a loop of hd_gru_cell, backwards with b and start", recurrence_fused,
     recurrence_formula, HD_GRU | BIAS | START | BACKWARDS},
    {"hd_recurrence is a loop of hd_lstm_cell", recurrence_fused, recurrence_formula, HD_LSTM},
    {"hd_recurrence is a loop of hd_lstm_cell with b and start", recurrence_fused,
     recurrence_formula, HD_LSTM | BIAS | START},
    {"hd_recurrence is a loop of hd_lstm_cell, backwards with start", recurrence_fused,
     recurrence_formula, HD_LSTM | START | BACKWARDS},
    {"hd_output_loss is hd_cross_entropy of hd_lin", output_fused, output_formula, 0},
    {"hd_output_loss is hd_cross_entropy of hd_affine, smoothed", output_fused, output_formula,
     WITH_BIAS | SMOOTH},
    {"hd_output_loss, tied, is hd_cross_entropy of hd_lin_transposed", output_fused, output_formula,
     TIED | WITH_BIAS | SMOOTH},
    {"hd_output_loss is its formula when there are several slices", output_fused, output_formula,
     LARGE | WITH_BIAS | SMOOTH},
    {"hd_output_loss, tied, is its formula when there are several slices", output_fused,
     output_formula, LARGE | TIED},
    {"hd_output_loss_pair is two hd_cross_entropy and two hd_kl", pair_fused, pair_formula, 0},
    {"hd_output_loss_pair is its formula with everything", pair_fused, pair_formula,
     WITH_BIAS | TIED | SMOOTH},
    {"hd_output_loss_pair is its formula when there are several slices", pair_fused, pair_formula,
     LARGE | WITH_BIAS | SMOOTH},
};

int main(void)
{
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N + 1] = {
        [N] = cmocka_unit_test(the_weights_of_hd_attention_can_be_read)};
    for (int i = 0; i < N; i++)
        tests[i] =
            (struct CMUnitTest){cases[i].name, it_is_its_formula, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
