/* protection.h -- pieces of a text that must come through a translation as they are (text/protect.h). */
#ifndef HD_TRANSLATE_PROTECTION_H
#define HD_TRANSLATE_PROTECTION_H

#include "translate/job.h"

/* Find the line's protected pieces, once it has segments. A segment of nothing else passes; the others are encoded as the model is
 * to read them (reading.h). `has_prefix`: how the output begins is given. False with the reason in line->err. */
bool hd_line_protect(struct hd_line *line, bool has_prefix);

/* The piece of the line's source that a token of a segment's output stands for; false for a token that is none of its
 * placeholders. */
bool hd_placeholder_piece(const struct hd_segment *segment, int id, struct hd_span *piece);

/* Warn of protected pieces and numbers that the best translation has lost. */
void hd_warn_of_losses(struct hd_line *line);
#endif
