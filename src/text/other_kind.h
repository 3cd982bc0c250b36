/* other_kind.h -- files that are no lines of text, recognised by their first bytes: archives, UTF-16, PDF, TMX, CSV. */
#ifndef HD_TEXT_OTHER_KIND_H
#define HD_TEXT_OTHER_KIND_H

#include <heed.h>

/* True for what may be lines of text. False with HEED_BAD_TEXT in `err` for a file of another kind, with what to do. A file of two
 * columns (is_tsv) is also told from CSV and JSON. */
bool hd_check_kind(const char *name, const char *bytes, size_t n, bool is_tsv, heed_error *err);

#endif
