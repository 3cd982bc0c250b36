/* draw.c -- drawing a word instead of searching for the best: temperature, top-k, top-p.
 *
 * What is drawn depends on the seed, the sentence's number, the sample and the step alone. Holtzman et al. (2020) for top-p:
 * the fewest words that are likely enough together. */
#include "search/beam.h"

#include "base/real.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

/* Likelier first, of equal ones the lower id. */
static int by_weight(const void *a, const void *b)
{
    const struct hd_weighted_word *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static double sum_of(const struct hd_weighted_word *room, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += room[i].weight;
    return sum;
}

/* In [0, 1), a multiple of 2^-53. */
static double uniform(uint64_t seed, uint64_t number, int sample, int step)
{
    uint32_t word[4];
    hd_philox(word, seed, (uint64_t)step, number << 20 ^ (uint64_t)sample);
    const uint64_t bits = (uint64_t)word[1] << 32 | word[0];
    return (double)(bits >> 11) * 0x1p-53;
}

int hd_sample_word(const struct hd_next_scores *next, int n_words,
                   const struct hd_search_options *options, uint64_t number, int sample, int step,
                   struct hd_weighted_word *room)
{
    float largest = -INFINITY; /* of what is allowed: the largest of all may be forbidden */
    for (int v = 0; v < n_words; v++)
        largest = next->x[v] > largest ? next->x[v] : largest;
    for (int v = 0; v < n_words; v++)
        room[v] = (struct hd_weighted_word){
            hd_real_exp((double)(next->x[v] - largest) / (double)options->temperature), v};
    int n = n_words;
    if (options->top_k > 0 || options->top_p < 1)
        qsort(room, (size_t)n, sizeof *room, by_weight);
    if (options->top_k > 0 && options->top_k < n)
        n = options->top_k;
    if (options->top_p < 1) {
        const double enough = (double)options->top_p * sum_of(room, n);
        double sum = 0;
        int fewest = 0;
        while (fewest < n && (fewest == 0 || sum < enough))
            sum += room[fewest++].weight;
        n = fewest;
    }
    double left = uniform(options->seed, number, sample, step) * sum_of(room, n);
    int last = 0; /* the last that has a chance, should rounding hyp past all */
    for (int i = 0; i < n; i++) {
        if (room[i].weight > 0)
            last = i;
        if (room[i].weight > 0 && left < room[i].weight)
            return room[i].id;
        left -= room[i].weight;
    }
    return room[last].id;
}
