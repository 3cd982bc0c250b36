/* paragraphs.c -- plain text whose paragraphs are broken into lines: a paragraph is translated as one, and broken again as wide as it was.
 *
 * An empty line ends a paragraph, and so does the beginning of a list's item or of a heading, or another depth of quotation ("> "), which stands before
 * each of its lines again. */
#include "exchange/text_file.h"

#include "base/utf8.h"
#include "text/character.h"

#include <string.h>

static bool is_blank(struct hd_text line)
{
    return hd_skip_space(line.at, line.n, 0) == line.n;
}

/* "- ", "* ", "• ", "12. ", "3) ", "## ": something begins here. */
static bool begins_item(struct hd_text line)
{
    size_t i = hd_skip_space(line.at, line.n, 0), length = 0;
    const uint32_t cp = i < line.n ? hd_char_at(line.at, line.n, i, &length) : 0;
    size_t behind = i + length;
    if (cp == '#')
        while (behind < line.n && line.at[behind] == '#')
            behind++;
    else if (cp >= '0' && cp <= '9') {
        while (behind < line.n && line.at[behind] >= '0' && line.at[behind] <= '9')
            behind++;
        if (behind - i > 3 || behind >= line.n ||
            (line.at[behind] != '.' && line.at[behind] != ')'))
            return false;
        behind++;
    } else if (cp != '-' && cp != '*' && cp != '+' && cp != 0x2022 && cp != 0x2013)
        return false;
    return behind < line.n && line.at[behind] == ' ';
}

static bool is_heading(struct hd_text line)
{
    return line.n > 0 && line.at[0] == '#' && begins_item(line);
}

/* The bytes of "> > " before a line's words, with the space behind them. */
static size_t skip_quote(struct hd_text line)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n && (line.at[i] == ' ' || line.at[i] == '>'); i++)
        n = line.at[i] == '>' ? i + 1 : n;
    return n > 0 && n < line.n && line.at[n] == ' ' ? n + 1 : n;
}

static size_t depth_of(struct hd_text line)
{
    size_t depth = 0;
    for (size_t i = 0, n = skip_quote(line); i < n; i++)
        depth += line.at[i] == '>';
    return depth;
}

static struct hd_text behind_quote(struct hd_text line)
{
    const size_t n = skip_quote(line);
    return (struct hd_text){line.at + n, line.n - n};
}

/* A paragraph of [begin, end), in the lines of which there is nothing else. */
static bool add_paragraph(heed_file *file, struct hd_span span, size_t line, heed_error *err)
{
    size_t behind;
    const size_t n_quote = skip_quote(hd_file_line(file, span.begin, &behind));
    const struct hd_span quote = {span.begin, span.begin + n_quote};
    span.begin += n_quote;
    struct hd_buffer text = {0};
    size_t width = 0, n_lines = 0;
    bool ok = true;
    span.begin += hd_skip_space(file->bytes + span.begin, span.end - span.begin, 0);
    for (size_t at = span.begin, next; ok && at < span.end; at = next, n_lines++) {
        const struct hd_text whole = hd_file_line(file, at, &next),
                             one = at == span.begin ? whole : behind_quote(whole);
        const size_t n = hd_utf8_count(one.at, one.n), indent = hd_skip_space(one.at, one.n, 0);
        width = n > width ? n : width;
        ok = (text.n == 0 || hd_buffer_add_string(&text, " ", err)) &&
             hd_buffer_add(&text, one.at + indent, one.n - indent, err);
    }
    const size_t slot = ok ? hd_file_add_slot(file, span.begin, span.end, err) : SIZE_MAX;
    struct hd_file_unit *unit =
        slot != SIZE_MAX ? hd_file_add_unit(file, hd_buffer_text(&text), err) : NULL;
    if (unit) {
        unit->has_tags = false; /* plain text is plain */
        unit->slot = slot;
        unit->n_slots = 1;
        unit->line = line;
        unit->width = n_lines > 1 ? width : 0;
        unit->quote = quote;
    }
    hd_buffer_release(&text);
    return unit != NULL;
}

static bool read_paragraphs(heed_file *file, heed_error *err)
{
    struct hd_span span = {0};
    bool is_inside = false;
    size_t line = 0, first = 0, depth = 0;
    for (size_t at = 0, next; at < file->n; at = next) {
        const struct hd_text whole = hd_file_line(file, at, &next), text = behind_quote(whole);
        const bool ends = is_blank(text) || begins_item(text) || depth_of(whole) != depth;
        depth = depth_of(whole);
        line++;
        if (is_inside && ends) {
            if (!add_paragraph(file, span, first, err))
                return false;
            is_inside = false;
        }
        if (is_blank(text))
            continue;
        if (!is_inside) {
            span.begin = at;
            first = line;
        }
        span.end = at + whole.n;
        is_inside = true;
        if (is_heading(text)) {
            if (!add_paragraph(file, span, first, err))
                return false;
            is_inside = false;
        }
    }
    return !is_inside || add_paragraph(file, span, first, err);
}

static bool put_paragraph(heed_file *file, struct hd_file_unit *unit, const char *translation,
                          heed_error *err)
{
    struct hd_buffer lines = {0}, eol = {0};
    const bool ok = hd_buffer_add_string(&eol, file->eol, err) &&
                    hd_buffer_add(&eol, file->bytes + unit->quote.begin,
                                  unit->quote.end - unit->quote.begin, err) &&
                    hd_buffer_add(&eol, "", 1, err) &&
                    hd_wrap(&lines, (struct hd_text){translation, strlen(translation)}, unit->width,
                            eol.at, err) &&
                    hd_file_fill(file, unit->slot, hd_buffer_text(&lines), err);
    hd_buffer_release(&lines);
    hd_buffer_release(&eol);
    return ok;
}

const struct hd_file_kind hd_paragraph_kind = {"text", "", read_paragraphs, put_paragraph};
