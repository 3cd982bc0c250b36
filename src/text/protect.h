/* protect.h -- pieces of a text that must not be translated: addresses, paths, codes, variables, what a user names.
 *
 * They are found by rules, and replaced by placeholders (text/placeholder.h) that a model has learned to keep in place. */
#ifndef HD_TEXT_PROTECT_H
#define HD_TEXT_PROTECT_H

#include "base/bytes.h"
#include "text/placeholder.h"
#include "text/vocab.h"

enum hd_protected_kind {
    HD_PROTECTED_URL,  /* https://example.com/x, www.example.com, example.org/a */
    HD_PROTECTED_MAIL, /* jane@example.com */
    HD_PROTECTED_PATH, /* /usr/lib, C:\temp, notes.txt, node.js */
    HD_PROTECTED_CODE, /* 0x1F, ABC-1234, v2.4.1, 10.0.0.1, UUIDs, my_name, main(), `code`, +49 30 123456, #winter, @jane */
    HD_PROTECTED_VARIABLE, /* %s, %1$d, {name}, ${x}, {{x}}, <0>, <b>, :name:, and ⟨1⟩ itself */
    HD_PROTECTED_EMOJI,    /* one, or several side by side */
    HD_PROTECTED_UNSEEN,   /* words with a letter that the vocabulary does not have: "こんにちは", "Łukasz" */
    HD_PROTECTED_USER,     /* what --keep matches */
};

/* "url", "mail", "path", "code", "variable", "emoji", "unseen", "kept". */
const char *hd_protected_kind_name(enum hd_protected_kind kind);

struct hd_protected {
    struct hd_span span; /* whole characters, in bytes */
    enum hd_protected_kind kind;
};

/* In the order of the text, without overlaps; {0} is none. */
struct hd_protected_list {
    struct hd_protected *at;
    size_t n, capacity;
};

void hd_protected_release(struct hd_protected_list *list);

/* At the end, whatever the order; false without memory. */
bool hd_protected_add(struct hd_protected_list *list, struct hd_protected one, heed_error *err);

/* In the order of the text, without overlaps: the first counts, of two that begin together the longer. */
void hd_protected_sort(struct hd_protected_list *list);

/* ---- what a user names --------------------------------------------------------------------------- */

struct hd_keep;

/* Regular expressions (POSIX, extended) and words; a word is found where it stands by itself, not inside another. Give the
 * result to hd_keep_free(). NULL with the reason in `err`: HEED_BAD_OPTION (not a regular expression, or one that matches
 * nothing at all, an empty word), HEED_NO_MEMORY. Read-only once made. */
struct hd_keep *hd_keep_new(const char *const *patterns, size_t n_patterns,
                            const char *const *words, size_t n_words, heed_error *err);
void hd_keep_free(struct hd_keep *keep); /* NULL is fine */

/* Append all matches in text[0..n), in any order, overlaps and all. False without memory. */
bool hd_keep_find(const struct hd_keep *keep, struct hd_protected_list *list, const char *text,
                  size_t n, heed_error *err);

/* ---- finding ------------------------------------------------------------------------------------- */

/* The protected pieces of text[0..n), any bytes; `keep` may be NULL. Where two overlap the first counts, of two that begin
 * together the longer; a user's before all others, unless it lies within one. False without memory. */
bool hd_protect_find(struct hd_protected_list *list, const struct hd_keep *keep, const char *text,
                     size_t n, heed_error *err);

/* Add the words of a part of the text that have a letter which this vocabulary spells in bytes, several side by side as one piece. What the list
 * has already stays, unless it lies within one. The part's encoding has places in the text. False without memory. */
bool hd_protect_unseen(struct hd_protected_list *list, const struct hd_vocab *vocab,
                       const char *text, struct hd_span part, const struct hd_encoding *encoding,
                       heed_error *err);

/* The automatic kinds that begin at text[i], which is the beginning of a character: length in bytes of the longest, 0 for none. */
size_t hd_protected_at(const char *text, size_t n, size_t i, enum hd_protected_kind *kind);

/* ---- placeholders --------------------------------------------------------------------------------- */

/* Append to `out` the text with its first nine protected pieces replaced by placeholders; the others stay. The placeholders in
 * the result are these alone, as what looks like one is a protected piece itself. */
void hd_protect_replace(struct hd_bytes *out, const char *text, size_t n,
                        const struct hd_protected_list *list);

/* ---- numbers ------------------------------------------------------------------------------------- */

/* A number of a text. `value` has digits and at most one decimal point: "1,234.5", "1 234,5" and "1.234,5" are all "1234.5". A
 * single separator with three digits behind it counts as one of thousands, in all texts alike. */
struct hd_number {
    struct hd_span span;
    char value[32];
};

/* The first number at or behind text[*i], and *i behind it; false when there is none. Digits of all scripts. Of a longer
 * number `value` is the beginning. */
bool hd_number_next(const char *text, size_t n, size_t *i, struct hd_number *number);

/* Numbers that one text has and the other lacks, each as often as it is there; the first of them. {0} when there are none.
 * Texts of more than 64 numbers are compared by their first 64. */
struct hd_number_difference {
    size_t n_missing, n_extra; /* of the source; of the translation */
    struct hd_number missing, extra;
};
struct hd_number_difference hd_numbers_compare(const char *source, size_t n_source,
                                               const char *translation, size_t n_translation);

#endif
