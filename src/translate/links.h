/* links.h -- which words belong together: from weights, from two directions, against what people say. */
#ifndef HD_TRANSLATE_LINKS_H
#define HD_TRANSLATE_LINKS_H

#include <heed.h>

/* The least weight that links a source word to the target word whose weights over n source words are row[0..n): the source
 * word looked at most is linked, and so is every other that is looked at nearly as much; none is where the look is spread so
 * thin that it means nothing. */
float hd_least_link(const float *row, size_t n);

size_t hd_symmetrize(enum heed_symmetry how, const heed_link *one, size_t n_one,
                     const heed_link *other, size_t n_other, heed_link *out);
void hd_alignment_judge(heed_alignment_quality *quality, const heed_link *links, size_t n_links,
                        const heed_link *sure, size_t n_sure, const heed_link *possible,
                        size_t n_possible);
#endif
