/* test_ctc.c -- the loss of CTC against its definition: the sum over all paths that become the labels, each written out. */
#include "test.h"

#include <heed_graph.h>
#include <math.h>

enum { K = 3, MOST = 6 }; /* labels; the blank is number K */

/* Does this path, without repeats and then without blanks, spell the labels? */
static bool spells(const int *path, int n_positions, const int *labels, int n)
{
    int at = 0;
    for (int t = 0; t < n_positions; t++) {
        if (path[t] == K || (t > 0 && path[t] == path[t - 1]))
            continue;
        if (at == n || labels[at] != path[t])
            return false;
        at++;
    }
    return at == n;
}

/* p of all paths of one sentence, by trying each. */
static double by_definition(const float *logits, int n_positions, const int *labels, int n)
{
    double sum = 0;
    long n_paths = 1;
    for (int t = 0; t < n_positions; t++)
        n_paths *= K + 1;
    for (long number = 0; number < n_paths; number++) {
        int path[MOST];
        double p = 1;
        long rest = number;
        for (int t = 0; t < n_positions; t++, rest /= K + 1) {
            const float *x = logits + t * (K + 1);
            double all = 0;
            for (int k = 0; k <= K; k++)
                all += exp((double)x[k]);
            path[t] = (int)(rest % (K + 1));
            p *= exp((double)x[path[t]]) / all;
        }
        sum += spells(path, n_positions, labels, n) ? p : 0;
    }
    return sum;
}

static float some_logit(int i)
{
    return (float)((i * 37 + 11) % 23) / 6 - 2;
}

static void loss_is_the_sum_over_all_paths(void **state)
{
    (void)state;
    static const struct {
        int n_positions, n, labels[4];
    } cases[] = {{1, 0, {0}},          {1, 1, {2}},       {2, 1, {0}},       {3, 2, {1, 1}},
                 {4, 2, {1, 1}},       {5, 3, {0, 1, 0}}, {6, 3, {2, 2, 0}}, {3, 3, {0, 1, 2}},
                 {6, 4, {0, 1, 1, 2}}, {4, 0, {0}}};
    hd_tape *t = hd_tape_new(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x[MOST * (K + 1)];
        for (int k = 0; k < cases[i].n_positions * (K + 1); k++)
            x[k] = some_logit(k + 7 * (int)i);
        hd_tape_reset(t);
        const hd_spans *spans = hd_spans_of(t, &cases[i].n_positions, 1);
        int n_skipped = -1;
        const hd_node *loss = hd_ctc(hd_input(t, x, cases[i].n_positions, K + 1), spans,
                                     cases[i].labels, &cases[i].n, &n_skipped);
        const double p = by_definition(x, cases[i].n_positions, cases[i].labels, cases[i].n);
        assert_int_equal(n_skipped, 0);
        assert_that(fabs((double)loss->x[0] + log(p)) < 1e-5, "case %zu: %g, not %g", i,
                    (double)loss->x[0], -log(p));
    }
    hd_tape_free(t);
}

static void what_has_no_path_is_skipped_and_counted(void **state)
{
    (void)state;
    static const int lengths[] = {2, 3, 0, 4}, labels[] = {1, 1, 0, 2, 1, 0, 0},
                     n_labels[] = {2, 2, 1, 2};
    hd_tape *t = hd_tape_new(NULL);
    float x[9 * (K + 1)];
    for (int k = 0; k < 9 * (K + 1); k++)
        x[k] = some_logit(k);
    int n_skipped = 0;
    const hd_node *all =
        hd_ctc(hd_input(t, x, 9, K + 1), hd_spans_of(t, lengths, 4), labels, n_labels, &n_skipped);
    assert_int_equal(n_skipped, 2); /* 1 1 in two positions, and a label in none */
    const double second = by_definition(x + 2 * (K + 1), 3, labels + 2, 2),
                 last = by_definition(x + 5 * (K + 1), 4, labels + 5, 2);
    assert_that(fabs((double)all->x[0] + log(second) + log(last)) < 1e-5, "%g, not %g",
                (double)all->x[0], -log(second) - log(last));
    assert_int_equal(hd_ctc_least(labels, 2), 3);
    assert_int_equal(hd_ctc_least(labels + 2, 2), 2);
    assert_int_equal(hd_ctc_least(labels, 0), 0);
    hd_tape_free(t);
}

/* A long sentence is no smaller than a float can be: p itself would be. */
static void long_sentences_do_not_vanish(void **state)
{
    (void)state;
    enum { LONG = 3000 };
    hd_tape *t = hd_tape_new(NULL);
    hd_tape_record(t, true);
    hd_node *x = hd_variable(t, NULL, LONG, K + 1);
    int labels[LONG / 3];
    for (int i = 0; i < LONG / 3; i++)
        labels[i] = i % K;
    hd_node *loss =
        hd_ctc(x, hd_spans_of(t, (const int[]){LONG}, 1), labels, (const int[]){LONG / 3}, NULL);
    assert_true(hd_backward(loss, NULL));
    assert_that(isfinite(loss->x[0]) && loss->x[0] > 100 && isfinite(x->g[0]), "%g",
                (double)loss->x[0]);
    hd_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_is_the_sum_over_all_paths),
        cmocka_unit_test(what_has_no_path_is_skipped_and_counted),
        cmocka_unit_test(long_sentences_do_not_vanish),
    };
    return cmocka_run_group_tests_name("graph/ctc", tests, NULL, NULL);
}
