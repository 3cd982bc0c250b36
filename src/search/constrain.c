/* constrain.c -- the next words of a beam whose output must have certain terms: dynamic beam allocation.
 *
 * Post & Vilar (2018), "Fast lexically constrained decoding with dynamic beam allocation for neural machine translation": besides
 * the likeliest words, every hypothesis is offered those that begin a term or go on with one; the beam is parted among
 * hypotheses that have come equally far with their terms, so that none is crowded out by likelier ones that have said less; and only what has all
 * terms may end.
 *
 * A term must be said, so that it is unlikely should not speak against the sentence it is in, and longer sentences, whose scores are
 * divided by their length, should not gain by it: each of its words costs LEAST at most. Where it is said is told by attention: its first word costs
 * twice the log of the weight on the term in the source besides. Invariant: every word costs something, so bounds of scores hold. */
#include "search/beam.h"
#include "search/terms.h"

#include "base/memory.h"
#include "base/real.h"

#include <math.h>
#include <stdlib.h>

static const float LEAST = -0.5F;        /* log-probability of a required word, at least */
static const double LEAST_WEIGHT = 0.01; /* attention on a term, at least */

/* A way to go on, and how far it would come. */
struct hd_constrained {
    struct hd_candidate candidate;
    int progress, order;
    bool is_taken;
};

static int better(const void *a, const void *b)
{
    const struct hd_constrained *x = a, *y = b;
    const double p = x->candidate.total + x->candidate.bias.settled + x->candidate.bias.pending,
                 r = y->candidate.total + y->candidate.bias.settled + y->candidate.bias.pending;
    if (p != r)
        return p < r ? 1 : -1;
    return x->order - y->order;
}

/* The most attention on a term that a word begins, of those that are not there yet. */
static double weight_on(const struct hd_terms *terms, const struct hd_terms_state *before, int id,
                        const float *alpha)
{
    double most = LEAST_WEIGHT;
    for (int t = 0; t < terms->n; t++)
        for (int f = 0; !(before->met >> t & 1) && f < terms->at[t].n_forms; f++) {
            double sum = 0;
            if (terms->at[t].forms[f].ids[0] != id)
                continue;
            for (int j = terms->at[t].source_begin; j < terms->at[t].source_end; j++)
                sum += (double)alpha[j];
            most = sum > most ? sum : most;
        }
    return most < 1 ? most : 1;
}

/* What a word is forgiven that brings its hypothesis from one state to another. */
static struct hd_term_bias bias_of(const struct hd_beam *q, struct hd_term_bias bias,
                                   const struct hd_terms_state *before,
                                   const struct hd_terms_state *after, int id, float logprob,
                                   const float *alpha)
{
    if (after->progress <= before->progress) { /* what was begun is given up */
        bias.pending = 0;
        return bias;
    }
    if (logprob < LEAST)
        bias.pending += (double)LEAST - (double)logprob;
    if (alpha && before->progress == before->settled)
        bias.pending += 2 * hd_real_log(weight_on(q->input->terms, before, id, alpha));
    if (after->met != before->met) {
        bias.settled += bias.pending;
        bias.pending = 0;
    }
    return bias;
}

/* One more, unless it is there, has been forbidden, or ends too early. `words` has room behind its `length`. */
static bool offer(struct hd_beam *q, struct hd_constrained **all, int *n, int first, int from,
                  const struct hd_next_scores *o, int id, int *words, int length,
                  const struct hd_terms_state *before, heed_error *err)
{
    const bool may_end = hd_terms_are_met(before, q->input->terms);
    if ((id == q->end && !may_end) || !(o->x[id] > -INFINITY))
        return true;
    for (int i = first; i < *n; i++)
        if ((*all)[i].candidate.id == id)
            return true;
    struct hd_constrained *grown =
        hd_grow(*all, &q->scratch->constrained_capacity, (size_t)*n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    *all = q->scratch->constrained = grown;
    struct hd_terms_state state = *before;
    words[length] = id;
    if (id != q->end)
        hd_terms_read(&state, q->input->terms, words, length + 1);
    const float logprob = (o->x[id] - o->largest) - o->log_sum;
    grown[*n] = (struct hd_constrained){
        .candidate = {from, id, logprob, q->open[from].total + (double)logprob,
                      bias_of(q, q->open[from].bias, before, &state, id, logprob, o->alpha)},
        .progress = state.progress,
        .order = *n};
    ++*n;
    return true;
}

/* All that hypothesis `from` may go on with. */
static bool offer_all(struct hd_beam *q, struct hd_constrained **all, int *n, int from,
                      const struct hd_next_scores *o, heed_error *err)
{
    const struct hd_open_hypothesis *hyp = &q->open[from];
    int *words = hd_beam_history(q, hyp->last, hyp->length, err);
    if (!words)
        return false;
    const int first = *n, given = q->input->prefix.n;
    struct hd_terms_state state;
    hd_terms_read(&state, q->input->terms, words, hyp->length);
    if (hyp->length < given)
        return offer(q, all, n, first, from, o, q->input->prefix.ids[hyp->length], words,
                     hyp->length, &state, err);
    if (!hd_beam_forbid(q, hyp, o->x, err))
        return false;
    const int *top = o->n_top ? o->top : q->scratch->top;
    const int n_top = o->n_top ? o->n_top : q->places;
    if (!o->n_top)
        q->k->top_k(q->scratch->top, q->scratch->top_value, o->x, q->n_words, q->places);
    for (int j = 0; j < n_top && top[j] >= 0; j++)
        if (!offer(q, all, n, first, from, o, top[j], words, hyp->length, &state, err))
            return false;
    for (int j = 0; j < state.n_next; j++)
        if (!offer(q, all, n, first, from, o, state.next[j], words, hyp->length, &state, err))
            return false;
    return true;
}

/* Each bank, of what has come equally far, has its share of the places; what is left over goes to the likeliest. */
static int share_out(struct hd_beam *q, struct hd_constrained *all, int n)
{
    enum { MOST_BANKS = 64 };
    const int total = q->input->terms->total + 1;
    int n_banks = total < q->places ? total : q->places, room[MOST_BANKS], taken = 0;
    n_banks = n_banks < MOST_BANKS ? n_banks : MOST_BANKS;
    for (int b = 0; b < n_banks; b++)
        room[b] = q->places / n_banks + (n_banks - 1 - b < q->places % n_banks);
    for (int i = 0; i < n; i++) {
        int *left = &room[(long)all[i].progress * n_banks / total];
        all[i].is_taken = *left > 0;
        *left -= all[i].is_taken;
        taken += all[i].is_taken;
    }
    for (int i = 0; i < n && taken < q->places; i++) {
        taken += !all[i].is_taken;
        all[i].is_taken = true;
    }
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (all[i].is_taken)
            q->scratch->candidates[kept++] = all[i].candidate;
    return kept;
}

int hd_beam_constrain(struct hd_beam *q, const struct hd_next_scores *next_scores, heed_error *err)
{
    struct hd_constrained *all = q->scratch->constrained;
    int n = 0;
    for (int i = 0; i < q->n_open; i++)
        if (!offer_all(q, &all, &n, i, &next_scores[i], err))
            return -1;
    if (n > 1)
        qsort(all, (size_t)n, sizeof *all, better);
    return share_out(q, all, n);
}
