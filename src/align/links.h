/* links.h -- which words belong together: from weights, from two directions, against what people say. */
#ifndef HD_ALIGN_LINKS_H
#define HD_ALIGN_LINKS_H

#include <heed.h>

/* The least weight that links a source word to the target word whose weights over n source words are row[0..n): the source
 * word looked at most is linked, and so is every other that is looked at nearly as much; none is where the look is spread so
 * thin that it means nothing. */
float hd_least_link(const float *row, size_t n);
#endif
