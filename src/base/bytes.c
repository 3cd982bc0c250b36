/* bytes.c -- appending; one byte more than asked for is kept free and zero, so that texts end. */
#include "base/bytes.h"

#include "base/memory.h"

#include <string.h>

void hd_bytes_add(struct hd_bytes *bytes, const void *data, size_t n)
{
    char *at = hd_grow(bytes->at, &bytes->capacity, bytes->n + n + 1, 1, NULL);
    if (!at) {
        bytes->has_failed = true;
        return;
    }
    bytes->at = at;
    memcpy(at + bytes->n, data, n);
    bytes->n += n;
    at[bytes->n] = '\0';
}

void hd_bytes_text(struct hd_bytes *bytes, const char *text)
{
    hd_bytes_add(bytes, text, strlen(text));
}
