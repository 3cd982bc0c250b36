/* score_ops.c -- one query per sentence against its keys.
 *
 * A block [B,S,A] and ragged rows are the same thing: sentence b has its keys in consecutive rows. So each op is written once,
 * over a struct hd_key_rows. q·k_j is a sum over 16 lanes, sentence by sentence: neighbours in the batch change nothing. */
#include "graph/ragged.h"

#include <string.h>

/* ---- vᵀ x ------------------------------------------------------------------------------------ */

static void dot_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *v = y->in[0], *x = y->in[1];
    const int n = v->dim[0];
    float *dv = hd_gradient_of(t, y->in[0]), *dx = hd_gradient_of(t, y->in[1]);
    for (size_t r = 0; r < y->count; r++) {
        if (dv)
            t->k->add_scaled(dv, y->g[r], x->x + r * (size_t)n, n);
        if (dx)
            t->k->add_scaled(dx + r * (size_t)n, y->g[r], v->x, n);
    }
}

hd_node *hd_dot(hd_node *v, hd_node *x)
{
    hd_tape *t = hd_home2("hd_dot", v, x);
    if (hd_has_failed(t))
        return &t->nil;
    if (v->n_dims != 1 || v->dim[0] != hd_last_dim(x))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_dot: v %s does not take x %s", hd_text(v).s,
                            hd_text(x).s);
    const int n = v->dim[0], rows = hd_n_rows(x);
    struct hd_shape shape = hd_shape_width(x, 1);
    shape.n_dims -= x->n_dims > 1;
    hd_node *y = hd_make(t, "hd_dot", shape, dot_back, v, x, NULL, 0);
    if (!y)
        return &t->nil;
    t->k->dots(y->x, rows, v->x, n, x->x, n, 1, false, 1, rows, n);
    return y;
}

/* ---- q·k_j ----------------------------------------------------------------------------------- */

static void dot_each_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct hd_key_rows *keys = y->extra;
    const hd_node *q = y->in[0], *k = y->in[1];
    const int A = hd_last_dim(q);
    float *dq = hd_gradient_of(t, y->in[0]), *dk = hd_gradient_of(t, y->in[1]);
    for (int b = 0; b < keys->n; b++) {
        const float *de = y->g + (long)b * keys->S;
        const long at = hd_key_start(keys, b) * A;
        for (int j = 0; j < hd_key_length(keys, b); j++) {
            if (dq)
                t->k->add_scaled(dq + (long)b * A, de[j], k->x + at + (long)j * A, A);
            if (dk)
                t->k->add_scaled(dk + at + (long)j * A, de[j], q->x + (long)b * A, A);
        }
    }
}

hd_node *hd_dot_each(hd_node *q, hd_node *k)
{
    const char *op = "hd_dot_each";
    hd_tape *t = hd_home2(op, q, k);
    struct hd_key_rows keys;
    if (hd_has_failed(t) || !hd_find_keys(t, op, "k", k, &keys))
        return &t->nil;
    if (q->n_dims != 2 || q->dim[0] != keys.n || q->dim[1] != hd_last_dim(k))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: q %s does not fit k %s, it must be [%d,%d]", op,
                            hd_text(q).s, hd_text(k).s, keys.n, hd_last_dim(k));
    hd_node *e =
        hd_make(t, op, hd_shape2(keys.n, keys.S), dot_each_back, q, keys.rows, NULL, sizeof keys);
    if (!e)
        return &t->nil;
    *(struct hd_key_rows *)e->extra = keys;
    if (keys.spans)
        memset(e->x, 0, e->count * sizeof *e->x);
    const int A = q->dim[1];
    for (int b = 0; b < keys.n; b++)
        t->k->dots(e->x + (long)b * keys.S, keys.S, q->x + (long)b * A, A,
                   k->x + hd_key_start(&keys, b) * A, A, 1, false, 1, hd_key_length(&keys, b), A);
    return e;
}

/* ---- vᵀ tanh(q + k_j + w·cover_j) ------------------------------------------------------------ */

struct additive {
    struct hd_key_rows keys;
    hd_node *cover, *w; /* both or neither */
};

/* What one call of the kernel adds to: all gradients, or a choice of them. */
static void add_additive_back(hd_node *y, float *dv, float *dq, float *dk, float *dcover, float *dw)
{
    const struct additive *s = y->extra;
    const hd_node *v = y->in[0], *q = y->in[1], *k = y->in[2];
    const int A = v->dim[0], S = s->keys.S;
    for (int b = 0; b < s->keys.n; b++) {
        const long at = hd_key_start(&s->keys, b) * A, e_at = (long)b * S;
        y->tape->k->additive_back(dv, dq ? dq + (long)b * A : NULL, dk ? dk + at : NULL, A,
                                  dcover ? dcover + e_at : NULL, dw, y->g + e_at, v->x,
                                  q->x + (long)b * A, k->x + at, A,
                                  s->cover ? s->cover->x + e_at : NULL, s->w ? s->w->x : NULL,
                                  hd_key_length(&s->keys, b), A);
    }
}

static void additive_scores_back(hd_node *y)
{
    const struct additive *s = y->extra;
    hd_node *all[5] = {y->in[0], y->in[1], y->in[2], s->cover, s->w};
    float *d[5];
    /* One node in two places has one gradient for both, so each place gets a call of its own. */
    bool is_shared = false;
    for (int i = 0; i < 5; i++) {
        d[i] = all[i] ? hd_gradient_of(y->tape, all[i]) : NULL;
        for (int j = 0; j < i; j++)
            is_shared |= d[i] && d[i] == d[j];
    }
    if (!is_shared)
        add_additive_back(y, d[0], d[1], d[2], d[3], d[4]);
    for (int i = 0; is_shared && i < 5; i++)
        if (d[i])
            add_additive_back(y, i == 0 ? d[0] : NULL, i == 1 ? d[1] : NULL, i == 2 ? d[2] : NULL,
                              i == 3 ? d[3] : NULL, i == 4 ? d[4] : NULL);
}

static hd_node *additive(const char *op, hd_node *v, hd_node *q, hd_node *k, hd_node *w,
                         hd_node *cover)
{
    hd_tape *t =
        cover ? hd_home_of(op, (hd_node *[]){v, q, k, cover, w}, 5) : hd_home3(op, v, q, k);
    struct hd_key_rows keys;
    if (hd_has_failed(t) || !hd_find_keys(t, op, "k", k, &keys))
        return &t->nil;
    const int A = hd_last_dim(k);
    if (v->n_dims != 1 || v->dim[0] != A)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: v %s does not fit k %s, it must be [%d]", op,
                            hd_text(v).s, hd_text(k).s, A);
    if (q->n_dims != 2 || q->dim[0] != keys.n || q->dim[1] != A)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: q %s does not fit k %s, it must be [%d,%d]", op,
                            hd_text(q).s, hd_text(k).s, keys.n, A);
    if (cover && (cover->n_dims != 2 || cover->dim[0] != keys.n || cover->dim[1] != keys.S))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: cover %s must be [%d,%d]", op, hd_text(cover).s,
                            keys.n, keys.S);
    if (w && (w->n_dims != 1 || w->dim[0] != A))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: w %s does not fit k %s, it must be [%d]", op,
                            hd_text(w).s, hd_text(k).s, A);
    hd_node *e = hd_make_of(t, op, hd_shape2(keys.n, keys.S), additive_scores_back,
                            (hd_node *[]){v, q, keys.rows, cover, w}, 5, sizeof(struct additive));
    if (!e)
        return &t->nil;
    *(struct additive *)e->extra = (struct additive){keys, cover, w};
    if (keys.spans)
        memset(e->x, 0, e->count * sizeof *e->x);
    for (int b = 0; b < keys.n; b++)
        t->k->additive(e->x + (long)b * keys.S, v->x, q->x + (long)b * A,
                       k->x + hd_key_start(&keys, b) * A, A,
                       cover ? cover->x + (long)b * keys.S : NULL, w ? w->x : NULL,
                       hd_key_length(&keys, b), A);
    return e;
}

hd_node *hd_additive(hd_node *v, hd_node *q, hd_node *k)
{
    return additive("hd_additive", v, q, k, NULL, NULL);
}

hd_node *hd_additive_covered(hd_node *v, hd_node *q, hd_node *k, hd_node *w, hd_node *cover)
{
    return additive("hd_additive_covered", v, q, k, w, cover);
}
