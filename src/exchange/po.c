/* po.c -- a reader of PO files: lines that are comments, keywords with a string, or strings that go on.
 *
 * An entry ends where the next one begins: at a comment or a keyword behind its translations. */
#include "exchange/po.h"

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

bool hd_po_begin(struct hd_po *po, const char *name, const char *text, size_t n, heed_error *err)
{
    size_t bad = 0, line = 1;
    *po = (struct hd_po){name, text, n, 0, 1};
    const char *nul = n > 0 ? memchr(text, '\0', n) : NULL;
    const bool is_utf8 = hd_utf8_valid(text, n, &bad);
    if (is_utf8 && !nul)
        return true;
    const size_t end = is_utf8 ? (size_t)(nul - text) : bad;
    for (size_t i = 0; i < end; i++)
        line += text[i] == '\n';
    return hd_fail(err, HEED_BAD_TEXT,
                   "%s:%zu: not UTF-8; convert the file first, with msgconv -t UTF-8", name, line);
}

/* ---- lines --------------------------------------------------------------------------------------- */

/* Bytes of a line, white space around it left out. */
static struct hd_span line_at(const struct hd_po *po, size_t at, size_t *next)
{
    const char *end = at < po->n ? memchr(po->text + at, '\n', po->n - at) : NULL;
    struct hd_span line = {at, end ? (size_t)(end - po->text) : po->n};
    *next = end ? line.end + 1 : po->n;
    while (line.begin < line.end && (po->text[line.begin] == ' ' || po->text[line.begin] == '\t'))
        line.begin++;
    while (line.end > line.begin &&
           (po->text[line.end - 1] == ' ' || po->text[line.end - 1] == '\t' ||
            po->text[line.end - 1] == '\r'))
        line.end--;
    return line;
}

/* The string at `at`, which must reach to the end of the line. */
static bool read_quoted(const struct hd_po *po, size_t at, size_t end, struct hd_span *span,
                        heed_error *err)
{
    while (at < end && (po->text[at] == ' ' || po->text[at] == '\t'))
        at++;
    size_t i = at + 1;
    const bool begins = at < end && po->text[at] == '"';
    while (begins && i < end && po->text[i] != '"')
        i += po->text[i] == '\\' ? 2 : 1;
    if (!begins || i >= end)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: a string in quotation marks is expected here, which ends in the "
                       "same line",
                       po->name, po->line);
    if (i + 1 != end)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: there is something behind the string; a quotation mark inside of "
                       "it is written \\\"",
                       po->name, po->line);
    *span = (struct hd_span){at, i + 1};
    return true;
}

/* ---- entries ------------------------------------------------------------------------------------- */

static bool has_word(const char *text, size_t n, const char *word)
{
    const size_t m = strlen(word);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(text + i, word, m) == 0)
            return true;
    return false;
}

static void read_comment(const struct hd_po *po, struct hd_span line, size_t begin,
                         struct hd_po_entry *e)
{
    const char kind = line.end - line.begin > 1 ? po->text[line.begin + 1] : ' ';
    if (kind == ',') {
        e->behind_flags = line.begin + 2;
        e->is_fuzzy =
            e->is_fuzzy || has_word(po->text + line.begin, line.end - line.begin, "fuzzy");
    } else if (kind == '|' && e->flags_at == 0)
        e->flags_at = begin + 1; /* one more, so that 0 is none */
}

static bool begins(const struct hd_po *po, struct hd_span line, const char *word)
{
    const size_t n = strlen(word);
    return line.end - line.begin >= n && memcmp(po->text + line.begin, word, n) == 0;
}

/* msgstr, or msgstr[N]: where its string is to be; NULL: it is not what should stand here. */
static struct hd_span *place_of(const struct hd_po *po, struct hd_span line, struct hd_po_entry *e,
                                size_t *behind)
{
    *behind = line.begin + 6;
    if (!begins(po, line, "msgstr") || e->id.end == 0 || e->n_translations == HD_PO_MOST_FORMS)
        return NULL;
    const bool is_form = *behind < line.end && po->text[*behind] == '[';
    if (is_form != (e->plural.end > 0) || (!is_form && e->n_translations > 0))
        return NULL;
    if (is_form) {
        size_t i = *behind + 1, number = 0;
        for (; i < line.end && po->text[i] >= '0' && po->text[i] <= '9' && number < 100; i++)
            number = 10 * number + (size_t)(po->text[i] - '0');
        if (i >= line.end || po->text[i] != ']' || number != (size_t)e->n_translations)
            return NULL;
        *behind = i + 1;
    }
    return &e->translations[e->n_translations++];
}

/* A line with a keyword; *now is then its string. */
static bool read_keyword(struct hd_po *po, struct hd_span line, size_t begin, struct hd_po_entry *e,
                         struct hd_span **now, heed_error *err)
{
    static struct hd_span context; /* what nobody looks at */
    size_t behind = line.begin;
    e->flags_at = e->flags_at ? e->flags_at : begin + 1;
    *now = NULL;
    if (begins(po, line, "msgctxt") && e->id.end == 0) {
        *now = &context;
        behind += 7;
    } else if (begins(po, line, "msgid_plural") && e->id.end > 0 && e->plural.end == 0 &&
               e->n_translations == 0) {
        *now = &e->plural;
        behind += 12;
    } else if (begins(po, line, "msgid") && e->id.end == 0) {
        *now = &e->id;
        e->line = po->line;
        behind += 5;
    } else
        *now = place_of(po, line, e, &behind);
    if (!*now)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: %s cannot stand here; an entry of a PO file is msgid with a "
                       "string, perhaps msgid_plural, then msgstr",
                       po->name, po->line,
                       hd_quote_n(po->text + line.begin, line.end - line.begin).text);
    struct hd_span span;
    if (!read_quoted(po, behind, line.end, &span, err))
        return false;
    if (*now != &context)
        **now = span;
    else
        *now = NULL; /* goes on without being kept */
    return true;
}

bool hd_po_next(struct hd_po *po, struct hd_po_entry *e, bool *is_end, heed_error *err)
{
    struct hd_span *now = NULL;
    *e = (struct hd_po_entry){0};
    for (size_t next; po->at < po->n; po->at = next, po->line++) {
        const struct hd_span line = line_at(po, po->at, &next);
        const char first = line.begin < line.end ? po->text[line.begin] : '\0';
        if (e->n_translations > 0 &&
            (first == '#' || begins(po, line, "msgid") || begins(po, line, "msgctxt")))
            break;
        if (first == '#')
            read_comment(po, line, po->at, e);
        else if (first == '"') {
            struct hd_span more;
            if (!read_quoted(po, line.begin, line.end, &more, err))
                return false;
            if (now)
                now->end = more.end;
        } else if (first != '\0' && !read_keyword(po, line, po->at, e, &now, err))
            return false;
    }
    *is_end = e->id.end == 0;
    e->flags_at -= e->flags_at > 0;
    return *is_end || e->n_translations > 0 ||
           hd_fail(err, HEED_BAD_TEXT, "%s:%zu: this msgid has no msgstr; was the file cut off?",
                   po->name, e->line);
}

/* ---- strings ------------------------------------------------------------------------------------- */

/* \ooo or \xhh at text[*i], behind the backslash: plain ASCII alone. */
static uint32_t read_code(const char *text, size_t end, size_t *i)
{
    const bool is_hex = text[*i] == 'x';
    uint32_t value = 0;
    size_t n = 0;
    *i += is_hex;
    for (; *i < end && n < (is_hex ? 2 : 3); ++*i, n++) {
        const char c = text[*i];
        const int digit = c >= '0' && c <= (is_hex ? '9' : '7')          ? c - '0'
                          : is_hex && (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                         : -1;
        if (digit < 0)
            break;
        value = value * (is_hex ? 16 : 8) + (uint32_t)digit;
    }
    return value > 0 && value < 0x80 ? value : 0xFFFD;
}

bool hd_po_read_string(struct hd_buffer *out, const struct hd_po *po, struct hd_span span,
                       heed_error *err)
{
    static const char letters[] = "ntrbfva", meant[] = "\n\t\r\b\f\v\a";
    bool is_inside = false, ok = true;
    for (size_t i = span.begin; ok && i < span.end;) {
        const char c = po->text[i];
        if (c == '"') {
            is_inside = !is_inside;
            i++;
        } else if (!is_inside)
            i++;
        else if (c != '\\' || i + 1 >= span.end) {
            ok = hd_buffer_add(out, po->text + i, 1, err);
            i++;
        } else {
            const char *letter = strchr(letters, po->text[++i]);
            if (po->text[i] == 'x' || (po->text[i] >= '0' && po->text[i] <= '7'))
                ok = hd_buffer_add_char(out, read_code(po->text, span.end, &i), err);
            else {
                ok = hd_buffer_add(out, letter ? &meant[letter - letters] : &po->text[i], 1, err);
                i++;
            }
        }
    }
    return ok;
}

bool hd_po_write_string(struct hd_buffer *out, struct hd_text text, const char *eol,
                        heed_error *err)
{
    const char *newline = text.n > 0 ? memchr(text.at, '\n', text.n) : NULL;
    const bool is_of_lines = newline && (size_t)(newline - text.at) + 1 < text.n;
    bool ok = hd_buffer_add_string(out, is_of_lines ? "\"\"" : "\"", err) &&
              (!is_of_lines ||
               (hd_buffer_add_string(out, eol, err) && hd_buffer_add_string(out, "\"", err)));
    for (size_t i = 0; ok && i < text.n; i++) {
        const char c = text.at[i];
        const char *escaped = c == '\n'   ? "\\n"
                              : c == '\t' ? "\\t"
                              : c == '\r' ? "\\r"
                              : c == '"'  ? "\\\""
                              : c == '\\' ? "\\\\"
                                          : NULL;
        ok = escaped ? hd_buffer_add_string(out, escaped, err)
                     : hd_buffer_add(out, &text.at[i], 1, err);
        if (ok && c == '\n' && i + 1 < text.n)
            ok = hd_buffer_add_string(out, "\"", err) && hd_buffer_add_string(out, eol, err) &&
                 hd_buffer_add_string(out, "\"", err);
    }
    return ok && hd_buffer_add_string(out, "\"", err);
}

struct hd_text hd_po_header_field(struct hd_text header, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < header.n;) {
        const char *end = memchr(header.at + i, '\n', header.n - i);
        size_t to = end ? (size_t)(end - header.at) : header.n, from = i + n + 1;
        if (to - i > n && memcmp(header.at + i, name, n) == 0 && header.at[i + n] == ':') {
            while (from < to && header.at[from] == ' ')
                from++;
            return (struct hd_text){header.at + from, to - from};
        }
        i = to + 1;
    }
    return (struct hd_text){0};
}
