/* output_layer.c -- the output layer, softmax and cross entropy in one op, for one pass or for two that
 * should agree.
 *
 * The logits [N,V] never exist whole: a slice of rows is multiplied, its losses are read, its
 * logits become their own gradient, and that goes at once into the gradients of x, W and b. So the
 * way back is all but done when the loss is known; what remains is to multiply by whatever the
 * loss itself is multiplied by. Training says before that it is nothing (hd_tape_set_gradients), so there the
 * gradients of W and b are where they belong from the start.
 *
 * Invariant: where slices are cut follows from N and V alone. Of one pass it changes no bit, as the
 * loss and each number of a gradient are one chain over the rows. Of two passes dW and db take the
 * slices of both in turn, so there it is part of what is computed. */
#include "graph/linear.h"

#include <assert.h>
#include <string.h>

/* Logits of a slice: few enough for a cache, many enough to go easy on W's gradient. Tests cut
 * smaller. */
#ifndef HD_SLICE_FLOATS
#define HD_SLICE_FLOATS (1 << 22)
#endif
enum { LEAST_ROWS = 32 }; /* of a slice, however many logits that is */

struct output {
    hd_node *W, *b, *x[2];
    bool is_transposed;
    int n_passes, D, V;
    float smoothing;
    hd_consistency weight;
    float *dW, *db, *dx[2]; /* gradients of this op's value; NULL where not wanted */
    bool adds;              /* dW holds something already */
};

/* One slice in work: rows [from, from+n), for each pass their logits and the gradient by them; that also rounded, where W takes bf16. */
struct slice {
    int from, n;
    float *logits[2], *d[2];
    uint16_t *rounded[2];
};

static void logits_of(hd_tape *t, const struct output *o, const struct slice *s, int pass)
{
    const struct hd_operand x = hd_operand_from(hd_operand_of_node(t, o->x[pass], o->W), s->from);
    (o->is_transposed ? hd_product_crossed : hd_product)(t, s->logits[pass], o->V, x, s->n, o->W,
                                                         o->b ? o->b->x : NULL, false, HD_NONE);
}

/* The value of row i, its gradient into d: of one pass, into the logits themselves, and into db. */
static double row_loss(hd_tape *t, const struct output *o, const struct slice *s, int i, int target,
                       bool wants)
{
    const struct hd_kernels *k = t->k;
    const size_t at = (size_t)i * (size_t)o->V;
    float *d1 = wants ? s->d[0] + at : NULL, *d2 = wants && o->n_passes > 1 ? s->d[1] + at : NULL;
    const float *x1 = s->logits[0] + at, *x2 = o->n_passes > 1 ? s->logits[1] + at : NULL;
    if (target < 0) {
        if (d1)
            memset(d1, 0, (size_t)o->V * sizeof *d1);
        if (d2)
            memset(d2, 0, (size_t)o->V * sizeof *d2);
        return 0;
    }
    const hd_consistency w = o->weight;
    if (!x2)
        return (double)w.weight1 *
               (double)k->xent(d1, o->db, x1, target, o->smoothing, w.weight1, o->V);
    double loss =
        (double)w.weight1 * (double)k->xent(d1, NULL, x1, target, o->smoothing, w.weight1, o->V);
    loss +=
        (double)w.weight2 * (double)k->xent(d2, NULL, x2, target, o->smoothing, w.weight2, o->V);
    if (w.forward != 0)
        loss += (double)w.forward * (double)k->kl(d1, d2, x1, x2, w.forward, o->V);
    if (w.backward != 0)
        loss += (double)w.backward * (double)k->kl(d2, d1, x2, x1, w.backward, o->V);
    return loss;
}

/* Row i's gradient, where W takes bf16, while it is in the cache. */
static void round_row(hd_tape *t, const struct output *o, const struct slice *s, int i)
{
    const long stride = hd_bf16_stride(o->V);
    for (int pass = 0; pass < o->n_passes; pass++)
        t->k->to_bf16(s->rounded[pass] + i * stride, stride, s->d[pass] + (long)i * o->V, o->V, 1,
                      o->V);
}

/* The gradients of a slice of one pass: dx = d·Wᵀ, dW += xᵀ·d, and, of two passes, db += Σ d; the first of all may set dW, which saves zeroing it. */
static void slice_gradients(hd_tape *t, const struct output *o, const struct slice *s, int pass)
{
    const bool adds = o->adds || s->from > 0 || pass > 0;
    const struct hd_operand d = {s->d[pass], o->V, s->rounded[pass], hd_bf16_stride(o->V)};
    const struct hd_operand x = hd_operand_from(hd_operand_of_node(t, o->x[pass], o->W), s->from);
    if (o->dx[pass])
        (o->is_transposed ? hd_product : hd_product_crossed)(
            t, o->dx[pass] + (long)s->from * o->D, o->D, d, s->n, o->W, NULL, false, HD_NONE);
    if (o->dW)
        hd_weight_product(t, o->dW, o->W, o->is_transposed ? d : x, o->is_transposed ? x : d, adds,
                          s->n);
    if (o->db && o->n_passes > 1)
        t->k->sum_rows(o->db, s->d[pass], o->V, s->n, o->V);
}

static void output_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct output *o = y->extra;
    const float g = y->g[0];
    bool is_there;
    for (int i = 0; i < o->n_passes; i++) {
        float *dx = hd_gradient_to_write(t, o->x[i], &is_there);
        if (dx && is_there)
            t->k->add_scaled(dx, g, o->dx[i], (long)o->x[i]->count);
        else if (dx)
            t->k->scale(dx, g, o->dx[i], (long)o->x[i]->count);
    }
    if (hd_has_set_gradient(t)) {
        assert(g == 1);
        return;
    }
    float *dW = hd_gradient_to_write(t, o->W, &is_there);
    float *db = o->b ? hd_gradient_of(t, o->b) : NULL;
    if (dW && is_there)
        t->k->add_scaled(dW, g, o->dW, (long)o->W->count);
    else if (dW)
        t->k->scale(dW, g, o->dW, (long)o->W->count);
    if (db)
        t->k->add_scaled(db, g, o->db, (long)o->b->count);
}

static float *zeros(hd_tape *t, const char *op, size_t n)
{
    float *p = hd_tape_take(t, op, n, sizeof *p);
    if (p)
        memset(p, 0, n * sizeof *p);
    return p;
}

/* Places for the gradients of W and b: their own in the block where the tape knows it, or some until the way back. */
static bool make_weights_gradients(hd_tape *t, const char *op, struct output *o)
{
    const size_t n = o->W->count;
    if (hd_has_set_gradient(t)) {
        o->dW = hd_gradient_to_write(t, o->W, &o->adds);
        o->db = o->b ? hd_gradient_of(t, o->b) : NULL;
    } else if ((o->W->wants_gradient && !(o->dW = hd_tape_take(t, op, n, sizeof *o->dW))) ||
               (o->b && o->b->wants_gradient && !(o->db = zeros(t, op, o->b->count)))) {
        return false;
    }
    if (o->dW && !o->adds && hd_n_rows(o->x[0]) == 0)
        memset(o->dW, 0, n * sizeof *o->dW);
    return !hd_has_failed(t);
}

static bool make_gradients(hd_tape *t, const char *op, struct output *o)
{
    if (!make_weights_gradients(t, op, o))
        return false;
    for (int i = 0; i < o->n_passes; i++)
        if (o->x[i]->wants_gradient &&
            !(o->dx[i] = hd_tape_take(t, op, o->x[i]->count, sizeof(float))))
            return false;
    return true;
}

/* Room for the slices, evenly cut: logits of each pass, and gradients beside them when the logits
 * of two passes are read together. */
static bool make_slice(hd_tape *t, const char *op, const struct output *o, struct slice *s,
                       int rows, bool wants)
{
    const int fit = o->V > 0 ? HD_SLICE_FLOATS / o->V : rows;
    const int most = fit > LEAST_ROWS ? fit : LEAST_ROWS;
    const int n_slices = rows > 0 ? (rows - 1) / most + 1 : 1;
    s->n = rows > 0 ? (rows - 1) / n_slices + 1 : 0;
    const size_t floats = (size_t)s->n * (size_t)o->V;
    const size_t halves = (size_t)s->n * (size_t)hd_bf16_stride(o->V);
    for (int i = 0; i < o->n_passes; i++) {
        s->logits[i] = s->d[i] = hd_tape_take(t, op, floats, sizeof(float));
        if (wants && o->n_passes > 1)
            s->d[i] = hd_tape_take(t, op, floats, sizeof(float));
        if (wants && hd_multiplies_bf16(o->W))
            s->rounded[i] = hd_tape_take(t, op, halves, sizeof(uint16_t));
    }
    return !hd_has_failed(t);
}

static bool run_output(hd_tape *t, const char *op, struct output *o, const int *targets, bool wants,
                       float *value)
{
    if (wants && !make_gradients(t, op, o))
        return false;
    for (int i = 0; i < o->n_passes; i++)
        (void)hd_operand_of_node(t, o->x[i], o->W); /* rounded here, to stay */
    const struct hd_arena_mark before = hd_arena_mark(&t->arena);
    const int rows = hd_n_rows(o->x[0]);
    struct slice s = {0};
    if (!make_slice(t, op, o, &s, rows, wants))
        return false;
    double loss = 0;
    for (const int most = s.n; s.from < rows; s.from += s.n) {
        s.n = rows - s.from < most ? rows - s.from : most;
        for (int i = 0; i < o->n_passes; i++)
            logits_of(t, o, &s, i);
        for (int i = 0; i < s.n; i++) {
            loss += row_loss(t, o, &s, i, targets[s.from + i], wants);
            if (s.rounded[0])
                round_row(t, o, &s, i);
        }
        for (int i = 0; wants && i < o->n_passes; i++)
            slice_gradients(t, o, &s, i);
    }
    hd_arena_rewind(&t->arena, before);
    *value = (float)loss;
    return true;
}

static bool check_output(hd_tape *t, const char *op, const struct output *o, const int *targets)
{
    const hd_node *W = o->W, *x = o->x[0];
    const char *turned = o->is_transposed ? " transposed" : "";
    if (W->n_dims != 2 || hd_last_dim(x) != o->D)
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: W %s%s does not take x%s %s", op, hd_text(W).s, turned,
                     o->n_passes > 1 ? "1" : "", hd_text(x).s);
    else if (o->b && (o->b->n_dims != 1 || o->b->dim[0] != o->V))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: b %s does not fit W %s%s, it must be [%d]", op,
                     hd_text(o->b).s, hd_text(W).s, turned, o->V);
    else if (o->n_passes > 1 && !hd_same_shape(x, o->x[1]))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: x1 %s and x2 %s differ", op, hd_text(x).s,
                     hd_text(o->x[1]).s);
    else if (!(o->smoothing >= 0 && o->smoothing <= 1))
        hd_tape_fail(t, HEED_BAD_OPTION, "%s: the smoothing is %g, it must be from 0 to 1", op,
                     (double)o->smoothing);
    else
        for (int i = 0, n = hd_n_rows(x); i < n && !hd_has_failed(t); i++)
            if (targets[i] < -1 || targets[i] >= o->V)
                hd_tape_fail(t, HEED_BAD_SHAPE, "%s: targets[%d] = %d, but W %s%s has %d outputs",
                             op, i, targets[i], hd_text(W).s, turned, o->V);
    return !hd_has_failed(t);
}

static hd_node *output_loss(const char *op, struct output o, const int *targets,
                            const hd_output_options *options)
{
    hd_node *x2 = o.n_passes > 1 ? o.x[1] : o.x[0];
    o.is_transposed = options && options->is_transposed;
    hd_node *W = hd_with_values(o.W, o.is_transposed ? HD_PARAM_TABLE : HD_PARAM_MAP, o.x[0]);
    hd_tape *t = hd_home_of(op, (hd_node *[]){W, o.x[0], x2, o.b ? o.b : o.x[0]}, 4);
    if (hd_has_failed(t))
        return &t->nil;
    o.smoothing = options ? options->smoothing : 0;
    o.D = o.W->dim[o.is_transposed];
    o.V = o.W->dim[!o.is_transposed];
    if (!check_output(t, op, &o, targets))
        return &t->nil;
    hd_node *operands[4] = {o.W, o.x[0], o.b, o.x[1]};
    hd_node *y = hd_make_of(t, op, hd_shape1(1), output_back, operands, 4, sizeof o);
    if (!y || !run_output(t, op, &o, targets, y->wants_gradient, y->x))
        return &t->nil;
    *(struct output *)y->extra = o;
    return y;
}

hd_node *hd_output_loss(hd_node *W, hd_node *b, hd_node *x, const int *targets,
                        const hd_output_options *options)
{
    const struct output o = {.W = W, .b = b, .x = {x}, .n_passes = 1, .weight = {.weight1 = 1}};
    return output_loss("hd_output_loss", o, targets, options);
}

hd_node *hd_output_loss_pair(hd_node *W, hd_node *b, hd_node *x1, hd_node *x2, const int *targets,
                             const hd_output_options *options, const hd_consistency *consistency)
{
    const struct output o = {.W = W, .b = b, .x = {x1, x2}, .n_passes = 2, .weight = *consistency};
    return output_loss("hd_output_loss_pair", o, targets, options);
}
