/* search_ctc.c -- CTC beside the attention in a search: one-pass joint decoding, Watanabe et al. (2017), section III-B.
 *
 *     (1 - λ) log p(c | g) + λ (log ψ(g c) - log ψ(g))
 *
 * Attention may skip or say twice what it hears; ψ knows how much of the source a prefix leaves unsaid. Of several nets the mean counts,
 * of those that have CTC. */
#include "base/memory.h"
#include "search/ctc_prefix.h"
#include "search/searcher.h"

#include <string.h>

void hd_ctc_states_release(struct hd_ctc_states *s)
{
    for (size_t i = 0; i < s->n; i++)
        hd_free(s->at[i].prefix);
    hd_free(s->at);
    *s = (struct hd_ctc_states){0};
}

/* Room for a prefix of `size` numbers in a slot. */
static double *prefix_at(struct hd_ctc_states *s, int slot, size_t size, heed_error *err)
{
    const size_t wanted = (size_t)slot + 1;
    if (!HD_HAS_ROOM(s->at, s->capacity, wanted, err))
        return NULL;
    for (; s->n < wanted; s->n++)
        s->at[s->n] = (struct hd_ctc_state){0};
    struct hd_ctc_state *state = &s->at[slot];
    return HD_HAS_ROOM(state->prefix, state->capacity, size, err) ? state->prefix : NULL;
}

/* The slot of the step before; -1 at the first. */
static int slot_before(const struct hd_step_rows *rows, int row)
{
    const int *past = rows->past;
    for (int b = 0; b < row; b++)
        past += rows->length[b];
    return rows->length[row] > 0 ? past[rows->length[row] - 1] : -1;
}

/* What net m's CTC says of the next word of a row; the row's prefix is in its slot from now on. */
static bool ask_ctc(struct hd_searcher *r, int m, int row, double *next, heed_error *err)
{
    const struct hd_step_rows *rows = &r->rows;
    struct hd_ctc_said said = {.width = r->n_words + 1};
    said.y = hd_decoder_ctc(r->decoders[m], rows->entry[row], &said.n);
    const int before = slot_before(rows, row);
    double *prefix = prefix_at(&r->ctc[m], rows->slot[row], hd_ctc_prefix_size(&said), err);
    if (!prefix)
        return false;
    if (before < 0)
        hd_ctc_prefix_begin(prefix, &said);
    else
        hd_ctc_prefix_grow(prefix, r->ctc[m].at[before].prefix, &said, rows->previous[row]);
    hd_ctc_prefix_next(prefix, &said, r->end, next);
    return true;
}

bool hd_search_mix_ctc(struct hd_searcher *r, const struct hd_search_options *options, int row,
                       struct hd_next_scores *o, int *top, float *value, heed_error *err)
{
    const int V = r->n_words;
    double *next = hd_tape_take(r->tape, "hd_search", 2 * (size_t)V, sizeof *next);
    if (!next)
        return hd_tape_check(r->tape, err);
    double *sum = next + V;
    int n = 0;
    memset(sum, 0, (size_t)V * sizeof *sum);
    for (int m = 0; m < r->n_nets; m++) {
        if (!r->nets[m]->ctc.W)
            continue;
        if (!ask_ctc(r, m, row, next, err))
            return false;
        for (int c = 0; c < V; c++)
            sum[c] += next[c];
        n++;
    }
    const double weight = (double)options->ctc_weight, share = weight / n;
    const double log_sum = (double)o->largest + (double)o->log_sum;
    for (int c = 0; c < V; c++) {
        const double attended = (1 - weight) * ((double)o->x[c] - log_sum);
        o->x[c] = (float)(attended + share * sum[c]);
    }
    r->tape->k->log_sum(&o->largest, top, value, o->x, V, o->n_top);
    o->largest = o->log_sum = 0; /* what is said, although it does not add up to 1 */
    return true;
}
