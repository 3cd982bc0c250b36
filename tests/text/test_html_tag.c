/* Tags of HTML in a text that nobody called HTML: which there are, and whether a text may be read as HTML. */
#include "test.h"

#include "text/html_tag.h"

#include <string.h>

static void tags_are_known_by_name_and_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"<b>bold</b>", 3},
        {"</B> end", 4},
        {"<br/>", 5},
        {"<br />", 6},
        {"<a href=\"x.html?a=1>2\" target=_blank>x", 37},
        {"<img src='a b.png'>", 19},
        {"<h1 class=\"big\">", 16},
        {"<blockquote>", 12},
        {"<b and c> d", 0},
        {"< b>", 0},
        {"<T> of", 0},
        {"<name>", 0},
        {"<bold>", 0},
        {"<b", 0},
        {"<", 0},
        {"<>", 0},
        {"</>", 0},
        {"<b/", 0},
        {"</b x=1>", 0},
        {"<b<b>", 0},
        {"<a href=\"never closed>", 0},
        {"b>", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t got = hd_html_tag_length(cases[i].text, strlen(cases[i].text));
        assert_that(got == cases[i].length, "\"%s\": wanted %zu, got %zu", cases[i].text,
                    cases[i].length, got);
    }
    assert_int_equal(hd_html_tag_length("<b>", 2), 0); /* nothing behind the text is read */
}

static void a_text_is_whole_where_every_element_has_both_ends(void **state)
{
    (void)state;
    static const char *const whole[] = {"<b>x</b>",        "a<br>b",   "<p>a <i>b</i></p> c",
                                        "a < b, <u>c</u>", "<P>x</p>", "<img src=x.png/> y",
                                        "<span/>"};
    static const char *const not_whole[] = {"",
                                            "a < b > c",
                                            "<b>x",
                                            "x</b>",
                                            "<b><i>x</b></i>",
                                            "List<T> and <name>",
                                            "<p>one<p>two</p>",
                                            "&amp;"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_that(hd_html_is_whole(whole[i], strlen(whole[i])), "\"%s\" is not whole", whole[i]);
    for (size_t i = 0; i < sizeof not_whole / sizeof *not_whole; i++)
        assert_that(!hd_html_is_whole(not_whole[i], strlen(not_whole[i])), "\"%s\" is whole",
                    not_whole[i]);
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    char text[8 * 200] = "";
    for (int i = 0; i < 100; i++)
        strcat(text, "<b>");
    for (int i = 0; i < 100; i++)
        strcat(text, "</b>");
    assert_false(hd_html_is_whole(text, strlen(text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_are_known_by_name_and_form),
        cmocka_unit_test(a_text_is_whole_where_every_element_has_both_ends),
        cmocka_unit_test(depth_and_length_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
