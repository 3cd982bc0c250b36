/* columns.c -- columns of TSV and the names of languages. */
#include "text/columns.h"

#include "base/language.h"

#include <string.h>
#include <strings.h>

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

enum { MOST_COLUMNS = 16 };

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

/* Without white space around it. */
static struct hd_text trim(struct hd_text cell)
{
    while (cell.n > 0 && strchr(" \t\r", cell.at[0])) {
        cell.at++;
        cell.n--;
    }
    while (cell.n > 0 && strchr(" \t\r", cell.at[cell.n - 1]))
        cell.n--;
    return cell;
}

static bool is_called(struct hd_text cell, const char *name)
{
    const struct hd_text text = trim(cell);
    return text.n == strlen(name) && strncasecmp(text.at, name, text.n) == 0;
}

/* Which of the n columns has this name, -1 for none. */
static int find_column(const struct hd_text *columns, int n, const char *name)
{
    int i = 0;
    while (i < n && !is_called(columns[i], name))
        i++;
    return i < n ? i : -1;
}

/* The first column of a language, or of any where it is NULL, from column i on. */
static int find_language(const struct hd_text *columns, int n, const char *language, int i)
{
    for (; i < n; i++) {
        const struct hd_text cell = trim(columns[i]);
        if (language ? hd_language_is(cell.at, cell.n, language)
                     : hd_language_is_known(cell.at, cell.n))
            return i;
    }
    return -1;
}

static int find_side(const struct hd_text *cells, int n, const char *name, const char *short_name,
                     const char *language)
{
    int i = find_column(cells, n, name);
    i = i >= 0 ? i : find_column(cells, n, short_name);
    return i >= 0 || !language ? i : find_language(cells, n, language, 0);
}

/* The two columns that are languages, where there are no more; "is" and "est" are words as well as codes, and are not the two kinds of one header. */
static bool find_two_languages(const struct hd_text *cells, int n, int *source, int *target)
{
    *source = find_language(cells, n, NULL, 0);
    *target = *source < 0 ? -1 : find_language(cells, n, NULL, *source + 1);
    if (*target < 0 || find_language(cells, n, NULL, *target + 1) >= 0)
        return false;
    const size_t a = trim(cells[*source]).n, b = trim(cells[*target]).n;
    return a == b || a > 3 || b > 3;
}

bool hd_columns_named(const struct hd_text *cells, int n, const struct hd_direction *direction,
                      int *source, int *target)
{
    *source = find_side(cells, n, "source", "src", direction ? direction->from : NULL);
    *target = find_side(cells, n, "target", "tgt", direction ? direction->to : NULL);
    if (*source < 0 && *target < 0 && !direction)
        return find_two_languages(cells, n, source, target);
    return *source >= 0 && *target >= 0 && *source != *target;
}

bool hd_columns_of_header(struct hd_columns *out, struct hd_text line,
                          const struct hd_direction *direction)
{
    struct hd_text columns[MOST_COLUMNS];
    struct hd_columns found = {.n = cut(line, columns), .from = -1, .to = -1};
    if (found.n > MOST_COLUMNS ||
        !hd_columns_named(columns, found.n, direction, &found.source, &found.target))
        return false;
    found.from = find_column(columns, found.n, "from");
    found.to = find_column(columns, found.n, "to");
    if (found.from < 0 || found.to < 0)
        found.from = found.to = -1;
    *out = found;
    return true;
}
