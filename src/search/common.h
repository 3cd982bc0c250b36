/* common.h -- what searching and forced decoding share: checks, attention weights, the end. */
#ifndef HD_SEARCH_COMMON_H
#define HD_SEARCH_COMMON_H

#include "search/search.h"

/* What cannot be done as it is asked for is refused (HEED_BAD_OPTION). The sentence is called number `i`, from 0. */
bool hd_check_nets(const struct hd_net *const *nets, int n_nets, int end, heed_error *err);
bool hd_check_search_options(const struct hd_net *const *nets, int n_nets,
                             const struct hd_search_options *options, heed_error *err);
bool hd_check_search_input(const struct hd_net *net, int end, const struct hd_search_input *input,
                           size_t i, heed_error *err);

/* Are attention weights asked for, as a result or for the score? */
static inline bool hd_needs_attention(const struct hd_search_options *options)
{
    return options->wants_attention || options->coverage_penalty > 0;
}

/* is_done; if it is false, nothing stays found. */
bool hd_search_end(bool is_done, struct hd_nbest *found, size_t n);

/* sum[0..n_source) += a row's weights / n_nets. */
bool hd_add_attention(float *sum, const struct hd_net *net, const struct hd_weights *weights,
                      int row, int n_source, const struct hd_search_options *options, int n_nets,
                      hd_tape *tape, heed_error *err);
#endif
