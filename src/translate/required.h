/* required.h -- what a search must say: terms of a glossary that a segment has, and protected pieces where the model has no
 * placeholders for them, in the target's subwords. */
#ifndef HD_TRANSLATE_REQUIRED_H
#define HD_TRANSLATE_REQUIRED_H

#include "translate/job.h"

/* A glossary that several options share. */
struct hd_shared_glossary;

/* Read a file; to be given to hd_shared_glossary_leave(). NULL with the reason in `err`, as hd_glossary_read(). */
struct hd_shared_glossary *hd_shared_glossary_read(const char *path, heed_error *err);
struct hd_shared_glossary *hd_shared_glossary_join(struct hd_shared_glossary *shared);
void hd_shared_glossary_leave(struct hd_shared_glossary *shared); /* NULL is fine */

/* What each id of a vocabulary is to the words around it (search/terms.h), to be given to hd_free(). */
unsigned char *hd_id_flags(const struct hd_vocab *vocab, heed_error *err);

/* Find the glossary's terms in the line's segments, once it has them and its protected pieces, and what will be said where such a piece
 * gets lost. False with the reason in line->err. */
bool hd_line_require_terms(struct hd_line *line);

/* Warn of terms that the best translation lacks. */
void hd_warn_of_terms(struct hd_line *line);

struct hd_segment_terms;
const struct hd_terms *hd_terms_of(const struct hd_segment_terms *terms); /* NULL: none */
void hd_segment_terms_free(struct hd_segment_terms *terms);               /* NULL is fine */
#endif
