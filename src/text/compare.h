/* compare.h -- is one system better than another, or was it luck? heed.h says what is asked. */
#ifndef HD_TEXT_COMPARE_H
#define HD_TEXT_COMPARE_H

#include <heed.h>

bool hd_compare(heed_comparison *comparisons, const heed_pair *const *systems, int n_systems,
                size_t n, const heed_eval_options *options, int n_samples, uint64_t seed,
                heed_error *err);

#endif
