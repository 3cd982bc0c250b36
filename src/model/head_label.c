/* head_label.c -- a label as the output: attention pooling by a learned query, and a softmax over the labels.
 *
 * The query q is a parameter; it asks the encoder's states as a decoder's state would, with any of its scores, so that what the
 * model looked at can be seen. Without a score the states are averaged. A Transformer's query asks by scaled-dot.
 *     e_j = score(q, h_j)    α = softmax(e)    c = Σ_j α_j h_j    p = softmax(W c + b)
 * Yang et al. (2016), "Hierarchical attention networks for document classification", section 2.2, is the score additive. */
#include "base/memory.h"
#include "graph/tape.h"
#include "model/asking.h"
#include "model/output.h"
#include "model/param.h"

struct label_parts {
    struct hd_asking pooling; /* by the net's score, or none */
    hd_node *q;               /* [1,D]; NULL without attention */
};

/* ---- parameters -------------------------------------------------------------------------------- */

static bool declare_label(struct hd_net *net, heed_error *err)
{
    struct label_parts *p = net->output_parts = hd_new(struct label_parts, err);
    if (!p)
        return false;
    struct hd_config pooling = net->config;
    if (net->config.arch == HD_TRANSFORMER)
        pooling.score = HD_SCORE_SCALED_DOT;
    const bool has_attention = pooling.score != HD_SCORE_NONE;
    const struct hd_config *c = &pooling;
    if (has_attention) {
        p->q = hd_param(net->params, "attention.query", 1, c->dim);
        hd_asking_declare(&p->pooling, c, net->params, "attention");
    }
    hd_head_declare(&net->head, c, net->params,
                    has_attention ? hd_value_width(c) : hd_encoder_width(c), NULL);
    return true;
}

static void init_label(const struct hd_net *net, uint64_t seed)
{
    const struct label_parts *p = net->output_parts;
    if (p->q) {
        hd_init_normal(p->q, 1 / __builtin_sqrtf((float)net->config.dim), seed);
        hd_asking_init(&p->pooling, seed);
    }
    hd_head_init(&net->head, seed);
}

/* ---- pooling ----------------------------------------------------------------------------------- */

/* The query, once for every sentence: [B,D] */
static hd_node *ask(const struct label_parts *p, hd_tape *tape, int B)
{
    int *first = hd_tape_take(tape, "hd_teacher_force", (size_t)B, sizeof *first);
    for (int b = 0; first && b < B; b++)
        first[b] = 0;
    return hd_rows(hd_on(tape, p->q), first, first ? B : 0);
}

/* c [B,E] of the states h; *attended_by is the node that has the weights. */
static hd_node *pool(const struct label_parts *p, hd_node *h, const hd_spans *spans,
                     hd_node **attended_by)
{
    const struct hd_view view = hd_asking_view(&p->pooling, h, spans);
    if (hd_has_failed(h->tape))
        return &h->tape->nil;
    hd_node *q = ask(p, h->tape, spans->n);          /* q                     [B,D] */
    hd_node *e = hd_attend_score(&view, q);          /* e_j = score(q, h_j)   [B,S] */
    hd_node *alpha = hd_attend_softmax(&view, e, q); /* α   = softmax_j(e_j)  [B,S] */
    *attended_by = alpha;
    return hd_attend_context(&view, alpha); /* c   = Σ_j α_j h_j     [B,E] */
}

/* ---- the output -------------------------------------------------------------------------------- */

static bool force_label(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                        const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                        struct hd_forced *forced)
{
    const struct label_parts *p = net->output_parts;
    const hd_spans *spans = memory->spans;
    int *numbers = hd_tape_take(tape, "hd_teacher_force", 2 * (size_t)batch->n, sizeof *numbers);
    if (!numbers)
        return false;
    for (int b = 0; b < batch->n; b++) {
        numbers[b] = b;
        numbers[batch->n + b] = 0;
    }
    hd_node *attended_by = NULL;
    hd_node *h = hd_dropout(hd_on(tape, memory->h), dropouts->state);
    hd_node *c = p->q ? pool(p, h, spans, &attended_by) : hd_mean_spans(h, spans);
    *forced = (struct hd_forced){.n_rows = batch->n,
                                 .out = hd_dropout(c, dropouts->output),
                                 .target = batch->target,
                                 .sentence = numbers,
                                 .position = numbers + batch->n};
    const bool has_heads = p->pooling.config.score == HD_SCORE_MULTI_HEAD;
    forced->cross =
        hd_weights_of_one(tape, attended_by, has_heads ? p->pooling.config.heads : 0, spans);
    return !hd_has_failed(tape);
}

static hd_node *loss_of_label(const struct hd_net *net, const struct hd_forced *forced,
                              float smoothing)
{
    return hd_head_loss(&net->head, forced->out, forced->target, smoothing);
}

static hd_node *loss_of_label_pair(const struct hd_net *net, const struct hd_forced *first,
                                   const struct hd_forced *second, float smoothing,
                                   const hd_consistency *consistency)
{
    return hd_head_loss_pair(&net->head, first->out, second->out, first->target, smoothing,
                             consistency);
}

const struct hd_output hd_output_label = {.declare = declare_label,
                                          .free = hd_free,
                                          .init = init_label,
                                          .teacher_force = force_label,
                                          .loss = loss_of_label,
                                          .loss_pair = loss_of_label_pair};
