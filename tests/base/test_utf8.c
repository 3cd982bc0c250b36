/* test_utf8.c -- UTF-8: every character there is, and nothing else. */
#include "test.h"

#include "base/utf8.h"

static bool is_character(uint32_t cp)
{
    return cp <= 0x10FFFF && !(cp >= 0xD800 && cp <= 0xDFFF);
}

static void every_character_can_be_written_and_read_back(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp < 0x120000; cp++) {
        char bytes[4];
        const int length = hd_utf8_encode(bytes, cp);
        const int wanted = !is_character(cp) ? 0
                           : cp < 0x80       ? 1
                           : cp < 0x800      ? 2
                           : cp < 0x10000    ? 3
                                             : 4;
        assert_that(length == wanted, "U+%04X is %d bytes", cp, length);
        uint32_t back = ~0U;
        if (length == 0)
            continue;
        assert_that(hd_utf8_decode(bytes, 4, &back) == length && back == cp,
                    "U+%04X read as U+%04X", cp, back);
        assert_that(hd_utf8_decode(bytes, (size_t)length - 1, &back) == 0 && back == cp,
                    "U+%04X cut short", cp);
        assert_true(hd_utf8_valid(bytes, (size_t)length, NULL));
    }
    char bytes[4];
    assert_int_equal(hd_utf8_encode(bytes, UINT32_MAX), 0);
}

/* What is read must be what writing the code point gives: that alone forbids overlong forms and
 * surrogates. */
static void what_is_read_is_written_the_same_way(const unsigned char s[4])
{
    uint32_t cp = 0;
    char again[4];
    const int length = hd_utf8_decode((const char *)s, 4, &cp);
    if (length > 0)
        assert_that(hd_utf8_encode(again, cp) == length && memcmp(again, s, (size_t)length) == 0,
                    "%02x %02x %02x %02x read as %d bytes, U+%04X", s[0], s[1], s[2], s[3], length,
                    cp);
}

static void no_other_bytes_are_read(void **state)
{
    (void)state;
    static const unsigned char edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90,
                                          0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++)
            for (size_t c = 0; c < sizeof edges; c++)
                for (size_t d = 0; d < sizeof edges; d++)
                    what_is_read_is_written_the_same_way(
                        (unsigned char[4]){(unsigned char)a, (unsigned char)b, edges[c], edges[d]});
}

static void broken_text_is_found_where_it_breaks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bad_at;
        const char *what;
    } broken[] = {
        {"\x80", 0, "a continuation alone"},
        {"ab\xFFzz", 2, "no byte of UTF-8"},
        {"abcdefgh12345678\xC3", 16, "cut after eights of ASCII"},
        {"ab\xC0\xAF", 2, "overlong slash"},
        {"\xC1\xBF", 0, "overlong"},
        {"é\xE0\x9F\xBF", 2, "overlong, three bytes"},
        {"\xF0\x8F\xBF\xBF", 0, "overlong, four bytes"},
        {"x\xED\xA0\x80", 1, "a surrogate"},
        {"\xED\xBF\xBF", 0, "the last surrogate"},
        {"\xF4\x90\x80\x80", 0, "above U+10FFFF"},
        {"\xF5\x80\x80\x80", 0, "far above U+10FFFF"},
        {"日本\xE8\xAA", 6, "cut in the middle"},
        {"\xE8\xAA\xC3\xA9", 0, "a character begins before the last has ended"},
        {"\xF0\x9F\x98", 0, "cut before the last byte"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        size_t bad_at = 999;
        assert_that(!hd_utf8_valid(broken[i].text, strlen(broken[i].text), &bad_at), "%s",
                    broken[i].what);
        assert_that(bad_at == broken[i].bad_at, "%s: found at %zu", broken[i].what, bad_at);
    }
}

static void good_text_is_good_and_counted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n_bytes, n_characters;
    } good[] = {
        {"", 0, 0},
        {"J'aime mon chat.", 16, 16},
        {"a\0b", 3, 3},
        {"Grüße", 7, 5},
        {"猫が好き", 12, 4},
        {"😀x", 5, 2},
        {"\xEF\xBF\xBF\xF4\x8F\xBF\xBF", 7, 2}, /* U+FFFF, U+10FFFF */
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t bad_at = 999;
        assert_that(hd_utf8_valid(good[i].text, good[i].n_bytes, &bad_at), "%s", good[i].text);
        assert_int_equal(bad_at, 999);
        assert_int_equal(hd_utf8_count(good[i].text, good[i].n_bytes), good[i].n_characters);
    }
    assert_int_equal(hd_utf8_decode("", 0, NULL), 0);
    assert_true(hd_utf8_valid(NULL, 0, NULL));
    assert_int_equal(hd_utf8_count("a\xFF\xFE"
                                   "b",
                                   4),
                     4);
}

/* The fast way over ASCII must not change where anything is found. */
static void a_bad_byte_is_found_at_every_place(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40; n++)
        for (size_t at = 0; at < n; at++) {
            char text[40];
            memset(text, 'a', sizeof text);
            text[at] = (char)0xFE;
            size_t bad_at = 999;
            assert_false(hd_utf8_valid(text, n, &bad_at));
            assert_int_equal(bad_at, at);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_can_be_written_and_read_back),
        cmocka_unit_test(no_other_bytes_are_read),
        cmocka_unit_test(broken_text_is_found_where_it_breaks),
        cmocka_unit_test(good_text_is_good_and_counted),
        cmocka_unit_test(a_bad_byte_is_found_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
