/* vector_name.h -- items of files of vectors by name: FILE.safetensors#3 is the third; a sound or a picture is its own name. */
#ifndef HD_VECTOR_VECTOR_NAME_H
#define HD_VECTOR_VECTOR_NAME_H

#include <heed.h>

/* The file of an item's name, to be given to hd_free(), with *item its number from 0; -1 where the file itself is the item. NULL with the
 * reason in `err`. */
char *hd_vector_name_file(const char *name, int *item, heed_error *err);

#endif
