/* split.h -- a text cut into its sentences, and what is too long for a model where it has its own boundaries. */
#ifndef HD_TRANSLATE_SPLIT_H
#define HD_TRANSLATE_SPLIT_H

#include "text/vocab.h"

struct hd_part {
    struct hd_span span;         /* in bytes; neither begins nor ends with white space */
    struct hd_encoding encoding; /* of the part; places are in the whole text */
    bool is_kept;                /* it is no word that anybody could translate */
};

/* {0} is none. What is between parts is white space. */
struct hd_splits {
    size_t n, capacity;
    struct hd_part *at;
    size_t n_long;      /* texts or sentences of more subwords than there may be */
    size_t n_words_cut; /* words of more */
    size_t n_kept;      /* parts that are kept */
};

struct hd_split_rules {
    size_t most;          /* subwords of a sentence that is not cut, */
    size_t part;          /* and of the parts of one that is; 0: as many */
    bool keeps_sentences; /* together, as long as they fit: what fits is not cut at all */
    const char *language; /* of the text, for its abbreviations; NULL: not known */
};

/* Append the parts of text[0..n): its sentences. Those that are too long are cut at commas and the like, then between words, then
 * inside words; a word of more than HD_LONGEST_WORD characters (a key, an encoded file) is a part that is kept as it is. */
enum { HD_LONGEST_WORD = 500 };
bool hd_split(struct hd_splits *parts, const struct hd_vocab *vocab, const char *text, size_t n,
              const struct hd_split_rules *rules, heed_error *err);
void hd_splits_release(struct hd_splits *parts);
#endif
