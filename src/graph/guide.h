/* guide.h -- the weights inside hd_attention(): for guides that pull at them, and for people who look or ask what would have been. */
#ifndef HD_GRAPH_GUIDE_H
#define HD_GRAPH_GUIDE_H

#include "graph/tape.h"

/* Where the weights are that guides of this head mean, among all of the attention's. False when one means none. */
bool hd_attention_places(const hd_node *attention, int head, const hd_guide *guides, int n,
                         size_t *places);
const float *hd_attention_all_weights(const hd_node *attention);

/* On the way back: the gradient that guides give to the weights, to be added to; NULL when it has none to give, or without memory. */
float *hd_attention_guided(hd_tape *t, hd_node *attention);

/* The scores e of a query of a sentence against its keys, as they enter the softmax. */
void hd_attention_scores(const hd_node *attention, int sentence, int query, int head, float *e);

/* These weights instead of a query's own, and what follows from them in the attention's result; nothing on the way back. */
void hd_attention_look(hd_node *attention, int sentence, int query, int head, const float *alpha);

#endif
