/* segment.c -- a text becomes segments for the search, each encoded once.
 *
 * Invariant: whatever the bytes are, all of them are in the result's source, as they were or as U+FFFD. */
#include "translate/job.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "model/languages.h"
#include "text/answer.h"
#include "text/html_tag.h"
#include "text/word_keys.h"
#include "translate/protection.h"
#include "translate/looks.h"
#include "translate/recall.h"
#include "translate/required.h"
#include "translate/split.h"
#include "vector/vectors.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- text -------------------------------------------------------------------------------------- */

/* A copy of the text that is UTF-8. */
static const char *repaired(heed_result *result, const char *text, const char *what,
                            heed_error *err)
{
    assert(text);
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

bool hd_segment_add_ids(struct hd_segment *segment, heed_error *err)
{
    const int end = hd_vocab_end(segment->line->job->ensemble->source),
              symbol = segment->line->symbol;
    const enum hd_task task = segment->line->job->ensemble->task;
    const bool is_alone = task == HD_TASK_LANGUAGE_MODEL;
    segment->passes = segment->source.n == 0 && !is_alone;
    hd_free(segment->ids);
    segment->ids = hd_alloc(segment->source.n + 2, sizeof *segment->ids, err);
    segment->n_ids = 0;
    if (!segment->ids)
        return false;
    if (is_alone) /* nothing is read, not even an end */
        return true;
    const bool has_symbol = segment->source.n > 0 && segment->source.ids[0] == symbol;
    if (symbol >= 0 && !has_symbol)
        segment->ids[segment->n_ids++] = symbol;
    if (segment->source.n > 0)
        memcpy(segment->ids + segment->n_ids, segment->source.ids,
               segment->source.n * sizeof *segment->ids);
    segment->n_ids += (int)segment->source.n;
    if (end >= 0 && task != HD_TASK_SPAN) /* no answer ends there */
        segment->ids[segment->n_ids++] = end;
    return true;
}

static bool make_segments(struct hd_line *line, size_t n)
{
    line->segments = hd_alloc(n, sizeof *line->segments, &line->err);
    if (!line->segments)
        return false;
    line->n_segments = n;
    for (size_t i = 0; i < n; i++)
        line->segments[i].line = line;
    return true;
}

static void move_spans(struct hd_encoding *encoding, size_t by)
{
    for (size_t i = 0; i < encoding->n; i++) {
        encoding->spans[i].begin += by;
        encoding->spans[i].end += by;
    }
}

/* Subwords between spaces, as the vocabulary has them. */
static bool encode_subwords(const struct hd_vocab *vocab, const char *text, size_t n,
                            struct hd_encoding *placed, heed_error *err)
{
    char piece[256];
    *placed = (struct hd_encoding){hd_alloc(n / 2 + 1, sizeof *placed->ids, err),
                                   hd_alloc(n / 2 + 1, sizeof *placed->spans, err), 0};
    if (!placed->ids || !placed->spans)
        return false;
    for (size_t i = 0, end; i < n; i = end + 1) {
        const char *space = memchr(text + i, ' ', n - i);
        end = space ? (size_t)(space - text) : n;
        if (end == i)
            continue;
        snprintf(piece, sizeof piece, "%.*s", (int)(end - i), text + i);
        const int id = hd_vocab_find(vocab, piece);
        if (id < 0)
            return hd_fail(err, HEED_BAD_TEXT, "%s is no subword of the model",
                           hd_quote(piece).text);
        placed->ids[placed->n] = id;
        placed->spans[placed->n++] = (struct hd_span){i, end};
    }
    return true;
}

static bool encode(const struct hd_job *job, const struct hd_vocab *vocab, const char *text,
                   size_t n, struct hd_encoding *placed, heed_error *err)
{
    return job->is_forced && job->options.is_of_subwords
               ? encode_subwords(vocab, text, n, placed, err)
               : hd_vocab_encode_spans(vocab, text, n, placed, err);
}

/* The whole text as one segment. What the vocabulary cannot take is a warning, and the segment passes as it is. */
static bool make_one_segment(struct hd_line *line)
{
    if (!make_segments(line, 1))
        return false;
    heed_error err = {0};
    struct hd_segment *segment = &line->segments[0];
    segment->span = (struct hd_span){line->begin, line->begin + line->n_text};
    if (!encode(line->job, line->job->ensemble->source, line->result->source + line->begin,
                line->n_text, &segment->source, &err)) {
        hd_encoding_release(&segment->source);
        if (err.code != HEED_BAD_TEXT)
            return hd_fail(&line->err, err.code, "%s", err.message);
        line->is_skipped = line->job->is_forced;
        hd_result_warn(line->result, "not %s: %s", line->is_skipped ? "looked at" : "translated",
                       err.message);
    }
    move_spans(&segment->source, line->begin);
    return hd_segment_add_ids(segment, &line->err);
}

/* ---- to be searched ---------------------------------------------------------------------------- */

/* Parts become segments, with their encodings. */
static bool take_parts(struct hd_line *line, struct hd_splits *parts)
{
    if (!make_segments(line, parts->n))
        return false;
    for (size_t i = 0; i < parts->n; i++) {
        struct hd_segment *segment = &line->segments[i];
        segment->span = parts->at[i].span;
        segment->source = parts->at[i].encoding;
        parts->at[i].encoding = (struct hd_encoding){0};
        segment->span.begin += line->begin;
        segment->span.end += line->begin;
        move_spans(&segment->source, line->begin);
        if (!hd_segment_add_ids(segment, &line->err))
            return false;
        segment->passes = segment->passes || parts->at[i].is_kept;
    }
    return true;
}

/* The line's parts; of a text with tags those of its blocks, one after the other. */
static bool split_line(struct hd_line *line, const struct hd_split_rules *rules,
                       struct hd_splits *parts, heed_error *err)
{
    const struct hd_vocab *vocab = line->job->ensemble->source;
    struct hd_document *d = line->document;
    if (!d)
        return hd_split(parts, vocab, line->result->source + line->begin, line->n_text, rules, err);
    for (size_t b = 0; b < d->n_blocks; b++) {
        struct hd_block *block = &d->blocks[b];
        const size_t begin = block->plain.begin;
        block->first_segment = parts->n;
        if (!hd_split(parts, vocab, d->plain + begin, block->plain.end - begin, rules, err))
            return false;
        block->n_segments = parts->n - block->first_segment;
        for (size_t i = block->first_segment; i < parts->n; i++) {
            parts->at[i].span.begin += begin;
            parts->at[i].span.end += begin;
            move_spans(&parts->at[i].encoding, begin);
        }
    }
    return true;
}

static bool cut_line(struct hd_line *line, bool keeps_sentences)
{
    const struct hd_job *job = line->job;
    const struct hd_split_rules rules = {.most = job->most,
                                         .part = job->part,
                                         .keeps_sentences = keeps_sentences,
                                         .language = line->from};
    struct hd_splits parts = {0};
    heed_error err = {0};
    bool ok = split_line(line, &rules, &parts, &err);
    if (ok)
        ok = take_parts(line, &parts);
    else if (err.code == HEED_BAD_TEXT) { /* the segment says what it is about */
        ok = make_one_segment(line);
        if (line->document)
            line->document->is_verbatim = true;
    } else
        hd_fail(&line->err, err.code, "%s", err.message);
    if (ok && parts.n_long > 0)
        hd_result_warn(line->result,
                       "%s is longer than the %zu subwords the model was trained for; it was cut "
                       "into parts",
                       keeps_sentences ? "the text" : "a sentence", job->most);
    if (ok && parts.n_words_cut > 0)
        hd_result_warn(line->result,
                       "a word is longer than the %zu subwords the model was trained for; it was "
                       "cut as well",
                       job->most);
    if (ok && parts.n_kept > 0)
        hd_result_warn(line->result,
                       "a word of more than %d characters is not translated and stands as it is",
                       HD_LONGEST_WORD);
    hd_splits_release(&parts);
    return ok;
}

/* ---- languages ----------------------------------------------------------------------------------------- */

static const char *kept_name(struct hd_line *line, const char *name)
{
    char *copy = name ? hd_result_keep(line->result, strlen(name) + 1, 1, &line->err) : NULL;
    return copy ? strcpy(copy, name) : NULL;
}

/* A text may say itself what it is to become, as OPUS-MT's users write it: ">>fr<< Hello". It goes before what was asked for. */
static int take_prefix(struct hd_line *line, const heed_model *m)
{
    const char *text = line->result->source + line->begin;
    size_t length = 0;
    const int symbol = hd_vocab_prefix(m->source, text, line->n_text, &length);
    if (symbol < 0)
        return -1;
    while (length < line->n_text && text[length] == ' ')
        length++;
    line->begin += length;
    line->n_text -= length;
    line->n_prefix = line->begin;
    return symbol;
}

/* Subwords that heed wrote begin with the symbol that the model read; -1 where they do not. */
static int first_symbol(const struct hd_line *line, const heed_model *m)
{
    const char *text = line->result->source + line->begin;
    char piece[64];
    snprintf(piece, sizeof piece, "%.*s", (int)strcspn(text, " "), text);
    const int id = hd_vocab_find(m->source, piece);
    size_t n;
    return id >= 0 && hd_vocab_language_of(m->source, id, &n) ? id : -1;
}

/* The model's own name of the language that a symbol is for; NULL where it has none. */
static const char *language_of_symbol(const heed_model *m, int symbol)
{
    const struct hd_direction *d;
    for (int i = 0; symbol >= 0 && (d = hd_model_direction(m, i)); i++)
        if (hd_model_language_symbol(m, d->to) == symbol)
            return d->to;
    return NULL;
}

/* As asked for; what was left open follows from the text, and from `target`, where that is given. */
static bool choose_languages(struct hd_line *line, const char *target)
{
    const struct hd_job *job = line->job;
    const heed_model *m = job->ensemble->models[0];
    const bool is_of_subwords = job->is_forced && job->options.is_of_subwords;
    const int own = line->document   ? -1
                    : is_of_subwords ? first_symbol(line, m)
                                     : take_prefix(line, m);
    const char *text = line->result->source + line->begin, *told = language_of_symbol(m, own);
    line->symbol = own;
    line->from = job->from
                     ? job->from
                     : hd_model_detect_source(m, text, line->n_text, job->to, &line->is_translated);
    if (!line->from)
        return true;
    line->is_translated = line->is_translated && !job->is_forced;
    line->to = told      ? told
               : job->to ? job->to
                         : hd_model_detect_target(m, target ? target : "",
                                                  target ? strlen(target) : 0, line->from);
    line->symbol = own >= 0 ? own : hd_model_language_symbol(m, line->to);
    if (!hd_model_direction(m, 1))
        return true;
    line->result->from = kept_name(line, line->is_translated ? line->to : line->from);
    line->result->to = kept_name(line, line->to);
    if (line->is_translated)
        hd_result_warn(line->result,
                       "the text seems to be of the language %s already, and stays as it is; "
                       "--from says what it is",
                       line->to);
    return line->result->from && line->result->to;
}

/* A prefix may be of several sentences, so the text that it belongs to stays whole. */
static bool prepare_search(struct hd_line *line, const char *prefix)
{
    if (line->document && prefix && prefix[0])
        return hd_fail(&line->err, HEED_BAD_OPTION,
                       "a text with markup cannot have a prefix; use one of the two");
    if (!line->vectors &&
        (!cut_line(line, !line->job->cuts_sentences || (prefix && prefix[0])) ||
         !hd_line_protect(line, prefix && prefix[0]) || !hd_line_require_terms(line)))
        return false;
    for (size_t i = 0; line->is_translated && i < line->n_segments; i++)
        line->segments[i].passes = true;
    if (!hd_line_recall(line) || !hd_line_look(line))
        return false;
    if (!prefix || line->n_segments == 0)
        return true;
    const char *text = repaired(line->result, prefix, "prefix", &line->err);
    return text && hd_vocab_encode(line->job->ensemble->target, text, strlen(text), false,
                                   &line->segments[0].prefix, &line->err);
}

/* ---- to be decided at once --------------------------------------------------------------------- */

/* The whole text is looked at, or as much of it as the model was trained for. */
static bool prepare_label(struct hd_line *line, const char *prefix)
{
    if (prefix && prefix[0])
        return hd_fail(&line->err, HEED_BAD_OPTION,
                       "the model gives labels, which have no prefix; leave it out");
    if (!make_one_segment(line))
        return false;
    struct hd_segment *segment = &line->segments[0];
    if (segment->source.n <= line->job->most)
        return true;
    hd_result_warn(line->result,
                   "the text has %zu subwords, and the model was trained for %zu; only its "
                   "beginning was read",
                   segment->source.n, line->job->most);
    segment->source.n = line->job->most;
    return hd_segment_add_ids(segment, &line->err);
}

/* ---- to be answered ---------------------------------------------------------------------------- */

/* The text is the document; what stands behind its first TAB is the question, to the end or to the next one. */
static bool cut_question(struct hd_line *line)
{
    heed_result *r = line->result;
    char *tab = strchr(r->source, '\t'); /* in the copy that belongs to the result */
    r->question = tab ? tab + 1 : "";
    if (!tab)
        return true;
    *tab = '\0';
    tab[1 + strcspn(tab + 1, "\t")] = '\0';
    line->n_source = (size_t)(tab - r->source);
    return true;
}

/* Which words are the same, known or not. */
static bool find_keys(struct hd_line *line)
{
    const struct hd_vocab *vocab = line->job->ensemble->source;
    const struct hd_encoding *document = &line->segments[0].source;
    line->keys =
        hd_alloc((document->n + line->question.n) * HD_N_KEYS, sizeof *line->keys, &line->err);
    if (!line->keys)
        return false;
    const char *question = line->result->question;
    hd_word_keys(vocab, (struct hd_text){line->result->source, line->n_source}, document,
                 line->keys);
    hd_word_keys(vocab, (struct hd_text){question, strlen(question)}, &line->question,
                 line->keys + document->n * HD_N_KEYS);
    return true;
}

/* The whole document is looked at, or as much of it as the model was trained for; the question goes before it. */
static bool prepare_span(struct hd_line *line, const char *prefix)
{
    const char *asked = line->result->question;
    if (prefix && prefix[0])
        return hd_fail(&line->err, HEED_BAD_OPTION,
                       "the model gives answers, which have no prefix; leave it out");
    if (!make_one_segment(line) ||
        !hd_vocab_encode_spans(line->job->ensemble->source, asked, strlen(asked), &line->question,
                               &line->err))
        return false;
    struct hd_segment *segment = &line->segments[0];
    const size_t n = segment->source.n, n_question = line->question.n, most = line->job->most;
    if (n == 0 || n_question == 0) {
        if (n + n_question > 0)
            hd_result_warn(line->result,
                           "not answered: there is no %s; a line is a document, a TAB and a "
                           "question",
                           n == 0 ? "document" : "question");
        segment->passes = true;
        return true;
    }
    if (n + n_question <= most)
        return find_keys(line);
    line->question.n = n_question < most ? n_question : most > 1 ? most - 1 : 1;
    segment->source.n = most > line->question.n ? most - line->question.n : 1;
    segment->source.n = segment->source.n < n ? segment->source.n : n;
    hd_result_warn(line->result,
                   "document and question have %zu tokens, and the model was trained for %zu; only "
                   "the first %zu of the document were read",
                   n + n_question, most, segment->source.n);
    return hd_segment_add_ids(segment, &line->err) && find_keys(line);
}

/* ---- to be continued ---------------------------------------------------------------------------- */

/* A language model goes on from the text, or from the prefix that is given with an empty one. */
static bool prepare_continuation(struct hd_line *line, const char *prefix)
{
    if (!make_segments(line, 1))
        return false;
    struct hd_segment *segment = &line->segments[0];
    segment->span = (struct hd_span){line->begin, line->begin + line->n_text};
    const bool is_text = line->n_text > 0;
    const char *text = is_text  ? line->result->source + line->begin
                       : prefix ? repaired(line->result, prefix, "prefix", &line->err)
                                : "";
    return text && hd_segment_add_ids(segment, &line->err) &&
           hd_vocab_encode(line->job->ensemble->target, text, is_text ? line->n_text : strlen(text),
                           false, &segment->prefix, &line->err);
}

/* ---- to be forced ------------------------------------------------------------------------------ */

/* Nothing can be cut here, as nobody knows which part of the target belongs to which of the source. */
static bool prepare_force(struct hd_line *line, const char *target)
{
    const struct hd_job *job = line->job;
    const size_t most = line->vectors ? SIZE_MAX : 4 * job->most;
    if (!line->vectors && !make_one_segment(line))
        return false;
    struct hd_segment *segment = &line->segments[0];
    line->target = repaired(line->result, target, "target", &line->err);
    if (!line->target)
        return false;
    line->n_target = strlen(line->target);
    heed_error err = {0};
    if (!encode(job, job->ensemble->target, line->target, line->n_target, &line->target_placed,
                &err)) {
        hd_encoding_release(&line->target_placed);
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
    if (segment->n_ids == 0 && job->ensemble->task != HD_TASK_LANGUAGE_MODEL) {
        hd_result_warn(line->result, "not looked at: there is nothing in the source");
        line->is_skipped = true;
    }
    segment->passes = line->is_skipped;
    for (size_t i = 0; i < n; i++)
        if (!hd_ids_add(&segment->prefix, line->target_placed.ids[i], &line->err))
            return false;
    return true;
}

/* What is remembered is looked at here and now, so that it has words, weights and scores as others have. */
static bool look_at_answer(struct hd_line *line)
{
    const struct hd_job *job = line->job;
    struct hd_segment *segment = &line->segments[0];
    return segment->passes ||
           hd_segments_force(job->ensemble, &job->search[HD_SEARCH_FIRST], &segment, 1, &line->err);
}

/* ---- all --------------------------------------------------------------------------------------- */

static bool has_markup(const struct hd_line *line)
{
    return line->job->markup && (line->job->options.markup != HD_MARKUP_AUTO ||
                                 hd_html_is_whole(line->result->source, line->n_source));
}

/* A text with tags is its plain text from now on, until it is put together. */
static bool open_document(struct hd_line *line)
{
    const struct hd_job *job = line->job;
    line->document = hd_document_new(
        job->markup, job->options.markup == HD_MARKUP_XML ? HD_MARKUP_XML : HD_MARKUP_HTML,
        line->result->source, line->n_source,
        job->ensemble->has_placeholders && job->options.protects, line->result, &line->err);
    if (!line->document)
        return false;
    line->result->source = line->document->plain;
    line->n_source = line->n_text = line->document->n_plain;
    return true;
}

static void find_text(struct hd_line *line)
{
    line->begin = hd_space_before(line->result->source, line->n_source);
    line->n_text = line->n_source - line->begin;
    line->n_text -= hd_space_after(line->result->source + line->begin, line->n_text);
}

/* Its segments, by what is asked of them; an answer that is remembered needs no search. */
static bool prepare_output(struct hd_line *line, const char *other)
{
    const enum hd_task task = line->job->ensemble->task;
    const bool has_prefix = other && other[0];
    const char *answer = has_prefix || line->is_translated ? NULL : hd_line_remembered(line);
    line->is_forced = line->job->is_forced || answer;
    if (hd_failed(&line->err) ||
        !(line->is_forced                  ? prepare_force
          : task == HD_TASK_LABEL          ? prepare_label
          : task == HD_TASK_SPAN           ? prepare_span
          : task == HD_TASK_LANGUAGE_MODEL ? prepare_continuation
                                           : prepare_search)(line, answer ? answer : other) ||
        (answer && !look_at_answer(line)))
        return false;
    for (size_t i = 0; i < line->n_segments && !answer; i++)
        line->n_searching += !line->segments[i].passes;
    return true;
}

bool hd_line_prepare(struct hd_line *line, const char *text, const char *other)
{
    line->result = hd_result_new(&line->err);
    if (!line->result)
        return false;
    line->result->source = repaired(line->result, text, "text", &line->err);
    if (!line->result->source)
        return false;
    line->n_source = strlen(line->result->source);
    if (line->n_source > INT_MAX / 8)
        return hd_fail(&line->err, HEED_BAD_TEXT, "a line of %zu bytes is too long; cut it",
                       line->n_source);
    if (line->job->ensemble->task == HD_TASK_SPAN && !cut_question(line))
        return false;
    const bool has_vectors = line->job->ensemble->reads_vectors;
    if (has_vectors && !hd_line_read_vectors(line, line->result->source))
        return false;
    if (!has_vectors && !has_markup(line))
        find_text(line);
    else if (!has_vectors && !open_document(line))
        return false;
    if (!has_vectors && !choose_languages(line, line->job->is_forced ? other : NULL))
        return false;
    return prepare_output(line, other);
}

void hd_line_release(struct hd_line *line)
{
    for (size_t i = 0; i < line->n_segments; i++) {
        struct hd_segment *segment = &line->segments[i];
        hd_encoding_release(&segment->source);
        hd_ids_release(&segment->prefix);
        hd_nbest_release(&segment->found);
        hd_segment_terms_free(segment->terms);
        hd_segment_recalled_free(segment->recalled);
        hd_segment_looks_free(segment->looks);
        hd_segment_terms_free(segment->whole);
        hd_free(segment->ids);
    }
    hd_free(line->segments);
    if (line->own_vectors)
        hd_vectors_close(line->own_vectors);
    hd_free(line->own_vectors);
    hd_document_free(line->document);
    hd_encoding_release(&line->target_placed);
    hd_encoding_release(&line->question);
    hd_free(line->keys);
    hd_protected_release(&line->kept);
}
