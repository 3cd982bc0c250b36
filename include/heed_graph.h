/* heed_graph.h -- the formula language: write a model as its paper writes it, and get its derivatives.
 *
 * An op computes at once, so values can be printed and `if` and `for` are C's own. When the tape records, the op also
 * notes how to go back; hd_backward() then walks the notes from last to first. A node knows its tape, so ops need no
 * context argument. Parameters are at home on every tape.
 *
 *     hd_node *e = hd_dot(v, hd_tanh(hd_add(hd_lin(W, s), Uh)));     e_j = vᵀ tanh(W s + U h_j)    [B,S]
 *     hd_node *a = hd_softmax(e, NULL);                              α   = softmax_j(e_j)          [B,S]
 *     hd_node *c = hd_mix(a, h);                                     c   = Σ_j α_j h_j             [B,E]
 *
 * C evaluates the arguments of a call, and the values in braces, in any order, and ops are noted in the order in which
 * they run. So of two ops side by side the compiler would choose which one dropout numbers and gradients take first:
 * give each a statement of its own, in the paper's order, and the same formula has the same bits everywhere.
 *
 *     hd_node *Ws = hd_lin(W, s), *Uh = hd_lin(U, h);                these are in order,
 *     hd_node *x = hd_add(Ws, Uh);                                   hd_add(hd_lin(W, s), hd_lin(U, h)) is not
 *
 * Errors are sticky: an op that cannot do what it was asked notes the sentence on the tape ("hd_lin: W [6,4] does not
 * take x [2,7]") and returns a node that every later op passes on. Formulas need no ifs; ask hd_tape_error() once per
 * batch. No op ever returns NULL, and none may be given NULL unless it says so.
 *
 * Shapes have 1 to 4 dimensions, last one fastest. "Rows" are all dimensions but the last taken together. Sentences of
 * different lengths stand one after the other in the rows of one node, without padding; an hd_spans says where each
 * begins and how long it is.
 *
 * One tape belongs to one thread at a time. Parameters are only read, so threads share them. */
#ifndef HEED_GRAPH_H
#define HEED_GRAPH_H

#include <heed.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_tape hd_tape;
typedef struct hd_node hd_node;
typedef struct hd_params hd_params;

enum { HD_MAX_DIMS = 4 };

/* A number, vector, matrix or block of numbers that remembers how it was made. Read it; do not write it, except the
 * values of hd_input and hd_variable nodes and of parameters between two batches. */
struct hd_node {
    float *x;      /* the values, [dim[0], …, dim[n_dims-1]] */
    float *g;      /* gradient of the loss by x, after hd_backward(); NULL where none flowed.
                             A parameter's gradient is in the block given to hd_backward(). */
    hd_tape *tape; /* NULL for parameters */
    int n_dims, dim[HD_MAX_DIMS];
    bool wants_gradient; /* false for constants and all that is made of constants only */
    /* private */
    unsigned char form;
    size_t count;
    struct hd_param *param;
    void (*back)(hd_node *);
    hd_node *in[3];
    hd_node *previous;
    void *extra;
    const struct hd_int8_rows *int8_rows;
    const uint16_t *bf16_rows;
};

/* How many numbers a node holds, and its last dimension. */
HEED_API size_t hd_count(const hd_node *n);
HEED_API int hd_width(const hd_node *n);

/* ---- parameters: named, in one flat block -------------------------------------------------------------------- */

/* An empty set of parameters; give it to hd_params_free(). */
HEED_API hd_params *hd_params_new(heed_error *err);
HEED_API void hd_params_free(hd_params *params);

/* Declare a parameter: hd_param(params, "W", 6, 4) is a [6,4]. The name is copied and must be new. The node belongs to
 * `params`; its values exist after hd_params_make(). Failures (bad name, bad size) are kept and told by that call. */
#define hd_param(params, name, ...)                         \
    hd_param_dims(params, name, (const int[]){__VA_ARGS__}, \
                  (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
HEED_API hd_node *hd_param_dims(hd_params *params, const char *name, const int *dims, int n_dims);

/* Give all declared parameters their values, zeros, in one block in the order of declaration (each starts at a multiple
 * of 16 floats; what lies between is zero and stays so). No more can be declared after it. */
HEED_API bool hd_params_make(hd_params *params, heed_error *err);

/* The flat block: its size in floats (the size of a gradient block too) and its values. */
HEED_API size_t hd_params_size(const hd_params *params);
HEED_API float *hd_params_values(hd_params *params);

/* The parameters one by one: how many, the i-th, by name (NULL when there is none), a parameter's name and its place
 * in the flat block. */
HEED_API int hd_params_number(const hd_params *params);
HEED_API hd_node *hd_params_at(const hd_params *params, int i);
HEED_API hd_node *hd_params_find(const hd_params *params, const char *name);
HEED_API const char *hd_param_name(const hd_node *param);
HEED_API size_t hd_param_offset(const hd_node *param);

/* Start values, the same on every machine: uniform in [-limit, limit), or normal. `seed` and the parameter's name decide the
 * numbers, so that adding a parameter changes no other. hd_init_glorot: uniform with limit √(6/(in+out)).
 * hd_init_orthogonal: rows or columns orthonormal (for [n,k·n] each n×n block by itself), times gain. */
HEED_API void hd_init_fill(hd_node *param, float value);
HEED_API void hd_init_uniform(hd_node *param, float limit, uint64_t seed);
HEED_API void hd_init_normal(hd_node *param, float deviation, uint64_t seed);
HEED_API void hd_init_glorot(hd_node *param, uint64_t seed);
HEED_API void hd_init_orthogonal(hd_node *param, float gain, uint64_t seed);

/* Lay the matrices that hd_lin and its like have met so far out for speed. Call it after the values have changed (after
 * each update) and while no tape is in use; packed copies of older values are dropped by hd_params_changed(), after
 * which results are right but slower until the next hd_params_pack(). Changes no bit of any result. */
HEED_API bool hd_params_pack(hd_params *params, heed_error *err);
HEED_API void hd_params_changed(hd_params *params);

/* ---- tapes --------------------------------------------------------------------------------------------------- */

/* A tape that does not record: values only. Fails when memory is short or HEED_KERNEL names no kernel of this CPU. */
HEED_API hd_tape *hd_tape_new(heed_error *err);
HEED_API void hd_tape_free(hd_tape *tape);

/* Forget all nodes, spans, masks and the error; keep the memory for the next batch. Recording, training and their key
 * stay as they are. */
HEED_API void hd_tape_reset(hd_tape *tape);

/* Whether ops note how to go back. */
HEED_API void hd_tape_record(hd_tape *tape, bool on);

/* Training: hd_dropout drops. `key` decides what (a mixture of seed, update and shard, say); with the same key the same
 * formula drops the same. hd_tape_infer() turns it off, as it is at the start. */
HEED_API void hd_tape_train(hd_tape *tape, uint64_t key);
HEED_API void hd_tape_infer(hd_tape *tape);

/* The first error since the last reset; its code is HEED_OK when all is well. */
HEED_API const heed_error *hd_tape_error(const hd_tape *tape);

/* Note an error of your own op or model; the first one stays. Returns the tape's error node, to be passed on. */
HEED_API hd_node *hd_tape_fail(hd_tape *tape, enum heed_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold, noinline));

/* Add the gradient of `loss` (one number) by every parameter to `gradients`, a block of hd_params_size() floats laid
 * out as the values, and set `g` of the nodes on the way. `gradients` may be NULL when only variables matter. The
 * parameters of a formula that want a gradient are of one hd_params.
 * Once per recording: the tape must be reset before the next formula. Returns false when the tape has an error; then
 * `gradients` may have got a part of what it should. */
HEED_API bool hd_backward(hd_node *loss, float *gradients);

/* ---- leaves -------------------------------------------------------------------------------------------------- */

/* Numbers from outside: copied from `values`, or zeros to be filled in when that is NULL. A variable gets a gradient.
 * Leaves are made even after an error, so that they can be filled in; only when there is no memory or no such size are
 * they the error node, which holds one number: check hd_tape_error() before filling in what may be large.
 * Values written in place want parentheses of their own: hd_input(tape, ((const float[]){1, 2, 3}), 3). */
#define hd_input(tape, values, ...)                         \
    hd_input_dims(tape, values, (const int[]){__VA_ARGS__}, \
                  (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
#define hd_variable(tape, values, ...)                         \
    hd_variable_dims(tape, values, (const int[]){__VA_ARGS__}, \
                     (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
HEED_API hd_node *hd_input_dims(hd_tape *tape, const float *values, const int *dims, int n_dims);
HEED_API hd_node *hd_variable_dims(hd_tape *tape, const float *values, const int *dims, int n_dims);

/* A node of another tape, borrowed by this one as a constant; the other must live on. For search: what is computed
 * once per sentence stays on one tape, each step has another that is reset every time. A node of this tape is returned
 * as it is. A parameter gets a node on this tape that stands for it, gradient included: for ops that are given
 * parameters only, which have no tape otherwise: hd_sum_squares(hd_on(tape, W)). */
HEED_API hd_node *hd_on(hd_tape *tape, const hd_node *n);

/* The same values, but no gradient passes. */
HEED_API hd_node *hd_stop(hd_node *x);

/* Sentences in rows: sentence i has rows [start[i], start[i]+length[i]). Several may share rows (beams share a source),
 * except where each has results of its own in them: the queries of hd_attention, the sentences of hd_recurrence. Made on a tape, gone with its reset. hd_spans_of: one after the other from row 0. Lengths may be 0. */
typedef struct hd_spans {
    int n;       /* sentences */
    int longest; /* the greatest length */
    int rows;    /* the least number of rows that holds them all */
    int total;   /* the sum of the lengths */
    const int *start, *length;
} hd_spans;
HEED_API const hd_spans *hd_spans_of(hd_tape *tape, const int *lengths, int n);
HEED_API const hd_spans *hd_spans_at(hd_tape *tape, const int *starts, const int *lengths, int n);

/* Which elements of each row take part in a softmax. Rows and width must match its operand. */
typedef struct hd_mask {
    int rows, width;
    const uint8_t *keep; /* [rows, width], 0 where left out */
} hd_mask;
HEED_API const hd_mask *hd_mask_lengths(hd_tape *tape, const int *lengths, int rows,
                                        int width); /* the first length */
/* [from, to) of each row, cut off at both ends of the row. */
HEED_API const hd_mask *hd_mask_ranges(hd_tape *tape, const int *from, const int *to, int rows,
                                       int width);
HEED_API const hd_mask *hd_mask_bytes(hd_tape *tape, const uint8_t *keep, int rows, int width);

/* ---- linear maps --------------------------------------------------------------------------------------------- */

/* The paper's "W x": x·W, W [in,out], x […,in] gives […,out]. W may be a parameter or any node. */
HEED_API hd_node *hd_lin(hd_node *W, hd_node *x);
HEED_API hd_node *hd_affine(hd_node *W, hd_node *b, hd_node *x); /* W x + b, b [out] */
HEED_API hd_node *hd_lin_transposed(hd_node *W,
                                    hd_node *x); /* Wᵀ x: x·Wᵀ, W [out,in] (tied weights) */
HEED_API hd_node *hd_affine_transposed(hd_node *W, hd_node *b, hd_node *x); /* Wᵀ x + b, b [out] */

enum hd_function { HD_NONE = -1, HD_RELU, HD_GELU, HD_SWISH, HD_TANH, HD_SIGMOID };
HEED_API hd_node *hd_dense(hd_node *W, hd_node *b, hd_node *x,
                           enum hd_function f); /* f(W x + b), b may be NULL */

/* Rows of a table: table[ids[i]], [n,D]. An id outside the table is an error. */
HEED_API hd_node *hd_embed(hd_tape *tape, hd_node *table, const int *ids, int n);
/* Rows of a node by index: [n, last dimension]; index -1 gives a row of zeros. For beams, reorderings, last states. */
HEED_API hd_node *hd_rows(hd_node *x, const int *index, int n);

/* ---- shapes -------------------------------------------------------------------------------------------------- */

HEED_API hd_node *hd_concat(hd_node *a, hd_node *b);     /* [a; b]: last dimension, same rows */
HEED_API hd_node *hd_join(hd_node *const *parts, int n); /* the same for n parts */
HEED_API hd_node *hd_pile(hd_node *const *parts,
                          int n); /* first dimension: parts one below the other */
HEED_API hd_node *hd_part(hd_node *x, int from,
                          int width); /* columns [from, from+width) of the last */
HEED_API hd_node *hd_slice(hd_node *x, int from, int n); /* [from, from+n) of the first dimension */
HEED_API hd_node *hd_transpose(hd_node *x);              /* [n,m] to [m,n] */
#define hd_reshape(x, ...)                         \
    hd_reshape_dims(x, (const int[]){__VA_ARGS__}, \
                    (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
HEED_API hd_node *hd_reshape_dims(hd_node *x, const int *dims, int n_dims);
/* q [B,A] to the rows of each sentence: [spans->total, A], row b once for every position of sentence b. */
HEED_API hd_node *hd_spread(hd_node *q, const hd_spans *spans);
/* One number per row of the sentences, [rows] or [rows,1], to [B, longest]; zeros where a sentence has ended. */
HEED_API hd_node *hd_pad(hd_node *e, const hd_spans *spans);

/* ---- element by element -------------------------------------------------------------------------------------- */

/* One operand may be smaller and is then repeated: a vector [n] or scalar [1] along all rows; a dimension of 1; or
 * [B,A] against [B,S,A] (each of the B rows for all S, also when B = S). */
HEED_API hd_node *hd_add(hd_node *a, hd_node *b);
HEED_API hd_node *hd_sub(hd_node *a, hd_node *b);
HEED_API hd_node *hd_mul(hd_node *a, hd_node *b);
HEED_API hd_node *hd_scale(hd_node *x, float s);
HEED_API hd_node *hd_shift(hd_node *x, float s); /* x + s */
HEED_API hd_node *hd_blend(hd_node *z, hd_node *a,
                           hd_node *b); /* (1-z)∘a + z∘b, all of one shape */
HEED_API hd_node *hd_tanh(hd_node *x);
HEED_API hd_node *hd_sigmoid(hd_node *x);
HEED_API hd_node *hd_relu(hd_node *x);
HEED_API hd_node *hd_gelu(hd_node *x);
HEED_API hd_node *hd_swish(hd_node *x);
HEED_API hd_node *hd_exp(hd_node *x);
HEED_API hd_node *hd_log(hd_node *x);
HEED_API hd_node *hd_dropout(hd_node *x, float rate); /* only while training; 0 ≤ rate < 1 */
HEED_API hd_node *hd_maxout(hd_node *x); /* […,2n] to […,n]: the larger of each pair */

/* ---- rows and reductions ------------------------------------------------------------------------------------- */

HEED_API hd_node *hd_softmax(hd_node *x,
                             const hd_mask *mask); /* over the last dimension; mask may be NULL */
HEED_API hd_node *hd_log_softmax(hd_node *x, const hd_mask *mask);
HEED_API hd_node *hd_layer_norm(hd_node *x, hd_node *gain, hd_node *bias, float eps);
HEED_API hd_node *hd_rms_norm(hd_node *x, hd_node *gain, float eps);
HEED_API hd_node *hd_sum(hd_node *x);  /* all numbers: [1] */
HEED_API hd_node *hd_mean(hd_node *x); /* 0 when there are none */
HEED_API hd_node *hd_sum_squares(hd_node *x);
HEED_API hd_node *hd_sum_rows(hd_node *x); /* over all rows: [last dimension] */
HEED_API hd_node *hd_sum_last(hd_node *x); /* over the last dimension, which becomes 1 */
HEED_API hd_node *hd_mean_spans(
    hd_node *h, const hd_spans *spans); /* mean of each sentence's rows: [B,E]; empty: 0 */

/* ---- attention ----------------------------------------------------------------------------------------------- */

/* vᵀ x along the last dimension, which disappears: v [A], x […,A]. Of a vector x [A] it is a number [1]. */
HEED_API hd_node *hd_dot(hd_node *v, hd_node *x);

/* Rows of sentences, x [rows,A], as the keys or values of the ops below; to all other ops it is x. */
HEED_API hd_node *hd_ragged(hd_node *x, const hd_spans *spans);

/* Scores of one query per sentence against its keys, q [B,A], k [B,S,A] or ragged: [B,S]. Where sentences are ragged, S is the
 * longest, with zeros where a sentence has ended (mask them: hd_mask_lengths). */
HEED_API hd_node *hd_dot_each(hd_node *q, hd_node *k);             /* q·k_j */
HEED_API hd_node *hd_additive(hd_node *v, hd_node *q, hd_node *k); /* vᵀ tanh(q + k_j) */
/* vᵀ tanh(q + k_j + w·cover_j), cover [B,S], w [A] */
HEED_API hd_node *hd_additive_covered(hd_node *v, hd_node *q, hd_node *k, hd_node *w,
                                      hd_node *cover);
/* vᵀ tanh(q + k_j + x_j): every query with something of its own at each of its keys, x [Σ S,A], query after query */
HEED_API hd_node *hd_additive_located(hd_node *v, hd_node *q, hd_node *k, hd_node *x);

/* Numbers of positions, x [B,S], as windows around each position of each sentence: [Σ S,width], zeros beyond a sentence's ends. `width`
 * is odd. A product with them is a convolution. */
HEED_API hd_node *hd_windows(hd_node *x, const hd_spans *spans, int width);

/* Σ_j α_j h_j: alpha [B,S], h [B,S,E] or ragged; [B,E]. */
HEED_API hd_node *hd_mix(hd_node *alpha, hd_node *h);

/* Multi-head scaled dot-product attention of ragged sentences: q [Σ queries, H·d], k [Σ keys, H·d], v [Σ keys, H·e]. Each
 * sentence and head by itself: softmax(scale · q kᵀ) v, heads side by side. */
typedef struct hd_attention_options {
    const hd_spans *queries, *keys; /* as many sentences each; those of queries share no rows */
    const int
        *key_rows; /* for search, with one query per sentence and no gradient: key and value i of
                            the spans stand in row key_rows[i] of k and v; NULL: in row i */
    int n_heads;
    bool is_causal; /* the last query sees all keys, the one before it all but one, … */
    float scale;    /* 0 is 1/√d */
    float dropout;  /* of the weights, while training */
} hd_attention_options;
HEED_API hd_node *hd_attention(hd_node *q, hd_node *k, hd_node *v,
                               const hd_attention_options *options);
/* The weights of one sentence and head, [queries, keys], before dropout. They live as long as the tape's batch. */
HEED_API const float *hd_attention_weights(const hd_node *attention, int sentence, int head);

/* ---- recurrences --------------------------------------------------------------------------------------------- */

enum hd_cell { HD_RNN, HD_GRU, HD_LSTM };

/* One step for B rows. x is the input's share W x + b and u the state's share U s' (+ c), [B, k·D] with the gates side
 * by side: rnn k=1; gru r,z,n (k=3, reset after the product); lstm i,f,g,o (k=4). */
HEED_API hd_node *hd_rnn_cell(hd_node *x, hd_node *u); /* tanh(x + u) */
HEED_API hd_node *hd_gru_cell(hd_node *x, hd_node *u, hd_node *s);
/* Returns [s; c], [B,2D]: hd_part(…, 0, D) is the state, hd_part(…, D, D) the cell. */
HEED_API hd_node *hd_lstm_cell(hd_node *x, hd_node *u, hd_node *c);

/* The same cells op by op, as their papers write them: slower, to read, to compare with, and to start a cell of one's own from. */
HEED_API hd_node *hd_rnn_equations(hd_node *x, hd_node *u);
HEED_API hd_node *hd_gru_equations(hd_node *x, hd_node *u, hd_node *s);
HEED_API hd_node *hd_lstm_equations(hd_node *x, hd_node *u, hd_node *c);

/* A whole recurrence over ragged sentences: x [Σ T, k·D] the input's share of all steps, made by one product beforehand;
 * U [D,k·D]; b [k·D] added to U s', or NULL; start [B,D] or NULL for zeros (LSTM: [B,2D], s beside c). The result is the
 * state of every position, [Σ T, D] (LSTM: [Σ T, 2D], s beside c), in the rows of x. is_reversed runs each
 * sentence from its last position to its first. */
typedef struct hd_recurrence_options {
    enum hd_cell cell;
    const hd_spans *spans; /* sentences must not share rows */
    bool is_reversed;
} hd_recurrence_options;
HEED_API hd_node *hd_recurrence(hd_node *x, hd_node *U, hd_node *b, hd_node *start,
                                const hd_recurrence_options *options);

/* A recurrence without a product over ragged sentences, c_t = f_t∘c_{t-1} + (1-f_t)∘u_t with f = σ(z): z and u [Σ T, D] of all steps, start
 * [B,D] or NULL for zeros. The result is c of every position, [Σ T, D], in the rows of u; sentences must not share rows. */
HEED_API hd_node *hd_gated_scan(hd_node *z, hd_node *u, hd_node *start, const hd_spans *spans);

/* ---- losses -------------------------------------------------------------------------------------------------- */

/* The output layer, softmax and cross entropy in one: Σ_i [(1-ε)·(-log p_i,target) + ε·mean_v(-log p_iv)], p_i = softmax(W x_i + b).
 * x [N,D], W [D,V] (or [V,D] when is_transposed: tied to an embedding), b [V] or NULL, targets [N], -1 leaves a row out. The logits
 * [N,V] never exist whole. Options may be NULL: not transposed, no smoothing. */
typedef struct hd_output_options {
    bool is_transposed;
    float smoothing; /* ε */
} hd_output_options;
HEED_API hd_node *hd_output_loss(hd_node *W, hd_node *b, hd_node *x, const int *targets,
                                 const hd_output_options *options);

/* Two passes x1, x2 over the same targets (R-Drop, SimCut):
 * weight1·loss(x1) + weight2·loss(x2) + forward·KL(p1‖p2) + backward·KL(p2‖p1), summed over rows. */
typedef struct hd_consistency {
    float weight1, weight2, forward, backward;
} hd_consistency;
HEED_API hd_node *hd_output_loss_pair(hd_node *W, hd_node *b, hd_node *x1, hd_node *x2,
                                      const int *targets, const hd_output_options *options,
                                      const hd_consistency *consistency);

/* Where attention should look: row `row` at key `key`, with this share of its weight. */
typedef struct hd_guide {
    int row, key;
    float share;
} hd_guide;

/* Guided attention (Chen et al., 2016; Garg et al., 2019): -Σ share · ln(α_{row,key} + 1e-8) over n guides, which are copied. Of weights
 * that are a node, alpha [B,S]; and of one head of hd_attention(), whose rows are the queries of all sentences one after the other, and
 * whose keys count from the sentence's first. Rows ascend. */
HEED_API hd_node *hd_guide_weights(hd_node *alpha, const hd_guide *guides, int n);
HEED_API hd_node *hd_guide_attention(hd_node *attention, int head, const hd_guide *guides, int n);

/* The same on logits that exist: logits [N,V]. */
HEED_API hd_node *hd_cross_entropy(hd_node *logits, const int *targets, float smoothing);
HEED_API hd_node *hd_kl(hd_node *logits1,
                        hd_node *logits2); /* Σ_i KL(softmax 1 ‖ softmax 2), [1] */

/* Connectionist temporal classification (Graves et al., 2006): -Σ log p(labels of a sentence | its logits), [1]. logits [Σ S,K+1] have a row
 * for each position of the spans, and the last column is the blank; labels stand sentence after sentence, n_labels[i] of each, from 0 to
 * K-1. A sentence with fewer positions than hd_ctc_least() counts for nothing; *n_skipped, which may be NULL, is their number. */
HEED_API hd_node *hd_ctc(hd_node *logits, const hd_spans *spans, const int *labels,
                         const int *n_labels, int *n_skipped);

/* Positions that n labels want at least: one each, and one for a blank between two that are the same. */
HEED_API int hd_ctc_least(const int *labels, int n);

#ifdef __cplusplus
}
#endif
#endif
