/* point.h -- the span of a document that answers a question, by a net that points at its first and at its last word. */
#ifndef HD_SEARCH_POINT_H
#define HD_SEARCH_POINT_H

#include "search/search.h"

/* As hd_decide() (decide.h), which calls it. A hypothesis has two ids, the numbers of the first and of the last word of the answer in the
 * document, and two log-probabilities: that of the start, and that of the end given the start; the probabilities of all spans that are not longer than
 * the nets' max_answer sum to 1. Attention has two rows: p(start = j), and p(end = j | the start that was found). Several nets are an ensemble: the means
 * of their scores. All n are looked at together; found[i] is {0} before. */
bool hd_point(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *input,
              int n, const struct hd_search_options *options, hd_tape *tape,
              struct hd_batch_builder *builder, struct hd_nbest *found, heed_error *err);

#endif
