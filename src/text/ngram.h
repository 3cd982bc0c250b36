/* ngram.h -- n-grams, found and counted.
 *
 * An n-gram is a node of a tree: its parent is the n-gram without the last symbol. Symbols are numbers: characters,
 * or words that were numbered by hd_ngrams_find_all() in a tree of their own, where the number of a word is the node that
 * its letters lead to. A tree serves one sentence and its references, and is cleared for the next. */
#ifndef HD_TEXT_NGRAM_H
#define HD_TEXT_NGRAM_H

#include <heed.h>
#include <stdint.h>

struct hd_ngram {
    uint32_t parent, symbol;
    uint32_t order; /* how many symbols; 0 at the root */
    uint32_t slot;  /* where the hash table has it */
    int64_t n_hyp;  /* how often it is in the hypothesis, */
    int64_t n_ref;  /* in the present reference, */
    int64_t n_most; /* and in the one before that had most of it */
};

/* {0} is an empty tree. */
struct hd_ngrams {
    struct hd_ngram *at; /* at[1..n]; at[0] is the root, the n-gram of no symbols */
    size_t n;
    size_t capacity;
    uint32_t *slots; /* hash table of nodes, 0 for an empty slot; a power of two of them */
    size_t n_slots;
};

enum hd_side { HD_HYP, HD_REF };

/* The node of parent's n-gram and one symbol more, made if it is new. 0 when there is no memory. */
uint32_t hd_ngrams_find(struct hd_ngrams *ngrams, uint32_t parent, uint32_t symbol,
                        heed_error *err);

/* The node of all of symbols[0..n), n > 0. */
uint32_t hd_ngrams_find_all(struct hd_ngrams *ngrams, const uint32_t *symbols, size_t n,
                            heed_error *err);

/* Count the n-grams of symbols[0..n), for every n up to max_order, for the hypothesis or the present reference. */
bool hd_ngrams_count(struct hd_ngrams *ngrams, const uint32_t *symbols, size_t n, int max_order,
                     enum hd_side side, heed_error *err);

/* The present reference is done: its counts go into n_most where they are larger, and n_ref is 0 again. */
void hd_ngrams_end_ref(struct hd_ngrams *ngrams);

/* Forget all n-grams; keep the memory. */
void hd_ngrams_clear(struct hd_ngrams *ngrams);

/* Leaves {0}. */
void hd_ngrams_release(struct hd_ngrams *ngrams);

#endif
