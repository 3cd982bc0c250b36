/* test_estimate.c -- how long a run will take is told in words that fit its limits. */
#include "test.h"

#include "train/estimate.h"

static const struct hd_estimate until_updates = {.seconds_per_update = 0.36,
                                                 .seconds_left = 1500,
                                                 .valid_every = 500,
                                                 .n_threads = 2,
                                                 .n_ranks = 1,
                                                 .shown = "perplexity"};

static void assert_text(const struct hd_estimate *estimate, const char *wanted)
{
    char text[400];
    hd_estimate_text(estimate, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void a_run_of_so_many_updates_has_an_end(void **state)
{
    (void)state;
    struct hd_estimate e = until_updates;
    assert_text(&e, "takes about 25 minutes on 2 threads, besides validations; every 500 updates, "
                    "about 3 minutes, a validation shows perplexity");
    e.patience = 10;
    e.n_threads = 1;
    assert_text(&e, "takes about 25 minutes at most on 1 thread, besides validations; every 500 "
                    "updates, about 3 minutes, a validation shows perplexity");
    e.n_threads = 4;
    e.n_ranks = 2;
    assert_text(&e, "takes about 25 minutes at most on 2 ranks of 4 threads, besides validations; "
                    "every 500 updates, about 3 minutes, a validation shows perplexity");
}

static void with_patience_alone_a_run_has_an_earliest_end(void **state)
{
    (void)state;
    struct hd_estimate e = until_updates;
    e.is_least = true;
    e.patience = 10;
    e.seconds_left = 1800;
    e.shown = "perplexity, BLEU and chrF";
    assert_text(&e, "every 500 updates, about 3 minutes, a validation shows perplexity, BLEU and "
                    "chrF; the run ends when 10 in a row bring nothing better, in 30 minutes on 2 "
                    "threads at the soonest");
}

static void a_run_without_limits_goes_on(void **state)
{
    (void)state;
    struct hd_estimate e = until_updates;
    e.seconds_left = -1;
    assert_text(&e, "every 500 updates, about 3 minutes, a validation shows perplexity; the run "
                    "goes on until it is stopped");
}

static void times_are_told_in_the_unit_that_fits(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *told;
    } cases[] = {{0, "a second"},      {1.4, "a second"},     {2, "2 seconds"},
                 {89, "89 seconds"},   {120, "2 minutes"},    {5340, "89 minutes"},
                 {5400, "1.5 hours"},  {35990, "10.0 hours"}, {36000, "10 hours"},
                 {172000, "48 hours"}, {172800, "2.0 days"},  {1e9, "11574.1 days"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hd_estimate e = until_updates;
        char text[400], wanted[100];
        e.seconds_left = cases[i].seconds;
        hd_estimate_text(&e, text, sizeof text);
        snprintf(wanted, sizeof wanted, "takes about %s on", cases[i].told);
        assert_that(strncmp(text, wanted, strlen(wanted)) == 0, "%g seconds: %s", cases[i].seconds,
                    text);
    }
}

static void a_text_that_is_too_long_is_cut(void **state)
{
    (void)state;
    char text[20];
    hd_estimate_text(&until_updates, text, sizeof text);
    assert_string_equal(text, "takes about 25 minu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_so_many_updates_has_an_end),
        cmocka_unit_test(with_patience_alone_a_run_has_an_earliest_end),
        cmocka_unit_test(a_run_without_limits_goes_on),
        cmocka_unit_test(times_are_told_in_the_unit_that_fits),
        cmocka_unit_test(a_text_that_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
