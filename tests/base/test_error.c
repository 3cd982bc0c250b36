/* test_error.c -- errors: the first is kept, the sentence always ends. */
#include "test.h"

#include "base/error.h"
#include "base/utf8.h"

static void the_first_error_is_kept(void **state)
{
    (void)state;
    heed_error err = {0};
    assert_false(hd_failed(&err));
    assert_false(hd_fail(&err, HEED_BAD_FILE, "%s: line %d", "a.txt", 7));
    assert_true(hd_failed(&err));
    assert_false(hd_fail(&err, HEED_NO_MEMORY, "an echo"));
    assert_int_equal(err.code, HEED_BAD_FILE);
    assert_string_equal(err.message, "a.txt: line 7");
}

static void nobody_has_to_listen(void **state)
{
    (void)state;
    assert_false(hd_fail(NULL, HEED_BAD_FILE, "lost"));
    assert_false(hd_failed(NULL));
}

/* "é" is two bytes: of the two messages, one would be cut in its middle. */
static void a_sentence_that_is_too_long_is_cut_between_characters(void **state)
{
    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        char text[2000] = "xxx";
        size_t n = (size_t)shift;
        for (; n + 2 < sizeof text - 1; n += 2)
            memcpy(text + n, "é", 2);
        text[n] = '\0';
        heed_error err = {0};
        hd_fail(&err, HEED_BAD_TEXT, "%s", text);
        const size_t length = strlen(err.message);
        assert_that(length <= sizeof err.message - 1 && length >= sizeof err.message - 6,
                    "length %zu", length);
        assert_true(hd_utf8_valid(err.message, length, NULL));
        assert_string_equal(err.message + length - 3, "...");
    }
}

static void a_sentence_that_just_fits_is_whole(void **state)
{
    (void)state;
    char text[sizeof((heed_error *)0)->message];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    heed_error err = {0};
    hd_fail(&err, HEED_BAD_TEXT, "%s", text);
    assert_string_equal(err.message, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(a_sentence_that_is_too_long_is_cut_between_characters),
        cmocka_unit_test(a_sentence_that_just_fits_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
