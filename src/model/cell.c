/* cell.c -- recurrent cells: simple RNN, GRU (reset after or before the product), LSTM. */
#include "model/cell.h"

#include "graph/tape.h"

#include <stdio.h>
#include <string.h>

int hd_cell_gates(enum hd_cell kind)
{
    return kind == HD_LSTM ? 4 : kind == HD_GRU ? 3 : 1;
}

hd_node *hd_cell_output(const struct hd_cell_parts *cell, hd_node *state)
{
    return cell->kind == HD_LSTM ? hd_part(state, 0, cell->D) : state;
}

/* Ba et al. (2016), equation 20: all gates have one mean and one deviation (whole). As in Nematus the candidate of a GRU has its own (split). */
static void declare_norms(struct hd_map_norm norms[2], const struct hd_cell_kind *kind,
                          hd_params *params, const char *prefix, const char *name)
{
    char part[8];
    const int D = kind->D, gates = hd_cell_gates(kind->kind) * D;
    if (kind->norm == HD_RNORM_WHOLE)
        norms[0] = hd_norm_param(params, prefix, name, gates, kind->eps);
    if (kind->norm != HD_RNORM_SPLIT)
        return;
    snprintf(part, sizeof part, "%s.rz", name);
    norms[0] = hd_norm_param(params, prefix, part, 2 * D, kind->eps);
    snprintf(part, sizeof part, "%s.n", name);
    norms[1] = hd_norm_param(params, prefix, part, D, kind->eps);
}

static hd_node *normed(const struct hd_map_norm norms[2], int D, hd_node *x)
{
    if (!norms[1].gain)
        return hd_normed(&norms[0], x);
    hd_node *rz = hd_normed(&norms[0], hd_part(x, 0, 2 * D));
    hd_node *n = hd_normed(&norms[1], hd_part(x, 2 * D, D));
    return hd_concat(rz, n);
}

static struct hd_transition declare_state(const struct hd_cell_parts *cell, hd_params *params,
                                          const char *prefix, const struct hd_cell_kind *kind)
{
    const int D = cell->D, gates = hd_cell_gates(cell->kind) * D;
    struct hd_transition t = {0};
    t.U = hd_map_param(params, prefix, "U", D, cell->resets_before ? 2 * D : gates);
    if (cell->resets_before)
        t.N = hd_map_param(params, prefix, "N", D, D);
    else if (cell->kind == HD_GRU)
        t.c = hd_vector_param(params, prefix, "c", 3 * D);
    declare_norms(t.u, kind, params, prefix, "u");
    return t;
}

void hd_cell_declare(struct hd_cell_parts *cell, hd_params *params, const char *prefix,
                     struct hd_cell_kind kind)
{
    *cell = (struct hd_cell_parts){.kind = kind.kind,
                                   .resets_before = kind.kind == HD_GRU && kind.resets_before,
                                   .D = kind.D,
                                   .n_transitions = kind.n_transitions};
    const struct hd_transition own = declare_state(cell, params, prefix, &kind);
    declare_norms(cell->x, &kind, params, prefix, "x");
    cell->U = own.U;
    cell->N = own.N;
    cell->c = own.c;
    memcpy(cell->u, own.u, sizeof cell->u);
    for (int i = 0; i < cell->n_transitions; i++) {
        char deep[64];
        snprintf(deep, sizeof deep, "%s.deep.%d", prefix, i + 1);
        cell->transition[i] = declare_state(cell, params, deep, &kind);
        cell->transition[i].b =
            hd_vector_param(params, deep, "b", hd_cell_gates(cell->kind) * cell->D);
    }
}

static void init_state(hd_node *U, hd_node *N, hd_node *c, uint64_t seed)
{
    hd_init_orthogonal(U, 1, seed);
    if (N)
        hd_init_orthogonal(N, 1, seed);
    if (c)
        hd_init_fill(c, 0);
}

static void init_norms(const struct hd_map_norm norms[2])
{
    hd_norm_init(&norms[0]);
    hd_norm_init(&norms[1]);
}

void hd_cell_init(const struct hd_cell_parts *cell, uint64_t seed)
{
    init_state(cell->U, cell->N, cell->c, seed);
    init_norms(cell->x);
    init_norms(cell->u);
    for (int i = 0; i < cell->n_transitions; i++) {
        const struct hd_transition *t = &cell->transition[i];
        init_state(t->U, t->N, t->c, seed);
        init_norms(t->u);
        hd_cell_init_bias(cell, t->b);
    }
}

void hd_cell_init_bias(const struct hd_cell_parts *cell, hd_node *b)
{
    hd_init_fill(b, 0);
    for (int i = 0; cell->kind == HD_LSTM && i < cell->D; i++)
        b->x[cell->D + i] = 1; /* gates stand i, f, g, o */
}

/* ---- one step --------------------------------------------------------------------------------------------------- */

/* Elman (1990): s = tanh(W x + U s' + b) */
static hd_node *rnn_step(const struct hd_cell_parts *p, hd_node *x, hd_node *s)
{
    return hd_rnn_cell(x, normed(p->u, p->D, hd_lin(p->U, s)));
}

/* Cho et al. (2014), reset after the product: hd_gru_equations() in one op */
static hd_node *gru_step(const struct hd_cell_parts *p, hd_node *x, hd_node *s)
{
    return hd_gru_cell(x, normed(p->u, p->D, hd_affine(p->U, p->c, s)), s);
}

/* The same paper's own form: the reset comes before the product, and z is turned around. */
static hd_node *gru_step_reset_before(const struct hd_cell_parts *p, hd_node *x, hd_node *s)
{
    const int D = p->D;
    hd_node *x_rz = hd_part(x, 0, 2 * D), *x_n = hd_part(x, 2 * D, D);
    hd_node *rz = hd_sigmoid(hd_add(x_rz, hd_lin(p->U, s))); /* r, z = σ(W x + b + U s') [B,2D] */
    hd_node *r = hd_part(rz, 0, D), *z = hd_part(rz, D, D);
    hd_node *Urs = hd_lin(p->N, hd_mul(r, s)); /* U_n (r∘s')                       [B,D]  */
    hd_node *n = hd_tanh(hd_add(x_n, Urs));    /* n = tanh(W_n x + b_n + …)        [B,D]  */
    return hd_blend(z, s, n);                  /* s = (1-z)∘s' + z∘n               [B,D]  */
}

/* Hochreiter & Schmidhuber (1997): hd_lstm_equations() in one op */
static hd_node *lstm_step(const struct hd_cell_parts *p, hd_node *x, hd_node *state)
{
    hd_node *s = hd_part(state, 0, p->D), *c = hd_part(state, p->D, p->D);
    return hd_lstm_cell(x, normed(p->u, p->D, hd_lin(p->U, s)), c);
}

static hd_node *step_once(const struct hd_cell_parts *cell, hd_node *x, hd_node *state)
{
    switch (cell->kind) {
    case HD_RNN:
        return rnn_step(cell, x, state);
    case HD_GRU:
        return cell->resets_before ? gru_step_reset_before(cell, x, state)
                                   : gru_step(cell, x, state);
    case HD_LSTM:
        return lstm_step(cell, x, state);
    }
    return state;
}

/* Pascanu et al. (2014), as Miceli Barone et al. (2017) have it: the state goes through further cells, which read nothing. */
static hd_node *step_on(const struct hd_cell_parts *cell, hd_node *x, hd_node *state)
{
    state = step_once(cell, x, state);
    for (int i = 0; i < cell->n_transitions; i++) {
        const struct hd_transition *t = &cell->transition[i];
        const struct hd_cell_parts deep = {.kind = cell->kind,
                                           .resets_before = cell->resets_before,
                                           .D = cell->D,
                                           .U = t->U,
                                           .c = t->c,
                                           .N = t->N,
                                           .u = {t->u[0], t->u[1]}};
        hd_node *nothing = hd_input(state->tape, NULL, hd_n_rows(state), hd_width(x));
        hd_node *b = hd_add(nothing, t->b);
        state = step_once(&deep, b, state);
    }
    return state;
}

/* Where there are norms, of x = N(W x + b) and of u = N(U s'); a transition's b has none. */
hd_node *hd_cell_step(const struct hd_cell_parts *cell, hd_node *x, hd_node *state)
{
    return step_on(cell, normed(cell->x, cell->D, x), state);
}

/* ---- all steps --------------------------------------------------------------------------------------------------- */

/* What hd_recurrence does for the other cells, in steps: at step t, the sentences longer than t. Rows that have ended
 * keep running on zeros of input and are not read. */
static hd_node *run_in_steps(const struct hd_cell_parts *cell, hd_node *x, hd_node *start,
                             const hd_spans *spans, bool is_reversed)
{
    hd_tape *t = x->tape;
    const size_t B = (size_t)spans->n, steps = (size_t)spans->longest, rows = (size_t)hd_n_rows(x);
    hd_node **state = hd_tape_take(t, "hd_cell_run", steps + 1, sizeof *state);
    int *at = hd_tape_take(t, "hd_cell_run", B + rows, sizeof *at), *from = at + B;
    if (!state || !at)
        return &t->nil;
    memset(from, 0xff, rows * sizeof *from); /* -1: a row of nobody */
    const int width = cell->kind == HD_LSTM ? 2 * cell->D : cell->D;
    hd_node *s = start ? start : hd_input(t, NULL, spans->n, width);
    for (size_t step = 0; step < steps; step++) {
        for (size_t b = 0; b < B; b++) {
            const int length = spans->length[b], i = (int)step;
            at[b] = i < length ? spans->start[b] + (is_reversed ? length - 1 - i : i) : -1;
            if (at[b] >= 0)
                from[at[b]] = (int)(step * B + b);
        }
        s = state[step] = step_on(cell, hd_rows(x, at, spans->n), s);
    }
    if (steps == 0)
        return hd_input(t, NULL, (int)rows, width);
    return hd_rows(hd_pile(state, (int)steps), from, (int)rows);
}

hd_node *hd_cell_run(const struct hd_cell_parts *cell, hd_node *x, hd_node *start,
                     const hd_spans *spans, bool is_reversed)
{
    if (cell->resets_before || cell->n_transitions > 0 || cell->u[0].gain)
        return run_in_steps(cell, normed(cell->x, cell->D, x), start, spans, is_reversed);
    return hd_recurrence(
        x, cell->U, cell->c, start,
        &(hd_recurrence_options){.cell = cell->kind, .spans = spans, .is_reversed = is_reversed});
}
