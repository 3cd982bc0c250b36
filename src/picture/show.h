/* show.h -- attention as characters: heed_draw_text() of heed_draw.h. */
#ifndef HD_PICTURE_SHOW_H
#define HD_PICTURE_SHOW_H

#include <heed_draw.h>

char *hd_picture_show(const heed_picture_attention *attention, const heed_text_options *options,
                      heed_error *err);

#endif
