/* both_ways.c -- the two directions of a sentence pair, and what is counted of them. */
#include "align/both_ways.h"

#include "align/align_tokens.h"
#include "base/memory.h"

static const float P_NONE = 0.1F;  /* that a token is made by none of the other language */
static const float FLOOR = 1e-7F;  /* of tokens that were never seen together */
static const float STRANGE = 0.1F; /* of two that were not seen at all: names, as a rule */

void hd_both_ways_release(struct hd_both_ways *both)
{
    hd_free(both->memory);
    hd_free(both->found);
    hd_hmm_room_release(&both->hmm);
    *both = (struct hd_both_ways){0};
}

static bool make_room(struct hd_both_ways *b, int n_source, int n_target, heed_error *err)
{
    const size_t n = (size_t)n_source, m = (size_t)n_target, cells = n * m;
    float *memory = hd_grow(b->memory, &b->capacity, 4 * cells + n + m, sizeof *memory, err);
    if (!memory)
        return false;
    b->memory = memory;
    int64_t *found = hd_grow(b->found, &b->found_capacity, (n + 1) * (m + 1), sizeof *found, err);
    if (!found)
        return false;
    b->found = found;
    b->make[0] = memory;
    b->make[1] = b->make[0] + cells;
    b->share[0] = b->make[1] + cells;
    b->share[1] = b->share[0] + cells;
    b->none[0] = b->share[1] + cells;
    b->none[1] = b->none[0] + m;
    return true;
}

/* ---- looking --------------------------------------------------------------------------------------- */

static float p_of(const struct hd_pair_table *t, int64_t found, int direction)
{
    return found >= 0 ? t->at[found].p[direction] + FLOOR : FLOOR;
}

/* Probabilities of all pairs of tokens, in both directions. */
static void look_up(struct hd_both_ways *b, const struct hd_pair_table *t,
                    const struct hd_id_pair *p)
{
    const size_t n = (size_t)p->n_source, m = (size_t)p->n_target;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            const uint32_t source = i < n ? p->source[i] : HD_NO_TOKEN,
                           target = j < m ? p->target[j] : HD_NO_TOKEN;
            const int64_t found = hd_pair_table_find(t, source, target);
            b->found[i * (m + 1) + j] = found;
            if (i < n && j < m) {
                const bool is_strange = source == HD_UNKNOWN_TOKEN && target == HD_UNKNOWN_TOKEN;
                b->make[0][j * n + i] = is_strange ? STRANGE : p_of(t, found, 0);
                b->make[1][i * m + j] = is_strange ? STRANGE : p_of(t, found, 1);
            } else if (j < m)
                b->none[0][j] = p_of(t, found, 0);
            else if (i < n)
                b->none[1][i] = p_of(t, found, 1);
        }
}

/* Without order: each token by itself. */
static void weigh_words(float *share, const float *make, const float *none, int n, int n_made)
{
    const float each = (1 - P_NONE) / (float)n;
    for (int j = 0; j < n_made; j++, share += n, make += n) {
        float sum = P_NONE * none[j];
        for (int i = 0; i < n; i++)
            sum += each * make[i];
        for (int i = 0; i < n; i++)
            share[i] = each * make[i] / sum;
    }
}

bool hd_both_ways_look(struct hd_both_ways *b, const struct hd_align_model *model,
                       const struct hd_id_pair *p, enum hd_align_stage stage,
                       uint64_t (*jumps)[HD_N_JUMPS], heed_error *err)
{
    if (!make_room(b, p->n_source, p->n_target, err))
        return false;
    look_up(b, &model->table, p);
    for (int d = 0; d < 2; d++) {
        const int n = d ? p->n_target : p->n_source, n_made = d ? p->n_source : p->n_target;
        const struct hd_hmm hmm = {.n_states = n,
                                   .n_made = n_made,
                                   .make = b->make[d],
                                   .none = b->none[d],
                                   .p_none = P_NONE,
                                   .jumps = &model->jumps[d]};
        if (stage != HD_ALIGN_HMM)
            weigh_words(b->share[d], b->make[d], b->none[d], n, n_made);
        else if (!hd_hmm_shares(&hmm, b->share[d], jumps ? jumps[d] : NULL, &b->hmm, err))
            return false;
    }
    return true;
}

/* ---- counting -------------------------------------------------------------------------------------- */

static void count_none(const struct hd_both_ways *b, struct hd_pair_table *t, int direction, int n,
                       int n_made, size_t first, size_t step)
{
    for (int j = 0; j < n_made; j++) {
        const float *share = b->share[direction] + (size_t)j * (size_t)n;
        float left = 1;
        for (int i = 0; i < n; i++)
            left -= share[i];
        if (left > 0)
            hd_pair_count(&t->at[b->found[first + (size_t)j * step]], direction, left);
    }
}

void hd_both_ways_count(const struct hd_both_ways *b, struct hd_align_model *model,
                        const struct hd_id_pair *p, enum hd_align_stage stage)
{
    struct hd_pair_table *t = &model->table;
    const size_t n = (size_t)p->n_source, m = (size_t)p->n_target;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            struct hd_token_pair *pair = &t->at[b->found[i * (m + 1) + j]];
            const float there = b->share[0][j * n + i], back = b->share[1][i * m + j];
            const float both = there * back;
            hd_pair_count(pair, 0, stage == HD_ALIGN_FIRST ? there : both);
            hd_pair_count(pair, 1, stage == HD_ALIGN_FIRST ? back : both);
        }
    count_none(b, t, 0, p->n_source, p->n_target, n * (m + 1), 1);
    count_none(b, t, 1, p->n_target, p->n_source, m, m + 1);
}
