/* letter_case.h -- a text in other letters: lower case, capitals, Title Case. Scripts without case stay as they are. */
#ifndef HD_TEXT_LETTER_CASE_H
#define HD_TEXT_LETTER_CASE_H

#include "text/buffer.h"

enum hd_letter_case {
    HD_CASE_FIRST_LOWER, /* the first letter, unless it begins an abbreviation ("NATO") */
    HD_CASE_LOWER,
    HD_CASE_UPPER, /* ß becomes SS */
    HD_CASE_TITLE, /* the first letter of every word */
};

/* Append the text in that case. It is valid UTF-8. */
bool hd_change_case(struct hd_buffer *out, struct hd_text text, enum hd_letter_case letter_case,
                    heed_error *err);

bool hd_is_letter(uint32_t cp);
bool hd_is_upper(uint32_t cp); /* title case letters included */
bool hd_is_lower(uint32_t cp);
bool hd_is_digit(uint32_t cp);
bool hd_is_punctuation(uint32_t cp);
bool hd_is_space(uint32_t cp);

/* The last character of text[0..n), n > 0: stores its code point, returns where it begins. */
size_t hd_last_char(const char *text, size_t n, uint32_t *cp);

#endif
