/* test_bleu.c -- BLEU is sacreBLEU's, of texts and of sentences. */
#include "test.h"

#include "base/memory.h"
#include "text/metric.h"

#include "text/metric_expected.h"

#include <math.h>

enum { N_BLEUS = sizeof expected_bleus / sizeof *expected_bleus };
enum { N_TEXTS = sizeof expected_texts / sizeof *expected_texts };

static bool add_all(struct hd_bleu *bleu, const struct expected_text *text, heed_error *err)
{
    for (int i = 0; i < text->n; i++) {
        struct hd_text refs[2];
        for (int k = 0; k < text->sentences[i].n_refs; k++)
            refs[k] = hd_text_from(text->sentences[i].refs[k]);
        if (!hd_bleu_add(bleu, hd_text_from(text->sentences[i].hyp), refs,
                         text->sentences[i].n_refs, err))
            return false;
    }
    return true;
}

static void check(double is, double wanted, const char *what, const struct expected_bleu *e)
{
    assert_that(fabs(is - wanted) <= 1e-11, "%s of \"%s\", tok %s, lower case %d: %.17g, not %.17g",
                what, expected_texts[e->text].name, hd_tokeniser_name(e->tok), e->is_lowercase, is,
                wanted);
}

static void every_text_has_the_score_of_sacrebleu(void **state)
{
    (void)state;
    for (int i = 0; i < N_BLEUS; i++) {
        const struct expected_bleu *e = &expected_bleus[i];
        struct hd_bleu bleu = {.tok = e->tok, .is_lowercase = e->is_lowercase};
        assert_true(add_all(&bleu, &expected_texts[e->text], NULL));
        const struct hd_bleu_score score = hd_bleu_score(&bleu.sum, false);
        check(score.score, e->score, "BLEU", e);
        check(hd_bleu_score(&bleu.sum, true).score, e->effective, "BLEU with effective order", e);
        check(score.brevity_penalty, e->brevity_penalty, "brevity penalty", e);
        check(score.ratio, e->ratio, "ratio", e);
        for (int n = 0; n < HD_BLEU_ORDER; n++)
            check(score.precisions[n], e->precisions[n], "precision", e);
        check((double)bleu.sum.hyp_len, e->hyp_len, "hyp_len", e);
        check((double)bleu.sum.ref_len, e->ref_len, "ref_len", e);
        hd_bleu_release(&bleu);
    }
}

static void every_sentence_has_the_score_of_sacrebleu(void **state)
{
    (void)state;
    for (int t = 0; t < N_TEXTS; t++) {
        struct hd_bleu bleu = {.keeps_sentences = true};
        assert_true(add_all(&bleu, &expected_texts[t], NULL));
        assert_int_equal(bleu.n_sentences, expected_texts[t].n);
        for (int i = 0; i < expected_texts[t].n; i++) {
            const double is = hd_bleu_score(&bleu.sentences[i], true).score;
            const double wanted = expected_texts[t].sentences[i].bleu;
            assert_that(fabs(is - wanted) <= 1e-11, "sentence %d of \"%s\": %.17g, not %.17g", i,
                        expected_texts[t].name, is, wanted);
        }
        hd_bleu_release(&bleu);
    }
}

static void sentences_that_are_kept_add_up_to_the_text(void **state)
{
    (void)state;
    struct hd_bleu bleu = {.tok = HEED_TOK_CHAR, .keeps_sentences = true};
    for (int t = 0; t < N_TEXTS; t++)
        assert_true(add_all(&bleu, &expected_texts[t], NULL));
    struct hd_bleu_counts sum = {0};
    for (size_t i = 0; i < bleu.n_sentences; i++) {
        sum.hyp_len += bleu.sentences[i].hyp_len;
        sum.ref_len += bleu.sentences[i].ref_len;
        for (int n = 0; n < HD_BLEU_ORDER; n++) {
            sum.correct[n] += bleu.sentences[i].correct[n];
            sum.total[n] += bleu.sentences[i].total[n];
        }
    }
    assert_memory_equal(&sum, &bleu.sum, sizeof sum);
    hd_bleu_release(&bleu);
}

static void the_signature_says_how(void **state)
{
    (void)state;
    struct hd_bleu bleu = {0};
    const struct hd_text refs[] = {hd_text_from("a"), hd_text_from("b")};
    assert_true(hd_bleu_add(&bleu, refs[0], refs, 1, NULL));
    assert_string_equal(hd_bleu_signature(&bleu, false).text,
                        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|heed:" HEED_VERSION);
    assert_true(hd_bleu_add(&bleu, refs[0], refs, 2, NULL));
    assert_true(hd_bleu_add(&bleu, refs[0], refs, 2, NULL));
    assert_string_equal(hd_bleu_signature(&bleu, true).text,
                        "nrefs:var|case:mixed|eff:yes|tok:13a|smooth:exp|heed:" HEED_VERSION);
    hd_bleu_release(&bleu);
    bleu = (struct hd_bleu){.tok = HEED_TOK_INTL, .is_lowercase = true};
    assert_true(hd_bleu_add(&bleu, refs[0], refs, 2, NULL));
    assert_string_equal(hd_bleu_signature(&bleu, false).text,
                        "nrefs:2|case:lc|eff:no|tok:intl|smooth:exp|heed:" HEED_VERSION);
    hd_bleu_release(&bleu);
}

static void without_sentences_the_score_is_nothing(void **state)
{
    (void)state;
    struct hd_bleu bleu = {0};
    assert_true(hd_bleu_score(&bleu.sum, false).score == 0);
    assert_true(hd_bleu_score(&bleu.sum, true).score == 0);
    hd_bleu_release(&bleu);
}

static void a_sentence_that_fails_leaves_no_trace(void **state)
{
    (void)state;
    const struct hd_text good = hd_text_from("a b c d e"), bad = hd_text_from("a \xFF");
    struct hd_bleu bleu = {.keeps_sentences = true};
    assert_true(hd_bleu_add(&bleu, good, &good, 1, NULL));
    const struct hd_bleu_counts before = bleu.sum;
    heed_error err = {0};
    assert_false(hd_bleu_add(&bleu, bad, &good, 1, &err));
    assert_error(err, HEED_BAD_TEXT, "at byte 2");
    assert_false(hd_bleu_add(&bleu, good, &bad, 1, NULL));
    assert_memory_equal(&before, &bleu.sum, sizeof before);
    assert_int_equal(bleu.n_sentences, 1);
    hd_bleu_release(&bleu);

    for (long n = 0;; n++) {
        bleu = (struct hd_bleu){.keeps_sentences = true};
        err = (heed_error){0};
        hd_alloc_fail_after(n);
        const bool ok = hd_bleu_add(&bleu, good, &good, 1, &err);
        hd_alloc_fail_after(-1);
        assert_that(bleu.n_sentences == (size_t)ok, "%zu sentences after allocation %ld failed",
                    bleu.n_sentences, n);
        if (!ok)
            assert_error(err, HEED_NO_MEMORY, "no memory");
        hd_bleu_release(&bleu);
        if (ok)
            break;
    }
}

/* A line of 200,000 words, of which no two are alike, takes its time by its length. */
static void a_very_long_line_is_scored(void **state)
{
    (void)state;
    const size_t n = 200000;
    char *line = hd_alloc(n, 8, NULL), *at = line;
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "w%zu ", i);
    const struct hd_text text = {line, (size_t)(at - line)};
    struct hd_bleu bleu = {0};
    assert_true(hd_bleu_add(&bleu, text, &text, 1, NULL));
    assert_int_equal(bleu.sum.correct[3], n - 3);
    assert_true(fabs(hd_bleu_score(&bleu.sum, false).score - 100) < 1e-11);
    hd_bleu_release(&bleu);
    hd_free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_has_the_score_of_sacrebleu),
        cmocka_unit_test(every_sentence_has_the_score_of_sacrebleu),
        cmocka_unit_test(sentences_that_are_kept_add_up_to_the_text),
        cmocka_unit_test(the_signature_says_how),
        cmocka_unit_test(without_sentences_the_score_is_nothing),
        cmocka_unit_test(a_sentence_that_fails_leaves_no_trace),
        cmocka_unit_test(a_very_long_line_is_scored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
