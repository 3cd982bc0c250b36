/* sentence_end.h -- does a sentence end at a full stop, question mark or the like? */
#ifndef HD_TEXT_SENTENCE_END_H
#define HD_TEXT_SENTENCE_END_H

#include "text/sentence.h"

/* Can the character cp at text[i] end a sentence? */
bool hd_ends_sentence(const struct hd_sentences *s, size_t i, uint32_t cp);

/* For such a character at text[i]: where the next sentence begins, 0 if the sentence goes on. *behind is where the marks
 * that begin at i end. */
size_t hd_sentence_end(const struct hd_sentences *s, size_t i, size_t *behind);

/* For an emoticon at text[i], behind white space: where the next sentence begins, 0 if the sentence goes on: "I passed :-)
 * Are you proud?" */
size_t hd_emoticon_end(const struct hd_sentences *s, size_t i);

/* Does a sentence go on at text[i], behind a closing quote or bracket? */
bool hd_sentence_goes_on(const struct hd_sentences *s, size_t i);

/* The run of letters that begins at text[i], or that ends before it, in lower case; "" if there is none or it is long. */
enum { HD_WORD_KEY = 48 };
void hd_word_at(const struct hd_sentences *s, size_t i, char key[HD_WORD_KEY]);
void hd_word_before(const struct hd_sentences *s, size_t i, char key[HD_WORD_KEY]);

#endif
