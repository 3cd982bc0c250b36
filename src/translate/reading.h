/* reading.h -- what the model reads of a segment, where that is not the text itself.
 *
 * Protected pieces are read as placeholders, text in capitals or in small letters alone as an ordinary sentence. What only has to be copied at either end (the
 * mark of a list's item, emoji) is no part of the segment. */
#ifndef HD_TRANSLATE_READING_H
#define HD_TRANSLATE_READING_H

#include "translate/job.h"

/* Shorten a segment to what is to be translated; what is left out stays where it is, like white space. */
void hd_segment_trim(struct hd_segment *segment);

/* Encode a segment as the model is to read it. `has_prefix`: how the output begins is given. False with the reason in line->err. */
bool hd_segment_read(struct hd_segment *segment, bool has_prefix);

/* Is a word one that has a capital letter everywhere? So it is if the vocabulary has it as a piece with a capital letter alone, as
 * "▁English", "▁Bahnhof". */
bool hd_word_is_name(const struct hd_vocab *vocab, const char *text, size_t n);

/* How many of its protected pieces are read as placeholders. */
size_t hd_segment_placeholders(const struct hd_segment *segment);
#endif
