/* test_marian.c -- models that Marian trained are searched as Marian searches them: the same greedy translations, the same
 * n-best lists, the same scores. The files are not part of the project; without them the tests say so and are skipped. */
#include "model/oracle.h"

#include "model/import.h"
#include "search/search.h"
#include <math.h>

enum { SENTENCES = 200, BEAM = 5 };

static struct oracle open_marian(const char *name)
{
    struct oracle o = find_oracle(name, "model.npz");
    char model[1024], vocab[1024];
    heed_error err = {0};
    const char *vocabs[] = {in_folder(&o, "vocab.spm", vocab)};
    o.model = heed_model_import(in_folder(&o, "model.npz", model), vocabs, 1, &err);
    assert_that(o.model != NULL, "%s", err.message);
    assert_true(hd_net_pack(o.model->net, &err) && hd_screen_make(&o.model->net->head, &err));
    return o;
}

/* The first sentences of source.en, searched. */
struct searched {
    struct oracle o;
    struct hd_ids ids[SENTENCES];
    struct hd_search_input input[SENTENCES];
    struct hd_nbest found[SENTENCES];
};

static struct searched *search_as_marian(const char *name, const struct hd_search_options *options)
{
    struct searched *s = calloc(1, sizeof *s);
    int n;
    heed_error err = {0};
    s->o = open_marian(name);
    char **source = lines_of(&s->o, "source.en", &n);
    assert_true(n >= SENTENCES);
    for (int i = 0; i < SENTENCES; i++) {
        s->ids[i] = encode(s->o.model->source, source[i]);
        s->input[i] = (struct hd_search_input){.source.ids = s->ids[i].at,
                                               .source.n = (int)s->ids[i].n,
                                               .max_length = 3 * (int)s->ids[i].n,
                                               .number = (uint64_t)i};
    }
    const struct hd_net *net = s->o.model->net;
    const bool ok = hd_search(&net, 1, hd_vocab_end(s->o.model->target), s->input, SENTENCES,
                              options, s->found, &err);
    assert_that(ok, "%s", err.message);
    free_lines(source, n);
    return s;
}

static void forget(struct searched *s)
{
    for (int i = 0; i < SENTENCES; i++) {
        hd_nbest_release(&s->found[i]);
        hd_ids_release(&s->ids[i]);
    }
    close_oracle(&s->o);
    free(s);
}

static void greedy_is_marians(const char *name, bool words_alone)
{
    struct hd_search_options options = hd_search_options_default();
    options.beam = 1;
    options.words_alone = words_alone;
    struct searched *s = search_as_marian(name, &options);
    int n, n_same = 0;
    char **target = lines_of(&s->o, "greedy.de", &n);
    for (int i = 0; i < SENTENCES; i++) {
        const struct hd_hypothesis *h = s->found[i].best;
        assert_int_equal(s->found[i].n, 1);
        char *text = text_of(&s->o, h->ids, h->n);
        n_same += strcmp(text, target[i]) == 0;
        if (strcmp(text, target[i]) != 0)
            print_message("%s, line %d: %s; Marian has %s\n", name, i + 1, text, target[i]);
        hd_free(text);
    }
    free_lines(target, n);
    assert_that(n_same == SENTENCES, "only %d of %d", n_same, SENTENCES);
    forget(s);
}

/* score.txt is of the text of greedy.de, which may have been cut into other words than it was made of. */
static void forced_scores_are_marians(const char *name)
{
    struct hd_search_options options = hd_search_options_default();
    options.beam = 1;
    struct searched *s = search_as_marian(name, &options);
    int n, n_scores;
    char **target = lines_of(&s->o, "greedy.de", &n),
         **wanted = lines_of(&s->o, "score.txt", &n_scores);
    struct hd_ids words[SENTENCES];
    struct hd_nbest found[SENTENCES];
    for (int i = 0; i < SENTENCES; i++) {
        words[i] = encode(s->o.model->target, target[i]);
        s->input[i].prefix.ids = words[i].at;
        s->input[i].prefix.n = (int)words[i].n - 1;
    }
    const struct hd_net *net = s->o.model->net;
    heed_error err = {0};
    const bool ok = hd_force_decode(&net, 1, hd_vocab_end(s->o.model->target), s->input, SENTENCES,
                                    &options, found, &err);
    assert_that(ok, "%s", err.message);
    for (int i = 0; i < SENTENCES; i++) {
        assert_that(fabs(found[i].best->total - strtod(wanted[i], NULL)) <= 1e-3,
                    "%s, line %d: %g, not %s", name, i + 1, found[i].best->total, wanted[i]);
        hd_nbest_release(&found[i]);
        hd_ids_release(&words[i]);
    }
    free_lines(target, n), free_lines(wanted, n_scores);
    forget(s);
}

/* "0 ||| text ||| F0= -1.18236 ||| -0.19706" */
static void n_best_is_marians(const char *name)
{
    struct hd_search_options options = hd_search_options_default();
    options.beam = options.n_best = BEAM;
    struct searched *s = search_as_marian(name, &options);
    int n;
    double worst = 0;
    char **line = lines_of(&s->o, "beam5.nbest", &n);
    assert_true(n >= SENTENCES * BEAM);
    for (int i = 0; i < SENTENCES; i++) {
        assert_int_equal(s->found[i].n, BEAM);
        for (int j = 0; j < BEAM; j++) {
            const struct hd_hypothesis *h = &s->found[i].best[j];
            char *at = line[i * BEAM + j], *bar[3];
            for (int b = 0; b < 3; b++) {
                bar[b] = strstr(at, " ||| ");
                assert_non_null(bar[b]);
                at = bar[b] + 5;
            }
            *bar[1] = '\0';
            char *text = text_of(&s->o, h->ids, h->n);
            const double total = strtod(strstr(bar[1] + 1, "F0=") + 3, NULL),
                         score = strtod(bar[2] + 5, NULL);
            assert_that(strcmp(text, bar[0] + 5) == 0, "%s, line %d, %d: %s; Marian has %s", name,
                        i + 1, j + 1, text, bar[0] + 5);
            assert_that(fabs(h->total - total) <= 1e-3 && fabs(h->score - score) <= 1e-3,
                        "%s, line %d, %d: %g %g, not %g %g", name, i + 1, j + 1, h->total, h->score,
                        total, score);
            worst = fmax(worst, fabs(h->total - total));
            hd_free(text);
        }
    }
    print_message("%s: %d n-best lists are Marian's, their scores differ by at most %.1e\n", name,
                  SENTENCES, worst);
    free_lines(line, n);
    forget(s);
}

static void the_transformer_is_searched_as_by_marian(void **state)
{
    (void)state;
    greedy_is_marians("marian-ende-transformer", false);
    greedy_is_marians("marian-ende-transformer", true);
    forced_scores_are_marians("marian-ende-transformer");
}

static void the_rnn_is_searched_as_by_marian(void **state)
{
    (void)state;
    greedy_is_marians("marian-ende-rnn", false);
    greedy_is_marians("marian-ende-rnn", true);
    forced_scores_are_marians("marian-ende-rnn");
}

static void the_transformers_n_best_lists_are_marians(void **state)
{
    (void)state;
    n_best_is_marians("marian-ende-transformer");
}

static void the_rnns_n_best_lists_are_marians(void **state)
{
    (void)state;
    n_best_is_marians("marian-ende-rnn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_transformer_is_searched_as_by_marian),
        cmocka_unit_test(the_rnn_is_searched_as_by_marian),
        cmocka_unit_test(the_transformers_n_best_lists_are_marians),
        cmocka_unit_test(the_rnns_n_best_lists_are_marians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
