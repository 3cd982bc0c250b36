/* sentence.h -- a text cut into its sentences.
 *
 *     struct hd_sentences s;
 *     struct hd_span span;
 *     hd_sentences_begin(&s, text, n, "de");
 *     while (hd_sentences_next(&s, &span))
 *         ...                                  // text[span.begin..span.end)
 *
 * Sentences follow each other without a gap and together are the text, byte by byte: white space behind a sentence belongs
 * to it. Any bytes will do; time is linear in their number, and nothing is allocated. */
#ifndef HD_TEXT_SENTENCE_H
#define HD_TEXT_SENTENCE_H

#include "text/vocab.h"

#include <stdint.h>

struct hd_sentences {
    const char *text;
    size_t n;
    unsigned languages;
    size_t begin; /* of the next sentence */
    /* The sentence under way. */
    int n_capitals; /* words with a capital letter, "I" left out */
    int n_words;
    size_t
        hold; /* before this place nothing ends: it is in brackets or quotes, and the sentence goes on behind them */
    /* A list whose items may follow each other without full stops. */
    int list_style;
    uint32_t list_next; /* number or letter of the next item */
    uint32_t bullet;    /* character that items begin with, 0 for none */
};

/* `language` is a code such as "de" or "de-AT" and chooses lists of abbreviations; NULL, or one that is not known, uses
 * all lists as far as they are safe together. The text is borrowed. */
void hd_sentences_begin(struct hd_sentences *s, const char *text, size_t n, const char *language);

/* The next sentence; false when there is none left. */
bool hd_sentences_next(struct hd_sentences *s, struct hd_span *sentence);

#endif
