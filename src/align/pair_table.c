/* pair_table.c -- pairs of tokens in a hash table, and the estimate of their probabilities. */
#include "align/pair_table.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

void hd_pair_table_release(struct hd_pair_table *t)
{
    hd_free(t->at);
    hd_free(t->slots);
    *t = (struct hd_pair_table){0};
}

/* ---- finding ------------------------------------------------------------------------------------- */

/* The slot of a pair: its own, or the empty one where it belongs. */
static uint32_t *slot_of(const struct hd_pair_table *t, uint32_t source, uint32_t target)
{
    uint64_t hash = ((uint64_t)source << 32 | target) * 0x9E3779B97F4A7C15U;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93U;
    size_t i = (size_t)(hash ^ hash >> 32) & (t->n_slots - 1);
    while (t->slots[i]) {
        const struct hd_token_pair *pair = &t->at[t->slots[i] - 1];
        if (pair->source == source && pair->target == target)
            break;
        i = (i + 1) & (t->n_slots - 1);
    }
    return &t->slots[i];
}

static bool grow_slots(struct hd_pair_table *t, heed_error *err)
{
    const size_t n_slots = t->n_slots ? 2 * t->n_slots : 4096;
    uint32_t *slots = hd_alloc(n_slots, sizeof *slots, err);
    if (!slots)
        return false;
    hd_free(t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    for (size_t i = 0; i < t->n; i++)
        *slot_of(t, t->at[i].source, t->at[i].target) = (uint32_t)i + 1;
    return true;
}

bool hd_pair_table_add(struct hd_pair_table *t, uint32_t source, uint32_t target, heed_error *err)
{
    if (2 * (t->n + 1) > t->n_slots && !grow_slots(t, err))
        return false;
    uint32_t *slot = slot_of(t, source, target);
    if (*slot)
        return true;
    if (t->n >= UINT32_MAX - 1)
        return hd_fail(err, HEED_BAD_TEXT,
                       "the text has more different pairs of words than an aligner can count; "
                       "give it a part of the text");
    struct hd_token_pair *at = hd_grow(t->at, &t->capacity, t->n + 1, sizeof *at, err);
    if (!at)
        return false;
    t->at = at;
    at[t->n] = (struct hd_token_pair){source, target, {1, 1}, {0, 0}};
    *slot = (uint32_t)++t->n;
    return true;
}

int64_t hd_pair_table_find(const struct hd_pair_table *t, uint32_t source, uint32_t target)
{
    return t->n_slots ? (int64_t)*slot_of(t, source, target) - 1 : -1;
}

/* ---- estimating ------------------------------------------------------------------------------------ */

/* exp(ψ(x)): about x - 1/2, and far less for a small x. ψ(x) = ψ(x + 1) - 1/x, and for a large one its asymptotic series. */
static double exp_digamma(double x)
{
    double below = 0;
    while (x < 6) {
        below += 1 / x;
        x += 1;
    }
    const double r = 1 / (x * x);
    const double series = r * (1. / 12 - r * (1. / 120 - r * (1. / 252 - r / 240)));
    return hd_real_exp(hd_real_log(x) - 0.5 / x - series - below);
}

static const double ONE = 0x1p32;

/* One direction: `total` has room for a sum for each token that makes others, and one for none. */
static void estimate(struct hd_pair_table *t, int direction, size_t n_makers, size_t n_made,
                     double alpha, uint64_t *total)
{
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t maker = direction ? t->at[i].target : t->at[i].source;
        total[maker < n_makers ? maker : n_makers] += t->at[i].count[direction];
    }
    for (size_t i = 0; i < t->n; i++) {
        struct hd_token_pair *pair = &t->at[i];
        const uint32_t maker = direction ? pair->target : pair->source;
        const double of = (double)total[maker < n_makers ? maker : n_makers] / ONE;
        const double count = (double)pair->count[direction] / ONE;
        pair->p[direction] =
            (float)(exp_digamma(count + alpha) / exp_digamma(of + alpha * (double)n_made));
        pair->count[direction] = 0;
    }
}

bool hd_pair_table_estimate(struct hd_pair_table *t, size_t n_source, size_t n_target, double alpha,
                            heed_error *err)
{
    uint64_t *from_source = hd_alloc(n_source + 1, sizeof *from_source, err);
    uint64_t *from_target = hd_alloc(n_target + 1, sizeof *from_target, err);
    const bool ok = from_source && from_target;
    if (ok) {
        estimate(t, 0, n_source, n_target, alpha, from_source);
        estimate(t, 1, n_target, n_source, alpha, from_target);
    }
    hd_free(from_source);
    hd_free(from_target);
    return ok;
}
