/* test_check.c -- pictures that cannot be drawn are refused with a sentence, before any module
 * is looked for. */
#include "test.h"

#include "picture/picture_check.h"

#include <heed_draw.h>
#include <math.h>

static const char *const words[] = {"one", "two"};
static const float halves[] = {0.5F, 0.5F, 0.5F, 0.5F};
static const heed_picture_attention fine = {
    .words = {words, 2, words, 2}, .weights = halves, .end = halves};

static void refused(const heed_picture *picture, const char *why)
{
    heed_error err = {0};
    assert_false(hd_picture_check(picture, &err));
    assert_error(err, HEED_BAD_OPTION, why);
    size_t size;
    err = (heed_error){0};
    assert_null(heed_draw_bytes(picture, "svg", &size, &err));
    assert_error(err, HEED_BAD_OPTION, why);
}

static void refused_attention(heed_picture_attention a, const char *why)
{
    refused(&(heed_picture){.attention = &a}, why);
}

static void a_picture_is_of_exactly_one_kind(void **state)
{
    (void)state;
    refused(&(heed_picture){.title = "nothing"}, "one kind, but 0 were given");
    refused(&(heed_picture){.attention = &fine, .bars = &(heed_picture_bars){0}},
            "one kind, but 2 were given");
    assert_true(hd_picture_check(&(heed_picture){.attention = &fine}, NULL));
}

static void weights_are_numbers_from_0_to_1(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY, -0.1F, 1.1F};
    for (int i = 0; i < 5; i++)
        for (int at = 0; at < 4; at++) {
            float weights[] = {0, 0, 1, 1};
            char where[80];
            weights[at] = bad[i];
            heed_picture_attention a = fine;
            a.weights = weights;
            snprintf(where, sizeof where, "target word %d and source word %d is", at / 2 + 1,
                     at % 2 + 1);
            refused_attention(a, where);
            const heed_picture_heads heads = {a.words, weights, 1, 1};
            refused(&(heed_picture){.heads = &heads}, where);
            if (at < 2) {
                a = fine;
                a.end = weights;
                snprintf(where, sizeof where, "target word %d and source word 3 is", at + 1);
                refused_attention(a, where);
            }
        }
    const float rounded[] = {-1e-6F, 1.000001F, 0, 1}; /* sums of floats */
    heed_picture_attention a = fine;
    a.weights = rounded;
    assert_true(hd_attention_check(&a, NULL));
}

static void words_and_links_are_there_and_not_too_many(void **state)
{
    (void)state;
    static const char *const holes[] = {"one", NULL};
    heed_picture_attention a = fine;
    a.words.rows = holes;
    refused_attention(a, "2 target words, but number 2 is missing");
    a = fine;
    a.words.columns = NULL;
    refused_attention(a, "2 source words, but number 1 is missing");
    a = fine;
    a.words.n_columns = 301;
    refused_attention(a, "shows 0 to 300 source words, not 301");
    a.words.n_columns = -1;
    refused_attention(a, "not -1");
    a = fine;
    a.weights = NULL;
    refused_attention(a, "words but no weights");
    a = fine;
    a.style = (enum heed_attention_style)7;
    refused_attention(a, "no style 7");
    a = fine;
    a.n_links = 1;
    refused_attention(a, "1 links, but none are given");
    static const heed_picture_link outside[] = {{2, 0}, {0, 2}, {-1, 0}, {0, -1}};
    static const char *const why[] = {"link 2-0", "link 0-2", "link -1-0", "link 0--1"};
    for (int i = 0; i < 4; i++) {
        a.links = &outside[i];
        refused_attention(a, why[i]);
    }
}

static void heads_fit_on_a_page(void **state)
{
    (void)state;
    refused(&(heed_picture){.heads = &(heed_picture_heads){fine.words, halves, 0, 8}},
            "0 layers of 8 heads");
    refused(&(heed_picture){.heads = &(heed_picture_heads){fine.words, halves, 100000, 100000}},
            "more than the 200000 cells");
    refused(&(heed_picture){.heads = &(heed_picture_heads){fine.words, halves, 300, 200}},
            "draw one layer or one head");
}

static void refused_line(heed_picture_series line, const char *why)
{
    const heed_picture_panel panel = {"y", &line, 1, 0, 0};
    refused(&(heed_picture){.chart = &(heed_picture_chart){"x", &panel, 1}}, why);
}

static void lines_have_finite_points(void **state)
{
    (void)state;
    const double x[] = {1, 2}, bad[] = {0, NAN}, huge[] = {0, -INFINITY}, large[] = {2e15, 0};
    refused_line((heed_picture_series){"loss", x, bad, 2, NULL, NULL, false, 0},
                 "'loss': y of point 2 is nan");
    refused_line((heed_picture_series){"loss", huge, x, 2, NULL, NULL, false, 0},
                 "'loss': x of point 2 is -inf");
    refused_line((heed_picture_series){"loss", x, large, 2, NULL, NULL, false, 0},
                 "y of point 1 is 2e+15");
    refused_line((heed_picture_series){"loss", x, x, 2, x, bad, false, 0},
                 "the upper end of point 2");
    refused_line((heed_picture_series){"loss", x, x, 2, bad, x, false, 0},
                 "the lower end of point 2");
    refused_line((heed_picture_series){"loss", x, x, 2, x, NULL, false, 0}, "low and high or none");
    refused_line((heed_picture_series){"loss", NULL, x, 2, NULL, NULL, false, 0}, "needs x and y");
    refused_line((heed_picture_series){"loss", x, x, 2, NULL, NULL, true, 2},
                 "best point is number 2 of 2");
    refused_line((heed_picture_series){"loss", x, x, -1, NULL, NULL, false, 0}, "not -1");
    refused_line((heed_picture_series){NULL, x, bad, 2, NULL, NULL, false, 0}, "'': y of point 2");
}

static void charts_have_panels_and_axes(void **state)
{
    (void)state;
    refused(&(heed_picture){.chart = &(heed_picture_chart){"x", NULL, 1}}, "1 to 8 panels");
    const heed_picture_panel panels[] = {
        {"y", NULL, 33, 0, 0}, {"y", NULL, 0, 1, 1}, {"y", NULL, 0, NAN, 1}, {"y", NULL, 1, 0, 0}};
    static const char *const why[] = {"0 to 32 lines, not 33", "'y': an axis cannot go from 1 to 1",
                                      "the limit of point 1 is nan", "0 to 32 lines, not 1"};
    for (int i = 0; i < 4; i++)
        refused(&(heed_picture){.chart = &(heed_picture_chart){"x", &panels[i], 1}}, why[i]);
    refused(&(heed_picture){.chart = &(heed_picture_chart){"x", panels, 0}}, "not 0");
}

static void bars_have_finite_values(void **state)
{
    (void)state;
    const double good[] = {1, 2, 3, 4}, bad[] = {1, 2, 3, NAN};
    const int counts[] = {1, -1};
    const heed_picture_bars bars[] = {{"x", "y", words, 2, NULL, words, 2, bad, NULL, NULL},
                                      {"x", "y", words, 2, NULL, words, 2, good, bad, good},
                                      {"x", "y", words, 2, NULL, words, 2, good, good, bad},
                                      {"x", "y", words, 2, NULL, words, 2, good, good, NULL},
                                      {"x", "y", words, 2, NULL, words, 2, NULL, NULL, NULL},
                                      {"x", "y", words, 2, counts, words, 2, good, NULL, NULL},
                                      {"x", "y", words, 101, NULL, words, 2, good, NULL, NULL},
                                      {"x", "y", words, 2, NULL, words, 33, good, NULL, NULL}};
    static const char *const why[] = {"'two': the value of point 2 is nan",
                                      "'two': the lower end of point 2",
                                      "'two': the upper end of point 2",
                                      "low and high or none",
                                      "bars need values",
                                      "'two': a group of -1",
                                      "0 to 100 groups of bars, not 101",
                                      "0 to 32 bars per group, not 33"};
    for (int i = 0; i < 8; i++)
        refused(&(heed_picture){.bars = &bars[i]}, why[i]);
}

static void formats_are_svg_png_and_pdf(void **state)
{
    (void)state;
    static const char *const paths[] = {"cat.jpg", "cat", "svg", "a.svg/cat", "cat.", ""};
    for (int i = 0; i < 6; i++) {
        heed_error err = {0};
        assert_false(heed_draw(&(heed_picture){.attention = &fine}, paths[i], &err));
        assert_error(err, HEED_BAD_OPTION, "ends in .svg, .png, .pdf or .tex");
    }
    heed_error err = {0};
    size_t size;
    assert_null(heed_draw_bytes(&(heed_picture){.attention = &fine}, "gif", &size, &err));
    assert_error(err, HEED_BAD_OPTION, "svg, png, pdf or tex, not 'gif'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_of_exactly_one_kind),
        cmocka_unit_test(weights_are_numbers_from_0_to_1),
        cmocka_unit_test(words_and_links_are_there_and_not_too_many),
        cmocka_unit_test(heads_fit_on_a_page),
        cmocka_unit_test(lines_have_finite_points),
        cmocka_unit_test(charts_have_panels_and_axes),
        cmocka_unit_test(bars_have_finite_values),
        cmocka_unit_test(formats_are_svg_png_and_pdf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
