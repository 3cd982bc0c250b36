/* guidance.h -- the loss of a run over whole targets that should look at given source words: guided attention.
 *
 * Links belong to target positions; the row that is guided is the one that makes the word, or, one step later, the one that reads it. */
#ifndef HD_MODEL_GUIDANCE_H
#define HD_MODEL_GUIDANCE_H

#include "model/model.h"

/* The token at `target` belongs to the one at `source`; both count from 0 in their sentence, end markers and symbols included. */
struct hd_token_link {
    int source, target;
};

/* Links of one sentence, by target, then source. */
struct hd_token_links {
    const struct hd_token_link *at;
    int n;
};

/* The step whose attention is guided: 1, the step that reads the word, for Transformers, which have other heads to translate by; 0, the
 * one that makes it, for recurrent models, whose only attention decides what is made. */
int hd_guided_shift(const struct hd_config *config);

/* weight · Σ over target tokens that have links of -Σ_j ln(α_tj + ε) / (number of its links), with α of the model's alignment layer and
 * its first alignment head; NULL where no token has any. links[i] are those of sentence i. */
hd_node *hd_forced_guidance(const struct hd_net *net, hd_tape *tape, const struct hd_forced *forced,
                            const struct hd_token_links *links, int n_sentences, float weight);

#endif
