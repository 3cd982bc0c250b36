/* test_edit.c -- word error rate and exact match. */
#include "test.h"

#include "base/memory.h"
#include "text/metric.h"

#include "text/metric_expected.h"

enum { N_OTHERS = sizeof expected_others / sizeof *expected_others };

static struct hd_edit_counts counts_of(const char *hyp, const char *ref)
{
    struct hd_edit edit = {0};
    const struct hd_text refs[] = {hd_text_from(ref)};
    assert_true(hd_edit_add(&edit, hd_text_from(hyp), refs, 1, NULL));
    const struct hd_edit_counts counts = edit.sum;
    hd_edit_release(&edit);
    return counts;
}

static void errors_are_counted_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *hyp, *ref;
        int n_errors, n_words;
    } pairs[] = {
        {"", "", 0, 0},
        {"a", "", 1, 0},
        {"", "a b", 2, 2},
        {"a b c", "a b c", 0, 3},
        {"  a\tb   c ", "a b c", 0, 3},
        {"a x c", "a b c", 1, 3},
        {"a c", "a b c", 1, 3},
        {"a b b c", "a b c", 1, 3},
        {"b a", "a b", 2, 2}, /* a swap is two errors */
        {"kitten", "sitting", 1, 1},
        {"x a b c d", "a b c d x", 2, 5},
        {"a b a b a b", "b a b a b a", 2, 6},
        {"A b", "a b", 1, 2},
        {"über die Straße", "ueber die Straße", 1, 3},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct hd_edit_counts counts = counts_of(pairs[i].hyp, pairs[i].ref);
        assert_that(counts.n_errors == pairs[i].n_errors && counts.n_words == pairs[i].n_words &&
                        counts.n_exact == (pairs[i].n_errors == 0) && counts.n_sentences == 1,
                    "\"%s\" for \"%s\": %lld errors in %lld words", pairs[i].hyp, pairs[i].ref,
                    (long long)counts.n_errors, (long long)counts.n_words);
    }
}

static void every_text_has_the_errors_expected(void **state)
{
    (void)state;
    for (int i = 0; i < N_OTHERS; i++) {
        const struct expected_others *e = &expected_others[i];
        const struct expected_text *text = &expected_texts[e->text];
        struct hd_edit edit = {.is_lowercase = e->is_lowercase, .keeps_sentences = true};
        for (int k = 0; k < text->n; k++) {
            struct hd_text refs[2];
            for (int r = 0; r < text->sentences[k].n_refs; r++)
                refs[r] = hd_text_from(text->sentences[k].refs[r]);
            assert_true(hd_edit_add(&edit, hd_text_from(text->sentences[k].hyp), refs,
                                    text->sentences[k].n_refs, NULL));
        }
        assert_that(edit.sum.n_errors == e->n_errors && edit.sum.n_words == e->n_words &&
                        edit.sum.n_exact == e->n_exact && edit.sum.n_sentences == text->n,
                    "\"%s\", lower case %d: %lld errors in %lld words, %lld exact", text->name,
                    e->is_lowercase, (long long)edit.sum.n_errors, (long long)edit.sum.n_words,
                    (long long)edit.sum.n_exact);
        int64_t n_errors = 0;
        for (int k = 0; k < text->n; k++)
            n_errors += edit.sentences[k].n_errors;
        assert_int_equal(n_errors, edit.sum.n_errors);
        hd_edit_release(&edit);
    }
}

static void scores_are_percentages(void **state)
{
    (void)state;
    const struct hd_edit_counts counts = {
        .n_errors = 3, .n_words = 8, .n_exact = 1, .n_sentences = 4};
    assert_true(hd_edit_wer(&counts) == 37.5 && hd_edit_exact(&counts) == 25);
    const struct hd_edit_counts none = {0}, only_errors = {.n_errors = 2, .n_sentences = 1};
    assert_true(hd_edit_wer(&none) == 0 && hd_edit_exact(&none) == 0);
    assert_true(hd_edit_wer(&only_errors) == 100 && hd_edit_exact(&only_errors) == 0);
}

static void a_sentence_that_fails_leaves_no_trace(void **state)
{
    (void)state;
    const struct hd_text good = hd_text_from("a b c"), bad = hd_text_from("a\xC0");
    for (long n = 0;; n++) {
        struct hd_edit edit = {.keeps_sentences = true};
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = hd_edit_add(&edit, good, &good, 1, &err);
        hd_alloc_fail_after(-1);
        assert_that(edit.sum.n_sentences == ok, "%lld sentences after allocation %ld failed",
                    (long long)edit.sum.n_sentences, n);
        if (!ok)
            assert_error(err, HEED_NO_MEMORY, "no memory");
        assert_false(hd_edit_add(&edit, bad, &good, 1, NULL));
        assert_false(hd_edit_add(&edit, good, &bad, 1, NULL));
        assert_true(edit.sum.n_sentences == ok);
        hd_edit_release(&edit);
        if (ok)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_counted_in_words),
        cmocka_unit_test(every_text_has_the_errors_expected),
        cmocka_unit_test(scores_are_percentages),
        cmocka_unit_test(a_sentence_that_fails_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
