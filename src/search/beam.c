/* beam.c -- the search for one sentence, step by step: extend what is open, keep the best, put away what has ended.
 *
 * Invariant: open[0..n_open) are best first, all of one length; those that have ended are best first. The beam's places are
 * the bound of n_open: beam - n_ended. */
#include "search/beam.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "search/common.h"

#include <math.h>
#include <string.h>

bool hd_beam_scratch_reserve(struct hd_beam_scratch *s, int n_words,
                             const struct hd_search_options *options, heed_error *err)
{
    const size_t n = (size_t)hd_beam_width(options);
    struct hd_candidate *candidates =
        hd_grow(s->candidates, &s->candidates_capacity, n, sizeof *candidates, err);
    s->candidates = candidates ? candidates : s->candidates;
    int *top = hd_grow(s->top, &s->top_capacity, n, sizeof *top, err);
    s->top = top ? top : s->top;
    float *value = hd_grow(s->top_value, &s->value_capacity, n, sizeof *value, err);
    s->top_value = value ? value : s->top_value;
    if (options->is_sampled && !s->chances)
        s->chances = hd_alloc((size_t)n_words, sizeof *s->chances, err);
    return candidates && top && value && (!options->is_sampled || s->chances);
}

void hd_beam_scratch_release(struct hd_beam_scratch *s)
{
    hd_free(s->candidates);
    hd_free(s->top);
    hd_free(s->top_value);
    hd_free(s->history);
    hd_free(s->constrained);
    hd_free(s->chances);
}

bool hd_beam_begin(struct hd_beam *q, const struct hd_beam_task *task, const struct hd_kernels *k,
                   struct hd_beam_scratch *scratch, heed_error *err)
{
    const int width = hd_beam_width(task->options);
    const size_t n = (size_t)width;
    *q = (struct hd_beam){.options = task->options,
                          .input = task->input,
                          .k = k,
                          .scratch = scratch,
                          .end = task->end,
                          .n_words = task->n_words,
                          .limit = task->limit,
                          .places = width,
                          .n_branches = 1,
                          .n_open = task->options->is_sampled ? width : 1};
    q->branches = hd_grow(NULL, &q->branch_capacity, 32, sizeof *q->branches, err);
    q->open = hd_alloc(n, sizeof *q->open, err);
    q->next = hd_alloc(n, sizeof *q->next, err);
    q->ended = hd_alloc(n, sizeof *q->ended, err);
    if (!q->branches || !q->open || !q->next || !q->ended)
        return false;
    q->branches[0] = (struct hd_branch){.parent = -1, .id = -1, .slot = -1};
    for (int i = 0; i < q->n_open; i++)
        q->open[i] = (struct hd_open_hypothesis){.sample = i};
    return true;
}

void hd_beam_release(struct hd_beam *q)
{
    for (int i = 0; q->ended && i < hd_beam_width(q->options); i++)
        hd_free(q->ended[i].alpha);
    hd_free(q->branches);
    hd_free(q->attention);
    hd_free(q->open);
    hd_free(q->next);
    hd_free(q->ended);
    hd_free(q->freed);
    *q = (struct hd_beam){0};
}

/* ---- scores -------------------------------------------------------------------------------------------------------------- */

/* n^α or ((5+n)/6)^α; rises with n when α > 0. */
static double length_of(const struct hd_search_options *o, int n)
{
    if (o->norm == HD_LENGTH_NONE)
        return 1;
    const double base = o->norm == HD_LENGTH_GNMT ? (5.0 + n) / 6.0 : n;
    return o->alpha == 1 ? base : hd_real_exp((double)o->alpha * hd_real_log(base));
}

/* Σ_j log min(Σ_t α_tj, 1): at most 0. A word that nobody has looked at counts as one looked at a little, or nothing
 * could be compared any more. */
static double coverage_of(const float *attention, int rows, int n_source)
{
    static const double little = 1e-6;
    double sum = 0;
    for (int j = 0; j < n_source; j++) {
        double looked = 0;
        for (int t = 0; t < rows; t++)
            looked += (double)attention[(size_t)t * (size_t)n_source + (size_t)j];
        sum += looked >= 1 ? 0 : hd_real_log(looked > little ? looked : little);
    }
    return sum;
}

double hd_hypothesis_score(const struct hd_search_options *o, double total, int n,
                           const float *attention, int rows, int n_source)
{
    const double score = n > 0 ? total / length_of(o, n) : total;
    return o->coverage_penalty > 0 && attention
               ? score + (double)o->coverage_penalty * coverage_of(attention, rows, n_source)
               : score;
}

/* ---- the tree -------------------------------------------------------------------------------------------------------------- */

int *hd_beam_history(struct hd_beam *q, int last, int length, heed_error *err)
{
    struct hd_beam_scratch *s = q->scratch;
    int *grown = hd_grow(s->history, &s->history_capacity, (size_t)length + 1, sizeof *grown, err);
    if (!grown)
        return NULL;
    s->history = grown;
    for (int t = length - 1; t >= 0; t--, last = q->branches[last].parent)
        grown[t] = q->branches[last].id;
    return grown;
}

/* Attention of all words of a hypothesis to to[0..length), rows of n_source. */
static void collect_attention(const struct hd_beam *q, int last, int length, float *to)
{
    const size_t S = (size_t)q->input->source.n;
    for (int t = length - 1; t >= 0; t--, last = q->branches[last].parent)
        if (S > 0)
            memcpy(to + (size_t)t * S, q->attention + (size_t)last * S, S * sizeof *to);
}

static bool grow_branch(struct hd_beam *q, const struct hd_open_hypothesis *hyp,
                        const struct hd_candidate *c, const float *alpha, heed_error *err)
{
    struct hd_branch *grown =
        hd_grow(q->branches, &q->branch_capacity, q->n_branches + 1, sizeof *grown, err);
    if (!grown)
        return false;
    q->branches = grown;
    const size_t S = (size_t)q->input->source.n;
    if (hd_needs_attention(q->options) && S > 0) {
        float *rows = hd_grow(q->attention, &q->attention_capacity, (q->n_branches + 1) * S,
                              sizeof *rows, err);
        if (!rows)
            return false;
        q->attention = rows;
        if (alpha)
            memcpy(rows + q->n_branches * S, alpha, S * sizeof *rows);
    }
    grown[hyp->last].n_children++;
    grown[q->n_branches++] =
        (struct hd_branch){.parent = hyp->last, .id = c->id, .slot = -1, .logprob = c->logprob};
    return true;
}

/* A hypothesis goes no further: the states of those of its words that no other goes on from are free. */
static bool let_go(struct hd_beam *q, int last, heed_error *err)
{
    for (int b = last; b >= 0 && q->branches[b].n_children == 0; b = q->branches[b].parent) {
        int *grown = hd_grow(q->freed, &q->freed_capacity, q->n_freed + 1, sizeof *grown, err);
        if (!grown)
            return false;
        q->freed = grown;
        if (q->branches[b].slot >= 0)
            q->freed[q->n_freed++] = q->branches[b].slot;
        q->branches[b].slot = -1;
        if (q->branches[b].parent >= 0)
            q->branches[q->branches[b].parent].n_children--;
    }
    return true;
}

/* ---- putting away ------------------------------------------------------------------------------------------------------------ */

static bool is_better(const struct hd_ended_hypothesis *a, const struct hd_ended_hypothesis *b)
{
    return a->is_cut != b->is_cut ? b->is_cut : a->score > b->score;
}

/* Into its place among those that have ended; of equal ones the first stays first. Samples stay in their order. */
static bool put_away(struct hd_beam *q, const struct hd_open_hypothesis *hyp, bool is_cut,
                     float logprob, const float *alpha, heed_error *err)
{
    const int S = q->input->source.n, rows = hyp->length + !is_cut;
    struct hd_ended_hypothesis e = {.last = hyp->last,
                                    .length = hyp->length,
                                    .is_cut = is_cut,
                                    .logprob = logprob,
                                    .total = hyp->total + (is_cut ? 0.0 : (double)logprob)};
    float *all = NULL;
    if (alpha && !is_cut && !(e.alpha = hd_alloc((size_t)S, sizeof *alpha, err)))
        return false;
    if (e.alpha && S > 0)
        memcpy(e.alpha, alpha, (size_t)S * sizeof *alpha);
    if (q->options->coverage_penalty > 0) {
        all = hd_alloc((size_t)rows * (size_t)S, sizeof *all, err);
        if (!all) {
            hd_free(e.alpha);
            return false;
        }
        collect_attention(q, hyp->last, hyp->length, all);
        if (alpha && !is_cut && S > 0)
            memcpy(all + (size_t)hyp->length * (size_t)S, alpha, (size_t)S * sizeof *all);
    }
    e.score = hd_hypothesis_score(q->options, e.total + hyp->bias.settled, rows, all, rows, S);
    hd_free(all);
    int at = q->n_ended++;
    if (q->options->is_sampled)
        at = hyp->sample;
    else
        for (; at > 0 && is_better(&e, &q->ended[at - 1]); at--)
            q->ended[at] = q->ended[at - 1];
    q->ended[at] = e;
    q->places--;
    return true;
}

/* ---- candidates --------------------------------------------------------------------------------------------------------------- */

/* A word would repeat an n-gram when it once followed the same n-1 words. */
static void forbid_repeats(const struct hd_beam *q, float *x, const int *words, int length)
{
    const int n = q->options->no_repeat;
    for (int i = 0; n > 0 && i + n <= length; i++)
        if (n == 1 ||
            memcmp(words + i, words + length - (n - 1), (size_t)(n - 1) * sizeof *words) == 0)
            x[words[i + n - 1]] = -INFINITY;
}

/* What must be said once is not said again; until all of it is out there is no end. */
static void forbid_end(const struct hd_beam *q, float *x, const int *words, int length)
{
    const struct hd_sequence *once = &q->input->once;
    int missing[HD_MOST_ONCE], n_missing = 0;
    float value[HD_MOST_ONCE];
    for (int i = 0; i < once->n; i++) {
        int t = 0;
        while (t < length && words[t] != once->ids[i])
            t++;
        if (t == length)
            missing[n_missing++] = once->ids[i];
        else
            x[once->ids[i]] = -INFINITY;
    }
    bool would_end = n_missing > 0;
    for (int v = 0; would_end && v < q->n_words; v++)
        would_end = x[v] <= x[q->end];
    if (n_missing > 0)
        x[q->end] = -INFINITY;
    if (!would_end)
        return;
    for (int i = 0; i < n_missing; i++)
        value[i] = x[missing[i]];
    for (int v = 0; v < q->n_words; v++)
        x[v] = -INFINITY;
    for (int i = 0; i < n_missing; i++)
        x[missing[i]] = value[i];
}

bool hd_beam_forbid(struct hd_beam *q, const struct hd_open_hypothesis *hyp, float *x,
                    heed_error *err)
{
    const struct hd_sequence *never = &q->input->never;
    for (int i = 0; i < never->n; i++)
        x[never->ids[i]] = -INFINITY;
    if (q->options->no_repeat == 0 && q->input->once.n == 0)
        return true;
    const int *words = hd_beam_history(q, hyp->last, hyp->length, err);
    if (!words)
        return false;
    forbid_repeats(q, x, words, hyp->length);
    if (q->input->once.n > 0)
        forbid_end(q, x, words, hyp->length);
    return true;
}

/* Into the best `places` candidates; those of earlier hypotheses stay before equal ones. False: it is worse than all. */
static bool consider(struct hd_beam *q, int *n, struct hd_candidate c)
{
    int at = *n < q->places ? (*n)++ : q->places;
    if (at == q->places && !(c.total > q->scratch->candidates[at - 1].total))
        return false;
    at -= at == q->places;
    for (; at > 0 && c.total > q->scratch->candidates[at - 1].total; at--)
        q->scratch->candidates[at] = q->scratch->candidates[at - 1];
    q->scratch->candidates[at] = c;
    return true;
}

int hd_beam_top_k(const struct hd_beam *q)
{
    const bool may_be_forbidden = q->options->is_sampled || q->options->no_repeat > 0 ||
                                  q->input->once.n > 0 || q->input->never.n > 0;
    return may_be_forbidden || q->places > 64 || q->open[0].length < q->input->prefix.n ? 0
                                                                                        : q->places;
}

/* How many words of a row are looked for: once all places are taken, in a wide beam, only those that would get one. Sorting as many
 * words of each row as there are places would take most of the time. */
static int n_promising(const struct hd_beam *q, int n, const struct hd_open_hypothesis *hyp,
                       const struct hd_next_scores *o)
{
    enum { WIDE = 64 };
    if (n < q->places || q->places <= WIDE)
        return q->places;
    const double worst = q->scratch->candidates[n - 1].total;
    int n_better = 0;
    for (int v = 0; v < q->n_words; v++) {
        const float logprob = (o->x[v] - o->largest) - o->log_sum;
        n_better += hyp->total + (double)logprob > worst;
    }
    return n_better < q->places ? n_better : q->places;
}

/* The ways to go on for all open hypotheses; how many, or -1 without memory. */
static int find_candidates(struct hd_beam *q, const struct hd_next_scores *next_scores,
                           heed_error *err)
{
    int n = 0;
    for (int i = 0; i < q->n_open; i++) {
        const struct hd_open_hypothesis *hyp = &q->open[i];
        const struct hd_next_scores *o = &next_scores[i];
        if (hyp->length < q->input->prefix.n) {
            const int id = q->input->prefix.ids[hyp->length];
            const float logprob = o->x ? (o->x[id] - o->largest) - o->log_sum : 0;
            consider(q, &n,
                     (struct hd_candidate){i, id, logprob, hyp->total + (double)logprob, {0, 0}});
            continue;
        }
        if (!hd_beam_forbid(q, hyp, o->x, err))
            return -1;
        const int *top = o->n_top ? o->top : q->scratch->top;
        const float *value = o->n_top ? o->top_value : q->scratch->top_value;
        const int n_wanted = o->n_top ? q->places : n_promising(q, n, hyp, o);
        if (!o->n_top && n_wanted > 0)
            q->k->top_k(q->scratch->top, q->scratch->top_value, o->x, q->n_words, n_wanted);
        for (int j = 0; j < n_wanted && top[j] >= 0 && value[j] > -INFINITY; j++) {
            const float logprob = (value[j] - o->largest) - o->log_sum;
            const double total = hyp->total + (double)logprob;
            if (!consider(q, &n, (struct hd_candidate){i, top[j], logprob, total, {0, 0}}))
                break;
        }
    }
    return n;
}

/* Each sample its own word, in their order; the same contract. */
static int draw_candidates(struct hd_beam *q, const struct hd_next_scores *next_scores,
                           heed_error *err)
{
    int n = 0;
    for (int i = 0; i < q->n_open; i++) {
        const struct hd_open_hypothesis *hyp = &q->open[i];
        struct hd_next_scores o = next_scores[i];
        const bool is_forced = hyp->length < q->input->prefix.n;
        if (!is_forced && !hd_beam_forbid(q, hyp, o.x, err))
            return -1;
        const int id = is_forced ? q->input->prefix.ids[hyp->length]
                                 : hd_sample_word(&o, q->n_words, q->options, q->input->number,
                                                  hyp->sample, hyp->length, q->scratch->chances);
        const float logprob = (o.x[id] - o.largest) - o.log_sum;
        q->scratch->candidates[n++] =
            (struct hd_candidate){i, id, logprob, hyp->total + (double)logprob, {0, 0}};
    }
    return n;
}

/* ---- one step ------------------------------------------------------------------------------------------------------------------ */

/* No open hypothesis can still be among the n_best, so what is found stays as it is.
 *
 * Log-probabilities are at most 0 ((x - largest) - log_sum, of which the first is at most 0 and the second at least 0; the mean
 * of several too), so a hypothesis with the total L can end with no more than L, after n words in (length, limit + 1].
 *     none          score ≤ L
 *     power, GNMT   score ≤ L / length_of(n), and L ≤ 0. With α ≥ 0 the divisor rises with n, so the largest is the one at
 *                   limit + 1; with α < 0 it falls, and the largest is the one at length + 1: both are tried. length_of is
 *                   right to some last bits only, for which the bound is raised by far more than they can be.
 *     coverage      adds β Σ_j log min(·, 1) ≤ 0
 * An ending that only equals the worst kept one comes behind it, and what is cut comes behind all that ended. */
static bool is_settled(const struct hd_beam *q)
{
    const struct hd_search_options *o = q->options;
    if (o->is_sampled || o->never_stops_early || q->n_ended < o->n_best ||
        q->ended[o->n_best - 1].is_cut)
        return false;
    const double worst = q->ended[o->n_best - 1].score;
    for (int i = 0; i < q->n_open; i++) {
        const double L = q->open[i].total + q->open[i].bias.settled + q->open[i].bias.pending;
        const double late = L / length_of(o, q->limit + 1),
                     soon = L / length_of(o, q->open[i].length + 1);
        const double bound = late > soon ? late : soon;
        if (!(bound * (1 - 1e-9) <= worst))
            return false;
    }
    return true;
}

bool hd_beam_stop(struct hd_beam *q, heed_error *err)
{
    for (int i = 0; i < q->n_open; i++)
        if (!let_go(q, q->open[i].last, err))
            return false;
    q->n_open = 0;
    return true;
}

/* At the limit: what has not just ended is cut. */
static bool cut_all(struct hd_beam *q, const struct hd_candidate *c, int n, heed_error *err)
{
    for (int i = 0; i < q->n_open; i++) {
        bool has_ended = false;
        for (int j = 0; j < n; j++)
            has_ended = has_ended || (c[j].from == i && c[j].id == q->end);
        if (!has_ended && q->places > 0 && !put_away(q, &q->open[i], true, 0, NULL, err))
            return false;
    }
    return hd_beam_stop(q, err);
}

bool hd_beam_step(struct hd_beam *q, const struct hd_next_scores *next_scores, heed_error *err)
{
    const int n = q->options->is_sampled ? draw_candidates(q, next_scores, err)
                  : q->input->terms      ? hd_beam_constrain(q, next_scores, err)
                                         : find_candidates(q, next_scores, err);
    const bool is_last = q->n_open > 0 && q->open[0].length >= q->limit;
    if (n < 0)
        return false;
    int n_next = 0;
    for (int j = 0; j < n; j++) {
        const struct hd_candidate *c = &q->scratch->candidates[j];
        const struct hd_open_hypothesis *hyp = &q->open[c->from];
        const float *alpha = next_scores[c->from].alpha;
        if (c->id == q->end) {
            if (!put_away(q, hyp, false, c->logprob, alpha, err))
                return false;
        } else if (!is_last) {
            if (!grow_branch(q, hyp, c, alpha, err))
                return false;
            q->next[n_next++] = (struct hd_open_hypothesis){.last = (int)q->n_branches - 1,
                                                            .length = hyp->length + 1,
                                                            .sample = hyp->sample,
                                                            .total = c->total,
                                                            .bias = c->bias};
        }
    }
    if (is_last || n == 0)
        return cut_all(q, q->scratch->candidates, n, err);
    if (!hd_beam_stop(q, err))
        return false;
    struct hd_open_hypothesis *swap = q->open;
    q->open = q->next;
    q->next = swap;
    q->n_open = n_next;
    return !is_settled(q) || hd_beam_stop(q, err);
}

/* ---- what was found -------------------------------------------------------------------------------------------------------------- */

static bool tell(const struct hd_beam *q, const struct hd_ended_hypothesis *e,
                 struct hd_hypothesis *h, heed_error *err)
{
    const size_t S = (size_t)q->input->source.n, n = (size_t)e->length, rows = n + !e->is_cut;
    *h = (struct hd_hypothesis){
        .n = e->length, .total = e->total, .score = e->score, .is_cut = e->is_cut};
    const bool has_logprob = !q->options->words_alone;
    if (!has_logprob)
        h->total = h->score = 0;
    h->ids = hd_alloc(n, sizeof *h->ids, err);
    if (has_logprob)
        h->logprob = hd_alloc(rows, sizeof *h->logprob, err);
    if (q->options->wants_attention)
        h->attention = hd_alloc(rows * S, sizeof *h->attention, err);
    if (!h->ids || (has_logprob && !h->logprob) || (q->options->wants_attention && !h->attention))
        return false;
    int b = e->last;
    for (int t = e->length - 1; t >= 0; t--, b = q->branches[b].parent) {
        h->ids[t] = q->branches[b].id;
        if (has_logprob)
            h->logprob[t] = q->branches[b].logprob;
    }
    if (!e->is_cut && has_logprob)
        h->logprob[n] = e->logprob;
    if (h->attention) {
        collect_attention(q, e->last, e->length, h->attention);
        if (!e->is_cut && e->alpha && S > 0)
            memcpy(h->attention + n * S, e->alpha, S * sizeof *h->attention);
    }
    return true;
}

/* The words, then the ends. The root is left out. */
static bool tell_tree(const struct hd_beam *q, struct hd_nbest *found, heed_error *err)
{
    const size_t n_words = q->n_branches - 1;
    found->n_tree = n_words + (size_t)q->n_ended;
    found->tree = hd_alloc(found->n_tree, sizeof *found->tree, err);
    if (!found->tree)
        return false;
    for (size_t i = 0; i < n_words; i++) {
        const struct hd_branch *b = &q->branches[i + 1];
        const double before = b->parent > 0 ? found->tree[b->parent - 1].total : 0;
        found->tree[i] = (struct hd_tree_node){.parent = b->parent - 1,
                                               .id = b->id,
                                               .logprob = b->logprob,
                                               .total = before + (double)b->logprob,
                                               .rank = -1};
    }
    for (int i = 0; i < q->n_ended; i++) {
        const struct hd_ended_hypothesis *e = &q->ended[i];
        found->tree[n_words + (size_t)i] = (struct hd_tree_node){.parent = e->last - 1,
                                                                 .id = e->is_cut ? -1 : q->end,
                                                                 .logprob = e->logprob,
                                                                 .total = e->total,
                                                                 .score = e->score,
                                                                 .rank = i};
    }
    return true;
}

bool hd_beam_collect(const struct hd_beam *q, struct hd_nbest *found, heed_error *err)
{
    const int n = q->n_ended < q->options->n_best ? q->n_ended : q->options->n_best;
    if (q->options->wants_tree && !tell_tree(q, found, err))
        return false;
    found->best = hd_alloc((size_t)n, sizeof *found->best, err);
    if (!found->best)
        return false;
    for (; found->n < n; found->n++)
        if (!tell(q, &q->ended[found->n], &found->best[found->n], err)) {
            found->n++; /* the half-told one is released with the others */
            return false;
        }
    return true;
}
