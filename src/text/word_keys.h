/* word_keys.h -- what is known of a word beside its id: what tells it apart from others, what it begins with, what it looks like.
 *
 * A document and a question are compared by these: also words that the vocabulary does not have, also where a token is only a part of a
 * word, and as far as they begin alike ("founded", "founding"). */
#ifndef HD_TEXT_WORD_KEYS_H
#define HD_TEXT_WORD_KEYS_H

#include "text/lines.h"
#include "text/vocab.h"

/* The numbers of a token, HD_N_KEYS of them side by side. */
enum {
    HD_KEY_ID, /* equal where tokens are: the id, or of unknown ones a hash */
    HD_KEY_WORD, /* equal where the words are that they are parts of, in any letters; 0: it has no word */
    HD_KEY_BEGINNING, /* equal where these words have the same first five letters; 0: it has less than four, or digits */
    HD_KEY_SHAPE, /* enum hd_word_shape of the word */
    HD_N_KEYS
};

/* What a word looks like. A word is what stands between spaces, without the signs around it. */
enum hd_word_shape {
    HD_SHAPE_SMALL,    /* small letters, or of a script that has no others */
    HD_SHAPE_CAPITAL,  /* the first letter is a capital: "Rome" */
    HD_SHAPE_CAPITALS, /* all of several are: "NATO" */
    HD_SHAPE_MIXED,    /* "iPhone", "McCartney" */
    HD_SHAPE_YEAR,     /* four digits */
    HD_SHAPE_NUMBER,   /* other digits, with or without signs: "3.5" */
    HD_SHAPE_CODE,     /* letters and digits: "19th" */
    HD_SHAPE_SIGN,     /* neither */
    HD_N_SHAPES
};

/* The keys [n, HD_N_KEYS] of the tokens of a text. */
void hd_word_keys(const struct hd_vocab *vocab, struct hd_text text,
                  const struct hd_encoding *encoding, int *keys);

#endif
