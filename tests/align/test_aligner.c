/* test_aligner.c -- an aligner learns a toy language whose links are known, with the same bits for any number of threads. */
#include "test.h"

#include "align/align_tokens.h"
#include "align/aligner.h"
#include "base/memory.h"
#include "base/rng.h"

/* ---- a toy -------------------------------------------------------------------------------------- */

enum { N = 600, N_WORDS = 30, MOST = 8 };

struct toy {
    char text[2][N][160];
    heed_text_pair pairs[N];
    heed_link gold[N][MOST];
    size_t n_gold[N];
};

/* Sentences of words a0, a1…, whose translation b0, b1… swaps neighbours; the first word has a capital, the last a full stop, and now and
 * then a word "zz" that has no counterpart. */
static void make(struct toy *toy)
{
    struct hd_rng rng = {.key = 7};
    for (int k = 0; k < N; k++) {
        const int n = 2 + (int)hd_rng_below(&rng, 5);
        int word[MOST], place[MOST];
        for (int i = 0; i < n; i++) {
            word[i] = (int)hd_rng_below(&rng, N_WORDS);
            place[i] = i ^ 1;
            place[i] = place[i] < n ? place[i] : i;
        }
        const bool is_longer = hd_rng_below(&rng, 4) == 0;
        char *s = toy->text[0][k], *t = toy->text[1][k];
        for (int i = 0; i < n; i++)
            s += sprintf(s, "%s%c%d%s", i ? " " : "", i ? 'a' : 'A', word[i], i + 1 < n ? "" : ".");
        t += is_longer ? sprintf(t, "Zz ") : 0;
        for (int i = 0; i < n; i++)
            t += sprintf(t, "%sb%d%s", i ? " " : "", word[place[i]], i + 1 < n ? "" : ".");
        toy->n_gold[k] = (size_t)n;
        for (int i = 0; i < n; i++)
            toy->gold[k][i] = (heed_link){place[i], i + is_longer};
        toy->pairs[k] = (heed_text_pair){toy->text[0][k], toy->text[1][k]};
    }
}

static heed_alignments *aligned(const heed_text_pair *pairs, size_t n, int n_threads)
{
    heed_error err = {0};
    const heed_aligner_options options = {.size = sizeof options, .n_threads = n_threads};
    heed_aligner *a = heed_aligner_new(pairs, n, &options, &err);
    assert_that(a, "%s", err.message);
    heed_alignments *found = heed_aligner_align(a, pairs, n, HEED_SYMMETRY_GROW_DIAG_FINAL, &err);
    assert_that(found, "%s", err.message);
    heed_aligner_free(a);
    return found;
}

static void the_links_of_a_toy_language_are_found(void **state)
{
    struct toy *toy = *state;
    heed_alignments *found = aligned(toy->pairs, N, 1);
    heed_alignment_quality q = {0};
    assert_int_equal(found->n, N);
    for (size_t k = 0; k < N; k++)
        heed_alignment_judge(&q, found->links[k], found->n_links[k], toy->gold[k], toy->n_gold[k],
                             NULL, 0);
    assert_that(q.error_rate < 2, "AER %.2f, precision %.2f, recall %.2f", q.error_rate,
                q.precision, q.recall);
    heed_alignments_free(found);
}

static void links_are_sorted_and_the_same_for_any_number_of_threads(void **state)
{
    struct toy *toy = *state;
    heed_alignments *one = aligned(toy->pairs, N, 1);
    for (int n_threads = 2; n_threads <= 3; n_threads++) {
        heed_alignments *other = aligned(toy->pairs, N, n_threads);
        for (size_t k = 0; k < N; k++) {
            const size_t n = one->n_links[k];
            assert_that(n == other->n_links[k] &&
                            memcmp(one->links[k], other->links[k], n * sizeof **one->links) == 0,
                        "pair %zu differs with %d threads", k, n_threads);
        }
        heed_alignments_free(other);
    }
    for (size_t k = 0; k < N; k++)
        for (size_t i = 1; i < one->n_links[k]; i++) {
            const heed_link a = one->links[k][i - 1], b = one->links[k][i];
            assert_that(a.target < b.target || (a.target == b.target && a.source < b.source),
                        "pair %zu, link %zu", k, i);
        }
    heed_alignments_free(one);
}

/* What the probabilities are, to the last bit, is more than what links show. */
static void probabilities_are_the_same_for_any_number_of_threads(void **state)
{
    struct toy *toy = *state;
    heed_alignments *all[2];
    for (int i = 0; i < 2; i++) {
        heed_error err = {0};
        const heed_aligner_options options = {.size = sizeof options, .n_threads = 1 + 2 * i};
        heed_aligner *a = heed_aligner_new(toy->pairs, N, &options, &err);
        assert_non_null(a);
        /* The union of both directions depends on more probabilities than their common links do. */
        all[i] = heed_aligner_align(a, toy->pairs, N, HEED_SYMMETRY_UNION, &err);
        assert_non_null(all[i]);
        heed_aligner_free(a);
    }
    for (size_t k = 0; k < N; k++)
        assert_int_equal(all[0]->n_links[k], all[1]->n_links[k]);
    heed_alignments_free(all[0]);
    heed_alignments_free(all[1]);
}

static void words_that_were_never_seen_are_linked_where_nothing_else_can_be(void **state)
{
    struct toy *toy = *state;
    heed_error err = {0};
    heed_aligner *a = heed_aligner_new(toy->pairs, N, NULL, &err);
    const heed_text_pair strange[] = {{"a1 xyzzy a3", "qwert b1 b3"}, {"", "b1"}, {"?", "!"}};
    heed_alignments *found = heed_aligner_align(a, strange, 3, HEED_SYMMETRY_GROW_DIAG_FINAL, &err);
    assert_that(found, "%s", err.message);
    assert_int_equal(found->n_links[0], 3);
    assert_int_equal(found->links[0][0].source, 1);
    assert_int_equal(found->n_links[1], 0);
    heed_alignments_free(found);
    heed_aligner_free(a);
}

/* ---- words ------------------------------------------------------------------------------------------ */

static void words_that_belong_together_become_a_lexicon(void **state)
{
    (void)state;
    enum { TIMES = 12, KINDS = 4 };
    static const heed_text_pair kinds[KINDS] = {
        {"The house is red.", "Das Haus ist rot."},
        {"My dog sees the house", "Mein Hund sieht das Haus"},
        {"Red is it, and well-known.", "Rot ist es, und wohlbekannt."},
        {"A dog has 25 red cats", "Ein Hund hat 25 rote Katzen"}};
    heed_text_pair pairs[KINDS * TIMES];
    for (int i = 0; i < KINDS * TIMES; i++)
        pairs[i] = kinds[i % KINDS];
    heed_error err = {0};
    heed_aligner *a = heed_aligner_new(pairs, KINDS * TIMES, NULL, &err);
    heed_lexicon *lexicon = heed_aligner_lexicon(a, pairs, KINDS * TIMES, &err);
    assert_that(lexicon, "%s", err.message);
    bool has_house = false, has_dog = false;
    for (size_t i = 0; i < lexicon->n; i++) {
        const heed_lexicon_entry *e = &lexicon->at[i];
        has_house =
            has_house || (strcmp(e->source, "house") == 0 && strcmp(e->target, "Haus") == 0 &&
                          e->count == 2 * TIMES && e->p_target == 1);
        has_dog = has_dog || (strcmp(e->source, "dog") == 0 && strcmp(e->target, "Hund") == 0);
        assert_that(i == 0 || lexicon->at[i - 1].count >= e->count, "entry %zu", i);
        assert_null(strpbrk(e->source, "-.0123456789"));
        assert_true(e->p_target > 0 && e->p_target <= 1 && e->p_source > 0 && e->p_source <= 1);
    }
    assert_true(has_house && has_dog);
    heed_lexicon_free(lexicon);
    heed_lexicon_free(NULL);
    heed_aligner_free(a);
}

/* ---- tokens --------------------------------------------------------------------------------------- */

/* "j:0 aime:0 .:1" */
static const char *cut(const char *line)
{
    static char text[512];
    struct hd_align_tokens tokens = {0};
    struct hd_token_ids ids = {0};
    heed_error err = {0};
    char *to = text;
    *to = 0;
    assert_true(
        hd_align_tokens_cut(&tokens, (struct hd_text){line, strlen(line)}, &ids, true, &err));
    for (size_t i = 0; i < tokens.n; i++)
        to += sprintf(to, "%s%s%s:%d", i ? " " : "", tokens.at[i].is_mark ? "~" : "",
                      hd_token_text(&ids, tokens.at[i].id), tokens.at[i].word);
    hd_align_tokens_release(&tokens);
    hd_token_ids_release(&ids);
    return text;
}

static void a_line_is_cut_into_letters_and_marks_of_words(void **state)
{
    (void)state;
    assert_string_equal(cut("J'aime  mon CHAT..."), "j:0 aime:0 mon:1 chat:2 ~.:2");
    assert_string_equal(cut("Viens-tu, « Tom » ?"), "viens:0 tu:0 ~,:0 ~«:1 tom:2 ~»:3 ~?:4");
    assert_string_equal(cut("3.5 kg, 1,000.00 (x)"), "3.5:0 kg:1 ~,:1 1,000.00:2 ~(:3 x:3 ~):3");
    assert_string_equal(cut("Straße Ärger"), "strasse:0 ärger:1");
    assert_string_equal(cut("日本 ok"), "日:0 本:1 ok:2");
    assert_string_equal(cut(" "), "");
    assert_string_equal(cut(""), "");
    assert_string_equal(cut("' - a"), "~':0 ~-:1 a:2");
}

/* ---- when things go wrong --------------------------------------------------------------------------- */

static bool stop(void *context, size_t n_done, size_t n)
{
    int *left = context;
    (void)n_done;
    (void)n;
    return (*left)-- > 0;
}

static void work_can_be_stopped(void **state)
{
    struct toy *toy = *state;
    for (int left = 0; left < 8; left++) {
        heed_error err = {0};
        int count = left;
        const heed_aligner_options options = {
            .size = sizeof options, .n_threads = 1, .watch = stop, .context = &count};
        assert_null(heed_aligner_new(toy->pairs, N, &options, &err));
        assert_error(err, HEED_CANCELLED, "stopped");
    }
}

static void a_text_without_words_is_refused(void **state)
{
    (void)state;
    heed_error err = {0};
    const heed_text_pair nothing[] = {{"", "x"}, {" ", ""}};
    assert_null(heed_aligner_new(nothing, 2, NULL, &err));
    assert_error(err, HEED_BAD_TEXT, "no pair of the text has words on both sides");
    assert_null(heed_aligner_new(NULL, 0, NULL, NULL));
    heed_aligner_free(NULL);
    heed_alignments_free(NULL);
}

static void every_allocation_may_fail(void **state)
{
    struct toy *toy = *state;
    for (long i = 0;; i++) {
        heed_error err = {0};
        const heed_aligner_options options = {.size = sizeof options, .n_threads = 1};
        hd_alloc_fail_after(i);
        heed_aligner *a = heed_aligner_new(toy->pairs, 20, &options, &err);
        heed_alignments *found =
            a ? heed_aligner_align(a, toy->pairs, 20, HEED_SYMMETRY_UNION, &err) : NULL;
        heed_lexicon *lexicon = found ? heed_aligner_lexicon(a, toy->pairs, 20, &err) : NULL;
        hd_alloc_fail_after(-1);
        heed_aligner_free(a);
        heed_alignments_free(found);
        heed_lexicon_free(lexicon);
        if (lexicon)
            break;
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    static struct toy toy;
    make(&toy);
    struct CMUnitTest tests[] = {
        cmocka_unit_test(the_links_of_a_toy_language_are_found),
        cmocka_unit_test(links_are_sorted_and_the_same_for_any_number_of_threads),
        cmocka_unit_test(probabilities_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(words_that_were_never_seen_are_linked_where_nothing_else_can_be),
        cmocka_unit_test(words_that_belong_together_become_a_lexicon),
        cmocka_unit_test(a_line_is_cut_into_letters_and_marks_of_words),
        cmocka_unit_test(work_can_be_stopped),
        cmocka_unit_test(a_text_without_words_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tests[i].initial_state = &toy;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
