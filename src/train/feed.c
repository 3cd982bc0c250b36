/* feed.c -- pools of encoded pairs, sorted, cut and shuffled.
 *
 * Invariant: what a batch holds follows from the corpus, the options and its place; threads only share the encoding. */
#include "train/feed.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "text/sample.h"

#include <stdlib.h>
#include <string.h>

enum {
    POOL = 1 << 15, /* pairs read at a time: enough for sorting to bring equal lengths together */
    SLICE = 256,    /* pairs that a thread encodes at a time */
    N_SLICES = POOL / SLICE,
};

/* What numbers are drawn for. */
enum stream { STREAM_EPOCH, STREAM_BATCHES, STREAM_SUBWORDS };

static uint64_t stream_of(enum stream stream, uint64_t a, uint64_t b)
{
    return (uint64_t)stream << 60 | a << 40 | b;
}

/* ---- shuffle ----------------------------------------------------------------------------------- */

/* A Feistel network over the smallest even number of bits that holds n, walked until it lands below n: a permutation of
 * [0, n) that needs no memory. Black & Rogaway (2002), "Ciphers with arbitrary finite domains". */
uint64_t hd_shuffled(uint64_t i, uint64_t n, uint64_t key, uint64_t stream)
{
    int half = 1;
    while (half < 32 && (uint64_t)1 << (2 * half) < n)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < 6; round++) {
            uint32_t words[4];
            hd_philox(words, key, right << 8 | round, stream);
            const uint64_t mixed = left ^ (((uint64_t)words[0] << 32 | words[1]) & mask);
            left = right;
            right = mixed;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

/* ---- a pool ------------------------------------------------------------------------------------ */

struct slice {
    struct hd_ids ids;
    int length[2 * SLICE]; /* source and target of each pair; -1 where it is left out */
    size_t n_long, n_empty;
    heed_error err;
};

struct hd_feed {
    const struct hd_corpus *corpus;
    const struct hd_vocab *source, *target;
    struct hd_feed_options options;
    struct hd_pool *threads;
    size_t n_pairs; /* to train on */

    int epoch, pool;    /* what is in the slices; -1 is nothing */
    size_t first, size; /* of the pool's pairs, in the epoch's order */
    struct slice *slices;
    struct hd_pair_ids *pairs; /* sorted */
    int n;
    int *start, *order, n_batches; /* batch b: pairs [start[order[b]], start[order[b]+1]) */
    size_t starts_capacity;
    struct hd_feed_counts counts;
    int first_epoch; /* which they are of */
};

/* The number in the corpus of the i-th pair to train on: those held out are passed over. */
static size_t in_corpus(const struct hd_feed *f, size_t i)
{
    const size_t every = (size_t)f->options.hold_out;
    return every ? i + i / (every - 1) : i;
}

/* Encode one pair at the end of a slice. */
static bool encode(const struct hd_feed *f, struct slice *s, int at, size_t index)
{
    const struct hd_text_pair pair = hd_corpus_pair(f->corpus, index);
    const struct hd_vocab *vocab[2] = {f->source, f->target};
    const char *text[2] = {pair.source, pair.target};
    const size_t bytes[2] = {pair.n_source, pair.n_target}, before = s->ids.n;
    const float sampling = f->options.subword_sampling;
    int n_ids[2];
    for (int side = 0; side < 2; side++) {
        const bool with_end = hd_vocab_end(vocab[side]) >= 0;
        struct hd_rng rng = {
            f->options.seed,
            stream_of(STREAM_SUBWORDS, (uint64_t)f->epoch, 2 * index + (size_t)side), 0};
        const size_t from = s->ids.n;
        const bool ok =
            sampling > 0
                ? hd_vocab_encode_sampled(vocab[side], text[side], bytes[side], with_end, sampling,
                                          &rng, &s->ids, &s->err)
                : hd_vocab_encode(vocab[side], text[side], bytes[side], with_end, &s->ids, &s->err);
        if (!ok)
            return false;
        s->length[2 * at + side] = (int)(s->ids.n - from);
        n_ids[side] = s->length[2 * at + side] - with_end;
    }
    const bool is_long = n_ids[0] > f->options.max_length || n_ids[1] > f->options.max_length;
    const bool is_empty = n_ids[0] == 0 || n_ids[1] == 0;
    s->n_long += is_long;
    s->n_empty += is_empty && !is_long;
    if (is_long || is_empty) {
        s->ids.n = before;
        s->length[2 * at] = -1;
    }
    return true;
}

static void encode_slice(void *context, int index, int worker)
{
    struct hd_feed *f = context;
    struct slice *s = &f->slices[index];
    const uint64_t stream = stream_of(STREAM_EPOCH, (uint64_t)f->epoch, 0);
    (void)worker;
    s->ids.n = 0;
    s->n_long = s->n_empty = 0;
    s->err = (heed_error){0};
    for (size_t i = (size_t)index * SLICE; i < f->size && i < ((size_t)index + 1) * SLICE; i++) {
        const size_t k = hd_shuffled(f->first + i, f->n_pairs, f->options.seed, stream);
        if (!encode(f, s, (int)(i % SLICE), in_corpus(f, k)))
            return;
    }
}

/* The pairs of a slice, behind pairs[n]; returns the new n. */
static int collect(const struct slice *s, int n_in_slice, struct hd_pair_ids *pairs, int n)
{
    const int *ids = s->ids.at;
    for (int i = 0; i < n_in_slice; i++) {
        const int n_source = s->length[2 * i], n_target = s->length[2 * i + 1];
        if (n_source < 0)
            continue;
        pairs[n++] = (struct hd_pair_ids){{ids, n_source}, {ids + n_source, n_target}};
        ids += n_source + n_target;
    }
    return n;
}

/* By target length, then source length, then where they came from: slices lie in any order in memory, so that is told by
 * merging, not by address. */
static int by_length(const void *a, const void *b)
{
    const struct hd_pair_ids *p = a, *q = b;
    return p->target.n != q->target.n ? (p->target.n > q->target.n) - (p->target.n < q->target.n)
                                      : (p->source.n > q->source.n) - (p->source.n < q->source.n);
}

/* Stable, as qsort() is not bound to be. */
static void merge_sort(struct hd_pair_ids *pairs, struct hd_pair_ids *spare, int n)
{
    for (int width = 1; width < n; width *= 2)
        for (int from = 0; from + width < n; from += 2 * width) {
            const int middle = from + width, end = middle + width < n ? middle + width : n;
            memcpy(spare, pairs + from, (size_t)width * sizeof *spare);
            int i = 0, j = middle, out = from;
            while (i < width)
                pairs[out++] =
                    j < end && by_length(&spare[i], &pairs[j]) > 0 ? pairs[j++] : spare[i++];
        }
}

/* Cut the sorted pairs into batches of even numbers of target tokens, and order them at random. */
static bool cut(struct hd_feed *f, heed_error *err)
{
    long long total = 0, done = 0;
    for (int i = 0; i < f->n; i++)
        total += f->pairs[i].target.n;
    const long long most = f->options.tokens, half = most / 2;
    f->n_batches = total > most ? (int)((total + half) / most) : 1;
    size_t capacity = f->starts_capacity;
    int *start = hd_grow(f->start, &capacity, (size_t)f->n_batches + 1, sizeof *start, err);
    if (!start)
        return false;
    f->start = start;
    int *order =
        hd_grow(f->order, &f->starts_capacity, (size_t)f->n_batches + 1, sizeof *order, err);
    if (!order)
        return false;
    f->order = order;
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        if (n < f->n_batches && done * f->n_batches >= total * n)
            f->start[n++] = i;
        done += f->pairs[i].target.n;
    }
    f->n_batches = n;
    f->start[n] = f->n;
    for (int i = 0; i < n; i++)
        f->order[i] = i;
    struct hd_rng rng = {f->options.seed,
                         stream_of(STREAM_BATCHES, (uint64_t)f->epoch, (uint64_t)f->pool), 0};
    hd_rng_shuffle(&rng, f->order, n);
    return true;
}

static bool load(struct hd_feed *f, int epoch, int pool, heed_error *err)
{
    f->first_epoch = f->first_epoch < 0 ? epoch : f->first_epoch;
    const bool is_counted = epoch == f->first_epoch;
    f->epoch = epoch;
    f->pool = pool;
    f->first = (size_t)pool * POOL;
    f->size = f->n_pairs - f->first < POOL ? f->n_pairs - f->first : POOL;
    const int n_slices = (int)((f->size + SLICE - 1) / SLICE);
    hd_pool_run(f->threads, encode_slice, f, n_slices);
    f->n = 0;
    for (int i = 0; i < n_slices; i++) {
        const struct slice *s = &f->slices[i];
        if (hd_failed(&s->err)) {
            f->epoch = -1;
            return hd_fail(err, s->err.code, "%s", s->err.message);
        }
        const size_t left = f->size - (size_t)i * SLICE;
        f->n = collect(s, (int)(left < SLICE ? left : SLICE), f->pairs, f->n);
        f->counts.n_long += is_counted ? s->n_long : 0;
        f->counts.n_empty += is_counted ? s->n_empty : 0;
    }
    f->counts.n_pairs += is_counted ? f->size : 0;
    merge_sort(f->pairs, f->pairs + POOL, f->n);
    const bool ok = cut(f, err);
    f->epoch = ok ? epoch : -1;
    return ok;
}

/* ---- the feed ---------------------------------------------------------------------------------- */

struct hd_feed *hd_feed_new(const struct hd_corpus *corpus, const struct hd_vocab *source,
                            const struct hd_vocab *target, const struct hd_feed_options *options,
                            struct hd_pool *threads, heed_error *err)
{
    struct hd_feed *f = hd_new(struct hd_feed, err);
    if (!f)
        return NULL;
    const size_t all = hd_corpus_size(corpus);
    *f = (struct hd_feed){.corpus = corpus,
                          .source = source,
                          .target = target,
                          .options = *options,
                          .threads = threads,
                          .epoch = -1,
                          .first_epoch = -1};
    f->n_pairs = options->hold_out ? all - all / (size_t)options->hold_out : all;
    f->slices = hd_alloc(N_SLICES, sizeof *f->slices, err);
    f->pairs = hd_alloc(2 * POOL, sizeof *f->pairs, err); /* the second half is for sorting */
    if (f->slices && f->pairs)
        return f;
    hd_feed_free(f);
    return NULL;
}

void hd_feed_free(struct hd_feed *f)
{
    if (!f)
        return;
    for (int i = 0; f->slices && i < N_SLICES; i++)
        hd_ids_release(&f->slices[i].ids);
    hd_free(f->slices);
    hd_free(f->pairs);
    hd_free(f->start);
    hd_free(f->order);
    hd_free(f);
}

const struct hd_pair_ids *hd_feed_next(struct hd_feed *f, struct hd_feed_position *place, int *n,
                                       heed_error *err)
{
    for (int n_empty = 0;; n_empty++) {
        if ((size_t)place->pool * POOL >= f->n_pairs)
            *place = (struct hd_feed_position){.epoch = place->epoch + 1};
        const bool is_here = f->epoch == place->epoch && f->pool == place->pool;
        if (!is_here && !load(f, place->epoch, place->pool, err))
            return NULL;
        if (place->batch < f->n_batches && f->n > 0)
            break;
        if ((size_t)n_empty * POOL > f->n_pairs) {
            hd_fail(err, HEED_BAD_TEXT,
                    "no pair of sentences can be trained on: all are longer than max-length %d, or "
                    "empty; raise --max-length",
                    f->options.max_length);
            return NULL;
        }
        *place = (struct hd_feed_position){.epoch = place->epoch, .pool = place->pool + 1};
    }
    const int b = f->order[place->batch++];
    *n = f->start[b + 1] - f->start[b];
    return f->pairs + f->start[b];
}

double hd_feed_epoch(const struct hd_feed *f, const struct hd_feed_position *place)
{
    const double before = (double)place->pool * POOL, here = f->n_batches ? place->batch : 0;
    const double done = before + here / (double)(f->n_batches ? f->n_batches : 1) * (double)f->size;
    return (double)place->epoch + (done < (double)f->n_pairs ? done / (double)f->n_pairs : 1);
}

struct hd_feed_counts hd_feed_counts(const struct hd_feed *f)
{
    return f->counts;
}
