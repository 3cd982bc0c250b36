/* word_links.h -- which words of the two sides of a pair belong together, followed through changes of the text.
 *
 * A word is a run of characters between white space; where links were found by character, one of a script without spaces is a word by
 * itself. A change of a side moves the words behind it; links of words that are gone go with them. */
#ifndef HD_TEXT_WORD_LINKS_H
#define HD_TEXT_WORD_LINKS_H

#include "text/lines.h"

#include <stdint.h>

/* Word `source` of the source and word `target` of the target, both from 0. */
struct hd_word_link {
    uint16_t source, target;
};

/* Links of a pair, borrowed; {0}: none are known. */
struct hd_pair_links {
    const struct hd_word_link *at;
    size_t n;
    bool by_character; /* words are counted as hd_word_begins() says */
};

/* Does a word begin with this character? A space stands for what is before the first one. */
bool hd_word_begins(uint32_t before, uint32_t cp, bool by_character);

/* How many words of the text begin before this byte. */
size_t hd_count_words(struct hd_text text, size_t place, bool by_character);

/* A list that grows; {0} is empty. */
struct hd_word_links {
    struct hd_word_link *at;
    size_t n, capacity;
    bool by_character;
};

/* Leaves {0}. To empty it and keep its memory, set n to 0. */
void hd_word_links_release(struct hd_word_links *links);

/* Add links whose words stand behind so many others. False without memory. */
bool hd_word_links_add(struct hd_word_links *links, const struct hd_pair_links *more,
                       size_t n_source, size_t n_target, heed_error *err);

/* Word i of one side belongs to word i of the other, for all words of the text, which both sides are. */
bool hd_word_links_same(struct hd_word_links *links, struct hd_text text, heed_error *err);

/* Each side as it was, and as it is after one change. Words that are new on both sides, as many on each, are linked. */
bool hd_word_links_follow(struct hd_word_links *links, const struct hd_text before[2],
                          const struct hd_text after[2], heed_error *err);

#endif
