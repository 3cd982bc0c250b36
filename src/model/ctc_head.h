/* ctc_head.h -- CTC beside the attention: an output layer over the encoder's states, which learns the words in their order by itself.
 *
 * Kim, Hori & Watanabe (2017), "Joint CTC-attention based end-to-end speech recognition": the encoder is told twice what it heard, once by
 * the decoder and once by a loss that can only go from left to right. docs/models.md has the formulas. */
#ifndef HD_MODEL_CTC_HEAD_H
#define HD_MODEL_CTC_HEAD_H

#include "model/batch.h"
#include "model/config.h"

struct hd_net;      /* model.h */
struct hd_memory;   /* model.h */
struct hd_dropouts; /* model.h */

struct hd_ctc_head {
    hd_node *W, *b; /* [E,V+1], [V+1]: the words, and the blank behind them; NULL without CTC */
};

void hd_ctc_declare(struct hd_ctc_head *head, const struct hd_config *config, hd_params *params);
void hd_ctc_init(const struct hd_ctc_head *head, uint64_t seed);

/* Logits [Σ S,V+1] of the encoder's states. */
hd_node *hd_ctc_logits(const struct hd_ctc_head *head, hd_node *h);

/* loss + ctc · Σ -log p(target without its last word, the end marker | h): what a net with CTC learns from; `loss` itself of a net without.
 * `dropouts` may be NULL. *n_skipped, which may be NULL, is the number of targets that are longer than their source has positions: for
 * these there is no path, and they count for `loss` alone. */
hd_node *hd_with_ctc(const struct hd_net *net, const struct hd_memory *memory,
                     const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                     hd_node *loss, int *n_skipped);

#endif
