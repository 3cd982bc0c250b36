/* decoder.c -- a decoder's memory: sentences enter, take rows of the caches, and leave.
 *
 * A sentence's source positions are neighbours in their caches. Free rows are found by looking, which costs nothing beside the
 * encoder; a cache that is full grows by a quarter. Invariant: rows of sentences that are under way do not overlap. */
#include "model/decoder.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "model/rnn.h"
#include "model/transformer.h"

#include <string.h>

struct hd_decoder *hd_decoder_new(const struct hd_net *net, heed_error *err)
{
    struct hd_decoder *d = hd_new(struct hd_decoder, err);
    if (d)
        d->net = net;
    return d;
}

void hd_decoder_clear(struct hd_decoder *d)
{
    for (int i = 0; i < HD_MAX_CACHES; i++) {
        hd_free(d->positions[i].x);
        hd_free(d->sentences[i].x);
        hd_free(d->words[i].x);
    }
    hd_free(d->start);
    hd_free(d->length);
    *d = (struct hd_decoder){.net = d->net};
}

void hd_decoder_free(struct hd_decoder *d)
{
    if (!d)
        return;
    hd_decoder_clear(d);
    hd_free(d);
}

/* ---- caches ------------------------------------------------------------------------------------------------------------------- */

hd_node *hd_cache_node(hd_tape *tape, const struct hd_cache *cache)
{
    if (cache->width == 0)
        return NULL;
    const hd_node node = {.x = cache->x,
                          .n_dims = 2,
                          .dim = {cache->n_rows, cache->width, 1, 1},
                          .count = (size_t)cache->n_rows * (size_t)cache->width};
    return hd_on(tape, &node);
}

/* Room for n_rows of this width; what is there stays. */
static bool grow_cache(struct hd_cache *p, hd_tape *t, int n_rows, int width)
{
    if (n_rows <= p->n_rows && width <= p->width)
        return true;
    const int wide = width > p->width ? width : p->width,
              more = n_rows < INT_MAX / 2 ? n_rows + n_rows / 4 : n_rows,
              rows = n_rows <= p->n_rows ? p->n_rows : more;
    size_t bytes;
    const bool fits = hd_mul_size(&bytes, (size_t)rows * sizeof *p->x, (size_t)wide);
    float *x = fits ? hd_alloc_raw(bytes) : NULL;
    if (!x) {
        hd_tape_take_slow(t, "hd_decoder", (size_t)rows * (size_t)wide, sizeof *x);
        return false;
    }
    for (int r = 0; r < p->n_rows && p->width > 0; r++)
        memcpy(x + (size_t)r * (size_t)wide, p->x + (size_t)r * (size_t)p->width,
               (size_t)p->width * sizeof *x);
    hd_free(p->x);
    *p = (struct hd_cache){wide, rows, x};
    return true;
}

void hd_cache_put(struct hd_cache *cache, const hd_node *x, const int *rows)
{
    const int n = hd_n_rows(x), width = hd_last_dim(x);
    int last = -1;
    for (int i = 0; i < n; i++)
        last = rows[i] > last ? rows[i] : last;
    if (hd_has_failed(x->tape) || !grow_cache(cache, x->tape, last + 1, width))
        return;
    for (int i = 0; i < n; i++) {
        float *to = cache->x + (size_t)rows[i] * (size_t)cache->width;
        memcpy(to, x->x + (size_t)i * (size_t)width, (size_t)width * sizeof *to);
        memset(to + width, 0, (size_t)(cache->width - width) * sizeof *to);
    }
}

/* ---- sentences come and go ------------------------------------------------------------------------------------------------------ */

/* The first row from which `length` are free. */
static int free_rows(const struct hd_decoder *d, int length)
{
    int start = 0;
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (int p = 0; p < d->places.n; p++)
            if (d->length[p] > 0 && start < d->start[p] + d->length[p] &&
                d->start[p] < start + length) {
                start = d->start[p] + d->length[p];
                has_moved = true;
            }
    }
    return start;
}

/* A place for a sentence of this length, -1 without memory. */
static int find_place(struct hd_decoder *d, hd_tape *t, int length)
{
    int place = 0;
    while (place < d->places.n && d->length[place] >= 0)
        place++;
    const size_t n = (size_t)place + 1;
    int *starts = hd_grow(d->start, &d->start_capacity, n, sizeof *starts, &t->error);
    d->start = starts ? starts : d->start;
    int *lengths = hd_grow(d->length, &d->length_capacity, n, sizeof *lengths, &t->error);
    d->length = lengths ? lengths : d->length;
    if (!starts || !lengths)
        return -1;
    d->start[place] = free_rows(d, length);
    d->length[place] = length;
    if (place == d->places.n)
        d->places.n++;
    d->places.start = d->start;
    d->places.length = d->length;
    return place;
}

static bool keep(struct hd_decoder *d, hd_tape *t, const struct hd_memory *m, const int *place)
{
    struct hd_to_cache kept = {0};
    if (d->net->rnn)
        hd_rnn_keep(d->net, m, &kept);
    else
        hd_transformer_keep(d->net, m, &kept);
    int *rows = hd_tape_take(t, "hd_decoder_enter", (size_t)m->spans->total, sizeof *rows);
    for (int i = 0, r = 0; rows && i < m->spans->n; i++)
        for (int j = 0; j < m->spans->length[i]; j++)
            rows[r++] = d->start[place[i]] + j;
    for (int i = 0; rows && i < kept.n_positions; i++)
        if (kept.positions[i])
            hd_cache_put(&d->positions[i], kept.positions[i], rows);
    for (int i = 0; rows && i < kept.n_sentences; i++)
        if (kept.sentences[i])
            hd_cache_put(&d->sentences[i], kept.sentences[i], place);
    return !hd_has_failed(t);
}

bool hd_decoder_enter(struct hd_decoder *d, hd_tape *tape, const struct hd_batch *batch, int *place)
{
    const struct hd_memory *memory = hd_encode(d->net, tape, batch, NULL);
    int n = 0;
    while (memory && n < batch->n && (place[n] = find_place(d, tape, batch->source_length[n])) >= 0)
        n++;
    if (memory && n == batch->n && keep(d, tape, memory, place))
        return true;
    while (n > 0)
        hd_decoder_leave(d, place[--n]);
    return false;
}

void hd_decoder_leave(struct hd_decoder *d, int place)
{
    d->length[place] = -1;
}

/* ---- one step --------------------------------------------------------------------------------------------------------------------- */

struct hd_stepped hd_decoder_step(struct hd_decoder *d, hd_tape *tape, const struct hd_rows *rows)
{
    for (int b = 0; b < rows->n; b++)
        if (rows->place[b] < 0 || rows->place[b] >= d->places.n || d->length[rows->place[b]] < 0) {
            hd_tape_fail(tape, HEED_BAD_SHAPE, "hd_decoder_step: there is no sentence at place %d",
                         rows->place[b]);
            return (struct hd_stepped){0};
        }
    const struct hd_stepped stepped =
        d->net->rnn ? hd_rnn_step(d, tape, rows) : hd_transformer_step(d, tape, rows);
    return hd_has_failed(tape) ? (struct hd_stepped){0} : stepped;
}

/* In place of a product, where nobody wants its result. */
static void no_product(float *y, long ldy, const float *a, long a_row, long a_k, const float *b,
                       long b_k, long b_col, bool accumulate, int M, int K, int N, float *scratch)
{
    (void)a, (void)a_row, (void)a_k, (void)b, (void)b_k, (void)b_col, (void)accumulate, (void)K;
    (void)scratch;
    for (int r = 0; r < M && N > 0; r++)
        memset(y + r * ldy, 0, (size_t)N * sizeof *y);
}

/* Which weights are read, and how, is found out by searching one word, with all products left out. */
bool hd_net_pack(struct hd_net *net, heed_error *err)
{
    const int word = 0, length = 1, none = 0, start = -1;
    int place;
    const struct hd_batch batch = {.n = 1, .source = &word, .source_length = &length};
    hd_tape *tape = hd_tape_new(err);
    struct hd_decoder *decoder = hd_decoder_new(net, err);
    bool is_done = tape && decoder;
    if (is_done) {
        struct hd_kernels idle = *tape->k;
        idle.gemm_free = no_product;
        tape->k = &idle;
        if (hd_decoder_enter(decoder, tape, &batch, &place)) {
            const struct hd_rows rows = {.n = 1,
                                         .place = &place,
                                         .previous = &start,
                                         .length = &none,
                                         .past = &none,
                                         .slot = &none};
            const struct hd_stepped stepped = hd_decoder_step(decoder, tape, &rows);
            if (stepped.out)
                hd_logits(net, stepped.out);
        }
        is_done = hd_tape_check(tape, err);
    }
    is_done = is_done && hd_params_pack(net->params, err);
    hd_decoder_free(decoder);
    hd_tape_free(tape);
    return is_done;
}
