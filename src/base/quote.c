/* quote.c -- words of unknown origin in sentences: short, one line, nothing a terminal obeys. */
#include "base/quote.h"

#include "base/utf8.h"

#include <string.h>

struct hd_quoted hd_quote(const char *word)
{
    return hd_quote_n(word, strlen(word));
}

struct hd_quoted hd_quote_n(const char *word, size_t n)
{
    enum { LONGEST = 80 };
    struct hd_quoted quoted;
    char *out = quoted.text;
    *out++ = '\'';
    while (n > 0) {
        uint32_t cp = 0;
        const int length = hd_utf8_decode(word, n, &cp);
        const bool is_plain = length > 0 && cp >= 0x20 && !(cp >= 0x7F && cp < 0xA0);
        const size_t taken = length > 0 ? (size_t)length : 1;
        if (out - quoted.text > LONGEST) {
            out = stpcpy(out, "...");
            break;
        }
        if (is_plain)
            out = (char *)memcpy(out, word, taken) + taken;
        else
            *out++ = '?';
        word += taken;
        n -= taken;
    }
    strcpy(out, "'");
    return quoted;
}
