/* test_view.c -- what a model looked at: lanes below a spectrogram, panels of a picture. */
#include "draw/svg.h"

#include <heed_draw.h>

#include <stdlib.h>

static const char *const words[] = {"so", "la"};

static int count(const heed_picture_view *view, const char *name)
{
    heed_error err = {0};
    size_t size;
    char *bytes =
        heed_draw_bytes(&(heed_picture){.title = "seen", .view = view}, "svg", &size, &err);
    assert_that(bytes, "%s", err.message);
    struct svg svg = svg_read(bytes, size);
    int n = 0;
    for (int i = 0; i < svg.n; i++)
        n += strcmp(attribute(&svg.elements[i], "class"), name) == 0;
    svg_free(&svg);
    heed_free(bytes);
    return n;
}

static void sound_has_a_lane_for_each_word(void **state)
{
    (void)state;
    const float weights[] = {0.9F, 0.1F, 0, 0, 0.2F, 0.8F}, frames[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const heed_picture_view view = {.words = words,
                                    .n_words = 2,
                                    .weights = weights,
                                    .n_positions = 3,
                                    .seen = frames,
                                    .n_rows = 4,
                                    .n_columns = 2,
                                    .seconds = 0.4};
    assert_int_equal(count(&view, "band"), 8);
    assert_int_equal(count(&view, "weight"), 4);
    assert_int_equal(count(&view, "target"), 2);
}

static void where_ctc_hears_a_word_is_a_bar(void **state)
{
    (void)state;
    const float weights[] = {0.9F, 0.1F, 0, 0, 0.2F, 0.8F}, frames[] = {1, 2, 3, 4, 5, 6, 7, 8};
    heed_heard heard[] = {{0, 1}, {-1, -1}};
    heed_picture_view view = {.words = words,
                              .n_words = 2,
                              .weights = weights,
                              .n_positions = 3,
                              .seen = frames,
                              .n_rows = 4,
                              .n_columns = 2,
                              .seconds = 0.4,
                              .heard = heard};
    assert_int_equal(count(&view, "bar"), 1);
    heard[1] = (heed_heard){2, 2};
    assert_int_equal(count(&view, "bar"), 2);
    assert_int_equal(count(&view, "weight"), 4);
    static const heed_heard bad[] = {{2, 3}, {1, 0}, {-1, 0}, {0, -1}};
    for (int i = 0; i < 4; i++) {
        heed_error err = {0};
        size_t size;
        heard[1] = bad[i];
        assert_null(heed_draw_bytes(&(heed_picture){.view = &view}, "svg", &size, &err));
        assert_non_null(strstr(err.message, "word 2 is heard from position"));
    }
}

static void a_picture_has_a_panel_for_each_word(void **state)
{
    (void)state;
    const float weights[] = {0.9F, 0.1F, 0.2F, 0.8F};
    float pixels[2 * 4 * 3];
    for (int i = 0; i < 24; i++)
        pixels[i] = (float)i / 24;
    heed_picture_view view = {.words = words,
                              .n_words = 2,
                              .weights = weights,
                              .n_positions = 2,
                              .seen = pixels,
                              .n_rows = 2,
                              .n_columns = 4,
                              .grid_rows = 1,
                              .grid_columns = 2};
    assert_int_equal(count(&view, "panel"), 3);
    assert_int_equal(count(&view, "pixel"), 24);
    assert_int_equal(count(&view, "target"), 2);
    heed_error err = {0};
    size_t size;
    view.grid_rows = 2;
    assert_null(heed_draw_bytes(&(heed_picture){.view = &view}, "svg", &size, &err));
    assert_string_equal(err.message, "2 rows of 2 patches are not 2 positions");
    err = (heed_error){0};
    view.grid_rows = 1;
    pixels[5] = 2;
    assert_null(heed_draw_bytes(&(heed_picture){.view = &view}, "svg", &size, &err));
    assert_non_null(strstr(err.message, "number 6 of what was looked at is 2"));
}

int main(void)
{
    char module[512];
    snprintf(module, sizeof module, "%s/heed_draw.so", getenv("BUILD") ? getenv("BUILD") : "build");
    setenv("HEED_DRAW_MODULE", module, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_has_a_lane_for_each_word),
        cmocka_unit_test(where_ctc_hears_a_word_is_a_bar),
        cmocka_unit_test(a_picture_has_a_panel_for_each_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
