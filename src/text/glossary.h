/* glossary.h -- terms with the translations a user wants for them.
 *
 * A file has one term a line: term TAB translation, and further translations behind further TABs where several will do.
 * A translation "-" keeps the term as it is. Terms are found as whole words, the longest first; upper and lower case are the
 * same unless the term has a capital letter behind its first character ("NATO", "New York"). White space of any length and kind is a
 * space, and a curly apostrophe a straight one. Read-only once made: threads may share it. */
#ifndef HD_TEXT_GLOSSARY_H
#define HD_TEXT_GLOSSARY_H

#include "base/bytes.h"
#include "text/vocab.h"

struct hd_glossary;

/* Read a file, plain or compressed by gzip; give the result to hd_glossary_free(). NULL with the reason in `err`:
 * HEED_BAD_FILE (missing, not readable), HEED_BAD_TEXT (a line that is not UTF-8 or has no TAB or an empty side, two lines that
 * contradict each other, no term at all), HEED_NO_MEMORY. */
struct hd_glossary *hd_glossary_read(const char *path, heed_error *err);

/* The same from bytes in memory, read during the call only; `name` is for error messages. */
struct hd_glossary *hd_glossary_from_memory(const char *name, const char *data, size_t size,
                                            heed_error *err);

void hd_glossary_free(struct hd_glossary *glossary); /* NULL is fine */

/* How many terms there are, and the translations of one, from 0; "-" keeps it. */
size_t hd_glossary_size(const struct hd_glossary *glossary);
const char *hd_glossary_term(const struct hd_glossary *glossary, size_t term);
int hd_glossary_n_translations(const struct hd_glossary *glossary, size_t term);
const char *hd_glossary_translation(const struct hd_glossary *glossary, size_t term, int k);

/* A term found in a text. */
struct hd_term_match {
    struct hd_span span;
    size_t term;
    bool
        is_capitalised; /* with a capital letter that the glossary's term has not: at the start of a sentence */
    bool is_upper; /* in capital letters throughout, two or more */
};

/* The first term at or behind text[*i], and *i behind it; false when there is none. Any bytes will do. */
bool hd_glossary_next(const struct hd_glossary *glossary, const char *text, size_t n, size_t *i,
                      struct hd_term_match *match);

/* Append the translation k that a match wants, its case adapted to that of the match. */
void hd_glossary_form(struct hd_bytes *out, const struct hd_glossary *glossary,
                      const struct hd_term_match *match, int k, const char *text);

#endif
