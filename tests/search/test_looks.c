/* test_looks.c -- what models look at: forced attention reaches the search, and the raw scores are those of which the weights are made. */
#include "search/toy.h"

#include <math.h>

enum { WORDS = 11 };

static const char *const settings[] = {"bahdanau", "luong", "wang", "ferreira", "transformer"};
enum { N = sizeof settings / sizeof *settings };

static void a_step_looks_where_it_is_told_to(void **state)
{
    (void)state;
    for (int p = 0; p < N; p++)
        for (int n_nets = 1; n_nets <= 2; n_nets++) {
            struct hd_net *nets[] = {toy_net(settings[p], WORDS, 0.7F, 3),
                                     toy_net(settings[p], WORDS, 0.7F, 4)};
            struct toy_text *text = toy_text(6, 12, 5);
            struct hd_search_options o = hd_search_options_default();
            struct hd_nbest plain[6], told[6];
            o.wants_attention = true;
            search_toys((const struct hd_net *const *)nets, n_nets, text->input, 6, &o, plain,
                        settings[p]);
            int i = 0; /* one that has something to look at */
            while (text->input[i].source.n < 3)
                i++;
            const int S = text->input[i].source.n;
            float alpha[MOST_SOURCE] = {0};
            alpha[1] = 0.75F;
            alpha[2] = 0.25F;
            const struct hd_look look = {.step = 0, .alpha = alpha};
            text->input[i].looks = &look;
            text->input[i].n_looks = 1;
            search_toys((const struct hd_net *const *)nets, n_nets, text->input, 6, &o, told,
                        settings[p]);
            for (int j = 0; j < S; j++)
                assert_that(fabsf(told[i].best[0].attention[j] - alpha[j]) < 1e-6F,
                            "%s, %d nets: %g at %d", settings[p], n_nets,
                            (double)told[i].best[0].attention[j], j);
            assert_that(told[i].best[0].logprob[0] != plain[i].best[0].logprob[0],
                        "%s: it changes nothing", settings[p]);
            for (int k = 0; k < 6; k++)
                if (k != i)
                    assert_same_found(&told[k], &plain[k], text->input[k].source.n, settings[p]);
            release_all(plain, 6);
            release_all(told, 6);
            hd_net_free(nets[0]);
            hd_net_free(nets[1]);
            free(text);
        }
}

static void weights_are_the_softmax_of_the_scores(void **state)
{
    (void)state;
    for (int p = 0; p < N; p++) {
        struct hd_net *net = toy_net(settings[p], WORDS, 0.7F, 3);
        struct toy_text *text = toy_text(6, 12, 5);
        static const int said[] = {3, 1, 4};
        struct hd_search_options o = hd_search_options_default();
        struct hd_nbest found[6];
        heed_error err = {0};
        o.wants_attention = o.wants_raw = true;
        o.head = p == N - 1 ? 0 : -1;
        for (int i = 0; i < 6; i++)
            text->input[i].prefix = (struct hd_sequence){.ids = said, .n = 3};
        assert_that(hd_force_decode((const struct hd_net *const *)&net, 1, END, text->input, 6, &o,
                                    found, &err),
                    "%s", err.message);
        for (int i = 0; i < 6; i++) {
            const int S = text->input[i].source.n;
            const struct hd_hypothesis *h = &found[i].best[0];
            assert_that(h->raw != NULL, "%s: no scores", settings[p]);
            for (int t = 0; t < 4; t++) {
                double sum = 0;
                for (int j = 0; j < S; j++)
                    sum += exp((double)h->raw[t * S + j]);
                for (int j = 0; j < S; j++)
                    assert_that(fabs(exp((double)h->raw[t * S + j]) / sum -
                                     (double)h->attention[t * S + j]) < 1e-5,
                                "%s: step %d, word %d", settings[p], t, j);
            }
        }
        release_all(found, 6);
        hd_net_free(net);
        free(text);
    }
}

static void the_one_vector_is_told(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("seq2seq", WORDS, 0.7F, 3);
    struct toy_text *text = toy_text(3, 12, 5);
    static const int said[] = {3, 1, 4};
    struct hd_search_options o = hd_search_options_default();
    struct hd_nbest found[3];
    heed_error err = {0};
    o.wants_raw = true;
    for (int i = 0; i < 3; i++)
        text->input[i].prefix = (struct hd_sequence){.ids = said, .n = 3};
    assert_that(hd_force_decode((const struct hd_net *const *)&net, 1, END, text->input, 3, &o,
                                found, &err),
                "%s", err.message);
    for (int i = 0; i < 3; i++)
        assert_true(found[i].best[0].vector && found[i].best[0].n_vector > 0 &&
                    !found[i].best[0].raw);
    release_all(found, 3);
    hd_net_free(net);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_looks_where_it_is_told_to),
        cmocka_unit_test(weights_are_the_softmax_of_the_scores),
        cmocka_unit_test(the_one_vector_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
