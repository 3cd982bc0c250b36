/* location.c -- attention that knows where it was: the weights before as windows, and scores that read something of every position.
 *
 * Chorowski et al. (2015), equations 8 and 9: f = F * α_{t-1} is the product of F with a window of α around every position. */
#include "graph/ragged.h"

#include <string.h>

/* ---- windows ----------------------------------------------------------------------------------- */

struct windows {
    const hd_spans *spans;
};

/* Of a window around position j: the part [*from, *to) that lies in a sentence of n positions. */
static void part_inside(int j, int width, int n, int *from, int *to)
{
    const int first = j - width / 2, left = n - first;
    *from = first < 0 ? -first : 0;
    *to = left < width ? left : width;
}

static void windows_back(hd_node *y)
{
    const hd_spans *spans = ((const struct windows *)y->extra)->spans;
    const int width = hd_last_dim(y), S = hd_last_dim(y->in[0]);
    float *d = hd_gradient_of(y->tape, y->in[0]);
    const float *g = y->g;
    for (int b = 0; d && b < spans->n; b++)
        for (int j = 0; j < spans->length[b]; j++, g += width) {
            int from, to;
            part_inside(j, width, spans->length[b], &from, &to);
            float *at = d + (long)b * S + j - width / 2;
            for (int i = from; i < to; i++)
                at[i] += g[i];
        }
}

hd_node *hd_windows(hd_node *x, const hd_spans *spans, int width)
{
    const char *op = "hd_windows";
    hd_tape *t = hd_home1(op, x);
    if (hd_has_failed(t))
        return &t->nil;
    if (x->n_dims != 2 || x->dim[0] != spans->n || x->dim[1] < spans->longest)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: x %s must be [%d,%d]", op, hd_text(x).s,
                            spans->n, spans->longest);
    if (width < 1 || width % 2 == 0)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the width is %d, it must be odd", op, width);
    long rows = 0;
    for (int b = 0; b < spans->n; b++)
        rows += spans->length[b];
    if (rows > INT_MAX)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: %ld windows are too many", op, rows);
    hd_node *y = hd_make(t, op, hd_shape2((int)rows, width), windows_back, x, NULL, NULL,
                         sizeof(struct windows));
    if (!y)
        return &t->nil;
    *(struct windows *)y->extra = (struct windows){spans};
    memset(y->x, 0, y->count * sizeof *y->x);
    float *to = y->x;
    for (int b = 0; b < spans->n; b++)
        for (int j = 0; j < spans->length[b]; j++, to += width) {
            int first, end;
            part_inside(j, width, spans->length[b], &first, &end);
            const float *at = x->x + (long)b * x->dim[1] + j - width / 2;
            for (int i = first; i < end; i++)
                to[i] = at[i];
        }
    return y;
}

/* ---- vᵀ tanh(q + k_j + x_j) ---------------------------------------------------------------------- */

struct located {
    struct hd_key_rows keys;
    hd_node *x;
};

static int most_keys(const struct hd_key_rows *keys)
{
    int most = 0;
    for (int b = 0; b < keys->n; b++)
        most = hd_key_length(keys, b) > most ? hd_key_length(keys, b) : most;
    return most;
}

static void located_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct located *s = y->extra;
    const hd_node *v = y->in[0], *q = y->in[1], *k = y->in[2], *x = s->x;
    const int A = v->dim[0];
    float *dv = hd_gradient_of(t, y->in[0]), *dq = hd_gradient_of(t, y->in[1]),
          *dk = hd_gradient_of(t, y->in[2]), *dx = hd_gradient_of(t, s->x);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    const size_t room = (size_t)most_keys(&s->keys) * (size_t)A;
    float *sum = hd_tape_take(t, "hd_backward", 2 * room, sizeof *sum), *d = sum ? sum + room : sum;
    long row = 0;
    for (int b = 0; sum && b < s->keys.n; b++) {
        const int n = hd_key_length(&s->keys, b);
        const long at = hd_key_start(&s->keys, b) * A, x_at = row * A, size = (long)n * A;
        t->k->add(sum, k->x + at, x->x + x_at, size);
        memset(d, 0, (size_t)size * sizeof *d);
        t->k->additive_back(dv, dq ? dq + (long)b * A : NULL, d, A, NULL, NULL,
                            y->g + (long)b * s->keys.S, v->x, q->x + (long)b * A, sum, A, NULL,
                            NULL, n, A);
        if (dk)
            t->k->add(dk + at, dk + at, d, size);
        if (dx)
            t->k->add(dx + x_at, dx + x_at, d, size);
        row += n;
    }
    hd_arena_rewind(&t->arena, mark);
}

hd_node *hd_additive_located(hd_node *v, hd_node *q, hd_node *k, hd_node *x)
{
    const char *op = "hd_additive_located";
    hd_tape *t = hd_home_of(op, (hd_node *[]){v, q, k, x}, 4);
    struct hd_key_rows keys;
    if (hd_has_failed(t) || !hd_find_keys(t, op, "k", k, &keys))
        return &t->nil;
    const int A = hd_last_dim(k);
    long rows = 0;
    for (int b = 0; b < keys.n; b++)
        rows += hd_key_length(&keys, b);
    if (v->n_dims != 1 || v->dim[0] != A)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: v %s does not fit k %s, it must be [%d]", op,
                            hd_text(v).s, hd_text(k).s, A);
    if (q->n_dims != 2 || q->dim[0] != keys.n || q->dim[1] != A)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: q %s does not fit k %s, it must be [%d,%d]", op,
                            hd_text(q).s, hd_text(k).s, keys.n, A);
    if (x->n_dims != 2 || x->dim[0] != rows || x->dim[1] != A)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: x %s must be [%ld,%d]", op, hd_text(x).s, rows,
                            A);
    hd_node *e = hd_make_of(t, op, hd_shape2(keys.n, keys.S), located_back,
                            (hd_node *[]){v, q, keys.rows, x}, 4, sizeof(struct located));
    if (!e)
        return &t->nil;
    *(struct located *)e->extra = (struct located){keys, x};
    memset(e->x, 0, e->count * sizeof *e->x);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *sum = hd_tape_take(t, op, (size_t)most_keys(&keys) * (size_t)A, sizeof *sum);
    const float *x_at = x->x;
    for (int b = 0; sum && b < keys.n; b++) {
        const int n = hd_key_length(&keys, b);
        t->k->add(sum, k->x + hd_key_start(&keys, b) * A, x_at, (long)n * A);
        t->k->additive(e->x + (long)b * keys.S, v->x, q->x + (long)b * A, sum, A, NULL, NULL, n, A);
        x_at += (long)n * A;
    }
    hd_arena_rewind(&t->arena, mark);
    return hd_has_failed(t) ? &t->nil : e;
}
