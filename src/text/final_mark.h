/* final_mark.h -- how a sentence ends: full stops, question marks and the like, in the scripts we know of. */
#ifndef HD_TEXT_FINAL_MARK_H
#define HD_TEXT_FINAL_MARK_H

#include "text/lines.h"

#include <stdint.h>

/* Does the text end in such a mark? Closing quotes and brackets, and spaces, may follow it. */
bool hd_ends_in_mark(struct hd_text text);

/* Where the text's final marks begin, a space before them included; its length when it does not end in one. */
size_t hd_before_final_mark(struct hd_text text);

/* Does the text end in a mark of a script that writes no space between sentences? */
bool hd_ends_in_wide_mark(struct hd_text text);

/* Punctuation of any kind: marks, quotes, brackets, dashes. */
bool hd_char_is_punctuation(uint32_t cp);

#endif
