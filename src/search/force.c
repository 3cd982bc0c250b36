/* force.c -- forced decoding: what models say of outputs that are given.
 *
 * Whole outputs are run at once, as in teaching, which gives the bits of one word after the other. */
#include "search/search.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/common.h"
#include "search/beam.h"

#include <math.h>
#include <string.h>

enum {
    WORDS_AT_A_TIME = 1024, /* of a group, source and target, unless one sentence alone has more */
    LOGITS_AT_A_TIME = 64,  /* rows of the output layer */
};

/* A group of sentences in work. */
struct group {
    const struct hd_search_input *input;
    int n;
    struct hd_batch batch;
    struct hd_nbest *found;
    float *
        all; /* [rows of the batch, words]: Σ log p of every word, when the likeliest are asked for */
};

struct forcing {
    const struct hd_net *const *nets;
    int n_nets, end;
    const struct hd_search_options *options;
    hd_tape *tape, *output; /* the group's, and the output layer's */
    struct hd_batch_builder builder;
};

/* ---- a group ----------------------------------------------------------------------------------------------------------------- */

/* How many of the first sentences are a group. */
static int size_of_group(const struct hd_search_input *input, size_t n)
{
    long words = 0;
    size_t i = 0;
    for (; i < n && i < INT_MAX; i++) {
        words += (long)input[i].source.n + input[i].prefix.n + 1;
        if (i > 0 && words > WORDS_AT_A_TIME)
            break;
    }
    return (int)i;
}

/* An end marker behind each target. */
static bool make_batch(struct forcing *f, struct group *g, heed_error *err)
{
    hd_batch_begin(&f->builder);
    for (int i = 0; i < g->n; i++)
        if (!hd_batch_add(&f->builder, g->input[i].source, g->input[i].prefix, f->end, err))
            return false;
    g->batch = hd_batch_of(&f->builder);
    return true;
}

/* Attention of a sentence: rows and keys, by the kind that is asked for. */
static size_t n_queries(const struct forcing *f, const struct hd_search_input *in)
{
    return (size_t)(f->options->attention == HD_ATTENTION_ENCODER ? in->source.n
                                                                  : in->prefix.n + 1);
}

static size_t n_keys(const struct forcing *f, const struct hd_search_input *in)
{
    return (size_t)(f->options->attention == HD_ATTENTION_DECODER ? in->prefix.n + 1
                                                                  : in->source.n);
}

static bool make_found(const struct forcing *f, const struct group *g, heed_error *err)
{
    const bool looks = hd_needs_attention(f->options);
    for (int i = 0; i < g->n; i++) {
        const struct hd_search_input *in = &g->input[i];
        const size_t n = (size_t)in->prefix.n;
        struct hd_hypothesis *h = g->found[i].best = hd_new(struct hd_hypothesis, err);
        if (!h)
            return false;
        g->found[i].n = 1;
        h->n = in->prefix.n;
        h->ids = hd_alloc(n, sizeof *h->ids, err);
        h->logprob = hd_alloc(n + 1, sizeof *h->logprob, err);
        if (looks)
            h->attention = hd_alloc(n_queries(f, in) * n_keys(f, in), sizeof *h->attention, err);
        if (!h->ids || !h->logprob || (looks && !h->attention))
            return false;
        if (n > 0)
            memcpy(h->ids, in->prefix.ids, n * sizeof *h->ids);
    }
    return true;
}

/* ---- what a net says ----------------------------------------------------------------------------------------------------------- */

/* Where the words of a step of a sentence stand in g->all. */
static size_t row_of_all(const struct group *g, int sentence, int position)
{
    size_t row = (size_t)position;
    for (int i = 0; i < sentence; i++)
        row += (size_t)g->input[i].prefix.n + 1;
    return row;
}

static void add_all(struct group *g, int sentence, int position, const float *logp, int n)
{
    float *to = g->all + row_of_all(g, sentence, position) * (size_t)n;
    for (int v = 0; v < n; v++)
        to[v] = to[v] + logp[v];
}

/* Adds log p of every row's word to its place. */
static bool add_logprobs(struct forcing *f, const struct hd_net *net,
                         const struct hd_forced *forced, struct group *g, heed_error *err)
{
    for (int from = 0; from < forced->n_rows; from += LOGITS_AT_A_TIME) {
        const int left = forced->n_rows - from,
                  n = left < LOGITS_AT_A_TIME ? left : LOGITS_AT_A_TIME;
        hd_tape_reset(f->output);
        hd_node *rows = hd_slice(hd_on(f->output, forced->out), from, n);
        const hd_node *logp = hd_log_softmax(hd_logits(&net->head, rows), NULL);
        if (!hd_tape_check(f->output, err))
            return false;
        for (int i = 0; i < n; i++) {
            const int r = from + i;
            const float one =
                logp->x[(size_t)i * (size_t)hd_width(logp) + (size_t)forced->target[r]];
            float *sum = &g->found[forced->sentence[r]].best->logprob[forced->position[r]];
            if (!isfinite(one))
                return hd_scores_not_finite(err);
            *sum = *sum + one;
            if (g->all)
                add_all(g, forced->sentence[r], forced->position[r],
                        logp->x + (size_t)i * (size_t)hd_width(logp), hd_width(logp));
        }
    }
    return true;
}

/* Adds one row of weights to where it belongs. */
static bool add_row(struct forcing *f, const struct hd_net *net, const struct hd_weights *weights,
                    int row, struct group *g, int sentence, int query, heed_error *err)
{
    const size_t n = n_keys(f, &g->input[sentence]);
    float *to = g->found[sentence].best->attention + (size_t)query * n;
    return hd_add_attention(to, net, weights, row, (int)n, f->options, f->n_nets, f->tape, err);
}

static bool add_attention(struct forcing *f, const struct hd_net *net,
                          const struct hd_memory *memory, const struct hd_forced *forced,
                          struct group *g, heed_error *err)
{
    const enum hd_attention_kind kind = f->options->attention;
    if (kind == HD_ATTENTION_ENCODER) {
        for (int i = 0; i < g->n; i++)
            for (int j = 0; j < memory->spans->length[i]; j++)
                if (!add_row(f, net, &memory->self, memory->spans->start[i] + j, g, i, j, err))
                    return false;
        return true;
    }
    const struct hd_weights *weights =
        kind == HD_ATTENTION_DECODER ? &forced->self : &forced->cross;
    for (int r = 0; r < forced->n_rows; r++)
        if (!add_row(f, net, weights, r, g, forced->sentence[r], forced->position[r], err))
            return false;
    return true;
}

/* The scores of all rows; none where the attention is a mean of heads. */
static bool add_raw(const struct hd_net *net, const struct hd_search_options *o,
                    const struct hd_forced *forced, struct group *g, heed_error *err)
{
    for (int r = 0; r < forced->n_rows && forced->cross.n_layers > 0; r++) {
        const struct hd_search_input *in = &g->input[forced->sentence[r]];
        struct hd_hypothesis *h = g->found[forced->sentence[r]].best;
        const size_t S = (size_t)in->source.n;
        if (!h->raw && !(h->raw = hd_alloc(((size_t)h->n + 1) * S, sizeof *h->raw, err)))
            return false;
        if (!hd_scores_of(net, &forced->cross, r, o->layer, o->head,
                          h->raw + (size_t)forced->position[r] * S)) {
            hd_free(h->raw);
            h->raw = NULL;
            return true;
        }
    }
    return true;
}

/* What a model without attention makes of the sources. */
static bool add_vectors(const struct hd_net *net, const struct hd_memory *memory, struct group *g,
                        heed_error *err)
{
    for (int i = 0; i < g->n; i++) {
        struct hd_hypothesis *h = g->found[i].best;
        const float *vector = hd_memory_vector(net, memory, i, &h->n_vector);
        if (!vector)
            continue;
        if (!(h->vector = hd_alloc((size_t)h->n_vector, sizeof *h->vector, err)))
            return false;
        memcpy(h->vector, vector, (size_t)h->n_vector * sizeof *h->vector);
    }
    return true;
}

static bool ask(struct forcing *f, const struct hd_net *net, struct group *g, heed_error *err)
{
    hd_tape_reset(f->tape);
    const struct hd_memory *memory = hd_encode(net, f->tape, &g->batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, f->tape, memory, &g->batch, NULL);
    if (!hd_tape_check(f->tape, err) || !add_logprobs(f, net, forced, g, err))
        return false;
    if (f->options->wants_raw && f->n_nets == 1 &&
        (!add_raw(net, f->options, forced, g, err) || !add_vectors(net, memory, g, err)))
        return false;
    return !g->found[0].best->attention || add_attention(f, net, memory, forced, g, err);
}

/* The mean of several nets, and what follows from the words' numbers. */
static void conclude(const struct forcing *f, struct group *g)
{
    for (int i = 0; i < g->n; i++) {
        struct hd_hypothesis *h = g->found[i].best;
        for (int t = 0; t <= h->n; t++) {
            if (f->n_nets > 1)
                h->logprob[t] = h->logprob[t] * (1 / (float)f->n_nets);
            h->total += (double)h->logprob[t];
        }
        const bool is_cross = f->options->attention == HD_ATTENTION_CROSS;
        h->score =
            hd_hypothesis_score(f->options, h->total, h->n + 1, is_cross ? h->attention : NULL,
                                h->n + 1, g->input[i].source.n);
        if (!f->options->wants_attention) {
            hd_free(h->attention);
            h->attention = NULL;
        }
    }
}

/* The likeliest words of each step, by the mean of the nets. */
static bool find_top(const struct forcing *f, struct group *g, heed_error *err)
{
    const int n_top = f->options->n_top, n_words = f->nets[0]->config.target_vocab;
    for (int i = 0; i < g->n && g->all; i++) {
        struct hd_hypothesis *h = g->found[i].best;
        const size_t n = ((size_t)h->n + 1) * (size_t)n_top;
        h->top_ids = hd_alloc(n, sizeof *h->top_ids, err);
        h->top_logprob = hd_alloc(n, sizeof *h->top_logprob, err);
        if (!h->top_ids || !h->top_logprob)
            return false;
        for (int t = 0; t <= h->n; t++) {
            float *logprob = h->top_logprob + (size_t)t * (size_t)n_top;
            f->tape->k->top_k(h->top_ids + (size_t)t * (size_t)n_top, logprob,
                              g->all + row_of_all(g, i, t) * (size_t)n_words, n_words, n_top);
            for (int k = 0; k < n_top && f->n_nets > 1; k++)
                logprob[k] = logprob[k] * (1 / (float)f->n_nets);
        }
    }
    return true;
}

static bool make_all(const struct forcing *f, struct group *g, heed_error *err)
{
    if (f->options->n_top == 0)
        return true;
    g->all = hd_alloc(row_of_all(g, g->n, 0),
                      sizeof *g->all * (size_t)f->nets[0]->config.target_vocab, err);
    return g->all != NULL;
}

static bool ask_all(struct forcing *f, struct group *g, heed_error *err)
{
    bool ok = make_batch(f, g, err) && make_found(f, g, err) && make_all(f, g, err);
    for (int m = 0; ok && m < f->n_nets; m++)
        ok = ask(f, f->nets[m], g, err);
    ok = ok && find_top(f, g, err);
    hd_free(g->all);
    return ok;
}

static bool force_all(struct forcing *f, const struct hd_search_input *input, size_t n,
                      struct hd_nbest *found, heed_error *err)
{
    for (size_t i = 0; i < n;) {
        const struct hd_search_options *o = f->options;
        struct group g = {
            .input = input + i, .n = size_of_group(input + i, n - i), .found = found + i};
        if (o->keep_on && !o->keep_on(o->keep_on_data))
            return hd_fail(err, HEED_CANCELLED, "stopped before everything was scored");
        if (!ask_all(f, &g, err))
            return false;
        conclude(f, &g);
        i += (size_t)g.n;
    }
    return true;
}

bool hd_force_decode(const struct hd_net *const *nets, int n_nets, int end,
                     const struct hd_search_input *input, size_t n,
                     const struct hd_search_options *options, struct hd_nbest *found,
                     heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        found[i] = (struct hd_nbest){0};
    if (!hd_check_nets(nets, n_nets, end, err) ||
        !hd_check_search_options(nets, n_nets, options, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!hd_check_search_input(nets[0], end, &input[i], i, err))
            return false;
    struct forcing f = {.nets = nets,
                        .n_nets = n_nets,
                        .end = end,
                        .options = options,
                        .tape = hd_tape_new(err),
                        .output = hd_tape_new(err)};
    const bool is_done = f.tape && f.output && force_all(&f, input, n, found, err);
    hd_tape_free(f.tape);
    hd_tape_free(f.output);
    hd_batch_builder_release(&f.builder);
    return hd_search_end(is_done, found, n);
}
