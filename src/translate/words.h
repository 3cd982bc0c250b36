/* words.h -- a text as the words a reader sees, and which subword belongs to which.
 *
 * A word is a run of non-space characters. Where a script has no spaces between words (Thai, Japanese, Chinese) a run is
 * cut between subwords as well, but never before a mark that sits on the character before it. */
#ifndef HD_TRANSLATE_WORDS_H
#define HD_TRANSLATE_WORDS_H

#include "text/character.h"
#include "text/vocab.h"

#include <stdint.h>

/* {0} is none. */
struct hd_word_map {
    size_t n;
    struct hd_span *words; /* in bytes */
    int *
        of_token; /* the word each token belongs to; -1 when there are no words, or the token is an end marker */
};

/* Cut text[0..n_bytes) into words. Places of tokens ascend; an end marker's place is NOWHERE. To be given to
 * hd_word_map_release(). */
#define HD_NOWHERE ((struct hd_span){SIZE_MAX, SIZE_MAX})
bool hd_word_map_make(struct hd_word_map *wording, const char *text, size_t n_bytes,
                      const struct hd_span *tokens, size_t n_tokens, heed_error *err);
void hd_word_map_release(struct hd_word_map *wording);

/* How many bytes of white space text[0..n) begins with, or ends with. */
size_t hd_space_before(const char *text, size_t n);
size_t hd_space_after(const char *text, size_t n);

/* The length of the character that text[0..n) ends with, 0 without one; *cp is which. */
size_t hd_last_char(const char *text, size_t n, uint32_t *cp);
#endif
