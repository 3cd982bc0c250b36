/* letter_case.c -- letter by letter through Unicode's simple mappings, and the two languages that need a rule of their own:
 * German ß in capitals is SS, Greek Σ at the end of a word is ς in lower case. */
#include "text/letter_case.h"

#include "base/utf8.h"
#include "text/character.h"

#include <utf8proc.h>

/* ---- one letter -------------------------------------------------------------------------------- */

static bool add_lower(struct hd_buffer *out, uint32_t cp, bool is_word_end, heed_error *err)
{
    enum { SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };
    return hd_buffer_add_char(
        out,
        cp == SIGMA && is_word_end ? FINAL_SIGMA : (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp),
        err);
}

static bool add_upper(struct hd_buffer *out, uint32_t cp, heed_error *err)
{
    enum { SHARP_S = 0xDF };
    return cp == SHARP_S
               ? hd_buffer_add_string(out, "SS", err)
               : hd_buffer_add_char(out, (uint32_t)utf8proc_toupper((utf8proc_int32_t)cp), err);
}

static bool is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019;
}

/* Is the second letter a capital as well? */
static bool is_abbreviation(struct hd_text text, size_t after_first)
{
    uint32_t cp;
    return hd_utf8_decode(text.at + after_first, text.n - after_first, &cp) > 0 &&
           hd_char_is_upper(cp);
}

bool hd_change_case(struct hd_buffer *out, struct hd_text text, enum hd_letter_case letter_case,
                    heed_error *err)
{
    uint32_t cp, before = ' ', next;
    bool has_begun = false;
    for (size_t i = 0, n; i < text.n; i += n, before = cp) {
        n = (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp);
        const bool is_letter = hd_char_is_letter(cp), is_first = is_letter && !has_begun;
        const bool is_after_letter = hd_char_is_letter(before) || hd_char_is_digit(before);
        const bool is_word_end =
            is_after_letter && !(hd_utf8_decode(text.at + i + n, text.n - i - n, &next) > 0 &&
                                 hd_char_is_letter(next));
        has_begun = has_begun || is_letter || hd_char_is_digit(cp);
        bool ok = true;
        if (letter_case == HD_CASE_LOWER ||
            (letter_case == HD_CASE_FIRST_LOWER && is_first && !is_abbreviation(text, i + n)))
            ok = add_lower(out, cp, is_word_end, err);
        else if (letter_case == HD_CASE_UPPER)
            ok = add_upper(out, cp, err);
        else if (letter_case == HD_CASE_TITLE && is_letter && !is_after_letter &&
                 !is_apostrophe(before))
            ok = hd_buffer_add_char(out, (uint32_t)utf8proc_totitle((utf8proc_int32_t)cp), err);
        else
            ok = hd_buffer_add(out, text.at + i, n, err);
        if (!ok)
            return false;
    }
    return true;
}
