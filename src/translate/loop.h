/* loop.h -- outputs that go round in circles: "salad salad salad salad". */
#ifndef HD_TRANSLATE_LOOP_H
#define HD_TRANSLATE_LOOP_H

#include "search/search.h"

/* Do ids[0..n) have a run of the same few, over and over? An output that did not end is sooner one than one that did. */
bool hd_is_loop(const int *ids, int n, bool is_cut);

/* What was found with repetition forbidden is taken unless it is much less likely: some outputs are meant to repeat. */
bool hd_is_better_than_loop(const struct hd_hypothesis *other, const struct hd_hypothesis *loop);
#endif
