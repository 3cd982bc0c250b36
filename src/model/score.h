/* score.h -- attention for recurrent decoders: scores e_tj, weights α_t, contexts c_t. FORMULAS section 4. */
#ifndef HD_MODEL_SCORE_H
#define HD_MODEL_SCORE_H

#include "model/model.h"

enum { HD_MAX_DEPTH = 8 };

/* Layers of a small network: tanh between them, none after the last. */
struct hd_mlp {
    int depth;
    hd_node *W[HD_MAX_DEPTH], *b[HD_MAX_DEPTH];
};

struct hd_score_parts {
    hd_node *W, *U, *v, *b, *cover; /* query side, key side, and what goes with them */
    struct hd_mlp q, k, values;     /* scaled */
    hd_node *Wq, *Wk, *Wv, *Wo;     /* multi-head */
    hd_node *Wp, *vp;               /* local p */
};

/* What one sentence offers: computed once, looked at in every step. */
struct hd_keys {
    hd_node *keys, *values; /* [Σ S, ·] */
};

/* Which sentence each row of the decoder looks at, in this step. */
struct hd_view {
    const hd_spans *spans; /* [B] into the rows of keys and values */
    const hd_mask *mask;   /* [B, longest], by length */
};

/* What came of it. */
struct hd_attended {
    hd_node *alpha; /* [B, longest]; NULL for multi-head */
    hd_node *c;     /* multi-head: the context itself [B, dim] */
    hd_node *node;  /* that has the weights: alpha, or multi-head's hd_attention */
};

void hd_score_declare(struct hd_score_parts *parts, const struct hd_config *config,
                      hd_params *params);
void hd_score_init(const struct hd_score_parts *parts, uint64_t seed);

struct hd_keys hd_score_keys(const struct hd_score_parts *parts, const struct hd_config *config,
                             hd_node *h);

/* s [B,D]; cover [B, longest] is Σ of earlier α, NULL without coverage; length [B]: words before this one. */
struct hd_attended hd_attend(const struct hd_score_parts *parts, const struct hd_config *config,
                             const struct hd_keys *keys, const struct hd_view *view, hd_node *s,
                             hd_node *cover, const int *length);

/* W c_t. A linear map moves inside the sum, W Σ_j α_j v_j = Σ_j α_j (W v_j): Wv = hd_lin(W, values) is made once per sentence. */
hd_node *hd_map_context(const struct hd_attended *attended, const struct hd_view *view, hd_node *W,
                        hd_node *Wv);
#endif
