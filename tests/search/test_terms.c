/* test_terms.c -- which terms an output has: whole words, each term its own occurrence, forms for the first word and for others. */
#include "test.h"

#include "search/terms.h"

/* ids: 0 "▁a", 1 "▁b", 2 "s" (goes on with a word), 3 "'" (ends in no letter), 4 "b" (inside) */
static const unsigned char flags[] = {
    HD_ID_BEGINS_WORD | HD_ID_ENDS_IN_WORD, HD_ID_BEGINS_WORD | HD_ID_ENDS_IN_WORD,
    HD_ID_CONTINUES_WORD | HD_ID_ENDS_IN_WORD, 0, HD_ID_CONTINUES_WORD | HD_ID_ENDS_IN_WORD};
static const int ab[] = {0, 1}, b[] = {1}, inner[] = {4};
static const struct hd_term_form two[] = {{ab, 2, HD_TERM_ANYWHERE}},
                                 one[] = {{b, 1, HD_TERM_NOT_FIRST}, {inner, 1, HD_TERM_ANYWHERE}};
static const struct hd_required_term both[] = {{two, 1, 2, 0, 0}, {one, 2, 1, 0, 0}};
static const struct hd_terms terms = {both, 2, 3, flags};

static void reads(const int *ids, int n, unsigned met, int progress)
{
    struct hd_terms_state s;
    hd_terms_read(&s, &terms, ids, n);
    assert_that(s.met == met && s.progress == progress, "met %u, progress %d", (unsigned)s.met,
                s.progress);
    assert_true(hd_terms_are_met(&s, &terms) == (met == 3));
}

static void terms_are_whole_words_each_of_its_own(void **state)
{
    (void)state;
    reads((const int[]){0}, 1, 0, 1);             /* begun */
    reads((const int[]){0, 1}, 2, 1, 2);          /* the longer one */
    reads((const int[]){0, 1, 2}, 3, 0, 0);       /* the word goes on */
    reads((const int[]){0, 1, 1}, 3, 3, 3);       /* both */
    reads((const int[]){1}, 1, 0, 0);             /* not as the first word */
    reads((const int[]){0, 0, 1, 3, 4}, 5, 3, 3); /* inside, behind an apostrophe */
    reads((const int[]){0, 4}, 2, 0, 0);          /* but not inside a word */
    reads((const int[]){3}, 0, 0, 0);
}

static void the_next_words_are_told_and_the_beam_is_wide_enough(void **state)
{
    (void)state;
    struct hd_terms_state s;
    hd_terms_read(&s, &terms, (const int[]){0}, 1);
    assert_int_equal(s.n_next, 2); /* on with one, or begin one; nothing inside the word */
    assert_int_equal(hd_terms_beam(&terms, 1), 4);
    assert_int_equal(hd_terms_beam(&terms, 12), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_whole_words_each_of_its_own),
        cmocka_unit_test(the_next_words_are_told_and_the_beam_is_wide_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
