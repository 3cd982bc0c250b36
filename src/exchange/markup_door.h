/* markup_door.h -- the way to the module that reads HTML and XML. */
#ifndef HD_EXCHANGE_MARKUP_DOOR_H
#define HD_EXCHANGE_MARKUP_DOOR_H

#include "markup/markup.h"

/* The module; NULL with HEED_BAD_FILE in `err`, which says what to install. */
const struct hd_markup_module *hd_markup_open(heed_error *err);
#endif
