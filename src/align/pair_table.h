/* pair_table.h -- which tokens of two languages stand in one sentence pair, and how likely each is the other's translation.
 *
 * Counts are whole numbers, 2^32 to one, so that threads add to them in any order and come to the same sum. */
#ifndef HD_ALIGN_PAIR_TABLE_H
#define HD_ALIGN_PAIR_TABLE_H

#include <heed.h>
#include <stdint.h>

/* Stands for "no token": what a word without a counterpart comes from. */
enum { HD_NO_TOKEN = UINT32_MAX - 1 };

/* Direction 0: the source token makes the target token; 1: the other way round. */
struct hd_token_pair {
    uint32_t source, target;
    float p[2];
    uint64_t count[2];
};

/* {0} is empty. */
struct hd_pair_table {
    struct hd_token_pair *at; /* at[0..n) in order of appearance */
    size_t n, capacity;
    uint32_t *slots; /* hash table: a number and 1, 0 for an empty slot; a power of two of them */
    size_t n_slots;
};

void hd_pair_table_release(struct hd_pair_table *table);

/* Add a pair unless it is there. False without memory. */
bool hd_pair_table_add(struct hd_pair_table *table, uint32_t source, uint32_t target,
                       heed_error *err);

/* Its number; -1 when it is not there. */
int64_t hd_pair_table_find(const struct hd_pair_table *table, uint32_t source, uint32_t target);

/* From counts to probabilities, by mean-field variational Bayes (Riley & Gildea, 2012): p ∝ exp(ψ(count + alpha)), which is hard on
 * pairs that were seen little. Counts become 0. The numbers of tokens of both languages are given. */
bool hd_pair_table_estimate(struct hd_pair_table *table, size_t n_source, size_t n_target,
                            double alpha, heed_error *err);

/* Add to a count, from any thread. */
static inline void hd_pair_count(struct hd_token_pair *pair, int direction, float share)
{
    __atomic_fetch_add(&pair->count[direction], (uint64_t)(share * 0x1p32F), __ATOMIC_RELAXED);
}

#endif
