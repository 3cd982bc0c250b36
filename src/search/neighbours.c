/* neighbours.c -- distances to remembered steps, and what they change.
 *
 * Only the words of the nearest steps become likelier; all others become less likely by the same factor, so nothing else of the
 * vocabulary is touched. */
#include "search/neighbours.h"

#include "base/memory.h"
#include "base/real.h"

#include <math.h>

bool hd_neighbours_prepare(struct hd_neighbours *q, heed_error *err)
{
    const struct hd_kernels *k = hd_kernels_chosen(err);
    const int width = q->n_sentences > 0 ? q->sentences[0]->width : 0;
    float *mean = k ? hd_alloc((size_t)width, sizeof *mean, err) : NULL;
    double sum = 0;
    long n = 0;
    for (int s = 0; mean && s < q->n_sentences; s++) {
        const struct hd_steps *steps = q->sentences[s];
        k->sum_rows(mean, steps->states, width, steps->n, width);
        for (int i = 0; i < steps->n; i++)
            sum += steps->square[i];
        n += steps->n;
    }
    if (mean && n > 0) {
        k->scale(mean, 1 / (float)n, mean, width);
        q->variance = sum / (double)n - k->sum_squares(mean, width);
        if (!(q->variance > 1e-6 * sum / (double)n)) /* of a single step */
            q->variance = sum / (double)n;
    }
    const bool ok = mean != NULL;
    hd_free(mean);
    return ok;
}

/* ---- the nearest -------------------------------------------------------------------------------------------- */

struct near_step {
    double distance;
    int word;
};

/* |a - b|², which is not exact: near 0 it may be a little below. */
static double distance_to(const struct hd_steps *steps, int i, const struct hd_kernels *k,
                          const float *const *states, const int *widths, int n_nets, double square)
{
    const float *key = steps->states + (size_t)i * (size_t)steps->width;
    double product = 0;
    for (int m = 0; m < n_nets; key += widths[m++])
        product += (double)k->dot(states[m], key, widths[m]);
    const double distance = square + steps->square[i] - 2 * product;
    return distance > 0 ? distance : 0;
}

/* The k nearest, nearest first, of equal ones the first; how many. */
static int find_nearest(const struct hd_neighbours *q, const struct hd_kernels *k,
                        const float *const *states, const int *widths, int n_nets,
                        struct near_step *nearest)
{
    int n = 0;
    double square = 0;
    for (int m = 0; m < n_nets; m++)
        square += k->sum_squares(states[m], widths[m]);
    for (int s = 0; s < q->n_sentences; s++)
        for (int i = 0; i < q->sentences[s]->n; i++) {
            const struct hd_steps *steps = q->sentences[s];
            if (steps->next[i] == q->unknown)
                continue;
            const struct near_step one = {distance_to(steps, i, k, states, widths, n_nets, square) /
                                              q->variance,
                                          steps->next[i]};
            if (n == q->k && !(one.distance < nearest[n - 1].distance))
                continue;
            int at = n < q->k ? n++ : n - 1;
            for (; at > 0 && one.distance < nearest[at - 1].distance; at--)
                nearest[at] = nearest[at - 1];
            nearest[at] = one;
        }
    return n;
}

/* ---- what they say -------------------------------------------------------------------------------------------- */

/* Each word once, with the share of all of the k that say it, in the place of `distance`; how many. */
static int sum_words(struct near_step *nearest, int n, double temperature)
{
    double weight[HD_MOST_NEIGHBOURS], sum = 0;
    const double first = nearest[0].distance;
    int n_words = 0;
    for (int i = 0; i < n; i++) {
        weight[i] = hd_real_exp((first - nearest[i].distance) / temperature);
        sum += weight[i];
    }
    for (int i = 0; i < n; i++) {
        int w = 0;
        while (w < n_words && nearest[w].word != nearest[i].word)
            w++;
        const double before = w < n_words ? nearest[w].distance : 0;
        n_words += w == n_words;
        nearest[w] = (struct near_step){before + weight[i] / sum, nearest[i].word};
    }
    return n_words;
}

/* A word whose score has risen, among the likeliest: of equal ones the lower id. */
static void raise_word(struct hd_next_scores *o, int *top, float *value, int word, float x)
{
    int at = 0;
    while (at < o->n_top && top[at] != word)
        at++;
    at = at < o->n_top ? at : o->n_top; /* where it stands, or behind all */
    for (; at > 0 && (x > value[at - 1] || (x == value[at - 1] && word < top[at - 1])); at--)
        if (at < o->n_top) {
            top[at] = top[at - 1];
            value[at] = value[at - 1];
        }
    if (at < o->n_top) {
        top[at] = word;
        value[at] = x;
    }
}

void hd_neighbours_mix(const struct hd_neighbours *neighbours, const struct hd_kernels *k,
                       const float *const *states, const int *widths, int n_nets,
                       struct hd_next_scores *scores, int *top, float *top_value)
{
    struct near_step nearest[HD_MOST_NEIGHBOURS] = {{0, 0}};
    const int n = find_nearest(neighbours, k, states, widths, n_nets, nearest);
    const double near = n > 0 ? 1 - nearest[0].distance / neighbours->reach : 0,
                 share = neighbours->share * near;
    if (!(near > 0) || !isfinite(scores->largest) || !isfinite(scores->log_sum))
        return;
    const int n_words = sum_words(nearest, n, neighbours->temperature);
    const double kept = hd_real_log(1 - share), log_sum = (double)scores->log_sum;
    for (int i = 0; i < n_words; i++) {
        const int w = nearest[i].word;
        const double p = hd_real_exp(((double)scores->x[w] - (double)scores->largest) - log_sum),
                     mixed = (1 - share) * p + share * nearest[i].distance;
        scores->x[w] = (float)((double)scores->largest + log_sum - kept + hd_real_log(mixed));
        raise_word(scores, top, top_value, w, scores->x[w]);
    }
    scores->log_sum = (float)(log_sum - kept);
}
