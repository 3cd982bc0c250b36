/* picture.h -- pictures that stand in files already. */
#ifndef HD_PICTURE_PICTURE_H
#define HD_PICTURE_PICTURE_H

#include <heed.h>
#include <stdbool.h>

/* Has heed drawn this file, which is there? False when it cannot be read. */
bool hd_picture_is_own(bool *is_own, const char *path, heed_error *err);

#endif
