/* utf8.c -- checking, reading and writing UTF-8.
 *
 * The Unicode standard's table of well-formed sequences: only the second byte's range depends on
 * the first byte, and that alone excludes overlong forms, surrogates and what lies above
 * U+10FFFF. */
#include "base/utf8.h"

#include <string.h>

/* Length by the first byte (0: none starts so), and the allowed range of the second. */
static int length_by_first(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (first < 0x80)
        return 1;
    if (first < 0xC2) /* a continuation, or an overlong form of ASCII */
        return 0;
    if (first < 0xE0)
        return 2;
    if (first < 0xF0) {
        if (first == 0xE0)
            *low = 0xA0; /* else overlong */
        if (first == 0xED)
            *high = 0x9F; /* else a surrogate */
        return 3;
    }
    if (first < 0xF5) {
        if (first == 0xF0)
            *low = 0x90; /* else overlong */
        if (first == 0xF4)
            *high = 0x8F; /* else above U+10FFFF */
        return 4;
    }
    return 0;
}

int hd_utf8_decode(const char *text, size_t n, uint32_t *cp)
{
    if (n == 0)
        return 0;
    const unsigned char *s = (const unsigned char *)text;
    unsigned char low, high;
    const int length = length_by_first(s[0], &low, &high);
    if (length == 0 || (size_t)length > n)
        return 0;
    uint32_t value = length == 1 ? s[0] : s[0] & (0x7FU >> length);
    for (int i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
        value = value << 6 | (s[i] & 0x3FU);
    }
    if (cp)
        *cp = value;
    return length;
}

/* Bytes of ASCII at the start, by eights. */
static size_t ascii_prefix(const char *text, size_t n)
{
    size_t i = 0;
    for (uint64_t eight; i + 8 <= n; i += 8) {
        memcpy(&eight, text + i, 8);
        if (eight & 0x8080808080808080U)
            break;
    }
    return i;
}

bool hd_utf8_valid(const char *text, size_t n, size_t *bad_at)
{
    size_t i = 0;
    while (i < n) {
        i += ascii_prefix(text + i, n - i);
        if (i == n)
            break;
        const int length = hd_utf8_decode(text + i, n - i, NULL);
        if (length == 0) {
            if (bad_at)
                *bad_at = i;
            return false;
        }
        i += (size_t)length;
    }
    return true;
}

int hd_utf8_encode(char out[4], uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        if (cp >= 0xD800 && cp < 0xE000)
            return 0;
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    if (cp > 0x10FFFF)
        return 0;
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

size_t hd_utf8_count(const char *text, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; count++) {
        const int length = hd_utf8_decode(text + i, n - i, NULL);
        i += length > 0 ? (size_t)length : 1;
    }
    return count;
}
