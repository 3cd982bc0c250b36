/* looks.h -- attention that is given instead of the model's own: what would have been written had it looked there? */
#ifndef HD_TRANSLATE_LOOKS_H
#define HD_TRANSLATE_LOOKS_H

#include "translate/job.h"

/* Make of the option "force", steps and subwords of the source, what the search of the line's only segment is given. False with the
 * reason in line->err: there are several segments, or no such subword. */
bool hd_line_look(struct hd_line *line);

struct hd_segment_looks;
const struct hd_look *hd_segment_looks(const struct hd_segment *segment, int *n);
void hd_segment_looks_free(struct hd_segment_looks *looks); /* NULL is fine */
#endif
