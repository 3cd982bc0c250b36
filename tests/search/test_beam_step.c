/* test_beam_step.c -- stopping early loses nothing, with models made to tempt it: unsure at first and certain later, so that a
 * sentence may become better as it grows, or the other way round. No net takes part: a table says how words follow each other. */
#include "test.h"

#include "base/rng.h"
#include "search/beam.h"

enum { V = 6, LIMIT = 9, END = 0, MOST_WIDTH = 8 };

/* Logits of the next word after `last` at step t. */
struct table {
    float x[LIMIT + 1][V][V];
};

static void fill(struct table *table, struct hd_rng *rng)
{
    for (int t = 0; t <= LIMIT; t++) {
        const float sharpness = hd_rng_below(rng, 2) ? 0.5F : 12;
        const float end = (float)hd_rng_below(rng, 3) * 3 - 3; /* likely here, unlikely there */
        for (int last = 0; last < V; last++)
            for (int v = 0; v < V; v++)
                table->x[t][last][v] = sharpness * hd_rng_normal(rng) + (v == END ? end : 0);
    }
}

/* What is found; how many steps it took. */
static int run(const struct table *table, const struct hd_search_options *options,
               struct hd_nbest *found)
{
    const struct hd_search_input input = {.max_length = LIMIT};
    const struct hd_beam_task task = {
        .input = &input, .options = options, .end = END, .n_words = V, .limit = LIMIT};
    struct hd_beam q = {0};
    struct hd_beam_scratch scratch = {0};
    heed_error err = {0};
    int n_steps = 0;
    assert_true(hd_beam_scratch_reserve(&scratch, V, options, &err));
    assert_true(hd_beam_begin(&q, &task, &hd_kernels_ref, &scratch, &err));
    for (; q.n_open > 0; n_steps++) {
        float x[MOST_WIDTH][V];
        struct hd_next_scores next_scores[MOST_WIDTH] = {{0}};
        for (int i = 0; i < q.n_open; i++) {
            const int last = q.branches[q.open[i].last].id;
            memcpy(x[i], table->x[q.open[i].length][last < 0 ? 0 : last], sizeof x[i]);
            next_scores[i].x = x[i];
            next_scores[i].log_sum =
                hd_kernels_ref.log_sum(&next_scores[i].largest, NULL, NULL, x[i], V, 0);
        }
        assert_true(hd_beam_step(&q, next_scores, &err));
    }
    *found = (struct hd_nbest){0};
    assert_true(hd_beam_collect(&q, found, &err));
    hd_beam_release(&q);
    hd_beam_scratch_release(&scratch);
    return n_steps;
}

static void assert_same(const struct hd_nbest *a, const struct hd_nbest *b, const char *name)
{
    assert_that(a->n == b->n, "%s: %d found, not %d", name, a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        const struct hd_hypothesis *x = &a->best[i], *y = &b->best[i];
        assert_that(x->n == y->n && x->score == y->score && x->is_cut == y->is_cut &&
                        memcmp(x->ids, y->ids, (size_t)x->n * sizeof *x->ids) == 0,
                    "%s: number %d has the score %g, not %g", name, i, x->score, y->score);
    }
}

static void stopping_early_loses_nothing_however_tempting(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 3};
    static struct table table;
    long n_early = 0, n_late = 0;
    for (int round = 0; round < 6000; round++) {
        struct hd_search_options options = hd_search_options_default();
        fill(&table, &rng);
        options.beam = 1 + (int)hd_rng_below(&rng, MOST_WIDTH);
        options.n_best = 1 + (int)hd_rng_below(&rng, (uint32_t)options.beam);
        options.norm = (enum hd_length_norm)hd_rng_below(&rng, 3);
        options.alpha = (float)hd_rng_below(&rng, 7) * 0.5F - 1;
        struct hd_nbest early, late;
        char name[96];
        snprintf(name, sizeof name, "round %d, beam %d, %d best, norm %d, alpha %g", round,
                 options.beam, options.n_best, (int)options.norm, (double)options.alpha);
        n_early += run(&table, &options, &early);
        options.never_stops_early = true;
        n_late += run(&table, &options, &late);
        assert_same(&early, &late, name);
        hd_nbest_release(&early);
        hd_nbest_release(&late);
    }
    print_message("%ld steps instead of %ld\n", n_early, n_late);
    assert_true(n_early < n_late);
}

/* Of a wide beam only words that would get a place are sorted: the places are those of all words all the same. */
static void a_wide_beam_keeps_the_best_of_all(void **state)
{
    (void)state;
    enum { WORDS = 300, WIDE = 100 };
    static float x[WIDE][WORDS];
    static double all[WIDE * WORDS];
    struct hd_search_options options = hd_search_options_default();
    options.beam = options.n_best = WIDE;
    const struct hd_search_input input = {.max_length = LIMIT};
    const struct hd_beam_task task = {
        .input = &input, .options = &options, .end = END, .n_words = WORDS, .limit = LIMIT};
    struct hd_beam q = {0};
    struct hd_beam_scratch scratch = {0};
    struct hd_rng rng = {.key = 4};
    heed_error err = {0};
    assert_true(hd_beam_scratch_reserve(&scratch, WORDS, &options, &err));
    assert_true(hd_beam_begin(&q, &task, &hd_kernels_ref, &scratch, &err));
    for (int t = 0; t < 4; t++) {
        struct hd_next_scores next_scores[WIDE] = {{0}};
        size_t n = 0;
        for (int i = 0; i < q.n_open; i++) {
            for (int v = 0; v < WORDS; v++) /* with words that are equally likely */
                x[i][v] = v == END ? -1e30F : (float)(int)(8 * hd_rng_normal(&rng)) / 4;
            next_scores[i].x = x[i];
            next_scores[i].log_sum =
                hd_kernels_ref.log_sum(&next_scores[i].largest, NULL, NULL, x[i], WORDS, 0);
            for (int v = 0; v < WORDS; v++) {
                const float logprob = (x[i][v] - next_scores[i].largest) - next_scores[i].log_sum;
                const double total = q.open[i].total + (double)logprob;
                size_t at = n < WIDE ? n++ : WIDE;
                for (; at > 0 && total > all[at - 1]; at--)
                    all[at] = all[at - 1];
                all[at] = total;
            }
        }
        assert_true(hd_beam_step(&q, next_scores, &err));
        assert_int_equal(q.n_open, WIDE);
        for (int i = 0; i < WIDE; i++)
            assert_that(q.open[i].total == all[i], "step %d, place %d: %g, not %g", t, i,
                        q.open[i].total, all[i]);
    }
    hd_beam_release(&q);
    hd_beam_scratch_release(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopping_early_loses_nothing_however_tempting),
        cmocka_unit_test(a_wide_beam_keeps_the_best_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
