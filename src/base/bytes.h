/* bytes.h -- a text or a file in memory while it is being made, {0} at first, its `at` to be
 * given to hd_free(). A failure is remembered and asked for once. */
#ifndef HD_BASE_BYTES_H
#define HD_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct hd_bytes {
    char *at;
    size_t n, capacity;
    bool has_failed; /* no memory */
};

/* Append; a zero follows what is there. */
void hd_bytes_add(struct hd_bytes *bytes, const void *data, size_t n);
void hd_bytes_text(struct hd_bytes *bytes, const char *text);

#endif
