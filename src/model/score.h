/* score.h -- attention for recurrent decoders: scores e_tj, weights α_t, contexts c_t. docs/models.md has the formulas. */
#ifndef HD_MODEL_SCORE_H
#define HD_MODEL_SCORE_H

#include "graph/context.h"
#include "model/model.h"
#include "model/param.h"

enum { HD_MAX_DEPTH = 8 };

/* Layers of a small network: tanh between them, none after the last. */
struct hd_mlp {
    int depth;
    hd_node *W[HD_MAX_DEPTH], *b[HD_MAX_DEPTH];
};

struct hd_score_parts {
    hd_node *W, *U, *v, *b, *cover; /* query side, key side, and what goes with them */
    struct hd_map_norm of_s, of_h;  /* scores with a tanh: of W s, of U h_j */
    hd_node *F, *L;             /* location-aware: filters [width,n], and what maps them [n,A] */
    struct hd_mlp q, k, values; /* scaled */
    hd_node *Wq, *Wk, *Wv, *Wo; /* multi-head */
    hd_node *Wp, *vp;           /* local p */
};

/* What sentences offer: made once, attended to in every step. */
struct hd_keys {
    hd_node *keys, *values; /* [Σ S, ·] */
};

/* What the rows of one step attend to, and how. */
struct hd_view {
    const struct hd_score_parts *parts;
    const struct hd_config *config;
    const hd_spans *spans; /* [B] into the rows of keys and values */
    const hd_mask *mask;   /* [B, longest], by length */
    hd_node *h;            /* the keys, ragged by the spans; NULL without a score */
    const struct hd_keys *keys;
    const struct hd_values *values;
    hd_node *cover;            /* [B, longest]: Σ of earlier α; NULL without coverage */
    hd_node *before;           /* [B, longest]: α_{t-1}; NULL where no score reads it */
    const int *length;         /* [B]: words before this one */
    const float *const *looks; /* [B]: weights that are given instead of its own; NULL: none are */
};

/* Declare "<at>.W" and what else the score needs. */
void hd_score_declare(struct hd_score_parts *parts, const struct hd_config *config,
                      hd_params *params, const char *at);
void hd_score_init(const struct hd_score_parts *parts, uint64_t seed);

struct hd_keys hd_score_keys(const struct hd_score_parts *parts, const struct hd_config *config,
                             hd_node *h);

/* Attention of a query s [B,D] in three steps: the scores e_tj, the weights α_t, the context c_t. Multi-head attention is one op that
 * does it all for every head; it then stands for e and for α. */
hd_node *hd_attend_score(const struct hd_view *view, hd_node *s);
hd_node *hd_attend_softmax(const struct hd_view *view, hd_node *e, hd_node *s);
hd_node *hd_attend_context(const struct hd_view *view, hd_node *alpha);
#endif
