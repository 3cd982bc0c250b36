/* test_sentences.c -- what each op says when it is given what it cannot take, word for word. */
#include "test.h"

#include <heed_graph.h>
#include <math.h>

static hd_tape *t;

static int new_tape(void **state)
{
    (void)state;
    t = hd_tape_new(NULL);
    return t ? 0 : -1;
}

static int free_tape(void **state)
{
    (void)state;
    hd_tape_free(t);
    return 0;
}

/* The tape says this, and the op gave its error node. */
static void said(int line, const char *sentence, const hd_node *result)
{
    if (strcmp(hd_tape_error(t)->message, sentence) != 0)
        fail_msg("line %d: \"%s\", but it should say \"%s\"", line, hd_tape_error(t)->message,
                 sentence);
    assert_true(result->tape == t && hd_count(result) == 1);
    hd_tape_reset(t);
}

#define says(sentence, op) said(__LINE__, sentence, op)
#define in(...)            hd_input(t, NULL, __VA_ARGS__)
#define ints(...)          ((const int[]){__VA_ARGS__})
#define nodes(...)         ((hd_node *[]){__VA_ARGS__})
#define spans(...)         hd_spans_of(t, ints(__VA_ARGS__), count(__VA_ARGS__))
#define count(...)         (int)(sizeof ints(__VA_ARGS__) / sizeof(int))
/* After making spans or masks there is no node to look at. */
#define says_of(sentence, made) ((void)(made), said(__LINE__, sentence, hd_sum(in(1))))

static void linear_maps(void **state)
{
    (void)state;
    says("hd_lin: W [6,4] does not take x [2,7]", hd_lin(in(6, 4), in(2, 7)));
    says("hd_lin: W [7] does not take x [2,7]", hd_lin(in(7), in(2, 7)));
    says("hd_affine: W [6,4] does not take x [7]", hd_affine(in(6, 4), in(4), in(7)));
    says("hd_affine: b [6] does not fit W [6,4], it must be [4]",
         hd_affine(in(6, 4), in(6), in(6)));
    says("hd_affine: b [1,4] does not fit W [6,4], it must be [4]",
         hd_affine(in(6, 4), in(1, 4), in(6)));
    says("hd_dense: W [6,4] does not take x [1,2,3,4]",
         hd_dense(in(6, 4), NULL, in(1, 2, 3, 4), HD_TANH));
    says("hd_dense: there is no function 6", hd_dense(in(6, 4), NULL, in(6), (enum hd_function)6));
    says("hd_lin_transposed: W [6,4] does not take x [2,6]", hd_lin_transposed(in(6, 4), in(2, 6)));
    says("hd_affine_transposed: W [6,4] does not take x [2,6]",
         hd_affine_transposed(in(6, 4), in(6), in(2, 6)));
    says("hd_affine_transposed: b [4] does not fit W [6,4], it must be [6]",
         hd_affine_transposed(in(6, 4), in(4), in(2, 4)));
    says("hd_embed: the table [4] is not a matrix", hd_embed(t, in(4), ints(0), 1));
    says("hd_embed: ids[2] = 4, but the table [4,8] has 4 rows",
         hd_embed(t, in(4, 8), ints(0, 3, 4), 3));
    says("hd_embed: ids[1] = -1, but the table [4,8] has 4 rows",
         hd_embed(t, in(4, 8), ints(0, -1), 2));
    says("hd_embed: the result cannot be [-2,8], a size is negative",
         hd_embed(t, in(4, 8), NULL, -2));
    says("hd_rows: index[3] = 9, but x [4,8] has 4 rows", hd_rows(in(4, 8), ints(0, -1, 3, 9), 4));
    says("hd_rows: index[0] = -2, but x [2,2,8] has 4 rows", hd_rows(in(2, 2, 8), ints(-2), 1));
}

static void shapes(void **state)
{
    (void)state;
    says("hd_concat: part 0 [2,3] and part 1 [3,3] do not fit together",
         hd_concat(in(2, 3), in(3, 3)));
    says("hd_join: part 0 [2,3] and part 2 [6] do not fit together",
         hd_join(nodes(in(2, 3), in(2, 1), in(6)), 3));
    says("hd_pile: part 0 [2,3] and part 1 [2,4] do not fit together",
         hd_pile(nodes(in(2, 3), in(2, 4)), 2));
    says("hd_part: x [2,5] has no columns 3 to 6", hd_part(in(2, 5), 3, 3));
    says("hd_part: x [2,5] has no columns -1 to 2", hd_part(in(2, 5), -1, 3));
    says("hd_part: x [2,5] has no columns 2 to 1", hd_part(in(2, 5), 2, -1));
    says("hd_part: x [2,5] has no columns 2147483647 to 4294967294",
         hd_part(in(2, 5), 2147483647, 2147483647));
    says("hd_slice: the first dimension of x [2,5] has no 1 to 3", hd_slice(in(2, 5), 1, 2));
    says("hd_transpose: x [2,3,4] is not a matrix", hd_transpose(in(2, 3, 4)));
    says("hd_reshape: x [2,3] holds 6 numbers, [4,2] would hold 8", hd_reshape(in(2, 3), 4, 2));
    says("hd_reshape: the result cannot be [-2,-3], a size is negative",
         hd_reshape(in(2, 3), -2, -3));
    says("hd_reshape: 5 dimensions were asked for, a node has 1 to 4",
         hd_reshape(in(1), 1, 1, 1, 1, 1));
    says("hd_spread: q [2,3] does not have one row for each of 3 sentences",
         hd_spread(in(2, 3), spans(1, 0, 2)));
    says("hd_pad: e [2] does not have one number for each of 3 rows",
         hd_pad(in(2), spans(1, 0, 2)));
    says("hd_pad: e [3,2] does not have one number for each of 3 rows",
         hd_pad(in(3, 2), spans(1, 0, 2)));
}

static void element_by_element(void **state)
{
    (void)state;
    says("hd_add: a [2,3] and b [3,2] do not fit together", hd_add(in(2, 3), in(3, 2)));
    says("hd_add: a [2] and b [2,3] do not fit together", hd_add(in(2), in(2, 3)));
    says("hd_sub: a [3,4] and b [2,3,4] do not fit together", hd_sub(in(3, 4), in(2, 3, 4)));
    says("hd_mul: a [2,3,4] and b [1,2,3,4] do not fit together",
         hd_mul(in(2, 3, 4), in(1, 2, 3, 4)));
    says("hd_blend: z [3], a [3] and b [1] are not of one shape", hd_blend(in(3), in(3), in(1)));
    says("hd_dropout: the rate is 1, it must be at least 0 and less than 1", hd_dropout(in(3), 1));
    says("hd_dropout: the rate is -0.5, it must be at least 0 and less than 1",
         hd_dropout(in(3), -0.5F));
    says("hd_dropout: the rate is nan, it must be at least 0 and less than 1",
         hd_dropout(in(3), fabsf(NAN)));
    says("hd_maxout: the last dimension of x [2,5] is odd", hd_maxout(in(2, 5)));
}

static void rows_and_reductions(void **state)
{
    (void)state;
    says("hd_softmax: the mask has 2 rows of 3, x [2,5] has 2 of 5",
         hd_softmax(in(2, 5), hd_mask_lengths(t, ints(1, 2), 2, 3)));
    says("hd_log_softmax: the mask has 1 rows of 5, x [2,2,5] has 4 of 5",
         hd_log_softmax(in(2, 2, 5), hd_mask_lengths(t, ints(1), 1, 5)));
    says("hd_layer_norm: gain [4] does not fit x [2,5], it must be [5]",
         hd_layer_norm(in(2, 5), in(4), in(5), 1));
    says("hd_layer_norm: bias [1,5] does not fit x [2,5], it must be [5]",
         hd_layer_norm(in(2, 5), in(5), in(1, 5), 1));
    says("hd_rms_norm: gain [4] does not fit x [2,5], it must be [5]",
         hd_rms_norm(in(2, 5), in(4), 1));
    says("hd_mean_spans: h [2,5] has 2 rows, but the spans reach to row 3",
         hd_mean_spans(in(2, 5), spans(1, 2)));
}

static void attention(void **state)
{
    (void)state;
    says("hd_dot: v [4] does not take x [2,5]", hd_dot(in(4), in(2, 5)));
    says("hd_dot: v [1,5] does not take x [2,5]", hd_dot(in(1, 5), in(2, 5)));
    says("hd_dot_each: k [6,4] is not [B,S,A]; give rows of sentences their spans with hd_ragged()",
         hd_dot_each(in(2, 4), in(6, 4)));
    says("hd_dot_each: q [3,4] does not fit k [2,3,4], it must be [2,4]",
         hd_dot_each(in(3, 4), in(2, 3, 4)));
    says("hd_ragged: x [7,4] has 7 rows, but the spans reach to row 9",
         hd_dot_each(in(2, 4), hd_ragged(in(7, 4), spans(4, 5))));
    says("hd_dot_each: q [2,5] does not fit k [7,4], it must be [2,4]",
         hd_dot_each(in(2, 5), hd_ragged(in(7, 4), spans(3, 4))));
    says("hd_additive: v [3] does not fit k [2,3,4], it must be [4]",
         hd_additive(in(3), in(2, 4), in(2, 3, 4)));
    says("hd_additive: q [2,3] does not fit k [2,3,4], it must be [2,4]",
         hd_additive(in(4), in(2, 3), in(2, 3, 4)));
    says("hd_additive: k [6,4] is not [B,S,A]; give rows of sentences their spans with hd_ragged()",
         hd_additive(in(4), in(2, 4), in(6, 4)));
    says("hd_additive_covered: cover [2,3] must be [2,4]",
         hd_additive_covered(in(4), in(2, 4), hd_ragged(in(7, 4), spans(3, 4)), in(4), in(2, 3)));
    says("hd_additive_covered: w [3] does not fit k [7,4], it must be [4]",
         hd_additive_covered(in(4), in(2, 4), hd_ragged(in(7, 4), spans(3, 4)), in(3), in(2, 4)));
    says("hd_additive_located: x [6,4] must be [7,4]",
         hd_additive_located(in(4), in(2, 4), hd_ragged(in(7, 4), spans(3, 4)), in(6, 4)));
    says("hd_additive_located: v [3] does not fit k [7,4], it must be [4]",
         hd_additive_located(in(3), in(2, 4), hd_ragged(in(7, 4), spans(3, 4)), in(7, 4)));
    says("hd_additive_located: q [3,4] does not fit k [7,4], it must be [2,4]",
         hd_additive_located(in(4), in(3, 4), hd_ragged(in(7, 4), spans(3, 4)), in(7, 4)));
    says("hd_windows: x [2,3] must be [2,4]", hd_windows(in(2, 3), spans(3, 4), 3));
    says("hd_windows: the width is 2, it must be odd", hd_windows(in(2, 4), spans(3, 4), 2));
    says("hd_mix: alpha [2,4] does not fit h [2,3,5], it must be [2,3]",
         hd_mix(in(2, 4), in(2, 3, 5)));
    says("hd_mix: h [6,5] is not [B,S,A]; give rows of sentences their spans with hd_ragged()",
         hd_mix(in(2, 3), in(6, 5)));
    says("hd_mix: alpha [2,3] does not fit h [7,5], it must be [2,4]",
         hd_mix(in(2, 3), hd_ragged(in(7, 5), spans(3, 4))));
}

#define attend(...) (&(const hd_attention_options){__VA_ARGS__})

static void attention_of_many_heads(void **state)
{
    (void)state;
    says("hd_attention: q [3,6] and v [4,6] cannot be cut into 4 heads",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = spans(3), .keys = spans(4), .n_heads = 4)));
    says("hd_attention: q [3,6] and v [4,5] cannot be cut into 2 heads",
         hd_attention(in(3, 6), in(4, 6), in(4, 5),
                      attend(.queries = spans(3), .keys = spans(4), .n_heads = 2)));
    says("hd_attention: q [3,6] and v [4,6] cannot be cut into 0 heads",
         hd_attention(in(3, 6), in(4, 6), in(4, 6), attend(.queries = spans(3), .keys = spans(4))));
    says("hd_attention: q [3,6] and v [4,6] cannot be cut into -2 heads",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = spans(3), .keys = spans(4), .n_heads = -2)));
    says("hd_attention: q [3,6] and k [4,8] differ in width",
         hd_attention(in(3, 6), in(4, 8), in(4, 6),
                      attend(.queries = spans(3), .keys = spans(4), .n_heads = 2)));
    says("hd_attention: k [4,6] and v [2,3,6] differ in rows",
         hd_attention(in(3, 6), in(4, 6), in(2, 3, 6),
                      attend(.queries = spans(3), .keys = spans(4), .n_heads = 2)));
    says("hd_attention: queries of 2 sentences, but keys of 1",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = spans(1, 2), .keys = spans(4), .n_heads = 2)));
    says("hd_attention: the queries' sentences end at row 4, but q is [3,6]",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = spans(2, 2), .keys = spans(2, 2), .n_heads = 2)));
    says("hd_attention: the keys' sentences end at row 5, but k is [4,6]",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = spans(1, 2), .keys = spans(3, 2), .n_heads = 2)));
    says("hd_attention: two sentences share a row of q [3,6]",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = hd_spans_at(t, ints(1, 0), ints(2, 2), 2),
                             .keys = spans(2, 2), .n_heads = 2)));
    says("hd_attention: the dropout is 1, it must be at least 0 and less than 1",
         hd_attention(in(3, 6), in(4, 6), in(4, 6),
                      attend(.queries = spans(3), .keys = spans(4), .n_heads = 2, .dropout = 1)));
    says("hd_attention: the dropout is -0.5, it must be at least 0 and less than 1",
         hd_attention(
             in(3, 6), in(4, 6), in(4, 6),
             attend(.queries = spans(3), .keys = spans(4), .n_heads = 2, .dropout = -0.5F)));
    says("hd_attention: the weights of 1 sentences and 1 heads are too many",
         hd_attention(
             in(2147483647, 0), in(2147483647, 0), in(2147483647, 0),
             attend(.queries = spans(2147483647), .keys = spans(2147483647), .n_heads = 1)));
    says("hd_attention: the weights of 1 sentences and 1000000 heads are too many",
         hd_attention(
             in(2147483647, 0), in(2147483647, 0), in(2147483647, 0),
             attend(.queries = spans(2147483647), .keys = spans(2147483647), .n_heads = 1000000)));
}

static void cells(void **state)
{
    (void)state;
    says("hd_rnn_cell: x [2,3] and u [2,4] must both be [B,D]", hd_rnn_cell(in(2, 3), in(2, 4)));
    says("hd_gru_cell: x [2,9] and u [2,9] must both be [B,3·D] when s [2,4] is [B,D]",
         hd_gru_cell(in(2, 9), in(2, 9), in(2, 4)));
    says("hd_gru_cell: x [9] and u [9] must both be [B,3·D] when s [3] is [B,D]",
         hd_gru_cell(in(9), in(9), in(3)));
    says("hd_lstm_cell: x [2,12] and u [3,12] must both be [B,4·D] when c [2,3] is [B,D]",
         hd_lstm_cell(in(2, 12), in(3, 12), in(2, 3)));
}

#define recur(...) (&(const hd_recurrence_options){__VA_ARGS__})

static void recurrences(void **state)
{
    (void)state;
    says("hd_recurrence: there is no cell 3",
         hd_recurrence(in(5, 3), in(3, 3), NULL, NULL,
                       recur(.cell = (enum hd_cell)3, .spans = spans(2, 3))));
    says("hd_recurrence: U [3,4] should be [D,1·D]",
         hd_recurrence(in(5, 4), in(3, 4), NULL, NULL, recur(.cell = HD_RNN, .spans = spans(5))));
    says("hd_recurrence: U [3,12] should be [D,3·D]",
         hd_recurrence(in(5, 12), in(3, 12), NULL, NULL, recur(.cell = HD_GRU, .spans = spans(5))));
    says(
        "hd_recurrence: U [4,12] should be [D,4·D]",
        hd_recurrence(in(5, 12), in(4, 12), NULL, NULL, recur(.cell = HD_LSTM, .spans = spans(5))));
    says("hd_recurrence: U [1] should be [D,1·D]",
         hd_recurrence(in(5, 1), in(1), NULL, NULL, recur(.cell = HD_RNN, .spans = spans(5))));
    says("hd_recurrence: U [2147483647,0] should be [D,4·D]",
         hd_recurrence(in(5, 0), in(2147483647, 0), NULL, NULL,
                       recur(.cell = HD_LSTM, .spans = spans(5))));
    says("hd_recurrence: U [3,9] does not take x [5,3]",
         hd_recurrence(in(5, 3), in(3, 9), NULL, NULL, recur(.cell = HD_GRU, .spans = spans(5))));
    says("hd_recurrence: b [3] does not fit U [3,9], it must be [9]",
         hd_recurrence(in(5, 9), in(3, 9), in(3), NULL, recur(.cell = HD_GRU, .spans = spans(5))));
    says("hd_recurrence: b [1,9] does not fit U [3,9], it must be [9]",
         hd_recurrence(in(5, 9), in(3, 9), in(1, 9), NULL,
                       recur(.cell = HD_GRU, .spans = spans(5))));
    says("hd_recurrence: start [1,3] should be [2,3], a state for each sentence",
         hd_recurrence(in(5, 9), in(3, 9), NULL, in(1, 3),
                       recur(.cell = HD_GRU, .spans = spans(2, 3))));
    says("hd_recurrence: start [2,3] should be [2,6], a state for each sentence",
         hd_recurrence(in(5, 12), in(3, 12), in(12), in(2, 3),
                       recur(.cell = HD_LSTM, .spans = spans(2, 3))));
    says("hd_recurrence: start [6] should be [1,6], a state for each sentence",
         hd_recurrence(in(5, 12), in(3, 12), NULL, in(6),
                       recur(.cell = HD_LSTM, .spans = spans(5))));
    says(
        "hd_recurrence: the sentences end at row 6, but x is [5,9]",
        hd_recurrence(in(5, 9), in(3, 9), NULL, NULL, recur(.cell = HD_GRU, .spans = spans(2, 4))));
    says("hd_gated_scan: z [5,9] and u [5,3] are not of one shape",
         hd_gated_scan(in(5, 9), in(5, 3), NULL, spans(5)));
    says("hd_gated_scan: start [1,3] should be [2,3], a state for each sentence",
         hd_gated_scan(in(5, 3), in(5, 3), in(1, 3), spans(2, 3)));
    says("hd_gated_scan: the sentences end at row 6, but z is [5,3]",
         hd_gated_scan(in(5, 3), in(5, 3), NULL, spans(2, 4)));
    says("hd_recurrence: two sentences share a row of x [5,9]",
         hd_recurrence(
             in(5, 9), in(3, 9), NULL, NULL,
             recur(.cell = HD_GRU, .spans = hd_spans_at(t, ints(3, 1, 0), ints(2, 0, 4), 3))));
}

static void losses(void **state)
{
    (void)state;
    says("hd_ctc: the logits [5,4] must have a row for each of 6 positions",
         hd_ctc(in(5, 4), spans(3, 3), ints(1, 2), ints(1, 1), NULL));
    says("hd_ctc: labels[1] = 3, but the logits [6,4] have 3 labels and a blank",
         hd_ctc(in(6, 4), spans(3, 3), ints(1, 3), ints(1, 1), NULL));
    says("hd_cross_entropy: the logits [5] are not a matrix", hd_cross_entropy(in(5), ints(0), 0));
    says("hd_cross_entropy: targets[1] = 5, but the logits [2,5] have 5 columns",
         hd_cross_entropy(in(2, 5), ints(-1, 5), 0));
    says("hd_cross_entropy: targets[0] = -2, but the logits [2,5] have 5 columns",
         hd_cross_entropy(in(2, 5), ints(-2, 0), 0));
    says("hd_cross_entropy: the smoothing is 1.5, it must be from 0 to 1",
         hd_cross_entropy(in(1, 5), ints(0), 1.5F));
    says("hd_kl: the logits [2,5] and [2,4] are not two matrices of one shape",
         hd_kl(in(2, 5), in(2, 4)));
    says("hd_kl: the logits [5] and [5] are not two matrices of one shape", hd_kl(in(5), in(5)));
}

#define output(...) (&(const hd_output_options){__VA_ARGS__})

static void output_layers(void **state)
{
    (void)state;
    const hd_consistency both = {1, 1, 1, 1};
    says("hd_output_loss: W [6,4] does not take x [2,7]",
         hd_output_loss(in(6, 4), NULL, in(2, 7), ints(0, 0), NULL));
    says("hd_output_loss: W [6] does not take x [2,6]",
         hd_output_loss(in(6), NULL, in(2, 6), ints(0, 0), NULL));
    says("hd_output_loss: W [6,4] transposed does not take x [2,6]",
         hd_output_loss(in(6, 4), NULL, in(2, 6), ints(0, 0), output(.is_transposed = true)));
    says("hd_output_loss: b [6] does not fit W [6,4], it must be [4]",
         hd_output_loss(in(6, 4), in(6), in(2, 6), ints(0, 0), NULL));
    says("hd_output_loss: b [4] does not fit W [6,4] transposed, it must be [6]",
         hd_output_loss(in(6, 4), in(4), in(2, 4), ints(0, 0), output(.is_transposed = true)));
    says("hd_output_loss: b [1,4] does not fit W [6,4], it must be [4]",
         hd_output_loss(in(6, 4), in(1, 4), in(2, 6), ints(0, 0), NULL));
    says("hd_output_loss: targets[1] = 4, but W [6,4] has 4 outputs",
         hd_output_loss(in(6, 4), NULL, in(2, 6), ints(-1, 4), NULL));
    says("hd_output_loss: targets[0] = 6, but W [6,4] transposed has 6 outputs",
         hd_output_loss(in(6, 4), NULL, in(2, 4), ints(6, 0), output(.is_transposed = true)));
    says("hd_output_loss: targets[0] = -2, but W [6,4] has 4 outputs",
         hd_output_loss(in(6, 4), NULL, in(2, 6), ints(-2, 0), NULL));
    says("hd_output_loss: the smoothing is 1.5, it must be from 0 to 1",
         hd_output_loss(in(6, 4), NULL, in(2, 6), ints(0, 0), output(.smoothing = 1.5F)));
    says("hd_output_loss: the smoothing is nan, it must be from 0 to 1",
         hd_output_loss(in(6, 4), NULL, in(2, 6), ints(0, 0), output(.smoothing = fabsf(NAN))));
    says("hd_output_loss_pair: W [6,4] does not take x1 [2,7]",
         hd_output_loss_pair(in(6, 4), NULL, in(2, 7), in(2, 6), ints(0, 0), NULL, &both));
    says("hd_output_loss_pair: x1 [2,6] and x2 [3,6] differ",
         hd_output_loss_pair(in(6, 4), NULL, in(2, 6), in(3, 6), ints(0, 0), NULL, &both));
    says("hd_output_loss_pair: targets[1] = 9, but W [6,4] has 4 outputs",
         hd_output_loss_pair(in(6, 4), NULL, in(2, 6), in(2, 6), ints(0, 9), NULL, &both));
}

static void sentences_and_masks(void **state)
{
    (void)state;
    const int large[] = {2147483647, 1};
    says_of("hd_spans_of: lengths[1] = -3, that cannot be", spans(1, -3));
    says_of("hd_spans_of: n = -1, that cannot be", hd_spans_of(t, NULL, -1));
    says_of("hd_spans_of: the sentences up to lengths[1] have more than 2147483647 rows together",
            hd_spans_of(t, large, 2));
    says_of("hd_spans_at: starts[0] = -1, that cannot be", hd_spans_at(t, ints(-1), ints(2), 1));
    says_of("hd_spans_at: the sentences up to lengths[0] have more than 2147483647 rows together",
            hd_spans_at(t, large, ints(1), 1));
    says_of("hd_mask_lengths: lengths[1] = 4, but rows are 3 wide",
            hd_mask_lengths(t, ints(3, 4), 2, 3));
    says_of("hd_mask_lengths: lengths[0] = -1, but rows are 3 wide",
            hd_mask_lengths(t, ints(-1), 1, 3));
    says_of("hd_mask_ranges: the result cannot be [-1,3], a size is negative",
            hd_mask_ranges(t, ints(0), ints(1), -1, 3));
    says_of("hd_mask_bytes: the result cannot be [2,-3], a size is negative",
            hd_mask_bytes(t, NULL, 2, -3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_maps),
        cmocka_unit_test(shapes),
        cmocka_unit_test(element_by_element),
        cmocka_unit_test(rows_and_reductions),
        cmocka_unit_test(attention),
        cmocka_unit_test(attention_of_many_heads),
        cmocka_unit_test(cells),
        cmocka_unit_test(recurrences),
        cmocka_unit_test(losses),
        cmocka_unit_test(output_layers),
        cmocka_unit_test(sentences_and_masks),
    };
    return cmocka_run_group_tests(tests, new_tape, free_tape);
}
