/* check.h -- is this a picture that can be drawn? Asked before the module is loaded, so the
 * module believes it. */
#ifndef HD_PICTURE_PICTURE_CHECK_H
#define HD_PICTURE_PICTURE_CHECK_H

#include <heed_draw.h>

/* False with HEED_BAD_OPTION in `err`: none or several kinds in one, counts that are negative or
 * too large, missing arrays or words, numbers that are not finite, weights outside 0..1, links
 * to words that are not there. */
bool hd_picture_check(const heed_picture *picture, heed_error *err);

/* The same for one kind. */
bool hd_attention_check(const heed_picture_attention *attention, heed_error *err);

#endif
