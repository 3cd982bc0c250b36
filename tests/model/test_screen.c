/* test_screen.c -- the likeliest word by the screen of the output layer is the likeliest of all logits, whatever the numbers. */
#include "combinations.h"

#include "base/memory.h"
#include "base/rng.h"
#include "graph/tape.h"
#include <math.h>

static struct hd_net *net_of(const char *settings, int n_words, float range, uint64_t seed)
{
    heed_error err = {0};
    struct hd_config c = toy_config(settings);
    c.target_vocab = n_words;
    assert_that(hd_config_check(&c, &err), "%s: %s", settings, err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s", err.message);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_uniform(hd_params_at(net->params, i), range, seed);
    return net;
}

/* Every row against all logits; the lower id of equal ones. */
static void compare(const struct hd_net *net, hd_tape *tape, int n, float range, uint64_t seed,
                    const char *name)
{
    hd_tape_reset(tape);
    const int R = hd_head_width(&net->head);
    hd_node *x = hd_input(tape, NULL, n, R);
    struct hd_rng rng = {.key = seed};
    for (int i = 0; i < n * R; i++)
        x->x[i] = range * hd_rng_normal(&rng);
    int *word = malloc((size_t)n * sizeof *word);
    assert_true(hd_best_words(&net->head, x, word));
    const hd_node *logits = hd_logits(&net->head, x);
    for (int r = 0; r < n; r++) {
        const float *row = logits->x + (size_t)r * (size_t)hd_width(logits);
        int best = 0;
        for (int v = 1; v < hd_width(logits); v++)
            best = row[v] > row[best] ? v : best;
        assert_that(word[r] == best, "%s, row %d: %d (%a), not %d (%a)", name, r, word[r],
                    (double)row[word[r]], best, (double)row[best]);
    }
    free(word);
}

/* Copies of words, and words that differ in the last bit only. */
static void make_ties(struct hd_net *net, int n_words)
{
    hd_node *W = net->head.W;
    for (int v = 1; v < n_words; v += 3) {
        for (int i = 0; net->head.is_tied && i < W->dim[1]; i++)
            W->x[v * W->dim[1] + i] = W->x[(v - 1) * W->dim[1] + i];
        for (int i = 0; !net->head.is_tied && i < W->dim[0]; i++)
            W->x[i * n_words + v] = W->x[i * n_words + v - 1];
        const float bias = net->head.b->x[v - 1];
        net->head.b->x[v] = v % 2 ? bias : nextafterf(bias, 10);
    }
}

/* Words that are never said, or all of them so far below 0. */
static void make_far(struct hd_net *net, int n_words, bool is_all)
{
    for (int v = 0; v < n_words; v++)
        if (is_all || v % 7 == 3)
            net->head.b->x[v] = is_all ? -20000 + (float)(v % 5) : v % 2 ? -1e9F : -10500;
}

static bool pack(struct hd_net *net, heed_error *err)
{
    return hd_net_pack(net, err) && hd_screen_make(&net->head, err);
}

static void the_screen_names_the_likeliest_word(void **state)
{
    (void)state;
    static const char *const settings[] = {"transformer tie=output dim=20 heads=2",
                                           "transformer tie=none dim=36 heads=2", "bahdanau dim=24",
                                           "luong embed=4 encoder-dim=4 tie=output"};
    static const float ranges[] = {0, 1e-20F, 1e-3F, 1, 30, 1e15F};
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    foreach (s, settings)
        for (int n_words = 2; n_words < 300; n_words = n_words * 2 + 1)
            foreach (r, ranges)
                for (int kind = 0; kind < 4; kind++) {
                    struct hd_net *net = net_of(settings[s], n_words, r % 2 ? 2 : 0.3F, 5 + s);
                    if (kind == 1)
                        make_ties(net, n_words);
                    if (kind >= 2)
                        make_far(net, n_words, kind == 3);
                    compare(net, tape, 3, ranges[r], 7, "without a screen");
                    assert_true(pack(net, &err));
                    assert_non_null(net->head.screen);
                    compare(net, tape, 50, ranges[r], 8, settings[s]);
                    hd_net_free(net);
                }
    hd_tape_free(tape);
}

static void a_screen_of_older_values_is_not_asked(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    struct hd_net *net = net_of("transformer tie=none", 33, 1, 5);
    assert_true(pack(net, &err));
    hd_init_uniform(net->head.W, 1, 6);
    hd_params_changed(net->params);
    compare(net, tape, 20, 1, 9, "changed");
    assert_true(
        hd_params_pack(net->params, &err)); /* the layer is packed again, its screen is not */
    compare(net, tape, 20, 1, 9, "packed");
    assert_true(pack(net, &err));
    compare(net, tape, 20, 1, 9, "with a new screen");
    hd_net_free(net);
    hd_tape_free(tape);
}

static void what_is_not_finite_has_no_likeliest_word(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    struct hd_net *net = net_of("transformer tie=none", 33, 1, 5);
    assert_true(pack(net, &err));
    hd_node *x = hd_input(tape, NULL, 3, net->head.W->dim[0]);
    x->x[0] = 1;
    x->x[net->head.W->dim[0]] = NAN;
    int word[3];
    assert_true(hd_best_words(&net->head, x, word));
    assert_true(word[0] >= 0 && word[1] == -1 && word[2] >= 0);
    net->head.W->x[7] = INFINITY;
    hd_params_changed(net->params);
    assert_true(pack(net, &err)); /* there is no screen of that */
    assert_null(net->head.screen);
    assert_true(hd_best_words(&net->head, x, word));
    assert_int_equal(word[0], -1);
    hd_net_free(net);
    hd_tape_free(tape);
}

static void packing_without_memory_fails_cleanly(void **state)
{
    (void)state;
    struct hd_net *net = net_of("transformer tie=none", 33, 1, 5);
    bool ok = false;
    for (long n = 0; !ok; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        ok = pack(net, &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "allocation %ld: %s", n, err.message);
    }
    hd_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screen_names_the_likeliest_word),
        cmocka_unit_test(a_screen_of_older_values_is_not_asked),
        cmocka_unit_test(what_is_not_finite_has_no_likeliest_word),
        cmocka_unit_test(packing_without_memory_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
