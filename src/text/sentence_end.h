/* sentence_end.h -- does a sentence end at a full stop, question mark or the like? For sentence.c and its helpers alone. */
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

/* Where the word that ends at `end` begins: a run without spaces, quotes or brackets; of a long one, a part of it. */
size_t hd_word_begin(const struct hd_sentences *s, size_t end);

/* The same place without the white space before it. */
size_t hd_skip_space_back(const struct hd_sentences *s, size_t i);

/* ---- full stops ---------------------------------------------------------------------------------- */

/* What follows an ending. */
enum hd_follower {
    HD_NEXT_UPPER,
    HD_NEXT_LOWER,
    HD_NEXT_UNCASED, /* a letter of a script without capitals */
    HD_NEXT_DIGIT,
    HD_NEXT_SYMBOL,
    HD_NEXT_PUNCTUATION, /* a comma and the like: the sentence goes on */
};

struct hd_ending {
    size_t begin, marks_end;
    size_t after; /* behind quotes, brackets and emoticons */
    size_t next;  /* behind white space as well */
    size_t word;  /* first character behind quotes and brackets that open */
    int n_dots;
    bool has_strong, has_wide, has_ellipsis;
    bool has_closing; /* a quote or bracket closes behind the marks */
    bool is_inverted; /* a Spanish ¿ or ¡ follows */
    bool is_opened;   /* a quote or bracket opens behind it */
    enum hd_follower follower;
};

/* Is the next word one that sentences begin with? Initials are not: "A. Smith". */
bool hd_is_starter(const struct hd_sentences *s, const struct hd_ending *e);

/* Does a sentence end at a single full stop with white space behind it? */
bool hd_ends_after_dot(const struct hd_sentences *s, const struct hd_ending *e);

/* "He left.Then she came": does one end without it? */
bool hd_is_space_missing(const struct hd_sentences *s, const struct hd_ending *e);

#endif
