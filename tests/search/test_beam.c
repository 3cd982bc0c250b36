/* test_beam.c -- beam search finds what is there to find: against all sentences there are, against greedy search written down
 * here, and against the probabilities of its own results. */
#include "toy.h"

#include "graph/tape.h"
#include "model/walk.h"

/* ---- against all sentences ----------------------------------------------------------------------------------------------- */

enum { WORDS = 4, MOST = 4 }; /* words of the vocabulary beside the end marker, and of a sentence */
enum { ALL = 1 + 4 + 16 + 64 + 256 };

static int all_words[ALL][MOST];

/* Every sentence of up to MOST words, as something to be forced. */
static void make_all(struct hd_search_input *input, const struct hd_search_input *source)
{
    int n = 0;
    for (int length = 0, count = 1; length <= MOST; length++, count *= WORDS)
        for (int i = 0; i < count; i++, n++) {
            for (int t = 0, rest = i; t < length; t++, rest /= WORDS)
                all_words[n][t] = 1 + rest % WORDS;
            input[n] = *source;
            input[n].prefix.ids = all_words[n];
            input[n].prefix.n = length;
        }
    assert_int_equal(n, ALL);
}

static int by_score(const void *a, const void *b)
{
    const double x = ((const struct hd_nbest *)a)->best->score,
                 y = ((const struct hd_nbest *)b)->best->score;
    return (x < y) - (x > y);
}

static void find_all(const struct hd_net *const *nets, int n_nets,
                     const struct hd_search_input *source, const struct hd_search_options *options,
                     const char *name)
{
    static struct hd_search_input all[ALL];
    static struct hd_nbest forced[ALL];
    struct hd_nbest found;
    heed_error err = {0};
    make_all(all, source);
    const bool ok = hd_force_decode(nets, n_nets, END, all, ALL, options, forced, &err);
    assert_that(ok, "%s: %s", name, err.message);
    qsort(forced, ALL, sizeof *forced, by_score);
    search_toys(nets, n_nets, source, 1, options, &found, name);
    assert_that(found.n == ALL, "%s: %d sentences, not all %d", name, found.n, (int)ALL);
    for (int i = 0; i < ALL; i++)
        assert_same_hypothesis(&found.best[i], forced[i].best, source->source.n, name);
    hd_nbest_release(&found);
    release_all(forced, ALL);
}

static void a_beam_as_large_as_the_space_finds_every_sentence_in_order(void **state)
{
    (void)state;
    struct toy_text *text = toy_text(3, MOST, 7);
    struct hd_search_options options = hd_search_options_default();
    options.beam = 5000;
    options.n_best = ALL;
    static const struct {
        enum hd_length_norm norm;
        float alpha, coverage;
    } ways[] = {{HD_LENGTH_NONE, 0, 0},
                {HD_LENGTH_POWER, 1, 0},
                {HD_LENGTH_POWER, 0.6F, 0.2F},
                {HD_LENGTH_GNMT, 0.9F, 0},
                {HD_LENGTH_GNMT, 2, 0.5F}};
    foreach (p, toy_presets) {
        struct hd_net *net = toy_net(toy_presets[p], WORDS + 1, 0.9F, 11 + p);
        const struct hd_net *nets[] = {net};
        foreach (w, ways) {
            options.norm = ways[w].norm;
            options.alpha = ways[w].alpha;
            options.coverage_penalty = has_attention(net) ? ways[w].coverage : 0;
            options.wants_attention = has_attention(net);
            for (int i = 0; i < text->n; i++)
                find_all(nets, 1, &text->input[i], &options, toy_presets[p]);
        }
        hd_net_free(net);
    }
    free(text);
}

static void an_ensemble_of_any_architectures_finds_every_sentence_too(void **state)
{
    (void)state;
    struct toy_text *text = toy_text(2, MOST, 8);
    struct hd_search_options options = hd_search_options_default();
    options.beam = 5000;
    options.n_best = ALL;
    struct hd_net *a = toy_net("transformer", WORDS + 1, 0.9F, 3),
                  *b = toy_net("bahdanau", WORDS + 1, 0.9F, 4),
                  *c = toy_net("luong", WORDS + 1, 0.9F, 5);
    const struct hd_net *nets[] = {a, b, c};
    options.wants_attention = true;
    for (int i = 0; i < text->n; i++)
        for (int n = 2; n <= 3; n++)
            find_all(nets, n, &text->input[i], &options, "ensemble");
    hd_net_free(a), hd_net_free(b), hd_net_free(c);
    free(text);
}

/* ---- greedy ----------------------------------------------------------------------------------------------------------------- */

/* The likeliest word at every step. */
static int greedy(const struct hd_net *net, const struct hd_search_input *in, int *words)
{
    hd_tape *tape = hd_tape_new(NULL);
    const int sentence = 0;
    const struct hd_batch batch = {
        .n = 1, .source = in->source.ids, .source_length = &in->source.n};
    struct walk *walk = walk_start(net, tape, &batch, &sentence, 1);
    int n = 0;
    for (int previous = -1; n < in->max_length; words[n++] = previous) {
        hd_tape_reset(tape);
        const struct hd_stepped stepped = walk_step(walk, tape, &previous);
        const hd_node *logits = hd_logits(&net->head, stepped.out);
        previous = 0;
        for (int v = 1; v < hd_width(logits); v++)
            previous = logits->x[v] > logits->x[previous] ? v : previous;
        if (previous == END)
            break;
    }
    walk_end(walk);
    hd_tape_free(tape);
    return n;
}

static void a_beam_of_one_is_greedy(void **state)
{
    (void)state;
    struct toy_text *text = toy_text(40, 12, 9);
    struct hd_nbest found[40];
    struct hd_search_options options = hd_search_options_default();
    options.beam = 1;
    int n_ended = 0;
    foreach (p, toy_presets) {
        struct hd_net *net = toy_net(toy_presets[p], 9, 1.2F, 21 + p);
        const struct hd_net *nets[] = {net};
        search_toys(nets, 1, text->input, text->n, &options, found, toy_presets[p]);
        for (int i = 0; i < text->n; i++) {
            int words[12];
            const int n = greedy(net, &text->input[i], words);
            assert_int_equal(found[i].n, 1);
            assert_int_equal(found[i].best->n, n);
            assert_true(n == 0 ||
                        memcmp(found[i].best->ids, words, (size_t)n * sizeof *words) == 0);
            assert_true(!found[i].best->is_cut || n == 12);
            n_ended += !found[i].best->is_cut;
        }
        release_all(found, text->n);
        hd_net_free(net);
    }
    assert_that(n_ended > 10 && n_ended < 230, "%d of 240 have ended: that proves little", n_ended);
    free(text);
}

/* ---- its own results ---------------------------------------------------------------------------------------------------------- */

/* Sorted, distinct, and what forced decoding says of them. */
static void check_found(const struct hd_net *const *nets, int n_nets,
                        const struct hd_search_input *in, const struct hd_search_options *options,
                        const struct hd_nbest *found, const char *name)
{
    assert_true(found->n >= 1 && found->n <= options->n_best);
    for (int i = 0; i < found->n; i++) {
        const struct hd_hypothesis *h = &found->best[i];
        assert_true(h->n <= in->max_length && (!h->is_cut || h->n == in->max_length));
        for (int t = 0; t < h->n; t++)
            assert_true(h->ids[t] != END && h->logprob[t] <= 0);
        for (int j = 0; j < i; j++) {
            const struct hd_hypothesis *other = &found->best[j];
            assert_that(other->is_cut == h->is_cut ? other->score >= h->score : h->is_cut,
                        "%s: %d is better than %d", name, i, j);
            assert_that(other->n != h->n ||
                            memcmp(other->ids, h->ids, (size_t)h->n * sizeof *h->ids) != 0,
                        "%s: %d and %d are the same", name, i, j);
        }
        if (h->is_cut)
            continue;
        struct hd_search_input forced = *in;
        struct hd_nbest again;
        heed_error err = {0};
        forced.prefix.ids = h->ids;
        forced.prefix.n = h->n;
        assert_true(hd_force_decode(nets, n_nets, END, &forced, 1, options, &again, &err));
        assert_same_hypothesis(h, again.best, in->source.n, name);
        hd_nbest_release(&again);
    }
}

static void results_are_sorted_distinct_and_what_forced_decoding_says(void **state)
{
    (void)state;
    struct toy_text *text = toy_text(30, 9, 10);
    struct hd_nbest found[30];
    struct hd_search_options options = hd_search_options_default();
    foreach (p, toy_presets)
        for (int beam = 2; beam <= 6; beam += 2) {
            struct hd_net *net = toy_net(toy_presets[p], 19, 1.0F, 31 + p);
            const struct hd_net *nets[] = {net, net};
            options.beam = beam;
            options.n_best = beam - 1;
            options.wants_attention = has_attention(net);
            options.coverage_penalty = has_attention(net) && beam == 4 ? 0.3F : 0;
            options.norm = beam == 6 ? HD_LENGTH_GNMT : HD_LENGTH_POWER;
            options.no_repeat = beam == 4 ? 2 : 0;
            const int n_nets = beam == 2 ? 2 : 1;
            search_toys(nets, n_nets, text->input, text->n, &options, found, toy_presets[p]);
            for (int i = 0; i < text->n; i++)
                check_found(nets, n_nets, &text->input[i], &options, &found[i], toy_presets[p]);
            release_all(found, text->n);
            hd_net_free(net);
        }
    free(text);
}

static void a_net_with_itself_is_itself(void **state)
{
    (void)state;
    struct toy_text *text = toy_text(12, 9, 14);
    struct hd_nbest one[12], two[12];
    struct hd_search_options options = hd_search_options_default();
    options.wants_attention = true;
    struct hd_net *net = toy_net("bahdanau", 11, 1.0F, 6);
    const struct hd_net *nets[] = {net, net};
    search_toys(nets, 1, text->input, text->n, &options, one, "alone");
    search_toys(nets, 2, text->input, text->n, &options, two, "twice");
    for (int i = 0; i < text->n; i++)
        assert_same_found(&two[i], &one[i], text->input[i].source.n, "twice");
    release_all(one, text->n), release_all(two, text->n);
    hd_net_free(net);
    free(text);
}

/* ---- stopping early -------------------------------------------------------------------------------------------------------------- */

static bool count_steps(void *data)
{
    ++*(int *)data;
    return true;
}

static void stopping_early_loses_nothing(void **state)
{
    (void)state;
    enum { N = 24 };
    struct toy_text *text = toy_text(N, 14, 12);
    struct hd_nbest early[N], late[N];
    struct hd_search_options options = hd_search_options_default();
    int n_early = 0, n_late = 0;
    options.beam = 6;
    options.keep_on = count_steps;
    static const float alphas[] = {-0.5F, 0, 0.6F, 1, 1.5F};
    foreach (p, toy_presets)
        foreach (a, alphas)
            for (int way = 0; way < 6; way++) {
                const int norm = way / 2;
                /* some are sure of themselves, so that a long sentence can become better as it grows */
                struct hd_net *net =
                    toy_net(toy_presets[p], 7, way % 2 ? 5 : 1.3F, 41 + p + 100 * a);
                const struct hd_net *nets[] = {net};
                options.alpha = alphas[a];
                options.norm = (enum hd_length_norm)norm;
                options.n_best = 1 + (int)a % 3;
                options.coverage_penalty = a == 3 && has_attention(net) ? 0.4F : 0;
                options.never_stops_early = false;
                options.keep_on_data = &n_early;
                search_toys(nets, 1, text->input, text->n, &options, early, toy_presets[p]);
                options.never_stops_early = true;
                options.keep_on_data = &n_late;
                search_toys(nets, 1, text->input, text->n, &options, late, toy_presets[p]);
                for (int i = 0; i < text->n; i++)
                    assert_same_found(&early[i], &late[i], text->input[i].source.n, toy_presets[p]);
                release_all(early, text->n), release_all(late, text->n);
                hd_net_free(net);
            }
    assert_that(n_early < n_late, "%d steps, and %d without stopping early", n_early, n_late);
    free(text);
}

/* ---- ties ---------------------------------------------------------------------------------------------------------------------- */

/* Every word is as likely as any other: the lower id goes first, and the earlier hypothesis. */
static void equal_ones_go_by_hypothesis_and_id(void **state)
{
    (void)state;
    static const int wanted[][2] = {{0, 0}, {1, 0}, {1, 1}}; /* nothing; 1; 1 1 */
    foreach (p, toy_presets) {
        struct hd_net *net = toy_net(toy_presets[p], 5, 0, 1);
        const struct hd_net *nets[] = {net};
        const int source[] = {1, 2};
        const struct hd_search_input input = {.source.ids = source, .source.n = 2, .max_length = 2};
        struct hd_search_options options = hd_search_options_default();
        struct hd_nbest found;
        options.beam = options.n_best = 3;
        options.norm = HD_LENGTH_NONE;
        search_toys(nets, 1, &input, 1, &options, &found, toy_presets[p]);
        assert_int_equal(found.n, 3);
        for (int i = 0; i < 3; i++) {
            assert_true(found.best[i].n == i && !found.best[i].is_cut);
            assert_true(i == 0 ||
                        memcmp(found.best[i].ids, wanted[i], (size_t)i * sizeof(int)) == 0);
        }
        hd_nbest_release(&found);
        hd_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beam_as_large_as_the_space_finds_every_sentence_in_order),
        cmocka_unit_test(an_ensemble_of_any_architectures_finds_every_sentence_too),
        cmocka_unit_test(a_beam_of_one_is_greedy),
        cmocka_unit_test(results_are_sorted_distinct_and_what_forced_decoding_says),
        cmocka_unit_test(a_net_with_itself_is_itself),
        cmocka_unit_test(stopping_early_loses_nothing),
        cmocka_unit_test(equal_ones_go_by_hypothesis_and_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
