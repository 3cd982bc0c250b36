/* test_answer.c -- where answers stand in documents, what is cut from them, what of a line is refused, and how answers are scored. */
#include "test.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/answer.h"
#include "text/corpus.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct hd_text text_of(const char *text)
{
    return (struct hd_text){text, strlen(text)};
}

static void a_line_has_up_to_four_columns(void **state)
{
    (void)state;
    struct hd_question q;
    assert_int_equal(hd_question_cut(text_of("one"), &q), 1);
    assert_int_equal(hd_question_cut(text_of(""), &q), 1);
    assert_int_equal(hd_question_cut(text_of("d\tq"), &q), 2);
    assert_int_equal(hd_question_cut(text_of("d d\tq\ta\t3\tmore\tand more"), &q), 4);
    assert_true(q.document.n == 3 && q.question.n == 1 && q.answer.at[0] == 'a');
    assert_true(q.number.n == 1 && q.number.at[0] == '3');
}

static const struct {
    const char *line;
    enum hd_answer_state state;
    size_t begin, end;
} places[] = {
    {"a cat in a hat\tq\tcat", HD_ANSWER_FOUND, 2, 5},
    {"within a tin in a hat\tq\tin", HD_ANSWER_FOUND, 13, 15}, /* a whole token before a part */
    {"he saw Rome.\tq\tRome", HD_ANSWER_FOUND, 7, 11},
    {"to be to be\tq\tto be\t2", HD_ANSWER_FOUND, 6, 11},
    {"to be to be\tq\tto be\t", HD_ANSWER_FOUND, 0, 5},
    {"to be  to be\tq\t be \t3", HD_ANSWER_FOUND, 10, 12},
    {"to be to be\tq\tto be\t1", HD_ANSWER_MISSING, 0, 0},
    {"to be to be\tq\tto be\t4", HD_ANSWER_OUTSIDE, 0, 0},
    {"to be to be\tq\tto be\t-1", HD_ANSWER_OUTSIDE, 0, 0},
    {"to be to be\tq\tto be\t99999999999999999999", HD_ANSWER_OUTSIDE, 0, 0},
    {"to be\tq\tto be or not", HD_ANSWER_MISSING, 0, 0},
    {"to be\tq\tTo", HD_ANSWER_MISSING, 0, 0},
    {"to be\tq\t ", HD_ANSWER_MISSING, 0, 0},
};

static void an_answer_is_found_at_its_token_or_where_it_first_stands(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct hd_question q;
        struct hd_span place = {0};
        hd_question_cut(text_of(places[i].line), &q);
        const enum hd_answer_state found = hd_answer_find(&q, &place);
        assert_that(found == places[i].state && place.begin == places[i].begin &&
                        place.end == places[i].end,
                    "%s: state %d at %zu to %zu", places[i].line, (int)found, place.begin,
                    place.end);
    }
}

static void tokens_and_parts_lead_to_each_other(void **state)
{
    (void)state;
    const struct hd_text document = text_of("un caf\xC3\xA9 noir, merci");
    const struct hd_span tokens[] = {{0, 2}, {2, 5}, {5, 8}, {8, 13}, {13, 14}, {14, 20}};
    int found[2];
    assert_true(hd_answer_tokens(tokens, 6, (struct hd_span){3, 8}, found)); /* café */
    assert_true(found[0] == 1 && found[1] == 2);
    assert_true(hd_answer_tokens(tokens, 6, (struct hd_span){9, 13}, found)); /* noir */
    assert_true(found[0] == 3 && found[1] == 3);
    assert_false(hd_answer_tokens(tokens, 6, (struct hd_span){20, 20}, found));
    struct hd_span part = hd_answer_part(document, tokens, 1, 2);
    assert_true(part.begin == 3 && part.end == 8); /* without the space before it */
    part = hd_answer_part(document, tokens, 2, 2);
    assert_true(part.begin == 3 && part.end == 8); /* half a word is widened */
    part = hd_answer_part(document, tokens, 3, 3);
    assert_true(part.begin == 9 && part.end == 13); /* but not to the comma */
    part = hd_answer_part(document, tokens, 0, 5);
    assert_true(part.begin == 0 && part.end == 20);
}

/* ---- lines that are refused ---------------------------------------------------------------------- */

static struct hd_corpus *open_lines(const char *lines, bool skip_bad, heed_error *err)
{
    char path[] = "/tmp/heed-answers-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, lines, strlen(lines)) == (ssize_t)strlen(lines));
    close(file);
    const char *const paths[] = {path};
    const struct hd_corpus_files files = {
        .source = paths, .n_source = 1, .is_tsv = true, .has_questions = true};
    struct hd_corpus *corpus =
        hd_corpus_open(&files, &(struct hd_corpus_options){.skip_bad = skip_bad}, err);
    unlink(path);
    return corpus;
}

static void bad_lines_are_refused_with_their_reason(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"just a line\n", ":1: this line is one column"},
        {"d\tq\td\na document\ta question\n", ":2: this line has no answer"},
        {"\tq\ta\n", ":1: the document is empty"},
        {" a\t \ta\n", ":1: the question is missing"},
        {"a b\tq\t\n", ":1: the answer is empty"},
        {"a b\tq\tc\n", ":1: the answer is not in the document"},
        {"a b\tq\ta\t1\n", ":1: the answer does not stand at the token"},
        {"a b\tq\ta\t2\n", ":1: the fourth column is no number of a token"},
        {"a b\tq\ta\tfirst\n", ":1: the fourth column is no number of a token"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_error err = {0};
        struct hd_corpus *corpus = open_lines(bad[i][0], false, &err);
        assert_that(!corpus && err.code == HEED_BAD_TEXT && strstr(err.message, bad[i][1]) &&
                        strstr(err.message, "--skip-bad"),
                    "%s: %s", bad[i][0], err.message);
    }
}

static void bad_lines_can_be_left_out(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_corpus *corpus = open_lines(
        "a b\tq\tb\nnothing\na b\tq\tc\na b\tq\tb\t7\na b\tq q\tb\t1\tx\ty\n", true, &err);
    assert_that(corpus != NULL, "%s", err.message);
    assert_int_equal(hd_corpus_size(corpus), 2);
    char *told = hd_corpus_left_out(corpus, &err);
    assert_true(strstr(told, "3 of 5 pairs are left out: 1 is not three columns") != NULL);
    assert_true(strstr(told, "1 has an answer that is not in its document") != NULL);
    assert_true(strstr(told, "1 has an answer outside of its document") != NULL);
    hd_free(told);
    const struct hd_text_pair pair = hd_corpus_pair(corpus, 1);
    assert_true(pair.n_source == 7 && memcmp(pair.source, "a b\tq q", 7) == 0);
    assert_true(pair.n_target == 7 && memcmp(pair.target, "b\t1\tx\ty", 7) == 0);
    hd_corpus_free(corpus);
}

/* ---- scores: of SQuAD's own script ---------------------------------------------------------------- */

static const struct {
    const char *hyp, *ref;
    double exact, f1;
} scored[] = {
    {"The Cat.", "cat", 100, 100},
    {"a cat's hat", "cats hat", 100, 100},
    {"the cat", "a dog", 0, 0},
    {"big black cat", "black cat", 0, 80},
    {"in 1990 , in Rome", "in rome", 0, 2 * (2 / 4.) * 1 / (2 / 4. + 1) * 100},
    {"theatre", "the theatre", 100, 100},
    {"", "cat", 0, 0},
    {"the", "a", 100, 100}, /* nothing is left of either */
    {"\xC3\x89t\xC3\xA9", "\xC3\xA9t\xC3\xA9!", 100, 100},
    {"U.S.", "us", 100, 100},
};

static void answers_are_scored_as_squad_does(void **state)
{
    (void)state;
    heed_pair all[sizeof scored / sizeof *scored];
    heed_answer_scores s;
    heed_error err = {0};
    double exact = 0, f1 = 0;
    const size_t n = sizeof scored / sizeof *scored;
    for (size_t i = 0; i < n; i++) {
        all[i] = (heed_pair){scored[i].hyp, scored[i].ref};
        assert_true(heed_score_answers(&all[i], 1, &s, &err));
        assert_that(s.exact == scored[i].exact && fabs(s.f1 - scored[i].f1) < 1e-9,
                    "%s, %s: exact %g, F1 %g", scored[i].hyp, scored[i].ref, s.exact, s.f1);
        exact += scored[i].exact;
        f1 += scored[i].f1;
    }
    assert_true(heed_score_answers(all, n, &s, &err));
    assert_true(s.n == n && fabs(s.exact - exact / (double)n) < 1e-9);
    assert_true(fabs(s.f1 - f1 / (double)n) < 1e-9);
    assert_false(heed_score_answers(all, 0, &s, &err));
    assert_int_equal(err.code, HEED_BAD_TEXT);
    err = (heed_error){0};
    assert_false(heed_score_answers(&(heed_pair){"\xFF", "a"}, 1, &s, &err));
    assert_int_equal(err.code, HEED_BAD_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_up_to_four_columns),
        cmocka_unit_test(an_answer_is_found_at_its_token_or_where_it_first_stands),
        cmocka_unit_test(tokens_and_parts_lead_to_each_other),
        cmocka_unit_test(bad_lines_are_refused_with_their_reason),
        cmocka_unit_test(bad_lines_can_be_left_out),
        cmocka_unit_test(answers_are_scored_as_squad_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
