/* test_evaluate.c -- the public door to the metrics. */
#include "test.h"

#include "base/memory.h"

#include <heed.h>

static const heed_pair pairs[] = {
    {.hyp = "The cat sat on the mat.", .ref = "The cat sat on the mat."},
    {.hyp = "hello World", .ref = "Hello world, again"},
};

static void what_is_asked_for_is_computed_and_nothing_else(void **state)
{
    (void)state;
    heed_evaluation *all = heed_evaluate(pairs, 2, NULL, NULL);
    assert_non_null(all);
    assert_int_equal(all->n_sentences, 2);
    assert_true(all->bleu > 0 && all->bleu < 100 && all->chrf > 0 && all->exact == 50);
    assert_true(all->n_exact == 1 && all->n_word_errors == 3 && all->n_words == 9);
    assert_true(all->chrfpp == 0 && all->chrfpp_signature[0] == '\0');
    assert_string_equal(all->bleu_signature,
                        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|heed:" HEED_VERSION);
    for (unsigned metric = 1; metric <= HEED_METRIC_WER; metric *= 2) {
        heed_eval_options options = {.size = sizeof options};
        options.metrics = metric;
        heed_evaluation *one = heed_evaluate(pairs, 2, &options, NULL);
        assert_non_null(one);
        assert_true(one->bleu == (metric == HEED_METRIC_BLEU ? all->bleu : 0));
        assert_true(one->chrf == (metric == HEED_METRIC_CHRF ? all->chrf : 0));
        assert_true((one->chrfpp > 0) == (metric == HEED_METRIC_CHRFPP));
        assert_true(one->exact == (metric == HEED_METRIC_EXACT ? all->exact : 0));
        assert_true(one->wer == (metric == HEED_METRIC_WER ? all->wer : 0));
        heed_evaluation_free(one);
    }
    heed_evaluation_free(all);
    heed_evaluation_free(NULL);
}

static void options_are_obeyed(void **state)
{
    (void)state;
    heed_eval_options options = {.size = sizeof options};
    options.is_lowercase = true;
    heed_evaluation *e = heed_evaluate(pairs, 2, &options, NULL);
    assert_non_null(e);
    assert_int_equal(e->n_word_errors, 2);
    assert_non_null(strstr(e->bleu_signature, "case:lc"));
    assert_non_null(strstr(e->chrf_signature, "case:lc"));
    heed_evaluation_free(e);
    options = (heed_eval_options){.size = sizeof options};
    options.tok = HEED_TOK_CHAR;
    options.has_effective_order = true;
    const heed_pair yes = {.hyp = "yes", .ref = "yes"};
    e = heed_evaluate(&yes, 1, &options, NULL);
    assert_non_null(e);
    assert_int_equal(e->hyp_len, 3);
    assert_true(e->bleu > 99.999 && e->bleu < 100.001);
    assert_non_null(strstr(e->bleu_signature, "eff:yes|tok:char"));
    heed_evaluation_free(e);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    heed_error err = {0};
    assert_null(heed_evaluate(pairs, 0, NULL, &err));
    assert_error(err, HEED_BAD_TEXT, "no sentences");
    const heed_pair bad[] = {pairs[0], {.hyp = "fine", .ref = "not \xE9"}};
    err = (heed_error){0};
    assert_null(heed_evaluate(bad, 2, NULL, &err));
    assert_error(err, HEED_BAD_TEXT, "pairs[1].ref is not UTF-8 at byte 4");
    heed_eval_options options = {.size = sizeof options};
    options.metrics = 32;
    err = (heed_error){0};
    assert_null(heed_evaluate(pairs, 2, &options, &err));
    assert_error(err, HEED_BAD_OPTION, "metrics is 0x20");
    options = (heed_eval_options){.size = sizeof options};
    options.tok = (enum heed_tokeniser)7;
    err = (heed_error){0};
    assert_null(heed_evaluate(pairs, 2, &options, &err));
    assert_error(err, HEED_BAD_OPTION, "tok is 7");
    err = (heed_error){0};
    options = (heed_eval_options){.metrics = HEED_METRIC_BLEU};
    assert_null(heed_evaluate(pairs, 2, &options, &err));
    assert_error(err, HEED_BAD_OPTION, "size of the options is 0");
    err = (heed_error){0};
    assert_null(heed_evaluate(NULL, 2, NULL, &err));
    assert_error(err, HEED_BAD_OPTION, "there is no list of pairs");
    err = (heed_error){0};
    assert_null(heed_evaluate(&(heed_pair){.hyp = "yes"}, 1, NULL, &err));
    assert_error(err, HEED_BAD_OPTION, "there is no reference");
    err = (heed_error){0};
    assert_null(heed_evaluate_files(&(heed_pair){.hyp = "-", .ref = "-"}, NULL, &err));
    assert_error(err, HEED_BAD_OPTION, "both");
}

static void memory_may_fail_at_every_place(void **state)
{
    (void)state;
    heed_eval_options options = {.size = sizeof options};
    options.metrics = HEED_METRIC_BLEU | HEED_METRIC_CHRF | HEED_METRIC_CHRFPP | HEED_METRIC_WER;
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        heed_evaluation *e = heed_evaluate(pairs, 2, &options, &err);
        hd_alloc_fail_after(-1);
        if (!e)
            assert_error(err, HEED_NO_MEMORY, "no memory");
        heed_evaluation_free(e);
        if (e)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for_is_computed_and_nothing_else),
        cmocka_unit_test(options_are_obeyed),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(memory_may_fail_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
