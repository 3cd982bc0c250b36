/* doubts.h -- what is odd about a text to learn from: said before hours go into it. */
#ifndef HD_TEXT_DOUBTS_H
#define HD_TEXT_DOUBTS_H

#include "text/corpus.h"

struct hd_doubts {
    const struct hd_corpus *text, *dev; /* dev NULL: every hold_out-th pair of the text */
    size_t hold_out;
    const char *languages; /* "en-ru", or NULL when unknown */
};

/* Tell each oddity by a sentence: too few pairs, sides that are the same or all alike, dev text that is learned from, sides of very different
 * length, a script that the language does not have. Reads all of the text once. */
void hd_tell_doubts(const struct hd_doubts *doubts,
                    void (*tell)(void *context, const char *sentence), void *context);

#endif
