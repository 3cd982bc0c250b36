/* alike.h -- what searching and forced decoding do alike: they begin, look at nets, and end. */
#ifndef HD_SEARCH_COMMON_H
#define HD_SEARCH_COMMON_H

#include "search/search.h"

/* Nothing is found yet. False with the reason in `err` when it cannot be done as it is asked for (HEED_BAD_OPTION). */
bool hd_search_begin(const struct hd_net *const *nets, int n_nets, int end,
                     const struct hd_search_input *input, size_t n,
                     const struct hd_search_options *options, struct hd_nbest *found,
                     heed_error *err);

/* is_done; if it is false, nothing stays found. */
bool hd_search_end(bool is_done, struct hd_nbest *found, size_t n);

/* sum[0..n_source) += a row's weights / n_nets. */
bool hd_add_attention(float *sum, const struct hd_net *net, const struct hd_weights *weights,
                      int row, int n_source, const struct hd_search_options *options, int n_nets,
                      hd_tape *tape, heed_error *err);

/* Always false. */
bool hd_scores_not_finite(heed_error *err);
#endif
