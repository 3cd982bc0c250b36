/* buffer.c -- text that grows. */
#include "text/buffer.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <string.h>

static bool make_room(struct hd_buffer *b, size_t n, heed_error *err)
{
    if (n <= b->capacity)
        return true;
    char *grown = hd_grow(b->at, &b->capacity, n, 1, err);
    if (grown)
        b->at = grown;
    return grown != NULL;
}

bool hd_buffer_add(struct hd_buffer *b, const char *text, size_t n, heed_error *err)
{
    if (!make_room(b, b->n + n, err))
        return false;
    if (n > 0)
        memcpy(b->at + b->n, text, n);
    b->n += n;
    return true;
}

bool hd_buffer_add_string(struct hd_buffer *b, const char *text, heed_error *err)
{
    return hd_buffer_add(b, text, strlen(text), err);
}

bool hd_buffer_add_char(struct hd_buffer *b, uint32_t cp, heed_error *err)
{
    char bytes[4];
    return hd_buffer_add(b, bytes, (size_t)hd_utf8_encode(bytes, cp), err);
}

bool hd_buffer_replace(struct hd_buffer *b, size_t from, size_t length, const char *text, size_t n,
                       heed_error *err)
{
    if (!make_room(b, b->n - length + n, err))
        return false;
    const size_t behind = b->n - from - length;
    if (behind > 0)
        memmove(b->at + from + n, b->at + from + length, behind);
    if (n > 0)
        memcpy(b->at + from, text, n);
    b->n = b->n - length + n;
    return true;
}

void hd_buffer_release(struct hd_buffer *b)
{
    hd_free(b->at);
    *b = (struct hd_buffer){0};
}
