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

#endif
