/* nearest.h -- "did you mean": the name a mistyped word is nearest to. */
#ifndef HD_BASE_NEAREST_H
#define HD_BASE_NEAREST_H

#include <heed.h>

/* Number of letters to insert, delete, replace or swap with their neighbour to turn one word
 * into the other. Words longer than 63 bytes count as infinitely far (INT_MAX) from all but
 * themselves. */
int hd_edit_distance(const char *a, const char *b);

/* heed_nearest() is the first of those with the smallest distance, or, if all are far, the first that the word is the
 * beginning of (two letters at least); a third of the word's letters may be wrong, one at least. */

#endif
