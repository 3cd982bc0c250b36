/* remembered.h -- a translation memory: sentences with the translations that people want for them, and which of them are like a text.
 *
 * A file has one pair a line: source TAB translation, and behind further TABs, where it matters, from which language to which ("en",
 * "de"). Empty lines are passed over. Likeness is counted in words and pairs of neighbouring words, whatever their case, each weighing
 * the more the fewer sentences have it: twice the weight of what two sentences share, by the weight of both. Read-only once made:
 * threads may share it. */
#ifndef HD_TEXT_REMEMBERED_H
#define HD_TEXT_REMEMBERED_H

#include "text/lines.h"

struct hd_remembered;

struct hd_remembered_pair {
    const char *source, *target;
    const char *from, *to; /* NULL: of any language */
    size_t line;           /* of the file, from 1 */
};

/* Read a file, plain or compressed by gzip; an empty one is an empty memory. NULL with the reason in `err`: HEED_BAD_FILE (missing, not
 * readable), HEED_BAD_TEXT (a line that is not UTF-8, has no TAB or an empty side), HEED_NO_MEMORY. */
struct hd_remembered *hd_remembered_read(const char *path, heed_error *err);

/* The same from bytes in memory, read during the call only; `name` is for error messages. */
struct hd_remembered *hd_remembered_from_memory(const char *name, const char *data, size_t size,
                                                heed_error *err);
void hd_remembered_free(struct hd_remembered *memory); /* NULL is fine */

size_t hd_remembered_size(const struct hd_remembered *memory);
const struct hd_remembered_pair *hd_remembered_at(const struct hd_remembered *memory, size_t i);

/* What is asked of a memory: a text, and the languages, NULL where they are not known. */
struct hd_remembered_query {
    const char *text;
    size_t n;
    const char *from, *to;
};

struct hd_likeness {
    size_t pair;
    double similarity; /* above 0, at most 1 */
};

/* The pairs most like the text, best first, of equal ones the earlier line: at most `most`. How many; -1 without memory. */
int hd_remembered_find(const struct hd_remembered *memory, const struct hd_remembered_query *query,
                       struct hd_likeness *found, int most, heed_error *err);

/* The last pair whose source is just this text, white space of any kind and length being a space; NULL: there is none. */
const struct hd_remembered_pair *hd_remembered_same(const struct hd_remembered *memory,
                                                    const struct hd_remembered_query *query);

#endif
