/* links.h -- which words belong together: from weights, from two directions, against what people say. */
#ifndef HD_TRANSLATE_LINKS_H
#define HD_TRANSLATE_LINKS_H

#include <heed.h>

/* Is source word j linked to a target word? `row` are its weights over n source words, `end` is the end marker's share.
 * The source word looked at most is, unless the end marker was looked at more; so is every other with a share of
 * HD_LINK_SHARE of that. */
bool hd_is_linked(const float *row, size_t n, float end, size_t j);

size_t hd_symmetrize(enum heed_symmetry how, const heed_link *one, size_t n_one,
                     const heed_link *other, size_t n_other, heed_link *out);
void hd_alignment_judge(heed_alignment_quality *quality, const heed_link *links, size_t n_links,
                        const heed_link *sure, size_t n_sure, const heed_link *possible,
                        size_t n_possible);
#endif
