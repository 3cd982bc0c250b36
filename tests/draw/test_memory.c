/* test_memory.c -- every allocation of the drawing module fails once, for every kind of picture
 * and file: there is a sentence and nothing is lost. The module's parts are inside this program,
 * so that its memory can be made to fail. */
#include "test.h"

#include "base/memory.h"
#include "draw/draw.h"

static const char *const words[] = {"one", "two",
                                    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"};
static const float weights[] = {0.5F, 0.4F, 0.1F, 0, 1, 0, 0.2F, 0.3F, 0.5F};
static double numbers[500];

/* Fails at each allocation in turn until there are no more. One may be made good by a second,
 * smaller one (an arena's chunk), so it takes a few successes in a row to know. */
static void fail_everywhere(const heed_picture *picture, enum hd_draw_format format)
{
    int n_refused = 0, n_drawn = 0;
    for (long n = 0; n_drawn < 5; n++) {
        heed_error err = {0};
        size_t size = 0;
        hd_alloc_fail_after(n);
        char *bytes = hd_draw_module.render(picture, format, &size, &err);
        hd_alloc_fail_after(-1);
        if (bytes) {
            assert_that(err.code == HEED_OK && size > 100, "%zu bytes, %s", size, err.message);
            hd_draw_module.free(bytes);
            n_drawn++;
        } else {
            assert_error(err, HEED_NO_MEMORY, "memory");
            n_refused++;
            n_drawn = 0;
        }
    }
    assert_that(n_refused > 3, "only %d allocations failed", n_refused);
}

static void attention_is_drawn_or_refused(void **state)
{
    (void)state;
    const heed_picture_link link = {0, 2};
    const heed_picture_attention a = {.words = {words, 3, words, 3},
                                      .weights = weights,
                                      .end = weights,
                                      .links = &link,
                                      .n_links = 1};
    for (int format = HD_DRAW_SVG; format <= HD_DRAW_PDF; format++)
        fail_everywhere(&(heed_picture){.title = "words", .attention = &a},
                        (enum hd_draw_format)format);
}

static void heads_are_drawn_or_refused(void **state)
{
    (void)state;
    const heed_picture_heads heads = {{words, 3, words, 3}, weights, 1, 1};
    fail_everywhere(&(heed_picture){.heads = &heads}, HD_DRAW_SVG);
}

static void charts_are_drawn_or_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++)
        numbers[i] = i * 0.1;
    const heed_picture_series lines[] = {{"many", numbers, numbers, 500, NULL, NULL, true, 7},
                                         {"few", numbers, numbers, 5, numbers, numbers, false, 0}};
    const heed_picture_panel panel = {"y", lines, 2, 0, 0};
    fail_everywhere(&(heed_picture){.chart = &(heed_picture_chart){"x", &panel, 1}}, HD_DRAW_SVG);
}

static void bars_are_drawn_or_refused(void **state)
{
    (void)state;
    const int counts[] = {1, 2, 3};
    const heed_picture_bars bars = {"x",   "y", words,   3,       counts,
                                    words, 2,   numbers, numbers, numbers};
    fail_everywhere(&(heed_picture){.title = "bars", .bars = &bars}, HD_DRAW_PNG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_is_drawn_or_refused),
        cmocka_unit_test(heads_are_drawn_or_refused),
        cmocka_unit_test(charts_are_drawn_or_refused),
        cmocka_unit_test(bars_are_drawn_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
