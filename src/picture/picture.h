/* picture.h -- pictures as files and bytes: heed_draw() and heed_draw_bytes() of heed_draw.h. */
#ifndef HD_PICTURE_PICTURE_H
#define HD_PICTURE_PICTURE_H

#include <heed_draw.h>

bool hd_picture_write(const heed_picture *picture, const char *path, heed_error *err);
char *hd_picture_bytes(const heed_picture *picture, const char *format, size_t *size,
                       heed_error *err);

#endif
