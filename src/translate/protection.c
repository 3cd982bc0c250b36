/* protection.c -- protected pieces of a line: those that pass, those that become placeholders, and those that were lost.
 *
 * A model knows placeholders, ⟨1⟩ to ⟨9⟩, when both of its vocabularies have them. Invariant: places of tokens are places in the
 * line's own text, whether the model has seen that or placeholders. */
#include "translate/protection.h"

#include "base/memory.h"
#include "base/quote.h"

#include <string.h>

/* Does a segment have anything but protected pieces, white space and punctuation? */
static bool has_text(const struct hd_segment *segment)
{
    const char *source = segment->line->result->source;
    const struct hd_protected *next = segment->line->kept.at + segment->first_kept;
    const struct hd_protected *end = next + segment->n_kept;
    for (size_t i = segment->span.begin, length; i < segment->span.end; i += length) {
        const uint32_t cp = hd_char_at(source, segment->span.end, i, &length);
        if (next < end && i == next->span.begin)
            length = next++->span.end - i;
        else if (hd_char_is_letter(cp) || hd_char_is_digit(cp))
            return true;
    }
    return false;
}

/* ---- placeholders -------------------------------------------------------------------------------- */

static size_t n_placeholders(const struct hd_segment *segment)
{
    return segment->n_kept < HD_N_PLACEHOLDERS ? segment->n_kept : HD_N_PLACEHOLDERS;
}

/* Places in the text with placeholders as places in the line. */
static void place_tokens(const struct hd_segment *segment, struct hd_encoding *encoding)
{
    const struct hd_protected *kept = segment->line->kept.at + segment->first_kept;
    for (size_t t = 0; t < encoding->n; t++) {
        struct hd_span *span = &encoding->spans[t];
        /* where the line and the text with placeholders have come to, behind k pieces */
        size_t line = segment->span.begin, text = 0, k = 0;
        const size_t size = HD_PLACEHOLDER_SIZE, n = n_placeholders(segment);
        while (k < n && text + (kept[k].span.begin - line) + size <= span->begin) {
            text += kept[k].span.begin - line + size;
            line = kept[k++].span.end;
        }
        const size_t place = k < n ? text + (kept[k].span.begin - line) : SIZE_MAX;
        const size_t begin = span->begin, end = span->end;
        span->begin = begin <= place ? line + (begin - text) : kept[k].span.begin;
        span->end = end <= place ? line + (end - text) : kept[k].span.end;
    }
}

/* Is each placeholder there once, as one token? */
static bool has_all_placeholders(const struct hd_segment *segment,
                                 const struct hd_encoding *encoding)
{
    for (size_t k = 0; k < n_placeholders(segment); k++) {
        size_t n = 0;
        for (size_t t = 0; t < encoding->n; t++)
            n += encoding->ids[t] == segment->line->job->ensemble->source_placeholders[k];
        if (n != 1)
            return false;
    }
    return true;
}

/* The segment's encoding with placeholders, where its vocabulary can take them. */
static bool use_placeholders(struct hd_segment *segment, heed_error *err)
{
    const struct hd_line *line = segment->line;
    struct hd_protected_list list = {.n = segment->n_kept};
    struct hd_bytes text = {0};
    struct hd_encoding encoding = {0};
    list.at = hd_alloc(list.n, sizeof *list.at, err);
    if (!list.at)
        return false;
    for (size_t k = 0; k < list.n; k++) {
        list.at[k] = line->kept.at[segment->first_kept + k];
        list.at[k].span.begin -= segment->span.begin;
        list.at[k].span.end -= segment->span.begin;
    }
    hd_protect_replace(&text, line->result->source + segment->span.begin,
                       segment->span.end - segment->span.begin, &list);
    bool ok = !text.has_failed &&
              hd_vocab_encode_spans(line->job->ensemble->source, text.at, text.n, &encoding, err);
    if (ok && encoding.n <= segment->source.n + HD_N_PLACEHOLDERS &&
        has_all_placeholders(segment, &encoding)) {
        place_tokens(segment, &encoding);
        const struct hd_encoding before = segment->source;
        segment->source = encoding;
        encoding = before;
        segment->has_placeholders = true;
        ok = hd_segment_add_ids(segment, err);
    }
    hd_encoding_release(&encoding);
    hd_protected_release(&list);
    hd_free(text.at);
    return ok;
}

bool hd_placeholder_piece(const struct hd_segment *segment, int id, struct hd_span *piece)
{
    const struct hd_line *line = segment->line;
    for (size_t k = 0; segment->has_placeholders && k < n_placeholders(segment); k++)
        if (id == line->job->ensemble->target_placeholders[k]) {
            *piece = line->kept.at[segment->first_kept + k].span;
            return true;
        }
    return false;
}

/* ---- a line -------------------------------------------------------------------------------------- */

bool hd_line_protect(struct hd_line *line)
{
    const struct hd_job *job = line->job;
    if (!job->options.protects)
        return true;
    if (!hd_protect_find(&line->kept, job->keep, line->result->source, line->n_source, &line->err))
        return false;
    size_t k = 0;
    for (size_t p = 0; p < line->n_segments && k < line->kept.n; p++) {
        struct hd_segment *segment = &line->segments[p];
        while (k < line->kept.n && line->kept.at[k].span.begin < segment->span.begin)
            k++; /* cut in two by something else */
        segment->first_kept = k;
        while (k < line->kept.n && line->kept.at[k].span.end <= segment->span.end)
            k++;
        segment->n_kept = k - segment->first_kept;
        if (segment->n_kept == 0 || segment->passes)
            continue;
        segment->passes = !has_text(segment);
        if (!segment->passes && job->ensemble->has_placeholders &&
            !use_placeholders(segment, &line->err))
            return false;
    }
    return true;
}

static size_t count(const char *text, const char *piece, size_t n)
{
    size_t times = 0;
    for (const char *found = text; (found = strchr(found, *piece)); found++)
        times += strncmp(found, piece, n) == 0;
    return times;
}

void hd_warn_of_losses(struct hd_line *line)
{
    enum { MOST = 3 }; /* warnings */
    heed_result *r = line->result;
    const char *text = r->translations[0]->text;
    size_t n_lost = 0;
    if (line->job->is_forced || !line->job->options.protects)
        return;
    for (size_t k = 0; k < line->kept.n && n_lost < MOST; k++) {
        const struct hd_span span = line->kept.at[k].span;
        const char *piece = r->source + span.begin;
        const size_t n = span.end - span.begin, n_there = count(text, piece, n);
        const bool is_lost = n_there == 0, is_doubled = n_there > count(r->source, piece, n);
        n_lost += is_lost || is_doubled;
        if (is_lost || is_doubled)
            hd_result_warn(r, "%s of the source is %s the translation", hd_quote_n(piece, n).text,
                           is_lost ? "not in" : "more than once in");
    }
    const struct hd_number_difference d =
        hd_numbers_compare(r->source, line->n_source, text, strlen(text));
    const struct hd_span missing = d.missing.span, extra = d.extra.span;
    if (n_lost > 0)
        return;
    if (d.n_missing > 0)
        hd_result_warn(r, "the number %.*s of the source is not in the translation",
                       (int)(missing.end - missing.begin), r->source + missing.begin);
    else if (d.n_extra > 0)
        hd_result_warn(r, "the number %.*s of the translation is not in the source",
                       (int)(extra.end - extra.begin), text + extra.begin);
}
