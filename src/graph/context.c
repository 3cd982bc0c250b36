/* context.c -- weighted sums Σ_j α_j h_j: at once (hd_mix), or when they are asked for.
 *
 * The sum is a chain over j, sentence by sentence: neighbours in the batch change nothing. */
#include "graph/context.h"

#include "graph/ragged.h"

#include <string.h>

/* ---- Σ_j α_j h_j ----------------------------------------------------------------------------- */

/* The chain of a product with one row. */
static void mix(hd_tape *t, float *c, const float *alpha, const struct hd_key_rows *keys)
{
    const int E = hd_last_dim(keys->rows);
    memset(c, 0, (size_t)keys->n * (size_t)E * sizeof *c);
    for (int b = 0; b < keys->n; b++)
        for (int j = 0; j < hd_key_length(keys, b); j++)
            t->k->add_scaled(c + (long)b * E, alpha[(long)b * keys->S + j],
                             keys->rows->x + (hd_key_start(keys, b) + j) * E, E);
}

static void add_mix_back(hd_node *y, hd_node *alpha, const struct hd_key_rows *keys)
{
    hd_tape *t = y->tape;
    const int E = hd_last_dim(keys->rows);
    float *dalpha = hd_gradient_of(t, alpha), *dh = hd_gradient_of(t, keys->rows);
    for (int b = 0; b < keys->n; b++) {
        const float *dc = y->g + (long)b * E, *a = alpha->x + (long)b * keys->S;
        const long at = hd_key_start(keys, b) * E;
        const int S = hd_key_length(keys, b);
        if (dalpha)
            t->k->dots(dalpha + (long)b * keys->S, keys->S, dc, E, keys->rows->x + at, E, 1, true,
                       1, S, E);
        for (int j = 0; dh && j < S; j++)
            t->k->add_scaled(dh + at + (long)j * E, a[j], dc, E);
    }
}

static void mix_back(hd_node *y)
{
    add_mix_back(y, y->in[0], y->extra);
}

static bool alpha_fits(hd_tape *t, const char *op, const hd_node *alpha,
                       const struct hd_key_rows *keys)
{
    if (alpha->n_dims == 2 && alpha->dim[0] == keys->n && alpha->dim[1] == keys->S)
        return true;
    hd_tape_fail(t, HEED_BAD_SHAPE, "%s: alpha %s does not fit h %s, it must be [%d,%d]", op,
                 hd_text(alpha).s, hd_text(keys->rows).s, keys->n, keys->S);
    return false;
}

static hd_node *mixed(hd_tape *t, const char *op, hd_node *alpha, const struct hd_key_rows *keys)
{
    if (!alpha_fits(t, op, alpha, keys))
        return &t->nil;
    hd_node *c = hd_make(t, op, hd_shape2(keys->n, hd_last_dim(keys->rows)), mix_back, alpha,
                         keys->rows, NULL, sizeof *keys);
    if (!c)
        return &t->nil;
    *(struct hd_key_rows *)c->extra = *keys;
    mix(t, c->x, alpha->x, keys);
    return c;
}

hd_node *hd_mix(hd_node *alpha, hd_node *h)
{
    hd_tape *t = hd_home2("hd_mix", alpha, h);
    struct hd_key_rows keys;
    return hd_has_failed(t) || !hd_find_keys(t, "hd_mix", "h", h, &keys)
               ? &t->nil
               : mixed(t, "hd_mix", alpha, &keys);
}

/* ---- contexts -------------------------------------------------------------------------------- */

struct context {
    const struct hd_values *values;
    hd_node *h;
    hd_node *alpha; /* a mixture, with */
    const hd_spans *spans;
    const int *index; /* or rows */
};

void hd_values_map(struct hd_values *values, hd_node *W)
{
    values->W[values->n_maps] = W;
    values->Wh[values->n_maps++] = hd_lin(W, values->h);
}

static struct hd_key_rows rows_of(const struct context *c, hd_node *h)
{
    return (struct hd_key_rows){h, c->spans, c->spans->n, c->spans->longest};
}

static void context_back(hd_node *y)
{
    const struct context *c = y->extra;
    if (c->alpha) {
        const struct hd_key_rows keys = rows_of(c, c->h);
        add_mix_back(y, c->alpha, &keys);
        return;
    }
    float *dh = hd_gradient_of(y->tape, c->h);
    if (dh)
        y->tape->k->scatter_add_rows(dh, y->g, c->index, y->dim[0], y->dim[1]);
}

static hd_node *make_context(hd_tape *t, int n, struct context from)
{
    static float nothing_yet;
    const struct hd_values *v = from.values;
    const int width = v->h ? hd_last_dim(v->h) : v->n_maps > 0 ? v->W[0]->dim[0] : 0;
    hd_node *c = hd_make_view(t, "hd_context", hd_shape2(n, width), &nothing_yet, context_back,
                              v->h, from.alpha, sizeof from);
    if (!c)
        return &t->nil;
    c->x = NULL;
    c->form = HD_FORM_CONTEXT;
    from.h = v->h;
    *(struct context *)c->extra = from;
    return c;
}

hd_node *hd_context(hd_node *alpha, const struct hd_values *values, const hd_spans *spans)
{
    hd_tape *t = hd_home1("hd_context", alpha);
    if (hd_has_failed(t))
        return &t->nil;
    return make_context(t, spans->n,
                        (struct context){.values = values, .alpha = alpha, .spans = spans});
}

hd_node *hd_context_row(hd_tape *tape, const struct hd_values *values, const int *index, int n)
{
    if (hd_has_failed(tape))
        return &tape->nil;
    return make_context(tape, n, (struct context){.values = values, .index = index});
}

hd_node *hd_context_lin(hd_node *W, const hd_node *c)
{
    const struct context *from = c->extra;
    int i = 0;
    while (i < from->values->n_maps && from->values->W[i] != W)
        i++;
    if (i == from->values->n_maps)
        return NULL;
    hd_node *Wh = from->values->Wh[i];
    if (!from->alpha)
        return hd_rows(Wh, from->index, c->dim[0]);
    hd_tape *t = hd_home2("hd_lin", from->alpha, Wh);
    const struct hd_key_rows keys = rows_of(from, Wh);
    return hd_has_failed(t) ? &t->nil : mixed(t, "hd_lin", from->alpha, &keys);
}

void hd_context_compute(hd_node *c)
{
    hd_tape *t = c->tape;
    const struct context *from = c->extra;
    if (!from->h) {
        hd_tape_fail(t, HEED_BAD_SHAPE, "hd_context: its values are not on this tape");
        return;
    }
    float *x = hd_tape_take(t, "hd_context", c->count, sizeof *x);
    if (x && from->alpha) {
        const struct hd_key_rows keys = rows_of(from, from->h);
        if (!alpha_fits(t, "hd_context", from->alpha, &keys))
            return;
        mix(t, x, from->alpha->x, &keys);
    } else if (x)
        t->k->gather_rows(x, from->h->x, from->index, c->dim[0], c->dim[1]);
    c->x = x;
}
