/* asking.h -- queries that ask the rows of sentences, by any score: for outputs that have no decoder.
 *
 * A decoder's state asks step by step (placement.h); a learned query, the words of a document or a pointer ask all at once. */
#ifndef HD_MODEL_ASKING_H
#define HD_MODEL_ASKING_H

#include "model/score.h"

struct hd_asking {
    struct hd_config config; /* the net's, with the score and the width of the queries, dim */
    struct hd_score_parts score;
};

/* Declare "name.W" and what else the score of the configuration needs. */
void hd_asking_declare(struct hd_asking *asking, const struct hd_config *config, hd_params *params,
                       const char *name);
void hd_asking_init(const struct hd_asking *asking, uint64_t seed);

/* Query b of the steps in score.h asks sentence b of the spans, which are rows of h; several may ask the same rows. */
struct hd_view hd_asking_view(const struct hd_asking *asking, hd_node *h, const hd_spans *spans);

#endif
