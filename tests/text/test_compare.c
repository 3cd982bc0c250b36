/* test_compare.c -- paired bootstrap: what is better is found to be so, what is the same is not, and chance is the same everywhere. */
#include "test.h"

#include "base/memory.h"
#include "text/evaluate.h"

enum { N = 60, SAMPLES = 400 };

static heed_pair good[N], bad[N], other[N];

/* The good one is right in most sentences, the bad one in a third; `other` is as good in other sentences. */
static int begin(void **state)
{
    (void)state;
    static char refs[N][40];
    for (int i = 0; i < N; i++) {
        snprintf(refs[i], sizeof refs[i], "the cat number %d sat on mat %d", i, i * 7 % 11);
        const heed_pair right = {.hyp = refs[i], .ref = refs[i]},
                        wrong = {.hyp = "a dog number one stood there", .ref = refs[i]};
        good[i] = i % 6 ? right : wrong;
        other[i] = i % 6 != 3 ? right : wrong;
        bad[i] = i % 3 ? wrong : right;
    }
    return 0;
}

static void the_better_one_is_found(void **state)
{
    (void)state;
    const heed_pair *systems[] = {good, bad, good, other};
    heed_eval_options o = {.size = sizeof o};
    heed_comparison c[4 * 4];
    heed_error err = {0};
    assert_that(heed_compare(c, systems, 4, N, &o, SAMPLES, 1, &err), "%s", err.message);
    static const enum heed_metric metrics[] = {HEED_METRIC_BLEU, HEED_METRIC_CHRF,
                                               HEED_METRIC_EXACT, HEED_METRIC_WER};
    heed_evaluation *e = heed_evaluate(bad, N, &o, &err);
    assert_true(c[4].score == e->bleu && c[5].score == e->chrf && c[6].score == e->exact &&
                c[7].score == e->wer);
    hd_free(e);
    for (int m = 0; m < 4; m++) {
        const heed_comparison *first = &c[m], *worse = &c[4 + m], *same = &c[8 + m],
                              *as_good = &c[12 + m];
        const double sign = metrics[m] == HEED_METRIC_WER ? -1 : 1;
        assert_int_equal(first->metric, metrics[m]);
        assert_true(first->difference == 0 && first->p == 1);
        assert_true(first->low < first->score && first->score < first->high);
        assert_true(worse->difference * sign < 0 && worse->p == 0);
        assert_true(worse->difference_high * sign < 0 && worse->difference_low * sign < 0);
        assert_true(same->difference == 0 && same->p == 1 && same->low == first->low);
        assert_true(as_good->difference_low < 0 && as_good->difference_high > 0 &&
                    as_good->p > 0.05);
    }
}

static void chance_is_a_matter_of_the_seed(void **state)
{
    (void)state;
    const heed_pair *systems[] = {good, other};
    heed_eval_options o = {.size = sizeof o};
    o.metrics = HEED_METRIC_EXACT | HEED_METRIC_CHRFPP;
    heed_comparison a[4] = {0}, b[4] = {0}, c[4] = {0};
    assert_true(heed_compare(a, systems, 2, N, &o, SAMPLES, 5, NULL));
    assert_true(heed_compare(b, systems, 2, N, &o, SAMPLES, 5, NULL));
    assert_true(heed_compare(c, systems, 2, N, &o, SAMPLES, 6, NULL));
    assert_true(a[2].low == b[2].low && a[2].p == b[2].p &&
                a[3].difference_high == b[3].difference_high);
    assert_true(a[2].p != c[2].p || a[3].p != c[3].p);
    assert_int_equal(a[0].metric, HEED_METRIC_CHRFPP);
    assert_int_equal(a[1].metric, HEED_METRIC_EXACT);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const heed_pair broken[] = {{.hyp = "\xFF", .ref = "a"}};
    const heed_pair *systems[] = {good, broken};
    heed_comparison c[8];
    heed_error err = {0};
    assert_false(heed_compare(c, systems, 0, N, NULL, SAMPLES, 1, &err));
    assert_error(err, HEED_BAD_OPTION, "0 systems");
    err = (heed_error){0};
    assert_false(heed_compare(c, systems, 1, 0, NULL, SAMPLES, 1, &err));
    assert_error(err, HEED_BAD_TEXT, "no sentences");
    err = (heed_error){0};
    assert_false(heed_compare(c, systems + 1, 1, 1, NULL, SAMPLES, 1, &err));
    assert_int_equal(err.code, HEED_BAD_TEXT);
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    const heed_pair *systems[] = {good, bad};
    bool ok = false;
    for (long n = 0; !ok; n += 1 + n / 10) {
        heed_comparison c[8];
        heed_error err = {0};
        hd_alloc_fail_after(n);
        ok = heed_compare(c, systems, 2, 3, NULL, 2, 1, &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_better_one_is_found),
        cmocka_unit_test(chance_is_a_matter_of_the_seed),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
