/* columns.c -- columns of TSV and the names of languages. */
#include "text/columns.h"

#include <string.h>

bool hd_language_read(char out[HD_LANGUAGE_SIZE], struct hd_text text)
{
    if (text.n == 0 || text.n >= HD_LANGUAGE_SIZE)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.at[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (i == 0 || (c != '_' && !(c >= '0' && c <= '9'))))
            return false;
    }
    memcpy(out, text.at, text.n);
    out[text.n] = '\0';
    return true;
}

bool hd_direction_read(struct hd_direction *direction, struct hd_text text)
{
    const char *dash = text.n > 0 ? memchr(text.at, '-', text.n) : NULL;
    if (!dash)
        return false;
    const size_t n = (size_t)(dash - text.at);
    return hd_language_read(direction->from, (struct hd_text){text.at, n}) &&
           hd_language_read(direction->to, (struct hd_text){dash + 1, text.n - n - 1}) &&
           strcmp(direction->from, direction->to) != 0;
}

bool hd_direction_is(const struct hd_direction *direction, const char *from, const char *to)
{
    return strcmp(direction->from, from) == 0 && strcmp(direction->to, to) == 0;
}

enum { MOST_COLUMNS = 4 };

/* Cut at TABs; the number of columns, MOST_COLUMNS + 1 for more. */
static int cut(struct hd_text line, struct hd_text columns[MOST_COLUMNS])
{
    for (int n = 0; n < MOST_COLUMNS; n++) {
        const char *tab = line.n > 0 ? memchr(line.at, '\t', line.n) : NULL;
        columns[n] = (struct hd_text){line.at, tab ? (size_t)(tab - line.at) : line.n};
        if (!tab)
            return n + 1;
        line = (struct hd_text){tab + 1, line.n - columns[n].n - 1};
    }
    return MOST_COLUMNS + 1;
}

bool hd_columns_cut(const struct hd_columns *c, struct hd_text line, struct hd_row *row)
{
    struct hd_text columns[MOST_COLUMNS];
    if (cut(line, columns) != c->n)
        return false;
    *row = (struct hd_row){.source = columns[c->source], .target = columns[c->target]};
    if (c->from >= 0) {
        row->from = columns[c->from];
        row->to = columns[c->to];
    }
    return true;
}

/* Which of the n columns has this name, -1 for none. */
static int find_column(const struct hd_text *columns, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (columns[i].n == strlen(name) && memcmp(columns[i].at, name, columns[i].n) == 0)
            return i;
    return -1;
}

bool hd_columns_of_header(struct hd_columns *out, struct hd_text line,
                          const struct hd_direction *direction)
{
    struct hd_text columns[MOST_COLUMNS];
    struct hd_columns found = {.n = cut(line, columns), .from = -1, .to = -1};
    if (found.n == 4) {
        found.source = find_column(columns, 4, "source");
        found.target = find_column(columns, 4, "target");
        found.from = find_column(columns, 4, "from");
        found.to = find_column(columns, 4, "to");
        if (found.from < 0 || found.to < 0)
            return false;
    } else if (found.n == 2 && direction) {
        found.source = find_column(columns, 2, direction->from);
        found.target = find_column(columns, 2, direction->to);
    } else
        return false;
    if (found.source < 0 || found.target < 0)
        return false;
    *out = found;
    return true;
}
