/* toy.h -- small nets with random weights, sentences for them, and searches that must not fail. */
#ifndef HD_TEST_TOY_H
#define HD_TEST_TOY_H

#include "model/combinations.h"

#include "base/memory.h"
#include "base/rng.h"
#include "search/search.h"

enum { END = 0 };

static const char *const toy_presets[] = {"seq2seq", "bahdanau", "luong",
                                          "wang",    "ferreira", "transformer"};

/* A preset or any combination, with a target vocabulary of this size; weights in (-range, range). */
static inline struct hd_net *toy_net(const char *settings, int n_words, float range, uint64_t seed)
{
    heed_error err = {0};
    struct hd_config config = toy_config(settings);
    config.target_vocab = n_words;
    assert_that(hd_config_check(&config, &err), "%s: %s", settings, err.message);
    struct hd_net *net = hd_net_new(&config, &err);
    assert_that(net != NULL, "%s: %s", settings, err.message);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_uniform(hd_params_at(net->params, i), range, seed);
    return net;
}

enum { MOST_SENTENCES = 64, MOST_SOURCE = 9 };

/* Sentences of 0 to 8 words, some of them equal. */
struct toy_text {
    int words[MOST_SENTENCES][MOST_SOURCE];
    struct hd_search_input input[MOST_SENTENCES];
    int n;
};

static inline struct toy_text *toy_text(int n, int max_length, uint64_t seed)
{
    struct toy_text *text = calloc(1, sizeof *text);
    struct hd_rng rng = {.key = seed};
    assert_true(n <= MOST_SENTENCES);
    text->n = n;
    for (int i = 0; i < n; i++) {
        const int S = (int)hd_rng_below(&rng, MOST_SOURCE);
        for (int j = 0; j < S; j++)
            text->words[i][j] = (int)hd_rng_below(&rng, TOY_SOURCE);
        text->input[i] = (struct hd_search_input){.source.ids = text->words[i],
                                                  .source.n = S,
                                                  .max_length = max_length,
                                                  .number = (uint64_t)i};
    }
    return text;
}

static inline void search_toys(const struct hd_net *const *nets, int n_nets,
                               const struct hd_search_input *input, int n,
                               const struct hd_search_options *options, struct hd_nbest *found,
                               const char *name)
{
    heed_error err = {0};
    const bool ok = hd_search(nets, n_nets, END, input, (size_t)n, options, found, &err);
    assert_that(ok, "%s: %s", name, err.message);
}

static inline void release_all(struct hd_nbest *found, int n)
{
    for (int i = 0; i < n; i++)
        hd_nbest_release(&found[i]);
}

/* The same to the last bit, attention included. */
static inline void assert_same_hypothesis(const struct hd_hypothesis *a,
                                          const struct hd_hypothesis *b, int n_source,
                                          const char *name)
{
    assert_that(a->n == b->n && a->is_cut == b->is_cut, "%s: %d words%s, not %d%s", name, a->n,
                a->is_cut ? ", cut" : "", b->n, b->is_cut ? ", cut" : "");
    const size_t rows = (size_t)a->n + !a->is_cut;
    assert_that(a->n == 0 || memcmp(a->ids, b->ids, (size_t)a->n * sizeof *a->ids) == 0,
                "%s: other words", name);
    assert_that(rows == 0 || memcmp(a->logprob, b->logprob, rows * sizeof *a->logprob) == 0,
                "%s: other probabilities", name);
    assert_that(a->total == b->total && a->score == b->score, "%s: %.17g %.17g, not %.17g %.17g",
                name, a->total, a->score, b->total, b->score);
    assert_that(!a->attention == !b->attention, "%s: one has no attention", name);
    assert_that(!a->attention || memcmp(a->attention, b->attention,
                                        rows * (size_t)n_source * sizeof(float)) == 0,
                "%s: other attention", name);
}

static inline void assert_same_found(const struct hd_nbest *a, const struct hd_nbest *b,
                                     int n_source, const char *name)
{
    assert_that(a->n == b->n, "%s: %d found, not %d", name, a->n, b->n);
    for (int i = 0; i < a->n; i++)
        assert_same_hypothesis(&a->best[i], &b->best[i], n_source, name);
}

static inline bool has_attention(const struct hd_net *net)
{
    return net->config.arch == HD_TRANSFORMER || net->config.context == HD_CONTEXT_ATTENTION;
}

#endif
