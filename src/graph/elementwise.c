/* elementwise.c -- ops that treat each number by itself: sums, products, functions, dropout,
 * maxout.
 *
 * Operands of one shape are one call of a kernel. Otherwise the smaller one is repeated, and the
 * work is done row by row of the result; on the way back what was repeated is summed, in the
 * order of the rows. */
#include "graph/tape.h"

#include <string.h>

/* ---- repeating the smaller operand ----------------------------------------------------------- */

/* How the rows of a result meet the rows of its two operands. */
struct meeting {
    int dim[3], n;     /* the result: dim[0]·dim[1]·dim[2] rows of n */
    long step[2][3];   /* floats from row to row of each operand; 0: it is repeated */
    bool is_single[2]; /* the operand has one number per row, repeated along it */
};

/* The four dimensions of n as seen beside m: vectors are rows, [B,A] beside [B,S,A] is [B,1,A]. */
static bool spread_dims(int out[4], const hd_node *n, const hd_node *m)
{
    const int missing = 4 - n->n_dims;
    for (int i = 0; i < 4; i++)
        out[i] = i < missing ? 1 : n->dim[i - missing];
    if (n->n_dims == 2 && m->n_dims == 3) {
        out[1] = n->dim[0];
        out[2] = 1;
        return true;
    }
    return n->n_dims == m->n_dims || n->n_dims == 1 || m->n_dims == 1 ||
           (n->n_dims == 3 && m->n_dims == 2);
}

static bool meet(struct meeting *w, struct hd_shape *shape, const hd_node *a, const hd_node *b)
{
    int dims[2][4], out[4];
    if (!spread_dims(dims[0], a, b) || !spread_dims(dims[1], b, a))
        return false;
    for (int i = 0; i < 4; i++) {
        if (dims[0][i] != dims[1][i] && dims[0][i] != 1 && dims[1][i] != 1)
            return false;
        out[i] = dims[0][i] == 1 ? dims[1][i] : dims[0][i];
    }
    shape->n_dims = a->n_dims > b->n_dims ? a->n_dims : b->n_dims;
    for (int i = 0; i < 4; i++)
        shape->dim[i] = i < shape->n_dims ? out[4 - shape->n_dims + i] : 1;
    *w = (struct meeting){.dim = {out[0], out[1], out[2]}, .n = out[3]};
    for (int o = 0; o < 2; o++) {
        long step = dims[o][3];
        w->is_single[o] = dims[o][3] == 1 && out[3] != 1;
        for (int i = 2; i >= 0; i--) {
            w->step[o][i] = dims[o][i] == 1 ? 0 : step;
            step *= dims[o][i];
        }
    }
    return true;
}

/* Call row(…) for every row of the result: its place, and the places in both operands. */
static void for_rows(const struct meeting *w,
                     void (*row)(void *, const struct meeting *, long, long, long), void *with)
{
    long y = 0;
    for (int i = 0; i < w->dim[0]; i++)
        for (int j = 0; j < w->dim[1]; j++)
            for (int l = 0; l < w->dim[2]; l++, y += w->n)
                row(with, w, y, i * w->step[0][0] + j * w->step[0][1] + l * w->step[0][2],
                    i * w->step[1][0] + j * w->step[1][1] + l * w->step[1][2]);
}

/* ---- a + b, a - b, a ∘ b --------------------------------------------------------------------- */

enum binary { ADD, SUB, MUL };

/* y = a ? b on n numbers each */
static void apply_binary(const struct hd_kernels *k, enum binary what, float *y, const float *a,
                         const float *b, long n)
{
    switch (what) {
    case ADD:
        k->add(y, a, b, n);
        break;
    case SUB:
        k->sub(y, a, b, n);
        break;
    case MUL:
        k->mul(y, a, b, n);
        break;
    }
}

struct binary_rows {
    const struct hd_kernels *k;
    enum binary what;
    float *y, *da, *db;
    const float *a, *b, *dy;
};

static void binary_row(void *with, const struct meeting *w, long y_at, long a_at, long b_at)
{
    const struct binary_rows *r = with;
    float *y = r->y + y_at;
    const float *a = r->a + a_at, *b = r->b + b_at;
    const long n = w->n;
    if (!w->is_single[0] && !w->is_single[1]) {
        apply_binary(r->k, r->what, y, a, b, n);
        return;
    }
    const int a_step = !w->is_single[0], b_step = !w->is_single[1];
    switch (r->what) {
    case ADD:
        for (long i = 0; i < n; i++)
            y[i] = a[i * a_step] + b[i * b_step];
        break;
    case SUB:
        for (long i = 0; i < n; i++)
            y[i] = a[i * a_step] - b[i * b_step];
        break;
    case MUL:
        r->k->scale(y, a_step ? *b : *a, a_step ? a : b, n);
        break;
    }
}

/* d (+)= factor ∘ dy on n numbers; factor NULL is `one`. d may be dy. */
static void apply_back(const struct hd_kernels *k, float *d, bool add, const float *dy,
                       const float *factor, float one, long n)
{
    if (factor && add)
        k->add_product(d, dy, factor, n);
    else if (factor)
        k->mul(d, dy, factor, n);
    else if (add)
        k->add_scaled(d, one, dy, n);
    else if (one != 1)
        k->scale(d, one, dy, n);
    else if (d != dy)
        memcpy(d, dy, (size_t)n * sizeof *d);
}

/* d += factor ∘ dy along one row; factor NULL is `one`. d and factor may be single numbers. */
static void add_row_back(const struct hd_kernels *k, float *d, bool d_is_single, const float *dy,
                         const float *factor, bool factor_is_single, float one, long n)
{
    const float *row = factor_is_single ? NULL : factor;
    const float s = factor && !row ? *factor : one;
    if (d_is_single)
        *d += row ? k->dot(dy, row, n) : s * k->sum(dy, n);
    else
        apply_back(k, d, true, dy, row, s, n);
}

static void binary_row_back(void *with, const struct meeting *w, long y_at, long a_at, long b_at)
{
    const struct binary_rows *r = with;
    const float *dy = r->dy + y_at;
    const bool is_mul = r->what == MUL;
    if (r->da)
        add_row_back(r->k, r->da + a_at, w->is_single[0], dy, is_mul ? r->b + b_at : NULL,
                     w->is_single[1], 1, w->n);
    if (r->db)
        add_row_back(r->k, r->db + b_at, w->is_single[1], dy, is_mul ? r->a + a_at : NULL,
                     w->is_single[0], r->what == SUB ? -1 : 1, w->n);
}

static void binary_back(hd_node *y, enum binary what)
{
    hd_tape *t = y->tape;
    hd_node *a = y->in[0], *b = y->in[1];
    if (hd_same_shape(a, b)) {
        const long n = (long)y->count;
        const bool is_mul = what == MUL; /* y's gradient is still there for b if a's is the same */
        bool is_there;
        float *da =
            is_mul ? hd_gradient_to_write(t, a, &is_there) : hd_gradient_in_place(y, a, &is_there);
        if (da)
            apply_back(t->k, da, is_there, y->g, is_mul ? b->x : NULL, 1, n);
        float *db =
            is_mul ? hd_gradient_in_place(y, b, &is_there) : hd_gradient_to_write(t, b, &is_there);
        if (db)
            apply_back(t->k, db, is_there, y->g, is_mul ? a->x : NULL, what == SUB ? -1 : 1, n);
        return;
    }
    struct binary_rows r = {.k = t->k, .what = what, .a = a->x, .b = b->x, .dy = y->g};
    r.da = hd_gradient_of(t, a);
    r.db = hd_gradient_of(t, b);
    struct meeting w;
    struct hd_shape shape;
    if (meet(&w, &shape, a, b))
        for_rows(&w, binary_row_back, &r);
}

static hd_node *binary(const char *op, hd_node *a, hd_node *b, enum binary what,
                       void (*back)(hd_node *))
{
    hd_tape *t = hd_home2(op, a, b);
    if (hd_has_failed(t))
        return &t->nil;
    if (hd_same_shape(a, b)) {
        hd_node *y = hd_make_like(t, op, a, back, a, b, NULL, 0);
        if (!y)
            return &t->nil;
        apply_binary(t->k, what, y->x, a->x, b->x, (long)y->count);
        return y;
    }
    struct meeting w;
    struct hd_shape shape;
    if (!meet(&w, &shape, a, b))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: a %s and b %s do not fit together", op,
                            hd_text(a).s, hd_text(b).s);
    hd_node *y = hd_make(t, op, shape, back, a, b, NULL, 0);
    if (!y)
        return &t->nil;
    struct binary_rows r = {t->k, what, .y = y->x, .a = a->x, .b = b->x};
    for_rows(&w, binary_row, &r);
    return y;
}

static void add_back(hd_node *y)
{
    binary_back(y, ADD);
}

hd_node *hd_add(hd_node *a, hd_node *b)
{
    return binary("hd_add", a, b, ADD, add_back);
}

static void sub_back(hd_node *y)
{
    binary_back(y, SUB);
}

hd_node *hd_sub(hd_node *a, hd_node *b)
{
    return binary("hd_sub", a, b, SUB, sub_back);
}

static void mul_back(hd_node *y)
{
    binary_back(y, MUL);
}

hd_node *hd_mul(hd_node *a, hd_node *b)
{
    return binary("hd_mul", a, b, MUL, mul_back);
}

/* ---- s x, x + s ------------------------------------------------------------------------------ */

static void scale_back(hd_node *y)
{
    bool is_there;
    float *dx = hd_gradient_in_place(y, y->in[0], &is_there);
    if (dx)
        apply_back(y->tape->k, dx, is_there, y->g, NULL, *(const float *)y->extra, (long)y->count);
}

hd_node *hd_scale(hd_node *x, float s)
{
    hd_tape *t = hd_home1("hd_scale", x);
    if (hd_has_failed(t))
        return &t->nil;
    hd_node *y = hd_make_like(t, "hd_scale", x, scale_back, x, NULL, NULL, sizeof s);
    if (!y)
        return &t->nil;
    *(float *)y->extra = s;
    t->k->scale(y->x, s, x->x, (long)y->count);
    return y;
}

static void shift_back(hd_node *y)
{
    bool is_there;
    float *dx = hd_gradient_in_place(y, y->in[0], &is_there);
    if (dx)
        apply_back(y->tape->k, dx, is_there, y->g, NULL, 1, (long)y->count);
}

hd_node *hd_shift(hd_node *x, float s)
{
    hd_tape *t = hd_home1("hd_shift", x);
    if (hd_has_failed(t))
        return &t->nil;
    hd_node *y = hd_make_like(t, "hd_shift", x, shift_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    for (size_t i = 0; i < y->count; i++)
        y->x[i] = x->x[i] + s;
    return y;
}

/* ---- (1-z) ∘ a + z ∘ b = a + z ∘ (b - a) ----------------------------------------------------- */

enum { SOME = 256 }; /* numbers at a time, so that what lies between stays in the cache */

static void blend_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *z = y->in[0], *a = y->in[1], *b = y->in[2];
    float *dz = hd_gradient_of(t, y->in[0]), *da = hd_gradient_of(t, y->in[1]),
          *db = hd_gradient_of(t, y->in[2]);
    float part[SOME];
    for (size_t i = 0; i < y->count; i += SOME) {
        const long n = y->count - i < SOME ? (long)(y->count - i) : SOME;
        if (dz) {
            t->k->sub(part, b->x + i, a->x + i, n);
            t->k->add_product(dz + i, y->g + i, part, n);
        }
        t->k->mul(part, y->g + i, z->x + i, n); /* what flows to b; the rest flows to a */
        if (db)
            t->k->add(db + i, db + i, part, n);
        if (da) {
            t->k->add(da + i, da + i, y->g + i, n);
            t->k->sub(da + i, da + i, part, n);
        }
    }
}

hd_node *hd_blend(hd_node *z, hd_node *a, hd_node *b)
{
    hd_tape *t = hd_home3("hd_blend", z, a, b);
    if (hd_has_failed(t))
        return &t->nil;
    if (!hd_same_shape(z, a) || !hd_same_shape(z, b))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_blend: z %s, a %s and b %s are not of one shape",
                            hd_text(z).s, hd_text(a).s, hd_text(b).s);
    hd_node *y = hd_make_like(t, "hd_blend", z, blend_back, z, a, b, 0);
    if (!y)
        return &t->nil;
    float part[SOME];
    for (size_t i = 0; i < y->count; i += SOME) {
        const long n = y->count - i < SOME ? (long)(y->count - i) : SOME;
        t->k->sub(part, b->x + i, a->x + i, n);
        memcpy(y->x + i, a->x + i, (size_t)n * sizeof *part);
        t->k->add_product(y->x + i, z->x + i, part, n);
    }
    return y;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* hd_NAME(x) and its way back, where `from` is what the derivative is known from: y->x, or the
 * operand's values. */
#define HD_FUNCTION(NAME, from)                                                               \
    static void NAME##_function_back(hd_node *y)                                              \
    {                                                                                         \
        bool is_there;                                                                        \
        float *dx = hd_gradient_in_place(y, y->in[0], &is_there);                             \
        if (dx)                                                                               \
            y->tape->k->NAME##_back(dx, y->g, from, is_there, (long)y->count);                \
    }                                                                                         \
                                                                                              \
    hd_node *hd_##NAME(hd_node *x)                                                            \
    {                                                                                         \
        hd_tape *t = hd_home1("hd_" #NAME, x);                                                \
        if (hd_has_failed(t))                                                                 \
            return &t->nil;                                                                   \
        hd_node *y = hd_make_like(t, "hd_" #NAME, x, NAME##_function_back, x, NULL, NULL, 0); \
        if (!y)                                                                               \
            return &t->nil;                                                                   \
        t->k->NAME(y->x, x->x, (long)y->count);                                               \
        return y;                                                                             \
    }

HD_FUNCTION(tanh, y->x)
HD_FUNCTION(sigmoid, y->x)
HD_FUNCTION(relu, y->x)
HD_FUNCTION(gelu, y->in[0]->x)
HD_FUNCTION(swish, y->in[0]->x)
HD_FUNCTION(exp, y->x)
HD_FUNCTION(log, y->in[0]->x)
#undef HD_FUNCTION

/* ---- dropout --------------------------------------------------------------------------------- */

/* What was dropped is drawn again on the way back, from the same key and stream, instead of
 * being kept. */
struct dropout {
    uint64_t key;
    uint32_t stream;
    float rate;
};

static void dropout_back(hd_node *y)
{
    const struct dropout *d = y->extra;
    bool is_there;
    float *dx = hd_gradient_in_place(y, y->in[0], &is_there);
    if (dx)
        y->tape->k->dropout(dx, y->g, d->rate, d->key, d->stream, is_there, (long)y->count);
}

hd_node *hd_dropout(hd_node *x, float rate)
{
    hd_tape *t = hd_home1("hd_dropout", x);
    if (hd_has_failed(t))
        return &t->nil;
    if (!(rate >= 0 && rate < 1))
        return hd_tape_fail(t, HEED_BAD_OPTION,
                            "hd_dropout: the rate is %g, it must be at least 0 and less than 1",
                            (double)rate);
    if (!t->is_training || rate == 0)
        return x;
    hd_node *y =
        hd_make_like(t, "hd_dropout", x, dropout_back, x, NULL, NULL, sizeof(struct dropout));
    if (!y)
        return &t->nil;
    struct dropout *d = y->extra;
    *d = (struct dropout){.key = t->key, .stream = (uint32_t)t->n_dropouts++, .rate = rate};
    t->k->dropout(y->x, x->x, rate, t->key, d->stream, false, (long)y->count);
    return y;
}

/* ---- maxout: Goodfellow et al. (2013), pools of two ------------------------------------------ */

/* The first of two equal numbers wins; NaN wins over numbers, so that it is not lost. */
static bool first_wins(const float *pair)
{
    return pair[0] >= pair[1] || pair[0] != pair[0];
}

static void maxout_back(hd_node *y)
{
    const float *x = y->in[0]->x;
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    for (size_t i = 0; dx && i < y->count; i++)
        dx[2 * i + !first_wins(x + 2 * i)] += y->g[i];
}

hd_node *hd_maxout(hd_node *x)
{
    hd_tape *t = hd_home1("hd_maxout", x);
    if (hd_has_failed(t))
        return &t->nil;
    if (hd_last_dim(x) % 2 != 0)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_maxout: the last dimension of x %s is odd",
                            hd_text(x).s);
    hd_node *y = hd_make(t, "hd_maxout", hd_shape_width(x, hd_last_dim(x) / 2), maxout_back, x,
                         NULL, NULL, 0);
    if (!y)
        return &t->nil;
    for (size_t i = 0; i < y->count; i++)
        y->x[i] = x->x[2 * i + !first_wins(x->x + 2 * i)];
    return y;
}
