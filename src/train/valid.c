/* valid.c -- cross entropy and translations of the dev sentences, by groups that threads share.
 *
 * Invariant: groups are cut by the sentences alone, and their sums are added in their order. */
#include "train/valid.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "base/real.h"
#include "search/decide.h"
#include "text/answer.h"
#include "text/evaluate.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 64 }; /* sentences that a thread processes together */

struct sentence {
    struct hd_pair_ids ids;
    char *reference;
    int number;     /* in the corpus' order */
    char *document; /* of a question: what its answer is cut from, and the places of its tokens */
    struct hd_encoding placed;
};

struct hd_dev {
    const struct hd_vocab *target;
    struct sentence *sentences; /* shortest first */
    int n;
    struct hd_ids *store; /* of each sentence, in the corpus' order */
};

void hd_dev_free(struct hd_dev *dev)
{
    if (!dev)
        return;
    for (int i = 0; dev->sentences && dev->store && i < dev->n; i++) {
        hd_free(dev->sentences[i].reference);
        hd_free(dev->sentences[i].document);
        hd_encoding_release(&dev->sentences[i].placed);
        hd_ids_release(&dev->store[dev->sentences[i].number]);
    }
    hd_free(dev->sentences);
    hd_free(dev->store);
    hd_free(dev);
}

static int shorter(const void *a, const void *b)
{
    const struct sentence *p = a, *q = b;
    return p->ids.source.n != q->ids.source.n ? p->ids.source.n - q->ids.source.n
                                              : p->number - q->number;
}

/* `symbol` before the source, if it is one. */
static bool add_sentence(struct hd_dev *dev, const struct hd_vocab *source, int symbol,
                         const struct hd_text_pair *pair, int longest, heed_error *err)
{
    const int i = dev->n;
    struct hd_ids *ids = &dev->store[i];
    struct sentence *s = &dev->sentences[i];
    *s = (struct sentence){.number = i, .reference = hd_alloc(pair->n_target + 1, 1, err)};
    dev->n++;
    if (!s->reference || (symbol >= 0 && !hd_ids_add(ids, symbol, err)) ||
        (source && !hd_vocab_encode(source, pair->source, pair->n_source, hd_vocab_end(source) >= 0,
                                    ids, err)))
        return false;
    memcpy(s->reference, pair->target, pair->n_target);
    const size_t most = (size_t)longest;
    ids->n = ids->n < most ? ids->n : most;
    const int n_source = (int)ids->n;
    const bool with_end = hd_vocab_end(dev->target) >= 0;
    if (!hd_vocab_encode(dev->target, pair->target, pair->n_target, with_end, ids, err))
        return false;
    const int n_target = (int)ids->n - n_source;
    s->ids.source = (struct hd_sequence){.ids = ids->at, .n = n_source};
    s->ids.target = (struct hd_sequence){.ids = ids->at + n_source,
                                         .n = n_target < longest ? n_target : longest};
    return true;
}

static char *copy_text(struct hd_text text, heed_error *err)
{
    char *copy = hd_alloc(text.n + 1, 1, err);
    if (copy && text.n > 0)
        memcpy(copy, text.at, text.n);
    return copy;
}

static bool add_question(struct hd_dev *dev, const struct hd_vocab *vocab,
                         const struct hd_text_pair *pair, int longest, heed_error *err)
{
    const int i = dev->n;
    struct sentence *s = &dev->sentences[i];
    struct hd_question q;
    struct hd_question_lengths lengths;
    hd_question_cut((struct hd_text){pair->source, pair->n_source + 1 + pair->n_target}, &q);
    *s = (struct sentence){
        .number = i, .reference = copy_text(q.answer, err), .document = copy_text(q.document, err)};
    dev->n++;
    if (!s->reference || !s->document ||
        !hd_question_encode(vocab, pair, longest, &dev->store[i], &lengths, &s->placed, err))
        return false;
    if (lengths.document == 0)
        return hd_fail(err, HEED_BAD_TEXT,
                       "a question of the dev text has no token that the model could read; leave "
                       "it out");
    s->ids = hd_question_ids(dev->store[i].at, &lengths);
    return true;
}

struct hd_dev *hd_dev_new(const struct hd_corpus *corpus, size_t first, size_t step,
                          const struct hd_vocab *source, const struct hd_vocab *target, int longest,
                          bool has_questions, heed_error *err)
{
    const size_t size = hd_corpus_size(corpus),
                 n = size > first ? (size - first - 1) / step + 1 : 0;
    struct hd_dev *dev = hd_new(struct hd_dev, err);
    if (!dev)
        return NULL;
    dev->target = target;
    dev->sentences = hd_alloc(n, sizeof *dev->sentences, err);
    dev->store = hd_alloc(n, sizeof *dev->store, err);
    bool ok = dev->sentences && dev->store;
    for (size_t i = 0; ok && i < n; i++) {
        const struct hd_text_pair pair = hd_corpus_pair(corpus, first + i * step);
        const struct hd_direction *direction = hd_corpus_direction(corpus, pair.direction);
        const int symbol = direction ? hd_vocab_language(source, direction->to) : -1;
        ok = has_questions ? add_question(dev, source, &pair, longest, err)
                           : add_sentence(dev, source, symbol, &pair, longest, err);
    }
    if (!ok) {
        hd_dev_free(dev);
        return NULL;
    }
    qsort(dev->sentences, n, sizeof *dev->sentences, shorter);
    return dev;
}

void hd_dev_set_vectors(struct hd_dev *dev, const struct hd_vectors *vectors, int frames,
                        const struct hd_corpus *corpus, size_t first, size_t step)
{
    for (int i = 0; i < dev->n; i++) {
        struct sentence *s = &dev->sentences[i];
        s->ids.source =
            hd_vector_sequence(vectors, frames, corpus, first + (size_t)s->number * step);
    }
    qsort(dev->sentences, (size_t)dev->n, sizeof *dev->sentences, shorter);
}

int hd_dev_size(const struct hd_dev *dev)
{
    return dev->n;
}

/* ---- validating --------------------------------------------------------------------------------- */

struct look {
    struct hd_learner *learner;
    const struct hd_dev *dev;
    bool wants_text;
    double *loss;    /* [groups] */
    char **hyp;      /* [n] by number */
    heed_error *err; /* [groups] */
};

static bool measure_loss(struct look *look, int worker, int from, int n, double *loss,
                         heed_error *err)
{
    const struct hd_net *net = look->learner->net;
    const struct sentence *s = look->dev->sentences + from;
    hd_tape *tape = hd_learner_tape(look->learner, worker);
    struct hd_batch_builder *builder = hd_learner_builder(look->learner, worker);
    hd_batch_begin(builder);
    for (int i = 0; i < n; i++)
        if (!hd_batch_add(builder, s[i].ids.source, s[i].ids.target, -1, err))
            return false;
    const struct hd_batch batch = hd_batch_of(builder);
    hd_tape_reset(tape);
    hd_tape_record(tape, false);
    hd_tape_infer(tape);
    const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, &batch, NULL);
    const hd_node *node = forced ? hd_forced_loss(net, forced, 0) : NULL;
    *loss = node ? (double)node->x[0] : 0;
    return hd_tape_check(tape, err);
}

static bool keep_on(void *stop)
{
    return !hd_stop_is_set(stop);
}

static bool keep_on_asking(void *stop)
{
    return !hd_stop_ask(stop);
}

/* The part of a document from its first to its last token. */
static char *cut_answer(const struct sentence *s, const int tokens[2], heed_error *err)
{
    const struct hd_text document = {s->document, strlen(s->document)};
    const struct hd_span part = hd_answer_part(document, s->placed.spans, tokens[0], tokens[1]);
    return copy_text((struct hd_text){s->document + part.begin, part.end - part.begin}, err);
}

static bool translate(struct look *look, int from, int n, int worker, heed_error *err)
{
    const struct hd_net *nets[1] = {look->learner->net};
    const struct hd_dev *dev = look->dev;
    const struct sentence *s = dev->sentences + from;
    struct hd_search_options options = hd_search_options_default();
    options.beam = look->learner->recipe->valid_beam;
    options.n_best = 1;
    options.keep_on_data = look->learner->stop;
    options.keep_on = !look->learner->stop ? NULL : worker == 0 ? keep_on_asking : keep_on;
    struct hd_search_input input[GROUP] = {0};
    struct hd_nbest found[GROUP] = {0};
    for (int i = 0; i < n; i++)
        input[i] = (struct hd_search_input){.source = s[i].ids.source,
                                            .max_length = hd_longest_output(s[i].ids.source.n, 3),
                                            .number = (uint64_t)s[i].number};
    bool ok =
        hd_decides(&nets[0]->config)
            ? hd_decide(nets, 1, input, (size_t)n, &options, found, err)
            : hd_search(nets, 1, hd_vocab_end(dev->target), input, (size_t)n, &options, found, err);
    for (int i = 0; ok && i < n; i++) {
        const struct hd_hypothesis *best = &found[i].best[0];
        char *text = s[i].document ? cut_answer(&s[i], best->ids, err)
                                   : hd_vocab_decode(dev->target, best->ids, (size_t)best->n, err);
        look->hyp[s[i].number] = text;
        ok = text != NULL;
    }
    for (int i = 0; i < n; i++)
        hd_nbest_release(&found[i]);
    return ok;
}

static void look_at_group(void *context, int index, int worker)
{
    struct look *look = context;
    const struct hd_ranks *ranks = look->learner->ranks;
    index = index * ranks->n + ranks->rank;
    const int from = index * GROUP, left = look->dev->n - from, n = left < GROUP ? left : GROUP;
    heed_error *err = &look->err[index];
    (void)(measure_loss(look, worker, from, n, &look->loss[index], err) && look->wants_text &&
           translate(look, from, n, worker, err));
}

static bool score_labels(const heed_pair *pairs, size_t n, struct hd_validated *v, heed_error *err)
{
    heed_confusion *c = heed_confusion_new(pairs, n, err);
    if (!c)
        return false;
    v->accuracy = c->accuracy;
    v->f1 = c->macro_f1;
    v->has_labels = true;
    heed_confusion_free(c);
    return true;
}

static bool score_answers(const heed_pair *pairs, size_t n, struct hd_validated *v, heed_error *err)
{
    heed_answer_scores scores;
    if (!heed_score_answers(pairs, n, &scores, err))
        return false;
    v->exact = scores.exact;
    v->f1 = scores.f1;
    v->has_answers = true;
    return true;
}

static bool score_text(const struct look *look, struct hd_validated *v, heed_error *err)
{
    const struct hd_dev *dev = look->dev;
    heed_pair *pairs = hd_alloc((size_t)dev->n, sizeof *pairs, err);
    if (!pairs)
        return false;
    for (int i = 0; i < dev->n; i++) {
        const struct sentence *s = &dev->sentences[i];
        pairs[s->number] = (heed_pair){.hyp = look->hyp[s->number], .ref = s->reference};
    }
    const int task = look->learner->net->config.task;
    if (task == HD_TASK_LABEL || task == HD_TASK_SPAN) {
        const bool ok =
            (task == HD_TASK_LABEL ? score_labels : score_answers)(pairs, (size_t)dev->n, v, err);
        hd_free(pairs);
        return ok;
    }
    heed_eval_options options = {.size = sizeof options};
    options.tok = (enum heed_tokeniser)look->learner->recipe->valid_tok;
    heed_evaluation *e = heed_evaluate(pairs, (size_t)dev->n, &options, err);
    const bool ok = e != NULL;
    if (ok) {
        v->bleu = e->bleu;
        v->chrf = e->chrf;
        v->exact = e->exact;
        v->wer = e->wer;
        v->has_text = true;
    }
    hd_free(e);
    hd_free(pairs);
    return ok;
}

/* Every group's results from the rank that has looked at it to all: the loss, and the texts, each ended by NUL. */
static bool share_results(struct look *look, int n_groups, heed_error *err)
{
    struct hd_ranks *ranks = look->learner->ranks;
    bool ok = true;
    for (int g = 0; ok && ranks->module && g < n_groups; g++) {
        const int from = g * GROUP, left = look->dev->n - from, n = left < GROUP ? left : GROUP;
        const int owner = g % ranks->n;
        const struct sentence *s = look->dev->sentences + from;
        size_t size = sizeof(double);
        for (int i = 0; look->wants_text && owner == ranks->rank && i < n; i++)
            size += strlen(look->hyp[s[i].number]) + 1;
        ok = ranks->module->tell(owner, &size, sizeof size, err);
        char *bytes = ok ? hd_alloc(size, 1, err) : NULL, *at = bytes + sizeof(double);
        if (!bytes)
            return false;
        if (owner == ranks->rank) {
            memcpy(bytes, &look->loss[g], sizeof(double));
            for (int i = 0; look->wants_text && i < n; i++)
                at = stpcpy(at, look->hyp[s[i].number]) + 1;
        }
        ok = ranks->module->tell(owner, bytes, size, err);
        if (ok && owner != ranks->rank) {
            memcpy(&look->loss[g], bytes, sizeof(double));
            for (int i = 0; ok && look->wants_text && i < n; i++) {
                ok = (look->hyp[s[i].number] = hd_copy_string(at, err)) != NULL;
                at += strlen(at) + 1;
            }
        }
        hd_free(bytes);
    }
    return ok;
}

bool hd_validate(struct hd_learner *learner, const struct hd_dev *dev, struct hd_validated *v,
                 heed_error *err)
{
    const int n_groups = (dev->n + GROUP - 1) / GROUP;
    struct look look = {.learner = learner,
                        .dev = dev,
                        .wants_text = learner->recipe->valid_metric != HD_VALID_CE,
                        .loss = hd_alloc((size_t)n_groups, sizeof(double), err),
                        .hyp = hd_alloc((size_t)dev->n, sizeof(char *), err),
                        .err = hd_alloc((size_t)n_groups, sizeof(heed_error), err)};
    *v = (struct hd_validated){0};
    bool ok = look.loss && look.hyp && look.err;
    const struct hd_ranks *ranks = learner->ranks;
    if (ok)
        hd_pool_run(learner->threads, look_at_group, &look,
                    (n_groups - ranks->rank + ranks->n - 1) / ranks->n);
    double loss = 0;
    for (int i = 0; ok && i < n_groups; i++)
        ok = !hd_failed(&look.err[i]) || hd_fail(err, look.err[i].code, "%s", look.err[i].message);
    ok = ok && share_results(&look, n_groups, err);
    for (int i = 0; ok && i < n_groups; i++)
        loss += look.loss[i];
    long n_tokens = 0;
    for (int i = 0; i < dev->n; i++)
        n_tokens += dev->sentences[i].ids.target.n;
    v->ce = loss / (double)n_tokens;
    v->perplexity = hd_real_exp(v->ce);
    ok = ok && (!look.wants_text || score_text(&look, v, err));
    for (int i = 0; look.hyp && i < dev->n; i++)
        hd_free(look.hyp[i]);
    hd_free(look.loss);
    hd_free(look.hyp);
    hd_free(look.err);
    return ok;
}

double hd_score_of(const struct hd_recipe *recipe, const struct hd_validated *v)
{
    switch ((enum hd_valid_metric)recipe->valid_metric) {
    case HD_VALID_CE:
        return -v->ce;
    case HD_VALID_BLEU:
        return v->bleu;
    case HD_VALID_CHRF:
        return v->chrf;
    case HD_VALID_EXACT:
        return v->exact;
    case HD_VALID_WER:
        return -v->wer;
    case HD_VALID_ACCURACY:
        return v->accuracy;
    case HD_VALID_F1:
        return v->f1;
    }
    return 0;
}

const char *hd_metric_name(const struct hd_recipe *recipe)
{
    static const char *const names[] = {"cross entropy", "BLEU",     "chrF", "exact",
                                        "WER",           "accuracy", "F1"};
    return names[recipe->valid_metric];
}
