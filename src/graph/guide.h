/* guide.h -- the weights inside hd_attention(), for guides that pull at them. */
#ifndef HD_GRAPH_GUIDE_H
#define HD_GRAPH_GUIDE_H

#include "graph/tape.h"

/* Where the weights are that guides of this head mean, among all of the attention's. False when one means none. */
bool hd_attention_places(const hd_node *attention, int head, const hd_guide *guides, int n,
                         size_t *places);
const float *hd_attention_all_weights(const hd_node *attention);

/* On the way back: the gradient that guides give to the weights, to be added to; NULL when it has none to give, or without memory. */
float *hd_attention_guided(hd_tape *t, hd_node *attention);

#endif
