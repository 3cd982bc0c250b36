/* check.h -- whether a search can be done as it is asked for. */
#ifndef HD_SEARCH_CHECK_H
#define HD_SEARCH_CHECK_H

#include "search/search.h"

/* False with the reason in `err` (HEED_BAD_OPTION). */
bool hd_check_search(const struct hd_net *const *nets, int n_nets, int end,
                     const struct hd_search_input *input, size_t n,
                     const struct hd_search_options *options, heed_error *err);
#endif
