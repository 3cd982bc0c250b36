/* features_module.c -- what libheed calls. */
#include "features/features.h"

#include "base/memory.h"

const struct hd_features_module hd_features_module = {
    .version = HEED_VERSION,
    .is_sound = hd_is_sound_file,
    .is_image = hd_is_image_file,
    .read_sound = hd_sound_read,
    .read_image = hd_image_read,
    .free = hd_free,
};
