/* head_span.c -- a span of the document as the output: where the answer to the question begins and where it ends, as two attentions.
 *
 * Pointer networks (Vinyals et al. 2015): the weights are the output. p_j and u_i are the states of document and question. A recurrent model's document
 * looks at the question word by word, and is read again with what it saw, as in match-LSTM (Wang & Jiang 2016, 2017), its attention without the
 * recurrence; the products are those of Seo et al. (2017):
 *     c_j = C Σ_i α_ji u_i, α_ji = softmax_i score(p_j, u_i)      m_j = RNN([p_j; c_j; p_j ∘ c_j])
 * What is asked is one vector, by a learned query as in head_label.c:
 *     q = tanh(W Σ_i β_i u_i + b), β = softmax_i score(query, u_i)
 * With several hops it takes up what it finds, and the document is read again with it (Sukhbaatar et al. 2015; Kumar et al. 2016); r_j says how much
 * of what was found is the word that stands at j, here or elsewhere (Kadlec et al. 2016):
 *     q ← tanh(W q + C Σ_j γ_j m_j + b), γ = softmax_j score(q, m_j)      r_j = Σ_k γ_k [w_k = w_j]
 *     m_j ← RNN([m_j; G q; m_j ∘ G q; r_j])
 * A Transformer has looked at everything in its layers: m_j is its state. Then
 *     p(start = j) = softmax_j score(q, m_j)      q ← tanh(W q + C Σ_j p(start = j) m_j + b)
 *     p(end = k | start = j) = softmax_{j ≤ k < j + max_answer} score(q, m_k)
 * so that the probabilities of all spans within that length sum to 1. Pointers and hops ask by the model's own score; where that maps values, or is
 * a Transformer's, by `projected`. */
#include "base/memory.h"
#include "graph/tape.h"
#include "model/asking.h"
#include "model/encoder.h"
#include "model/output.h"
#include "model/param.h"

#include <stdio.h>

/* q ← tanh(W q + C c + b) */
struct span_update {
    hd_node *W, *C, *b;
};

/* What is asked takes up what it found, and the document is read again. */
struct span_hop {
    struct hd_asking asking;
    struct span_update update;
    hd_node *G;
};

struct span_parts {
    hd_node *query; /* [1,D] */
    struct hd_asking question;
    hd_node *map_W, *map_b; /* of the pooled question, to q */
    struct hd_asking match; /* recurrent: document over question */
    hd_node *match_C;
    int n_reads;                      /* 0: a Transformer */
    struct hd_encoder_parts *read;    /* [n_reads]: one layer each */
    struct span_hop hop[HD_MAX_HOPS]; /* from 1 */
    struct hd_asking start, end;
    struct span_update to_end;
};

/* ---- parameters -------------------------------------------------------------------------------- */

/* How pointers ask. */
static struct hd_config how_pointed(const struct hd_config *c)
{
    struct hd_config p = *c;
    if (c->arch == HD_TRANSFORMER || c->score == HD_SCORE_SCALED || c->score == HD_SCORE_MULTI_HEAD)
        p.score = HD_SCORE_PROJECTED;
    p.attention_dim = c->attention_dim ? c->attention_dim : c->dim;
    return p;
}

/* How one vector asks all states: a Transformer by scaled-dot. */
static struct hd_config how_pooled(const struct hd_config *c)
{
    struct hd_config p = *c;
    if (c->arch == HD_TRANSFORMER)
        p.score = HD_SCORE_SCALED_DOT;
    return p;
}

static struct span_update declare_span_update(hd_params *params, const char *prefix, int D,
                                              int found)
{
    struct span_update u;
    u.W = hd_map_param(params, prefix, "W", D, D);
    u.C = hd_map_param(params, prefix, "C", found, D);
    u.b = hd_vector_param(params, prefix, "b", D);
    return u;
}

/* One recurrent layer of the encoder's kind, over inputs three times as wide as its states, and of a hop one more. */
static void declare_read(struct hd_encoder_parts *read, const struct hd_net *net, int number)
{
    struct hd_config one = net->config;
    char name[32];
    one.encoder_layers = 1;
    snprintf(name, sizeof name, "match.%d", number);
    hd_encoder_declare(read, &one, net->params, name, 3 * hd_encoder_width(&one) + (number > 1));
}

static void declare_reading(struct span_parts *p, const struct hd_net *net)
{
    const struct hd_config *c = &net->config;
    const int E = hd_encoder_width(c);
    struct hd_config by_word = *c;
    const struct hd_config point = how_pointed(c);
    char name[32];
    by_word.dim = E; /* the document's states ask */
    hd_asking_declare(&p->match, &by_word, net->params, "match");
    p->match_C = hd_map_param(net->params, "match", "C", hd_value_width(&by_word), E);
    for (int k = 0; k < p->n_reads; k++) {
        struct span_hop *hop = &p->hop[k];
        if (k > 0) {
            snprintf(name, sizeof name, "hop.%d", k + 1);
            hd_asking_declare(&hop->asking, &point, net->params, name);
            hop->G = hd_map_param(net->params, name, "G", c->dim, E);
            snprintf(name, sizeof name, "hop.%d.update", k + 1);
            hop->update = declare_span_update(net->params, name, c->dim, hd_value_width(&point));
        }
        declare_read(&p->read[k], net, k + 1);
    }
}

static bool declare_span(struct hd_net *net, heed_error *err)
{
    struct span_parts *p = net->output_parts = hd_new(struct span_parts, err);
    if (!p)
        return false;
    const struct hd_config *c = &net->config;
    const struct hd_config pool = how_pooled(c), point = how_pointed(c);
    p->n_reads = c->arch == HD_TRANSFORMER ? 0 : c->hops;
    p->read = hd_alloc((size_t)p->n_reads, sizeof *p->read, err);
    if (!p->read)
        return false;
    p->query = hd_param(net->params, "question.query", 1, c->dim);
    hd_asking_declare(&p->question, &pool, net->params, "question");
    p->map_W = hd_map_param(net->params, "question.map", "W", hd_value_width(&pool), c->dim);
    p->map_b = hd_vector_param(net->params, "question.map", "b", c->dim);
    if (p->n_reads > 0)
        declare_reading(p, net);
    hd_asking_declare(&p->start, &point, net->params, "pointer.start");
    p->to_end = declare_span_update(net->params, "pointer.update", c->dim, hd_value_width(&point));
    hd_asking_declare(&p->end, &point, net->params, "pointer.end");
    return true;
}

static void free_span(void *parts)
{
    struct span_parts *p = parts;
    if (p)
        hd_free(p->read);
    hd_free(p);
}

static void init_span_update(const struct span_update *u, uint64_t seed)
{
    hd_init_glorot(u->W, seed);
    hd_init_glorot(u->C, seed);
    hd_init_fill(u->b, 0);
}

static void init_span(const struct hd_net *net, uint64_t seed)
{
    const struct span_parts *p = net->output_parts;
    hd_init_normal(p->query, 1 / __builtin_sqrtf((float)net->config.dim), seed);
    hd_asking_init(&p->question, seed);
    hd_init_glorot(p->map_W, seed);
    hd_init_fill(p->map_b, 0);
    if (p->n_reads > 0) {
        hd_asking_init(&p->match, seed);
        hd_init_glorot(p->match_C, seed);
    }
    for (int k = 0; k < p->n_reads; k++) {
        hd_encoder_init(&p->read[k], seed);
        if (k > 0) {
            hd_asking_init(&p->hop[k].asking, seed);
            hd_init_glorot(p->hop[k].G, seed);
            init_span_update(&p->hop[k].update, seed);
        }
    }
    hd_asking_init(&p->start, seed);
    init_span_update(&p->to_end, seed);
    hd_asking_init(&p->end, seed);
}

/* ---- formulas ---------------------------------------------------------------------------------- */

/* Σ_j α_j h_j of queries q [n,·], the b-th of which asks sentence b; *weights, if it is not NULL, become the α [n,S]. */
static hd_node *ask_rows(const struct hd_asking *a, hd_node *q, hd_node *h, const hd_spans *spans,
                         hd_node **weights)
{
    const struct hd_view view = hd_asking_view(a, h, spans);
    if (hd_has_failed(h->tape))
        return &h->tape->nil;
    hd_node *e = hd_attend_score(&view, q);          /* e_j = score(q, h_j)   [n,S] */
    hd_node *alpha = hd_attend_softmax(&view, e, q); /* α   = softmax_j(e_j)  [n,S] */
    if (weights)
        *weights = alpha;
    return hd_attend_context(&view, alpha); /* c   = Σ_j α_j h_j     [n,V] */
}

static hd_node *take_up(const struct span_update *u, hd_node *q, hd_node *c)
{
    hd_node *Wq = hd_affine(u->W, u->b, q); /* W q + b          [B,D] */
    hd_node *Cc = hd_lin(u->C, c);          /* C c              [B,D] */
    return hd_tanh(hd_add(Wq, Cc));         /* tanh(…)          [B,D] */
}

/* The rows of h that the spans name, one sentence after the other: [total, width] */
static hd_node *copy_rows(hd_node *h, const hd_spans *spans)
{
    hd_tape *t = h->tape;
    int *row = hd_tape_take(t, "hd_teacher_force", (size_t)spans->total, sizeof *row);
    int n = 0;
    for (int i = 0; row && i < spans->n; i++)
        for (int j = 0; j < spans->length[i]; j++)
            row[n++] = spans->start[i] + j;
    return hd_rows(h, row, n);
}

/* For each position of the documents the question of its own. */
static const hd_spans *question_of_each(hd_tape *t, const hd_spans *documents,
                                        const hd_spans *questions)
{
    const size_t n = (size_t)documents->total;
    int *start = hd_tape_take(t, "hd_teacher_force", 2 * n, sizeof *start);
    int *length = start ? start + n : NULL;
    size_t r = 0;
    for (int i = 0; start && i < documents->n; i++)
        for (int j = 0; j < documents->length[i]; j++, r++) {
            start[r] = questions->start[i];
            length[r] = questions->length[i];
        }
    return hd_spans_at(t, start, length, (int)r);
}

/* q [B,D] of the questions' states. */
static hd_node *what_is_asked(const struct span_parts *p, hd_node *u, const hd_spans *questions)
{
    hd_tape *t = u->tape;
    int *first = hd_tape_take(t, "hd_teacher_force", (size_t)questions->n, sizeof *first);
    for (int b = 0; first && b < questions->n; b++)
        first[b] = 0;
    hd_node *query = hd_rows(hd_on(t, p->query), first, first ? questions->n : 0);
    hd_node *c = ask_rows(&p->question, query, u, questions, NULL); /* Σ_i β_i u_i          [B,V] */
    return hd_dense(p->map_W, p->map_b, c, HD_TANH);                /* q = tanh(W c + b)    [B,D] */
}

/* A 1 for each position at the number of its word: [total, words] */
static hd_node *words_at(hd_tape *t, const int *type, const hd_spans *documents)
{
    int n = 0;
    for (int r = 0; r < documents->total; r++)
        n = type[r] >= n ? type[r] + 1 : n;
    hd_node *one = hd_input(t, NULL, documents->total, n);
    for (int r = 0; !hd_has_failed(t) && r < documents->total; r++)
        one->x[(size_t)r * (size_t)n + (size_t)type[r]] = 1;
    return one;
}

/* r_j = Σ_k γ_k [w_k = w_j]: [total,1] */
static hd_node *found_words(hd_node *gamma, hd_node *words, const hd_spans *documents)
{
    hd_node *of_word =
        hd_mix(gamma, hd_ragged(words, documents)); /* Σ_k γ_k [w_k = v]  [B,words] */
    hd_node *at = hd_mul(hd_spread(of_word, documents), words);
    return hd_sum_last(at);
}

/* RNN([m_j; c_j; m_j ∘ c_j]), [total, E] each; [… ; r_j] where r is not NULL */
static hd_node *read_with(const struct hd_encoder_parts *read, hd_node *m, hd_node *c, hd_node *r,
                          const hd_spans *documents, const struct hd_dropouts *drop)
{
    hd_node *both = hd_mul(m, c);
    hd_node *x = hd_dropout(hd_join((hd_node *[]){m, c, both}, 3), drop->state);
    const hd_spans *spans = documents;
    return hd_encoder_run(read, r ? hd_concat(x, r) : x, &spans, 0).h;
}

/* What reading needs beside the states. */
struct reading_of {
    const hd_spans *documents, *questions;
    const int *type; /* of each position of the documents */
    const struct hd_dropouts *drop;
};

/* The documents' states m with what is asked, *q, in view of the questions' states u. */
static hd_node *read_document(const struct span_parts *p, hd_node *m, hd_node *u, hd_node **q,
                              const struct reading_of *of)
{
    const hd_spans *documents = of->documents;
    const hd_spans *each = question_of_each(m->tape, documents, of->questions);
    hd_node *seen = ask_rows(&p->match, m, u, each, NULL);       /* Σ_i α_ji u_i  [ΣP,V] */
    hd_node *c = hd_lin(p->match_C, seen);                       /* c_j           [ΣP,E] */
    m = read_with(&p->read[0], m, c, NULL, documents, of->drop); /* m_j         [ΣP,E] */
    hd_node *words = p->n_reads > 1 ? words_at(m->tape, of->type, documents) : NULL;
    for (int k = 1; k < p->n_reads; k++) {
        const struct span_hop *hop = &p->hop[k];
        hd_node *gamma = &m->tape->nil;
        hd_node *found = ask_rows(&hop->asking, *q, m, documents, &gamma); /* Σ_j γ_j m_j [B,V] */
        *q = take_up(&hop->update, *q, found);                             /* q             [B,D] */
        hd_node *g = hd_spread(hd_lin(hop->G, *q), documents);    /* G q           [ΣP,E] */
        hd_node *r = found_words(gamma, words, documents);        /* r_j           [ΣP,1] */
        m = read_with(&p->read[k], m, g, r, documents, of->drop); /* m_j           [ΣP,E] */
    }
    return m;
}

/* ---- the output -------------------------------------------------------------------------------- */

/* Two rows for each sentence: all starts, then all ends. */
static bool number_rows(hd_tape *tape, const struct hd_batch *batch, const hd_spans *documents,
                        hd_node *alpha[2], struct hd_forced *forced)
{
    const size_t n = (size_t)batch->n;
    int *numbers = hd_tape_take(tape, "hd_teacher_force", 8 * n, sizeof *numbers);
    hd_node **nodes = hd_tape_take(tape, "hd_teacher_force", 2, sizeof *nodes);
    if (!numbers || !nodes)
        return false;
    int *target = numbers, *sentence = numbers + 2 * n, *position = numbers + 4 * n,
        *length = numbers + 6 * n;
    for (size_t b = 0, at = 0; b < n; b++)
        for (size_t end = 0; end < 2; end++) {
            const size_t r = end * n + b;
            const bool is_given = batch->target_length && batch->target_length[b] == 2;
            target[r] = is_given ? batch->target[at++] : -1;
            sentence[r] = (int)b;
            position[r] = (int)end;
            length[r] = documents->length[b];
        }
    nodes[0] = alpha[0];
    nodes[1] = alpha[1];
    forced->n_rows = 2 * batch->n;
    forced->target = target;
    forced->sentence = sentence;
    forced->position = position;
    forced->cross = hd_weights_by_step(nodes, 0, position, sentence, length);
    return true;
}

static bool force_span(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                       const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                       struct hd_forced *forced)
{
    const struct span_parts *p = net->output_parts;
    hd_node *h = hd_dropout(hd_on(tape, memory->h), dropouts->state);
    const hd_spans *documents = hd_spans_of(tape, memory->documents->length, batch->n);
    const hd_spans *questions = hd_spans_of(tape, memory->questions->length, batch->n);
    hd_node *m = copy_rows(h, memory->documents), *u = copy_rows(h, memory->questions);
    if (hd_has_failed(tape))
        return false;
    hd_node *q = what_is_asked(p, u, questions);
    if (p->n_reads > 0)
        m = read_document(p, m, u, &q,
                          &(struct reading_of){documents, questions, batch->type, dropouts});
    m = hd_dropout(m, dropouts->output);
    const struct hd_view start = hd_asking_view(&p->start, m, documents),
                         end = hd_asking_view(&p->end, m, documents);
    if (hd_has_failed(tape))
        return false;
    hd_node *e_start = hd_attend_score(&start, q);           /* score(q, m_j)          [B,P] */
    hd_node *alpha = hd_attend_softmax(&start, e_start, q);  /* p(start = j)           [B,P] */
    hd_node *found = hd_attend_context(&start, alpha);       /* Σ_j p(start = j) m_j   [B,V] */
    q = take_up(&p->to_end, q, found);                       /* q                      [B,D] */
    hd_node *e_end = hd_attend_score(&end, q);               /* score(q, m_k)          [B,P] */
    hd_node *beta = hd_attend_softmax(&end, e_end, q);       /* of all k, to be seen   [B,P] */
    forced->out = hd_pile((hd_node *[]){e_start, e_end}, 2); /*                       [2B,P] */
    return number_rows(tape, batch, documents, (hd_node *[]){alpha, beta}, forced) &&
           !hd_has_failed(tape);
}

/* ---- loss -------------------------------------------------------------------------------------- */

/* The positions [*from, *to) that row r chooses from; an answer that is longer than any should be is among them. */
static void answer_window(const struct hd_net *net, const struct hd_forced *f, int r, int *from,
                          int *to)
{
    const int n = f->cross.n_keys[r], starts = f->n_rows / 2;
    *from = 0;
    *to = n;
    if (f->position[r] == 0)
        return;
    const int first = f->target[r - starts], most = net->config.max_answer;
    *from = first;
    *to = n - first > most ? first + most : n;
    if (*to <= f->target[r])
        *to = f->target[r] + 1;
}

/* The scores, far below all others where a row must not look: [2B,P] */
static hd_node *mask_scores(const struct hd_net *net, const struct hd_forced *f)
{
    const float far_below = -1e9F;
    const int P = hd_width(f->out);
    hd_node *mask = hd_input(f->out->tape, NULL, f->n_rows, P);
    for (int r = 0; r < f->n_rows && hd_count(mask) == (size_t)f->n_rows * (size_t)P; r++) {
        int from, to;
        answer_window(net, f, r, &from, &to);
        for (int j = 0; j < P; j++)
            mask->x[(size_t)r * (size_t)P + (size_t)j] = j < from || j >= to ? far_below : 0;
    }
    return hd_add(f->out, mask);
}

/* What each log-probability weighs: (1-ε) at the target, and ε spread over all that could be. */
static hd_node *weights_of_targets(const struct hd_net *net, const struct hd_forced *f,
                                   float smoothing)
{
    const int P = hd_width(f->out);
    hd_node *w = hd_input(f->out->tape, NULL, f->n_rows, P);
    for (int r = 0; r < f->n_rows && hd_count(w) == (size_t)f->n_rows * (size_t)P; r++) {
        int from, to;
        answer_window(net, f, r, &from, &to);
        float *row = w->x + (size_t)r * (size_t)P;
        for (int j = from; j < to; j++)
            row[j] = smoothing / (float)(to - from);
        row[f->target[r]] += 1 - smoothing;
    }
    return w;
}

/* -Σ_j w_j log p_j */
static hd_node *loss_of_scores(const struct hd_net *net, const struct hd_forced *f, hd_node *e,
                               float smoothing)
{
    hd_node *w = weights_of_targets(net, f, smoothing);
    hd_node *logp = hd_log_softmax(e, NULL);
    return hd_scale(hd_sum(hd_mul(w, logp)), -1);
}

static hd_node *loss_of_span(const struct hd_net *net, const struct hd_forced *f, float smoothing)
{
    return loss_of_scores(net, f, mask_scores(net, f), smoothing);
}

static hd_node *loss_of_span_pair(const struct hd_net *net, const struct hd_forced *first,
                                  const struct hd_forced *second, float smoothing,
                                  const hd_consistency *c)
{
    hd_node *e1 = mask_scores(net, first), *e2 = mask_scores(net, second);
    hd_node *loss1 = hd_scale(loss_of_scores(net, first, e1, smoothing), c->weight1);
    hd_node *loss2 = hd_scale(loss_of_scores(net, second, e2, smoothing), c->weight2);
    hd_node *there = hd_scale(hd_kl(e1, e2), c->forward);
    hd_node *back = hd_scale(hd_kl(e2, e1), c->backward);
    hd_node *loss = hd_add(loss1, loss2), *apart = hd_add(there, back);
    return hd_add(loss, apart);
}

const struct hd_output hd_output_span = {.declare = declare_span,
                                         .free = free_span,
                                         .init = init_span,
                                         .teacher_force = force_span,
                                         .loss = loss_of_span,
                                         .loss_pair = loss_of_span_pair};
