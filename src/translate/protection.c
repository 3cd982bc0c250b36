/* protection.c -- protected pieces of a line: those that pass, those that become placeholders, and those that were lost.
 *
 * A model knows placeholders, ⟨1⟩ to ⟨9⟩, when both of its vocabularies have them. */
#include "translate/protection.h"

#include "base/memory.h"
#include "base/quote.h"
#include "translate/reading.h"

#include <string.h>

/* Does a segment have anything but protected pieces, white space and punctuation? Numbers alone are no text in natural languages, but
 * may be all that there is in others. */
static bool has_text(const struct hd_segment *segment)
{
    const char *source = segment->line->result->source;
    const bool is_natural = segment->line->job->ensemble->is_natural;
    if (segment->n_kept == 0 && !is_natural)
        return true;
    const struct hd_protected *next = segment->line->kept.at + segment->first_kept;
    const struct hd_protected *end = next + segment->n_kept;
    for (size_t i = segment->span.begin, length; i < segment->span.end; i += length) {
        const uint32_t cp = hd_char_at(source, segment->span.end, i, &length);
        if (next < end && i == next->span.begin)
            length = next++->span.end - i;
        else if (hd_char_is_letter(cp) || (hd_char_is_digit(cp) && !is_natural))
            return true;
    }
    return false;
}

/* ---- placeholders -------------------------------------------------------------------------------- */

bool hd_placeholder_piece(const struct hd_segment *segment, int id, struct hd_span *piece)
{
    const struct hd_line *line = segment->line;
    for (size_t k = 0; k < hd_segment_placeholders(segment); k++)
        if (id == line->job->ensemble->target_placeholders[k]) {
            *piece = line->kept.at[segment->first_kept + k].span;
            return true;
        }
    return false;
}

/* ---- a line -------------------------------------------------------------------------------------- */

/* The protected pieces that lie in a segment; *k is where to look for them. */
static void find_kept(struct hd_segment *segment, size_t *k)
{
    const struct hd_protected_list *kept = &segment->line->kept;
    while (*k < kept->n && kept->at[*k].span.begin < segment->span.begin)
        ++*k; /* before it, or cut in two by something else */
    segment->first_kept = *k;
    while (*k < kept->n && kept->at[*k].span.end <= segment->span.end)
        ++*k;
    segment->n_kept = *k - segment->first_kept;
}

bool hd_line_protect(struct hd_line *line, bool has_prefix)
{
    const struct hd_job *job = line->job;
    const bool protects = job->options.protects;
    if (protects &&
        !hd_protect_find(&line->kept, job->keep, line->result->source, line->n_source, &line->err))
        return false;
    for (size_t p = 0; p < line->n_segments && protects && job->ensemble->is_natural; p++) {
        const struct hd_segment *s = &line->segments[p];
        if (!hd_protect_unseen(&line->kept, job->ensemble->source, line->result->source, s->span,
                               &s->source, &line->err))
            return false;
    }
    size_t k = 0;
    for (size_t p = 0; p < line->n_segments; p++) {
        struct hd_segment *segment = &line->segments[p];
        const struct hd_span before = segment->span;
        if (protects && job->ensemble->is_natural && !has_prefix)
            hd_segment_trim(segment);
        segment->is_trimmed = segment->span.begin > before.begin || segment->span.end < before.end;
        find_kept(segment, &k);
        if (segment->passes)
            continue;
        segment->passes = protects && !has_text(segment);
        if (!segment->passes && !hd_segment_read(segment, has_prefix))
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
    if (line->is_forced || !line->job->options.protects)
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
