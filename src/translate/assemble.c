/* assemble.c -- what was found for a line's segments becomes its result: text, words, weights between words, links, confidence.
 *
 * A segment's output has looked at its own segment of the source only, so weights between words are blocks along the diagonal.
 * Invariant: subwords of the source stand segment by segment, the end marker (where there is one) behind each; those of the target
 * as well. */
#include "translate/job.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/utf8.h"
#include "translate/links.h"

#include <math.h>
#include <string.h>

enum { LARGEST_MATRIX = 1 << 24 }; /* weights of a text that are kept as one matrix */

/* The source as the result has it. */
struct source_side {
    struct hd_word_map wording;
    struct hd_span *spans; /* of all tokens */
    size_t n;
    size_t *first; /* [segments + 1]: tokens before the segment */
};

/* A translation while it is put together. */
struct target_side {
    char *text;
    size_t n_bytes, capacity;
    size_t n, n_room; /* tokens */
    struct token {
        struct hd_span span; /* in the text; HD_NOWHERE for an end marker */
        int id;
        size_t segment;
        double logprob;
        const float *row; /* weights over the segment's source tokens; NULL without attention */
    } * tokens;
    struct hd_span *spans; /* the tokens' */
    struct hd_word_map wording;
};

/* ---- words of a result --------------------------------------------------------------------------- */

/* Words with their texts and places in characters. */
static heed_word *make_words(heed_result *result, const char *text, const struct hd_word_map *w,
                             heed_error *err)
{
    heed_word *words = hd_result_keep(result, w->n, sizeof *words, err);
    size_t bytes = 0, at = 0, n_chars = 0;
    for (size_t i = 0; i < w->n; i++)
        bytes += w->words[i].end - w->words[i].begin + 1;
    char *copy = hd_result_keep(result, bytes, 1, err);
    if (!words || !copy)
        return NULL;
    for (size_t i = 0; i < w->n; i++) {
        const size_t begin = w->words[i].begin, length = w->words[i].end - begin;
        n_chars += hd_utf8_count(text + at, begin - at);
        words[i].start = n_chars;
        n_chars += hd_utf8_count(text + begin, length);
        words[i].end = n_chars;
        words[i].text = memcpy(copy, text + begin, length);
        copy += length + 1;
        at = begin + length;
    }
    return words;
}

/* Room for the texts of n ids, one after the other. */
static size_t piece_bytes(const struct hd_vocab *vocab, const int *ids, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(hd_vocab_piece(vocab, ids[i])) + 1;
    return bytes;
}

/* ---- the source ---------------------------------------------------------------------------------- */

static void release_source(struct source_side *s)
{
    hd_word_map_release(&s->wording);
    hd_free(s->spans);
    hd_free(s->first);
}

static bool place_source(struct source_side *s, struct hd_line *line)
{
    heed_error *err = &line->err;
    for (size_t p = 0; p < line->n_segments; p++)
        s->n += (size_t)line->segments[p].n_ids;
    s->spans = hd_alloc(s->n, sizeof *s->spans, err);
    s->first = hd_alloc(line->n_segments + 1, sizeof *s->first, err);
    if (!s->spans || !s->first)
        return false;
    size_t t = 0;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        s->first[p] = t;
        for (int i = 0; i < segment->n_ids; i++)
            s->spans[t++] = (size_t)i < segment->source.n ? segment->source.spans[i] : HD_NOWHERE;
    }
    s->first[line->n_segments] = t;
    return hd_word_map_make(&s->wording, line->result->source, line->n_source, s->spans, s->n, err);
}

static bool describe_source(const struct hd_job *job, const struct source_side *s,
                            struct hd_line *line)
{
    heed_result *r = line->result;
    r->words = make_words(r, r->source, &s->wording, &line->err);
    r->subwords = hd_result_keep(r, s->n, sizeof *r->subwords, &line->err);
    if (!r->words || !r->subwords)
        return false;
    r->n_words = s->wording.n;
    r->n_subwords = s->n;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        char *text = hd_result_keep(
            r, piece_bytes(job->source, segment->ids, (size_t)segment->n_ids), 1, &line->err);
        if (!text)
            return false;
        for (size_t t = s->first[p]; t < s->first[p + 1]; t++) {
            r->subwords[t] = (heed_subword){.text = text, .word = s->wording.of_token[t]};
            text = stpcpy(text, hd_vocab_piece(job->source, segment->ids[t - s->first[p]])) + 1;
        }
    }
    return true;
}

/* ---- the target's text ---------------------------------------------------------------------------- */

static void release_target(struct target_side *t)
{
    hd_free(t->text);
    hd_free(t->tokens);
    hd_free(t->spans);
    hd_word_map_release(&t->wording);
}

static bool append(struct target_side *t, const char *text, size_t n, heed_error *err)
{
    char *grown = hd_grow(t->text, &t->capacity, t->n_bytes + n + 1, 1, err);
    if (!grown)
        return false;
    t->text = grown;
    if (n > 0)
        memcpy(grown + t->n_bytes, text, n);
    t->n_bytes += n;
    grown[t->n_bytes] = '\0';
    return true;
}

static bool add_token(struct target_side *t, struct token token, heed_error *err)
{
    struct token *grown = hd_grow(t->tokens, &t->n_room, t->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    t->tokens = grown;
    grown[t->n++] = token;
    return true;
}

/* White space between two parts: the source's, but a space that only one of the two languages writes comes or goes. */
static bool append_between(struct target_side *t, const struct hd_line *line, size_t p,
                           const char *next, heed_error *err)
{
    const size_t from = p == 0 ? 0 : line->segments[p - 1].span.end,
                 to = line->segments[p].span.begin;
    const char *space = line->result->source + from;
    uint32_t last = 0, first = 0;
    hd_last_char(t->text ? t->text : "", t->n_bytes, &last);
    hd_utf8_decode(next, strlen(next), &first);
    const bool is_unspaced = hd_is_unspaced(last) && hd_is_unspaced(first);
    if (p > 0 && to == from && !is_unspaced)
        return append(t, " ", 1, err);
    if (p > 0 && to == from + 1 && *space == ' ' && is_unspaced)
        return true;
    return append(t, space, to - from, err);
}

/* The attention of token j: at the step that made it, or at the next, which reads it. */
static const float *row_of(const struct hd_job *job, const struct hd_segment *segment,
                           const struct hd_hypothesis *h, int j)
{
    const int last = h->is_cut ? h->n - 1 : h->n, row = j < h->n ? j + job->shift : j;
    return h->attention ? h->attention + (size_t)(row < last ? row : last) * (size_t)segment->n_ids
                        : NULL;
}

/* The word of the source that a row looks at most; -1 when it is none. */
static int word_looked_at(const struct source_side *s, size_t p, const float *row)
{
    int best = -1, word = -1;
    float most = 0, sum = 0;
    for (size_t t = s->first[p]; t < s->first[p + 1]; t++) {
        const int of = s->wording.of_token[t];
        sum = of == word ? sum + row[t - s->first[p]] : row[t - s->first[p]];
        word = of;
        if (word >= 0 && sum > most) {
            most = sum;
            best = word;
        }
    }
    return best;
}

/* The text of an unknown token: the source word looked at, if so wanted. */
static struct hd_span unknown_word(const struct hd_job *job, const struct source_side *s,
                                   const struct token *token)
{
    const bool is_unknown = token->id == hd_vocab_unknown(job->target);
    const int word = is_unknown && job->options->replace_unknown && token->row
                         ? word_looked_at(s, token->segment, token->row)
                         : -1;
    return word >= 0 ? s->wording.words[word] : HD_NOWHERE;
}

static double logprob_of(const struct hd_job *job, const struct hd_hypothesis *h, int j)
{
    return job->has_scores ? (double)h->logprob[j] : 0;
}

/* The output of a segment, with its tokens. */
static bool append_output(const struct hd_job *job, struct target_side *t,
                          const struct source_side *s, struct hd_line *line, size_t p,
                          const struct hd_hypothesis *h)
{
    heed_error *err = &line->err;
    struct hd_span *spans = hd_alloc((size_t)h->n, sizeof *spans, err);
    char *text =
        spans ? hd_vocab_decode_spans(job->target, h->ids, (size_t)h->n, spans, err) : NULL;
    bool ok = text && append_between(t, line, p, text, err);
    for (int j = 0; ok && j < h->n; j++) {
        struct token token = {.id = h->ids[j],
                              .segment = p,
                              .logprob = logprob_of(job, h, j),
                              .row = row_of(job, &line->segments[p], h, j)};
        const struct hd_span word = unknown_word(job, s, &token);
        const bool is_replaced = word.begin != SIZE_MAX;
        uint32_t last = ' ';
        token.span.begin = t->n_bytes;
        if (is_replaced) {
            hd_last_char(t->text ? t->text : "", t->n_bytes, &last);
            ok = (hd_is_space(last) || hd_is_unspaced(last) || append(t, " ", 1, err)) &&
                 append(t, line->result->source + word.begin, word.end - word.begin, err);
        } else
            ok = append(t, text + spans[j].begin, spans[j].end - spans[j].begin, err);
        token.span.end = t->n_bytes;
        ok = ok && add_token(t, token, err);
    }
    if (ok && !h->is_cut)
        ok = add_token(t,
                       (struct token){.span = HD_NOWHERE,
                                      .id = hd_vocab_end(job->target),
                                      .segment = p,
                                      .logprob = logprob_of(job, h, h->n),
                                      .row = row_of(job, &line->segments[p], h, h->n)},
                       err);
    hd_free(spans);
    hd_free(text);
    return ok;
}

static const struct hd_hypothesis *hypothesis_of(const struct hd_segment *segment, size_t k)
{
    return &segment->found.best[k < (size_t)segment->found.n ? (int)k : segment->found.n - 1];
}

/* The k-th best of every segment, joined. */
static bool write_searched(const struct hd_job *job, struct target_side *t,
                           const struct source_side *s, struct hd_line *line, size_t k)
{
    const char *source = line->result->source;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        const bool ok =
            segment->passes
                ? append_between(t, line, p, source + segment->span.begin, &line->err) &&
                      append(t, source + segment->span.begin,
                             segment->span.end - segment->span.begin, &line->err)
                : append_output(job, t, s, line, p, hypothesis_of(segment, k));
        if (!ok)
            return false;
    }
    const size_t end = line->n_segments > 0 ? line->segments[line->n_segments - 1].span.end : 0;
    return append(t, source + end, line->n_source - end, &line->err);
}

/* The target that was given. */
static bool write_forced(const struct hd_job *job, struct target_side *t, struct hd_line *line)
{
    const struct hd_segment *segment = &line->segments[0];
    if (!append(t, line->target, line->n_target, &line->err))
        return false;
    const struct hd_hypothesis *h = line->is_skipped ? NULL : &segment->found.best[0];
    for (int j = 0; h && j <= h->n; j++)
        if (!add_token(t,
                       (struct token){.span = j < h->n ? line->target_placed.spans[j] : HD_NOWHERE,
                                      .id = j < h->n ? h->ids[j] : hd_vocab_end(job->target),
                                      .logprob = (double)h->logprob[j],
                                      .row = row_of(job, segment, h, j)},
                       &line->err))
            return false;
    return true;
}

/* ---- what was looked at ----------------------------------------------------------------------------- */

/* The words of the source that a segment has, first and behind the last. */
static struct hd_span words_of_piece(const struct source_side *s, size_t p)
{
    size_t begin = SIZE_MAX, end = 0;
    for (size_t t = s->first[p]; t < s->first[p + 1]; t++) {
        const int word = s->wording.of_token[t];
        if (word < 0)
            continue;
        begin = begin == SIZE_MAX ? (size_t)word : begin;
        end = (size_t)word + 1;
    }
    return begin == SIZE_MAX ? (struct hd_span){0, 0} : (struct hd_span){begin, end};
}

/* A target word's weights over source words: of each of its tokens the sum over the source word's, then the mean. */
struct word_row {
    double *sum; /* [source words] */
    double end;
    struct hd_span range; /* source words that were looked at */
    int n_tokens;
};

static void add_to_row(struct word_row *r, const struct source_side *s, const struct token *token)
{
    const struct hd_span range = words_of_piece(s, token->segment);
    const size_t first = s->first[token->segment];
    if (r->n_tokens == 0)
        r->range = range;
    r->range.begin = range.begin < r->range.begin ? range.begin : r->range.begin;
    r->range.end = range.end > r->range.end ? range.end : r->range.end;
    r->n_tokens++;
    for (size_t t = first; t < s->first[token->segment + 1]; t++) {
        const int word = s->wording.of_token[t];
        const double weight = (double)token->row[t - first];
        *(word >= 0 ? &r->sum[word] : &r->end) += weight;
    }
}

static void add_links(heed_link *links, size_t *n, const float *row, struct hd_span range,
                      int target)
{
    const float least = hd_least_link(row + range.begin, range.end - range.begin);
    for (size_t j = range.begin; j < range.end; j++)
        if (row[j] >= least) {
            if (links)
                links[*n] = (heed_link){(int)j, target};
            (*n)++;
        }
}

/* One row after the other, with its links. `links` NULL: only counted. */
static void fill_rows(heed_translation *tr, const struct source_side *s,
                      const struct target_side *t, double *sum, float *row, heed_link *links)
{
    size_t from = 0;
    tr->n_links = 0;
    for (size_t w = 0; w < t->wording.n; w++) {
        struct word_row r = {.sum = sum};
        /* tokens whose place begins before the word's end and ends behind its beginning, or are assigned to it */
        for (size_t i = from; i < t->n; i++) {
            const struct token *token = &t->tokens[i];
            const int of = t->wording.of_token[i];
            if (of < 0)
                continue;
            if ((size_t)of > w)
                break;
            if ((size_t)of < w && token->span.end <= t->wording.words[w].begin) {
                from = i + 1;
                continue;
            }
            if (token->row)
                add_to_row(&r, s, token);
        }
        const double n = r.n_tokens > 0 ? r.n_tokens : 1;
        for (size_t j = r.range.begin; j < r.range.end; j++) {
            row[j] = (float)(sum[j] / n);
            sum[j] = 0;
        }
        const float end = (float)(r.end / n);
        if (tr->attention) {
            memcpy(tr->attention + w * s->wording.n + r.range.begin, row + r.range.begin,
                   (r.range.end - r.range.begin) * sizeof *row);
            tr->attention_end[w] = end;
        }
        add_links(links, &tr->n_links, row, r.range, (int)w);
    }
}

static bool describe_attention(struct hd_line *line, heed_translation *tr,
                               const struct source_side *s, const struct target_side *t)
{
    heed_result *r = line->result;
    heed_error *err = &line->err;
    size_t n_weights, n_subweights;
    const bool fits = hd_mul_size(&n_weights, t->wording.n, s->wording.n) &&
                      hd_mul_size(&n_subweights, t->n, s->n) && n_weights <= LARGEST_MATRIX &&
                      n_subweights <= LARGEST_MATRIX;
    if (fits) {
        tr->attention = hd_result_keep(r, n_weights, sizeof(float), err);
        tr->attention_end = hd_result_keep(r, t->wording.n, sizeof(float), err);
        tr->subword_attention = hd_result_keep(r, n_subweights, sizeof(float), err);
        if (!tr->attention || !tr->attention_end || !tr->subword_attention)
            return false;
        for (size_t i = 0; i < t->n; i++) {
            const size_t first = s->first[t->tokens[i].segment],
                         n = s->first[t->tokens[i].segment + 1] - first;
            if (t->tokens[i].row)
                memcpy(tr->subword_attention + i * s->n + first, t->tokens[i].row,
                       n * sizeof(float));
        }
    } else
        hd_result_warn(r,
                       "the text is too long for its attention to be kept; there are links only");
    double *sum = hd_alloc(s->wording.n, sizeof *sum, err);
    float *row = hd_alloc(s->wording.n, sizeof *row, err);
    bool ok = sum && row;
    if (ok) {
        fill_rows(tr, s, t, sum, row, NULL);
        tr->links = hd_result_keep(r, tr->n_links, sizeof *tr->links, err);
        ok = tr->links != NULL;
    }
    if (ok)
        fill_rows(tr, s, t, sum, row, tr->links);
    hd_free(sum);
    hd_free(row);
    return ok;
}

/* ---- a translation ---------------------------------------------------------------------------------- */

/* How likely a word of this log-probability is right. Odds beyond e^20 are not told apart. */
static double confidence_of(const struct hd_job *job, double logprob)
{
    const double p = hd_real_exp(logprob);
    double odds = p < 1 ? logprob - hd_real_log(1 - p) : 20;
    odds = odds > 20 ? 20 : odds < -20 ? -20 : odds;
    return 1 / (1 + hd_real_exp(-(job->confidence[0] + job->confidence[1] * odds)));
}

static bool describe_target(const struct hd_job *job, struct hd_line *line, heed_translation *tr,
                            const struct source_side *s, struct target_side *t)
{
    heed_result *r = line->result;
    heed_error *err = &line->err;
    t->spans = hd_alloc(t->n, sizeof *t->spans, err);
    if (!t->spans)
        return false;
    for (size_t i = 0; i < t->n; i++)
        t->spans[i] = t->tokens[i].span;
    char *text = hd_result_keep(r, t->n_bytes + 1, 1, err);
    if (!text ||
        !hd_word_map_make(&t->wording, t->text ? t->text : "", t->n_bytes, t->spans, t->n, err))
        return false;
    tr->text = t->n_bytes > 0 ? memcpy(text, t->text, t->n_bytes) : text;
    tr->words = make_words(r, tr->text, &t->wording, err);
    tr->subwords = hd_result_keep(r, t->n, sizeof *tr->subwords, err);
    if (!tr->words || !tr->subwords)
        return false;
    tr->n_words = t->wording.n;
    tr->n_subwords = t->n;
    size_t bytes = 0;
    for (size_t i = 0; i < t->n; i++)
        bytes += piece_bytes(job->target, &t->tokens[i].id, 1);
    char *segments = hd_result_keep(r, bytes, 1, err);
    if (!segments)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        const int word = t->wording.of_token[i];
        tr->subwords[i] = (heed_subword){segments, word, t->tokens[i].logprob};
        segments = stpcpy(segments, hd_vocab_piece(job->target, t->tokens[i].id)) + 1;
        if (word >= 0)
            tr->words[word].logprob += t->tokens[i].logprob;
    }
    double sum = 0;
    for (size_t w = 0, i = 0; w < tr->n_words; w++) {
        while (i < t->n && t->wording.of_token[i] < (int)w)
            i++;
        const bool is_made = i < t->n && t->wording.of_token[i] == (int)w; /* by the model */
        if (is_made && job->has_scores)
            tr->words[w].confidence = confidence_of(job, tr->words[w].logprob);
        sum += tr->words[w].confidence;
    }
    tr->confidence = tr->n_words > 0 ? sum / (double)tr->n_words : job->has_scores;
    return !job->has_attention || describe_attention(line, tr, s, t);
}

/* Sums over the segments; the score of several is their mean. */
static void set_scores(const struct hd_job *job, struct hd_line *line, heed_translation *tr,
                       size_t k)
{
    size_t n = 0;
    for (size_t p = 0; p < line->n_segments; p++)
        if (!line->segments[p].passes) {
            const struct hd_hypothesis *h = hypothesis_of(&line->segments[p], k);
            tr->logprob += job->has_scores ? h->total : 0;
            tr->score += job->has_scores ? h->score : 0;
            tr->is_cut = tr->is_cut || h->is_cut;
            n++;
        }
    if (n > 0)
        tr->score /= (double)n;
    if (line->is_skipped)
        tr->score = tr->logprob = NAN;
}

static bool make_translation(const struct hd_job *job, struct hd_line *line,
                             const struct source_side *s, size_t k)
{
    heed_translation *tr = &line->result->translations[k];
    struct target_side t = {0};
    const bool ok =
        (job->is_forced ? write_forced(job, &t, line) : write_searched(job, &t, s, line, k)) &&
        describe_target(job, line, tr, s, &t);
    if (ok)
        set_scores(job, line, tr, k);
    release_target(&t);
    return ok;
}

static void warn(struct hd_line *line)
{
    size_t n_cut = 0, n_again = 0;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        n_cut += segment->found.n > 0 && segment->found.best[0].is_cut;
        n_again += segment->is_searched_again;
    }
    if (n_again > 0)
        hd_result_warn(line->result, "the output went round in circles and was searched again with "
                                     "repetition forbidden");
    if (n_cut > 0)
        hd_result_warn(line->result, "the output was longer than allowed and was cut; --max-length "
                                     "allows more");
}

bool hd_line_assemble(const struct hd_job *job, struct hd_line *line)
{
    heed_result *r = line->result;
    struct source_side s = {0};
    size_t n = 1;
    for (size_t p = 0; p < line->n_segments; p++)
        if ((size_t)line->segments[p].found.n > n)
            n = (size_t)line->segments[p].found.n;
    bool ok = place_source(&s, line) && describe_source(job, &s, line);
    if (ok) {
        r->translations = hd_result_keep(r, n, sizeof *r->translations, &line->err);
        ok = r->translations != NULL;
    }
    for (size_t k = 0; ok && k < n; k++) {
        ok = make_translation(job, line, &s, k);
        r->n_translations = k + 1;
    }
    if (ok)
        warn(line);
    release_source(&s);
    return ok;
}
