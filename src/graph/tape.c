/* tape.c -- a tape: an arena, the nodes made on it in order, and the first error.
 *
 * A node and its values are one piece of the arena, so recording an op is one addition to a
 * pointer; its gradient is taken on the way back, when something flows into it. Creation order
 * is the order of the formula, so the way back is one walk along `previous`, from the last node
 * to the first.
 *
 * Invariant: a node is linked if and only if its tape was recording and an operand wanted a
 * gradient. */
#include "graph/tape.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/context.h"
#include "graph/linear.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NODE_BYTES = (sizeof(hd_node) + 15) / 16 * 16 }; /* where a node's extra begins */

/* The tape of ops that were given parameters only, so that even they return a node and a
 * sentence. Never written. */
static float nowhere_value;
static struct hd_tape nowhere = {
    .nil = {.x = &nowhere_value, .tape = &nowhere, .n_dims = 1, .dim = {1, 1, 1, 1}, .count = 1},
    .error = {HEED_BAD_SHAPE, "an op was given parameters only, so it has no tape to happen on; "
                              "bring one of them to a tape with "
                              "hd_on(tape, parameter)"},
};

/* ---- life of a tape -------------------------------------------------------------------------- */

hd_tape *hd_tape_new(heed_error *err)
{
    const struct hd_kernels *k = hd_kernels_chosen(err);
    hd_tape *t = k ? hd_new(hd_tape, err) : NULL;
    if (!t)
        return NULL;
    t->k = k;
    t->scratch = hd_alloc_raw(HD_GEMM_SCRATCH * sizeof *t->scratch); /* written before it is read */
    if (!t->scratch) {
        hd_fail(err, HEED_NO_MEMORY, "there is no memory for a tape");
        hd_tape_free(t);
        return NULL;
    }
    hd_tape_reset(t);
    return t;
}

void hd_tape_free(hd_tape *tape)
{
    if (!tape || tape == &nowhere)
        return;
    hd_arena_release(&tape->arena);
    hd_free(tape->scratch);
    hd_free(tape);
}

void hd_tape_reset(hd_tape *tape)
{
    if (tape == &nowhere)
        return;
    hd_arena_reset(&tape->arena);
    tape->last = NULL;
    tape->has_gone_back = false;
    tape->n_dropouts = 0;
    tape->set = NULL;
    tape->gradients = NULL;
    tape->is_written = NULL;
    tape->pending = NULL;
    tape->nil_value = 0;
    tape->nil = (hd_node){
        .x = &tape->nil_value, .tape = tape, .n_dims = 1, .dim = {1, 1, 1, 1}, .count = 1};
    tape->error.code = HEED_OK;
    tape->error.message[0] = '\0';
}

void hd_tape_record(hd_tape *tape, bool on)
{
    if (tape != &nowhere)
        tape->is_recording = on;
}

void hd_tape_train(hd_tape *tape, uint64_t key)
{
    if (tape == &nowhere)
        return;
    tape->is_training = true;
    tape->key = key;
}

void hd_tape_infer(hd_tape *tape)
{
    if (tape != &nowhere)
        tape->is_training = false;
}

const heed_error *hd_tape_error(const hd_tape *tape)
{
    return &tape->error;
}

bool hd_tape_check(const hd_tape *t, heed_error *err)
{
    return !hd_has_failed(t) || hd_fail(err, t->error.code, "%s", t->error.message);
}

/* ---- what can go wrong ----------------------------------------------------------------------- */

hd_node *hd_tape_fail(hd_tape *tape, enum heed_code code, const char *format, ...)
{
    if (!hd_has_failed(tape)) {
        va_list args;
        va_start(args, format);
        char sentence[sizeof tape->error.message + 4]; /* more than fits: hd_fail() cuts it well */
        vsnprintf(sentence, sizeof sentence, format, args);
        va_end(args);
        hd_fail(&tape->error, code == HEED_OK ? HEED_BAD_SHAPE : code, "%s", sentence);
    }
    return &tape->nil;
}

hd_tape *hd_home_of(const char *op, hd_node *const *operands, int n)
{
    static const char *const ways[] = {[HD_HELD_PACKED] = "packed for products",
                                       [HD_HELD_BF16] = "in bf16",
                                       [HD_HELD_INT8] = "in 8 bits"};
    hd_tape *t = &nowhere;
    for (int i = 0; i < n && t == &nowhere; i++)
        if (operands[i]->tape)
            t = operands[i]->tape;
    for (int i = 0; i < n && !hd_has_failed(t); i++) {
        hd_node *a = operands[i];
        if (a->tape == t && a->form == HD_FORM_CONTEXT && !a->x)
            hd_context_compute(a);
        else if (hd_lives_on(a, t))
            continue;
        else if (hd_is_for_products(a))
            hd_tape_fail(t, HEED_BAD_SHAPE,
                         "%s: the parameter %s is held %s, which this operation does not take", op,
                         a->param->name, ways[a->param->held]);
        else if (!a->tape && a->param)
            hd_tape_fail(t, HEED_BAD_SHAPE,
                         "%s: the parameter %s has no values yet; call hd_params_make() first", op,
                         a->param->name);
        else if (!a->tape)
            hd_tape_fail(t, HEED_BAD_SHAPE,
                         "%s: an operand is a parameter that could not be declared; "
                         "hd_params_make() says why",
                         op);
        else if (a == &a->tape->nil && hd_has_failed(a->tape)) /* with an error from elsewhere */
            hd_tape_fail(t, a->tape->error.code, "%s: %s", op, a->tape->error.message);
        else
            hd_tape_fail(t, HEED_BAD_SHAPE,
                         "%s: the operands live on two tapes; bring one over with hd_on()", op);
    }
    return t;
}

void *hd_tape_take_slow(hd_tape *t, const char *op, size_t count, size_t size)
{
    hd_tape_fail(t, HEED_NO_MEMORY,
                 "%s: there is no memory for %zu times %zu bytes; use smaller batches", op, count,
                 size);
    return NULL;
}

struct hd_shape_said hd_shape_to_text(struct hd_shape shape)
{
    struct hd_shape_said text;
    int at = 0;
    for (int i = 0; i < shape.n_dims; i++)
        at += snprintf(text.s + at, sizeof text.s - (size_t)at, "%c%d", i == 0 ? '[' : ',',
                       shape.dim[i]);
    snprintf(text.s + at, sizeof text.s - (size_t)at, "]");
    return text;
}

struct hd_shape_said hd_text(const hd_node *n)
{
    return hd_shape_to_text(hd_shape_of(n));
}

static HD_COLD bool refuse_size(hd_tape *t, const char *op, struct hd_shape shape)
{
    for (int i = 0; i < shape.n_dims; i++)
        if (shape.dim[i] < 0) {
            hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the result cannot be %s, a size is negative", op,
                         hd_shape_to_text(shape).s);
            return false;
        }
    hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the result cannot be %s, that is too large", op,
                 hd_shape_to_text(shape).s);
    return false;
}

bool hd_count_of(hd_tape *t, const char *op, struct hd_shape shape, size_t *count)
{
    size_t rows = 1;
    const int last = shape.n_dims - 1;
    for (int i = 0; i < last; i++) {
        if (__builtin_expect(shape.dim[i] < 0, 0))
            return refuse_size(t, op, shape);
        rows *= (size_t)shape.dim[i];
        if (__builtin_expect(rows > INT_MAX, 0))
            return refuse_size(t, op, shape);
    }
    if (__builtin_expect(shape.dim[last] < 0, 0))
        return refuse_size(t, op, shape);
    *count = rows * (size_t)shape.dim[last];
    return *count <= PTRDIFF_MAX / 16 || refuse_size(t, op, shape);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static HD_COLD hd_node *no_memory(hd_tape *t, const char *op, struct hd_shape shape)
{
    hd_tape_fail(t, HEED_NO_MEMORY, "%s: there is no memory for the result %s; use smaller batches",
                 op, hd_shape_to_text(shape).s);
    return NULL;
}

static HD_COLD hd_node *stopped(hd_tape *t)
{
    hd_tape_fail(t, HEED_CANCELLED, "stopped on request");
    return NULL;
}

/* A node in one piece with its extra and, when `x` is NULL, `count` values. */
static inline hd_node *new_node(hd_tape *t, const char *op, struct hd_shape shape, size_t count,
                                float *x, size_t extra_bytes)
{
    if (__builtin_expect(t->is_stopped && t->is_stopped(t->stop_context), 0))
        return stopped(t);
    const size_t head = (NODE_BYTES + extra_bytes + 63) & ~(size_t)63;
    hd_node *n = hd_take(&t->arena, x ? head : head + count * sizeof(float));
    if (__builtin_expect(!n, 0))
        return no_memory(t, op, shape);
    n->x = x ? x : (float *)(void *)((char *)n + head);
    n->g = NULL;
    n->tape = t;
    n->n_dims = shape.n_dims;
    memcpy(n->dim, shape.dim, sizeof n->dim);
    n->wants_gradient = false;
    n->form = HD_FORM_PLAIN;
    n->count = count;
    n->param = NULL;
    n->back = NULL;
    n->in[0] = n->in[1] = n->in[2] = NULL;
    n->previous = NULL;
    n->extra = (char *)n + NODE_BYTES;
    n->int8_rows = NULL;
    n->bf16_rows = NULL;
    return n;
}

static inline void link_node(hd_node *n, void (*back)(hd_node *), hd_node *a, hd_node *b,
                             hd_node *c)
{
    n->wants_gradient = true;
    n->back = back;
    n->in[0] = a;
    n->in[1] = b;
    n->in[2] = c;
    n->previous = n->tape->last;
    n->tape->last = n;
}

static inline bool is_wanted(const hd_node *n)
{
    return n && n->wants_gradient;
}

static inline hd_node *record(hd_node *n, void (*back)(hd_node *), hd_node *a, hd_node *b,
                              hd_node *c)
{
    if (n && n->tape->is_recording && (is_wanted(a) || is_wanted(b) || is_wanted(c)))
        link_node(n, back, a, b, c);
    return n;
}

hd_node *hd_make(hd_tape *t, const char *op, struct hd_shape shape, void (*back)(hd_node *),
                 hd_node *a, hd_node *b, hd_node *c, size_t extra_bytes)
{
    size_t count = 0;
    if (!hd_count_of(t, op, shape, &count))
        return NULL;
    return record(new_node(t, op, shape, count, NULL, extra_bytes), back, a, b, c);
}

hd_node *hd_make_like(hd_tape *t, const char *op, const hd_node *like, void (*back)(hd_node *),
                      hd_node *a, hd_node *b, hd_node *c, size_t extra_bytes)
{
    return record(new_node(t, op, hd_shape_of(like), like->count, NULL, extra_bytes), back, a, b,
                  c);
}

hd_node *hd_make_view(hd_tape *t, const char *op, struct hd_shape shape, float *x,
                      void (*back)(hd_node *), hd_node *a, hd_node *b, size_t extra_bytes)
{
    size_t count = 0;
    if (!hd_count_of(t, op, shape, &count))
        return NULL;
    return record(new_node(t, op, shape, count, x, extra_bytes), back, a, b, NULL);
}

hd_node *hd_make_of(hd_tape *t, const char *op, struct hd_shape shape, void (*back)(hd_node *),
                    hd_node *const *operands, int n_operands, size_t extra_bytes)
{
    hd_node *y = hd_make(t, op, shape, NULL, NULL, NULL, NULL, extra_bytes);
    bool wants = false;
    for (int i = 0; i < n_operands; i++)
        wants |= is_wanted(operands[i]);
    if (y && wants && t->is_recording)
        link_node(y, back, operands[0], n_operands > 1 ? operands[1] : NULL,
                  n_operands > 2 ? operands[2] : NULL);
    return y;
}

size_t hd_count(const hd_node *n)
{
    return n->count;
}

int hd_width(const hd_node *n)
{
    return hd_last_dim(n);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Leaves are made even after an error: nothing is computed from them, but they can be filled in. */
static hd_node *leaf(hd_tape *t, const char *op, const float *values, const int *dims, int n_dims)
{
    if (t == &nowhere)
        return &t->nil;
    if (n_dims < 1 || n_dims > HD_MAX_DIMS)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "%s: %d dimensions were asked for, a node has 1 to %d", op, n_dims,
                            HD_MAX_DIMS);
    struct hd_shape shape = {n_dims, {1, 1, 1, 1}};
    for (int i = 0; i < n_dims; i++)
        shape.dim[i] = dims[i];
    hd_node *n = hd_make(t, op, shape, NULL, NULL, NULL, NULL, 0);
    if (!n)
        return &t->nil;
    if (n->count > 0 && values)
        memcpy(n->x, values, n->count * sizeof *n->x);
    else
        memset(n->x, 0, n->count * sizeof *n->x);
    return n;
}

hd_node *hd_input_dims(hd_tape *tape, const float *values, const int *dims, int n_dims)
{
    return leaf(tape, "hd_input", values, dims, n_dims);
}

hd_node *hd_variable_dims(hd_tape *tape, const float *values, const int *dims, int n_dims)
{
    hd_node *n = leaf(tape, "hd_variable", values, dims, n_dims);
    if (n != &tape->nil)
        n->wants_gradient = true;
    return n;
}

/* The values of another node seen from this tape; only a parameter still gets its gradient. */
static hd_node *borrow(hd_tape *t, const char *op, const hd_node *n, bool wants_gradient)
{
    static float none;
    hd_node *y = new_node(t, op, hd_shape_of(n), n->count, n->x ? n->x : &none, 0);
    if (!y)
        return &t->nil;
    y->x = n->x;
    y->param = n->param; /* also without a gradient: the packed copies are its own */
    y->wants_gradient = wants_gradient;
    return y;
}

hd_node *hd_on(hd_tape *tape, const hd_node *n)
{
    if (n->tape == tape)
        return (hd_node *)n;
    if (n->form == HD_FORM_CONTEXT && !n->x)
        hd_context_compute((hd_node *)n);
    if (hd_has_failed(tape))
        return &tape->nil;
    if (n->tape && n == &n->tape->nil && hd_has_failed(n->tape))
        return hd_tape_fail(tape, n->tape->error.code, "hd_on: %s", n->tape->error.message);
    if (!n->x && !hd_is_for_products(n))
        return &hd_home_of("hd_on", (hd_node *[]){&tape->nil, (hd_node *)n}, 2)->nil;
    return borrow(tape, "hd_on", n, n->param && n->wants_gradient);
}

hd_node *hd_stop(hd_node *x)
{
    hd_tape *t = hd_home1("hd_stop", x);
    return hd_has_failed(t) ? &t->nil : borrow(t, "hd_stop", x, false);
}

/* ---- the way back ---------------------------------------------------------------------------- */

bool hd_is_to_learn(hd_tape *t, const hd_node *n)
{
    if (!n->wants_gradient || !n->param)
        return n->wants_gradient;
    if (!t->gradients)
        return false;
    if (!t->set)
        t->set = n->param->set;
    if (t->set == n->param->set)
        return true;
    hd_tape_fail(
        t, HEED_BAD_SHAPE,
        "hd_backward: the parameter %s belongs to another set than the others, and there is "
        "one block of gradients; hold it still with hd_stop(hd_on(tape, parameter))",
        n->param->name);
    return false;
}

float *hd_gradient_to_write(hd_tape *t, hd_node *n, bool *is_there)
{
    *is_there = true;
    if (n->g || !hd_is_to_learn(t, n))
        return n->g;
    if (n->param && t->is_written) {
        *is_there = t->is_written[n->param->index];
        t->is_written[n->param->index] = true;
    }
    if (n->param)
        return t->gradients + n->param->offset;
    *is_there = false;
    return n->g = hd_tape_take(t, "hd_backward", n->count, sizeof *n->g);
}

float *hd_gradient_new(hd_tape *t, hd_node *n)
{
    bool is_there;
    float *g = hd_gradient_to_write(t, n, &is_there);
    if (g && !is_there)
        memset(g, 0, n->count * sizeof *g);
    return g;
}

float *hd_gradient_in_place(hd_node *y, hd_node *x, bool *is_there)
{
    hd_tape *t = y->tape;
    if (!hd_has_set_gradient(t) || x->g || x->param || !x->wants_gradient)
        return hd_gradient_to_write(t, x, is_there);
    *is_there = false;
    return x->g = y->g;
}

static HD_COLD bool refuse_backward(hd_tape *t, const hd_node *loss)
{
    if (hd_has_failed(t))
        return false;
    if (t->has_gone_back)
        hd_tape_fail(t, HEED_BAD_SHAPE,
                     "hd_backward: this tape has gone back already; hd_tape_reset() it before the "
                     "next formula");
    else if (loss->count != 1)
        hd_tape_fail(t, HEED_BAD_SHAPE, "hd_backward: the loss %s is not one number",
                     hd_text(loss).s);
    else
        hd_tape_fail(
            t, HEED_BAD_SHAPE,
            "hd_backward: the loss is made of constants, or was made while the tape did not "
            "record; see hd_tape_record()");
    return false;
}

void hd_tape_set_stop(hd_tape *tape, bool (*is_stopped)(void *context), void *context)
{
    tape->is_stopped = is_stopped;
    tape->stop_context = context;
}

void hd_tape_set_gradients(hd_tape *tape, float *gradients, bool *is_written)
{
    tape->gradients = gradients;
    tape->is_written = is_written;
}

bool hd_backward(hd_node *loss, float *gradients)
{
    hd_tape *t = loss->tape;
    if (!t) /* a parameter, which has no tape to tell of it */
        return false;
    if (hd_has_failed(t) || t->has_gone_back || loss->count != 1 || !loss->wants_gradient)
        return refuse_backward(t, loss);
    assert(!hd_has_set_gradient(t) || t->gradients == gradients);
    t->has_gone_back = true;
    t->gradients = gradients;
    float *g = hd_gradient_of(t, loss);
    if (g)
        *g += 1;
    for (hd_node *n = t->last; n && !hd_has_failed(t); n = n->previous) {
        if (n->g)
            n->back(n);
        if (t->is_stopped && t->is_stopped(t->stop_context))
            (void)stopped(t);
    }
    if (!hd_has_failed(t))
        hd_finish_products(t);
    t->gradients = NULL;
    t->is_written = NULL;
    return !hd_has_failed(t);
}
