/* test_bits.c -- what must not change one bit of a result: packing, recording, the second run,
 * neighbours in the batch, one step at a time or all at once, and where products and output layers
 * are cut. */
#include "test.h"

#include "base/rng.h"
#include "ready.h"
#include <heed_graph.h>
#include <math.h>
#include <pthread.h>

/* The output layer once more, cut into slices as small as can be. */
#define HD_SLICE_FLOATS     1
#define hd_output_loss      output_loss_in_slices
#define hd_output_loss_pair output_loss_pair_in_slices
#include "graph/output_layer.c"
#undef hd_output_loss
#undef hd_output_loss_pair

/* The loss, and behind it the gradients of all parameters. */
static float *loss_and_gradients(const struct formula *f)
{
    hd_tape *t = new_tape(true);
    hd_tape_train(t, 12);
    float *out = calloc(hd_params_size(f->params) + 1, sizeof *out);
    hd_node *loss = formula_loss(t, f);
    const bool is_done = hd_backward(loss, out + 1);
    assert_that(is_done, "%s", hd_tape_error(t)->message);
    out[0] = loss->x[0];
    hd_tape_free(t);
    return out;
}

static void assert_same_bits(const char *what, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_that(memcmp(a + i, b + i, sizeof *a) == 0, "%s, number %zu of %zu: %.9g and %.9g",
                    what, i, n, (double)a[i], (double)b[i]);
}

static void every_run_has_the_same_bits_packed_or_not(void **state)
{
    (void)state;
    heed_error err = {0};
    struct formula f = new_formula(4, some_lengths, 18);
    const size_t n = hd_params_size(f.params) + 1;
    float *first = loss_and_gradients(&f), *second = loss_and_gradients(&f);
    assert_same_bits("a second run", first, second, n);
    free(second);
    assert_true(hd_params_pack(f.params, &err));
    second = loss_and_gradients(&f);
    assert_same_bits("packed", first, second, n);
    free(second);
    hd_params_changed(f.params);
    second = loss_and_gradients(&f);
    assert_same_bits("packed copies dropped", first, second, n);
    free(second);
    free(first);
    formula_free(&f);
}

static void changed_parameters_are_not_read_from_old_packed_copies(void **state)
{
    (void)state;
    heed_error err = {0};
    struct formula f = new_formula(4, some_lengths, 18);
    free(loss_and_gradients(&f));
    assert_true(hd_params_pack(f.params, &err));
    hd_init_uniform(f.W, 0.5F, 99);            /* by init */
    for (size_t i = 0; i < hd_count(f.U); i++) /* by hand */
        f.U->x[i] *= 2;
    hd_params_changed(f.params);
    float *unpacked = loss_and_gradients(&f);
    assert_true(hd_params_pack(f.params, &err));
    float *packed = loss_and_gradients(&f);
    assert_same_bits("packed again", unpacked, packed, hd_params_size(f.params) + 1);

    hd_init_uniform(f.W3, 0.5F, 99); /* init alone is enough */
    float *stale = loss_and_gradients(&f);
    hd_params_changed(f.params);
    float *fresh = loss_and_gradients(&f);
    assert_same_bits("after an init", stale, fresh, hd_params_size(f.params) + 1);
    free(stale);
    free(fresh);
    free(packed);
    free(unpacked);
    formula_free(&f);
}

static void recording_changes_no_value(void **state)
{
    (void)state;
    struct formula f = new_formula(4, some_lengths, 18);
    float losses[2];
    for (int record = 0; record < 2; record++) {
        hd_tape *t = new_tape(record);
        hd_tape_train(t, 12);
        losses[record] = formula_loss(t, &f)->x[0];
        hd_tape_free(t);
    }
    assert_same_bits("recording", losses, losses + 1, 1);
    formula_free(&f);
}

static void *run_in_thread(void *formula)
{
    return loss_and_gradients(formula);
}

static void threads_share_parameters(void **state)
{
    (void)state;
    enum { N = 3 };
    heed_error err = {0};
    struct formula f = new_formula(4, some_lengths, 18);
    float *results[2][N];
    for (int packed = 0; packed < 2;
         packed++) { /* first all ask for packed copies, then all use them */
        pthread_t threads[N];
        for (int i = 0; i < N; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &f), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(pthread_join(threads[i], (void **)&results[packed][i]), 0);
        assert_true(hd_params_pack(f.params, &err));
    }
    for (int i = 0; i < 2 * N; i++)
        assert_same_bits("in a thread", results[0][0], results[i / N][i % N],
                         hd_params_size(f.params) + 1);
    for (int i = 0; i < 2 * N; i++)
        free(results[i / N][i % N]);
    formula_free(&f);
}

/* ---- neighbours ------------------------------------------------------------------------------ */

/* All states of the sentences of f, whose words are `ids`. */
static void run_sentences(const struct formula *f, const int *ids, int n_ids, float *states)
{
    hd_tape *t = new_tape(false);
    hd_node *h = hd_embed(t, f->table, ids, n_ids), *steps[FORMULA_STEPS + 1];
    h = hd_layer_norm(hd_dense(f->W_f, f->b, h, HD_GELU), f->gain, f->bias, 1e-5F);
    const hd_spans *spans = hd_spans_of(t, f->lengths, f->B);
    formula_steps(t, f, formula_encode(f, h, spans), spans, steps);
    steps[FORMULA_STEPS] = formula_dense(f, steps);
    hd_node *all = hd_join(steps, FORMULA_STEPS + 1);
    assert_that(hd_tape_error(t)->code == HEED_OK, "%s", hd_tape_error(t)->message);
    memcpy(states, all->x, hd_count(all) * sizeof *states);
    hd_tape_free(t);
}

static void a_sentence_does_not_feel_its_neighbours(void **state)
{
    (void)state;
    enum { B = 6, D = 18, N = D * (FORMULA_STEPS + 1) };
    const int lengths[B] = {3, 9, 1, 0, 17, 2},
              ids[] = {5, 1, 2, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10, 9, 8,
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 3, 3, 1,  2, 0};
    struct formula all = new_formula(B, lengths, D);
    float together[B * N], alone[N];
    run_sentences(&all, ids, 32, together);
    for (int b = 0, at = 0; b < B; at += lengths[b], b++) {
        struct formula one = new_formula(1, lengths + b, D);
        run_sentences(&one, ids + at, lengths[b], alone);
        assert_same_bits("alone and together", alone, together + b * N, N);
        formula_free(&one);
    }
    formula_free(&all);
}

/* ---- attention: alone or with others --------------------------------------------------------- */

enum { MOST_KEYS = 40, N_HEADS = 2 };

/* Numbers that depend on `stream` alone. */
static hd_node *numbers(hd_tape *t, uint64_t stream, int rows, int width)
{
    hd_node *n = hd_variable(t, NULL, rows, width);
    hd_rng_normals(&(struct hd_rng){.key = 5, .stream = stream}, n->x, hd_count(n));
    return n;
}

/* The result of these queries over the first `n_keys` keys. */
static const hd_node *attend(hd_node *q, hd_node *k, hd_node *v, int n_keys, bool is_causal)
{
    const hd_attention_options o = {.queries = hd_spans_of(q->tape, &q->dim[0], 1),
                                    .keys = hd_spans_of(q->tape, &n_keys, 1),
                                    .n_heads = N_HEADS,
                                    .is_causal = is_causal};
    return hd_attention(q, k, v, &o);
}

static void a_query_gets_the_same_bits_alone_and_within_the_whole_target(void **state)
{
    (void)state;
    static const int widths[][2] = {{1, 1}, {2, 5}, {7, 16}, {16, 17}, {33, 31}, {64, 80}};
    hd_tape *t = new_tape(false);
    for (int w = 0; w < 6; w++)
        for (int S = 1; S <= MOST_KEYS; S += S < 20 ? 1 : 7) {
            hd_tape_reset(t);
            const int D = N_HEADS * widths[w][0], E = N_HEADS * widths[w][1];
            hd_node *q = numbers(t, 1, S, D), *k = numbers(t, 2, S, D), *v = numbers(t, 3, S, E);
            const hd_node *all = attend(q, k, v, S, true);
            for (int i = 0; i < S; i++) { /* the i-th alone, and all from the i-th on */
                const hd_node *one = attend(hd_slice(q, i, 1), k, v, i + 1, false);
                const hd_node *rest = attend(hd_slice(q, i, S - i), k, v, S, true);
                const float *whole = all->x + (size_t)(i * E);
                assert_same_bits("a query alone", one->x, whole, (size_t)E);
                assert_same_bits("the queries from one on", rest->x, whole, (size_t)((S - i) * E));
                for (int h = 0; h < N_HEADS; h++)
                    assert_same_bits("weights", hd_attention_weights(one, 0, h),
                                     hd_attention_weights(all, 0, h) + (size_t)(i * S),
                                     (size_t)(i + 1));
            }
            assert_that(hd_tape_error(t)->code == HEED_OK, "%s", hd_tape_error(t)->message);
        }
    hd_tape_free(t);
}

static void a_causal_query_does_not_feel_what_comes_later(void **state)
{
    (void)state;
    enum { S = 21, D = 10, BAD = 13 };
    hd_tape *t = new_tape(false);
    hd_node *q = numbers(t, 1, S, D), *k = numbers(t, 2, S, D), *v = numbers(t, 3, S, D);
    const hd_node *before = attend(q, k, v, S, true);
    for (int i = BAD * D; i < S * D; i++) {
        q->x[i] = i % 2 ? NAN : INFINITY;
        k->x[i] = i % 3 ? NAN : INFINITY;
        v->x[i] = i % 2 ? -INFINITY : NAN;
    }
    const hd_node *after = attend(q, k, v, S, true);
    assert_same_bits("queries before infinities", before->x, after->x, BAD * D);
    assert_true(isnan(after->x[BAD * D]));
    hd_tape_free(t);
}

static void sentences_that_share_keys_get_the_bits_of_keys_of_their_own(void **state)
{
    (void)state;
    enum { S = 5, D = 18, N = 3 };
    const int lengths[N] = {S, S, S}, starts[N] = {0, 0, 0}, ones[N] = {1, 1, 1};
    hd_tape *t = new_tape(false);
    hd_node *q = numbers(t, 1, N, D), *k = numbers(t, 2, S, D), *v = numbers(t, 3, S, D);
    hd_attention_options o = {.queries = hd_spans_of(t, ones, N),
                              .keys = hd_spans_at(t, starts, lengths, N),
                              .n_heads = N_HEADS};
    const hd_node *shared = hd_attention(q, k, v, &o);
    o.keys = hd_spans_of(t, lengths, N);
    const hd_node *own =
        hd_attention(q, hd_pile((hd_node *[]){k, k, k}, N), hd_pile((hd_node *[]){v, v, v}, N), &o);
    assert_same_bits("shared keys", shared->x, own->x, N * D);
    hd_tape_free(t);
}

/* ---- recurrences: alone or with others, step by step or at once ------------------------------- */

enum { CELLS = 3, WIDTH = 18, SENTENCES = 6, WORDS = 27 };
static const int gates_of_cell[CELLS] = {[HD_RNN] = 1, [HD_GRU] = 3, [HD_LSTM] = 4};
static const int states_of_cell[CELLS] = {[HD_RNN] = 1, [HD_GRU] = 1, [HD_LSTM] = 2};

/* A recurrence over some sentences, whose numbers depend on the sentence only. */
struct run {
    enum hd_cell cell;
    bool is_reversed;
    hd_params *params;
    hd_node *U, *b;
};

static struct run new_run(enum hd_cell cell, bool is_reversed)
{
    heed_error err = {0};
    struct run r = {.cell = cell, .is_reversed = is_reversed, .params = hd_params_new(&err)};
    assert_non_null(r.params);
    r.U = hd_param(r.params, "U", WIDTH, gates_of_cell[cell] * WIDTH);
    r.b = hd_param(r.params, "b", gates_of_cell[cell] * WIDTH);
    assert_true(hd_params_make(r.params, &err));
    hd_init_uniform(r.U, 0.5F, 1);
    hd_init_uniform(r.b, 0.5F, 1);
    return r;
}

static const int sentence_length[SENTENCES] = {3, 9, 1, 0, 9, 5};

/* The states of the n sentences `which`, one after the other in this order in the rows, and the
 * gradients of x: each sentence's rows are put where they stand in the order 0, 1, 2 … */
static void run_recurrence(const struct run *r, const int *which, int n, float *states, float *dx)
{
    const int G = gates_of_cell[r->cell] * WIDTH, S = states_of_cell[r->cell] * WIDTH;
    hd_tape *t = new_tape(true);
    hd_node *x[SENTENCES], *start[SENTENCES], *weights[SENTENCES];
    int lengths[SENTENCES];
    for (int i = 0; i < n; i++) {
        const uint64_t number = (uint64_t)which[i];
        lengths[i] = sentence_length[which[i]];
        x[i] = numbers(t, 10 + number, lengths[i], G);
        start[i] = numbers(t, 20 + number, 1, S);
        weights[i] = numbers(t, 30 + number, lengths[i], S);
    }
    const hd_recurrence_options o = {
        .cell = r->cell, .spans = hd_spans_of(t, lengths, n), .is_reversed = r->is_reversed};
    hd_node *y = hd_recurrence(hd_pile(x, n), r->U, r->b, hd_pile(start, n), &o);
    const bool is_done = hd_backward(hd_sum(hd_mul(y, hd_pile(weights, n))), NULL);
    assert_that(is_done, "%s", hd_tape_error(t)->message);
    for (int i = 0; i < n; i++) {
        size_t at = 0;
        for (int j = 0; j < which[i]; j++)
            at += (size_t)sentence_length[j];
        memcpy(states + at * (size_t)S, y->x + (size_t)(o.spans->start[i] * S),
               (size_t)(lengths[i] * S) * sizeof *states);
        if (lengths[i] > 0)
            memcpy(dx + at * (size_t)G, x[i]->g, (size_t)(lengths[i] * G) * sizeof *dx);
    }
    hd_tape_free(t);
}

static void a_sentences_recurrence_does_not_feel_its_neighbours(void **state)
{
    (void)state;
    static const int orders[][SENTENCES] = {
        {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {2, 4, 0, 5, 3, 1}};
    enum { STATES = WORDS * 2 * WIDTH, GATES = WORDS * 4 * WIDTH };
    for (int variant = 0; variant < 2 * CELLS; variant++) {
        struct run r = new_run((enum hd_cell)(variant / 2), variant % 2);
        static float states[4][STATES], dx[4][GATES];
        memset(states, 0, sizeof states);
        memset(dx, 0, sizeof dx);
        for (int i = 0; i < SENTENCES; i++) /* each alone */
            run_recurrence(&r, &i, 1, states[3], dx[3]);
        for (int order = 0; order < 3; order++) {
            run_recurrence(&r, orders[order], SENTENCES, states[order], dx[order]);
            char what[64];
            snprintf(what, sizeof what, "variant %d, order %d, states", variant, order);
            assert_same_bits(what, states[order], states[3], STATES);
            snprintf(what, sizeof what, "variant %d, order %d, gradients", variant, order);
            assert_same_bits(what, dx[order], dx[3], GATES);
        }
        assert_true(states[3][0] != 0 && dx[3][0] != 0);
        hd_params_free(r.params);
    }
}

/* The state after one more step for B sentences; [s; c] for an LSTM. */
static hd_node *one_step(const struct run *r, hd_node *x, hd_node *before)
{
    hd_node *s = hd_part(before, 0, WIDTH), *u = hd_affine(r->U, r->b, s);
    if (r->cell == HD_LSTM)
        return hd_lstm_cell(x, u, hd_part(before, WIDTH, WIDTH));
    return r->cell == HD_GRU ? hd_gru_cell(x, u, s) : hd_rnn_cell(x, u);
}

static void step_by_step_gives_the_states_of_the_whole_recurrence(void **state)
{
    (void)state;
    enum { B = 4, T = 6 };
    const int lengths[B] = {T, T, T, T};
    for (int variant = 0; variant < 2 * CELLS; variant++) {
        struct run r = new_run((enum hd_cell)(variant / 2), variant % 2);
        const int G = gates_of_cell[r.cell] * WIDTH, S = states_of_cell[r.cell] * WIDTH;
        hd_tape *t = new_tape(false);
        hd_node *x = numbers(t, 1, B * T, G), *s = numbers(t, 2, B, S);
        const hd_recurrence_options o = {
            .cell = r.cell, .spans = hd_spans_of(t, lengths, B), .is_reversed = r.is_reversed};
        const hd_node *whole = hd_recurrence(x, r.U, r.b, s, &o);
        for (int step = 0; step < T; step++) {
            int rows[B];
            for (int b = 0; b < B; b++)
                rows[b] = b * T + (r.is_reversed ? T - 1 - step : step);
            s = one_step(&r, hd_rows(x, rows, B), s);
            assert_that(hd_tape_error(t)->code == HEED_OK, "%s", hd_tape_error(t)->message);
            for (int b = 0; b < B; b++)
                assert_same_bits("a step", s->x + (size_t)(b * S), whole->x + (size_t)(rows[b] * S),
                                 (size_t)S);
        }
        hd_tape_free(t);
        hd_params_free(r.params);
    }
}

static void step_by_step_gives_the_rows_of_the_whole_scan(void **state)
{
    (void)state;
    enum { B = 3 };
    static const int lengths[B] = {4, 1, 6}, one[B] = {1, 1, 1};
    hd_tape *t = new_tape(false);
    const hd_spans *spans = hd_spans_of(t, lengths, B), *alone = hd_spans_of(t, one, 1);
    hd_node *z = numbers(t, 1, spans->total, WIDTH), *u = numbers(t, 2, spans->total, WIDTH),
            *start = numbers(t, 3, B, WIDTH);
    const hd_node *whole = hd_gated_scan(z, u, start, spans);
    for (int b = 0; b < B; b++) {
        hd_node *c = hd_slice(start, b, 1), *blended = c;
        for (int i = 0; i < lengths[b]; i++) {
            const int row = spans->start[b] + i;
            hd_node *z_i = hd_slice(z, row, 1), *u_i = hd_slice(u, row, 1);
            c = hd_gated_scan(z_i, u_i, c, alone);
            blended = hd_blend(hd_sigmoid(z_i), u_i, blended);
            assert_that(hd_tape_error(t)->code == HEED_OK, "%s", hd_tape_error(t)->message);
            assert_same_bits("a step", c->x, whole->x + (size_t)row * WIDTH, WIDTH);
            assert_same_bits("its formula", blended->x, c->x, WIDTH);
        }
    }
    hd_tape_free(t);
}

/* ---- output layers, cut into slices or not ---------------------------------------------------- */

enum { OUTPUTS = 37, INPUTS = 19, MOST_TARGETS = 100 };

struct layer {
    hd_params *params;
    hd_node *W, *b;
    hd_output_options o;
    int targets[MOST_TARGETS];
};

static struct layer new_layer(bool is_transposed)
{
    heed_error err = {0};
    struct layer l = {.params = hd_params_new(&err),
                      .o = {.is_transposed = is_transposed, .smoothing = 0.1F}};
    assert_non_null(l.params);
    l.W = is_transposed ? hd_param(l.params, "W", OUTPUTS, INPUTS)
                        : hd_param(l.params, "W", INPUTS, OUTPUTS);
    l.b = hd_param(l.params, "b", OUTPUTS);
    assert_true(hd_params_make(l.params, &err));
    hd_init_uniform(l.W, 1, 1);
    hd_init_uniform(l.b, 1, 1);
    for (int i = 0; i < MOST_TARGETS; i++)
        l.targets[i] = i * 7 % (OUTPUTS + 1) - 1;
    return l;
}

/* What an output layer gives: its value, the gradients by both passes, and those by W and b. */
struct outcome {
    float value, dx1[MOST_TARGETS * INPUTS], dx2[MOST_TARGETS * INPUTS];
    float parameters[2 * INPUTS * OUTPUTS];
};

static void run_layer(const struct layer *l, int N, bool has_two, bool in_slices,
                      struct outcome *out)
{
    const hd_consistency weights = {0.5F, 0.75F, 0.25F, 1.25F};
    memset(out, 0, sizeof *out);
    assert_true(hd_params_size(l->params) <= sizeof out->parameters / sizeof *out->parameters);
    hd_tape *t = new_tape(true);
    hd_node *x1 = numbers(t, 1, N, INPUTS), *x2 = numbers(t, 2, N, INPUTS), *loss;
    if (has_two)
        loss = (in_slices ? output_loss_pair_in_slices
                          : hd_output_loss_pair)(l->W, l->b, x1, x2, l->targets, &l->o, &weights);
    else
        loss =
            (in_slices ? output_loss_in_slices : hd_output_loss)(l->W, l->b, x1, l->targets, &l->o);
    const bool is_done = hd_backward(hd_scale(loss, 0.3F), out->parameters);
    assert_that(is_done, "%s", hd_tape_error(t)->message);
    out->value = loss->x[0];
    memcpy(out->dx1, x1->g, hd_count(x1) * sizeof(float));
    if (has_two)
        memcpy(out->dx2, x2->g, hd_count(x2) * sizeof(float));
    hd_tape_free(t);
}

static void an_output_layer_has_the_same_bits_however_it_is_cut(void **state)
{
    (void)state;
    static struct outcome whole, cut;
    const int sizes[] = {0, 1, 31, 32, 33, 64, 65, 97, MOST_TARGETS};
    for (int variant = 0; variant < 4; variant++) {
        struct layer l = new_layer(variant % 2);
        for (int i = 0; i < 9; i++) {
            run_layer(&l, sizes[i], false, false, &whole);
            if (variant / 2)
                assert_true(hd_params_pack(l.params, NULL));
            run_layer(&l, sizes[i], false, true, &cut);
            assert_same_bits("value", &whole.value, &cut.value, 1);
            assert_same_bits("gradient by x", whole.dx1, cut.dx1, MOST_TARGETS * INPUTS);
            assert_same_bits("gradient by W and b", whole.parameters, cut.parameters,
                             2 * INPUTS * OUTPUTS);
            hd_params_changed(l.params);
        }
        assert_true(whole.value > 0 && whole.dx1[INPUTS] != 0 && whole.parameters[0] != 0);
        hd_params_free(l.params);
    }
}

/* Both passes enter the gradients of W and b slice by slice, so those may differ in rounding. */
static void a_pair_of_output_layers_has_the_same_loss_and_states_however_it_is_cut(void **state)
{
    (void)state;
    static struct outcome whole, cut;
    struct layer l = new_layer(true);
    run_layer(&l, MOST_TARGETS, true, false, &whole);
    run_layer(&l, MOST_TARGETS, true, true, &cut);
    assert_same_bits("value", &whole.value, &cut.value, 1);
    assert_same_bits("gradient by x1", whole.dx1, cut.dx1, MOST_TARGETS * INPUTS);
    assert_same_bits("gradient by x2", whole.dx2, cut.dx2, MOST_TARGETS * INPUTS);
    for (int i = 0; i < 2 * INPUTS * OUTPUTS; i++)
        assert_that(fabsf(whole.parameters[i] - cut.parameters[i]) < 1e-4F, "number %d: %g and %g",
                    i, (double)whole.parameters[i], (double)cut.parameters[i]);
    assert_true(whole.dx2[INPUTS] != 0 && whole.parameters[0] != 0);
    hd_params_free(l.params);
}

/* ---- gradients of weights -------------------------------------------------------------------- */

/* dW of pieces of `rows` rows each, done step by step, and as one product of all rows in the
 * order of the way back. */
static void check_pieces(int n_pieces, int rows)
{
    enum { IN = 5, OUT = 7 };
    heed_error err = {0};
    hd_params *params = hd_params_new(&err);
    hd_node *W = hd_param(params, "W", IN, OUT);
    assert_true(hd_params_make(params, &err));
    hd_init_uniform(W, 1, 1);
    float dW[2][48] = {{0}};
    const size_t count = (size_t)(n_pieces * rows);
    float *x = malloc((count * IN + 1) * sizeof *x),
          *weights = malloc((count * OUT + 1) * sizeof *weights);
    hd_rng_normals(&(struct hd_rng){.key = 1}, x, count * IN);
    hd_rng_normals(&(struct hd_rng){.key = 2}, weights, count * OUT);
    for (int whole = 0; whole < 2; whole++) {
        hd_tape *t = new_tape(true);
        hd_node *loss = hd_input(t, NULL, 1);
        const int n = whole ? 1 : n_pieces, r = whole ? n_pieces * rows : rows;
        for (int i = n - 1; i >= 0; i--) { /* the last step is met first on the way back */
            hd_node *y = hd_lin(W, hd_input(t, x + (size_t)(i * r * IN), r, IN));
            loss = hd_add(loss,
                          hd_sum(hd_mul(y, hd_input(t, weights + (size_t)(i * r * OUT), r, OUT))));
        }
        const bool is_done = hd_backward(loss, dW[whole]);
        assert_that(is_done, "%s", hd_tape_error(t)->message);
        hd_tape_free(t);
    }
    char what[64];
    snprintf(what, sizeof what, "%d pieces of %d rows", n_pieces, rows);
    assert_same_bits(what, dW[0], dW[1], 48);
    free(x);
    free(weights);
    hd_params_free(params);
}

static void a_weights_gradient_is_one_chain_however_it_is_cut(void **state)
{
    (void)state;
    const int sizes[][2] = {{1, 1},  {2, 1},   {127, 1}, {128, 1}, {129, 1}, {300, 1}, {7, 63},
                            {9, 63}, {20, 63}, {3, 64},  {5, 100}, {20, 31}, {40, 0},  {17, 30}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_pieces(sizes[i][0], sizes[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run_has_the_same_bits_packed_or_not),
        cmocka_unit_test(changed_parameters_are_not_read_from_old_packed_copies),
        cmocka_unit_test(recording_changes_no_value),
        cmocka_unit_test(threads_share_parameters),
        cmocka_unit_test(a_sentence_does_not_feel_its_neighbours),
        cmocka_unit_test(a_query_gets_the_same_bits_alone_and_within_the_whole_target),
        cmocka_unit_test(a_causal_query_does_not_feel_what_comes_later),
        cmocka_unit_test(sentences_that_share_keys_get_the_bits_of_keys_of_their_own),
        cmocka_unit_test(a_sentences_recurrence_does_not_feel_its_neighbours),
        cmocka_unit_test(step_by_step_gives_the_states_of_the_whole_recurrence),
        cmocka_unit_test(step_by_step_gives_the_rows_of_the_whole_scan),
        cmocka_unit_test(an_output_layer_has_the_same_bits_however_it_is_cut),
        cmocka_unit_test(a_pair_of_output_layers_has_the_same_loss_and_states_however_it_is_cut),
        cmocka_unit_test(a_weights_gradient_is_one_chain_however_it_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
