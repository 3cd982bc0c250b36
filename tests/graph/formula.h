/* formula.h -- a model with every op in it, for tests that want all of them at once.
 *
 * It means nothing. Its sizes are given from outside: any number of sentences of any lengths, 0
 * included, and any even width, 0 included.
 *
 * Gradients are added up, and dropouts numbered, in the order in which ops were made, and C leaves
 * it to the compiler which argument of a call is made first. So that every compiler has the same
 * bits, no call here has two arguments that are ops of something both could reach. */
#ifndef HD_TEST_FORMULA_H
#define HD_TEST_FORMULA_H

#include <heed_graph.h>

enum { FORMULA_WORDS = 11, FORMULA_STEPS = 3, FORMULA_SENTENCES = 8, FORMULA_ROWS = 64 };

struct formula {
    int B, lengths[FORMULA_SENTENCES]; /* sentences; FORMULA_ROWS rows at most */
    int D;                             /* width */
    hd_params *params;
    hd_node *table, *b_o, *gain, *bias, *v, *w, *b, *b3, *W, *U, *W_f, *W3, *U3, *W4, *U4;
};

/* Declare and fill the parameters; formula_free() gives them back, also when this fails. */
static bool formula_make(struct formula *f, int B, const int *lengths, int D, heed_error *err)
{
    *f = (struct formula){.B = B, .D = D};
    for (int b = 0; b < B; b++)
        f->lengths[b] = lengths[b];
    hd_params *p = f->params = hd_params_new(err);
    if (!p)
        return false;
    f->table = hd_param(p, "table", FORMULA_WORDS, D);
    f->b_o = hd_param(p, "b_o", FORMULA_WORDS);
    f->gain = hd_param(p, "gain", D);
    f->bias = hd_param(p, "bias", D);
    f->v = hd_param(p, "v", D);
    f->w = hd_param(p, "w", D);
    f->b = hd_param(p, "b", D);
    f->b3 = hd_param(p, "b3", 3 * D);
    f->W = hd_param(p, "W", D, D);
    f->U = hd_param(p, "U", D, D);
    f->W_f = hd_param(p, "W_f", D, D);
    f->W3 = hd_param(p, "W3", D, 3 * D);
    f->U3 = hd_param(p, "U3", D, 3 * D);
    f->W4 = hd_param(p, "W4", D, 4 * D);
    f->U4 = hd_param(p, "U4", D, 4 * D);
    if (!hd_params_make(p, err))
        return false;
    for (int i = 0; i < hd_params_number(p); i++)
        hd_init_uniform(hd_params_at(p, i), 0.5F, 1);
    return true;
}

static void formula_free(struct formula *f)
{
    hd_params_free(f->params);
}

/* The sentences' rows h [rows,D], each having seen the others of its sentence: [rows,D]. */
static hd_node *formula_encode(const struct formula *f, hd_node *h, const hd_spans *spans)
{
    const int D = f->D;
    hd_node *start = hd_tanh(hd_lin(f->W, hd_mean_spans(h, spans)));
    const hd_recurrence_options rnn = {.cell = HD_RNN, .spans = spans},
                                gru = {.cell = HD_GRU, .spans = spans, .is_reversed = true},
                                lstm = {.cell = HD_LSTM, .spans = spans};
    hd_node *s1 = hd_recurrence(hd_affine(f->W, f->b, h), f->U, NULL, start, &rnn);
    hd_node *s3 = hd_recurrence(hd_lin(f->W3, h), f->U3, f->b3, NULL, &gru);
    hd_node *starts = hd_concat(start, start);
    hd_node *s4 = hd_recurrence(hd_lin(f->W4, h), f->U4, NULL, starts, &lstm);
    hd_node *s = hd_part(s4, 0, D), *c = hd_part(s4, D, D);
    hd_node *states = hd_sub(hd_add(hd_add(s1, s3), s), c);

    const hd_attention_options causal = {
        .queries = spans, .keys = spans, .n_heads = 2, .is_causal = true, .dropout = 0.2F};
    hd_attention_options all = causal;
    all.is_causal = false;
    hd_node *qkv = hd_lin(f->W3, states);
    hd_node *q = hd_part(qkv, 0, D), *k = hd_part(qkv, D, D), *v = hd_part(qkv, 2 * D, D);
    states = hd_add(states, hd_attention(q, k, v, &causal));
    return hd_sub(states, hd_attention(q, k, h, &all));
}

/* Some states for the sentences, step by step. `h` [rows,D]; `states` gets FORMULA_STEPS nodes
 * [B,D]. */
static void formula_steps(hd_tape *t, const struct formula *f, hd_node *h, const hd_spans *spans,
                          hd_node **states)
{
    const int D = f->D;
    hd_node *Uh = hd_lin(f->U, h), *k = hd_ragged(Uh, spans), *values = hd_ragged(h, spans);
    hd_node *s = hd_tanh(hd_affine(f->W, f->b, hd_mean_spans(h, spans)));
    hd_node *cover = hd_input(t, NULL, spans->n, spans->longest);
    const hd_mask *mask = hd_mask_lengths(t, f->lengths, spans->n, spans->longest);
    for (int i = 0; i < FORMULA_STEPS; i++) {
        hd_node *q = hd_lin(f->W, s);
        hd_node *e = hd_additive_covered(f->v, q, k, f->w, cover);
        e = hd_add(e, hd_dot_each(q, k));
        e = hd_add(e, hd_pad(hd_dot(f->v, hd_add(hd_spread(q, spans), Uh)), spans));
        hd_node *a = hd_softmax(e, mask);
        hd_node *c = hd_mix(a, values);
        cover = hd_add(cover, a);
        hd_node *x = hd_lin(f->W3, c);
        s = hd_gru_cell(x, hd_lin(f->U3, s), s);
        x = hd_lin(f->W4, c);
        hd_node *both = hd_lstm_cell(x, hd_lin(f->U4, s), c);
        hd_node *z = hd_sigmoid(hd_part(both, 0, D));
        s = hd_blend(z, s, hd_part(both, D, D));
        s = states[i] = hd_rnn_cell(s, hd_scale(c, 0.5F));
    }
}

/* The dense forms, on sentences of two rows each made from the states. */
static hd_node *formula_dense(const struct formula *f, hd_node *const *states)
{
    hd_node *k = hd_reshape(hd_concat(states[1], states[2]), f->B, 2, f->D);
    hd_node *e = hd_dot_each(states[0], k);
    e = hd_softmax(hd_add(e, hd_additive(f->v, states[0], k)), NULL);
    hd_node *c = hd_mix(e, hd_add(states[0], k));
    return hd_relu(hd_sub(hd_mul(c, f->gain), f->bias));
}

/* The whole: one number. With no sentences its value is not a number to look at, but it must be
 * there. */
static hd_node *formula_loss(hd_tape *t, const struct formula *f)
{
    const hd_spans *spans = hd_spans_of(t, f->lengths, f->B);
    int ids[FORMULA_ROWS], targets[FORMULA_STEPS * FORMULA_SENTENCES];
    for (int i = 0; i < spans->total; i++)
        ids[i] = i * 7 % FORMULA_WORDS;
    for (int i = 0; i < FORMULA_STEPS * f->B; i++)
        targets[i] = i * 5 % (FORMULA_WORDS + 1) - 1;

    hd_node *h = hd_dropout(hd_embed(t, f->table, ids, spans->total), 0.1F);
    h = hd_layer_norm(hd_add(h, hd_dense(f->W_f, f->b, h, HD_GELU)), f->gain, f->bias, 1e-5F);
    h = hd_rms_norm(hd_add(h, hd_dense(f->W_f, NULL, h, HD_TANH)), f->gain, 1e-5F);
    h = formula_encode(f, h, spans);
    hd_node *states[FORMULA_STEPS + 1];
    formula_steps(t, f, h, spans, states);
    states[FORMULA_STEPS] = formula_dense(f, states);

    hd_node *all = hd_slice(hd_pile(states, FORMULA_STEPS + 1), f->B, FORMULA_STEPS * f->B);
    hd_node *swish = hd_swish(all), *gelu = hd_gelu(all);
    all = hd_maxout(hd_join((hd_node *[]){swish, gelu}, 2));
    hd_node *logits = hd_lin_transposed(f->table, all); /* [3B,V] */
    hd_node *loss = hd_cross_entropy(logits, targets, 0.1F);
    loss = hd_add(loss, hd_kl(logits, hd_log_softmax(hd_stop(hd_scale(logits, 0.5F)), NULL)));
    const hd_output_options tied = {.is_transposed = true, .smoothing = 0.1F};
    const hd_consistency consistency = {0.5F, 0.25F, 0.125F, 0.0625F};
    loss = hd_add(loss, hd_output_loss(f->table, NULL, all, targets, &tied));
    loss = hd_add(loss, hd_output_loss_pair(f->table, f->b_o, all, hd_dropout(all, 0.5F), targets,
                                            &tied, &consistency));
    hd_node *square = hd_lin(hd_transpose(all), all); /* [D,D] */
    loss = hd_add(loss, hd_mean(hd_log(hd_shift(hd_exp(square), 1))));
    loss = hd_add(loss, hd_scale(hd_sum_squares(hd_sum_last(all)), 0.01F));
    return hd_add(loss, hd_sum(hd_sum_rows(hd_rows(all, (const int[]){-1, 0}, f->B > 0 ? 2 : 1))));
}
#endif
