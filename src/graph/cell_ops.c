/* cell_ops.c -- one step of a recurrent cell for some rows.
 *
 * The products W x + b and U s' are made beforehand, with the gates side by side; what is left is arithmetic on each row by
 * itself, one call of a kernel per row, which also keeps the gates for the way back. Beside each fused op stand the equations
 * that it computes; tests/graph/test_fused.c compares the two. */
#include "graph/tape.h"

#include <string.h>

/* x and u alike [B,k·D], state [B,D]? */
static bool shapes_fit(hd_tape *t, const char *op, int k, const hd_node *x, const hd_node *u,
                       const char *name, const hd_node *state)
{
    if (x->n_dims == 2 && hd_same_shape(x, u) && x->dim[1] % k == 0 &&
        (!state ||
         (state->n_dims == 2 && state->dim[0] == x->dim[0] && state->dim[1] == x->dim[1] / k)))
        return true;
    if (!state)
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: x %s and u %s must both be [B,D]", op, hd_text(x).s,
                     hd_text(u).s);
    else
        hd_tape_fail(t, HEED_BAD_SHAPE,
                     "%s: x %s and u %s must both be [B,%d·D] when %s %s is [B,D]", op,
                     hd_text(x).s, hd_text(u).s, k, name, hd_text(state).s);
    return false;
}

/* The share of gate `i` in x or u [B,k·D]. */
static hd_node *gate(hd_node *x, int i, int D)
{
    return hd_part(x, i * D, D);
}

/* ---- rnn ------------------------------------------------------------------------------------- */

/* Elman (1990) */
hd_node *hd_rnn_equations(hd_node *x, hd_node *u)
{
    return hd_tanh(hd_add(x, u)); /* s = tanh(W x + b + U s')       [B,D] */
}

static void rnn_cell_rows_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const int D = y->dim[1];
    float *dx = hd_gradient_of(t, y->in[0]), *du = hd_gradient_of(t, y->in[1]);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *dg = hd_tape_take(t, "hd_backward", (size_t)D, sizeof *dg);
    for (long b = 0; dg && b < y->dim[0]; b++) {
        t->k->rnn_cell_back(dg, y->g + b * D, y->x + b * D, D);
        if (dx)
            t->k->add(dx + b * D, dx + b * D, dg, D);
        if (du)
            t->k->add(du + b * D, du + b * D, dg, D);
    }
    hd_arena_rewind(&t->arena, mark);
}

hd_node *hd_rnn_cell(hd_node *x, hd_node *u)
{
    hd_tape *t = hd_home2("hd_rnn_cell", x, u);
    if (hd_has_failed(t) || !shapes_fit(t, "hd_rnn_cell", 1, x, u, NULL, NULL))
        return &t->nil;
    hd_node *s = hd_make_like(t, "hd_rnn_cell", x, rnn_cell_rows_back, x, u, NULL, 0);
    if (!s)
        return &t->nil;
    const int D = x->dim[1];
    for (long b = 0; b < x->dim[0]; b++)
        t->k->rnn_cell(s->x + b * D, x->x + b * D, u->x + b * D, D);
    return s;
}

/* ---- gru ------------------------------------------------------------------------------------- */

/* Cho et al. (2014), with the reset after the product, as cuDNN and PyTorch have it. */
hd_node *hd_gru_equations(hd_node *x, hd_node *u, hd_node *s)
{
    const int D = hd_width(s);
    hd_node *x_r = gate(x, 0, D), *x_z = gate(x, 1, D), *x_n = gate(x, 2, D);
    hd_node *u_r = gate(u, 0, D), *u_z = gate(u, 1, D), *u_n = gate(u, 2, D);
    hd_node *r = hd_sigmoid(hd_add(x_r, u_r)); /* r = σ(W_r x + b_r + U_r s')               */
    hd_node *z = hd_sigmoid(hd_add(x_z, u_z)); /* z = σ(W_z x + b_z + U_z s')               */
    hd_node *n =
        hd_tanh(hd_add(x_n, hd_mul(r, u_n))); /* n = tanh(W_n x + b_n + r∘(U_n s' + c_n))  */
    return hd_blend(z, n, s);                 /* s = (1-z)∘n + z∘s'                  [B,D] */
}

/* y->extra: the gates r, z, n of each row, [B,3D]. */
static void gru_cell_rows_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *u = y->in[1], *prev = y->in[2];
    const int D = y->dim[1];
    const float *gates = *(float **)y->extra;
    float *dx = hd_gradient_of(t, y->in[0]), *du = hd_gradient_of(t, y->in[1]),
          *dprev = hd_gradient_of(t, y->in[2]);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *row = hd_tape_take(t, "hd_backward", 7 * (size_t)D, sizeof *row);
    if (!row)
        return;
    float *dx_row = row, *du_row = row + 3 * (long)D, *unwanted = row + 6 * (long)D;
    memset(unwanted, 0, (size_t)D * sizeof *unwanted);
    for (long b = 0; b < y->dim[0]; b++) {
        t->k->gru_cell_back(dx_row, du_row, dprev ? dprev + b * D : unwanted, y->g + b * D,
                            gates + b * 3 * D, u->x + b * 3 * D, prev->x + b * D, D);
        if (dx)
            t->k->add(dx + b * 3 * D, dx + b * 3 * D, dx_row, 3 * (long)D);
        if (du)
            t->k->add(du + b * 3 * D, du + b * 3 * D, du_row, 3 * (long)D);
    }
    hd_arena_rewind(&t->arena, mark);
}

/* Room for the gates of all rows when they will be needed again, of one row otherwise. */
static float *take_gates(hd_node *y, const char *op, int per_row)
{
    const size_t rows = y->wants_gradient ? (size_t)y->dim[0] : 1;
    return *(float **)y->extra = hd_tape_take(y->tape, op, rows * (size_t)per_row, sizeof(float));
}

hd_node *hd_gru_cell(hd_node *x, hd_node *u, hd_node *s)
{
    hd_tape *t = hd_home3("hd_gru_cell", x, u, s);
    if (hd_has_failed(t) || !shapes_fit(t, "hd_gru_cell", 3, x, u, "s", s))
        return &t->nil;
    const int D = s->dim[1];
    hd_node *y = hd_make_like(t, "hd_gru_cell", s, gru_cell_rows_back, x, u, s, sizeof(float *));
    float *gates = y ? take_gates(y, "hd_gru_cell", 3 * D) : NULL;
    if (!gates)
        return &t->nil;
    for (long b = 0; b < s->dim[0]; b++) {
        t->k->gru_cell(y->x + b * D, gates, x->x + b * 3 * D, u->x + b * 3 * D, s->x + b * D, D);
        gates += y->wants_gradient ? 3 * D : 0;
    }
    return y;
}

/* ---- lstm ------------------------------------------------------------------------------------ */

/* Hochreiter & Schmidhuber (1997), with forget gates (Gers et al. 2000). */
hd_node *hd_lstm_equations(hd_node *x, hd_node *u, hd_node *before)
{
    const int D = hd_width(before);
    hd_node *sum = hd_add(x, u);
    hd_node *i = hd_sigmoid(gate(sum, 0, D)); /* i = σ(W_i x + b_i + U_i s')               */
    hd_node *f = hd_sigmoid(gate(sum, 1, D)); /* f = σ(W_f x + b_f + U_f s')               */
    hd_node *g = hd_tanh(gate(sum, 2, D));    /* g = tanh(W_g x + b_g + U_g s')            */
    hd_node *o = hd_sigmoid(gate(sum, 3, D)); /* o = σ(W_o x + b_o + U_o s')               */
    hd_node *kept = hd_mul(f, before), *added = hd_mul(i, g);
    hd_node *c = hd_add(kept, added);   /* c = f∘c' + i∘g                      [B,D] */
    hd_node *s = hd_mul(o, hd_tanh(c)); /* s = o∘tanh(c)                       [B,D] */
    return hd_concat(s, c);
}

/* y->extra: the gates i, f, g, o of each row, [B,4D]. */
static void lstm_cell_rows_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *prev = y->in[2];
    const int D = prev->dim[1];
    const float *gates = *(float **)y->extra;
    float *dx = hd_gradient_of(t, y->in[0]), *du = hd_gradient_of(t, y->in[1]),
          *dprev = hd_gradient_of(t, y->in[2]);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *row = hd_tape_take(t, "hd_backward", 5 * (size_t)D, sizeof *row);
    if (!row)
        return;
    float *dg = row, *dc = row + 4 * (long)D;
    for (long b = 0; b < y->dim[0]; b++) {
        const float *ds = y->g + b * 2 * D, *c = y->x + b * 2 * D + D;
        t->k->lstm_cell_back(dg, dc, ds, ds + D, gates + b * 4 * D, c, prev->x + b * D, D);
        if (dx)
            t->k->add(dx + b * 4 * D, dx + b * 4 * D, dg, 4 * (long)D);
        if (du)
            t->k->add(du + b * 4 * D, du + b * 4 * D, dg, 4 * (long)D);
        if (dprev)
            t->k->add(dprev + b * D, dprev + b * D, dc, D);
    }
    hd_arena_rewind(&t->arena, mark);
}

hd_node *hd_lstm_cell(hd_node *x, hd_node *u, hd_node *c)
{
    hd_tape *t = hd_home3("hd_lstm_cell", x, u, c);
    if (hd_has_failed(t) || !shapes_fit(t, "hd_lstm_cell", 4, x, u, "c", c))
        return &t->nil;
    const int D = c->dim[1];
    hd_node *y = hd_make(t, "hd_lstm_cell", hd_shape2(c->dim[0], 2 * D), lstm_cell_rows_back, x, u,
                         c, sizeof(float *));
    float *gates = y ? take_gates(y, "hd_lstm_cell", 4 * D) : NULL;
    if (!gates)
        return &t->nil;
    for (long b = 0; b < c->dim[0]; b++) {
        t->k->lstm_cell(y->x + b * 2 * D, y->x + b * 2 * D + D, gates, x->x + b * 4 * D,
                        u->x + b * 4 * D, c->x + b * D, D);
        gates += y->wants_gradient ? 4 * D : 0;
    }
    return y;
}
