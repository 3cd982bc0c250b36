/* point.c -- one look at documents, and the likeliest spans of each.
 *
 * The scores are the nets'; the sums over windows are made here, in double precision and in the order of the positions. */
#include "search/point.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "graph/tape.h"
#include "search/common.h"

#include <math.h>
#include <string.h>

/* What is known of one document: scores of its P positions. */
struct pointing {
    const double *start, *end; /* scores, the means of all nets */
    int P, most;
    double log_starts; /* log Σ_j exp start_j */
    double *log_ends;  /* [P]: log Σ_k exp end_k over the window that begins at j */
};

/* log Σ exp x_j */
static double log_sum(const double *x, int n)
{
    double largest = x[0], sum = 0;
    for (int j = 1; j < n; j++)
        largest = x[j] > largest ? x[j] : largest;
    for (int j = 0; j < n; j++)
        sum += hd_real_exp(x[j] - largest);
    return largest + hd_real_log(sum);
}

/* How many positions an answer that begins at j may end at. */
static int n_ends(const struct pointing *p, int j)
{
    return p->P - j < p->most ? p->P - j : p->most;
}

/* ---- the likeliest spans ----------------------------------------------------------------------- */

struct span {
    double logprob;
    int first, last;
};

/* Put a span among the best k, which are sorted; of equal ones the earlier stays before. */
static int keep_span(struct span *best, int n, int k, struct span new)
{
    int at = n;
    while (at > 0 && new.logprob > best[at - 1].logprob)
        at--;
    if (at == k)
        return n;
    const int moved = n < k ? n : k - 1;
    memmove(best + at + 1, best + at, (size_t)(moved - at) * sizeof *best);
    best[at] = new;
    return n < k ? n + 1 : n;
}

static int find_spans(const struct pointing *p, struct span *best, int k)
{
    int n = 0;
    for (int j = 0; j < p->P; j++) {
        const double start = p->start[j] - p->log_starts;
        for (int e = j; e < j + n_ends(p, j); e++)
            n = keep_span(best, n, k, (struct span){start + (p->end[e] - p->log_ends[j]), j, e});
    }
    return n;
}

/* ---- what was found ---------------------------------------------------------------------------- */

static bool tell_span(const struct pointing *p, const struct span *span, bool wants_attention,
                      struct hd_hypothesis *h, heed_error *err)
{
    const double start = p->start[span->first] - p->log_starts;
    h->n = 2;
    h->is_cut = true; /* there is no end marker */
    h->ids = hd_alloc(2, sizeof *h->ids, err);
    h->logprob = hd_alloc(2, sizeof *h->logprob, err);
    if (wants_attention)
        h->attention = hd_alloc(2 * (size_t)p->P, sizeof *h->attention, err);
    if (!h->ids || !h->logprob || (wants_attention && !h->attention))
        return false;
    h->ids[0] = span->first;
    h->ids[1] = span->last;
    h->logprob[0] = (float)start;
    h->logprob[1] = (float)(span->logprob - start);
    h->total = h->score = span->logprob;
    for (int j = 0; wants_attention && j < p->P; j++)
        h->attention[j] = (float)hd_real_exp(p->start[j] - p->log_starts);
    for (int e = span->first; wants_attention && e < span->first + n_ends(p, span->first); e++)
        h->attention[p->P + e] = (float)hd_real_exp(p->end[e] - p->log_ends[span->first]);
    return true;
}

/* The n_best likeliest spans of a document. */
static bool tell_spans(struct pointing *p, const struct hd_search_options *o,
                       struct hd_nbest *found, heed_error *err)
{
    struct span *best = hd_alloc((size_t)o->n_best, sizeof *best, err);
    p->log_ends = hd_alloc((size_t)p->P, sizeof *p->log_ends, err);
    bool ok = best && p->log_ends;
    int n = 0;
    if (ok) {
        p->log_starts = log_sum(p->start, p->P);
        for (int j = 0; j < p->P; j++)
            p->log_ends[j] = log_sum(p->end + j, n_ends(p, j));
        n = find_spans(p, best, o->n_best);
        found->best = hd_alloc((size_t)n, sizeof *found->best, err);
        ok = found->best != NULL;
    }
    for (; ok && found->n < n; found->n++)
        if (!tell_span(p, &best[found->n], o->wants_attention, &found->best[found->n], err)) {
            found->n++;
            ok = false;
        }
    hd_free(best);
    hd_free(p->log_ends);
    return ok;
}

/* ---- what a net says --------------------------------------------------------------------------- */

/* Adds a net's share of the scores, [n, P] of starts and as many of ends, document by document. */
static bool add_scores(const struct hd_net *net, int n_nets, hd_tape *tape,
                       const struct hd_batch *batch, double *scores, heed_error *err)
{
    hd_tape_reset(tape);
    hd_tape_record(tape, false);
    hd_tape_infer(tape);
    const struct hd_memory *memory = hd_encode(net, tape, batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, batch, NULL);
    if (!hd_tape_check(tape, err) || !forced)
        return false;
    const size_t width = (size_t)hd_width(forced->out);
    for (int i = 0; i < batch->n; i++)
        for (int side = 0; side < 2; side++) {
            const float *row = forced->out->x + (size_t)(side * batch->n + i) * width;
            for (int j = 0; j < batch->source_length[i]; j++) {
                if (!isfinite(row[j]))
                    return hd_scores_not_finite(err);
                const double share = (double)row[j] / (double)n_nets;
                *scores++ += share;
            }
        }
    return true;
}

static bool check(const struct hd_search_input *input, int n, heed_error *err)
{
    for (int i = 0; i < n; i++)
        if (!input[i].source.question || input[i].source.n < 1 || input[i].source.n_question < 1)
            return hd_fail(err, HEED_BAD_OPTION,
                           "sentence %d: the model answers questions about documents, and one of "
                           "the two is empty",
                           i + 1);
    return true;
}

bool hd_point(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *input,
              int n, const struct hd_search_options *options, hd_tape *tape,
              struct hd_batch_builder *builder, struct hd_nbest *found, heed_error *err)
{
    size_t n_scores = 0;
    bool ok = check(input, n, err);
    hd_batch_begin(builder);
    for (int i = 0; ok && i < n; i++) {
        ok = hd_batch_add(builder, input[i].source, (struct hd_sequence){0}, -1, err);
        n_scores += 2 * (size_t)input[i].source.n;
    }
    double *scores = ok ? hd_alloc(n_scores, sizeof *scores, err) : NULL;
    ok = scores != NULL;
    const struct hd_batch batch = hd_batch_of(builder);
    for (int m = 0; ok && m < n_nets; m++)
        ok = add_scores(nets[m], n_nets, tape, &batch, scores, err);
    const double *at = scores;
    for (int i = 0; ok && i < n; i++) {
        const int P = input[i].source.n;
        struct pointing p = {
            .start = at, .end = at + P, .P = P, .most = nets[0]->config.max_answer};
        ok = tell_spans(&p, options, &found[i], err);
        at += 2 * (size_t)P;
    }
    hd_free(scores);
    return ok;
}
