/* combinations.h -- every way of putting a model together, at toy size, as text: "luong cell=gru score=dot attend=after".
 *
 * The first word is a preset, the others are fields. Widths are all different where they may be, so that none can be
 * taken for another; the batch is ragged, with a source of one word and one longer than the score `location` knows. */
#ifndef HD_TEST_COMBINATIONS_H
#define HD_TEST_COMBINATIONS_H

#include "settings.h"

#include "model/model.h"

enum { TOY_SOURCE = 7, TOY_TARGET = 5 }; /* words of the vocabularies */

/* Where a combination belongs: a model, or a contradiction that must be refused. */
enum verdict { IS_MODEL, IS_REFUSED };

struct combination {
    const char *settings;
    enum verdict verdict;
};

typedef void visit_combination(const struct combination *c, void *data);

/* ---- a list of them -------------------------------------------------------------------------- */

struct visitor {
    visit_combination *visit;
    void *data;
};

__attribute__((format(printf, 3, 4))) static void visit_one(const struct visitor *v,
                                                            enum verdict verdict,
                                                            const char *format, ...)
{
    char settings[240];
    va_list list;
    va_start(list, format);
    vsnprintf(settings, sizeof settings, format, list);
    va_end(list);
    v->visit(&(struct combination){settings, verdict}, v->data);
}

#define foreach(i, list) for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++)

static const char *const toy_cells[] = {"cell=rnn", "cell=gru", "cell=gru gru-reset=before",
                                        "cell=lstm"};
static const char *const toy_attends[] = {"before", "after", "inside"};

/* Scores of the content first; the last two have no single distribution over the content. */
static const char *const toy_scores[] = {
    "score=dot encoder-dim=4",
    "score=scaled-dot encoder-dim=4",
    "score=bilinear",
    "score=mlp score-bias=yes",
    "score=additive",
    "score=tanh-sum",
    "score=projected",
    "score=scaled score-depth=3",
    "score=multi-head heads=2 attention-dim=10",
    "score=location max-source=3",
};
enum { N_CONTENT_SCORES = 8 };

/* Any cell × any score × any placement. */
static void visit_cells_scores_and_places(const struct visitor *v)
{
    foreach (c, toy_cells)
        foreach (s, toy_scores)
            foreach (a, toy_attends)
                visit_one(v, IS_MODEL, "luong layers=1 %s %s attend=%s", toy_cells[c],
                          toy_scores[s], toy_attends[a]);
}

/* Locality and coverage with every score that takes them, and with each other. */
static void visit_axes(const struct visitor *v)
{
    static const char *const axes[] = {"local=m window=1", "local=p window=2", "coverage=yes",
                                       "local=m window=1 coverage=yes",
                                       "local=p window=2 coverage=yes"};
    foreach (x, axes)
        foreach (s, toy_scores)
            foreach (a, toy_attends)
                visit_one(v, s < N_CONTENT_SCORES ? IS_MODEL : IS_REFUSED,
                          "luong layers=1 cell=gru %s attend=%s %s", toy_scores[s], toy_attends[a],
                          axes[x]);
    foreach (c, toy_cells)
        foreach (x, axes)
            visit_one(v, IS_MODEL, "bahdanau %s %s", toy_cells[c], axes[x]);
}

/* The parts of scores that are there or not. */
static void visit_parts_of_scores(const struct visitor *v)
{
    foreach (a, toy_attends) {
        visit_one(v, IS_MODEL, "luong layers=1 score=mlp attend=%s", toy_attends[a]);
        visit_one(v, IS_MODEL, "luong layers=1 score=additive score-bias=yes attend=%s",
                  toy_attends[a]);
        visit_one(v, IS_MODEL, "luong layers=1 score=scaled score-depth=1 attend=%s",
                  toy_attends[a]);
        visit_one(v, IS_MODEL, "luong layers=1 score=scaled score-depth=2 attend=%s",
                  toy_attends[a]);
        visit_one(v, IS_MODEL, "luong layers=1 score=local-m window=2 attend=%s", toy_attends[a]);
        visit_one(v, IS_MODEL, "luong layers=1 score=local-p window=1 attend=%s", toy_attends[a]);
    }
    visit_one(v, IS_REFUSED, "luong score=dot encoder-dim=6");
    visit_one(v, IS_REFUSED, "luong score=multi-head heads=3");
    visit_one(v, IS_REFUSED, "luong score=location");
    visit_one(v, IS_REFUSED, "luong score=bilinear max-source=3");
    visit_one(v, IS_REFUSED, "luong score=dot encoder-dim=4 score-bias=yes");
    visit_one(v, IS_REFUSED, "luong score=mlp score-depth=3");
    visit_one(v, IS_REFUSED, "luong score=mlp window=3");
}

/* Scores that read the weights of the step before. */
static void visit_location_aware(const struct visitor *v)
{
    const char *score = "score=location-aware location-filters=2 location-width=3";
    foreach (c, toy_cells)
        foreach (a, toy_attends)
            visit_one(v, IS_MODEL, "luong layers=1 %s attend=%s %s", toy_cells[c], toy_attends[a],
                      score);
    foreach (a, toy_attends) {
        visit_one(v, IS_MODEL, "bahdanau %s attend=%s readout=tanh score-bias=yes local=p window=2",
                  score, toy_attends[a]);
        visit_one(v, IS_MODEL, "luong layers=2 score=location-aware attend=%s local=m window=1",
                  toy_attends[a]); /* a window wider than any sentence */
    }
    visit_one(v, IS_REFUSED, "luong score=location-aware location-width=4");
    visit_one(v, IS_REFUSED, "luong score=location-aware coverage=yes");
    visit_one(v, IS_REFUSED, "luong score=additive location-filters=3");
    visit_one(v, IS_REFUSED, "luong score=additive location-width=5");
    visit_one(v, IS_REFUSED, "luong score=location-aware max-source=3");
    visit_one(v, IS_REFUSED, "luong task=label score=location-aware");
}

/* CTC beside any decoder. */
static void visit_ctc(const struct visitor *v)
{
    visit_one(v, IS_MODEL, "luong layers=1 ctc=0.5");
    visit_one(v, IS_MODEL, "bahdanau cell=lstm score=location-aware ctc=2");
    visit_one(v, IS_MODEL, "seq2seq ctc=1");
    visit_one(v, IS_MODEL, "transformer norm=pre ctc=0.3");
    visit_one(v, IS_MODEL, "transformer norm=post encoder-layers=2 tie=all source-vocab=5 ctc=1");
}

static void visit_fixed_vectors(const struct visitor *v)
{
    static const char *const contexts[] = {"first", "every"};
    static const char *const readouts[] = {"linear", "tanh", "maxout"};
    foreach (c, toy_cells)
        foreach (x, contexts)
            foreach (r, readouts)
                visit_one(v, IS_MODEL, "seq2seq %s context=%s readout=%s reverse-source=%s",
                          toy_cells[c], contexts[x], readouts[r], r == 0 ? "yes" : "no");
    foreach (x, contexts) {
        visit_one(v, IS_MODEL, "seq2seq context=%s layers=2 encoder-dim=4 start=copy", contexts[x]);
        visit_one(v, IS_REFUSED, "seq2seq context=%s readout=attended", contexts[x]);
        visit_one(v, IS_REFUSED, "seq2seq context=%s coverage=yes", contexts[x]);
        visit_one(v, IS_REFUSED, "seq2seq context=%s local=m", contexts[x]);
        visit_one(v, IS_REFUSED, "seq2seq context=%s attend=before", contexts[x]);
        visit_one(v, IS_REFUSED, "seq2seq context=%s input-feeding=yes", contexts[x]);
        visit_one(v, IS_REFUSED, "luong context=%s", contexts[x]);
    }
    visit_one(v, IS_REFUSED, "seq2seq context=attention");
}

static void visit_readouts(const struct visitor *v)
{
    static const char *const readouts[] = {"linear", "tanh", "attended", "maxout"};
    foreach (a, toy_attends)
        foreach (r, readouts)
            for (int layers = 1; layers <= 2; layers++) {
                const bool is_after = a == 1;
                const bool is_model[] = {!is_after, true, is_after, true};
                visit_one(v, is_model[r] ? IS_MODEL : IS_REFUSED,
                          "luong cell=gru encoder-layers=1 decoder-layers=%d attend=%s readout=%s",
                          layers, toy_attends[a], readouts[r]);
            }
    visit_one(v, IS_MODEL, "luong layers=2 input-feeding=yes");
    visit_one(v, IS_MODEL, "luong layers=2 input-feeding=no");
    visit_one(v, IS_REFUSED, "luong attend=before input-feeding=yes");
    visit_one(v, IS_REFUSED, "luong attend=inside input-feeding=yes");
    visit_one(v, IS_REFUSED, "luong readout=tanh input-feeding=yes");
}

static void visit_starts(const struct visitor *v)
{
    static const char *const starts[] = {"last", "mean", "first-backward"};
    foreach (c, toy_cells) {
        foreach (s, starts) {
            visit_one(v, IS_MODEL, "bahdanau %s start=%s encoder-layers=1 decoder-layers=2",
                      toy_cells[c], starts[s]);
            visit_one(v, s < 2 ? IS_MODEL : IS_REFUSED,
                      "luong %s start=%s encoder-layers=2 decoder-layers=1", toy_cells[c],
                      starts[s]);
        }
        visit_one(v, IS_MODEL, "bahdanau %s start=copy encoder-dim=4 layers=2", toy_cells[c]);
        visit_one(v, IS_MODEL, "luong %s start=copy encoder-dim=4 layers=2", toy_cells[c]);
        visit_one(v, IS_REFUSED, "luong %s start=copy encoder-dim=6", toy_cells[c]);
        visit_one(v, IS_REFUSED,
                  "luong %s start=copy encoder-dim=4 encoder-layers=2 decoder-layers=1",
                  toy_cells[c]);
    }
    visit_one(v, IS_MODEL, "bahdanau encoder-layers=2 reverse-source=yes");
    visit_one(v, IS_REFUSED, "bahdanau encoder-dim=5");
    visit_one(v, IS_REFUSED, "luong cell=lstm gru-reset=before");
}

static void visit_presets(const struct visitor *v)
{
    static const char *const cells[] = {"rnn", "gru", "lstm"};
    static const char *const presets[] = {"seq2seq", "bahdanau", "luong", "wang", "ferreira"};
    foreach (p, presets) {
        visit_one(v, IS_MODEL, "%s", presets[p]);
        visit_one(v, IS_MODEL, "%s embed=4 encoder-dim=4 tie=output", presets[p]);
        visit_one(v, IS_MODEL, "%s tie=source-target source-vocab=5", presets[p]);
        visit_one(v, IS_MODEL, "%s embed=4 encoder-dim=4 tie=all source-vocab=5", presets[p]);
        visit_one(v, IS_MODEL, "%s target-start=0", presets[p]);
        visit_one(v, IS_REFUSED, "%s tie=all", presets[p]);
        visit_one(v, IS_REFUSED, "%s target-start=5", presets[p]);
    }
    visit_one(v, IS_MODEL, "wang score=projected");
    foreach (c, toy_cells) {
        visit_one(v, IS_MODEL,
                  "bahdanau attend=inside encoder-transitions=1 decoder-transitions=2 %s",
                  toy_cells[c]);
        visit_one(v, IS_MODEL,
                  "luong decoder-layers=2 decoder-transitions=1 upper-transitions=1 %s",
                  toy_cells[c]);
    }
    visit_one(v, IS_REFUSED, "bahdanau upper-transitions=1");
    foreach (c, cells) {
        visit_one(v, IS_MODEL, "bahdanau dim=8 encoder-dim=16 recurrent-norm=whole cell=%s",
                  cells[c]);
        visit_one(v, IS_MODEL,
                  "bahdanau dim=8 encoder-dim=16 attend=inside recurrent-norm=whole "
                  "decoder-transitions=1 layers=2 residual=yes cell=%s",
                  cells[c]);
        visit_one(v, IS_MODEL, "luong residual=yes layers=3 cell=%s", cells[c]);
    }
    visit_one(v, IS_MODEL,
              "bahdanau dim=8 encoder-dim=16 recurrent-norm=split score=location-aware");
    visit_one(v, IS_MODEL,
              "bahdanau dim=8 encoder-dim=16 attend=inside recurrent-norm=split "
              "decoder-transitions=1 readout=tanh");
    visit_one(v, IS_REFUSED, "luong cell=lstm recurrent-norm=split");
    visit_one(v, IS_REFUSED, "bahdanau gru-reset=before recurrent-norm=whole");
    visit_one(v, IS_REFUSED, "bahdanau residual=yes");
    visit_one(v, IS_REFUSED, "luong embed=3 tie=output");
    visit_one(v, IS_REFUSED, "luong source-vocab=0");
}

static void visit_transformers(const struct visitor *v)
{
    static const char *const norms[] = {"post", "pre"}, *const positions[] = {"sin", "learned",
                                                                              "none"};
    static const char *const activations[] = {"relu", "gelu",    "swish",
                                              "tanh", "sigmoid", "gelu-tanh"};
    foreach (n, norms)
        foreach (p, positions)
            foreach (a, activations)
                visit_one(v, IS_MODEL,
                          "transformer norm=%s positions=%s activation=%s encoder-layers=%d",
                          norms[n], positions[p], activations[a], a == 0 ? 2 : 1);
    foreach (n, norms) {
        visit_one(v, IS_MODEL, "transformer norm=%s final-norm=yes decoder-layers=2", norms[n]);
        visit_one(v, IS_MODEL, "transformer norm=%s final-norm=no decoder-layers=2", norms[n]);
        visit_one(v, IS_MODEL, "transformer norm=%s tie=none target-start=0", norms[n]);
        visit_one(v, IS_MODEL, "transformer norm=%s tie=source-target source-vocab=5", norms[n]);
        visit_one(v, IS_MODEL, "transformer norm=%s tie=all source-vocab=5", norms[n]);
        visit_one(
            v, IS_MODEL,
            "transformer norm=%s position-layout=halves position-shorter=yes position-first=1 "
            "embed-scale=no norm-eps=0.01 heads=1",
            norms[n]);
    }
    foreach (n, norms) {
        visit_one(v, IS_MODEL, "transformer norm=%s dim=8 decoder=ssru decoder-layers=2", norms[n]);
        visit_one(v, IS_MODEL, "transformer norm=%s dim=8 decoder=ssru positions=none tie=output",
                  norms[n]);
        visit_one(
            v, IS_MODEL,
            "transformer norm=%s dim=8 decoder=ssru positions=learned final-norm=no target-start=0",
            norms[n]);
    }
    visit_one(v, IS_REFUSED, "transformer heads=3");
    visit_one(v, IS_REFUSED, "transformer dim=5 heads=1 positions=sin");
    visit_one(v, IS_MODEL, "transformer dim=5 heads=1 positions=learned");
    visit_one(v, IS_REFUSED, "transformer dim=2 position-shorter=yes");
    visit_one(v, IS_REFUSED, "transformer embed=3");
    visit_one(v, IS_REFUSED, "transformer encoder-dim=3");
    visit_one(v, IS_REFUSED, "transformer alignment-layer=2");
    visit_one(v, IS_REFUSED, "transformer alignment-heads=2");
}

/* A label: a query over the states of any encoder, by any score. */
static void visit_labels(const struct visitor *v)
{
    foreach (s, toy_scores)
        visit_one(v, IS_MODEL, "bahdanau task=label %s", toy_scores[s]);
    foreach (c, toy_cells) {
        visit_one(v, IS_MODEL, "luong task=label %s", toy_cells[c]);
        visit_one(v, IS_MODEL, "seq2seq task=label %s", toy_cells[c]);
    }
    visit_one(v, IS_MODEL, "transformer task=label norm=pre");
    visit_one(v, IS_MODEL, "transformer task=label norm=post positions=learned encoder-layers=2");
    visit_one(v, IS_REFUSED, "luong task=label local=p");
    visit_one(v, IS_REFUSED, "luong task=label source=none");
    visit_one(v, IS_REFUSED, "transformer task=label heads=3");
}

/* A span: any encoder, any score that looks at the content, several hops. */
static void visit_spans(const struct visitor *v)
{
    foreach (s, toy_scores)
        visit_one(v, s < 9 ? IS_MODEL : IS_REFUSED, "bahdanau task=span hops=2 %s", toy_scores[s]);
    foreach (c, toy_cells) {
        visit_one(v, IS_MODEL, "luong task=span encoder-layers=2 %s", toy_cells[c]);
        visit_one(v, IS_MODEL, "luong task=span hops=3 max-answer=2 encoder-layers=1 %s",
                  toy_cells[c]);
        visit_one(v, IS_REFUSED, "seq2seq task=span %s", toy_cells[c]);
    }
    visit_one(v, IS_MODEL, "transformer task=span norm=pre max-answer=1");
    visit_one(v, IS_MODEL, "transformer task=span norm=post positions=learned encoder-layers=2");
    visit_one(v, IS_MODEL, "luong task=span word-traits=yes");
    visit_one(v, IS_MODEL, "transformer task=span word-traits=yes");
    visit_one(v, IS_REFUSED, "luong word-traits=yes");
    visit_one(v, IS_REFUSED, "luong task=span local=p");
    visit_one(v, IS_REFUSED, "luong task=span source=none");
    visit_one(v, IS_REFUSED, "luong hops=2");
    visit_one(v, IS_REFUSED, "transformer task=label max-answer=3");
}

/* Nothing is read: a decoder alone. */
static void visit_language_models(const struct visitor *v)
{
    static const char *const readouts[] = {"linear", "tanh", "maxout"};
    foreach (c, toy_cells)
        foreach (r, readouts)
            visit_one(v, IS_MODEL, "luong task=language-model layers=%d %s readout=%s",
                      r == 0 ? 2 : 1, toy_cells[c], readouts[r]);
    visit_one(v, IS_MODEL, "seq2seq source=none embed=4 tie=output");
    visit_one(v, IS_MODEL, "transformer task=language-model norm=pre decoder-layers=2");
    visit_one(v, IS_MODEL, "transformer source=none norm=post positions=learned target-start=0");
    visit_one(v, IS_MODEL, "transformer source=none dim=8 decoder=ssru norm=pre decoder-layers=2");
    visit_one(v, IS_REFUSED, "luong task=language-model source=text");
    visit_one(v, IS_REFUSED, "luong task=language-model readout=attended");
}

static inline void visit_all(visit_combination *visit, void *data)
{
    const struct visitor v = {visit, data};
    visit_cells_scores_and_places(&v);
    visit_axes(&v);
    visit_parts_of_scores(&v);
    visit_location_aware(&v);
    visit_ctc(&v);
    visit_fixed_vectors(&v);
    visit_readouts(&v);
    visit_starts(&v);
    visit_presets(&v);
    visit_transformers(&v);
    visit_labels(&v);
    visit_spans(&v);
    visit_language_models(&v);
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* The configuration of a combination, at toy size where it says nothing else; not yet checked. */
static inline struct hd_config toy_config(const char *settings)
{
    struct hd_config c = preset_of(settings);
    c.source_vocab = TOY_SOURCE;
    c.target_vocab = TOY_TARGET;
    c.dim = 4;
    c.heads = 2;
    if (c.arch == HD_TRANSFORMER) {
        c.encoder_layers = c.decoder_layers = 1;
        c.ffn = 6;
        c.max_positions = 9;
    } else {
        c.encoder_dim = 6;
        c.embed = 3;
        c.attention_dim = c.arch == HD_LUONG || c.arch == HD_BAHDANAU ? 5 : 0;
    }
    set_fields(&c, settings);
    return c;
}

/* Three sentences; ids are valid in vocabularies of five words. */
static inline struct hd_batch toy_batch(void)
{
    static const int source[] = {3, 1, 4, 2, 0, 1, 4, 3, 0}, source_length[] = {3, 1, 5};
    static const int target[] = {2, 0, 3, 1, 4, 0, 4, 4, 0}, target_length[] = {2, 4, 3};
    return (struct hd_batch){.n = 3,
                             .source = source,
                             .source_length = source_length,
                             .target = target,
                             .target_length = target_length};
}

/* The same sources as documents, with questions; of targets the first and last word of an answer. */
static inline struct hd_batch toy_batch_of(const struct hd_config *config)
{
    static const int question[] = {1, 2, 0, 4}, question_length[] = {2, 1, 1};
    static const int mark[] = {1, 2, 1, 1, 1, 1, 2, 1, 1};
    static const int type[] = {0, 1, 2, 0, 0, 1, 2, 3, 0};
    static const int trait[] = {0, 16, 9, 23, 4, 0, 17, 8, 1}, question_trait[] = {16, 2, 23, 9};
    static const int target[] = {1, 2, 0, 0, 2, 3}, target_length[] = {2, 2, 2};
    struct hd_batch batch = toy_batch();
    if (config->task != HD_TASK_SPAN)
        return batch;
    batch.question = question;
    batch.question_length = question_length;
    batch.mark = mark;
    batch.type = type;
    batch.trait = trait;
    batch.question_trait = question_trait;
    batch.target = target;
    batch.target_length = target_length;
    return batch;
}

#endif
