/* test_search.c -- what a search promises beyond its beam: no neighbour matters, prefixes are kept, samples can be drawn again,
 * limits and mistakes have their words. */
#include "toy.h"

#include "base/memory.h"
#include <math.h>

static const char *const some_nets[] = {
    "transformer norm=pre decoder-layers=2",
    "transformer positions=learned max-positions=40",
    "bahdanau coverage=yes",
    "luong cell=gru local=m window=1 coverage=yes",
    "luong layers=2 input-feeding=yes",
    "luong layers=1 score=multi-head heads=2 attention-dim=10",
    "luong layers=1 score=location max-source=3",
    "seq2seq context=every layers=2 encoder-dim=4 start=copy",
    "seq2seq",
    "ferreira",
    "wang",
};

/* ---- neighbours -------------------------------------------------------------------------------------------------------------- */

/* All sentences, as found with many rows at a time, and again: with few rows, backwards, and each alone. */
static void compare_neighbours(const struct hd_net *net, struct hd_search_options options,
                               const char *name)
{
    enum { N = 40 };
    struct toy_text *text = toy_text(N, 10, 17);
    struct hd_nbest wanted[N], found[N];
    struct hd_search_input backwards[N];
    options.n_rows = 64;
    options.wants_attention = has_attention(net);
    search_toys(&net, 1, text->input, N, &options, wanted, name);
    static const int n_rows[] = {1, 7, 13, 500};
    foreach (r, n_rows) {
        options.n_rows = n_rows[r];
        search_toys(&net, 1, text->input, N, &options, found, name);
        for (int i = 0; i < N; i++)
            assert_same_found(&found[i], &wanted[i], text->input[i].source.n, name);
        release_all(found, N);
    }
    for (int i = 0; i < N; i++)
        backwards[i] = text->input[N - 1 - i];
    options.n_rows = 30;
    search_toys(&net, 1, backwards, N, &options, found, name);
    for (int i = 0; i < N; i++)
        assert_same_found(&found[i], &wanted[N - 1 - i], backwards[i].source.n, name);
    release_all(found, N);
    for (int i = 0; i < N; i++) {
        search_toys(&net, 1, &text->input[i], 1, &options, found, name);
        assert_same_found(found, &wanted[i], text->input[i].source.n, name);
        hd_nbest_release(found);
    }
    release_all(wanted, N);
    free(text);
}

static void neighbours_order_and_rows_at_a_time_do_not_matter(void **state)
{
    (void)state;
    foreach (n, some_nets)
        for (int way = 0; way < 4; way++) {
            struct hd_net *net = toy_net(some_nets[n], 13, 1.0F, 51 + n);
            struct hd_search_options options = hd_search_options_default();
            options.beam = way == 0 ? 1 : 4;
            options.n_best = options.beam;
            options.no_repeat = way == 2 ? 2 : 0;
            options.is_sampled = way == 3;
            compare_neighbours(net, options, some_nets[n]);
            if (way == 1) {
                heed_error err = {0};
                assert_true(hd_net_pack(net, &err)); /* the same with packed weights */
                compare_neighbours(net, options, some_nets[n]);
            }
            hd_net_free(net);
        }
}

/* ---- prefixes, limits, repetition ---------------------------------------------------------------------------------------------- */

static void a_forced_prefix_is_always_kept(void **state)
{
    (void)state;
    enum { N = 20 };
    struct toy_text *text = toy_text(N, 6, 18);
    struct hd_nbest found[N];
    const int prefix[] = {3, 3, 3, 5, 1, 2, 3, 4};
    foreach (n, some_nets)
        for (int way = 0; way < 3; way++) {
            struct hd_net *net = toy_net(some_nets[n], 7, 1.5F, 61 + n);
            const struct hd_net *nets[] = {net};
            struct hd_search_options options = hd_search_options_default();
            options.n_best = 3;
            options.is_sampled = way == 1;
            options.no_repeat = way == 2 ? 1 : 0; /* what is forced may be repeated */
            for (int i = 0; i < N; i++) {
                text->input[i].prefix.ids = prefix;
                text->input[i].prefix.n = i % 9; /* some are longer than max_length */
            }
            search_toys(nets, 1, text->input, N, &options, found, some_nets[n]);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < found[i].n; j++) {
                    const struct hd_hypothesis *h = &found[i].best[j];
                    const int forced = i % 9, limit = forced > 6 ? forced : 6;
                    assert_that(h->n >= forced && h->n <= limit &&
                                    memcmp(h->ids, prefix, (size_t)forced * sizeof *prefix) == 0,
                                "%s: sentence %d, %d", some_nets[n], i, j);
                }
            release_all(found, N);
            hd_net_free(net);
        }
    free(text);
}

static void what_must_be_said_once_is_said_once_and_what_must_not_is_not(void **state)
{
    (void)state;
    enum { N = 20 };
    struct toy_text *text = toy_text(N, 20, 19);
    struct hd_nbest found[N];
    const int once[] = {3, 5}, never[] = {2, 6};
    foreach (n, some_nets)
        for (int way = 0; way < 3; way++) {
            struct hd_net *net = toy_net(some_nets[n], 7, 1.5F, 61 + n);
            const struct hd_net *nets[] = {net};
            struct hd_search_options options = hd_search_options_default();
            options.beam = way == 0 ? 1 : 4;
            options.words_alone = way == 0;
            options.is_sampled = way == 2;
            for (int i = 0; i < N; i++) {
                text->input[i].once = (struct hd_sequence){.ids = once, .n = 2};
                text->input[i].never = (struct hd_sequence){.ids = never, .n = 2};
            }
            search_toys(nets, 1, text->input, N, &options, found, some_nets[n]);
            for (int i = 0; i < N; i++) {
                const struct hd_hypothesis *h = &found[i].best[0];
                int count[7] = {0};
                for (int j = 0; j < h->n; j++)
                    count[h->ids[j]]++;
                assert_that(count[3] <= 1 && count[5] <= 1 && count[2] == 0 && count[6] == 0,
                            "%s: sentence %d", some_nets[n], i);
                assert_that(h->is_cut || (count[3] == 1 && count[5] == 1), "%s: sentence %d",
                            some_nets[n], i);
            }
            release_all(found, N);
            hd_net_free(net);
        }
    heed_error err = {0};
    struct hd_net *net = toy_net(some_nets[0], 7, 1.5F, 61);
    const struct hd_net *nets[] = {net};
    const struct hd_search_options options = hd_search_options_default();
    const int bad[] = {7};
    text->input[0].never = (struct hd_sequence){.ids = bad, .n = 1};
    assert_false(hd_search(nets, 1, END, text->input, 1, &options, found, &err));
    assert_error(err, HEED_BAD_OPTION, "said once");
    hd_net_free(net);
    free(text);
}

static void no_n_gram_is_repeated_when_that_is_forbidden(void **state)
{
    (void)state;
    enum { N = 20 };
    struct toy_text *text = toy_text(N, 20, 19);
    struct hd_nbest found[N];
    int n_repeated = 0;
    foreach (p, toy_presets)
        for (int gram = 0; gram <= 3; gram++)
            for (int way = 0; way < 2; way++) {
                struct hd_net *net = toy_net(toy_presets[p], 5, 1.2F, 71 + p);
                const struct hd_net *nets[] = {net};
                struct hd_search_options options = hd_search_options_default();
                options.beam = options.n_best = 3;
                options.is_sampled = way == 1;
                options.no_repeat = gram;
                search_toys(nets, 1, text->input, N, &options, found, toy_presets[p]);
                const int of = gram ? gram : 2;
                for (int i = 0; i < N; i++)
                    for (int j = 0; j < found[i].n; j++)
                        for (int a = 0; a + of <= found[i].best[j].n; a++)
                            for (int b = 0; b < a; b++) {
                                const int *ids = found[i].best[j].ids;
                                const bool is_same =
                                    memcmp(ids + a, ids + b, (size_t)of * sizeof *ids) == 0;
                                assert_that(!gram || !is_same, "%s: %d-gram %d again at %d",
                                            toy_presets[p], gram, b, a);
                                n_repeated += is_same;
                            }
                release_all(found, N);
                hd_net_free(net);
            }
    assert_true(n_repeated > 0); /* where it is not forbidden */
    free(text);
}

static void what_hits_the_limit_is_cut_and_says_so(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("bahdanau", 9, 0.5F, 5);
    const struct hd_net *nets[] = {net};
    const int source[] = {1, 2};
    struct hd_search_options options = hd_search_options_default();
    options.wants_attention = true;
    for (int limit = 0; limit < 4; limit++)
        for (int n_best = 1; n_best <= 5; n_best += 4) {
            const struct hd_search_input input = {
                .source.ids = source, .source.n = 2, .max_length = limit};
            struct hd_nbest found;
            options.n_best = n_best;
            net->head.b->x[END] = -30; /* it never ends */
            search_toys(nets, 1, &input, 1, &options, &found, "endless");
            assert_int_equal(found.n, limit == 0 ? 1 : n_best);
            for (int i = 0; i < found.n; i++)
                assert_true(found.best[i].is_cut && found.best[i].n == limit);
            hd_nbest_release(&found);
            net->head.b->x[END] = 30; /* it ends at once */
            search_toys(nets, 1, &input, 1, &options, &found, "silent");
            assert_true(found.n >= 1 && !found.best->is_cut && found.best->n == 0);
            assert_true(found.best->total == (double)found.best->logprob[0]);
            hd_nbest_release(&found);
        }
    hd_net_free(net);
}

static void learned_positions_are_a_limit_too(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("transformer positions=learned max-positions=5", 6, 0.5F, 5);
    const struct hd_net *nets[] = {net};
    const int source[] = {1, 2}, prefix[] = {1, 1, 1, 1, 1};
    struct hd_search_input input = {.source.ids = source, .source.n = 2, .max_length = 100};
    struct hd_search_options options = hd_search_options_default();
    struct hd_nbest found;
    net->head.b->x[END] = -30;
    search_toys(nets, 1, &input, 1, &options, &found, "learned");
    assert_true(found.best->n == 4 && found.best->is_cut);
    hd_nbest_release(&found);
    heed_error err = {0};
    input.prefix.ids = prefix;
    input.prefix.n = 5;
    assert_false(hd_search(nets, 1, END, &input, 1, &options, &found, &err));
    assert_error(err, HEED_BAD_TEXT, "more than 5 words");
    hd_net_free(net);
}

/* ---- samples ------------------------------------------------------------------------------------------------------------------------ */

static void drawing_from_the_likeliest_word_alone_is_greedy(void **state)
{
    (void)state;
    enum { N = 20 };
    struct toy_text *text = toy_text(N, 8, 20);
    struct hd_nbest greedy[N], drawn[N];
    foreach (p, toy_presets)
        for (int way = 0; way < 3; way++) {
            struct hd_net *net = toy_net(toy_presets[p], 9, 1.2F, 81 + p);
            const struct hd_net *nets[] = {net};
            struct hd_search_options options = hd_search_options_default();
            options.beam = 1;
            search_toys(nets, 1, text->input, N, &options, greedy, toy_presets[p]);
            options.is_sampled = true;
            options.top_k = way == 0;
            options.top_p = way == 1 ? 1e-6F : 1;
            options.temperature = way == 2 ? 1e-4F : 1;
            search_toys(nets, 1, text->input, N, &options, drawn, toy_presets[p]);
            for (int i = 0; i < N; i++)
                assert_same_found(&drawn[i], &greedy[i], 0, toy_presets[p]);
            release_all(greedy, N), release_all(drawn, N);
            hd_net_free(net);
        }
    free(text);
}

/* 20,000 first words, against the probabilities of the model sharpened or cut as asked for. */
static void words_are_drawn_as_often_as_they_are_likely(void **state)
{
    (void)state;
    enum { V = 6, SAMPLES = 10000, SENTENCES = 2 };
    struct hd_net *net = toy_net("bahdanau", V, 1.5F, 9);
    const struct hd_net *nets[] = {net};
    const int source[] = {1, 2, 3};
    struct hd_search_options options = hd_search_options_default();
    double p[V];
    int prefix[V];
    for (int v = 0; v < V; v++) { /* of one word, or of the end */
        struct hd_nbest found;
        heed_error err = {0};
        prefix[v] = v;
        const struct hd_search_input input = {
            .source.ids = source, .source.n = 3, .prefix.ids = &prefix[v], .prefix.n = v != END};
        assert_true(hd_force_decode(nets, 1, END, &input, 1, &options, &found, &err));
        p[v] = exp((double)found.best->logprob[0]);
        hd_nbest_release(&found);
    }
    static const struct {
        int top_k;
        float top_p, temperature;
    } ways[] = {{0, 1, 1}, {3, 1, 1}, {0, 0.7F, 1}, {0, 1, 0.5F}, {4, 0.9F, 2}};
    foreach (w, ways) {
        double q[V], sum = 0, so_far = 0;
        int order[V], count[V] = {0}, n_kept = V;
        for (int v = 0; v < V; v++) {
            q[v] = pow(p[v], 1 / (double)ways[w].temperature);
            int at = v;
            for (; at > 0 && q[order[at - 1]] < q[v]; at--)
                order[at] = order[at - 1];
            order[at] = v;
        }
        n_kept = ways[w].top_k ? ways[w].top_k : V;
        for (int i = 0; i < n_kept; i++)
            sum += q[order[i]];
        int n = 0;
        while (n < n_kept && (n == 0 || so_far < (double)ways[w].top_p * sum))
            so_far += q[order[n++]];
        for (int i = 0; i < V; i++)
            q[order[i]] = i < n ? q[order[i]] / so_far : 0;
        options.is_sampled = true;
        options.n_best = SAMPLES;
        options.top_k = ways[w].top_k;
        options.top_p = ways[w].top_p;
        options.temperature = ways[w].temperature;
        options.seed = 5 + w;
        struct hd_search_input input[SENTENCES];
        struct hd_nbest found[SENTENCES];
        for (int i = 0; i < SENTENCES; i++)
            input[i] = (struct hd_search_input){
                .source.ids = source, .source.n = 3, .max_length = 1, .number = (uint64_t)i};
        search_toys(nets, 1, input, SENTENCES, &options, found, "samples");
        int n_equal = 0;
        for (int i = 0; i < SENTENCES; i++) {
            assert_int_equal(found[i].n, SAMPLES);
            for (int j = 0; j < SAMPLES; j++) {
                const struct hd_hypothesis *h = &found[i].best[j];
                const int word = h->n > 0 ? h->ids[0] : END;
                count[word]++;
                n_equal +=
                    i == 0 && word == (found[1].best[j].n > 0 ? found[1].best[j].ids[0] : END);
            }
        }
        for (int v = 0; v < V; v++) {
            const double n_drawn = SAMPLES * SENTENCES, wanted = q[v] * n_drawn;
            assert_that(fabs(count[v] - wanted) <= 5 * sqrt(wanted) + (q[v] > 0),
                        "way %zu, word %d: %d times, not about %.0f", w, v, count[v], wanted);
        }
        assert_true(n_equal < SAMPLES); /* two sentences do not draw alike */
        release_all(found, SENTENCES);
    }
    hd_net_free(net);
}

static void the_seed_and_the_number_decide_what_is_drawn(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("transformer", 30, 0.5F, 9);
    const struct hd_net *nets[] = {net};
    const int source[] = {1, 2, 3};
    const struct hd_search_input input[] = {
        {.source = {.ids = source, .n = 3}, .max_length = 12, .number = 7},
        {.source = {.ids = source, .n = 3}, .max_length = 12, .number = 8},
        {.source = {.ids = source, .n = 3}, .max_length = 12, .number = 7}};
    struct hd_search_options options = hd_search_options_default();
    struct hd_nbest found[3], again[3];
    options.is_sampled = true;
    options.n_best = 2;
    options.seed = 1;
    search_toys(nets, 1, input, 3, &options, found, "samples");
    assert_same_found(&found[2], &found[0], 3, "the same number");
    assert_true(found[1].best->total != found[0].best->total);
    assert_true(found[0].best[0].total != found[0].best[1].total);
    options.seed = 2;
    search_toys(nets, 1, input, 3, &options, again, "samples");
    assert_true(again[0].best->total != found[0].best->total);
    release_all(found, 3), release_all(again, 3);
    hd_net_free(net);
}

/* ---- words alone ------------------------------------------------------------------------------------------------------------------------ */

static void greedy_words_are_the_same_without_probabilities(void **state)
{
    (void)state;
    enum { N = 40 };
    struct toy_text *text = toy_text(N, 12, 23);
    struct hd_nbest wanted[N], found[N];
    const int prefix[] = {2, 1};
    foreach (n, some_nets)
        for (int way = 0; way < 4; way++) {
            struct hd_net *net = toy_net(some_nets[n], 40, 1.0F, 91 + n);
            const struct hd_net *nets[] = {net, net};
            struct hd_search_options options = hd_search_options_default();
            heed_error err = {0};
            assert_true(way == 0 || (hd_net_pack(net, &err) && hd_screen_make(&net->head, &err)));
            options.beam = 1;
            options.wants_attention = has_attention(net);
            options.no_repeat = way == 2 ? 2 : 0;
            for (int i = 0; i < N; i++) {
                text->input[i].prefix.ids = prefix;
                text->input[i].prefix.n = i % 3;
            }
            const int n_nets = way == 3 ? 2 : 1;
            search_toys(nets, n_nets, text->input, N, &options, wanted, some_nets[n]);
            options.words_alone = true;
            search_toys(nets, n_nets, text->input, N, &options, found, some_nets[n]);
            for (int i = 0; i < N; i++) {
                const struct hd_hypothesis *a = found[i].best, *b = wanted[i].best;
                const size_t rows = (size_t)b->n + !b->is_cut, S = (size_t)text->input[i].source.n;
                assert_true(found[i].n == 1 && a->n == b->n && a->is_cut == b->is_cut);
                assert_true(!a->logprob && a->total == 0 && a->score == 0);
                assert_true(a->n == 0 || memcmp(a->ids, b->ids, (size_t)a->n * sizeof(int)) == 0);
                assert_true(!a->attention ||
                            memcmp(a->attention, b->attention, rows * S * sizeof(float)) == 0);
            }
            release_all(wanted, N), release_all(found, N);
            hd_net_free(net);
        }
    free(text);
}

/* ---- what goes wrong ---------------------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_asked_is_refused_with_a_sentence(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("bahdanau", 6, 1, 9), *other = toy_net("bahdanau", 7, 1, 9),
                  *fixed = toy_net("seq2seq", 6, 1, 9);
    const struct hd_net *nets[] = {net, other}, *without[] = {fixed};
    const int source[] = {1, 2, 3}, bad[] = {1, TOY_SOURCE}, end[] = {2, END}, beyond[] = {6};
    const struct hd_search_input fine = {.source.ids = source, .source.n = 3, .max_length = 5};
    static const struct {
        size_t offset;
        double value;
        bool is_float;
        const char *words;
    } options[] = {
#define INT(field, value, words) {offsetof(struct hd_search_options, field), value, false, words}
#define REAL(field, value, words)                                     \
    {                                                                 \
        offsetof(struct hd_search_options, field), value, true, words \
    }
        INT(beam, 0, "a beam of 0"),
        INT(beam, 10001, "from 1 to 10000"),
        INT(n_best, 0, "0 best"),
        INT(n_best, 6, "6 best of a beam of 5"),
        INT(norm, 3, "no length normalisation 3"),
        REAL(alpha, NAN, "alpha nan"),
        REAL(coverage_penalty, -1, "a coverage penalty of -1"),
        INT(no_repeat, -1, "n-grams of -1 words"),
        INT(top_k, -2, "the likeliest -2 words"),
        REAL(top_p, 0, "top-p 0"),
        REAL(top_p, 1.5, "top-p 1.5"),
        REAL(temperature, 0, "a temperature of 0"),
        INT(n_rows, 0, "0 hypotheses at a time"),
        INT(layer, 2, "no attention of layer 2"),
        {offsetof(struct hd_search_options, words_alone), 1, false, "a beam of 1"},
        INT(head, 1, "no attention of layer 0, head 1"),
    };
    struct hd_nbest found;
    foreach (i, options) {
        struct hd_search_options o = hd_search_options_default();
        heed_error err = {0};
        o.wants_attention = true;
        if (options[i].is_float)
            *(float *)((char *)&o + options[i].offset) = (float)options[i].value;
        else
            memcpy((char *)&o + options[i].offset, &(int){(int)options[i].value},
                   options[i].offset == offsetof(struct hd_search_options, words_alone)
                       ? sizeof(bool)
                       : sizeof(int));
        assert_false(hd_search(nets, 1, END, &fine, 1, &o, &found, &err));
        assert_error(err, HEED_BAD_OPTION, options[i].words);
        assert_true(found.n == 0 && !found.best);
    }
    struct hd_search_input input[] = {fine, fine, fine, fine, fine};
    input[0].source.ids = bad, input[0].source.n = 2;
    input[1].prefix.ids = end, input[1].prefix.n = 2;
    input[2].prefix.ids = beyond, input[2].prefix.n = 1;
    input[3].source.n = -1;
    input[4].max_length = -1;
    static const char *const sentences[] = {"word 2 is 7, but the source vocabulary has 7 words",
                                            "forced word 2 is 0", "forced word 1 is 6",
                                            "a length is negative", "a length is negative"};
    struct hd_search_options o = hd_search_options_default();
    foreach (i, input)
        for (int is_forced = 0; is_forced < 2; is_forced++) {
            heed_error err = {0};
            assert_false((is_forced ? hd_force_decode : hd_search)(nets, 1, END, &input[i], 1, &o,
                                                                   &found, &err));
            assert_error(err, HEED_BAD_OPTION, sentences[i]);
        }
    heed_error err = {0};
    assert_false(hd_search(nets, 2, END, &fine, 1, &o, &found, &err));
    assert_error(err, HEED_BAD_OPTION,
                 "model 2 has vocabularies of 7 and 7 words, but the first has 7 and 6");
    err = (heed_error){0};
    assert_false(hd_search(nets, 0, END, &fine, 1, &o, &found, &err));
    assert_error(err, HEED_BAD_OPTION, "no model");
    err = (heed_error){0};
    assert_false(hd_search(nets, 1, 6, &fine, 1, &o, &found, &err));
    assert_error(err, HEED_BAD_OPTION, "the end marker is 6");
    o.coverage_penalty = 1;
    for (int is_forced = 0; is_forced < 2; is_forced++) {
        err = (heed_error){0};
        assert_false(
            (is_forced ? hd_force_decode : hd_search)(without, 1, END, &fine, 1, &o, &found, &err));
        assert_error(err, HEED_BAD_OPTION, "no attention");
    }
    hd_net_free(net), hd_net_free(other), hd_net_free(fixed);
}

static void a_model_of_no_numbers_is_refused(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("transformer", 6, 1, 9);
    const struct hd_net *nets[] = {net, net};
    const int source[] = {1, 2, 3};
    const struct hd_search_input input = {.source.ids = source, .source.n = 3, .max_length = 5};
    struct hd_search_options options = hd_search_options_default();
    struct hd_nbest found;
    net->head.b->x[3] = NAN;
    for (int n_nets = 1; n_nets <= 2; n_nets++) {
        heed_error err = {0};
        assert_false(hd_search(nets, n_nets, END, &input, 1, &options, &found, &err));
        assert_error(err, HEED_BAD_MODEL, "not finite");
        err = (heed_error){0};
        assert_false(hd_force_decode(nets, n_nets, END, &input, 1, &options, &found, &err));
        assert_error(err, HEED_BAD_MODEL, "not finite");
    }
    hd_net_free(net);
}

static bool ten_times(void *data)
{
    return ++*(int *)data <= 10;
}

static void whoever_asks_to_stop_is_heard(void **state)
{
    (void)state;
    enum { N = 40 };
    struct hd_net *net = toy_net("transformer", 30, 0.3F, 9);
    const struct hd_net *nets[] = {net};
    struct toy_text *text = toy_text(N, 10, 21);
    struct hd_nbest found[N];
    struct hd_search_options options = hd_search_options_default();
    int n_asked = 0;
    heed_error err = {0};
    options.keep_on = ten_times;
    options.keep_on_data = &n_asked;
    options.n_rows = 7;
    assert_false(hd_search(nets, 1, END, text->input, N, &options, found, &err));
    assert_error(err, HEED_CANCELLED, "stopped");
    assert_int_equal(n_asked, 11);
    for (int i = 0; i < N; i++)
        assert_true(found[i].n == 0 && !found[i].best);
    err = (heed_error){0};
    assert_false(hd_force_decode(nets, 1, END, text->input, N, &options, found, &err));
    assert_error(err, HEED_CANCELLED, "stopped");
    hd_net_free(net);
    free(text);
}

static void nothing_to_search_is_fine(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("luong", 6, 1, 9);
    const struct hd_net *nets[] = {net};
    struct hd_search_options options = hd_search_options_default();
    heed_error err = {0};
    assert_true(hd_search(nets, 1, END, NULL, 0, &options, NULL, &err));
    assert_true(hd_force_decode(nets, 1, END, NULL, 0, &options, NULL, &err));
    hd_net_free(net);
}

/* Whichever allocation fails, the search says so and leaves nothing behind (the sanitizer looks). */
static void without_memory_a_search_fails_cleanly(void **state)
{
    (void)state;
    enum { N = 6 };
    static const char *const nets_of[] = {"transformer", "bahdanau coverage=yes"};
    foreach (n, nets_of)
        for (int way = 0; way < 4; way++) {
            struct hd_net *net = toy_net(nets_of[n], 9, 0.8F, 9);
            const struct hd_net *nets[] = {net, net};
            struct toy_text *text = toy_text(N, 5, 22);
            struct hd_search_options options = hd_search_options_default();
            struct hd_nbest found[N];
            options.beam = 3;
            options.n_best = 2;
            options.n_rows = 6;
            options.no_repeat = way;
            options.wants_attention = way != 1;
            options.coverage_penalty = way == 0 ? 0.1F : 0;
            options.is_sampled = way == 2;
            bool ok = false;
            long n_failed = 0;
            for (; !ok; n_failed++) {
                heed_error err = {0};
                hd_alloc_fail_after(n_failed);
                ok = way == 3 ? hd_force_decode(nets, 1, END, text->input, N, &options, found, &err)
                              : hd_search(nets, way == 1 ? 2 : 1, END, text->input, N, &options,
                                          found, &err);
                hd_alloc_fail_after(-1);
                assert_that(ok || err.code == HEED_NO_MEMORY, "allocation %ld: %s", n_failed,
                            err.message);
                for (int i = 0; !ok && i < N; i++)
                    assert_true(found[i].n == 0 && !found[i].best);
            }
            assert_true(n_failed > 10);
            release_all(found, N);
            hd_net_free(net);
            free(text);
        }
}

static void check_self_attention(const struct hd_nbest *found, const struct hd_search_input *in,
                                 bool is_decoder)
{
    const int n = is_decoder ? in->prefix.n + 1 : in->source.n;
    for (int q = 0; q < n; q++) {
        const float *row = found->best->attention + (size_t)q * (size_t)n;
        double sum = 0;
        for (int k = 0; k < n; k++) {
            sum += (double)row[k];
            assert_true(row[k] >= 0 && (!is_decoder || k <= q || row[k] == 0));
        }
        assert_true(sum > 0.9999 && sum < 1.0001);
    }
}

static void self_attention_of_a_given_output_can_be_read(void **state)
{
    (void)state;
    enum { N = 12 };
    static const int words[] = {3, 5, 1, 2, 4, 3};
    struct hd_net *net = toy_net("transformer", 9, 0.8F, 9);
    const struct hd_net *nets[] = {net, net};
    struct toy_text *text = toy_text(N, 5, 23);
    for (int i = 0; i < N; i++)
        text->input[i].prefix = (struct hd_sequence){.ids = words, .n = i % 7};
    struct hd_search_options options = hd_search_options_default();
    options.wants_attention = true;
    for (int kind = HD_ATTENTION_ENCODER; kind <= HD_ATTENTION_DECODER; kind++)
        for (int head = -1; head < net->config.heads; head++) {
            struct hd_nbest found[N], one;
            heed_error err = {0};
            options.attention = (enum hd_attention_kind)kind;
            options.layer = 1;
            options.head = head;
            assert_that(hd_force_decode(nets, 2, END, text->input, N, &options, found, &err), "%s",
                        err.message);
            for (int i = 0; i < N; i++) {
                const struct hd_search_input *in = &text->input[i];
                const bool is_decoder = kind == HD_ATTENTION_DECODER;
                const size_t n = (size_t)(is_decoder ? in->prefix.n + 1 : in->source.n);
                check_self_attention(&found[i], in, is_decoder);
                assert_true(hd_force_decode(nets, 2, END, in, 1, &options, &one, &err));
                assert_true(n == 0 || memcmp(one.best->attention, found[i].best->attention,
                                             n * n * sizeof(float)) == 0);
                hd_nbest_release(&one);
            }
            release_all(found, N);
        }
    struct hd_nbest found;
    heed_error err = {0};
    assert_false(hd_search(nets, 1, END, text->input, 1, &options, &found, &err));
    assert_int_equal(err.code, HEED_BAD_OPTION);
    hd_net_free(net);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_order_and_rows_at_a_time_do_not_matter),
        cmocka_unit_test(a_forced_prefix_is_always_kept),
        cmocka_unit_test(what_must_be_said_once_is_said_once_and_what_must_not_is_not),
        cmocka_unit_test(no_n_gram_is_repeated_when_that_is_forbidden),
        cmocka_unit_test(what_hits_the_limit_is_cut_and_says_so),
        cmocka_unit_test(learned_positions_are_a_limit_too),
        cmocka_unit_test(drawing_from_the_likeliest_word_alone_is_greedy),
        cmocka_unit_test(words_are_drawn_as_often_as_they_are_likely),
        cmocka_unit_test(the_seed_and_the_number_decide_what_is_drawn),
        cmocka_unit_test(greedy_words_are_the_same_without_probabilities),
        cmocka_unit_test(what_cannot_be_asked_is_refused_with_a_sentence),
        cmocka_unit_test(a_model_of_no_numbers_is_refused),
        cmocka_unit_test(whoever_asks_to_stop_is_heard),
        cmocka_unit_test(nothing_to_search_is_fine),
        cmocka_unit_test(self_attention_of_a_given_output_can_be_read),
        cmocka_unit_test(without_memory_a_search_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
