/* shelf.h -- files of vectors that a translator has open: each once, for all threads, until it is freed. */
#ifndef HD_TRANSLATE_SHELF_H
#define HD_TRANSLATE_SHELF_H

#include "vector/vectors.h"

struct hd_shelf;

struct hd_shelf *hd_shelf_new(heed_error *err);
void hd_shelf_free(struct hd_shelf *shelf); /* NULL is fine */

/* The file, open. NULL with the reason in `err`. */
const struct hd_vectors *hd_shelf_find(struct hd_shelf *shelf, const char *path, heed_error *err);

#endif
