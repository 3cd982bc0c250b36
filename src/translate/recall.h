/* recall.h -- a translation memory at work: a text that is remembered has its answer, and of others each segment gets the remembered
 * sentences that are most like it, forced through the models, as neighbours of its search (search/neighbours.h).
 *
 * What a remembered sentence makes of the models is kept by the translator and made again when it was given up: that changes the time
 * and no bit of a result. A text is translated with the memory as it was when its options were set. */
#ifndef HD_TRANSLATE_RECALL_H
#define HD_TRANSLATE_RECALL_H

#include "translate/job.h"

/* A memory that several options share. */
struct hd_shared_memory;

/* Read a file; to be given to hd_shared_memory_leave(). NULL with the reason in `err`, as hd_remembered_read(). */
struct hd_shared_memory *hd_shared_memory_read(const char *path, heed_error *err);
struct hd_shared_memory *hd_shared_memory_join(struct hd_shared_memory *shared);
void hd_shared_memory_leave(struct hd_shared_memory *shared); /* NULL is fine */

/* The steps that a translator keeps; threads share it. */
struct hd_recall;
struct hd_recall *hd_recall_new(heed_error *err);
void hd_recall_free(struct hd_recall *recall); /* NULL is fine */

/* The translation of the line's text as it is remembered, white space around it included, which belongs to its result; NULL: it is not
 * remembered, or there is no memory (line->err is set). */
const char *hd_line_remembered(struct hd_line *line);

/* Find neighbours for the line's segments, once it has them. False with the reason in line->err. */
bool hd_line_recall(struct hd_line *line);

/* Tell in the result what was remembered. */
bool hd_describe_memory(struct hd_line *line);

struct hd_segment_recalled;
const struct hd_neighbours *hd_segment_neighbours(
    const struct hd_segment *segment);                               /* NULL: none */
void hd_segment_recalled_free(struct hd_segment_recalled *recalled); /* NULL is fine */
#endif
