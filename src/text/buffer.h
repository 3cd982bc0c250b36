/* buffer.h -- text that grows; {0} is empty. */
#ifndef HD_TEXT_BUFFER_H
#define HD_TEXT_BUFFER_H

#include "text/lines.h"

#include <stdint.h>

struct hd_buffer {
    char *at; /* at[0..n), without a NUL */
    size_t n, capacity;
};

bool hd_buffer_add(struct hd_buffer *buffer, const char *text, size_t n, heed_error *err);
bool hd_buffer_add_string(struct hd_buffer *buffer, const char *text, heed_error *err);
bool hd_buffer_add_char(struct hd_buffer *buffer, uint32_t cp, heed_error *err);

/* Put text[0..n) in the place of `length` bytes at `from`. `text` is not part of the buffer. */
bool hd_buffer_replace(struct hd_buffer *buffer, size_t from, size_t length, const char *text,
                       size_t n, heed_error *err);

/* Leaves {0}. To empty it and keep its memory, set n to 0. */
void hd_buffer_release(struct hd_buffer *buffer);

static inline struct hd_text hd_buffer_text(const struct hd_buffer *buffer)
{
    return (struct hd_text){buffer->at, buffer->n};
}

#endif
