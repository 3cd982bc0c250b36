/* clean.h -- pairs that teach little or nothing, or the wrong thing: found by simple rules, counted, left out. */
#ifndef HD_TEXT_CLEAN_H
#define HD_TEXT_CLEAN_H

#include "text/corpus.h"

/* In the order in which they are asked: a pair is counted once, for the first that holds. */
enum hd_clean_rule {
    HD_CLEAN_SAME, /* both sides are the same text */
    HD_CLEAN_LENGTH, /* one side is three times as long as the other, as texts of these languages go */
    HD_CLEAN_NUMBERS,    /* a number of one side is not in the other */
    HD_CLEAN_LANGUAGE,   /* a side is surely of another of the text's languages */
    HD_CLEAN_DUPLICATES, /* the pair was there before */
    HD_N_CLEAN_RULES
};
#define HD_CLEAN_NAMES "duplicates|length|language|same|numbers|all"

/* The rule of this name; HD_N_CLEAN_RULES for "all", -1 for what is none. */
int hd_clean_rule_named(const char *name);

/* Leave out what the rules find; counts[r] are those of rule r. False with the reason in `err`: HEED_NO_MEMORY, HEED_BAD_TEXT when nothing is left. */
bool hd_clean_corpus(struct hd_corpus *corpus, const bool rules[HD_N_CLEAN_RULES],
                     size_t counts[HD_N_CLEAN_RULES], heed_error *err);

/* "12 duplicates, 3 with other numbers" into text[0..size). */
void hd_clean_tell(const size_t counts[HD_N_CLEAN_RULES], char *text, size_t size);
#endif
