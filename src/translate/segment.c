/* prepare.c -- a text becomes segments for the search.
 *
 * Invariant: whatever the bytes are, all of them are in the result's source, as they were or as U+FFFD. */
#include "translate/job.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "translate/split.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- a result's memory ------------------------------------------------------------------------- */

struct kept {
    struct kept *next;
    char padding[HD_ALIGNMENT - sizeof(struct kept *)];
};

void *hd_result_keep(heed_result *result, size_t count, size_t size, heed_error *err)
{
    size_t bytes;
    if (!hd_mul_size(&bytes, count, size) || !hd_add_size(&bytes, bytes, sizeof(struct kept))) {
        hd_fail(err, HEED_NO_MEMORY, "a text is too long for this machine's memory");
        return NULL;
    }
    struct kept *kept = hd_alloc(bytes, 1, err);
    if (!kept)
        return NULL;
    kept->next = result->memory;
    result->memory = kept;
    return kept + 1;
}

void hd_result_release(heed_result *result)
{
    for (struct kept *kept = result->memory, *next; kept; kept = next) {
        next = kept->next;
        hd_free(kept);
    }
    *result = (heed_result){0};
}

void hd_result_warn(heed_result *result, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char **list = hd_result_keep(result, result->n_warnings + 1, sizeof *list, NULL);
    char *copy = hd_result_keep(result, strlen(text) + 1, 1, NULL);
    if (!list || !copy)
        return;
    if (result->n_warnings > 0)
        memcpy(list, result->warnings, result->n_warnings * sizeof *list);
    list[result->n_warnings] = strcpy(copy, text);
    result->warnings = list;
    result->n_warnings++;
}

/* ---- text -------------------------------------------------------------------------------------- */

/* A copy of the text that is UTF-8. */
static const char *repaired(heed_result *result, const char *text, const char *what,
                            heed_error *err)
{
    const size_t n = strlen(text);
    size_t n_bad = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = (size_t)hd_utf8_decode(text + i, n - i, NULL);
        n_bad += length == 0;
        length += length == 0;
    }
    char *copy = hd_result_keep(result, n + 2 * n_bad + 1, 1, err), *to = copy;
    if (!copy)
        return NULL;
    for (size_t i = 0, length; i < n; i += length) {
        length = (size_t)hd_utf8_decode(text + i, n - i, NULL);
        memcpy(to, length > 0 ? text + i : "\xEF\xBF\xBD", length > 0 ? length : 3);
        to += length > 0 ? length : 3;
        length += length == 0;
    }
    if (n_bad > 0)
        hd_result_warn(result, "%zu byte%s of the %s %s not UTF-8 and stand%s as U+FFFD", n_bad,
                       n_bad == 1 ? "" : "s", what, n_bad == 1 ? "is" : "are",
                       n_bad == 1 ? "s" : "");
    return copy;
}

/* Ids and places of a segment. What the vocabulary cannot take is a warning, and the segment passes as it is. */
static bool encode_segment(const struct hd_job *job, struct hd_line *line,
                           struct hd_segment *segment)
{
    heed_error err = {0};
    const char *text = line->result->source + segment->span.begin;
    if (!hd_vocab_encode_spans(job->source, text, segment->span.end - segment->span.begin,
                               &segment->source, &err)) {
        if (err.code != HEED_BAD_TEXT)
            return hd_fail(&line->err, err.code, "%s", err.message);
        hd_result_warn(line->result, "not translated: %s", err.message);
    }
    for (size_t i = 0; i < segment->source.n; i++) {
        segment->source.spans[i].begin += segment->span.begin;
        segment->source.spans[i].end += segment->span.begin;
    }
    const int end = hd_vocab_end(job->source);
    segment->passes = segment->source.n == 0;
    segment->ids = hd_alloc(segment->source.n + 1, sizeof *segment->ids, &line->err);
    if (!segment->ids)
        return false;
    if (segment->source.n > 0)
        memcpy(segment->ids, segment->source.ids, segment->source.n * sizeof *segment->ids);
    segment->n_ids = (int)segment->source.n;
    if (end >= 0)
        segment->ids[segment->n_ids++] = end;
    return true;
}

static bool make_segments(struct hd_line *line, const struct hd_span *spans, size_t n)
{
    line->segments = hd_alloc(n, sizeof *line->segments, &line->err);
    if (!line->segments)
        return false;
    line->n_segments = n;
    for (size_t i = 0; i < n; i++)
        line->segments[i].span = spans[i];
    return true;
}

/* ---- to be searched ---------------------------------------------------------------------------- */

static bool cut_line(const struct hd_job *job, struct hd_line *line)
{
    struct hd_splits parts = {0};
    heed_error err = {0};
    const char *text = line->result->source + line->begin;
    bool ok = hd_split(&parts, job->source, text, line->n_text, job->most, &err);
    for (size_t i = 0; i < parts.n; i++) {
        parts.at[i].begin += line->begin;
        parts.at[i].end += line->begin;
    }
    if (ok)
        ok = make_segments(line, parts.at, parts.n);
    else if (err.code == HEED_BAD_TEXT) /* the segment says what it is about */
        ok = make_segments(line, &(struct hd_span){line->begin, line->begin + line->n_text}, 1);
    else
        hd_fail(&line->err, err.code, "%s", err.message);
    if (ok && parts.n > 1)
        hd_result_warn(line->result,
                       "the text is longer than the %zu subwords the model was trained for; it was "
                       "cut into %zu parts",
                       job->most, parts.n);
    if (ok && parts.n_words_cut > 0)
        hd_result_warn(line->result,
                       "a word is longer than the %zu subwords the model was trained for; it was "
                       "cut as well",
                       job->most);
    hd_splits_release(&parts);
    return ok;
}

static bool prepare_search(const struct hd_job *job, struct hd_line *line, const char *prefix)
{
    if (!cut_line(job, line))
        return false;
    for (size_t i = 0; i < line->n_segments; i++)
        if (!encode_segment(job, line, &line->segments[i]))
            return false;
    if (!prefix || line->n_segments == 0)
        return true;
    const char *text = repaired(line->result, prefix, "prefix", &line->err);
    return text && hd_vocab_encode(job->target, text, strlen(text), false,
                                   &line->segments[0].prefix, &line->err);
}

/* ---- to be forced ------------------------------------------------------------------------------ */

/* Nothing can be cut here, as nobody knows which part of the target belongs to which of the source. */
static bool prepare_force(const struct hd_job *job, struct hd_line *line, const char *target)
{
    const size_t most = 4 * job->most;
    if (!make_segments(line, &(struct hd_span){line->begin, line->begin + line->n_text}, 1) ||
        !encode_segment(job, line, &line->segments[0]))
        return false;
    struct hd_segment *segment = &line->segments[0];
    line->target = repaired(line->result, target, "target", &line->err);
    if (!line->target)
        return false;
    line->n_target = strlen(line->target);
    heed_error err = {0};
    if (!hd_vocab_encode_spans(job->target, line->target, line->n_target, &line->target_placed,
                               &err)) {
        if (err.code != HEED_BAD_TEXT)
            return hd_fail(&line->err, err.code, "%s", err.message);
        hd_result_warn(line->result, "not looked at: %s", err.message);
        line->is_skipped = true;
    }
    const size_t n = line->target_placed.n;
    if (segment->source.n > most || n > most) {
        hd_result_warn(line->result,
                       "not looked at: the pair has %zu and %zu subwords, but the model was "
                       "trained for %zu",
                       segment->source.n, n, job->most);
        line->is_skipped = true;
    }
    if (segment->n_ids == 0) {
        hd_result_warn(line->result, "not looked at: there is nothing in the source");
        line->is_skipped = true;
    }
    segment->passes = line->is_skipped;
    for (size_t i = 0; i < n; i++)
        if (!hd_ids_add(&segment->prefix, line->target_placed.ids[i], &line->err))
            return false;
    return true;
}

/* ---- all --------------------------------------------------------------------------------------- */

bool hd_line_prepare(const struct hd_job *job, struct hd_line *line, const char *text,
                     const char *other)
{
    line->result->source = repaired(line->result, text, "text", &line->err);
    if (!line->result->source)
        return false;
    line->n_source = strlen(line->result->source);
    if (line->n_source > INT_MAX / 8)
        return hd_fail(&line->err, HEED_BAD_TEXT, "a line of %zu bytes is too long; cut it",
                       line->n_source);
    line->begin = hd_space_before(line->result->source, line->n_source);
    line->n_text = line->n_source - line->begin;
    line->n_text -= hd_space_after(line->result->source + line->begin, line->n_text);
    return (job->is_forced ? prepare_force : prepare_search)(job, line, other);
}

void hd_line_release(struct hd_line *line)
{
    for (size_t i = 0; i < line->n_segments; i++) {
        struct hd_segment *segment = &line->segments[i];
        hd_encoding_release(&segment->source);
        hd_ids_release(&segment->prefix);
        hd_nbest_release(&segment->found);
        hd_free(segment->ids);
    }
    hd_free(line->segments);
    hd_encoding_release(&line->target_placed);
}
