/* decide.c -- one look at a text, and all labels with their probabilities, or the likeliest spans (point.c).
 *
 * Sentences are looked at in groups; what is said of one does not depend on its neighbours. */
#include "search/decide.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/common.h"
#include "search/point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_AT_A_TIME = 1024 }; /* of a group, unless one sentence alone has more */

struct deciding {
    const struct hd_net *const *nets;
    int n_nets;
    const struct hd_search_options *options;
    hd_tape *tape;
    struct hd_batch_builder builder;
};

/* A group of sentences in work. */
struct group {
    const struct hd_search_input *input;
    int n;
    struct hd_nbest *found;
    float *logprob; /* [n, labels] */
};

bool hd_decides(const struct hd_config *config)
{
    return !hd_config_has_decoder(config);
}

static int n_labels_of(const struct deciding *d)
{
    return d->nets[0]->config.target_vocab;
}

/* ---- what was found -------------------------------------------------------------------------------- */

struct ranked {
    float logprob;
    int id;
};

static int likelier(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    return p->logprob != q->logprob ? (p->logprob < q->logprob) - (p->logprob > q->logprob)
                                    : p->id - q->id;
}

/* Room for the n_best hypotheses of a sentence, each of one word. */
static bool make_found(const struct deciding *d, struct hd_nbest *found, int n_source,
                       heed_error *err)
{
    const int V = n_labels_of(d), n = d->options->n_best < V ? d->options->n_best : V;
    found->best = hd_alloc((size_t)n, sizeof *found->best, err);
    if (!found->best)
        return false;
    for (; found->n < n; found->n++) {
        struct hd_hypothesis *h = &found->best[found->n];
        h->n = 1;
        h->is_cut = true;
        h->ids = hd_alloc(1, sizeof *h->ids, err);
        h->logprob = hd_alloc(1, sizeof *h->logprob, err);
        if (d->options->wants_attention)
            h->attention = hd_alloc((size_t)n_source, sizeof *h->attention, err);
        if (!h->ids || !h->logprob || (d->options->wants_attention && !h->attention)) {
            found->n++;
            return false;
        }
    }
    struct hd_hypothesis *h = found->best;
    h->top_ids = hd_alloc((size_t)V, sizeof *h->top_ids, err);
    h->top_logprob = hd_alloc((size_t)V, sizeof *h->top_logprob, err);
    return h->top_ids && h->top_logprob;
}

/* The labels of a sentence, likeliest first. */
static bool rank(const struct deciding *d, struct hd_nbest *found, const float *logprob,
                 heed_error *err)
{
    const int V = n_labels_of(d);
    struct ranked *ranked = hd_alloc((size_t)V, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (int v = 0; v < V; v++)
        ranked[v] = (struct ranked){logprob[v], v};
    qsort(ranked, (size_t)V, sizeof *ranked, likelier);
    for (int v = 0; v < V; v++) {
        found->best[0].top_ids[v] = ranked[v].id;
        found->best[0].top_logprob[v] = ranked[v].logprob;
    }
    for (int k = 0; k < found->n; k++) {
        struct hd_hypothesis *h = &found->best[k];
        h->ids[0] = ranked[k].id;
        h->logprob[0] = ranked[k].logprob;
        h->total = h->score = (double)ranked[k].logprob;
    }
    hd_free(ranked);
    return true;
}

/* ---- what a net says --------------------------------------------------------------------------------- */

/* Adds what the net looked at: all labels come of one look. */
static bool add_attention(struct deciding *d, const struct hd_net *net,
                          const struct hd_forced *forced, struct group *g, heed_error *err)
{
    for (int i = 0; d->options->wants_attention && i < g->n; i++)
        for (int k = 0; k < g->found[i].n; k++)
            if (!hd_add_attention(g->found[i].best[k].attention, net, &forced->cross, i,
                                  g->input[i].source.n, d->options, d->n_nets, d->tape, err))
                return false;
    return true;
}

/* Adds the log-probabilities of all labels. */
static bool ask(struct deciding *d, const struct hd_net *net, struct group *g, heed_error *err)
{
    const struct hd_batch batch = hd_batch_of(&d->builder);
    hd_tape_reset(d->tape);
    const struct hd_memory *memory = hd_encode(net, d->tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, d->tape, memory, &batch, NULL);
    const hd_node *logp = forced ? hd_log_softmax(hd_logits(&net->head, forced->out), NULL) : NULL;
    if (!hd_tape_check(d->tape, err) || !logp)
        return false;
    for (size_t i = 0; i < (size_t)g->n * (size_t)n_labels_of(d); i++) {
        if (!isfinite(logp->x[i]))
            return hd_scores_not_finite(err);
        g->logprob[i] = g->logprob[i] + logp->x[i];
    }
    return add_attention(d, net, forced, g, err);
}

/* The mean of several nets, as probabilities again. */
static bool normalise(struct deciding *d, struct group *g, heed_error *err)
{
    const int V = n_labels_of(d);
    const size_t n = (size_t)g->n * (size_t)V;
    hd_tape_reset(d->tape);
    hd_node *mean = hd_input(d->tape, g->logprob, g->n, V);
    const hd_node *logp = hd_log_softmax(hd_scale(mean, 1 / (float)d->n_nets), NULL);
    if (!hd_tape_check(d->tape, err))
        return false;
    memcpy(g->logprob, logp->x, n * sizeof *g->logprob);
    return true;
}

static bool decide_group(struct deciding *d, struct group *g, heed_error *err)
{
    bool ok = true;
    hd_batch_begin(&d->builder);
    for (int i = 0; ok && i < g->n; i++)
        ok = hd_batch_add(&d->builder, g->input[i].source, (struct hd_sequence){0}, -1, err) &&
             make_found(d, &g->found[i], g->input[i].source.n, err);
    for (int m = 0; ok && m < d->n_nets; m++)
        ok = ask(d, d->nets[m], g, err);
    ok = ok && (d->n_nets == 1 || normalise(d, g, err));
    for (int i = 0; ok && i < g->n; i++)
        ok = rank(d, &g->found[i], g->logprob + (size_t)i * (size_t)n_labels_of(d), err);
    return ok;
}

/* ---- all ------------------------------------------------------------------------------------------------ */

/* How many of the first sentences are a group. */
static int size_of_group(const struct hd_search_input *input, size_t n)
{
    long words = 0;
    size_t i = 0;
    for (; i < n && i < INT_MAX; i++) {
        words += (long)hd_sequence_size(input[i].source);
        if (i > 0 && words > WORDS_AT_A_TIME)
            break;
    }
    return (int)i;
}

static bool decide_all(struct deciding *d, const struct hd_search_input *input, size_t n,
                       struct hd_nbest *found, heed_error *err)
{
    const struct hd_search_options *o = d->options;
    for (size_t i = 0; i < n;) {
        struct group g = {
            .input = input + i, .n = size_of_group(input + i, n - i), .found = found + i};
        const size_t count = (size_t)g.n * (size_t)n_labels_of(d);
        if (o->keep_on && !o->keep_on(o->keep_on_data))
            return hd_fail(err, HEED_CANCELLED, "stopped before everything was looked at");
        if (d->nets[0]->config.task == HD_TASK_SPAN) {
            if (!hd_point(d->nets, d->n_nets, g.input, g.n, o, d->tape, &d->builder, g.found, err))
                return false;
            i += (size_t)g.n;
            continue;
        }
        g.logprob = hd_alloc(count, sizeof *g.logprob, err);
        if (!g.logprob)
            return false;
        const bool ok = decide_group(d, &g, err);
        hd_free(g.logprob);
        if (!ok)
            return false;
        i += (size_t)g.n;
    }
    return true;
}

static bool check(const struct hd_net *const *nets, int n_nets, heed_error *err)
{
    for (int i = 0; i < n_nets; i++)
        if (nets[i]->config.task != nets[0]->config.task ||
            nets[i]->config.target_vocab != nets[0]->config.target_vocab ||
            nets[i]->config.source_vocab != nets[0]->config.source_vocab)
            return hd_fail(err, HEED_BAD_OPTION,
                           "model %d has another task or vocabulary than the first; models that "
                           "decide together share theirs",
                           i + 1);
    return true;
}

bool hd_decide(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *input,
               size_t n, const struct hd_search_options *options, struct hd_nbest *found,
               heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        found[i] = (struct hd_nbest){0};
    if (!check(nets, n_nets, err) || !hd_check_search_options(nets, n_nets, options, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!hd_check_search_input(nets[0], -1, &input[i], i, err))
            return false;
    struct deciding d = {
        .nets = nets, .n_nets = n_nets, .options = options, .tape = hd_tape_new(err)};
    const bool is_done = d.tape && decide_all(&d, input, n, found, err);
    hd_tape_free(d.tape);
    hd_batch_builder_release(&d.builder);
    return hd_search_end(is_done, found, n);
}
