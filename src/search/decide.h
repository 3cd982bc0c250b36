/* decide.h -- outputs that are decided at once: the label of a text, the span of a document. What is decided is told as a search tells it. */
#ifndef HD_SEARCH_DECIDE_H
#define HD_SEARCH_DECIDE_H

#include "search/search.h"

/* Does a net of this configuration decide at once, instead of giving word after word? */
bool hd_decides(const struct hd_config *config);

/* Look at n inputs, of which only the source counts: found[i] belongs to input[i], to be given to hd_nbest_release(). It has the n_best
 * likeliest labels (of spans: point.h), each a hypothesis of one word without an end marker (is_cut). The first has all labels, likeliest first, in top_ids
 * and top_logprob, as many as the target's vocabulary. Of the options count n_best, wants_attention, attention (cross alone), head and
 * keep_on. Several nets are an ensemble: the mean of their log-probabilities, normalised. False with the reason in `err`, and nothing
 * found (HEED_BAD_OPTION, HEED_BAD_MODEL, HEED_CANCELLED, HEED_NO_MEMORY). */
bool hd_decide(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *input,
               size_t n, const struct hd_search_options *options, struct hd_nbest *found,
               heed_error *err);

#endif
