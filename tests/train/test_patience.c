/* test_patience.c -- noise in the score ends no run that still learns, and every run that does not ends. */
#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "train/patience.h"

static double noise(struct hd_rng *rng)
{
    return 2 * (double)hd_rng_uniform(rng) - 1;
}

/* How many of `n` validations a run of patience 10 sees. Cross entropy falls from 4 towards `floor`, a hundredth of the way each time; BLEU
 * follows it, with the noise of a hundred sentences, or goes nowhere. */
static int validations_of(uint64_t seed, int n, double floor, bool bleu_rises)
{
    struct hd_rng rng = {.key = seed};
    struct hd_progress p = {0};
    double ce = 4;
    for (int i = 1; i <= n; i++) {
        ce -= (ce - floor) / 100;
        const double bleu = (bleu_rises ? 8 * (4 - ce) : 5) + 1.5 * noise(&rng);
        p.update = i;
        (void)hd_patience_note(&p, bleu, ce + 0.0002 * noise(&rng));
        if (p.n_stale >= 10)
            return i;
    }
    return n;
}

static void noise_does_not_end_what_still_learns(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const int rises = validations_of(seed, 300, 1.5, true),
                  stays = validations_of(seed, 300, 1.5, false);
        assert_that(rises == 300 && stays == 300, "seed %d: stopped at %d and %d", (int)seed, rises,
                    stays);
    }
}

static void what_no_longer_learns_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const int n = validations_of(seed, 1000, 4, false);
        assert_that(n >= 11 && n < 150, "seed %d: stopped at %d", (int)seed, n);
    }
}

static void the_best_is_the_score_then_cross_entropy(void **state)
{
    (void)state;
    static const struct {
        double score, ce;
        bool is_best;
        int n_stale, n_stale_plateau;
    } seen[] = {{0, 9, true, 0, 0},
                {0, 8, true, 0, 0},
                {0, 8, false, 1, 1},
                {0, 7.9995, true, 0, 0},
                {3, 8.5, true, 0, 0},
                {2, 8.4, false, 1, 1},
                {2, 7.9990, false, 2, 2},
                {2, 7.9, false, 0, 3},
                {2, 7.95, false, 1, 4},
                {3, 7.8, true, 0, 0},
                {9, (double)NAN, false, 1, 1},
                {1, 7.7992, false, 2, 2},
                {1, 7.7988, false, 0, 3}};
    struct hd_progress p = {0};
    for (int i = 0; i < (int)(sizeof seen / sizeof *seen); i++) {
        p.update = i + 1;
        const bool is_best = hd_patience_note(&p, seen[i].score, seen[i].ce);
        assert_that(is_best == seen[i].is_best && p.n_stale == seen[i].n_stale &&
                        p.n_stale_plateau == seen[i].n_stale_plateau && p.looked_update == i + 1,
                    "validation %d: %d, stale %d and %d", i + 1, is_best, p.n_stale,
                    p.n_stale_plateau);
        if (is_best)
            assert_true(p.best == seen[i].score && p.best_ce == seen[i].ce &&
                        p.best_update == i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_does_not_end_what_still_learns),
        cmocka_unit_test(what_no_longer_learns_ends),
        cmocka_unit_test(the_best_is_the_score_then_cross_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
