/* context.h -- contexts that are computed only when somebody asks for their numbers.
 *
 * A context c = Σ_j α_j h_j is most often multiplied by weights and not used otherwise. The map moves inside the sum,
 * W Σ_j α_j h_j = Σ_j α_j (W h_j), so that W h is made once per sentence, in one large product, and a step only mixes short
 * rows. hd_lin(W, c) does that for the maps that were made known; every other op gets the numbers of c. */
#ifndef HD_GRAPH_CONTEXT_H
#define HD_GRAPH_CONTEXT_H

#include "graph/tape.h"

enum { HD_MAX_VALUE_MAPS = 2 };

/* What contexts are made of: h, and W h for the maps that contexts will go through. Must live as long as ops are made of them. */
struct hd_values {
    hd_node *h; /* [rows,E]; may be NULL where all maps are known */
    int n_maps;
    hd_node *W[HD_MAX_VALUE_MAPS], *Wh[HD_MAX_VALUE_MAPS]; /* Wh [rows,·] */
};

/* Make W h. */
void hd_values_map(struct hd_values *values, hd_node *W);

/* c = Σ_j α_j h_j, alpha [B, longest]: [B,E] */
hd_node *hd_context(hd_node *alpha, const struct hd_values *values, const hd_spans *spans);

/* c = h_i, the same for contexts that are one row each: i = index[b] of row b. The index must live as long. */
hd_node *hd_context_row(hd_tape *tape, const struct hd_values *values, const int *index, int n);

/* For hd_lin(): W c through W h; NULL when that is not known. */
hd_node *hd_context_lin(hd_node *W, const hd_node *c);

/* For all other ops: the numbers of c. */
void hd_context_compute(hd_node *c);

#endif
