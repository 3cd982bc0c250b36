/* utf8.h -- UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF. Lengths
 * are in bytes; a NUL byte is a character like any other. */
#ifndef HD_BASE_UTF8_H
#define HD_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is all of text[0..n) UTF-8? If not, *bad_at (may be NULL) is the offset of the first byte that
 * no character can begin with or that begins a character which does not end well. */
bool hd_utf8_valid(const char *text, size_t n, size_t *bad_at);

/* The character at the start of text[0..n): stores its code point, returns its length in bytes,
 * 1 to 4. 0 when n is 0 or there is no whole valid character; *cp is then unchanged. `cp` may be
 * NULL. */
int hd_utf8_decode(const char *text, size_t n, uint32_t *cp);

/* Writes a code point as 1 to 4 bytes, without a NUL, and returns how many; 0 for what is no
 * character. */
int hd_utf8_encode(char out[4], uint32_t cp);

/* How many characters text[0..n) has; a byte that belongs to none counts as one. */
size_t hd_utf8_count(const char *text, size_t n);

#endif
