/* test_sieve.c -- the likeliest word of one row by the sieve is the likeliest of all logits, in floats and in 8 bits, on every CPU. */
#include "combinations.h"

#include "base/memory.h"
#include "base/rng.h"
#include "graph/tape.h"
#include "model/sieve.h"
#include "model/weights.h"

#include <math.h>

enum layer { RANDOM, TIES, EQUAL, EXTREME, NEVER, N_LAYERS };

static void set_word(struct hd_net *net, int v, float (*of)(float, int), int n_words)
{
    hd_node *W = net->head.W;
    const int R = hd_head_width(&net->head);
    for (int i = 0; i < R; i++) {
        float *w = net->head.is_tied ? &W->x[v * R + i] : &W->x[i * n_words + v];
        *w = of(*w, i);
    }
}

static float large(float w, int i)
{
    return i % 2 ? w * 1e4F : w;
}

static float tiny(float w, int i)
{
    (void)i;
    return w * 1e-12F;
}

static float nothing(float w, int i)
{
    (void)w, (void)i;
    return 0;
}

static float one_number(float w, int i)
{
    (void)w;
    return i == 5 ? 3 : 0;
}

static float same(float w, int i)
{
    (void)w;
    return 0.01F * (float)(i % 13) - 0.05F;
}

/* Copies of words, the second of which is likelier by nothing or by one bit. */
static void make_ties(struct hd_net *net, int n_words)
{
    hd_node *W = net->head.W;
    const int R = hd_head_width(&net->head);
    for (int v = 1; v < n_words; v += 3) {
        for (int i = 0; i < R; i++)
            if (net->head.is_tied)
                W->x[v * R + i] = W->x[(v - 1) * R + i];
            else
                W->x[i * n_words + v] = W->x[i * n_words + v - 1];
        net->head.b->x[v] = v % 2 ? net->head.b->x[v - 1] : nextafterf(net->head.b->x[v - 1], 10);
    }
}

static void spoil(struct hd_net *net, int n_words, enum layer layer)
{
    if (layer == TIES)
        make_ties(net, n_words);
    for (int v = 0; layer == EQUAL && v < n_words; v++) {
        set_word(net, v, same, n_words);
        net->head.b->x[v] = 0.25F;
    }
    for (int v = 0; layer == EXTREME && v < n_words; v++)
        if (v % 50 < 4)
            set_word(net, v, (float (*[])(float, int)){large, tiny, nothing, one_number}[v % 50],
                     n_words);
    for (int v = 0; layer == NEVER && v < n_words; v++)
        net->head.b->x[v] = v % 9 == 2 ? -1e9F : v % 9 == 3 ? -30000 : net->head.b->x[v];
}

/* A net whose head is in floats, or in 8 bits. */
static struct hd_net *net_of(const char *settings, int n_words, enum layer layer, bool is_int8)
{
    heed_error err = {0};
    struct hd_config c = toy_config(settings);
    c.target_vocab = n_words;
    assert_that(hd_config_check(&c, &err), "%s: %s", settings, err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s", err.message);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_uniform(hd_params_at(net->params, i), 0.5F, 3);
    spoil(net, n_words, layer);
    if (is_int8) {
        struct hd_net *floats = net;
        net = hd_net_as(floats, HD_COMPUTE_INT8, &err);
        assert_that(net != NULL, "%s", err.message);
        hd_net_free(floats);
    }
    assert_true(hd_net_pack(net, &err) && hd_screen_make(&net->head, &err));
    return net;
}

/* A row: of noise, or one that wants the word v; so it is with trained models, whose best word stands out. */
static hd_node *row_of(const struct hd_net *net, hd_tape *tape, uint64_t seed, float range, int v)
{
    const int R = hd_head_width(&net->head);
    struct hd_rng rng = {.key = seed};
    hd_tape_reset(tape);
    hd_node *x = hd_input(tape, NULL, 1, R);
    float *w = malloc((size_t)R * sizeof *w);
    assert_non_null(w);
    if (v >= 0)
        hd_param_read_output(net->head.W, v, w);
    for (int i = 0; i < R; i++)
        x->x[i] = range * ((v >= 0 ? w[i] : 0) + 0.3F * hd_rng_normal(&rng));
    free(w);
    return x;
}

static int best_of_all(const struct hd_net *net, hd_node *x)
{
    const hd_node *logits = hd_logits(&net->head, x);
    int best = 0;
    for (int v = 1; v < hd_width(logits); v++)
        best = logits->x[v] > logits->x[best] ? v : best;
    return best;
}

/* So many rows that the sieve is there. */
static void warm(const struct hd_net *net, hd_tape *tape)
{
    for (int i = 0; i < 202; i++) {
        int word;
        hd_node *x = row_of(net, tape, 1, 1, 0);
        assert_true(hd_best_words(&net->head, x, &word));
    }
}

/* Returns for how many rows the sieve had the answer. */
static int compare(const struct hd_net *net, hd_tape *tape, int n, float range, bool is_noise,
                   const char *name)
{
    int n_answers = 0;
    for (int i = 0; i < n; i++) {
        hd_node *x = row_of(net, tape, 100 + (uint64_t)i, range,
                            is_noise ? -1 : i * 37 % (int)net->head.b->count);
        const int best = best_of_all(net, x);
        int word, by_sieve;
        assert_true(hd_best_words(&net->head, x, &word));
        assert_that(word == best, "%s, row %d: %d, not %d", name, i, word, best);
        assert_true(hd_sieve_ask(net->head.sieve, &net->head, x, &by_sieve));
        assert_that(by_sieve == -1 || by_sieve == best, "%s, row %d: %d by the sieve, not %d", name,
                    i, by_sieve, best);
        n_answers += by_sieve >= 0;
    }
    return n_answers;
}

static const char *const settings[] = {"transformer tie=output dim=36 heads=2",
                                       "bahdanau embed=50"};

static void the_sieve_names_the_likeliest_word_whatever_the_layer(void **state)
{
    (void)state;
    static const float ranges[] = {1, 1e-6F, 1e-20F, 1e12F, 0};
    const struct hd_kernels *const *kernels = hd_kernels_available(),
                                   *own = hd_kernels_chosen(NULL);
    for (int k = 0; kernels[k]; k++) {
        hd_kernels_choose(kernels[k]);
        heed_error err = {0};
        hd_tape *tape = hd_tape_new(&err);
        foreach (s, settings)
            for (int kind = 0; kind < 2 * N_LAYERS; kind++) {
                char name[120];
                const int n_words = kind % 3 ? 517 : 1600;
                struct hd_net *net = net_of(settings[s], n_words, (enum layer)(kind / 2), kind % 2);
                warm(net, tape);
                foreach (r, ranges)
                    for (int is_noise = 0; is_noise < 2; is_noise++) {
                        snprintf(name, sizeof name, "%s, %s, kind %d, range %g, %s",
                                 kernels[k]->name, settings[s], kind, (double)ranges[r],
                                 is_noise ? "noise" : "words");
                        compare(net, tape, k == 0 ? 6 : 25, ranges[r], is_noise, name);
                    }
                hd_net_free(net);
            }
        hd_tape_free(tape);
    }
    hd_kernels_choose(own);
}

static void rows_that_want_a_word_are_answered_by_the_sieve(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    foreach (s, settings)
        for (int kind = 0; kind < 4; kind++) {
            struct hd_net *net = net_of(settings[s], 1600, kind / 2 ? NEVER : RANDOM, kind % 2);
            int word;
            hd_node *x = row_of(net, tape, 1, 10, 7);
            assert_true(hd_sieve_ask(net->head.sieve, &net->head, x, &word));
            assert_int_equal(word, -1); /* it is not worth it yet */
            warm(net, tape);
            const int n = compare(net, tape, 100, 10, false, settings[s]);
            assert_that(n >= 90, "%s, kind %d: the sieve answered %d of 100", settings[s], kind, n);
            hd_net_free(net);
        }
    hd_tape_free(tape);
}

static void a_sieve_of_older_values_is_not_asked(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    struct hd_net *net = net_of(settings[1], 600, RANDOM, false);
    warm(net, tape);
    hd_init_uniform(net->head.W, 1, 6);
    hd_params_changed(net->params);
    assert_true(hd_params_pack(net->params, &err));
    assert_int_equal(compare(net, tape, 20, 1, false, "changed"), 0);
    assert_true(hd_screen_make(&net->head, &err));
    warm(net, tape);
    assert_true(compare(net, tape, 20, 1, false, "with a new sieve") > 0);
    hd_net_free(net);
    hd_tape_free(tape);
}

static void rows_that_are_not_finite_have_no_word(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    struct hd_net *net = net_of(settings[1], 600, RANDOM, false);
    warm(net, tape);
    hd_node *x = row_of(net, tape, 1, 1, 3);
    x->x[4] = NAN;
    int word;
    assert_true(hd_best_words(&net->head, x, &word));
    assert_int_equal(word, -1);
    hd_net_free(net);
    hd_tape_free(tape);
}

static void without_memory_for_a_sieve_there_is_none_and_the_words_are_the_same(void **state)
{
    (void)state;
    heed_error err = {0};
    for (long n = 0; n < 3; n++) {
        hd_tape *tape = hd_tape_new(&err);
        struct hd_net *net = net_of(settings[1], 600, RANDOM, true);
        int word;
        for (int i = 0; i < 200; i++)
            assert_true(hd_best_words(&net->head, row_of(net, tape, 1, 1, 0), &word));
        hd_node *x = row_of(net, tape, 1, 1, 0);
        hd_alloc_fail_after(n); /* now it would be made */
        assert_true(hd_best_words(&net->head, x, &word));
        hd_alloc_fail_after(-1);
        assert_int_equal(compare(net, tape, 20, 1, false, "without memory"), 0);
        hd_net_free(net);
        hd_tape_free(tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sieve_names_the_likeliest_word_whatever_the_layer),
        cmocka_unit_test(rows_that_want_a_word_are_answered_by_the_sieve),
        cmocka_unit_test(a_sieve_of_older_values_is_not_asked),
        cmocka_unit_test(rows_that_are_not_finite_have_no_word),
        cmocka_unit_test(without_memory_for_a_sieve_there_is_none_and_the_words_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
