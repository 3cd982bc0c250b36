/* place.c -- one step of a recurrent decoder, with attention before the cell, after it, inside it, or none at all.
 *
 * The attentional cell is the lowest layer, whose own state asks; further layers stand on it. Only `after` asks with the top
 * layer's state. Linear maps of the context are moved inside its sum (hd_map_context), so what a step multiplies is the
 * previous state alone. */
#include "model/placement.h"

#include "model/param.h"

#include <stdio.h>

/* ---- parameters --------------------------------------------------------------------------------------------------------- */

void hd_rnn_decoder_declare(struct hd_rnn_decoder_parts *p, const struct hd_config *c,
                            hd_params *params)
{
    const enum hd_cell kind = (enum hd_cell)c->cell;
    const bool resets_before = c->gru_reset == HD_RESET_BEFORE;
    const int D = c->dim, gates = hd_cell_gates(kind) * D;
    const bool is_inside = c->context == HD_CONTEXT_ATTENTION && c->attend == HD_ATTEND_INSIDE;
    const bool is_before = c->context == HD_CONTEXT_ATTENTION && c->attend == HD_ATTEND_BEFORE;
    p->n_layers = c->decoder_layers;
    for (int l = 0; l < c->decoder_layers; l++) {
        char prefix[48];
        snprintf(prefix, sizeof prefix, "decoder.%d", l + 1);
        p->W[l] = hd_map_param(params, prefix, "W", l == 0 ? c->embed : D, gates);
        if (l == 0 && (is_before || c->context == HD_CONTEXT_EVERY))
            p->C = hd_map_param(params, prefix, "C", hd_value_width(c), gates);
        if (l == 0 && c->input_feeding)
            p->F = hd_map_param(params, prefix, "F", D, gates);
        hd_cell_declare(&p->cell[l], params, prefix, kind, resets_before, D);
        p->b[l] = hd_vector_param(params, prefix, "b", gates);
    }
    if (is_inside) {
        p->second_C = hd_map_param(params, "decoder.second", "C", hd_value_width(c), gates);
        hd_cell_declare(&p->second, params, "decoder.second", kind, resets_before, D);
        p->second_b = hd_vector_param(params, "decoder.second", "b", gates);
    }
}

void hd_rnn_decoder_init(const struct hd_rnn_decoder_parts *p, uint64_t seed)
{
    for (int l = 0; l < p->n_layers; l++) {
        hd_init_glorot(p->W[l], seed);
        hd_cell_init(&p->cell[l], seed);
        hd_cell_init_bias(&p->cell[l], p->b[l]);
    }
    hd_node *const maps[] = {p->C, p->F, p->second_C};
    for (int i = 0; i < 3; i++)
        if (maps[i])
            hd_init_glorot(maps[i], seed);
    if (p->second_C) {
        hd_cell_init(&p->second, seed);
        hd_cell_init_bias(&p->second, p->second_b);
    }
}

/* ---- layers above the first ----------------------------------------------------------------------------------------------- */

static hd_node *top(const struct hd_rnn_decoder_parts *p, const struct hd_rnn_decoder_state *s)
{
    return hd_cell_output(&p->cell[p->n_layers - 1], s->layer[p->n_layers - 1]);
}

static void run_upper_layers(const struct hd_rnn_decoder_parts *p,
                             const struct hd_rnn_decoder_state *before,
                             struct hd_rnn_decoder_state *now)
{
    for (int l = 1; l < p->n_layers; l++) {
        hd_node *x = hd_cell_output(&p->cell[l - 1], now->layer[l - 1]);
        now->layer[l] = hd_cell_step(&p->cell[l], hd_affine(p->W[l], p->b[l], x), before->layer[l]);
    }
}

/* What the readout reads: s_t, but maxout s_{t-1} as its paper does, whatever the placement. */
static hd_node *state_to_read(const struct hd_rnn_decoder_parts *p, const struct hd_config *c,
                              const struct hd_rnn_decoder_state *before,
                              const struct hd_rnn_decoder_state *now)
{
    return top(p, c->readout == HD_READOUT_MAXOUT ? before : now);
}

static hd_node *covered(const struct hd_rnn_decoder_state *state, const struct hd_attended *a)
{
    return state->cover ? hd_add(state->cover, a->alpha) : NULL;
}

/* ---- without attention: the fixed vector ------------------------------------------------------------------------------------ */

/* Sutskever et al. (2014): s_t = cell(y_{t-1}, s_{t-1}); with context `every` (Cho et al. 2014) cell([y_{t-1}; c], s_{t-1}) */
static struct hd_rnn_decoder_state step_fixed(const struct hd_rnn_parts *n,
                                              const struct hd_config *c,
                                              const struct hd_rnn_memory *m,
                                              const struct hd_rnn_decoder_state *state,
                                              struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    const int B = step->view.spans->n;
    struct hd_rnn_decoder_state now = *state;
    hd_node *x = step->Wy;
    if (m->cell_values)
        x = hd_add(x, hd_rows(m->cell_values, step->sentence, B));
    now.layer[0] = hd_cell_step(&p->cell[0], x, state->layer[0]);
    run_upper_layers(p, state, &now);
    step->readout_s = state_to_read(p, c, state, &now);
    step->readout_c = m->readout_values ? hd_rows(m->readout_values, step->sentence, B) : NULL;
    return now;
}

/* ---- before: Bahdanau et al. (2015), section 3.1 ------------------------------------------------------------------------------ */

/* c_t from s_{t-1}; s_t = cell([y_{t-1}; c_t], s_{t-1}) */
static struct hd_rnn_decoder_state step_before(const struct hd_rnn_parts *n,
                                               const struct hd_config *c,
                                               const struct hd_rnn_memory *m,
                                               const struct hd_rnn_decoder_state *state,
                                               struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    hd_node *s = hd_cell_output(&p->cell[0], state->layer[0]); /* s_{t-1}   [B,D]  */
    const struct hd_attended a =
        hd_attend(&n->score, c, &m->keys, &step->view, s, state->cover, step->length);
    hd_node *Cc = hd_map_context(&a, &step->view, p->C, m->cell_values); /* C c_t     [B,kD] */
    struct hd_rnn_decoder_state now = *state;
    now.layer[0] =
        hd_cell_step(&p->cell[0], hd_add(step->Wy, Cc), state->layer[0]); /* s_t              */
    run_upper_layers(p, state, &now);
    now.cover = covered(state, &a);
    step->readout_s = state_to_read(p, c, state, &now);
    step->readout_c =
        n->readout.c ? hd_map_context(&a, &step->view, n->readout.c, m->readout_values) : NULL;
    step->attended_by = a.node;
    return now;
}

/* ---- after: Luong et al. (2015), section 3 and 3.3 ------------------------------------------------------------------------------ */

/* s_t = cell([y_{t-1}; h̃_{t-1}], s_{t-1}); c_t from s_t; h̃_t = tanh(W_c [c_t; s_t]) */
static struct hd_rnn_decoder_state step_after(const struct hd_rnn_parts *n,
                                              const struct hd_config *c,
                                              const struct hd_rnn_memory *m,
                                              const struct hd_rnn_decoder_state *state,
                                              struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    struct hd_rnn_decoder_state now = *state;
    hd_node *x = state->fed ? hd_add(step->Wy, hd_lin(p->F, state->fed)) : step->Wy;
    now.layer[0] = hd_cell_step(&p->cell[0], x, state->layer[0]);
    run_upper_layers(p, state, &now);
    hd_node *s = top(p, &now); /* s_t       [B,D]  */
    const struct hd_attended a =
        hd_attend(&n->score, c, &m->keys, &step->view, s, state->cover, step->length);
    step->readout_s = state_to_read(p, c, state, &now);
    step->readout_c =
        n->readout.c ? hd_map_context(&a, &step->view, n->readout.c, m->readout_values) : NULL;
    if (c->readout == HD_READOUT_ATTENDED)
        step->attended = hd_readout(&n->readout, c, s, NULL, step->readout_c); /* h̃_t      [B,D]  */
    if (state->fed)
        now.fed = step->attended;
    now.cover = covered(state, &a);
    step->attended_by = a.node;
    return now;
}

/* ---- inside: the conditional GRU of Nematus (Sennrich et al. 2017), for any cell ---------------------------------------------------- */

/* s' = cell_1(y_{t-1}, s_{t-1}); c_t from s'; s_t = cell_2(c_t, s') */
static struct hd_rnn_decoder_state step_inside(const struct hd_rnn_parts *n,
                                               const struct hd_config *c,
                                               const struct hd_rnn_memory *m,
                                               const struct hd_rnn_decoder_state *state,
                                               struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    hd_node *middle = hd_cell_step(&p->cell[0], step->Wy, state->layer[0]); /* s'               */
    hd_node *s = hd_cell_output(&p->cell[0], middle);
    const struct hd_attended a =
        hd_attend(&n->score, c, &m->keys, &step->view, s, state->cover, step->length);
    hd_node *Cc = hd_add(hd_map_context(&a, &step->view, p->second_C, m->cell_values),
                         p->second_b); /* C c_t + b */
    struct hd_rnn_decoder_state now = *state;
    now.layer[0] = hd_cell_step(&p->second, Cc, middle); /* s_t              */
    run_upper_layers(p, state, &now);
    now.cover = covered(state, &a);
    step->readout_s = state_to_read(p, c, state, &now);
    step->readout_c =
        n->readout.c ? hd_map_context(&a, &step->view, n->readout.c, m->readout_values) : NULL;
    step->attended_by = a.node;
    return now;
}

struct hd_rnn_decoder_state hd_rnn_decoder_step(const struct hd_rnn_parts *parts,
                                                const struct hd_config *config,
                                                const struct hd_rnn_memory *memory,
                                                const struct hd_rnn_decoder_state *state,
                                                struct hd_step *step)
{
    if (config->context != HD_CONTEXT_ATTENTION)
        return step_fixed(parts, config, memory, state, step);
    switch ((enum hd_attend)config->attend) {
    case HD_ATTEND_AFTER:
        return step_after(parts, config, memory, state, step);
    case HD_ATTEND_INSIDE:
        return step_inside(parts, config, memory, state, step);
    case HD_ATTEND_BEFORE:
        break;
    }
    return step_before(parts, config, memory, state, step);
}
