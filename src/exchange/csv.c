/* csv.c -- tables with commas, semicolons or TABs between their columns, quotes around what has such in it (RFC 4180), and a header that says which columns are
 * source and target.
 *
 * Columns are found by the names source and target (src and tgt), or those of the two languages. Without any, a table of two columns is source and target.
 * A first line "sep=;" is how Excel is told what stands between columns. */
#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "exchange/pair_writer.h"
#include "text/columns.h"
#include "text/vocab.h"

#include <string.h>
#include <strings.h>

enum { MOST_COLUMNS = 256 };

struct table {
    const char *name, *text;
    size_t n, at, line; /* where the next row begins */
    size_t first_line;  /* of the first row */
    char separator;
    struct hd_buffer cells; /* of a row, one after the other, */
    struct hd_span spans[MOST_COLUMNS];
    int n_cells;
};

/* What stands between columns: whatever there is most of in the first line. */
static char find_separator(const char *text, size_t n)
{
    static const char all[] = {',', ';', '\t'};
    const char *end = n > 0 ? memchr(text, '\n', n) : NULL;
    const size_t line = end ? (size_t)(end - text) : n;
    size_t most = 0;
    char best = ',';
    for (size_t k = 0; k < sizeof all; k++) {
        size_t count = 0;
        bool is_quoted = false;
        for (size_t i = 0; i < line; i++) {
            is_quoted ^= text[i] == '"';
            count += !is_quoted && text[i] == all[k];
        }
        if (count > most) {
            most = count;
            best = all[k];
        }
    }
    return best;
}

/* The cell at t->at; *is_last says that its row ends with it. */
static bool read_cell(struct table *t, bool *is_last, heed_error *err)
{
    const size_t begin = t->cells.n, first_line = t->line;
    size_t quoted_end = begin, spaces = t->at;
    while (spaces < t->n && t->text[spaces] == ' ')
        spaces++;
    if (t->n_cells > 0 && spaces < t->n && t->text[spaces] == '"')
        t->at = spaces; /* a, "b" */
    bool is_quoted = t->at < t->n && t->text[t->at] == '"', ok = true;
    t->at += is_quoted;
    for (; ok && t->at < t->n; t->at++) {
        const char c = t->text[t->at];
        t->line += c == '\n';
        if (is_quoted && c == '"' && t->at + 1 < t->n && t->text[t->at + 1] == '"')
            t->at++; /* two stand for one */
        else if (is_quoted && c == '"') {
            is_quoted = false;
            quoted_end = t->cells.n;
            continue;
        } else if (!is_quoted && (c == t->separator || c == '\n'))
            break;
        ok = hd_buffer_add(&t->cells, &t->text[t->at], 1, err);
    }
    if (ok && is_quoted)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: a quotation mark opens a cell here, and none closes it", t->name,
                       first_line);
    *is_last = t->at >= t->n || t->text[t->at] == '\n';
    t->at += t->at < t->n;
    if (*is_last && t->cells.n > quoted_end && t->cells.at[t->cells.n - 1] == '\r')
        t->cells.n--;
    if (t->n_cells == MOST_COLUMNS)
        return hd_fail(err, HEED_BAD_TEXT, "%s:%zu: a row has more than %d columns", t->name,
                       first_line, MOST_COLUMNS);
    t->spans[t->n_cells++] = (struct hd_span){begin, t->cells.n};
    return ok;
}

static bool read_row(struct table *t, heed_error *err)
{
    bool is_last = false;
    t->cells.n = 0;
    t->n_cells = 0;
    while (!is_last)
        if (!read_cell(t, &is_last, err))
            return false;
    return true;
}

static struct hd_text cell(const struct table *t, int i)
{
    const size_t n = t->spans[i].end - t->spans[i].begin;
    return (struct hd_text){n > 0 ? t->cells.at + t->spans[i].begin : "", n};
}

/* Which columns of the first row are the two sides; *is_header says whether it names them. */
static bool find_columns(const struct table *t, const struct hd_direction *direction, int column[2],
                         bool *is_header, heed_error *err)
{
    struct hd_text cells[MOST_COLUMNS];
    for (int i = 0; i < t->n_cells; i++)
        cells[i] = cell(t, i);
    *is_header = hd_columns_named(cells, t->n_cells, direction, &column[0], &column[1]);
    if (*is_header)
        return true;
    column[0] = 0;
    column[1] = 1;
    return t->n_cells == 2 ||
           hd_fail(
               err, HEED_BAD_TEXT,
               "%s:%zu: there are %d columns, and the first line does not say which two of them "
               "are to be learned; name them source and target there, or en and fr and say "
               "--pair en-fr=%s",
               t->name, t->first_line, t->n_cells, t->name);
}

/* "sep=;" in the first line. */
static void read_separator(struct table *t)
{
    static const char word[] = "sep=";
    const size_t n = sizeof word - 1;
    t->separator = find_separator(t->text, t->n);
    if (t->n <= n || strncasecmp(t->text, word, n) != 0 || !strchr(",;\t|", t->text[n]) ||
        t->text[n] == '\0')
        return;
    size_t at = n + 1;
    at += at < t->n && t->text[at] == '\r';
    if (at < t->n && t->text[at] == '\n') {
        t->separator = t->text[n];
        t->at = at + 1;
        t->line++;
    }
}

static bool check_text(const struct table *t, heed_error *err)
{
    size_t bad = 0, line = 1;
    const char *nul = t->n > 0 ? memchr(t->text, '\0', t->n) : NULL;
    const bool is_utf8 = hd_utf8_valid(t->text, t->n, &bad);
    if (is_utf8 && !nul)
        return true;
    const size_t end = is_utf8 ? (size_t)(nul - t->text) : bad;
    for (size_t i = 0; i < end; i++)
        line += t->text[i] == '\n';
    return hd_fail(err, HEED_BAD_TEXT,
                   "%s:%zu: not UTF-8; convert the file first, for example with iconv -t UTF-8",
                   t->name, line);
}

bool hd_csv_read(struct hd_pair_writer *writer, const char *text, size_t n,
                 const struct hd_direction *direction, heed_error *err)
{
    struct table t = {.name = writer->name, .text = text, .n = n, .line = 1};
    int column[2] = {0, 1}, n_columns = 0;
    bool is_header = false, ok = check_text(&t, err);
    read_separator(&t);
    t.first_line = t.line;
    for (size_t row = 0; ok && t.at < t.n; row++) {
        const size_t line = t.line;
        ok = read_row(&t, err);
        if (ok && row == 0) {
            ok = find_columns(&t, direction, column, &is_header, err);
            n_columns = t.n_cells;
        }
        if (!ok || (row == 0 && is_header) || (t.n_cells == 1 && t.cells.n == 0))
            continue;
        if (t.n_cells != n_columns)
            ok =
                hd_fail(err, HEED_BAD_TEXT, "%s:%zu: this row has %d columns, but the first has %d",
                        t.name, line, t.n_cells, n_columns);
        else
            ok = hd_pair_writer_add(writer, cell(&t, column[0]), cell(&t, column[1]), err);
    }
    hd_buffer_release(&t.cells);
    return ok;
}
