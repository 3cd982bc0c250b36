/* feed.c -- pools of encoded pairs, sorted, cut and shuffled.
 *
 * Invariant: what a batch holds follows from the corpus, the options and its place; threads only share the encoding. */
#include "train/feed.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/rng.h"
#include "text/answer.h"
#include "text/sample.h"
#include "text/word_keys.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL = 1 << 15, /* pairs read at a time: enough for sorting to bring equal lengths together */
    SLICE = 256,    /* pairs that a thread encodes at a time */
    N_SLICES = POOL / SLICE,
};

/* What numbers are drawn for. */
enum stream { STREAM_EPOCH, STREAM_BATCHES, STREAM_SUBWORDS, STREAM_VARIATION, STREAM_DIRECTION };

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
    int length[2 * SLICE];             /* source and target of each pair; -1 where it is left out */
    struct hd_sequence vectors[SLICE]; /* where the source is one of them */
    struct hd_question_lengths questions[SLICE]; /* where it is a document with one */
    struct hd_token_link *links;
    size_t n_links, link_capacity;
    int n_pair_links[SLICE];
    int *words; /* of the ids of a pair */
    size_t word_capacity;
    size_t n_long, n_empty;
    struct hd_varied varied;
    heed_error err;
};

/* The pairs of two languages, of which an epoch takes more or fewer than there are. */
struct direction {
    size_t first, n;         /* in hd_feed.members */
    size_t start, per_epoch; /* its places in an epoch */
    int symbol;              /* before its sources; -1: none */
};

/* A pair and its turn: how often the text of its direction has been gone through before. */
struct drawn {
    size_t index; /* in the corpus */
    uint64_t turn;
};

struct hd_feed {
    const struct hd_corpus *corpus;
    const struct hd_vocab *source, *target;
    struct hd_feed_options options;
    struct hd_pool *threads;
    size_t n_pairs;               /* to train on */
    struct direction *directions; /* NULL where no languages are named */
    int n_directions;
    size_t *members; /* pairs of the corpus, direction by direction; NULL when there is but one */

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

/* Which pair is at place i of the epoch. Several directions are shuffled together; within each, the text is gone through again and
 * again, as often as its share wants. */
static struct drawn draw(const struct hd_feed *f, size_t i)
{
    const uint64_t stream = stream_of(STREAM_EPOCH, (uint64_t)f->epoch, 0);
    const size_t k = hd_shuffled(i, f->n_pairs, f->options.seed, stream);
    if (!f->members)
        return (struct drawn){in_corpus(f, k), (uint64_t)f->epoch};
    int d = 0;
    while (d + 1 < f->n_directions && f->directions[d + 1].start <= k)
        d++;
    const struct direction *direction = &f->directions[d];
    const uint64_t seen = (uint64_t)f->epoch * direction->per_epoch + (k - direction->start);
    const uint64_t turn = seen / direction->n;
    const size_t member =
        direction->first + hd_shuffled(seen % direction->n, direction->n, f->options.seed,
                                       stream_of(STREAM_DIRECTION, turn, (uint64_t)d));
    return (struct drawn){f->members[member], turn};
}

/* Pair i of the corpus, with what is known of it. */
static struct hd_text_pair pair_at(const struct hd_feed *f, size_t i)
{
    struct hd_text_pair pair = hd_corpus_pair(f->corpus, i);
    if (f->options.links) {
        pair.links.at = hd_link_list(f->options.links, i, &pair.links.n);
        pair.links.by_character = f->options.links_by_character;
    }
    return pair;
}

/* Another pair of the same languages. */
struct partner_of {
    const struct hd_feed *feed;
    int direction;
};

static struct hd_text_pair draw_partner(void *context, struct hd_rng *rng)
{
    const struct partner_of *of = context;
    const struct hd_feed *f = of->feed;
    const struct direction *d = f->members ? &f->directions[of->direction] : NULL;
    const size_t n = d ? d->n : f->n_pairs;
    const size_t i = hd_rng_below(rng, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
    return pair_at(f, d ? f->members[d->first + i] : in_corpus(f, i));
}

/* ---- links ----------------------------------------------------------------------------------------- */

/* The tokens [*from, returned) of word w, in words[0..n), from *from on: both ascend. */
static int tokens_of(const int *words, int n, int w, int *from)
{
    while (*from < n && words[*from] < w)
        (*from)++;
    int to = *from;
    while (to < n && words[to] == w)
        to++;
    return to;
}

static int by_target(const void *a, const void *b)
{
    const struct hd_token_link *p = a, *q = b;
    return p->target != q->target ? p->target - q->target : p->source - q->source;
}

/* Every token of a word is linked to every token of the words that belong to it. `first` is the source's first token of text. Where the
 * vocabulary counts other words than the text has, nothing is known. */
static bool link_tokens(const struct hd_feed *f, struct slice *s, int at,
                        const struct hd_text_pair *pair, int first)
{
    const int n_source = s->length[2 * at], n_target = s->length[2 * at + 1];
    const bool by_character = pair->links.by_character;
    const int *ids = s->ids.at + s->ids.n - (size_t)(n_source + n_target);
    s->n_pair_links[at] = 0;
    if (pair->links.n == 0)
        return true;
    int *words = hd_grow(s->words, &s->word_capacity, (size_t)n_source + (size_t)n_target,
                         sizeof *words, &s->err);
    if (!words)
        return false;
    s->words = words;
    const int m_source = n_source - first - (hd_vocab_end(f->source) >= 0),
              m_target = n_target - (hd_vocab_end(f->target) >= 0);
    int *target_words = words + n_source;
    const struct hd_text source = {pair->source, pair->n_source},
                         target = {pair->target, pair->n_target};
    if (hd_vocab_words(f->source, ids + first, (size_t)m_source, by_character, words) !=
            hd_count_words(source, source.n, by_character) ||
        hd_vocab_words(f->target, ids + n_source, (size_t)m_target, by_character, target_words) !=
            hd_count_words(target, target.n, by_character))
        return true;
    const size_t before = s->n_links;
    for (size_t k = 0; k < pair->links.n; k++) {
        int i_from = 0, j_from = 0;
        const int i_to = tokens_of(words, m_source, pair->links.at[k].source, &i_from),
                  j_to = tokens_of(target_words, m_target, pair->links.at[k].target, &j_from);
        const size_t n = (size_t)(i_to - i_from) * (size_t)(j_to - j_from);
        struct hd_token_link *links =
            hd_grow(s->links, &s->link_capacity, s->n_links + n, sizeof *links, &s->err);
        if (!links)
            return false;
        s->links = links;
        for (int i = i_from; i < i_to; i++)
            for (int j = j_from; j < j_to; j++)
                links[s->n_links++] = (struct hd_token_link){i + first, j};
    }
    s->n_pair_links[at] = (int)(s->n_links - before);
    if (s->n_links > before)
        qsort(s->links + before, s->n_links - before, sizeof *s->links, by_target);
    return true;
}

/* ---- vectors --------------------------------------------------------------------------------------- */

struct hd_sequence hd_vector_sequence(const struct hd_vectors *v, int frames,
                                      const struct hd_corpus *corpus, size_t pair)
{
    int file;
    size_t item = hd_corpus_line(corpus, pair, &file);
    while (file > 0)
        item += hd_corpus_file_lines(corpus, --file);
    const int n = hd_vectors_length(v, (int)item);
    return (struct hd_sequence){
        .n = (n + frames - 1) / frames, .vectors = v, .item = (int)item, .n_frames = n};
}

/* ---- questions ------------------------------------------------------------------------------------ */

static bool add_ids(struct hd_ids *to, const int *ids, size_t n, heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!hd_ids_add(to, ids[i], err))
            return false;
    return true;
}

static bool add_keys(struct hd_ids *to, const struct hd_vocab *vocab, struct hd_text text,
                     const struct hd_encoding *encoding, heed_error *err)
{
    const size_t from = to->n;
    for (int i = 0; i < HD_N_KEYS; i++)
        if (!add_ids(to, encoding->ids, encoding->n, err)) /* makes room */
            return false;
    hd_word_keys(vocab, text, encoding, to->at + from);
    return true;
}

bool hd_question_encode(const struct hd_vocab *vocab, const struct hd_text_pair *pair, int longest,
                        struct hd_ids *ids, struct hd_question_lengths *lengths,
                        struct hd_encoding *placed, heed_error *err)
{
    /* Both sides of a pair are parts of one line, one behind the other. */
    const struct hd_text line = {pair->source, pair->n_source + 1 + pair->n_target};
    struct hd_question q;
    struct hd_span place;
    struct hd_encoding document = {0}, question = {0};
    int tokens[2];
    const size_t most = (size_t)longest;
    *lengths = (struct hd_question_lengths){0};
    hd_question_cut(line, &q);
    bool ok = hd_vocab_encode_spans(vocab, q.document.at, q.document.n, &document, err) &&
              hd_vocab_encode_spans(vocab, q.question.at, q.question.n, &question, err);
    question.n = question.n < most ? question.n : most - 1;
    document.n = document.n + question.n <= most ? document.n : most - question.n;
    if (ok && document.n > 0 && question.n > 0 && hd_answer_find(&q, &place) == HD_ANSWER_FOUND) {
        if (!hd_answer_tokens(document.spans, document.n, place, tokens)) /* cut off, or no token */
            tokens[0] = tokens[1] = (int)document.n - 1;
        ok = add_ids(ids, document.ids, document.n, err) &&
             add_ids(ids, question.ids, question.n, err) &&
             add_keys(ids, vocab, q.document, &document, err) &&
             add_keys(ids, vocab, q.question, &question, err) && add_ids(ids, tokens, 2, err);
        *lengths = (struct hd_question_lengths){(int)document.n, (int)question.n};
    }
    hd_encoding_release(&question);
    if (ok && placed)
        *placed = document;
    else
        hd_encoding_release(&document);
    return ok;
}

struct hd_pair_ids hd_question_ids(const int *ids, const struct hd_question_lengths *lengths)
{
    const int both = lengths->document + lengths->question;
    return (struct hd_pair_ids){
        .source = {.ids = ids,
                   .n = lengths->document,
                   .question = ids + lengths->document,
                   .n_question = lengths->question,
                   .key = ids + both,
                   .question_key = ids + both + lengths->document * HD_N_KEYS},
        .target = {.ids = ids + both + both * HD_N_KEYS, .n = lengths->document > 0 ? 2 : 0}};
}

/* As encode_pair(). */
static bool encode_question(const struct hd_feed *f, struct slice *s, int at,
                            const struct hd_text_pair *pair, bool *is_long)
{
    const size_t before = s->ids.n;
    struct hd_question_lengths *n = &s->questions[at];
    if (!hd_question_encode(f->source, pair, INT_MAX, &s->ids, n, NULL, &s->err))
        return false;
    const int *tokens = s->ids.n > before ? s->ids.at + s->ids.n - 2 : NULL;
    *is_long = n->document + n->question > f->options.max_length ||
               (tokens && tokens[1] - tokens[0] >= f->options.max_answer);
    s->length[2 * at] = n->document + n->question;
    s->length[2 * at + 1] = 2;
    s->n_pair_links[at] = 0;
    if (tokens && !*is_long)
        return true;
    s->ids.n = before;
    return false;
}

/* ---- pairs ----------------------------------------------------------------------------------------- */

/* The pair's ids at the end of a slice: is it one to train on? False with s->err set, too, when something failed. */
static bool encode_pair(const struct hd_feed *f, struct slice *s, int at, struct drawn drawn,
                        const struct hd_text_pair *pair, bool *is_long)
{
    const struct hd_vocab *vocab[2] = {f->source, f->target};
    const char *text[2] = {pair->source, pair->target};
    const size_t bytes[2] = {pair->n_source, pair->n_target}, before = s->ids.n;
    const float sampling = f->options.subword_sampling;
    const int symbol = f->directions ? f->directions[pair->direction].symbol : -1;
    bool is_empty = false;
    *is_long = false;
    if (f->options.max_answer > 0)
        return encode_question(f, s, at, pair, is_long);
    if (f->options.vectors) {
        s->vectors[at] =
            hd_vector_sequence(f->options.vectors, f->options.frames, f->corpus, drawn.index);
        *is_long = s->vectors[at].n_frames > f->options.max_frames;
    }
    for (int side = 0; side < 2; side++) {
        s->length[2 * at + side] = 0;
        if (!vocab[side])
            continue;
        const bool with_end = hd_vocab_end(vocab[side]) >= 0,
                   with_symbol = side == 0 && symbol >= 0;
        struct hd_rng rng = {f->options.seed,
                             stream_of(STREAM_SUBWORDS, drawn.turn, 2 * drawn.index + (size_t)side),
                             0};
        const size_t from = s->ids.n;
        if (with_symbol && !hd_ids_add(&s->ids, symbol, &s->err))
            return false;
        const bool ok =
            sampling > 0
                ? hd_vocab_encode_sampled(vocab[side], text[side], bytes[side], with_end, sampling,
                                          &rng, &s->ids, &s->err)
                : hd_vocab_encode(vocab[side], text[side], bytes[side], with_end, &s->ids, &s->err);
        if (!ok)
            return false;
        s->length[2 * at + side] = (int)(s->ids.n - from);
        const int n_ids = s->length[2 * at + side] - with_end;
        *is_long = *is_long || n_ids > f->options.max_length;
        is_empty = is_empty || n_ids == with_symbol;
    }
    if (*is_long || is_empty)
        s->ids.n = before;
    return !*is_long && !is_empty && link_tokens(f, s, at, pair, symbol >= 0);
}

/* Encode a pair as it is varied; as it is, where that is too long. */
static bool encode(const struct hd_feed *f, struct slice *s, int at, struct drawn drawn)
{
    const struct hd_text_pair pair = pair_at(f, drawn.index);
    bool is_long;
    if (hd_vary_is_on(&f->options.vary)) {
        struct partner_of of = {f, pair.direction};
        const struct hd_vary_partner partner = {draw_partner, &of};
        const struct hd_rng rng = {f->options.seed,
                                   stream_of(STREAM_VARIATION, drawn.turn, drawn.index), 0};
        if (!hd_vary(&s->varied, pair, &f->options.vary, &partner, &rng, &s->err))
            return false;
        const struct hd_text_pair varied = hd_varied_pair(&s->varied);
        if (encode_pair(f, s, at, drawn, &varied, &is_long))
            return true;
        if (hd_failed(&s->err))
            return false;
    }
    if (encode_pair(f, s, at, drawn, &pair, &is_long))
        return true;
    s->n_long += is_long;
    s->n_empty += !is_long;
    s->length[2 * at] = -1;
    return !hd_failed(&s->err);
}

static void encode_slice(void *context, int index, int worker)
{
    struct hd_feed *f = context;
    struct slice *s = &f->slices[index];
    (void)worker;
    s->ids.n = s->n_links = 0;
    s->n_long = s->n_empty = 0;
    s->err = (heed_error){0};
    for (size_t i = (size_t)index * SLICE; i < f->size && i < ((size_t)index + 1) * SLICE; i++)
        if (!encode(f, s, (int)(i % SLICE), draw(f, f->first + i)))
            return;
}

/* The pairs of a slice, behind pairs[n]; returns the new n. */
static int collect(const struct slice *s, const struct hd_feed_options *options, int n_in_slice,
                   struct hd_pair_ids *pairs, int n)
{
    const int *ids = s->ids.at;
    const struct hd_token_link *links = s->links;
    for (int i = 0; i < n_in_slice; i++) {
        const int n_source = s->length[2 * i], n_target = s->length[2 * i + 1];
        if (n_source < 0)
            continue;
        pairs[n++] = (struct hd_pair_ids){.source = {.ids = ids, .n = n_source},
                                          .target = {.ids = ids + n_source, .n = n_target},
                                          .links = {links, s->n_pair_links[i]}};
        if (options->vectors)
            pairs[n - 1].source = s->vectors[i];
        if (options->max_answer > 0)
            pairs[n - 1] = hd_question_ids(ids, &s->questions[i]);
        ids += n_source + n_target +
               (options->max_answer > 0 ? n_source * HD_N_KEYS : 0); /* keys as well */
        links += links ? s->n_pair_links[i] : 0;
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

/* What of a pair fills a batch. */
static int counted(const struct hd_feed *f, const struct hd_pair_ids *pair)
{
    const struct hd_feed_options *o = &f->options;
    const int n = o->counts_source ? pair->source.n + pair->source.n_question : pair->target.n;
    if (!o->vectors)
        return n;
    const long long by_frames =
        ((long long)pair->source.n_frames * o->tokens + o->batch_frames - 1) / o->batch_frames;
    return by_frames > n ? (int)by_frames : n;
}

/* Cut the sorted pairs into batches of even numbers of tokens, and order them at random. */
static bool cut(struct hd_feed *f, heed_error *err)
{
    long long total = 0, done = 0;
    for (int i = 0; i < f->n; i++)
        total += counted(f, &f->pairs[i]);
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
        done += counted(f, &f->pairs[i]);
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
        f->n = collect(s, &f->options, (int)(left < SLICE ? left : SLICE), f->pairs, f->n);
        f->counts.n_long += is_counted ? s->n_long : 0;
        f->counts.n_empty += is_counted ? s->n_empty : 0;
    }
    f->counts.n_pairs += is_counted ? f->size : 0;
    merge_sort(f->pairs, f->pairs + POOL, f->n);
    const bool ok = cut(f, err);
    f->epoch = ok ? epoch : -1;
    return ok;
}

/* ---- several languages --------------------------------------------------------------------------- */

/* How many pairs of each direction an epoch has: all of them together as many as there are. */
static bool share_out(struct hd_feed *f, heed_error *err)
{
    const double power = f->options.temperature > 0 ? 1 / (double)f->options.temperature : 1;
    double sum = 0, share = 0;
    double *weights = hd_alloc((size_t)f->n_directions, sizeof *weights, err);
    if (!weights)
        return false;
    for (int i = 0; i < f->n_directions; i++) {
        const double n = (double)f->directions[i].n;
        weights[i] = power == 1 ? n : n > 0 ? hd_real_exp(power * hd_real_log(n)) : 0;
        sum += weights[i];
    }
    size_t start = 0;
    for (int i = 0; i < f->n_directions; i++) {
        share += weights[i];
        const size_t end = i + 1 == f->n_directions
                               ? f->n_pairs
                               : (size_t)(share / sum * (double)f->n_pairs + 0.5);
        f->directions[i].start = start;
        f->directions[i].per_epoch = end - start;
        start = end;
    }
    hd_free(weights);
    return true;
}

/* Which pairs are of which direction. */
static bool sort_directions(struct hd_feed *f, heed_error *err)
{
    const int n = f->n_directions = hd_corpus_n_directions(f->corpus);
    if (n == 0)
        return true;
    f->directions = hd_alloc((size_t)n, sizeof *f->directions, err);
    if (!f->directions)
        return false;
    for (int i = 0; i < n; i++)
        f->directions[i].symbol =
            hd_vocab_language(f->source, hd_corpus_direction(f->corpus, i)->to);
    if (n == 1)
        return true;
    f->members = hd_alloc(f->n_pairs, sizeof *f->members, err);
    if (!f->members)
        return false;
    for (size_t i = 0; i < f->n_pairs; i++)
        f->directions[hd_corpus_pair(f->corpus, in_corpus(f, i)).direction].n++;
    for (int i = 1; i < n; i++)
        f->directions[i].first = f->directions[i - 1].first + f->directions[i - 1].n;
    for (int i = 0; i < n; i++)
        f->directions[i].n = 0;
    for (size_t i = 0; i < f->n_pairs; i++) {
        struct direction *d = &f->directions[hd_corpus_pair(f->corpus, in_corpus(f, i)).direction];
        f->members[d->first + d->n++] = in_corpus(f, i);
    }
    return share_out(f, err);
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
    if (f->slices && f->pairs && sort_directions(f, err))
        return f;
    hd_feed_free(f);
    return NULL;
}

void hd_feed_free(struct hd_feed *f)
{
    if (!f)
        return;
    for (int i = 0; f->slices && i < N_SLICES; i++) {
        hd_ids_release(&f->slices[i].ids);
        hd_free(f->slices[i].links);
        hd_free(f->slices[i].words);
        hd_varied_release(&f->slices[i].varied);
    }
    hd_free(f->slices);
    hd_free(f->pairs);
    hd_free(f->start);
    hd_free(f->order);
    hd_free(f->directions);
    hd_free(f->members);
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
                    "empty; raise --max-length%s",
                    f->options.max_length, f->options.vectors ? " or --max-frames" : "");
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
