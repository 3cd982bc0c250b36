/* tape.h -- what ops are made of: the inside of tapes, nodes and parameters.
 *
 * An op is two functions side by side. The one that computes:
 *
 *     hd_node *hd_twice(hd_node *x)
 *     {
 *         hd_tape *t = hd_home1("hd_twice", x);             // where it happens
 *         if (hd_has_failed(t))                             // an earlier op, or two tapes
 *             return &t->nil;
 *         hd_node *y = hd_make_like(t, "hd_twice", x, twice_back, x, NULL, NULL, 0);
 *         if (!y)                                           // no memory, noted on the tape
 *             return &t->nil;
 *         t->k->scale(y->x, 2, x->x, (long)y->count);
 *         return y;
 *     }
 *
 * and the one that goes back, called once, when y->g is complete:
 *
 *     static void twice_back(hd_node *y)
 *     {
 *         float *dx = hd_gradient_of(y->tape, y->in[0]);    // NULL: nobody wants it, or no memory
 *         if (dx)
 *             y->tape->k->add_scaled(dx, 2, y->g, (long)y->count);
 *     }
 *
 * Two operands may be one and the same node: then their gradients are one and the same array, so
 * a kernel that adds to both at once must be called once for each. */
#ifndef HD_GRAPH_TAPE_H
#define HD_GRAPH_TAPE_H

#include "base/arena.h"
#include "graph/int8_matrix.h"
#include <assert.h>
#include <heed_graph.h>
#include <limits.h>
#include <stdatomic.h>

#define HD_COLD __attribute__((cold, noinline))

/* ---- parameters ------------------------------------------------------------------------------ */

/* A weight laid out for the kernel `gemm`, or `gemm_bf16`. Written only while no tape is in use, but
 * for the wish. */
struct hd_packed {
    union { /* NULL before the first packing */
        float *at;
        uint32_t *pairs; /* of bf16 */
    };
    bool is_current;       /* holds the present values */
    atomic_bool is_wanted; /* a product has asked for it */
};

/* What a matrix is for, which says what can be held for it, and which of its dimensions has the scales in 8 bits. */
enum hd_param_use {
    HD_PARAM_OTHER, /* always held plain */
    HD_PARAM_MAP,   /* x·W: a scale for each column */
    HD_PARAM_TABLE, /* rows that are looked up, and x·Wᵀ: a scale for each row */
};

/* How the values of a parameter are held. All ways but the first are for products alone, in the layout that products read, and for rows of
 * tables: the node has no x. */
enum hd_held {
    HD_HELD_PLAIN,  /* as floats, for everything */
    HD_HELD_PACKED, /* as floats, of maps */
    HD_HELD_BF16,   /* of maps and tables, */
    HD_HELD_INT8,   /* and these, too */
};

/* What a parameter has beyond a node: it lives in `set`, its values and gradient at `offset` of
 * the flat blocks, where it is held plain. */
struct hd_param {
    hd_params *set;
    const char *name;
    int index;
    size_t offset;             /* in floats; a multiple of 16 */
    struct hd_packed straight; /* for x·W:  K = dim[0], N = dim[1] */
    struct hd_packed crossed;  /* for x·Wᵀ: K = dim[1], N = dim[0] */
    enum hd_param_use use;
    enum hd_held held;
    bool multiplies_bf16; /* products are of bf16, and so are packed copies, */
    bool adds_in_blocks;  /* and their sums go by blocks (kernel/bf16.h) */
    bool multiplies_int8; /* those of the forward pass are of 8 bits, which are in */
    struct hd_int8_matrix
        int8; /* of a map K = dim[0], N = dim[1]; of a table the other way round */
};

static inline bool hd_is_int8(const hd_node *n)
{
    return n->param && n->param->held == HD_HELD_INT8;
}

static inline bool hd_is_for_products(const hd_node *n)
{
    return n->param && n->param->held != HD_HELD_PLAIN;
}

/* Are products x·W (HD_PARAM_MAP) or x·Wᵀ (HD_PARAM_TABLE) with it of 8 bits? */
static inline bool hd_multiplies_int8(const hd_node *W, enum hd_param_use use)
{
    return W->param && W->param->multiplies_int8 && W->param->use == use;
}

/* Are they of bf16, unless they are of 8 bits? */
static inline bool hd_multiplies_bf16(const hd_node *W)
{
    return W->param && W->param->multiplies_bf16;
}

/* Before hd_params_make(): say what a matrix is for; and how it is held, where it can be held so. A set of which some are held for
 * products is for inference: it has no flat block, and none of its parameters wants a gradient. */
void hd_param_set_use(hd_node *param, enum hd_param_use use);
void hd_param_hold(hd_node *param, enum hd_held held);

/* For training. From now on products with the matrices of this set are of bf16, there and back, and their sums one chain each or in blocks;
 * values and gradients stay floats. Before the first packing. */
void hd_params_multiply_bf16(hd_params *params, bool adds_in_blocks);

/* From now on products of the forward pass, and rows of tables, are of 8 bits, as if the parameters were held so, while values, and the
 * gradients of x and W, are as without: Bengio, Léonard & Courville (2013), the straight-through estimator. First for all parameters, then
 * for each whenever its values have changed; different threads may do different ones. */
bool hd_params_multiply_int8(hd_params *params, heed_error *err);
void hd_params_requantise(hd_params *params, int i);

/* The values as floats, however they are held: all; or w_kn of one output n for all k as products of the forward pass have them, which of a
 * table is row n. */
void hd_param_read(const hd_node *param, float *values);
void hd_param_read_output(const hd_node *param, int n, float *w);

/* Set the values from floats: they are quantised, or rounded, where the parameter is held so. */
bool hd_param_write(hd_node *param, const float *values, heed_error *err);

/* The q of a parameter that is held in 8 bits, in the shape of the parameter. Its scales are param->int8.scale. */
void hd_param_read_int8(const hd_node *param, int8_t *q);
void hd_param_write_int8(hd_node *param, const int8_t *q, const float *scale);

/* For files. The q and scales that a parameter held otherwise would have in 8 bits, *n of them; and its values, as floats, from q and scales. */
bool hd_param_quantise(const hd_node *param, int8_t *q, float *scale, size_t *n, heed_error *err);
void hd_param_scale(const hd_node *param, float *values, const int8_t *q, const float *scale);

/* Have hd_params_pack() lay a weight out that no product has met yet: for x·W, or for x·Wᵀ. */
void hd_param_want_packed(hd_node *param, bool is_crossed);

/* hd_params_pack() in steps, for threads: places for the copies; rows [from, to) of parameter i, whose ends are multiples of
 * HD_LANES or the matrix's own; and the word that all rows of all parameters are there. */
bool hd_params_pack_begin(hd_params *params, heed_error *err);
void hd_params_pack_rows(hd_params *params, int i, int from, int to);
void hd_params_pack_end(hd_params *params);

/* How often the values have changed, as far as hd_params_changed() was told: for copies of one's own. */
unsigned hd_params_generation(const hd_params *params);

/* ---- tapes ----------------------------------------------------------------------------------- */

struct hd_tape {
    const struct hd_kernels *k;
    struct hd_arena arena; /* nodes, values, gradients and what ops keep; emptied by a reset */
    hd_node *last;         /* the node recorded last; `previous` leads to the first */
    bool is_recording, is_training, has_gone_back;
    uint64_t key;                      /* decides what hd_dropout drops, with */
    uint64_t n_dropouts;               /* the number of the dropout since the reset */
    float *scratch;                    /* HD_GEMM_SCRATCH floats for gemm_free */
    bool (*is_stopped)(void *context); /* or NULL; see hd_tape_set_stop() */
    void *stop_context;

    /* While going back, or from hd_tape_set_gradients() on: */
    float *gradients;     /* the block of the parameters' gradients, or NULL */
    bool *is_written;     /* by index, whether a parameter's place holds anything; NULL: all do */
    const hd_params *set; /* the set they belong to, known after the first of them */
    struct hd_pending **pending; /* by index, the products still to be added to them (linear.c) */

    hd_node nil; /* what ops return after an error: one zero */
    float nil_value;
    heed_error error;
};

/* From now on ask before every op, forward and back, whether to go on; once the answer is true, the tape has failed with HEED_CANCELLED
 * until its reset. NULL: never ask. */
void hd_tape_set_stop(hd_tape *tape, bool (*is_stopped)(void *context), void *context);

static inline bool hd_has_failed(const hd_tape *t)
{
    return __builtin_expect(t->error.code != HEED_OK, 0);
}

/* False when the tape has failed; its error becomes the caller's. */
bool hd_tape_check(const hd_tape *t, heed_error *err);

/* The tape on which an op with these operands happens. Never NULL: operands of two tapes, or a
 * parameter without values, fail on the first tape met; parameters alone give a tape that has
 * failed from the start. */
HD_COLD hd_tape *hd_home_of(const char *op, hd_node *const *operands, int n);

static inline bool hd_lives_on(const hd_node *n, const hd_tape *t)
{
    return n->x && (n->tape == t || !n->tape);
}

/* No op may be given NULL; a debug build says so where it happens. */
#ifdef HEED_DEBUG
#define HD_ASSERT_GIVEN(node) assert(node)
#else
#define HD_ASSERT_GIVEN(node) ((void)0)
#endif

static inline hd_tape *hd_home1(const char *op, hd_node *a)
{
    HD_ASSERT_GIVEN(a);
    return __builtin_expect(a->tape && a->x, 1) ? a->tape : hd_home_of(op, &a, 1);
}

static inline hd_tape *hd_home2(const char *op, hd_node *a, hd_node *b)
{
    HD_ASSERT_GIVEN(a && b);
    hd_tape *t = a->tape ? a->tape : b->tape;
    if (__builtin_expect(t && hd_lives_on(a, t) && hd_lives_on(b, t), 1))
        return t;
    return hd_home_of(op, (hd_node *[]){a, b}, 2);
}

static inline hd_tape *hd_home3(const char *op, hd_node *a, hd_node *b, hd_node *c)
{
    HD_ASSERT_GIVEN(a && b && c);
    hd_tape *t = a->tape ? a->tape : b->tape ? b->tape : c->tape;
    if (__builtin_expect(t && hd_lives_on(a, t) && hd_lives_on(b, t) && hd_lives_on(c, t), 1))
        return t;
    return hd_home_of(op, (hd_node *[]){a, b, c}, 3);
}

/* Memory until the tape's reset, aligned to 64, not zeroed; NULL, with the error noted, when
 * there is none. */
void *hd_tape_take_slow(hd_tape *t, const char *op, size_t count, size_t size) HD_COLD;

static inline void *hd_tape_take(hd_tape *t, const char *op, size_t count, size_t size)
{
    size_t bytes;
    void *p = __builtin_mul_overflow(count, size, &bytes) ? NULL : hd_take(&t->arena, bytes);
    return __builtin_expect(p != NULL, 1) ? p : hd_tape_take_slow(t, op, count, size);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

struct hd_shape {
    int n_dims, dim[HD_MAX_DIMS]; /* those beyond n_dims are 1 */
};

static inline struct hd_shape hd_shape_of(const hd_node *n)
{
    return (struct hd_shape){n->n_dims, {n->dim[0], n->dim[1], n->dim[2], n->dim[3]}};
}

static inline struct hd_shape hd_shape1(int a)
{
    return (struct hd_shape){1, {a, 1, 1, 1}};
}

static inline struct hd_shape hd_shape2(int a, int b)
{
    return (struct hd_shape){2, {a, b, 1, 1}};
}

/* The shape of n but for the last dimension. */
static inline struct hd_shape hd_shape_width(const hd_node *n, int width)
{
    struct hd_shape s = hd_shape_of(n);
    s.dim[s.n_dims - 1] = width;
    return s;
}

static inline bool hd_same_shape(const hd_node *a, const hd_node *b)
{
    return a->n_dims == b->n_dims && a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1] &&
           a->dim[2] == b->dim[2] && a->dim[3] == b->dim[3];
}

/* Rows and last dimension. Every node has at most INT_MAX rows. */
static inline int hd_n_rows(const hd_node *n)
{
    int rows = 1;
    for (int i = 0; i < n->n_dims - 1; i++)
        rows *= n->dim[i];
    return rows;
}

static inline int hd_last_dim(const hd_node *n)
{
    return n->dim[n->n_dims - 1];
}

/* "[2,7]", for sentences: hd_text(x).s lives as long as the expression it stands in. */
struct hd_shape_said {
    char s[56];
};
HD_COLD struct hd_shape_said hd_shape_to_text(struct hd_shape shape);
HD_COLD struct hd_shape_said hd_text(const hd_node *n);

/* How many numbers a shape holds. False, and the reason on the tape, when it cannot be: a
 * negative size, more than INT_MAX rows, more bytes than there are addresses. */
bool hd_count_of(hd_tape *t, const char *op, struct hd_shape shape, size_t *count);

/* ---- nodes ----------------------------------------------------------------------------------- */

/* What a node stands for, in node->form: its values; sentences (ragged.h); a context whose values may not be there yet
 * (context.h). */
enum hd_form { HD_FORM_PLAIN, HD_FORM_RAGGED, HD_FORM_CONTEXT };

/* A new node, values not yet set; NULL, with the error noted, when it cannot be. When the tape
 * records and an operand wants a gradient, so does the node, and back(node) will be called;
 * otherwise back and operands are forgotten. `extra_bytes` of room for what the op must remember
 * are at node->extra (16 are free of cost). */
hd_node *hd_make(hd_tape *t, const char *op, struct hd_shape shape, void (*back)(hd_node *),
                 hd_node *a, hd_node *b, hd_node *c, size_t extra_bytes);

/* The same in the shape of `like`. */
hd_node *hd_make_like(hd_tape *t, const char *op, const hd_node *like, void (*back)(hd_node *),
                      hd_node *a, hd_node *b, hd_node *c, size_t extra_bytes);

/* A node whose values stand in those of another: x is somewhere in a->x. b may be NULL. */
hd_node *hd_make_view(hd_tape *t, const char *op, struct hd_shape shape, float *x,
                      void (*back)(hd_node *), hd_node *a, hd_node *b, size_t extra_bytes);

/* The same for any number of operands: node->in holds the first three, the op keeps the others
 * in its extra. */
hd_node *hd_make_of(hd_tape *t, const char *op, struct hd_shape shape, void (*back)(hd_node *),
                    hd_node *const *operands, int n_operands, size_t extra_bytes);

/* The rows of a node in 8 bits, each with its scale. */
struct hd_int8_rows {
    int8_t *q; /* [rows, hd_int8_stride(width)] */
    float *scale;
};

/* Those of x, made when they are first asked for and kept with the node. What asks for them must not rewind the tape's arena to a moment
 * between the making of x and now. NULL, with the error noted, without memory. */
const struct hd_int8_rows *hd_int8_rows_of(hd_node *x);

/* Where to add the gradient of n: n->g, zeroed when first asked for, or a parameter's place in
 * the block given to hd_backward(). NULL when it is not wanted (or when memory is gone, which
 * stops the walk). */
float *hd_gradient_new(hd_tape *t, hd_node *n);

static inline float *hd_gradient_of(hd_tape *t, hd_node *n)
{
    return n->g ? n->g : n->wants_gradient ? hd_gradient_new(t, n) : NULL;
}

/* Does anybody want the gradient of n? A parameter's belongs into the block, which has room for those of one set. */
bool hd_is_to_learn(hd_tape *t, const hd_node *n);

/* hd_gradient_of() for an op that can write all of it at once: *is_there tells whether it must add instead.
 * What was never written is no number. */
float *hd_gradient_to_write(hd_tape *t, hd_node *n, bool *is_there);

/* The same for an op that makes each number of x's gradient of the one at its place in y's: it may be y's array that x takes over,
 * to be written in place. So what else needs y's gradient comes first. */
float *hd_gradient_in_place(hd_node *y, hd_node *x, bool *is_there);

/* For training: where the gradients of the next formula, up to the next reset, will go, told before its first op. hd_backward() is to be given
 * the same block. Of this only the parameters that `is_written` names (by their index) hold anything: the first gradient of any
 * other is written there, and it is named from then on.
 *
 * A tape that knows it saves passes over memory: hd_output_loss() puts gradients there on the way forward, so the loss must be what
 * that returns, or have none of it; and nobody may read `g` of a node that an op made, as the array may have become its operand's. */
void hd_tape_set_gradients(hd_tape *tape, float *gradients, bool *is_written);

static inline bool hd_has_set_gradient(const hd_tape *t)
{
    return t->is_written != NULL;
}

#endif
