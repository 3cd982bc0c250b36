/* scan.c -- a recurrence without a product: a running mean whose weights are gates.
 *
 * c_t = f_t∘c_{t-1} + (1-f_t)∘u_t with f = σ(z), of Kim et al. (2019), "From research to production and back: ludicrously fast neural
 * machine translation", where f does not see c: so both products are made for all steps beforehand, and what is left is
 * arithmetic on rows, sentence by sentence. Going back, the same from each sentence's last row to its first.
 *
 * Invariant: a row's numbers are those of hd_blend(hd_sigmoid(z), u, c'), whether its sentence is run at once or row by row. */
#include "graph/spans.h"

#include <string.h>

struct scan {
    const hd_spans *spans;
    float *f; /* the gates of all rows, [rows,D]; of one row where no gradient will be asked for */
};

/* What stands before row i of sentence b; zeros are NULL. */
static const float *state_before(const hd_node *y, const hd_node *start, int b, int row, int i)
{
    const size_t D = (size_t)hd_last_dim(y);
    if (i > 0)
        return y->x + (size_t)(row - 1) * D;
    return start ? start->x + (size_t)b * D : NULL;
}

static void scan_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct scan *s = y->extra;
    const hd_node *u = y->in[1], *start = y->in[2];
    const size_t D = (size_t)hd_last_dim(y);
    float *dz = hd_gradient_of(t, y->in[0]), *du = hd_gradient_of(t, y->in[1]),
          *dstart = start ? hd_gradient_of(t, y->in[2]) : NULL;
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *dc = hd_tape_take(t, "hd_backward", 3 * D, sizeof *dc);
    if (!dc)
        return;
    float *carry = dc + D, *part = dc + 2 * D;
    for (int b = 0; b < s->spans->n; b++) {
        memset(carry, 0, D * sizeof *carry);
        for (int i = s->spans->length[b] - 1; i >= 0; i--) {
            const int row = s->spans->start[b] + i;
            const size_t at = (size_t)row * D;
            const float *prev = state_before(y, start, b, row, i), *f = s->f + at;
            t->k->add(dc, y->g + at, carry, (long)D);
            if (dz) { /* (c' - u) f (1-f) */
                if (prev)
                    t->k->sub(part, prev, u->x + at, (long)D);
                else
                    t->k->scale(part, -1, u->x + at, (long)D);
                t->k->mul(part, part, dc, (long)D);
                t->k->sigmoid_back(dz + at, part, f, true, (long)D);
            }
            t->k->mul(carry, dc, f, (long)D); /* what flows to c'; the rest flows to u */
            if (du) {
                t->k->sub(part, dc, carry, (long)D);
                t->k->add(du + at, du + at, part, (long)D);
            }
        }
        if (dstart)
            t->k->add(dstart + (size_t)b * D, dstart + (size_t)b * D, carry, (long)D);
    }
    hd_arena_rewind(&t->arena, mark);
}

static bool check_scan(hd_tape *t, const hd_node *z, const hd_node *u, const hd_node *start,
                       const hd_spans *spans)
{
    const char *op = "hd_gated_scan";
    if (!hd_same_shape(z, u))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: z %s and u %s are not of one shape", op, hd_text(z).s,
                     hd_text(u).s);
    else if (start &&
             (start->n_dims != 2 || start->dim[0] != spans->n || start->dim[1] != hd_last_dim(z)))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: start %s should be [%d,%d], a state for each sentence",
                     op, hd_text(start).s, spans->n, hd_last_dim(z));
    else if (spans->rows > hd_n_rows(z))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the sentences end at row %d, but z is %s", op,
                     spans->rows, hd_text(z).s);
    else if (hd_spans_share(t, op, spans))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: two sentences share a row of z %s", op, hd_text(z).s);
    return !hd_has_failed(t);
}

/* One row: c = u + f∘(c' - u), f = σ(z). */
static void scan_row(const struct hd_kernels *k, float *c, float *f, float *part, const float *z,
                     const float *u, const float *prev, long D)
{
    k->sigmoid(f, z, D);
    if (prev)
        k->sub(part, prev, u, D);
    else
        k->scale(part, -1, u, D);
    memcpy(c, u, (size_t)D * sizeof *c);
    k->add_product(c, f, part, D);
}

hd_node *hd_gated_scan(hd_node *z, hd_node *u, hd_node *start, const hd_spans *spans)
{
    const char *op = "hd_gated_scan";
    hd_tape *t = hd_home3(op, z, u, start ? start : z);
    if (hd_has_failed(t) || !check_scan(t, z, u, start, spans))
        return &t->nil;
    hd_node *y = hd_make_like(t, op, z, scan_back, z, u, start, sizeof(struct scan));
    if (!y)
        return &t->nil;
    struct scan *s = y->extra;
    const size_t D = (size_t)hd_last_dim(z);
    const bool is_kept = y->wants_gradient;
    *s = (struct scan){.spans = spans,
                       .f = hd_tape_take(t, op, is_kept ? z->count : D, sizeof *s->f)};
    float *part = hd_tape_take(t, op, D, sizeof *part);
    if (!s->f || !part)
        return &t->nil;
    if (spans->total < hd_n_rows(z)) /* rows that belong to no sentence */
        memset(y->x, 0, y->count * sizeof *y->x);
    for (int b = 0; b < spans->n; b++)
        for (int i = 0; i < spans->length[b]; i++) {
            const int row = spans->start[b] + i;
            const size_t at = (size_t)row * D;
            scan_row(t->k, y->x + at, is_kept ? s->f + at : s->f, part, z->x + at, u->x + at,
                     state_before(y, start, b, row, i), (long)D);
        }
    return y;
}
