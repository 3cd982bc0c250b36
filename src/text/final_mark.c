/* final_mark.c -- the marks at the end of a sentence. */
#include "text/final_mark.h"

#include "text/character.h"

#include <utf8proc.h>

bool hd_char_is_punctuation(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
}

static bool is_wide_mark(uint32_t cp)
{
    return cp == 0x3002 || cp == 0xFF01 || cp == 0xFF1F || cp == 0xFF0E || cp == 0xFF61;
}

/* . ! ? …, and those of Devanagari, Arabic, Urdu, Armenian, Ethiopic, Burmese, Khmer. */
static bool is_mark(uint32_t cp)
{
    static const uint32_t marks[] = {'.',    '!',    '?',    0x2026, 0x203C, 0x2047,
                                     0x2048, 0x2049, 0x0964, 0x0965, 0x061F, 0x06D4,
                                     0x0589, 0x1362, 0x1367, 0x104B, 0x17D4};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (cp == marks[i])
            return true;
    return is_wide_mark(cp);
}

static bool is_closing(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_PE || c == UTF8PROC_CATEGORY_PF || c == UTF8PROC_CATEGORY_PI ||
           cp == '"' || cp == '\'';
}

/* The last character that is neither a space nor, if `past_closing`, a closing one; 0 when there is none. */
static uint32_t last_of(struct hd_text text, bool past_closing)
{
    for (size_t length; text.n > 0; text.n -= length) {
        const uint32_t cp = hd_char_before(text.at, text.n, &length);
        if (!hd_char_is_space(cp) && !(past_closing && is_closing(cp)))
            return cp;
    }
    return 0;
}

bool hd_ends_in_mark(struct hd_text text)
{
    return is_mark(last_of(text, true));
}

bool hd_ends_in_wide_mark(struct hd_text text)
{
    return is_wide_mark(last_of(text, true));
}

size_t hd_before_final_mark(struct hd_text text)
{
    if (!is_mark(last_of(text, false)))
        return text.n;
    for (size_t length; text.n > 0; text.n -= length) {
        const uint32_t cp = hd_char_before(text.at, text.n, &length);
        if (!is_mark(cp) && !hd_char_is_space(cp))
            break;
    }
    return text.n;
}
