/* sample.c -- text cut into subwords at random.
 *
 * Both kinds work on the normalised text, which SentencePiece makes, and end in pieces from left to
 * right. A character that no piece covers is unknown; as in SentencePiece, unknown ones that stand
 * together are one id, or are spelled in bytes by models that have pieces for them. */
#include "text/sample.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/utf8.h"
#include "text/lines.h"
#include "text/piece_tree.h"
#include "text/sentencepiece.h"

#include <math.h>

/* The ids to be, from left to right. */
struct output {
    const struct hd_piece_tree *tree;
    struct hd_ids *ids;
    int unknown;
    bool is_after_unknown;
};

/* Append the piece `id`, or, if that is -1, the unknown text[0..n). */
static bool put_piece(struct output *out, int id, const char *text, size_t n, heed_error *err)
{
    const bool is_unknown = id < 0;
    if (is_unknown && out->tree->has_bytes) {
        for (size_t i = 0; i < n; i++)
            if (!hd_ids_add(out->ids, out->tree->byte_ids[(unsigned char)text[i]], err))
                return false;
        return true;
    }
    const bool is_more_of_it = is_unknown && out->is_after_unknown;
    out->is_after_unknown = is_unknown;
    return is_more_of_it || hd_ids_add(out->ids, is_unknown ? out->unknown : id, err);
}

static size_t character_length(struct hd_text text, size_t at)
{
    const int n = hd_utf8_decode(text.at + at, text.n - at, NULL);
    return n > 0 ? (size_t)n : 1;
}

/* ---- unigram models -------------------------------------------------------------------------- */

/* A piece that may come next. */
struct edge {
    size_t end; /* where it ends in the text */
    int id;     /* -1 is unknown */
    double log_weight;
};

enum { MOST_EDGES = 512 }; /* pieces that begin with one another; more are passed over */

/* All pieces that begin at `at`, shortest first; scores as SentencePiece has them: a piece defined
 * by the user is worth its length in the best pieces, an unknown character less than anything. */
static int edges_at(const struct hd_piece_tree *tree, struct hd_text text, size_t at, double alpha,
                    struct edge edges[MOST_EDGES])
{
    const size_t one = character_length(text, at);
    bool has_one = false;
    int n = 0;
    uint32_t node = 0;
    for (size_t end = at; end < text.n && n < MOST_EDGES - 1;) {
        node = hd_piece_step(tree, node, text.at[end++]);
        if (node == 0)
            break;
        const struct hd_piece_node *piece = &tree->nodes[node];
        if (piece->id < 0)
            continue;
        has_one = has_one || end - at == one;
        double score = piece->score;
        if (piece->is_user_defined)
            score = (double)hd_utf8_count(text.at + at, end - at) * tree->highest - 0.1;
        edges[n++] = (struct edge){end, piece->id, alpha * score};
    }
    if (!has_one)
        edges[n++] = (struct edge){at + one, -1, alpha * (tree->lowest - 10.0)};
    return n;
}

/* Backward: after[i] = log of the sum, over all segmentations of what follows place i, of their
 * weights; forward: draw each piece with its share of that sum (Kudo 2018, section 3.2, run the
 * other way round so that ids come out in order and edges need not be kept). */
static bool draw_unigram(struct output *out, struct hd_text text, float rate, struct hd_rng *rng,
                         heed_error *err)
{
    const double alpha = (1.0 - (double)rate) / (50.0 * (double)rate);
    struct edge edges[MOST_EDGES];
    double *after = hd_alloc(text.n + 1, sizeof *after, err);
    if (!after)
        return false;
    for (size_t at = text.n; at-- > 0;) {
        if (((unsigned char)text.at[at] & 0xC0) == 0x80) /* inside a character */
            continue;
        const int n = edges_at(out->tree, text, at, alpha, edges);
        double most = -INFINITY, sum = 0;
        for (int i = 0; i < n; i++) {
            edges[i].log_weight += after[edges[i].end];
            most = edges[i].log_weight > most ? edges[i].log_weight : most;
        }
        for (int i = 0; i < n; i++)
            sum += hd_real_exp(edges[i].log_weight - most);
        after[at] = n == 1 ? most : most + hd_real_log(sum);
    }
    bool ok = true;
    for (size_t at = 0; ok && at < text.n;) {
        const int n = edges_at(out->tree, text, at, alpha, edges);
        double left = 0x1p-32 * hd_rng_u32(rng);
        int i = 0;
        for (; i < n - 1; i++) {
            left -= hd_real_exp(edges[i].log_weight + after[edges[i].end] - after[at]);
            if (left < 0)
                break;
        }
        ok = put_piece(out, edges[i].id, text.at + at, edges[i].end - at, err);
        at = edges[i].end;
    }
    hd_free(after);
    return ok;
}

/* ---- BPE models ------------------------------------------------------------------------------ */

/* A piece of the text that may still grow; merged into its left neighbour, it has no bytes. */
struct symbol {
    uint32_t begin, n;
    uint32_t before, next; /* neighbours; NONE at the ends */
    uint32_t node;         /* of the tree, 0 when no piece begins so */
    bool is_frozen;        /* defined by the user: takes no part in merges */
};

#define NONE UINT32_MAX

/* Two neighbours that make a piece together, as long as they are what they were. */
struct merge {
    float score;
    uint32_t left, n; /* the left symbol, and the bytes of both */
};

/* A heap of merges: the best score first, then the leftmost. There is room for all there can be: one
 * per symbol at first, and two new ones with each that is made. */
struct merges {
    struct merge *at;
    size_t n;
};

static bool comes_before(const struct merge *a, const struct merge *b)
{
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static void push(struct merges *heap, struct merge merge)
{
    struct merge *at = heap->at;
    size_t i = heap->n++;
    for (; i > 0 && comes_before(&merge, &at[(i - 1) / 2]); i = (i - 1) / 2)
        at[i] = at[(i - 1) / 2];
    at[i] = merge;
}

static struct merge pop(struct merges *heap)
{
    struct merge *at = heap->at;
    const struct merge best = at[0], last = at[--heap->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
        if (child + 1 < heap->n && comes_before(&at[child + 1], &at[child]))
            child++;
        if (!comes_before(&at[child], &last))
            break;
        at[i] = at[child];
    }
    at[i] = last;
    return best;
}

static uint32_t walk(const struct hd_piece_tree *tree, uint32_t node, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        node = hd_piece_step(tree, node, text[i]);
        if (node == 0)
            break;
    }
    return node;
}

/* Bytes of the longest piece defined by the user at the start of the text, 0 for none. */
static size_t user_defined_length(const struct hd_piece_tree *tree, struct hd_text text)
{
    size_t length = 0;
    uint32_t node = 0;
    for (size_t n = 0; tree->has_user_defined && n < text.n;) {
        node = hd_piece_step(tree, node, text.at[n++]);
        if (node == 0)
            break;
        if (tree->nodes[node].is_user_defined)
            length = n;
    }
    return length;
}

/* The single characters; returns how many symbols there are. */
static uint32_t cut_symbols(const struct hd_piece_tree *tree, struct hd_text text,
                            struct symbol *symbols)
{
    uint32_t n = 0;
    for (size_t at = 0; at < text.n; n++) {
        const size_t frozen =
            user_defined_length(tree, (struct hd_text){text.at + at, text.n - at});
        const size_t length = frozen > 0 ? frozen : character_length(text, at);
        symbols[n] = (struct symbol){.begin = (uint32_t)at,
                                     .n = (uint32_t)length,
                                     .before = n - 1, /* NONE before the first */
                                     .next = n + 1,
                                     .node = walk(tree, 0, text.at + at, length),
                                     .is_frozen = frozen > 0};
        at += length;
    }
    if (n > 0)
        symbols[n - 1].next = NONE;
    return n;
}

/* Note that `left` and its neighbour can be merged, if they can. */
static void offer(const struct hd_piece_tree *tree, struct hd_text text,
                  const struct symbol *symbols, uint32_t left, struct merges *heap)
{
    if (left == NONE || symbols[left].next == NONE)
        return;
    const struct symbol *a = &symbols[left], *b = &symbols[a->next];
    if (a->is_frozen || b->is_frozen || a->node == 0)
        return;
    const uint32_t node = walk(tree, a->node, text.at + b->begin, b->n);
    if (node > 0 && tree->nodes[node].id >= 0)
        push(heap, (struct merge){tree->nodes[node].score, left, a->n + b->n});
}

static void merge_symbols(const struct hd_piece_tree *tree, struct hd_text text,
                          struct symbol *symbols, uint32_t n, struct merges *heap, float rate,
                          struct hd_rng *rng)
{
    for (uint32_t i = 0; i < n; i++)
        offer(tree, text, symbols, i, heap);
    while (heap->n > 0) {
        const struct merge merge = pop(heap);
        struct symbol *a = &symbols[merge.left];
        if (a->n == 0 || a->next == NONE || a->n + symbols[a->next].n != merge.n)
            continue; /* one of them has grown meanwhile */
        if (hd_rng_uniform(rng) < rate)
            continue;
        struct symbol *b = &symbols[a->next];
        a->node = walk(tree, a->node, text.at + b->begin, b->n);
        a->n = merge.n;
        a->next = b->next;
        b->n = 0;
        if (a->next != NONE)
            symbols[a->next].before = merge.left;
        offer(tree, text, symbols, a->before, heap);
        offer(tree, text, symbols, merge.left, heap);
    }
}

static bool draw_bpe(struct output *out, struct hd_text text, float rate, struct hd_rng *rng,
                     heed_error *err)
{
    struct symbol *symbols = hd_alloc(text.n, sizeof *symbols, err);
    struct merges heap = {.at = hd_alloc(3 * text.n, sizeof *heap.at, err)};
    bool ok = symbols && heap.at;
    const uint32_t n = ok ? cut_symbols(out->tree, text, symbols) : 0;
    merge_symbols(out->tree, text, symbols, n, &heap, rate, rng);
    for (uint32_t i = n > 0 ? 0 : NONE; ok && i != NONE; i = symbols[i].next) {
        const int id = symbols[i].node > 0 ? out->tree->nodes[symbols[i].node].id : -1;
        ok = put_piece(out, id, text.at + symbols[i].begin, symbols[i].n, err);
    }
    hd_free(heap.at);
    hd_free(symbols);
    return ok;
}

/* ---- all kinds ------------------------------------------------------------------------------- */

/* The drawn ids of the text, without an end marker. */
static bool draw(const struct hd_vocab *vocab, const struct hd_piece_tree *tree, const char *text,
                 size_t n_bytes, float rate, struct hd_rng *rng, struct hd_ids *ids,
                 heed_error *err)
{
    size_t n;
    char *normal = hd_vocab_normalise(vocab, text, n_bytes, &n, err);
    if (!normal)
        return false;
    const size_t from = ids->n;
    struct output out = {tree, ids, hd_spm_unknown(hd_vocab_spm(vocab)), false};
    const bool ok =
        (n < NONE / 2 || hd_fail(err, HEED_BAD_TEXT, "the text is too long")) &&
        (tree->is_bpe ? draw_bpe : draw_unigram)(&out, (struct hd_text){normal, n}, rate, rng, err);
    for (size_t i = from; ok && i < ids->n; i++)
        ids->at[i] = hd_vocab_of_spm(vocab, ids->at[i]);
    hd_free(normal);
    return ok;
}

bool hd_vocab_encode_sampled(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                             bool with_end, float rate, struct hd_rng *rng, struct hd_ids *ids,
                             heed_error *err)
{
    if (!(rate >= 0 && rate <= 1))
        return hd_fail(err, HEED_BAD_OPTION,
                       "the rate of subword sampling is %g; it lies between 0 and 1", (double)rate);
    if (rate == 0 || !hd_vocab_spm(vocab))
        return hd_vocab_encode(vocab, text, n_bytes, with_end, ids, err);
    const struct hd_piece_tree *tree = hd_vocab_tree(vocab, err);
    if (!tree)
        return false;
    if (tree->is_other)
        return hd_vocab_encode(vocab, text, n_bytes, with_end, ids, err);
    if (!hd_vocab_can_encode(vocab, text, n_bytes, with_end, err))
        return false;
    const size_t n_before = ids->n;
    const bool ok = draw(vocab, tree, text, n_bytes, rate, rng, ids, err) &&
                    (!with_end || hd_ids_add(ids, hd_vocab_end(vocab), err));
    if (!ok)
        ids->n = n_before;
    return ok;
}
