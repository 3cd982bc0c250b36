/* line_set.h -- lines to keep out of a training text: those of test and dev sets.
 *
 * Two lines are the same when they differ in case, spaces and final punctuation only. Kept is a hash of 64 bits for each: of a
 * million lines, one in 10^13 others is taken for one of them. */
#ifndef HD_TEXT_LINE_SET_H
#define HD_TEXT_LINE_SET_H

#include "text/lines.h"

struct hd_line_set;

/* All lines of these files, plain or gzip; columns of TSV count as lines. To be given to hd_line_set_free(). NULL with the reason
 * in `err`, as hd_lines_read() has it. */
struct hd_line_set *hd_line_set_read(const char *const *paths, size_t n, heed_error *err);

/* NULL is fine. */
void hd_line_set_free(struct hd_line_set *set);

/* Is this line one of them? A line without any letter, digit or symbol is not. */
bool hd_line_set_has(const struct hd_line_set *set, struct hd_text line);

#endif
