/* weights.h -- attention as a result: the weights α that the rows of a run gave to their keys.
 *
 * The nodes that attended are on the tape anyway; this says where the weights of each row are among them. */
#ifndef HD_MODEL_WEIGHTS_H
#define HD_MODEL_WEIGHTS_H

#include <heed_graph.h>

struct hd_net; /* model.h */

enum hd_attention_kind {
    HD_ATTENTION_CROSS,   /* target words over the source */
    HD_ATTENTION_ENCODER, /* source positions over their own sentence */
    HD_ATTENTION_DECODER, /* target words over the target up to themselves */
};

/* {0}: no attention. */
struct hd_weights {
    enum hd_attention_kind kind;
    int n_layers, n_heads;
    hd_node *const
        *nodes; /* Transformer: one of every layer; recurrent models: one of every step */
    hd_node *const *scores; /* recurrent models: the scores of every step; else NULL */
    const int *sequence; /* [rows]: Transformer: the row's sentence; recurrent models: its step */
    const int *query;    /* [rows]: the row's query among those of its sentence, or step */
    const int *n_keys;   /* [rows]: how many weights a row has */
    const float *(*find)(const struct hd_weights *weights, int row, int layer, int head);
    /* The scores e of a row, as they enter the softmax. */
    void (*find_scores)(const struct hd_weights *weights, int row, int layer, int head, float *e);
};

/* The weights of a row, weights->n_keys[row] of them (decoder: zeros for the words that come later). layer from 1, or 0 for the
 * model's alignment layer (self-attention: the last); head from 0, or -1 for the mean of the alignment heads (self-attention:
 * of all). Recurrent models have one layer, and one head unless their score is multi-head. False where there is no such
 * attention. */
bool hd_weights_of(const struct hd_net *net, const struct hd_weights *weights, int row, int layer,
                   int head, float *alpha);

/* The scores of which the softmax makes these weights. False where they are the mean of several heads, which has none. */
bool hd_scores_of(const struct hd_net *net, const struct hd_weights *weights, int row, int layer,
                  int head, float *e);

/* For those who attend. Row r is query query[r] of nodes[step[r]], which has weights [queries, longest], or is an attention of n_heads
 * heads; 0: it is none. */
struct hd_weights hd_weights_by_step(hd_node *const *nodes, int n_heads, const int *step,
                                     const int *query, const int *n_keys);

/* The same of one node whose row b attends to sentence b. {0} without memory, which the tape knows, or without a node. */
struct hd_weights hd_weights_of_one(hd_tape *tape, hd_node *node, int n_heads,
                                    const hd_spans *spans);

#endif
