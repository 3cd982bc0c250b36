/* word_weights.c -- a word's weights over other words: of each of its tokens the sum over the other word's, then the mean.
 *
 * A segment's output has looked at its own segment only, so a matrix is made of blocks along its diagonal; a row is worked out for
 * its block alone. */
#include "translate/word_weights.h"

#include "base/memory.h"
#include "align/links.h"
#include "translate/result.h"

#include <string.h>

enum { LARGEST_MATRIX = 1 << 24 }; /* weights of a text that are kept as one matrix */

bool hd_token_side_init(struct hd_token_side *s, size_t n, size_t n_segments, heed_error *err)
{
    *s = (struct hd_token_side){.n = n, .n_segments = n_segments};
    s->spans = hd_alloc(n, sizeof *s->spans, err);
    s->segment = hd_alloc(n, sizeof *s->segment, err);
    s->first = hd_alloc(n_segments + 1, sizeof *s->first, err);
    return s->spans && s->segment && s->first;
}

void hd_token_side_release(struct hd_token_side *s)
{
    hd_word_map_release(&s->wording);
    hd_free(s->spans);
    hd_free(s->segment);
    hd_free(s->first);
}

/* The words that a segment has, first and behind the last. */
static struct hd_span words_of_segment(const struct hd_token_side *s, size_t p)
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

struct word_row {
    double *sum; /* [words] */
    double end;
    struct hd_span range; /* words that were looked at */
    int n_tokens;
};

static void add_to_row(struct word_row *r, const struct hd_token_side *to, size_t segment,
                       const float *row)
{
    const struct hd_span range = words_of_segment(to, segment);
    const size_t first = to->first[segment];
    if (r->n_tokens == 0)
        r->range = range;
    r->range.begin = range.begin < r->range.begin ? range.begin : r->range.begin;
    r->range.end = range.end > r->range.end ? range.end : r->range.end;
    r->n_tokens++;
    for (size_t t = first; t < to->first[segment + 1]; t++) {
        const int word = to->wording.of_token[t];
        *(word >= 0 ? &r->sum[word] : &r->end) += (double)row[t - first];
    }
}

/* The rows of words, one after the other. */
struct walk {
    const struct hd_token_weights *weights;
    double *sum;
    float *row; /* of the word: row[range.begin .. range.end) */
    float end;
    struct hd_span range;
    size_t from; /* tokens that no later word has */
};

static bool walk_init(struct walk *k, const struct hd_token_weights *weights, heed_error *err)
{
    *k = (struct walk){.weights = weights};
    k->sum = hd_alloc(weights->to->wording.n, sizeof *k->sum, err);
    k->row = hd_alloc(weights->to->wording.n, sizeof *k->row, err);
    return k->sum && k->row;
}

static void walk_release(struct walk *k)
{
    hd_free(k->sum);
    hd_free(k->row);
}

/* Tokens whose place begins before the word's end and ends behind its beginning, or that are assigned to it. */
static void walk_to(struct walk *k, size_t w)
{
    const struct hd_token_side *from = k->weights->from;
    struct word_row r = {.sum = k->sum};
    for (size_t i = k->from; i < from->n; i++) {
        const int of = from->wording.of_token[i];
        if (of < 0)
            continue;
        if ((size_t)of > w)
            break;
        if ((size_t)of < w && from->spans[i].end <= from->wording.words[w].begin) {
            k->from = i + 1;
            continue;
        }
        if (k->weights->rows[i])
            add_to_row(&r, k->weights->to, from->segment[i], k->weights->rows[i]);
    }
    const double n = r.n_tokens > 0 ? r.n_tokens : 1;
    for (size_t j = r.range.begin; j < r.range.end; j++) {
        k->row[j] = (float)(k->sum[j] / n);
        k->sum[j] = 0;
    }
    k->end = (float)(r.end / n);
    k->range = r.range;
}

/* ---- links ----------------------------------------------------------------------------------------- */

/* `links` NULL: only counted. */
static size_t find_links(struct walk *k, heed_link *links)
{
    size_t n = 0;
    k->from = 0;
    for (size_t w = 0; w < k->weights->from->wording.n; w++) {
        walk_to(k, w);
        const float least = hd_least_link(k->row + k->range.begin, k->range.end - k->range.begin);
        for (size_t j = k->range.begin; j < k->range.end; j++)
            if (k->row[j] >= least) {
                if (links)
                    links[n] = (heed_link){(int)j, (int)w};
                n++;
            }
    }
    return n;
}

bool hd_describe_links(heed_result *result, heed_translation *tr,
                       const struct hd_token_weights *weights, heed_error *err)
{
    struct walk k;
    bool ok = walk_init(&k, weights, err);
    if (ok) {
        tr->n_links = find_links(&k, NULL);
        tr->links = hd_result_keep(result, tr->n_links, sizeof *tr->links, err);
        ok = tr->links != NULL;
    }
    if (ok)
        find_links(&k, tr->links);
    walk_release(&k);
    return ok;
}

/* ---- matrices ---------------------------------------------------------------------------------------- */

static bool has_room(heed_result *result, heed_translation *tr, enum heed_attention kind,
                     const struct hd_token_side *from, const struct hd_token_side *to,
                     heed_error *err)
{
    const size_t n = from->wording.n * to->wording.n, n_tokens = from->n * to->n;
    tr->attention = hd_result_keep(result, n, sizeof(float), err);
    tr->attention_end = hd_result_keep(result, from->wording.n, sizeof(float), err);
    tr->subword_attention = hd_result_keep(result, n_tokens, sizeof(float), err);
    if (!tr->attention || !tr->attention_end || !tr->subword_attention)
        return false;
    tr->attention_kind = kind;
    tr->n_attention_rows = from->wording.n;
    tr->n_attention_columns = to->wording.n;
    tr->n_subword_rows = from->n;
    tr->n_subword_columns = to->n;
    return true;
}

static bool is_small(size_t rows, size_t columns)
{
    size_t n;
    return hd_mul_size(&n, rows, columns) && n <= LARGEST_MATRIX;
}

bool hd_describe_weights(heed_result *result, heed_translation *tr, enum heed_attention kind,
                         const struct hd_token_weights *weights, heed_error *err)
{
    const struct hd_token_side *from = weights->from, *to = weights->to;
    if (!is_small(from->wording.n, to->wording.n) || !is_small(from->n, to->n)) {
        hd_result_warn(result,
                       "the text is too long for its attention to be kept; there are links only");
        return true;
    }
    struct walk k;
    const bool ok = walk_init(&k, weights, err) && has_room(result, tr, kind, from, to, err);
    for (size_t i = 0; ok && i < from->n; i++) {
        const size_t first = to->first[from->segment[i]],
                     n = to->first[from->segment[i] + 1] - first;
        if (weights->rows[i])
            memcpy(tr->subword_attention + i * to->n + first, weights->rows[i], n * sizeof(float));
    }
    for (size_t w = 0; ok && w < from->wording.n; w++) {
        walk_to(&k, w);
        memcpy(tr->attention + w * to->wording.n + k.range.begin, k.row + k.range.begin,
               (k.range.end - k.range.begin) * sizeof(float));
        tr->attention_end[w] = k.end;
    }
    walk_release(&k);
    return ok;
}
