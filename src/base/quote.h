/* quote.h -- a word of unknown origin, made fit for a sentence.
 *
 *     hd_fail(err, HEED_BAD_MODEL, "%s: the tensor %s is missing", path, hd_quote(name).text); */
#ifndef HD_BASE_QUOTE_H
#define HD_BASE_QUOTE_H

#include <stddef.h>

struct hd_quoted {
    char text[96];
};

/* In 'single quotes'; what is longer than 80 bytes or so ends in "..."; a control character, or a
 * byte that is not UTF-8, becomes '?', so that no file can play tricks on a terminal. */
struct hd_quoted hd_quote(const char *word);

/* The same for word[0..n). */
struct hd_quoted hd_quote_n(const char *word, size_t n);

#endif
