/* shape.c -- ops that move numbers and change none: side by side, one below the other, parts,
 * rows, other shapes.
 *
 * What can be had without copying is a view: its values stand in those of its operand. */
#include "graph/tape.h"

#include <string.h>

/* to[r] = from[r] for rows of n floats; back: to[r] += from[r]. */
static void move_rows(float *to, long ld_to, const float *from, long ld_from, int rows, int n)
{
    for (int r = 0; r < rows && n > 0; r++)
        memcpy(to + r * ld_to, from + r * ld_from, (size_t)n * sizeof *to);
}

static void add_rows_back(hd_tape *t, float *to, long ld_to, const float *from, long ld_from,
                          int rows, int n)
{
    for (int r = 0; to && r < rows; r++)
        t->k->add(to + r * ld_to, to + r * ld_to, from + r * ld_from, n);
}

/* ---- [a; b]: side by side in the last dimension ---------------------------------------------- */

/* What hd_join and hd_pile keep. */
struct parts {
    int n;
    hd_node *at[];
};

static void join_back(hd_node *y)
{
    const struct parts *parts = y->extra;
    const float *dy = y->g;
    for (int i = 0; i < parts->n; i++) {
        const int n = hd_last_dim(parts->at[i]);
        add_rows_back(y->tape, hd_gradient_of(y->tape, parts->at[i]), n, dy, hd_last_dim(y),
                      hd_n_rows(y), n);
        dy += n;
    }
}

/* A node that remembers its n parts; NULL when that cannot be. */
static hd_node *make_of_parts(hd_tape *t, const char *op, struct hd_shape shape,
                              void (*back)(hd_node *), hd_node *const *parts, int n)
{
    hd_node *y =
        hd_make_of(t, op, shape, back, parts, n, sizeof(struct parts) + (size_t)n * sizeof *parts);
    if (y) {
        struct parts *kept = y->extra;
        kept->n = n;
        memcpy(kept->at, parts, (size_t)n * sizeof *parts);
    }
    return y;
}

/* Are a and b of one shape but for dimension `but`? */
static bool same_but(const hd_node *a, const hd_node *b, int but)
{
    bool same = a->n_dims == b->n_dims;
    for (int i = 0; same && i < a->n_dims; i++)
        same = i == but || a->dim[i] == b->dim[i];
    return same;
}

/* The sizes of dimension `along` added up, or -1, noted on the tape, when the parts do not fit
 * together. */
static int total_along(hd_tape *t, const char *op, hd_node *const *parts, int n, int along)
{
    long total = 0;
    for (int i = 0; i < n; i++) {
        if (!same_but(parts[0], parts[i], along)) {
            hd_tape_fail(t, HEED_BAD_SHAPE, "%s: part 0 %s and part %d %s do not fit together", op,
                         hd_text(parts[0]).s, i, hd_text(parts[i]).s);
            return -1;
        }
        total += parts[i]->dim[along];
    }
    if (total <= INT_MAX)
        return (int)total;
    hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the parts together are too large", op);
    return -1;
}

static hd_node *join(const char *op, hd_node *const *parts, int n)
{
    hd_tape *t = hd_home_of(op, parts, n);
    if (hd_has_failed(t))
        return &t->nil;
    const int width = total_along(t, op, parts, n, parts[0]->n_dims - 1);
    hd_node *y = width < 0
                     ? NULL
                     : make_of_parts(t, op, hd_shape_width(parts[0], width), join_back, parts, n);
    if (!y)
        return &t->nil;
    float *to = y->x;
    for (int i = 0; i < n; to += hd_last_dim(parts[i]), i++)
        move_rows(to, width, parts[i]->x, hd_last_dim(parts[i]), hd_n_rows(y),
                  hd_last_dim(parts[i]));
    return y;
}

hd_node *hd_join(hd_node *const *parts, int n)
{
    return join("hd_join", parts, n);
}

hd_node *hd_concat(hd_node *a, hd_node *b)
{
    return join("hd_concat", (hd_node *[]){a, b}, 2);
}

/* ---- one below the other in the first dimension ---------------------------------------------- */

static void pile_back(hd_node *y)
{
    const struct parts *parts = y->extra;
    const float *dy = y->g;
    for (int i = 0; i < parts->n; i++) {
        float *dx = hd_gradient_of(y->tape, parts->at[i]);
        if (dx)
            y->tape->k->add(dx, dx, dy, (long)parts->at[i]->count);
        dy += parts->at[i]->count;
    }
}

hd_node *hd_pile(hd_node *const *parts, int n)
{
    hd_tape *t = hd_home_of("hd_pile", parts, n);
    if (hd_has_failed(t))
        return &t->nil;
    const int total = total_along(t, "hd_pile", parts, n, 0);
    struct hd_shape shape = hd_shape_of(parts[0]);
    shape.dim[0] = total;
    hd_node *y = total < 0 ? NULL : make_of_parts(t, "hd_pile", shape, pile_back, parts, n);
    if (!y)
        return &t->nil;
    float *to = y->x;
    for (int i = 0; i < n; to += parts[i]->count, i++)
        memcpy(to, parts[i]->x, parts[i]->count * sizeof *to);
    return y;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void part_back(hd_node *y)
{
    hd_node *x = y->in[0];
    const int from = *(const int *)y->extra;
    float *dx = hd_gradient_of(y->tape, x);
    if (dx)
        add_rows_back(y->tape, dx + from, hd_last_dim(x), y->g, hd_last_dim(y), hd_n_rows(y),
                      hd_last_dim(y));
}

hd_node *hd_part(hd_node *x, int from, int width)
{
    hd_tape *t = hd_home1("hd_part", x);
    if (hd_has_failed(t))
        return &t->nil;
    const int whole = hd_last_dim(x);
    if (from < 0 || width < 0 || from > whole - width)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_part: x %s has no columns %d to %ld",
                            hd_text(x).s, from, (long)from + width);
    hd_node *y =
        hd_make(t, "hd_part", hd_shape_width(x, width), part_back, x, NULL, NULL, sizeof from);
    if (!y)
        return &t->nil;
    *(int *)y->extra = from;
    move_rows(y->x, width, x->x + from, whole, hd_n_rows(x), width);
    return y;
}

static void slice_back(hd_node *y)
{
    const size_t from = *(const size_t *)y->extra;
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx)
        y->tape->k->add(dx + from, dx + from, y->g, (long)y->count);
}

hd_node *hd_slice(hd_node *x, int from, int n)
{
    hd_tape *t = hd_home1("hd_slice", x);
    if (hd_has_failed(t))
        return &t->nil;
    if (from < 0 || n < 0 || from > x->dim[0] - n)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_slice: the first dimension of x %s has no %d to %ld", hd_text(x).s,
                            from, (long)from + n);
    struct hd_shape shape = hd_shape_of(x);
    shape.dim[0] = n;
    const size_t start = x->dim[0] > 0 ? x->count / (size_t)x->dim[0] * (size_t)from : 0;
    hd_node *y =
        hd_make_view(t, "hd_slice", shape, x->x + start, slice_back, x, NULL, sizeof start);
    if (!y)
        return &t->nil;
    *(size_t *)y->extra = start;
    return y;
}

/* ---- other shapes ---------------------------------------------------------------------------- */

static void reshape_back(hd_node *y)
{
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx)
        y->tape->k->add(dx, dx, y->g, (long)y->count);
}

hd_node *hd_reshape_dims(hd_node *x, const int *dims, int n_dims)
{
    hd_tape *t = hd_home1("hd_reshape", x);
    if (hd_has_failed(t))
        return &t->nil;
    if (n_dims < 1 || n_dims > HD_MAX_DIMS)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_reshape: %d dimensions were asked for, a node has 1 to %d", n_dims,
                            HD_MAX_DIMS);
    struct hd_shape shape = {n_dims, {1, 1, 1, 1}};
    memcpy(shape.dim, dims, (size_t)n_dims * sizeof *dims);
    size_t count;
    if (!hd_count_of(t, "hd_reshape", shape, &count))
        return &t->nil;
    if (count != x->count)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_reshape: x %s holds %zu numbers, %s would hold %zu", hd_text(x).s,
                            x->count, hd_shape_to_text(shape).s, count);
    hd_node *y = hd_make_view(t, "hd_reshape", shape, x->x, reshape_back, x, NULL, 0);
    return y ? y : &t->nil;
}

/* y[m,n] (+)= xᵀ, x [n,m]; in squares, so that both are read and written in whole cache lines. */
static void transpose(float *y, const float *x, int n, int m, bool add)
{
    enum { SIDE = 16 };
    for (int i0 = 0; i0 < n; i0 += SIDE)
        for (int j0 = 0; j0 < m; j0 += SIDE)
            for (int j = j0; j < m && j < j0 + SIDE; j++)
                for (int i = i0; i < n && i < i0 + SIDE; i++) {
                    const float value = x[(long)i * m + j];
                    y[(long)j * n + i] = add ? y[(long)j * n + i] + value : value;
                }
}

static void transpose_back(hd_node *y)
{
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx)
        transpose(dx, y->g, y->dim[0], y->dim[1], true);
}

hd_node *hd_transpose(hd_node *x)
{
    hd_tape *t = hd_home1("hd_transpose", x);
    if (hd_has_failed(t))
        return &t->nil;
    if (x->n_dims != 2)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_transpose: x %s is not a matrix", hd_text(x).s);
    hd_node *y = hd_make(t, "hd_transpose", hd_shape2(x->dim[1], x->dim[0]), transpose_back, x,
                         NULL, NULL, 0);
    if (!y)
        return &t->nil;
    transpose(y->x, x->x, x->dim[0], x->dim[1], false);
    return y;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void rows_back(hd_node *y)
{
    const int *index = y->extra, n = hd_last_dim(y);
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    for (int r = 0; dx && r < y->dim[0]; r++)
        if (index[r] >= 0)
            add_rows_back(y->tape, dx + (long)index[r] * n, n, y->g + (long)r * n, n, 1, n);
}

/* One row of values. */
static void take_row(float *y, const hd_node *x, int row, int width)
{
    if (hd_is_for_products(x) || hd_multiplies_int8(x, HD_PARAM_TABLE))
        hd_param_read_output(x, row, y);
    else
        memcpy(y, x->x + (long)row * width, (size_t)width * sizeof *y);
}

hd_node *hd_rows(hd_node *x, const int *index, int n)
{
    const bool is_table = hd_is_for_products(x) && x->param->use == HD_PARAM_TABLE && x->tape;
    hd_tape *t = is_table ? x->tape : hd_home1("hd_rows", x);
    if (hd_has_failed(t))
        return &t->nil;
    const int rows = hd_n_rows(x), width = hd_last_dim(x);
    for (int i = 0; i < n; i++)
        if (index[i] < -1 || index[i] >= rows)
            return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_rows: index[%d] = %d, but x %s has %d rows",
                                i, index[i], hd_text(x).s, rows);
    const size_t bytes = n > 0 ? (size_t)n * sizeof *index : 0;
    hd_node *y = hd_make(t, "hd_rows", hd_shape2(n, width), rows_back, x, NULL, NULL, bytes);
    if (!y)
        return &t->nil;
    if (bytes > 0)
        memcpy(y->extra, index, bytes);
    for (int r = 0; r < n && width > 0; r++)
        if (index[r] >= 0)
            take_row(y->x + (long)r * width, x, index[r], width);
        else
            memset(y->x + (long)r * width, 0, (size_t)width * sizeof *y->x);
    return y;
}

/* ---- sentences in rows ----------------------------------------------------------------------- */

static void spread_back(hd_node *y)
{
    const hd_spans *spans = *(const hd_spans **)y->extra;
    const int n = hd_last_dim(y);
    const float *dy = y->g;
    float *dq = hd_gradient_of(y->tape, y->in[0]);
    for (int b = 0; dq && b < spans->n; dy += (long)spans->length[b] * n, b++)
        y->tape->k->sum_rows(dq + (long)b * n, dy, n, spans->length[b], n);
}

hd_node *hd_spread(hd_node *q, const hd_spans *spans)
{
    hd_tape *t = hd_home1("hd_spread", q);
    if (hd_has_failed(t))
        return &t->nil;
    if (q->n_dims != 2 || q->dim[0] != spans->n)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_spread: q %s does not have one row for each of %d sentences",
                            hd_text(q).s, spans->n);
    const int n = q->dim[1];
    hd_node *y = hd_make(t, "hd_spread", hd_shape2(spans->total, n), spread_back, q, NULL, NULL,
                         sizeof spans);
    if (!y)
        return &t->nil;
    *(const hd_spans **)y->extra = spans;
    float *to = y->x;
    for (int b = 0; b < spans->n; to += (long)spans->length[b] * n, b++)
        move_rows(to, n, q->x + (long)b * n, 0, spans->length[b], n);
    return y;
}

static void pad_back(hd_node *y)
{
    const hd_spans *spans = *(const hd_spans **)y->extra;
    float *de = hd_gradient_of(y->tape, y->in[0]);
    for (int b = 0; de && b < spans->n; b++)
        add_rows_back(y->tape, de + spans->start[b], 0, y->g + (long)b * spans->longest, 0, 1,
                      spans->length[b]);
}

hd_node *hd_pad(hd_node *e, const hd_spans *spans)
{
    hd_tape *t = hd_home1("hd_pad", e);
    if (hd_has_failed(t))
        return &t->nil;
    const bool is_column = e->n_dims == 1 || (e->n_dims == 2 && e->dim[1] == 1);
    if (!is_column || e->dim[0] < spans->rows)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_pad: e %s does not have one number for each of %d rows",
                            hd_text(e).s, spans->rows);
    hd_node *y = hd_make(t, "hd_pad", hd_shape2(spans->n, spans->longest), pad_back, e, NULL, NULL,
                         sizeof spans);
    if (!y)
        return &t->nil;
    *(const hd_spans **)y->extra = spans;
    memset(y->x, 0, y->count * sizeof *y->x);
    for (int b = 0; b < spans->n; b++)
        move_rows(y->x + (long)b * spans->longest, 0, e->x + spans->start[b], 0, 1,
                  spans->length[b]);
    return y;
}
