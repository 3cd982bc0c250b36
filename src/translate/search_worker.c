/* search_worker.c -- segments go into a searcher and come out, some of them twice.
 *
 * An output that goes round in circles is searched again with repetition forbidden, in the same searcher: the others go on. Of the
 * two outputs the better one stays, which is told by how likely they are; a first search for words alone is therefore repeated
 * with probabilities. An output that has lost or doubled a placeholder is searched once more, with each of them said once, and one of a
 * model without placeholders that has lost a protected piece, with the piece as a term. */
#include "translate/search_worker.h"

#include "base/error.h"
#include "base/memory.h"
#include "search/decide.h"
#include "search/terms.h"
#include "translate/loop.h"
#include "translate/reading.h"
#include "translate/required.h"

#include <string.h>

void hd_search_worker_release(struct hd_search_worker *w)
{
    hd_searcher_free(w->searcher);
    w->searcher = NULL;
    hd_free(w->decided);
    w->decided = NULL;
    w->n_done = w->n_decided = w->capacity = 0;
}

static const struct hd_job *job_of(const struct hd_segment *segment)
{
    return segment->line->job;
}

static struct hd_searcher *new_searcher(const struct hd_ensemble *e, heed_error *err)
{
    struct hd_searcher *s = hd_searcher_new(e->nets, e->n, hd_vocab_end(e->target), err);
    if (!s || !e->lm || hd_searcher_fuse(s, e->lm->net, e->lm_weight, err))
        return s;
    hd_searcher_free(s);
    return NULL;
}

/* ---- models that decide at once -------------------------------------------------------------------- */

static bool add_to_decide(struct hd_search_worker *w, struct hd_segment *segment, heed_error *err)
{
    struct hd_segment **grown =
        hd_grow(w->decided, &w->capacity, w->n_decided + 1, sizeof *grown, err);
    if (!grown)
        return false;
    w->decided = grown;
    grown[w->n_decided++] = segment;
    return true;
}

/* Those that wait and are asked in the same way, which belong to one job. */
static bool decide(struct hd_search_worker *w, heed_error *err)
{
    enum { MOST = 64 };
    struct hd_search_input input[MOST];
    struct hd_nbest found[MOST];
    const struct hd_job *job = job_of(w->decided[w->n_done]);
    size_t n = 0;
    for (size_t i = w->n_done; n < MOST && i < w->n_decided && job_of(w->decided[i]) == job; i++)
        input[n++] = hd_segment_input(w->decided[i]);
    if (!hd_decide(job->ensemble->nets, job->ensemble->n, input, n, &job->search[HD_SEARCH_FIRST],
                   found, err))
        return false;
    for (size_t i = 0; i < n; i++)
        w->decided[w->n_done++]->found = found[i];
    return true;
}

static struct hd_segment *take_decided(struct hd_search_worker *w)
{
    if (w->n_done == 0)
        return NULL;
    struct hd_segment *first = w->decided[0];
    w->n_done--;
    w->n_decided--;
    memmove(w->decided, w->decided + 1, w->n_decided * sizeof *w->decided);
    return first;
}

static void cancel_decided(struct hd_search_worker *w, const struct hd_line *line)
{
    size_t n = 0, n_done = 0;
    for (size_t i = 0; i < w->n_decided; i++) {
        if (w->decided[i]->line == line)
            continue;
        n_done += i < w->n_done;
        w->decided[n++] = w->decided[i];
    }
    w->n_decided = n;
    w->n_done = n_done;
}

/* ---- the worker ------------------------------------------------------------------------------------ */

bool hd_search_worker_add(struct hd_search_worker *w, struct hd_segment *segment, heed_error *err)
{
    const struct hd_job *job = job_of(segment);
    const struct hd_ensemble *e = job->ensemble;
    if (e->task == HD_TASK_LABEL || e->task == HD_TASK_SPAN)
        return add_to_decide(w, segment, err);
    const struct hd_search_input input = hd_segment_input(segment);
    struct hd_search_options options = job->search[segment->round];
    options.words_alone = options.words_alone && !input.neighbours; /* they mix probabilities */
    if (input.terms) { /* terms want a beam, probabilities and attention */
        options.beam = hd_terms_beam(input.terms, options.beam);
        options.words_alone = false;
        options.wants_attention = options.wants_attention || e->has_attention;
    }
    if (!w->searcher)
        w->searcher = new_searcher(e, err);
    if (!w->searcher)
        return false;
    hd_searcher_set_rows(w->searcher, options.n_rows);
    return hd_searcher_add(w->searcher, &input, &options, segment, err);
}

size_t hd_search_worker_size(const struct hd_search_worker *w)
{
    return (w->searcher ? hd_searcher_size(w->searcher) : 0) + (w->loops != NULL) +
           (w->n_decided - w->n_done);
}

static bool add_loops(struct hd_search_worker *w, heed_error *err)
{
    for (struct hd_segment *loop; (loop = w->loops); w->loops = loop->next_loop)
        if (!hd_search_worker_add(w, loop, err))
            return false;
    return true;
}

bool hd_search_worker_step(struct hd_search_worker *w, heed_error *err)
{
    if (w->n_decided > w->n_done ? decide(w, err)
                                 : (hd_searcher_size(w->searcher) > 0 || add_loops(w, err)) &&
                                       hd_searcher_step(w->searcher, err))
        return true;
    hd_search_worker_clear(w);
    return false;
}

static bool is_loop(const struct hd_segment *segment)
{
    const struct hd_hypothesis *best = &segment->found.best[0];
    const int given = (int)segment->prefix.n;
    return hd_is_loop(best->ids + given, best->n - given, best->is_cut);
}

static void replace_found(struct hd_segment *segment, struct hd_nbest *found)
{
    hd_nbest_release(&segment->found);
    segment->found = *found;
    *found = (struct hd_nbest){0};
}

/* Is each of the segment's placeholders in it once, and no other? Or, of a model without such, each protected piece that it can spell? */
static bool is_whole(const struct hd_segment *segment, const struct hd_hypothesis *h)
{
    const struct hd_ensemble *e = job_of(segment)->ensemble;
    const struct hd_terms *kept = hd_terms_of(segment->whole);
    struct hd_terms_state state;
    if (kept) {
        hd_terms_read(&state, kept, h->ids, h->n);
        return hd_terms_are_met(&state, kept);
    }
    for (size_t k = 0; e->has_placeholders && k < HD_N_PLACEHOLDERS; k++) {
        size_t n = 0;
        for (int i = 0; i < h->n; i++)
            n += h->ids[i] == e->target_placeholders[k];
        if (n != (k < hd_segment_placeholders(segment)))
            return false;
    }
    return true;
}

/* Must it be searched for what is missing? */
static bool goes_for_whole(struct hd_segment *segment)
{
    const struct hd_job *job = job_of(segment);
    if (job->options.is_sampled || job->is_forced || segment->prefix.n > 0 ||
        !job->options.protects || is_whole(segment, &segment->found.best[0]))
        return false;
    segment->round = HD_SEARCH_WHOLE;
    return true;
}

/* What was found is the segment's. Must it be searched once more? */
static bool settle(struct hd_segment *segment, struct hd_nbest *found)
{
    const struct hd_job *job = job_of(segment);
    switch (segment->round) {
    case HD_SEARCH_FIRST:
        replace_found(segment, found);
        if (!job->is_tried_again || !is_loop(segment))
            return goes_for_whole(segment);
        segment->round =
            job->search[HD_SEARCH_FIRST].words_alone ? HD_SEARCH_SCORED : HD_SEARCH_NO_REPEAT;
        return true;
    case HD_SEARCH_SCORED:
        replace_found(segment, found);
        segment->round = HD_SEARCH_NO_REPEAT;
        return true;
    case HD_SEARCH_WHOLE:
        if (is_whole(segment, &found->best[0]) && !found->best[0].is_cut)
            replace_found(segment, found);
        return false;
    default:
        segment->is_searched_again =
            hd_is_better_than_loop(&found->best[0], &segment->found.best[0]);
        if (segment->is_searched_again)
            replace_found(segment, found);
        return goes_for_whole(segment);
    }
}

struct hd_segment *hd_search_worker_take(struct hd_search_worker *w, heed_error *err)
{
    struct hd_nbest found = {0};
    void *tag = NULL;
    if (w->n_done > 0)
        return take_decided(w);
    while (w->searcher && hd_searcher_take(w->searcher, &found, &tag)) {
        struct hd_segment *segment = tag;
        const bool is_finite = found.n > 0 || hd_scores_not_finite(err);
        const bool goes_on = is_finite && settle(segment, &found);
        hd_nbest_release(&found);
        if (goes_on && w->gathers_loops) {
            segment->next_loop = w->loops;
            w->loops = segment;
            continue;
        }
        const bool is_well = is_finite && (!goes_on || hd_search_worker_add(w, segment, err));
        if (!is_well)
            hd_nbest_release(&segment->found);
        if (!is_well || !goes_on)
            return segment;
    }
    return NULL;
}

void hd_search_worker_cancel(struct hd_search_worker *w, struct hd_line *line)
{
    for (size_t i = 0; w->searcher && i < line->n_segments; i++)
        hd_searcher_cancel(w->searcher, &line->segments[i]);
    cancel_decided(w, line);
}

void hd_search_worker_clear(struct hd_search_worker *w)
{
    w->loops = NULL;
    w->n_decided = w->n_done = 0;
    if (w->searcher)
        hd_searcher_clear(w->searcher);
}
