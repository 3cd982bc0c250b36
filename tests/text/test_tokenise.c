/* test_tokenise.c -- sentences are cut as sacreBLEU cuts them. */
#include "test.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/metric.h"

#include "text/metric_expected.h"

enum { N_CUTS = sizeof expected_cuts / sizeof *expected_cuts, N_TOKENISERS = HEED_TOK_ZH + 1 };

/* The words with a space between them; valid until the next call. */
static const char *joined(const struct hd_words *words)
{
    static char text[4096];
    char *at = text;
    size_t k = 0;
    for (size_t i = 0; i < words->n; i++) {
        assert_true(words->ends[i] > k);
        assert_true(at + 4 * (words->ends[i] - k) + 2 < text + sizeof text);
        if (i > 0)
            *at++ = ' ';
        for (; k < words->ends[i]; k++)
            at += hd_utf8_encode(at, words->chars[k]);
    }
    assert_int_equal(k, words->n_chars);
    *at = '\0';
    return text;
}

static void every_line_is_cut_as_sacrebleu_cuts_it(void **state)
{
    (void)state;
    struct hd_words words = {0}; /* used again and again: nothing of a line stays */
    for (int i = 0; i < N_CUTS; i++)
        for (int tok = 0; tok < N_TOKENISERS; tok++) {
            const struct expected_cut *e = &expected_cuts[i];
            assert_true(hd_tokenise(&words, hd_text_from(e->text), (enum heed_tokeniser)tok,
                                    e->is_lowercase, NULL));
            assert_that(strcmp(joined(&words), e->words[tok]) == 0,
                        "tok %s, lower case %d, line \"%s\"\nis cut \"%s\"\ninstead  \"%s\"",
                        hd_tokeniser_name((enum heed_tokeniser)tok), e->is_lowercase, e->text,
                        joined(&words), e->words[tok]);
        }
    hd_words_release(&words);
}

static void a_nul_is_a_character(void **state)
{
    (void)state;
    struct hd_words words = {0};
    const struct hd_text text = {"a\0b c\0", 6};
    assert_true(hd_tokenise(&words, text, HEED_TOK_13A, true, NULL));
    assert_true(words.n == 2 && words.n_chars == 5 && words.ends[0] == 3);
    hd_words_release(&words);
}

static void equal_words_have_equal_numbers(void **state)
{
    (void)state;
    struct hd_words words = {0};
    struct hd_ngrams spelling = {0};
    assert_true(
        hd_tokenise(&words, hd_text_from("a ab abc ab b a ba"), HEED_TOK_NONE, false, NULL));
    assert_true(hd_words_number(&words, &spelling, NULL));
    const uint32_t *ids = words.ids;
    assert_true(ids[0] == ids[5] && ids[1] == ids[3]);
    const uint32_t distinct[] = {ids[0], ids[1], ids[2], ids[4], ids[6]};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_that(distinct[i] != distinct[j], "words %d and %d are both %u", i, j,
                        distinct[i]);
    hd_words_release(&words);
    hd_ngrams_release(&spelling);
}

static void bad_text_is_refused_with_its_place(void **state)
{
    (void)state;
    struct hd_words words = {0};
    for (int tok = 0; tok < N_TOKENISERS; tok++) {
        heed_error err = {0};
        assert_false(
            hd_tokenise(&words, hd_text_from("ab\xC3(c"), (enum heed_tokeniser)tok, false, &err));
        assert_error(err, HEED_BAD_TEXT, "at byte 2");
    }
    hd_words_release(&words);
}

/* Whichever allocation fails, the next line is cut as if nothing had happened. */
static void memory_may_fail_at_every_place(void **state)
{
    (void)state;
    static char dots[3000];
    memset(dots, '.', sizeof dots - 1);
    for (int tok = 0; tok < N_TOKENISERS; tok++)
        for (long n = 0;; n++) {
            struct hd_words words = {0};
            struct hd_ngrams spelling = {0};
            heed_error err = {0};
            hd_alloc_fail_after(n);
            const bool ok =
                hd_tokenise(&words, hd_text_from("short"), (enum heed_tokeniser)tok, true, &err) &&
                hd_tokenise(&words, hd_text_from(dots), (enum heed_tokeniser)tok, true, &err) &&
                hd_words_number(&words, &spelling, &err);
            hd_alloc_fail_after(-1);
            if (!ok)
                assert_error(err, HEED_NO_MEMORY, "no memory");
            assert_true(
                hd_tokenise(&words, hd_text_from("A b"), (enum heed_tokeniser)tok, true, NULL));
            assert_string_equal(joined(&words), "a b");
            hd_words_release(&words);
            hd_ngrams_release(&spelling);
            if (ok)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_cut_as_sacrebleu_cuts_it),
        cmocka_unit_test(a_nul_is_a_character),
        cmocka_unit_test(equal_words_have_equal_numbers),
        cmocka_unit_test(bad_text_is_refused_with_its_place),
        cmocka_unit_test(memory_may_fail_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
