/* assemble.c -- what was found for a line's segments becomes its result: text, words, weights between words, links, confidence.
 *
 * Invariant: subwords of the source stand segment by segment, the end marker (where there is one) behind each; those of the target
 * as well. */
#include "translate/job.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/utf8.h"
#include "text/answer.h"
#include "text/letter_case.h"
#include "translate/heard.h"
#include "translate/insight.h"
#include "translate/loop.h"
#include "translate/protection.h"
#include "translate/reading.h"
#include "translate/recall.h"
#include "translate/required.h"
#include "translate/word_weights.h"

#include <math.h>
#include <string.h>

#include <utf8proc.h>

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
    struct hd_span *segments;  /* what each segment became */
    struct hd_token_side side; /* the tokens as such */
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

static bool place_source(struct hd_token_side *s, struct hd_line *line)
{
    size_t n = 0;
    for (size_t p = 0; p < line->n_segments; p++)
        n += (size_t)line->segments[p].n_ids;
    if (!hd_token_side_init(s, n, line->n_segments, &line->err))
        return false;
    size_t t = 0;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        s->first[p] = t;
        const size_t before = line->symbol >= 0; /* of a language, which is nowhere in the text */
        for (size_t i = 0; i < (size_t)segment->n_ids; i++) {
            s->segment[t] = p;
            s->spans[t++] = i >= before && i - before < segment->source.n
                                ? segment->source.spans[i - before]
                                : HD_NOWHERE;
        }
    }
    s->first[line->n_segments] = t;
    return hd_word_map_make(&s->wording, line->result->source, line->n_source, s->spans, s->n,
                            &line->err);
}

static bool describe_source(const struct hd_job *job, const struct hd_token_side *s,
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
            r, piece_bytes(job->ensemble->source, segment->ids, (size_t)segment->n_ids), 1,
            &line->err);
        if (!text)
            return false;
        for (size_t t = s->first[p]; t < s->first[p + 1]; t++) {
            r->subwords[t] = (heed_subword){.text = text, .word = s->wording.of_token[t]};
            if (line->vectors) { /* a position is a word */
                r->subwords[t].text = r->words[t].text;
                continue;
            }
            text =
                stpcpy(text, hd_vocab_piece(job->ensemble->source, segment->ids[t - s->first[p]])) +
                1;
        }
    }
    return true;
}

/* ---- the target's text ---------------------------------------------------------------------------- */

static void release_target(struct target_side *t)
{
    hd_free(t->text);
    hd_free(t->tokens);
    hd_free(t->segments);
    hd_token_side_release(&t->side);
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

/* A label is no text of its own, with white space around it. */
static bool is_of_labels(const struct hd_line *line)
{
    return line->job->ensemble->task == HD_TASK_LABEL;
}

/* An answer is a part of the text. */
static bool is_of_answers(const struct hd_line *line)
{
    return line->job->ensemble->task == HD_TASK_SPAN;
}

/* What is between two parts, white space as a rule: the source's, but a space that only one of the two languages writes comes or goes. */
static bool append_space(struct target_side *t, const struct hd_line *line, size_t p,
                         const char *next, heed_error *err)
{
    const size_t from = p == 0 ? line->n_prefix : line->segments[p - 1].span.end,
                 to = line->segments[p].span.begin;
    if (is_of_labels(line))
        return true;
    const char *space = line->result->source + from;
    uint32_t last = 0, first = 0;
    hd_last_char(t->text ? t->text : "", t->n_bytes, &last);
    hd_utf8_decode(next, strlen(next), &first);
    const bool is_unspaced = hd_char_is_unspaced(last) && hd_char_is_unspaced(first);
    if (p > 0 && to == from && !is_unspaced)
        return append(t, " ", 1, err);
    if (p > 0 && to == from + 1 && *space == ' ' && is_unspaced)
        return true;
    return append(t, space, to - from, err);
}

/* Behind it the next part begins. */
static bool append_between(struct target_side *t, const struct hd_line *line, size_t p,
                           const char *next, heed_error *err)
{
    const bool ok = append_space(t, line, p, next, err);
    t->segments[p].begin = t->n_bytes;
    return ok;
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
static int word_looked_at(const struct hd_token_side *s, size_t p, const float *row)
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
static struct hd_span unknown_word(const struct hd_job *job, const struct hd_token_side *s,
                                   const struct token *token)
{
    const bool is_unknown = token->id == hd_vocab_unknown(job->ensemble->target);
    const int word = is_unknown && job->options.replaces_unknown && token->row
                         ? word_looked_at(s, token->segment, token->row)
                         : -1;
    return word >= 0 ? s->wording.words[word] : HD_NOWHERE;
}

static double logprob_of(const struct hd_job *job, const struct hd_hypothesis *h, int j)
{
    return job->has_scores ? (double)h->logprob[j] : 0;
}

static bool append_capitals(struct target_side *t, const char *text, size_t n, heed_error *err)
{
    struct hd_buffer capitals = {0};
    if (!hd_utf8_valid(text, n, NULL)) /* a part of a character */
        return append(t, text, n, err);
    const bool ok = hd_change_case(&capitals, (struct hd_text){text, n}, HD_CASE_UPPER, err) &&
                    append(t, capitals.at, capitals.n, err);
    hd_buffer_release(&capitals);
    return ok;
}

/* The text of a token; a placeholder's is the piece that it stands for. */
static bool append_token(struct target_side *t, struct hd_line *line, const struct token *token,
                         const char *text, size_t n)
{
    struct hd_span piece;
    heed_error *err = &line->err;
    const char *symbol = memchr(text, '\xE2', n);
    const struct hd_segment *segment = &line->segments[token->segment];
    if (!symbol || !hd_placeholder_piece(segment, token->id, &piece))
        return (segment->letters == HD_LETTERS_CAPITAL ? append_capitals : append)(t, text, n, err);
    const size_t before = (size_t)(symbol - text), size = HD_PLACEHOLDER_SIZE;
    return append(t, text, before, err) &&
           append(t, line->result->source + piece.begin, piece.end - piece.begin, err) &&
           append(t, symbol + size, n - before - size, err);
}

/* The output of a segment, with its tokens. */
static bool append_output(const struct hd_job *job, struct target_side *t,
                          const struct hd_token_side *s, struct hd_line *line, size_t p,
                          const struct hd_hypothesis *h)
{
    heed_error *err = &line->err;
    struct hd_span *spans = hd_alloc((size_t)h->n, sizeof *spans, err);
    char *text =
        spans ? hd_vocab_decode_spans(job->ensemble->target, h->ids, (size_t)h->n, spans, err)
              : NULL;
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
            ok = (hd_char_is_space(last) || hd_char_is_unspaced(last) || append(t, " ", 1, err)) &&
                 append(t, line->result->source + word.begin, word.end - word.begin, err);
        } else
            ok =
                append_token(t, line, &token, text + spans[j].begin, spans[j].end - spans[j].begin);
        token.span.end = t->n_bytes;
        ok = ok && add_token(t, token, err);
    }
    if (ok && !h->is_cut)
        ok = add_token(t,
                       (struct token){.span = HD_NOWHERE,
                                      .id = hd_vocab_end(job->ensemble->target),
                                      .segment = p,
                                      .logprob = logprob_of(job, h, h->n),
                                      .row = row_of(job, &line->segments[p], h, h->n)},
                       err);
    hd_free(spans);
    hd_free(text);
    return ok;
}

/* Does a placeholder stand for the text that begins here? Tokens from the first on are looked at. */
static bool is_kept(const struct target_side *t, const struct hd_segment *segment, size_t first,
                    size_t begin)
{
    struct hd_span piece;
    while (first < t->n && t->tokens[first].span.end <= begin)
        first++;
    return first < t->n && hd_placeholder_piece(segment, t->tokens[first].id, &piece);
}

/* A sentence in small letters begins with one as well, unless its first word never does or is kept as it is. What changes has as many
 * bytes as before. */
static void make_first_small(const struct hd_job *job, struct target_side *t,
                             const struct hd_segment *segment, size_t first_token, size_t begin)
{
    char *text = t->text;
    size_t length, next;
    uint8_t bytes[4];
    begin += hd_space_before(text + begin, t->n_bytes - begin);
    if (is_kept(t, segment, first_token, begin))
        return;
    const uint32_t cp = hd_char_at(text, t->n_bytes, begin, &length);
    size_t end = begin;
    while (end < t->n_bytes && hd_char_is_letter(hd_char_at(text, t->n_bytes, end, &next)))
        end += next;
    const size_t n = (size_t)utf8proc_encode_char(utf8proc_tolower((utf8proc_int32_t)cp), bytes);
    const bool is_i = end == begin + 1 && cp == 'I';
    if (hd_char_is_upper(cp) && n == length && !is_i &&
        !hd_word_is_name(job->ensemble->target, text + begin, end - begin))
        memcpy(text + begin, bytes, n);
}

static const struct hd_hypothesis *hypothesis_of(const struct hd_segment *segment, size_t k)
{
    return &segment->found.best[k < (size_t)segment->found.n ? (int)k : segment->found.n - 1];
}

/* The k-th best of every segment, joined. */
static bool write_searched(const struct hd_job *job, struct target_side *t,
                           const struct hd_token_side *s, struct hd_line *line, size_t k)
{
    const char *source = line->result->source;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        const size_t first_token = t->n;
        const bool ok =
            segment->passes
                ? append_between(t, line, p, source + segment->span.begin, &line->err) &&
                      append(t, source + segment->span.begin,
                             segment->span.end - segment->span.begin, &line->err)
                : append_output(job, t, s, line, p, hypothesis_of(segment, k));
        if (!ok)
            return false;
        if (segment->letters == HD_LETTERS_SMALL && !segment->passes)
            make_first_small(job, t, segment, first_token, t->segments[p].begin);
        t->segments[p].end = t->n_bytes;
    }
    const size_t end = line->n_segments > 0 ? line->segments[line->n_segments - 1].span.end : 0;
    return is_of_labels(line) || append(t, source + end, line->n_source - end, &line->err);
}

/* The part of a document that a hypothesis points at. */
static struct hd_span part_of(const struct hd_line *line, const struct hd_hypothesis *h)
{
    return hd_answer_part((struct hd_text){line->result->source, line->n_source},
                          line->segments[0].source.spans, h->ids[0], h->ids[1]);
}

/* The k-th best answer, with the tokens that it has in the document; the first has the start's log-probability, the last the end's. */
static bool write_answer(const struct hd_job *job, struct target_side *t, struct hd_line *line,
                         size_t k)
{
    const struct hd_segment *segment = &line->segments[0];
    if (!append(t, "", 0, &line->err) || segment->passes)
        return t->text != NULL;
    const struct hd_hypothesis *h = hypothesis_of(segment, k);
    const struct hd_span part = part_of(line, h), *spans = segment->source.spans;
    if (!append(t, line->result->source + part.begin, part.end - part.begin, &line->err))
        return false;
    t->segments[0] = (struct hd_span){0, t->n_bytes};
    for (int i = h->ids[0]; i <= h->ids[1]; i++) {
        const size_t begin = spans[i].begin > part.begin ? spans[i].begin - part.begin : 0,
                     end = spans[i].end > part.begin ? spans[i].end - part.begin : 0;
        struct token token = {.id = segment->source.ids[i],
                              .span = {begin, end < t->n_bytes ? end : t->n_bytes}};
        token.span.begin = begin < token.span.end ? begin : token.span.end;
        token.logprob = (i == h->ids[0] ? logprob_of(job, h, 0) : 0) +
                        (i == h->ids[1] ? logprob_of(job, h, 1) : 0);
        if (!add_token(t, token, &line->err))
            return false;
    }
    return true;
}

/* The target that was given. */
static bool write_forced(const struct hd_job *job, struct target_side *t, struct hd_line *line)
{
    const struct hd_segment *segment = &line->segments[0];
    if (!append(t, line->target, line->n_target, &line->err))
        return false;
    t->segments[0] = (struct hd_span){0, t->n_bytes};
    const struct hd_hypothesis *h = line->is_skipped ? NULL : &segment->found.best[0];
    for (int j = 0; h && j <= h->n; j++)
        if (!add_token(
                t,
                (struct token){.span = j < h->n ? line->target_placed.spans[j] : HD_NOWHERE,
                               .id = j < h->n ? h->ids[j] : hd_vocab_end(job->ensemble->target),
                               .logprob = (double)h->logprob[j],
                               .row = row_of(job, segment, h, j)},
                &line->err))
            return false;
    return true;
}

/* ---- what was looked at ----------------------------------------------------------------------------- */

/* The self-attention of a segment's hypothesis, as the nets have it when they read both sides; found is to be released. */
static bool read_again(const struct hd_job *job, const struct hd_segment *segment,
                       const struct hd_hypothesis *h, struct hd_nbest *found, heed_error *err)
{
    const struct hd_ensemble *e = job->ensemble;
    struct hd_search_input input = hd_segment_input(segment);
    struct hd_search_options options = job->search[HD_SEARCH_FIRST];
    input.prefix = (struct hd_sequence){.ids = h->ids, .n = h->n};
    options.attention = job->options.attention == HEED_ATTENTION_ENCODER ? HD_ATTENTION_ENCODER
                                                                         : HD_ATTENTION_DECODER;
    options.wants_attention = true;
    options.words_alone = false;
    options.coverage_penalty = 0;
    options.layer = job->options.layer;
    options.head = job->options.head;
    return hd_force_decode(e->nets, e->n, hd_vocab_end(e->target), &input, 1, &options, found, err);
}

/* Rows of a segment's tokens, copied to `at`. The decoder's position j reads word j - 1, and the first reads the start, whose weight
 * stands at the end marker's place: a word's row is that of the position that reads it. Returns what is behind them. */
static float *place_rows(const struct hd_token_side *s, size_t p, const struct hd_hypothesis *h,
                         bool is_decoder, const float **rows, float *at)
{
    const size_t first = s->first[p], n = s->first[p + 1] - first, width = (size_t)h->n + 1;
    for (size_t i = 0; i < n; i++, at += n) {
        const bool is_read = !is_decoder || i + 1 < width;
        rows[first + i] = is_read ? at : NULL;
        if (!is_decoder)
            memcpy(at, h->attention + i * n, n * sizeof *at);
        for (size_t j = 0; is_decoder && is_read && j < n; j++)
            at[j] = h->attention[(i + 1) * width + (j + 1 < width ? j + 1 : 0)];
    }
    return at;
}

static bool describe_self_attention(struct hd_line *line, heed_translation *tr, size_t k,
                                    const struct hd_token_side *s)
{
    const struct hd_job *job = line->job;
    const enum heed_attention kind = (enum heed_attention)job->options.attention;
    heed_error *err = &line->err;
    size_t n = 0;
    for (size_t p = 0; p < line->n_segments; p++)
        n += (s->first[p + 1] - s->first[p]) * (s->first[p + 1] - s->first[p]);
    const float **rows = hd_alloc(s->n, sizeof *rows, err);
    float *weights = hd_alloc(n, sizeof *weights, err), *at = weights;
    bool ok = rows && weights;
    for (size_t p = 0; ok && p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        struct hd_nbest found = {0};
        if (segment->passes)
            continue;
        ok = read_again(job, segment, hypothesis_of(segment, k), &found, err);
        if (ok)
            at = place_rows(s, p, found.best, kind == HEED_ATTENTION_DECODER, rows, at);
        hd_nbest_release(&found);
    }
    ok = ok &&
         hd_describe_weights(line->result, tr, kind, &(struct hd_token_weights){s, s, rows}, err);
    hd_free(rows);
    hd_free(weights);
    return ok;
}

static bool describe_attention(struct hd_line *line, heed_translation *tr, size_t k,
                               const struct hd_token_side *s, const struct target_side *t)
{
    const int kind = line->job->options.attention;
    const float **rows = hd_alloc(t->n, sizeof *rows, &line->err);
    if (!rows)
        return false;
    for (size_t i = 0; i < t->n; i++)
        rows[i] = t->tokens[i].row;
    const struct hd_token_weights weights = {&t->side, s, rows};
    bool ok = hd_describe_links(line->result, tr, &weights, &line->err);
    if (kind == HEED_ATTENTION_CROSS)
        ok = ok && hd_describe_weights(line->result, tr, kind, &weights, &line->err);
    hd_free(rows);
    if (kind == HEED_ATTENTION_CROSS)
        return ok;
    return ok &&
           describe_self_attention(line, tr, k, kind == HEED_ATTENTION_ENCODER ? s : &t->side);
}

/* Where an answer begins and where it ends: two rows, each as a word of its own. */
static bool describe_pointers(struct hd_line *line, heed_translation *tr, size_t k,
                              const struct hd_token_side *s)
{
    const struct hd_segment *segment = &line->segments[0];
    const struct hd_hypothesis *h = segment->passes ? NULL : hypothesis_of(segment, k);
    struct hd_token_side two = {0};
    if (!h || !h->attention)
        return true;
    const float *rows[2] = {h->attention, h->attention + segment->n_ids};
    bool ok = hd_token_side_init(&two, 2, 1, &line->err) &&
              (two.wording.words = hd_alloc(2, sizeof *two.wording.words, &line->err)) &&
              (two.wording.of_token = hd_alloc(2, sizeof *two.wording.of_token, &line->err));
    if (ok) {
        two.wording.n = two.first[1] = 2;
        two.wording.of_token[1] = 1;
        ok = hd_describe_weights(line->result, tr, HEED_ATTENTION_CROSS,
                                 &(struct hd_token_weights){&two, s, rows}, &line->err);
    }
    hd_token_side_release(&two);
    return ok;
}

/* ---- sentences --------------------------------------------------------------------------------------- */

/* Characters before a place, counted from a place before it. */
struct counter {
    const char *text;
    size_t bytes, n_chars;
};

static size_t chars_before(struct counter *c, size_t place)
{
    c->n_chars += hd_utf8_count(c->text + c->bytes, place - c->bytes);
    c->bytes = place;
    return c->n_chars;
}

/* Segments in characters of both texts; one that became nothing is where its neighbours meet. */
static bool describe_sentences(struct hd_line *line, heed_translation *tr,
                               const struct target_side *t)
{
    tr->sentences =
        hd_result_keep(line->result, line->n_segments, sizeof *tr->sentences, &line->err);
    if (!tr->sentences)
        return false;
    struct counter source = {.text = line->result->source}, target = {.text = tr->text};
    for (size_t p = 0; p < line->n_segments && line->n_text > 0; p++) {
        struct hd_span span = t->segments[p];
        const size_t before = hd_space_before(tr->text + span.begin, span.end - span.begin);
        span.begin += before;
        span.end -= hd_space_after(tr->text + span.begin, span.end - span.begin);
        heed_sentence *one = &tr->sentences[tr->n_sentences++];
        one->source_start = chars_before(&source, line->segments[p].span.begin);
        one->source_end = chars_before(&source, line->segments[p].span.end);
        one->target_start = chars_before(&target, span.begin);
        one->target_end = chars_before(&target, span.end);
    }
    return true;
}

/* ---- a translation ---------------------------------------------------------------------------------- */

/* How likely a word of this log-probability is right. Odds beyond e^20 are not told apart. */
static double confidence_of(const struct hd_job *job, double logprob)
{
    const double p = hd_real_exp(logprob);
    double odds = p < 1 ? logprob - hd_real_log(1 - p) : 20;
    odds = odds > 20 ? 20 : odds < -20 ? -20 : odds;
    return 1 / (1 + hd_real_exp(-(job->ensemble->confidence.word[0] +
                                  job->ensemble->confidence.word[1] * odds)));
}

static bool place_target(struct hd_line *line, struct target_side *t)
{
    if (!hd_token_side_init(&t->side, t->n, line->n_segments, &line->err))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        t->side.spans[i] = t->tokens[i].span;
        t->side.segment[i] = t->tokens[i].segment;
    }
    for (size_t p = 0, i = 0; p <= line->n_segments; p++) {
        while (i < t->n && t->tokens[i].segment < p)
            i++;
        t->side.first[p] = i;
    }
    return hd_word_map_make(&t->side.wording, t->text ? t->text : "", t->n_bytes, t->side.spans,
                            t->n, &line->err);
}

/* Subwords, and the words' log-probabilities. */
static bool describe_subwords(const struct hd_job *job, struct hd_line *line, heed_translation *tr,
                              const struct target_side *t)
{
    heed_result *r = line->result;
    size_t bytes = 0;
    for (size_t i = 0; i < t->n; i++)
        bytes += piece_bytes(job->ensemble->target, &t->tokens[i].id, 1);
    char *text = hd_result_keep(r, bytes, 1, &line->err);
    tr->subwords = hd_result_keep(r, t->n, sizeof *tr->subwords, &line->err);
    if (!text || !tr->subwords)
        return false;
    tr->n_subwords = t->n;
    for (size_t i = 0; i < t->n; i++) {
        const int word = t->side.wording.of_token[i];
        tr->subwords[i] = (heed_subword){text, word, t->tokens[i].logprob};
        text = stpcpy(text, hd_vocab_piece(job->ensemble->target, t->tokens[i].id)) + 1;
        if (word >= 0)
            tr->words[word].logprob += t->tokens[i].logprob;
    }
    return true;
}

/* How likely a translation is of use, from its words' mean confidence and its subwords' mean log-probability. Much less text than
 * the source has is a bad sign. */
static double sentence_confidence(const struct hd_line *line, const heed_translation *tr,
                                  const struct target_side *t, double words)
{
    const double *c = line->job->ensemble->confidence.sentence;
    double logprob = 0;
    for (size_t i = 0; i < t->n; i++)
        logprob += t->tokens[i].logprob;
    const double n_target = (double)hd_utf8_count(tr->text, t->n_bytes) + 5,
                 n_source = (double)hd_utf8_count(line->result->source, line->n_source) + 5;
    const bool is_text = !line->vectors; /* positions of vectors have no length to compare with */
    const double length = is_text && n_target < n_source ? hd_real_log(n_target / n_source) : 0;
    const double x = c[0] + c[1] * words + c[2] * (logprob / (double)t->n) + c[3] * length;
    return 1 / (1 + hd_real_exp(-x));
}

static void set_confidence(const struct hd_line *line, heed_translation *tr,
                           const struct target_side *t)
{
    const struct hd_job *job = line->job;
    double sum = 0;
    if (is_of_labels(line) || is_of_answers(line)) { /* it says itself how likely it is right */
        double logprob = 0;
        for (size_t i = 0; i < t->n; i++)
            logprob += t->tokens[i].logprob;
        tr->confidence = t->n > 0 ? hd_real_exp(logprob) : is_of_labels(line);
        for (size_t w = 0; w < tr->n_words; w++)
            tr->words[w].confidence = tr->confidence;
        return;
    }
    for (size_t w = 0, i = 0; w < tr->n_words; w++) {
        while (i < t->n && t->side.wording.of_token[i] < (int)w)
            i++;
        const bool is_made = i < t->n && t->side.wording.of_token[i] == (int)w;
        if (job->has_scores) /* what passes as it is is right */
            tr->words[w].confidence = is_made ? confidence_of(job, tr->words[w].logprob) : 1;
        sum += tr->words[w].confidence;
    }
    tr->confidence = job->has_scores;
    if (job->has_scores && t->n > 0 && tr->n_words > 0)
        tr->confidence = sentence_confidence(line, tr, t, sum / (double)tr->n_words);
}

static bool describe_target(struct hd_line *line, heed_translation *tr, size_t k,
                            const struct hd_token_side *s, struct target_side *t)
{
    const struct hd_job *job = line->job;
    char *text = hd_result_keep(line->result, t->n_bytes + 1, 1, &line->err);
    if (!text || !place_target(line, t))
        return false;
    tr->text = t->n_bytes > 0 ? memcpy(text, t->text, t->n_bytes) : text;
    tr->words = make_words(line->result, tr->text, &t->side.wording, &line->err);
    if (!tr->words)
        return false;
    tr->n_words = t->side.wording.n;
    if (!describe_subwords(job, line, tr, t))
        return false;
    set_confidence(line, tr, t);
    if (is_of_answers(line))
        return describe_sentences(line, tr, t) &&
               (!job->has_attention || describe_pointers(line, tr, k, s));
    return describe_sentences(line, tr, t) &&
           (!job->has_attention || (describe_attention(line, tr, k, s, t) &&
                                    hd_describe_heard(line, tr, k, &t->side, s))) &&
           hd_describe_steps(line, tr, k);
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
            tr->is_cut = tr->is_cut || (h->is_cut && !is_of_labels(line) && !is_of_answers(line));
            n++;
        }
    if (n > 0)
        tr->score /= (double)n;
    if (line->is_skipped)
        tr->score = tr->logprob = NAN;
}

/* Of a text with tags: the translation with its own. */
static bool write_tags(struct hd_line *line, const struct hd_token_side *s,
                       const struct target_side *t)
{
    const size_t n = line->n_segments;
    const float **rows = hd_alloc(t->n, sizeof *rows, &line->err);
    struct hd_span *segments = hd_alloc(n, sizeof *segments, &line->err);
    bool *passes = hd_alloc(n, sizeof *passes, &line->err);
    bool ok = rows && segments && passes;
    for (size_t i = 0; ok && i < t->n; i++)
        rows[i] = t->tokens[i].row;
    for (size_t p = 0; ok && p < n; p++) {
        segments[p] = line->segments[p].span;
        passes[p] = line->segments[p].passes;
    }
    const struct hd_token_weights weights = {&t->side, s, rows};
    ok = ok && hd_document_write(line->document,
                                 &(struct hd_plain_translation){.text = t->text ? t->text : "",
                                                                .n = t->n_bytes,
                                                                .segments = t->segments,
                                                                .source_segments = segments,
                                                                .passes = passes,
                                                                .weights = &weights},
                                 &line->err);
    hd_free(rows);
    hd_free(segments);
    hd_free(passes);
    return ok;
}

static bool make_translation(const struct hd_job *job, struct hd_line *line,
                             const struct hd_token_side *s, size_t k)
{
    heed_translation *tr = line->result->translations[k];
    struct target_side t = {.segments = hd_alloc(line->n_segments, sizeof *t.segments, &line->err)};
    const bool ok = t.segments &&
                    (line->is_forced       ? write_forced(job, &t, line)
                     : is_of_answers(line) ? write_answer(job, &t, line, k)
                                           : write_searched(job, &t, s, line, k)) &&
                    describe_target(line, tr, k, s, &t) &&
                    (!line->document || write_tags(line, s, &t));
    if (ok)
        set_scores(job, line, tr, k);
    release_target(&t);
    return ok;
}

/* A segment of which so little is left that something must be missing. */
static bool is_dropped(const struct hd_line *line, size_t p)
{
    enum { LONG = 30, TIMES = 3 };
    const heed_translation *tr = line->result->translations[0];
    if (p >= tr->n_sentences)
        return false;
    const heed_sentence *s = &tr->sentences[p];
    const size_t n = s->source_end - s->source_start;
    return n >= LONG && TIMES * (s->target_end - s->target_start) < n;
}

/* Does an output go round in circles, and the source does not? */
static bool repeats(const struct hd_segment *segment)
{
    const struct hd_hypothesis *best = segment->found.best;
    return segment->found.n > 0 && hd_is_loop(best->ids, best->n, false) &&
           !hd_is_loop(segment->ids, segment->n_ids, false);
}

static void warn(struct hd_line *line)
{
    size_t n_cut = 0, n_again = 0, n_dropped = 0, n_loops = 0;
    const bool is_looked_at = !line->is_forced && line->job->ensemble->task == HD_TASK_TRANSLATE;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        n_cut += segment->found.n > 0 && segment->found.best[0].is_cut;
        n_again += segment->is_searched_again;
        n_dropped += is_looked_at && !line->vectors && !segment->passes && is_dropped(line, p);
        n_loops += is_looked_at && !segment->is_searched_again && repeats(segment);
    }
    if (n_loops > 0)
        hd_result_warn(line->result, "the translation repeats itself");
    if (n_dropped > 0)
        hd_result_warn(line->result, "the translation is much shorter than the text; something may "
                                     "be missing");
    if (n_again > 0)
        hd_result_warn(line->result, "the output went round in circles and was searched again with "
                                     "repetition forbidden");
    if (n_cut > 0)
        hd_result_warn(line->result, "the output was longer than allowed and was cut; a larger "
                                     "max-length allows more");
}

/* A translation that nobody should rely on is said to be unsure; where it is not wanted the source stands instead. */
static bool doubt(const struct hd_job *job, struct hd_line *line, const struct hd_token_side *s)
{
    static const double UNSURE = 0.6;
    heed_result *r = line->result;
    const double confidence = r->translations[0]->confidence;
    if (line->is_forced || !job->has_scores || job->ensemble->task != HD_TASK_TRANSLATE)
        return true;
    if (confidence >= (double)job->options.min_confidence) {
        if (confidence < UNSURE && job->ensemble->is_natural)
            hd_result_warn(r, "unsure: the translation may be wrong (confidence %.2f)", confidence);
        return true;
    }
    for (size_t p = 0; p < line->n_segments; p++)
        line->segments[p].passes = true;
    heed_translation *tr = r->translations[0];
    *tr = (heed_translation){0};
    r->n_translations = 1;
    hd_result_warn(r,
                   "unsure: the text stays as it is, since its translation has a confidence of "
                   "%.2f",
                   confidence);
    const bool ok = make_translation(job, line, s, 0);
    tr->confidence = confidence;
    return ok;
}

/* Room for n translations. */
static bool make_translations(struct hd_line *line, size_t n)
{
    heed_result *r = line->result;
    heed_translation *all = hd_result_keep(r, n, sizeof *all, &line->err);
    r->translations = hd_result_keep(r, n, sizeof *r->translations, &line->err);
    for (size_t k = 0; all && r->translations && k < n; k++)
        r->translations[k] = &all[k];
    return all && r->translations;
}

/* All labels, likeliest first. */
static bool describe_labels(struct hd_line *line)
{
    heed_result *r = line->result;
    const struct hd_nbest *found = line->n_segments > 0 ? &line->segments[0].found : NULL;
    if (!is_of_labels(line) || !found || found->n == 0)
        return true;
    const struct hd_vocab *vocab = line->job->ensemble->target;
    const struct hd_hypothesis *best = found->best;
    const size_t n = (size_t)hd_vocab_size(vocab);
    char *text = hd_result_keep(r, piece_bytes(vocab, best->top_ids, n), 1, &line->err);
    r->labels = hd_result_keep(r, n, sizeof *r->labels, &line->err);
    if (!text || !r->labels)
        return false;
    for (; r->n_labels < n; r->n_labels++) {
        r->labels[r->n_labels] =
            (heed_label){text, hd_real_exp((double)best->top_logprob[r->n_labels])};
        text = stpcpy(text, hd_vocab_piece(vocab, best->top_ids[r->n_labels])) + 1;
    }
    return true;
}

/* The best answer, and its place. */
static bool describe_answer(struct hd_line *line)
{
    heed_result *r = line->result;
    if (!is_of_answers(line) || line->n_segments == 0 || line->segments[0].found.n == 0)
        return true;
    const struct hd_span part = part_of(line, &line->segments[0].found.best[0]);
    const heed_translation *best = r->translations[0];
    r->answer = hd_result_keep(r, 1, sizeof *r->answer, &line->err);
    if (!r->answer)
        return false;
    const size_t start = hd_utf8_count(r->source, part.begin);
    *r->answer =
        (heed_answer){.text = best->text,
                      .start = start,
                      .end = start + hd_utf8_count(r->source + part.begin, part.end - part.begin),
                      .probability = best->confidence};
    return true;
}

bool hd_line_assemble(struct hd_line *line)
{
    const struct hd_job *job = line->job;
    struct hd_token_side s = {0};
    size_t n = 1;
    for (size_t p = 0; p < line->n_segments; p++)
        if ((size_t)line->segments[p].found.n > n)
            n = (size_t)line->segments[p].found.n;
    bool ok =
        place_source(&s, line) && describe_source(job, &s, line) && make_translations(line, n);
    for (size_t k = 0; ok && k < n; k++) {
        ok = make_translation(job, line, &s, k);
        line->result->n_translations = k + 1;
    }
    ok = ok && hd_describe_beam(line) && hd_describe_memory(line) && describe_labels(line) &&
         describe_answer(line);
    if (ok && !is_of_labels(line) && !is_of_answers(line)) {
        warn(line);
        if (job->ensemble->task == HD_TASK_TRANSLATE && !line->vectors) {
            hd_warn_of_losses(line);
            hd_warn_of_terms(line);
        }
        ok = doubt(job, line, &s);
    }
    ok = ok && (!line->document || hd_document_finish(line->document, line->result, &line->err));
    hd_token_side_release(&s);
    return ok;
}
