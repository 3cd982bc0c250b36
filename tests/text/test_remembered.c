/* test_remembered.c -- translation memories are read or refused with the line that is wrong, and find what is like a text. */
#include "text/files.h"

#include "base/memory.h"
#include "text/remembered.h"

static struct hd_remembered *memory_of(const char *text)
{
    heed_error err = {0};
    struct hd_remembered *m = hd_remembered_from_memory("m.tsv", text, strlen(text), &err);
    assert_that(m, "%s", err.message);
    return m;
}

/* Lines that are found, as "3 1". */
static const char *found(const struct hd_remembered *m, const char *text, const char *from,
                         const char *to)
{
    static char out[128];
    struct hd_likeness likes[4];
    const struct hd_remembered_query q = {text, strlen(text), from, to};
    const int n = hd_remembered_find(m, &q, likes, 4, NULL);
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        assert_true(likes[i].similarity > 0 && likes[i].similarity < 1 + 1e-9);
        assert_true(i == 0 || likes[i].similarity <= likes[i - 1].similarity);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%zu", i > 0 ? " " : "",
                               hd_remembered_at(m, likes[i].pair)->line);
    }
    return out;
}

static void what_is_most_like_a_text_is_found(void **state)
{
    (void)state;
    struct hd_remembered *m = memory_of("a man in a red hat\teins\n"
                                        "\n"
                                        "a dog runs\tzwei\r\n"
                                        "A MAN, in a blue hat!\tdrei\n"
                                        "a dog runs\tvier\n"
                                        "猫が好き\tfünf\n"
                                        "two women\tsechs\n");
    static const struct {
        const char *text, *lines;
    } cases[] = {
        {"a dog runs", "3 5 1 4"},              /* of equal ones the earlier */
        {"a man in a blue hat", "4 1 3 5"},     /* case and marks do not matter */
        {"a man in a red hat eats", "1 4 3 5"}, /* neighbours count, too */
        {"犬が好き", "6"},                      /* characters are words */
        {"nothing here", ""},
        {"", ""},
        {"!?", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *lines = found(m, cases[i].text, NULL, NULL);
        assert_that(strcmp(lines, cases[i].lines) == 0, "'%s': lines %s instead of %s",
                    cases[i].text, lines, cases[i].lines);
    }
    hd_remembered_free(m);
}

static const char *same(const struct hd_remembered *m, const char *text, const char *from,
                        const char *to)
{
    const struct hd_remembered_query q = {text, strlen(text), from, to};
    const struct hd_remembered_pair *p = hd_remembered_same(m, &q);
    return p ? p->target : "-";
}

static void the_last_of_a_text_is_its_answer(void **state)
{
    (void)state;
    struct hd_remembered *m =
        memory_of("good  morning\told\ngood morning\tnew\n"
                  "Good morning\tcapital\nyes\tja\ten\tde\nyes\toui\ten\tfr\n");
    assert_string_equal(same(m, "good morning", NULL, NULL), "new");
    assert_string_equal(same(m, " good\u00a0 morning\t", NULL, NULL), "new");
    assert_string_equal(same(m, "Good morning", NULL, NULL), "capital");
    assert_string_equal(same(m, "good", NULL, NULL), "-");
    assert_string_equal(same(m, "good morning!", NULL, NULL), "-");
    assert_string_equal(same(m, "", NULL, NULL), "-");
    assert_string_equal(same(m, "yes", "en", "de"), "ja");
    assert_string_equal(same(m, "yes", "EN", "fr"), "oui");
    assert_string_equal(same(m, "yes", NULL, NULL), "oui");
    assert_string_equal(same(m, "yes", "en", "es"), "-");
    assert_string_equal(same(m, "good morning", "en", "es"), "new"); /* of any language */
    assert_string_equal(found(m, "oh yes", "en", "de"), "4");
    hd_remembered_free(m);
}

static void broken_files_are_refused_with_the_line(void **state)
{
    (void)state;
    static const char *const broken[][2] = {{"a\tb\nno tab\n", "m.tsv:2: a line of a translation"},
                                            {"a\t\n", "m.tsv:1: a line"},
                                            {"\tb\n", "m.tsv:1: a line"},
                                            {"a\tb\n\xff\tb\n", "m.tsv:2: not UTF-8"}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        heed_error err = {0};
        assert_null(hd_remembered_from_memory("m.tsv", broken[i][0], strlen(broken[i][0]), &err));
        assert_that(strncmp(err.message, broken[i][1], strlen(broken[i][1])) == 0, "%s",
                    err.message);
    }
    struct hd_remembered *m = memory_of("");
    assert_int_equal(hd_remembered_size(m), 0);
    assert_string_equal(found(m, "a", NULL, NULL), "");
    assert_string_equal(same(m, "a", NULL, NULL), "-");
    hd_remembered_free(m);
    heed_error err = {0};
    assert_null(hd_remembered_read("/nowhere/m.tsv", &err));
    assert_int_equal(err.code, HEED_BAD_FILE);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] = "a b\tx\nb c\ty\n";
    struct hd_likeness likes[2];
    for (long n = 0, done = 0; !done; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        struct hd_remembered *m = hd_remembered_from_memory("m", text, sizeof text - 1, &err);
        const struct hd_remembered_query q = {"b c", 3, NULL, NULL};
        done = m && hd_remembered_find(m, &q, likes, 2, &err) == 2;
        hd_alloc_fail_after(-1);
        assert_that(done || err.code == HEED_NO_MEMORY, "after %ld: %s", n, err.message);
        hd_remembered_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_most_like_a_text_is_found),
        cmocka_unit_test(the_last_of_a_text_is_its_answer),
        cmocka_unit_test(broken_files_are_refused_with_the_line),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
