/* ngram.c -- n-grams as nodes of a tree; a hash table leads from (parent, symbol) to the node.
 *
 * Going from one n-gram to the next longer one is one look-up, whatever their length, and comparing n-grams is
 * comparing numbers. Invariant: at[i].slot is where slots has i, and half of the slots at least are empty. */
#include "text/ngram.h"

#include "base/error.h"
#include "base/memory.h"

static size_t hash(uint32_t parent, uint32_t symbol)
{
    uint64_t h = parent * UINT64_C(0x9E3779B97F4A7C15) + symbol;
    h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (size_t)(h ^ h >> 32);
}

/* The slot where this n-gram is, or where it belongs. */
static uint32_t slot_of(const struct hd_ngrams *ngrams, uint32_t parent, uint32_t symbol)
{
    size_t slot = hash(parent, symbol) & (ngrams->n_slots - 1);
    for (uint32_t i; (i = ngrams->slots[slot]) != 0; slot = (slot + 1) & (ngrams->n_slots - 1))
        if (ngrams->at[i].parent == parent && ngrams->at[i].symbol == symbol)
            break;
    return (uint32_t)slot;
}

/* Room for one more node. */
static bool make_room(struct hd_ngrams *ngrams, heed_error *err)
{
    if (ngrams->n >= INT32_MAX / 4)
        return hd_fail(err, HEED_BAD_TEXT,
                       "a sentence is too long to be scored, it has more than %d n-grams; is it "
                       "one line?",
                       INT32_MAX / 4);
    struct hd_ngram *nodes =
        hd_grow(ngrams->at, &ngrams->capacity, ngrams->n + 2, sizeof *nodes, err);
    if (!nodes)
        return false;
    ngrams->at = nodes;
    if (2 * (ngrams->n + 1) <= ngrams->n_slots)
        return true;
    const size_t n_slots = ngrams->n_slots > 0 ? 4 * ngrams->n_slots : 1024;
    uint32_t *slots = hd_alloc(n_slots, sizeof *slots, err);
    if (!slots)
        return false;
    hd_free(ngrams->slots);
    ngrams->slots = slots;
    ngrams->n_slots = n_slots;
    for (uint32_t i = 1; i <= ngrams->n; i++) {
        nodes[i].slot = slot_of(ngrams, nodes[i].parent, nodes[i].symbol);
        slots[nodes[i].slot] = i;
    }
    return true;
}

uint32_t hd_ngrams_find(struct hd_ngrams *ngrams, uint32_t parent, uint32_t symbol, heed_error *err)
{
    if (ngrams->n > 0) {
        const uint32_t found = ngrams->slots[slot_of(ngrams, parent, symbol)];
        if (found > 0)
            return found;
    }
    if (!make_room(ngrams, err))
        return 0;
    const uint32_t slot = slot_of(ngrams, parent, symbol);
    const uint32_t node = (uint32_t)++ngrams->n;
    ngrams->slots[slot] = node;
    ngrams->at[node] = (struct hd_ngram){
        .parent = parent, .symbol = symbol, .order = ngrams->at[parent].order + 1, .slot = slot};
    return node;
}

uint32_t hd_ngrams_find_all(struct hd_ngrams *ngrams, const uint32_t *symbols, size_t n,
                            heed_error *err)
{
    uint32_t node = 0;
    for (size_t i = 0; i < n && (i == 0 || node > 0); i++)
        node = hd_ngrams_find(ngrams, node, symbols[i], err);
    return node;
}

bool hd_ngrams_count(struct hd_ngrams *ngrams, const uint32_t *symbols, size_t n, int max_order,
                     enum hd_side side, heed_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const size_t longest = n - i < (size_t)max_order ? n - i : (size_t)max_order;
        uint32_t node = 0;
        for (size_t k = 0; k < longest; k++) {
            node = hd_ngrams_find(ngrams, node, symbols[i + k], err);
            if (node == 0)
                return false;
            if (side == HD_HYP)
                ngrams->at[node].n_hyp++;
            else
                ngrams->at[node].n_ref++;
        }
    }
    return true;
}

void hd_ngrams_end_ref(struct hd_ngrams *ngrams)
{
    for (size_t i = 1; i <= ngrams->n; i++) {
        struct hd_ngram *node = &ngrams->at[i];
        if (node->n_ref > node->n_most)
            node->n_most = node->n_ref;
        node->n_ref = 0;
    }
}

void hd_ngrams_clear(struct hd_ngrams *ngrams)
{
    for (size_t i = 1; i <= ngrams->n; i++)
        ngrams->slots[ngrams->at[i].slot] = 0;
    ngrams->n = 0;
}

void hd_ngrams_release(struct hd_ngrams *ngrams)
{
    hd_free(ngrams->at);
    hd_free(ngrams->slots);
    *ngrams = (struct hd_ngrams){0};
}
