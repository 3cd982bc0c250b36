/* linear.c -- linear maps, and rows of tables.
 *
 * y = x·W is one call of `gemm` when a packed copy of W is at hand, else one of `gemm_free`: the
 * same chain of fused multiply-adds, the same bits. A W held in 8 bits is one call of `gemm_int8`, one whose products are of bf16 one of
 * `gemm_bf16`. On the way back dx += dy·Wᵀ at once, but dW
 * += xᵀ·dy is only noted, and done for many steps of a recurrence in one product.
 *
 * Invariant: the rows of x and dy enter dW in the order in which the way back met them, in one
 * chain of additions; where the chain is cut into products changes nothing. */
#include "graph/linear.h"

#include "graph/context.h"

#include <assert.h>
#include <string.h>

/* ---- products, packed or not ----------------------------------------------------------------- */

/* The packed copy if it holds the present values; else note that one would be welcome. */
static const struct hd_packed *packed_copy(struct hd_packed *p)
{
    if (p->is_current)
        return p;
    if (!atomic_load_explicit(&p->is_wanted, memory_order_relaxed))
        atomic_store_explicit(&p->is_wanted, true, memory_order_relaxed);
    return NULL;
}

/* y = act(y), row by row. */
static void apply(const struct hd_kernels *k, enum hd_function act, float *y, long ldy, int rows,
                  int n)
{
    void (*const functions[])(float *, const float *, long) = {
        [HD_RELU] = k->relu, [HD_TANH] = k->tanh,   [HD_SIGMOID] = k->sigmoid,
        [HD_GELU] = k->gelu, [HD_SWISH] = k->swish,
    };
    if (act != HD_NONE)
        for (int r = 0; r < rows; r++)
            functions[act](y + r * ldy, y + r * ldy, n);
}

/* y[rows,N] = act(start + x[rows,K]·b), b(k,n) = b[k·b_k + n·b_n]: what `gemm` does, without a
 * packed copy. */
static void product_free(hd_tape *t, float *y, long ldy, const float *x, long ldx, int rows,
                         const float *b, long b_k, long b_n, const float *bias, bool accumulate,
                         enum hd_function act, int K, int N)
{
    if (bias)
        for (int r = 0; r < rows && N > 0; r++)
            memcpy(y + r * ldy, bias, (size_t)N * sizeof *y);
    t->k->gemm_free(y, ldy, x, ldx, 1, b, b_k, b_n, accumulate || bias, rows, K, N, t->scratch);
    apply(t->k, act, y, ldy, rows, N);
}

/* What `gemm_bf16` does, with a packed copy or with one for this product alone. W(k,n) = W->x[k·b_k + n·b_n]. */
static void product_bf16(hd_tape *t, float *y, long ldy, struct hd_operand x, int rows,
                         const hd_node *W, const struct hd_packed *packed, long b_k, long b_n,
                         const float *bias, bool accumulate, enum hd_function act, int K, int N)
{
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    uint32_t *own =
        packed ? NULL : hd_tape_take(t, "hd_lin", hd_packed_size_bf16(K, N), sizeof *own);
    if (own)
        t->k->pack_bf16(own, W->x, b_k, b_n, K, N);
    const uint32_t *pairs = packed ? packed->pairs : own;
    if (pairs && x.bf16)
        (W->param->adds_in_blocks ? t->k->gemm_bf16_blocks : t->k->gemm_bf16)(
            y, ldy, x.bf16, x.ld_bf16, pairs, bias, accumulate, act, rows, K, N);
    hd_arena_rewind(&t->arena, mark);
}

/* y = act(bias + x·W) for a W in 8 bits and rows of x that are so already. */
static void product_int8(hd_tape *t, float *y, long ldy, const struct hd_int8_rows *x, int rows,
                         const hd_node *W, const float *bias, enum hd_function act)
{
    const struct hd_int8_matrix *m = &W->param->int8;
    t->k->gemm_int8(y, ldy, x->q, hd_int8_stride(m->K), x->scale, m->packed, m->scale, bias, act,
                    rows, m->K, m->N);
}

/* Rows of x in 8 bits, in memory of the tape. */
static bool quantise_rows(hd_tape *t, struct hd_int8_rows *rows, const float *x, long ldx, int n,
                          int width)
{
    const long stride = hd_int8_stride(width);
    rows->q = hd_tape_take(t, "hd_lin", (size_t)n * (size_t)stride, 1);
    rows->scale = hd_tape_take(t, "hd_lin", (size_t)n, sizeof *rows->scale);
    for (long r = 0; rows->q && rows->scale && r < n; r++)
        t->k->quantise(rows->q + r * stride, &rows->scale[r], x + r * ldx, width);
    return rows->q && rows->scale;
}

/* The same for rows of floats. */
static void product_of_floats(hd_tape *t, float *y, long ldy, const float *x, long ldx, int rows,
                              const hd_node *W, const float *bias, enum hd_function act)
{
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    struct hd_int8_rows q;
    if (quantise_rows(t, &q, x, ldx, rows, W->param->int8.K))
        product_int8(t, y, ldy, &q, rows, W, bias, act);
    hd_arena_rewind(&t->arena, mark);
}

const struct hd_int8_rows *hd_int8_rows_of(hd_node *x)
{
    struct hd_int8_rows *rows =
        x->int8_rows ? NULL : hd_tape_take(x->tape, "hd_lin", 1, sizeof *rows);
    const int width = hd_last_dim(x);
    if (rows && quantise_rows(x->tape, rows, x->x, width, hd_n_rows(x), width))
        x->int8_rows = rows;
    return x->int8_rows;
}

void hd_product(hd_tape *t, float *y, long ldy, struct hd_operand x, int rows, const hd_node *W,
                const float *bias, bool accumulate, enum hd_function act)
{
    const int K = W->dim[0], N = W->dim[1];
    if (hd_multiplies_int8(W, HD_PARAM_MAP)) {
        product_of_floats(t, y, ldy, x.x, x.ld, rows, W, bias, act);
        return;
    }
    const struct hd_packed *packed = W->param ? packed_copy(&W->param->straight) : NULL;
    if (hd_multiplies_bf16(W))
        product_bf16(t, y, ldy, x, rows, W, packed, N, 1, bias, accumulate, act, K, N);
    else if (packed)
        t->k->gemm(y, ldy, x.x, x.ld, packed->at, bias, accumulate, act, rows, K, N);
    else
        product_free(t, y, ldy, x.x, x.ld, rows, W->x, N, 1, bias, accumulate, act, K, N);
}

void hd_product_crossed(hd_tape *t, float *y, long ldy, struct hd_operand x, int rows,
                        const hd_node *W, const float *bias, bool accumulate, enum hd_function act)
{
    const int K = W->dim[1], N = W->dim[0];
    if (hd_multiplies_int8(W, HD_PARAM_TABLE)) {
        product_of_floats(t, y, ldy, x.x, x.ld, rows, W, bias, act);
        return;
    }
    const struct hd_packed *packed = W->param ? packed_copy(&W->param->crossed) : NULL;
    if (hd_multiplies_bf16(W))
        product_bf16(t, y, ldy, x, rows, W, packed, 1, K, bias, accumulate, act, K, N);
    else if (packed)
        t->k->gemm(y, ldy, x.x, x.ld, packed->at, bias, accumulate, act, rows, K, N);
    else
        product_free(t, y, ldy, x.x, x.ld, rows, W->x, 1, K, bias, accumulate, act, K, N);
}

void hd_weight_product(hd_tape *t, float *dW, const hd_node *W, struct hd_operand a,
                       struct hd_operand b, bool adds, int rows)
{
    const int in = W->dim[0], out = W->dim[1];
    if (!hd_multiplies_bf16(W))
        t->k->gemm_free(dW, out, a.x, 1, a.ld, b.x, b.ld, 1, adds, in, rows, out, t->scratch);
    else if (a.bf16 && b.bf16)
        (W->param->adds_in_blocks ? t->k->gemm_bf16_blocks_free : t->k->gemm_bf16_free)(
            dW, out, a.bf16, a.ld_bf16, b.bf16, b.ld_bf16, adds, in, rows, out, t->scratch);
}

/* ---- gradients of weights, put off ----------------------------------------------------------- */

enum {
    MOST_PIECES = 128, /* products noted for one weight before they are done */
    MOST_ROWS = 512,   /* and their rows */
};

struct piece {
    struct hd_operand a, b;
    int rows;
};

/* Products still to be added to one weight's gradient. */
struct hd_pending {
    hd_node *W;
    int n, rows;
    struct piece pieces[MOST_PIECES];
};

/* dW += aᵀ·b */
static void add_product_now(hd_tape *t, hd_node *W, struct hd_operand a, struct hd_operand b,
                            int rows)
{
    bool is_there;
    float *dW = hd_gradient_to_write(t, W, &is_there);
    if (dW)
        hd_weight_product(t, dW, W, a, b, is_there, rows);
}

/* Rows of n floats, or of n bf16, one after the other: the left or the right operands of all pieces. */
static struct hd_operand join_pieces(hd_tape *t, const struct hd_pending *p, bool is_left, int n)
{
    const bool is_bf16 = hd_multiplies_bf16(p->W);
    const size_t size = is_bf16 ? sizeof(uint16_t) : sizeof(float);
    char *rows = hd_tape_take(t, "hd_backward", (size_t)p->rows * (size_t)n, size), *to = rows;
    for (const struct piece *q = p->pieces; rows && n > 0 && q < p->pieces + p->n; q++)
        for (int r = 0; r < q->rows; r++, to += (size_t)n * size) {
            const struct hd_operand row = hd_operand_from(is_left ? q->a : q->b, r);
            const void *from = is_bf16 ? (const void *)row.bf16 : row.x;
            assert(from); /* what is put off has the operand that its product wants */
            memcpy(to, from, (size_t)n * size);
        }
    return is_bf16 ? (struct hd_operand){.bf16 = (void *)rows, .ld_bf16 = n}
                   : (struct hd_operand){.x = (void *)rows, .ld = n};
}

/* Copy the pieces together and do them as one product. The copies are gone afterwards. */
static void finish(hd_tape *t, struct hd_pending *p)
{
    if (p->n == 0)
        return;
    const struct piece *first = &p->pieces[0];
    if (p->n == 1) {
        add_product_now(t, p->W, first->a, first->b, first->rows);
    } else {
        const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
        const struct hd_operand a = join_pieces(t, p, true, p->W->dim[0]);
        const struct hd_operand b = join_pieces(t, p, false, p->W->dim[1]);
        if (!hd_has_failed(t))
            add_product_now(t, p->W, a, b, p->rows);
        hd_arena_rewind(&t->arena, mark);
    }
    p->n = p->rows = 0;
}

/* The list of a parameter, made when it is first needed; or NULL. */
static struct hd_pending *pending_of(hd_tape *t, hd_node *W, bool is_needed)
{
    if (!W->param || (!is_needed && !t->pending))
        return NULL;
    if (!t->pending) {
        const size_t n = (size_t)hd_params_number(W->param->set);
        t->pending = hd_tape_take(t, "hd_backward", n, sizeof *t->pending);
        if (!t->pending)
            return NULL;
        memset(t->pending, 0, n * sizeof *t->pending);
    }
    struct hd_pending **p = &t->pending[W->param->index];
    if (!*p && is_needed) {
        *p = hd_tape_take(t, "hd_backward", 1, sizeof **p);
        if (*p) {
            (*p)->W = W;
            (*p)->n = (*p)->rows = 0;
        }
    }
    return *p;
}

void hd_defer_product(hd_tape *t, hd_node *W, struct hd_operand a, struct hd_operand b, int rows)
{
    if (rows == 0 || !hd_is_to_learn(t, W))
        return;
    const bool is_large = rows >= HD_LARGE_PIECE;
    struct hd_pending *p = pending_of(t, W, !is_large);
    if (p && (is_large || p->n == MOST_PIECES || p->rows + rows > MOST_ROWS))
        finish(t, p);
    if (!p || is_large) {
        add_product_now(t, W, a, b, rows);
        return;
    }
    p->pieces[p->n++] = (struct piece){a, b, rows};
    p->rows += rows;
}

void hd_finish_products(hd_tape *t)
{
    const int n = t->pending ? hd_params_number(t->set) : 0;
    for (int i = 0; i < n && !hd_has_failed(t); i++)
        if (t->pending[i])
            finish(t, t->pending[i]);
}

void hd_add_bias_gradient(hd_tape *t, hd_node *b, const float *dy, long ldy, int rows)
{
    float *db = b ? hd_gradient_of(t, b) : NULL;
    if (db)
        t->k->sum_rows(db, dy, ldy, rows, (int)b->count);
}

/* ---- y = W x, W x + b, f(W x + b) ------------------------------------------------------------ */

struct dense {
    enum hd_function f;
    float *z; /* W x + b where the derivative needs it (gelu, swish) */
};

/* dz = dy ∘ f'(z), in memory that stays until the tape's reset: in training dy's own. NULL when there is none. */
static const float *before_function(hd_node *y, const struct dense *d)
{
    if (d->f == HD_NONE)
        return y->g;
    const struct hd_kernels *k = y->tape->k;
    const long n = (long)y->count;
    float *dz = hd_has_set_gradient(y->tape)
                    ? y->g
                    : hd_tape_take(y->tape, "hd_backward", y->count, sizeof *dz);
    if (!dz)
        return NULL;
    switch (d->f) {
    case HD_NONE:
        break;
    case HD_RELU:
        k->relu_back(dz, y->g, y->x, false, n);
        break;
    case HD_TANH:
        k->tanh_back(dz, y->g, y->x, false, n);
        break;
    case HD_SIGMOID:
        k->sigmoid_back(dz, y->g, y->x, false, n);
        break;
    case HD_GELU:
        k->gelu_back(dz, y->g, d->z, false, n);
        break;
    case HD_SWISH:
        k->swish_back(dz, y->g, d->z, false, n);
        break;
    }
    return dz;
}

/* The gradients of x, W and b after x·W + b, or x·Wᵀ + b (crossed), whose own is dz[rows,out]. */
static void map_back(const hd_node *y, const float *dz, bool is_crossed)
{
    hd_tape *t = y->tape;
    hd_node *W = y->in[0], *x = y->in[1], *b = y->in[2];
    const int in = hd_last_dim(x), out = hd_last_dim(y), rows = hd_n_rows(x);
    bool is_there;
    float *dx = hd_gradient_to_write(t, x, &is_there);
    hd_add_bias_gradient(t, b, dz, out, rows);
    const struct hd_operand left = hd_operand_of_node(t, x, W);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    const struct hd_operand d = hd_operand_of(t, W, dz, out, rows, out);
    if (dx)
        (is_crossed ? hd_product : hd_product_crossed)(t, dx, in, d, rows, W, NULL, is_there,
                                                       HD_NONE);
    hd_defer_product(t, W, is_crossed ? d : left, is_crossed ? left : d, rows);
    if (rows >= HD_LARGE_PIECE && hd_multiplies_bf16(W))
        hd_arena_rewind(&t->arena, mark); /* what was rounded, which nobody waits for */
}

static void dense_back(hd_node *y)
{
    const float *dz = before_function(y, y->extra);
    if (dz)
        map_back(y, dz, false);
}

hd_node *hd_with_values(hd_node *W, enum hd_param_use use, hd_node *x)
{
    return hd_is_for_products(W) && W->param->use == use && !W->tape ? x : W;
}

static hd_tape *home_of_map(const char *op, hd_node *W, hd_node *b, hd_node *x,
                            enum hd_param_use use)
{
    W = hd_with_values(W, use, x);
    return b ? hd_home3(op, W, b, x) : hd_home2(op, W, x);
}

/* f(W x + b); b may be NULL. */
static hd_node *dense(const char *op, hd_node *W, hd_node *b, hd_node *x, enum hd_function f)
{
    hd_tape *t = home_of_map(op, W, b, x, HD_PARAM_MAP);
    if (hd_has_failed(t))
        return &t->nil;
    if (W->n_dims != 2 || hd_last_dim(x) != W->dim[0])
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: W %s does not take x %s", op, hd_text(W).s,
                            hd_text(x).s);
    const int out = W->dim[1], rows = hd_n_rows(x);
    if (b && (b->n_dims != 1 || b->dim[0] != out))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: b %s does not fit W %s, it must be [%d]", op,
                            hd_text(b).s, hd_text(W).s, out);
    if (f < HD_NONE || f > HD_SIGMOID)
        return hd_tape_fail(t, HEED_BAD_OPTION, "%s: there is no function %d", op, (int)f);
    hd_node *y = hd_make(t, op, hd_shape_width(x, out), dense_back, W, x, b, sizeof(struct dense));
    if (!y)
        return &t->nil;
    struct dense *d = y->extra;
    *d = (struct dense){.f = f};
    const float *bias = b ? b->x : NULL;
    if (y->wants_gradient && (f == HD_GELU || f == HD_SWISH)) {
        d->z = hd_tape_take(t, op, y->count, sizeof *d->z);
        if (!d->z)
            return &t->nil;
        hd_product(t, d->z, out, hd_operand_of_node(t, x, W), rows, W, bias, false, HD_NONE);
        (f == HD_GELU ? t->k->gelu : t->k->swish)(y->x, d->z, (long)y->count);
    } else if (hd_multiplies_int8(W, HD_PARAM_MAP)) {
        const struct hd_int8_rows *q = hd_int8_rows_of(x);
        if (!q)
            return &t->nil;
        product_int8(t, y->x, out, q, rows, W, bias, f);
    } else {
        hd_product(t, y->x, out, hd_operand_of_node(t, x, W), rows, W, bias, false, f);
    }
    return y;
}

hd_node *hd_lin(hd_node *W, hd_node *x)
{
    hd_node *Wc = x->form == HD_FORM_CONTEXT ? hd_context_lin(W, x) : NULL;
    if (Wc)
        return Wc;
    return dense("hd_lin", W, NULL, x, HD_NONE);
}

hd_node *hd_affine(hd_node *W, hd_node *b, hd_node *x)
{
    return dense("hd_affine", W, b, x, HD_NONE);
}

hd_node *hd_dense(hd_node *W, hd_node *b, hd_node *x, enum hd_function f)
{
    return dense("hd_dense", W, b, x, f);
}

/* ---- y = Wᵀ x -------------------------------------------------------------------------------- */

static void lin_transposed_back(hd_node *y)
{
    map_back(y, y->g, true);
}

static hd_node *lin_transposed(const char *op, hd_node *W, hd_node *b, hd_node *x)
{
    hd_tape *t = home_of_map(op, W, b, x, HD_PARAM_TABLE);
    if (hd_has_failed(t))
        return &t->nil;
    if (W->n_dims != 2 || hd_last_dim(x) != W->dim[1])
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: W %s does not take x %s", op, hd_text(W).s,
                            hd_text(x).s);
    const int out = W->dim[0];
    if (b && (b->n_dims != 1 || b->dim[0] != out))
        return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: b %s does not fit W %s, it must be [%d]", op,
                            hd_text(b).s, hd_text(W).s, out);
    hd_node *y = hd_make(t, op, hd_shape_width(x, out), lin_transposed_back, W, x, b, 0);
    if (!y)
        return &t->nil;
    const float *bias = b ? b->x : NULL;
    if (hd_multiplies_int8(W, HD_PARAM_TABLE)) {
        const struct hd_int8_rows *q = hd_int8_rows_of(x);
        if (!q)
            return &t->nil;
        product_int8(t, y->x, out, q, hd_n_rows(x), W, bias, HD_NONE);
    } else {
        hd_product_crossed(t, y->x, out, hd_operand_of_node(t, x, W), hd_n_rows(x), W, bias, false,
                           HD_NONE);
    }
    return y;
}

hd_node *hd_lin_transposed(hd_node *W, hd_node *x)
{
    return lin_transposed("hd_lin_transposed", W, NULL, x);
}

hd_node *hd_affine_transposed(hd_node *W, hd_node *b, hd_node *x)
{
    return lin_transposed("hd_affine_transposed", W, b, x);
}

/* ---- rows of a table ------------------------------------------------------------------------- */

static void embed_back(hd_node *y)
{
    float *dtable = hd_gradient_of(y->tape, y->in[0]);
    if (dtable)
        y->tape->k->scatter_add_rows(dtable, y->g, y->extra, y->dim[0], y->dim[1]);
}

hd_node *hd_embed(hd_tape *tape, hd_node *table, const int *ids, int n)
{
    hd_tape *t = hd_home2("hd_embed", &tape->nil, table);
    if (hd_has_failed(t))
        return &t->nil;
    if (table->n_dims != 2)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_embed: the table %s is not a matrix",
                            hd_text(table).s);
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= table->dim[0])
            return hd_tape_fail(t, HEED_BAD_SHAPE,
                                "hd_embed: ids[%d] = %d, but the table %s has %d rows", i, ids[i],
                                hd_text(table).s, table->dim[0]);
    const size_t bytes = n > 0 ? (size_t)n * sizeof *ids : 0;
    hd_node *y =
        hd_make(t, "hd_embed", hd_shape2(n, table->dim[1]), embed_back, table, NULL, NULL, bytes);
    if (!y)
        return &t->nil;
    if (bytes > 0)
        memcpy(y->extra, ids, bytes);
    t->k->gather_rows(y->x, table->x, ids, n, table->dim[1]);
    return y;
}
