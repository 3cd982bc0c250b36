/* test_quote.c -- words out of files in sentences: short, harmless, whole characters. */
#include "test.h"

#include "base/quote.h"
#include "base/utf8.h"

static void plain_words_are_only_quoted(void **state)
{
    (void)state;
    assert_string_equal(hd_quote("").text, "''");
    assert_string_equal(hd_quote("encoder.W").text, "'encoder.W'");
    assert_string_equal(hd_quote("grün ▁ 猫").text, "'grün ▁ 猫'");
    assert_string_equal(hd_quote_n("abc", 2).text, "'ab'");
}

static void nothing_reaches_the_terminal(void **state)
{
    (void)state;
    assert_string_equal(hd_quote("a\x1B[31mb\n\t\x7F").text, "'a?[31mb??\?'");
    assert_string_equal(hd_quote("\xC2\x9B"
                                 "x")
                            .text,
                        "'?x'"); /* the other escape, U+009B */
    assert_string_equal(hd_quote("a\xFF\xC3").text, "'a?\?'");
    assert_string_equal(hd_quote_n("a\0b", 3).text, "'a?b'");
}

static void long_words_are_cut_between_characters(void **state)
{
    (void)state;
    for (size_t n = 70; n < 200; n++)
        for (int width = 1; width <= 4; width++) {
            char word[900] = "";
            const char *one = (const char *[]){"x", "ü", "猫", "😀"}[width - 1];
            for (size_t i = 0; i < n / (size_t)width; i++)
                strcat(word, one);
            const struct hd_quoted quoted = hd_quote(word);
            const size_t length = strlen(quoted.text);
            assert_in_range(length, 2, sizeof quoted.text - 1);
            assert_true(hd_utf8_valid(quoted.text, length, NULL));
            if (strlen(word) <= 80)
                assert_that(strstr(quoted.text, word), "%s", quoted.text);
            else if (strlen(word) > 84)
                assert_that(length >= 80 && strcmp(quoted.text + length - 4, "...'") == 0, "%s",
                            quoted.text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words_are_only_quoted),
        cmocka_unit_test(nothing_reaches_the_terminal),
        cmocka_unit_test(long_words_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
