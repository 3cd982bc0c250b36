/* test_chrf.c -- chrF and chrF++ are sacreBLEU's. */
#include "test.h"

#include "base/memory.h"
#include "text/metric.h"

#include "text/metric_expected.h"

#include <math.h>

enum { N_OTHERS = sizeof expected_others / sizeof *expected_others };
enum { N_TEXTS = sizeof expected_texts / sizeof *expected_texts };

static void add_all(struct hd_chrf *chrf, const struct expected_text *text)
{
    for (int i = 0; i < text->n; i++) {
        struct hd_text refs[2];
        for (int k = 0; k < text->sentences[i].n_refs; k++)
            refs[k] = hd_text_from(text->sentences[i].refs[k]);
        assert_true(hd_chrf_add(chrf, hd_text_from(text->sentences[i].hyp), refs,
                                text->sentences[i].n_refs, NULL));
    }
}

static void every_text_has_the_score_of_sacrebleu(void **state)
{
    (void)state;
    for (int i = 0; i < N_OTHERS; i++)
        for (int word_order = 0; word_order <= 2; word_order += 2) {
            const struct expected_others *e = &expected_others[i];
            struct hd_chrf chrf = {.word_order = word_order, .is_lowercase = e->is_lowercase};
            add_all(&chrf, &expected_texts[e->text]);
            const double is = hd_chrf_score(&chrf.sum), wanted = word_order ? e->chrfpp : e->chrf;
            assert_that(fabs(is - wanted) <= 1e-12,
                        "\"%s\", words %d, lower case %d: %.17g, not %.17g",
                        expected_texts[e->text].name, word_order, e->is_lowercase, is, wanted);
            hd_chrf_release(&chrf);
        }
}

static void sentences_that_are_kept_add_up_to_the_text(void **state)
{
    (void)state;
    struct hd_chrf chrf = {.word_order = 2, .keeps_sentences = true};
    for (int t = 0; t < N_TEXTS; t++)
        add_all(&chrf, &expected_texts[t]);
    struct hd_chrf_counts sum = {0};
    for (size_t i = 0; i < chrf.n_sentences; i++)
        for (int n = 0; n < HD_CHRF_ORDERS; n++) {
            sum.hyp[n] += chrf.sentences[i].hyp[n];
            sum.ref[n] += chrf.sentences[i].ref[n];
            sum.match[n] += chrf.sentences[i].match[n];
        }
    assert_memory_equal(&sum, &chrf.sum, sizeof sum);
    hd_chrf_release(&chrf);
}

static void the_signature_says_how(void **state)
{
    (void)state;
    struct hd_chrf chrf = {0};
    const struct hd_text refs[] = {hd_text_from("a"), hd_text_from("b")};
    assert_true(hd_chrf_add(&chrf, refs[0], refs, 1, NULL));
    assert_string_equal(hd_chrf_signature(&chrf).text,
                        "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|heed:" HEED_VERSION);
    assert_true(hd_chrf_add(&chrf, refs[0], refs, 2, NULL));
    assert_string_equal(hd_chrf_signature(&chrf).text,
                        "nrefs:var|case:mixed|eff:yes|nc:6|nw:0|space:no|heed:" HEED_VERSION);
    hd_chrf_release(&chrf);
    chrf = (struct hd_chrf){.word_order = 2, .is_lowercase = true};
    assert_true(hd_chrf_add(&chrf, refs[0], refs, 2, NULL));
    assert_string_equal(hd_chrf_signature(&chrf).text,
                        "nrefs:2|case:lc|eff:yes|nc:6|nw:2|space:no|heed:" HEED_VERSION);
    hd_chrf_release(&chrf);
}

static void a_sentence_that_fails_leaves_no_trace(void **state)
{
    (void)state;
    const struct hd_text good = hd_text_from("(a) bc d!"), bad = hd_text_from("\x80");
    const struct hd_text refs[] = {good, bad};
    struct hd_chrf chrf = {.word_order = 2};
    heed_error err = {0};
    assert_false(hd_chrf_add(&chrf, good, refs, 2, &err));
    assert_error(err, HEED_BAD_TEXT, "at byte 0");
    assert_true(chrf.n_sentences == 0 && chrf.sum.hyp[0] == 0);
    hd_chrf_release(&chrf);
    for (long n = 0;; n++) {
        chrf = (struct hd_chrf){.word_order = 2, .keeps_sentences = true};
        err = (heed_error){0};
        hd_alloc_fail_after(n);
        const bool ok = hd_chrf_add(&chrf, good, &good, 1, &err);
        hd_alloc_fail_after(-1);
        assert_that(chrf.n_sentences == (size_t)ok, "%zu sentences after allocation %ld failed",
                    chrf.n_sentences, n);
        if (!ok)
            assert_error(err, HEED_NO_MEMORY, "no memory");
        hd_chrf_release(&chrf);
        if (ok)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_has_the_score_of_sacrebleu),
        cmocka_unit_test(sentences_that_are_kept_add_up_to_the_text),
        cmocka_unit_test(the_signature_says_how),
        cmocka_unit_test(a_sentence_that_fails_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
