/* placement.c -- one step of a recurrent decoder, with attention before the cell, after it, inside it, or none at all.
 *
 * The attentional cell is the lowest layer, whose own state asks; further layers stand on it. Only `after` asks with the top
 * layer's state. Maps of the context are made once per sentence (graph/context.h), so what a step multiplies is the previous
 * state alone. */
#include "model/placement.h"

#include "model/param.h"

#include <stdio.h>

/* ---- parameters --------------------------------------------------------------------------------------------------------- */

void hd_rnn_decoder_declare(struct hd_rnn_decoder_parts *p, const struct hd_config *c,
                            hd_params *params)
{
    const enum hd_cell kind = (enum hd_cell)c->cell;
    const int D = c->dim, gates = hd_cell_gates(kind) * D;
    const bool is_inside = c->context == HD_CONTEXT_ATTENTION && c->attend == HD_ATTEND_INSIDE;
    const bool is_before = c->context == HD_CONTEXT_ATTENTION && c->attend == HD_ATTEND_BEFORE;
    struct hd_cell_kind cell = {.kind = kind,
                                .resets_before = c->gru_reset == HD_RESET_BEFORE,
                                .D = D,
                                .norm = (enum hd_recurrent_norm)c->recurrent_norm,
                                .eps = hd_recurrent_eps(c)};
    p->n_layers = c->decoder_layers;
    p->is_residual = c->residual;
    for (int l = 0; l < c->decoder_layers; l++) {
        char prefix[48];
        snprintf(prefix, sizeof prefix, "decoder.%d", l + 1);
        p->W[l] = hd_map_param(params, prefix, "W", l == 0 ? c->embed : D, gates);
        if (l == 0 && (is_before || c->context == HD_CONTEXT_EVERY))
            p->C = hd_map_param(params, prefix, "C", hd_value_width(c), gates);
        if (l == 0 && c->input_feeding)
            p->F = hd_map_param(params, prefix, "F", D, gates);
        cell.n_transitions = l > 0       ? c->upper_transitions
                             : is_inside ? 0 /* they are the second cell's */
                                         : c->decoder_transitions;
        hd_cell_declare(&p->cell[l], params, prefix, cell);
        p->b[l] = hd_vector_param(params, prefix, "b", gates);
    }
    if (is_inside) {
        p->second_C = hd_map_param(params, "decoder.second", "C", hd_value_width(c), gates);
        cell.n_transitions = c->decoder_transitions;
        hd_cell_declare(&p->second, params, "decoder.second", cell);
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

/* What layer l gives to the next; with residual connections its own output and those of all below. */
static hd_node *layer_output(const struct hd_rnn_decoder_parts *p,
                             const struct hd_rnn_decoder_state *s, int l)
{
    hd_node *own = hd_cell_output(&p->cell[l], s->layer[l]);
    return p->is_residual && l > 0 ? hd_add(own, layer_output(p, s, l - 1)) : own;
}

static hd_node *top(const struct hd_rnn_decoder_parts *p, const struct hd_rnn_decoder_state *s)
{
    return layer_output(p, s, p->n_layers - 1);
}

static void run_upper_layers(const struct hd_rnn_decoder_parts *p,
                             const struct hd_rnn_decoder_state *before,
                             struct hd_rnn_decoder_state *now)
{
    for (int l = 1; l < p->n_layers; l++) {
        hd_node *x = layer_output(p, now, l - 1);
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

/* What every step leaves behind: what the readout reads, the weights, and the sum of those so far. */
static void conclude(const struct hd_rnn_parts *n, const struct hd_config *config,
                     const struct hd_rnn_decoder_state *before, hd_node *alpha, hd_node *c,
                     struct hd_rnn_decoder_state *now, struct hd_step *step)
{
    now->cover = before->cover ? hd_add(before->cover, alpha) : NULL;
    now->alpha = before->alpha ? alpha : NULL;
    step->readout_s = state_to_read(&n->decoder, config, before, now);
    step->readout_c = hd_readout_c(&n->readout, c);
    step->attended_by = alpha;
}

/* ---- without attention: the fixed vector ------------------------------------------------------------------------------------ */

/* Sutskever et al. (2014): s_t = f(s_{t-1}, y_{t-1}); with context `every` (Cho et al. 2014) f(s_{t-1}, y_{t-1}, c) */
static struct hd_rnn_decoder_state step_fixed(const struct hd_rnn_parts *n,
                                              const struct hd_config *config,
                                              const struct hd_rnn_decoder_state *before,
                                              struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    struct hd_rnn_decoder_state now = *before;
    hd_node *x = step->Wy, *c = NULL; /* W E y_{t-1} + b [B,kD] */
    if (config->context == HD_CONTEXT_EVERY) {
        c = hd_context_row(x->tape, step->view.values, step->sentence, step->view.spans->n);
        x = hd_add(x, hd_lin(p->C, c)); /* … + C c [B,kD] */
    }
    now.layer[0] = hd_cell_step(&p->cell[0], x, now.layer[0]); /* s_t = f(s_{t-1}, …) */
    run_upper_layers(p, before, &now);
    conclude(n, config, before, NULL, c, &now, step);
    return now;
}

/* ---- before: Bahdanau et al. (2015), section 3.1 and appendix A.2.2 ------------------------------------------------------------ */

static struct hd_rnn_decoder_state step_before(const struct hd_rnn_parts *n,
                                               const struct hd_config *config,
                                               const struct hd_rnn_decoder_state *before,
                                               struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    const struct hd_view *h = &step->view;
    struct hd_rnn_decoder_state now = *before;
    hd_node *s = hd_cell_output(&p->cell[0], now.layer[0]);    /* s_{t-1} [B,D] */
    hd_node *e = hd_attend_score(h, s);                        /* e_tj = a(s_{t-1}, h_j) [B,S] */
    hd_node *alpha = hd_attend_softmax(h, e, s);               /* α_t = softmax_j(e_tj) [B,S] */
    hd_node *c = hd_attend_context(h, alpha);                  /* c_t = Σ_j α_tj h_j [B,E] */
    hd_node *x = hd_add(step->Wy, hd_lin(p->C, c));            /* W E y_{t-1} + C c_t + b [B,kD] */
    now.layer[0] = hd_cell_step(&p->cell[0], x, now.layer[0]); /* s_t = f(s_{t-1}, y_{t-1}, c_t) */
    run_upper_layers(p, before, &now);
    step->scored_by = e;
    conclude(n, config, before, alpha, c, &now, step);
    return now;
}

/* ---- after: Luong et al. (2015), section 3 and 3.3 ------------------------------------------------------------------------------ */

static struct hd_rnn_decoder_state step_after(const struct hd_rnn_parts *n,
                                              const struct hd_config *config,
                                              const struct hd_rnn_decoder_state *before,
                                              struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    const struct hd_view *h = &step->view;
    struct hd_rnn_decoder_state now = *before;
    hd_node *x = step->Wy; /* W E y_{t-1} + b [B,kD] */
    if (before->fed)
        x = hd_add(x, hd_lin(p->F, before->fed)); /* … + F h̃_{t-1} [B,kD] */
    now.layer[0] = hd_cell_step(&p->cell[0], x, now.layer[0]);
    run_upper_layers(p, before, &now);
    hd_node *s = top(p, &now);                   /* s_t = f(s_{t-1}, y_{t-1}, h̃_{t-1}) */
    hd_node *e = hd_attend_score(h, s);          /* e_tj = a(s_t, h_j) [B,S] */
    hd_node *alpha = hd_attend_softmax(h, e, s); /* α_t = softmax_j(e_tj) [B,S] */
    hd_node *c = hd_attend_context(h, alpha);    /* c_t = Σ_j α_tj h_j [B,E] */
    step->readout_s = state_to_read(p, config, before, &now);
    step->readout_c = hd_readout_c(&n->readout, c);
    if (config->readout == HD_READOUT_ATTENDED) /* h̃_t = tanh(W_c [c_t; s_t]) [B,D] */
        step->attended = hd_readout(&n->readout, config, s, NULL, step->readout_c);
    if (before->fed)
        now.fed = step->attended;
    now.cover = before->cover ? hd_add(before->cover, alpha) : NULL;
    now.alpha = before->alpha ? alpha : NULL;
    step->attended_by = alpha;
    step->scored_by = e;
    return now;
}

/* ---- inside: the conditional GRU of Nematus (Sennrich et al. 2017), for any cell ---------------------------------------------------- */

static struct hd_rnn_decoder_state step_inside(const struct hd_rnn_parts *n,
                                               const struct hd_config *config,
                                               const struct hd_rnn_decoder_state *before,
                                               struct hd_step *step)
{
    const struct hd_rnn_decoder_parts *p = &n->decoder;
    const struct hd_view *h = &step->view;
    struct hd_rnn_decoder_state now = *before;
    hd_node *middle = hd_cell_step(&p->cell[0], step->Wy, now.layer[0]);
    hd_node *s = hd_cell_output(&p->cell[0], middle);         /* s' = f_1(s_{t-1}, y_{t-1}) [B,D] */
    hd_node *e = hd_attend_score(h, s);                       /* e_tj = a(s', h_j) [B,S] */
    hd_node *alpha = hd_attend_softmax(h, e, s);              /* α_t = softmax_j(e_tj) [B,S] */
    hd_node *c = hd_attend_context(h, alpha);                 /* c_t = Σ_j α_tj h_j [B,E] */
    hd_node *x = hd_add(hd_lin(p->second_C, c), p->second_b); /* C c_t + b [B,kD] */
    now.layer[0] = hd_cell_step(&p->second, x, middle);       /* s_t = f_2(s', c_t) */
    run_upper_layers(p, before, &now);
    step->scored_by = e;
    conclude(n, config, before, alpha, c, &now, step);
    return now;
}

struct hd_rnn_decoder_state hd_rnn_decoder_step(const struct hd_rnn_parts *n,
                                                const struct hd_config *config,
                                                const struct hd_rnn_decoder_state *before,
                                                struct hd_step *step)
{
    step->view.cover = before->cover;
    step->view.before = before->alpha;
    if (config->context != HD_CONTEXT_ATTENTION)
        return step_fixed(n, config, before, step);
    switch ((enum hd_attend)config->attend) {
    case HD_ATTEND_AFTER:
        return step_after(n, config, before, step);
    case HD_ATTEND_INSIDE:
        return step_inside(n, config, before, step);
    case HD_ATTEND_BEFORE:
        break;
    }
    return step_before(n, config, before, step);
}
