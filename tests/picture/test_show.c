/* test_show.c -- attention as characters: the exact text for known sentences, and for any words
 * lines that are no wider than the terminal and have nothing in them that a terminal would obey. */
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/utf8.h"

#include <heed_draw.h>
#include <math.h>
#include <utf8proc.h>

static const char *const english[] = {"I", "love", "my", "cat."};
static const char *const french[] = {"J'aime", "mon", "chat."};
static const float weights[] = {0.52F, 0.43F, 0.01F, 0.02F, 0, 0.12F, 0.87F, 0, 0, 0, 0.23F, 0.65F};
static const float end[] = {0.02F, 0.01F, 0.12F};
static const heed_picture_link links[] = {{0, 0}, {1, 0}, {2, 1}, {3, 2}};
static const heed_picture_attention cat = {
    .words = {french, 3, english, 4}, .weights = weights, .end = end, .links = links, .n_links = 4};

static void shows(const heed_picture_attention *a, int width, bool has_colors, const char *wanted)
{
    heed_error err = {0};
    char *text = heed_draw_text(a, &(heed_text_options){width, has_colors}, &err);
    assert_that(text, "%s", err.message);
    assert_string_equal(text, wanted);
    hd_free(text);
}

static void words_that_fit_stand_side_by_side(void **state)
{
    (void)state;
    static const char wanted[] = "        I  love my cat. (end)\n"
                                 "J'aime  +x ==x=\n"
                                 "mon        .... %x\n"
                                 "chat.           :: **x* .....\n"
                                 "\n"
                                 "0  .:-=+*#%@ 1   x link\n";
    shows(&cat, 80, false, wanted);
    shows(&cat, 120, false, wanted);
    shows(&cat, 0, false, wanted); /* 80 */
}

static void words_that_do_not_fit_stand_on_stairs(void **state)
{
    (void)state;
    shows(&cat, 28, false,
          "        ,- I\n"
          "        | ,- love\n"
          "        | | ,- my\n"
          "        | | | ,- cat.\n"
          "        | | | | ,- (end)\n"
          "J'aime  +x=x\n"
          "mon       ..%x\n"
          "chat.       ::*x..\n"
          "\n"
          "0  .:-=+*#%@ 1   x link\n");
}

static void colours_are_backgrounds_and_end_with_the_cell(void **state)
{
    (void)state;
    const heed_picture_attention one = {
        .words = {french, 1, english, 2}, .weights = weights, .links = links, .n_links = 1};
    shows(&one, 80, true,
          "        I  love\n"
          "J'aime  \033[48;5;71;38;5;16m \xe2\x80\xa2\033[0m \033[48;5;36;38;5;231m    \033[0m\n"
          "\n"
          "0 \033[48;5;17;38;5;231m  \033[0m\033[48;5;18;38;5;231m  \033[0m"
          "\033[48;5;24;38;5;231m  \033[0m\033[48;5;30;38;5;231m  \033[0m"
          "\033[48;5;36;38;5;231m  \033[0m\033[48;5;71;38;5;16m  \033[0m"
          "\033[48;5;113;38;5;16m  \033[0m\033[48;5;148;38;5;16m  \033[0m"
          "\033[48;5;184;38;5;16m  \033[0m\033[48;5;227;38;5;16m  \033[0m 1   \xe2\x80\xa2 link\n");
}

/* How light a colour of the 6 × 6 × 6 cube is. */
static double lightness(int color)
{
    static const double levels[] = {0, 95, 135, 175, 215, 255}, shares[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 2, rest = color - 16; i >= 0; i--, rest /= 6)
        sum += shares[i] * pow(levels[rest % 6] / 255, 2.2);
    return sum;
}

static void more_weight_is_a_lighter_colour(void **state)
{
    (void)state;
    enum { N = 10 };
    const char *source[N];
    float rising[N];
    for (int i = 0; i < N; i++) {
        source[i] = "x";
        rising[i] = (float)i / (N - 1);
    }
    const heed_picture_attention a = {.words = {french, 1, source, N}, .weights = rising};
    char *text = heed_draw_text(&a, &(heed_text_options){80, true}, NULL);
    double before = -1;
    const char *at = text;
    for (int i = 0; i < N; i++) {
        int color = 0;
        at = strstr(at, "48;5;") + 5;
        assert_int_equal(sscanf(at, "%d", &color), 1);
        assert_that(lightness(color) > before, "colour %d of shade %d", color, i);
        before = lightness(color);
    }
    hd_free(text);
}

static void wide_characters_and_combining_marks_are_counted(void **state)
{
    (void)state;
    static const char *const source[] = {"昨日", "cafe\xcc\x81", "👩\xe2\x80\x8d👧", "❤\xef\xb8\x8f",
                                         "👍🏽"};
    static const char *const target[] = {"コーヒー", "x"};
    static const float ones[] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
    const heed_picture_attention a = {.words = {target, 2, source, 5}, .weights = ones};
    shows(&a, 80, false,
          "          昨日 cafe\xcc\x81 👩👧 ❤  👍\n"
          "コーヒー  @@@@      @@@@    @@\n"
          "x              @@@@      @@\n"
          "\n"
          "0  .:-=+*#%@ 1\n");
}

static void vowels_with_a_place_of_their_own_have_a_column(void **state)
{
    (void)state;
    static const char *const source[] = {"की",
                                         "हूँ"}; /* k + ii; h + uu and a sign above: no columns */
    const heed_picture_attention a = {.words = {english, 1, source, 2}, .weights = weights};
    shows(&a, 80, false,
          "   की हूँ\n"
          "I  ++ ==\n"
          "\n"
          "0  .:-=+*#%@ 1\n");
}

static void right_to_left_words_keep_their_place(void **state)
{
    (void)state;
    static const char *const source[] = {"قرأ", "\xe2\x80\xaeالولد\xe2\x80\x8f"};
    const heed_picture_attention a = {.words = {english, 1, source, 2}, .weights = weights};
    shows(&a, 80, false,
          "   \xe2\x80\x8eقرأ\xe2\x80\x8e \xe2\x80\x8eالولد\xe2\x80\x8e\n"
          "I  +++ =====\n"
          "\n"
          "0  .:-=+*#%@ 1\n");
}

static void commands_and_bad_bytes_are_taken_out(void **state)
{
    (void)state;
    static const char *const source[] = {"a\x1b[2J", "b\xff\x07", "c\nd", "\xc2\x9b"};
    const heed_picture_attention a = {.words = {english, 1, source, 4}, .weights = weights};
    shows(&a, 80, false,
          "   a�[2J b�� c�d �\n"
          "I  +++++ ===\n"
          "\n"
          "0  .:-=+*#%@ 1\n");
}

/* Columns of a line as a terminal counts them, colours left out. */
static int columns_of(const char *line, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        if (line[i] == '\033') {
            i += strcspn(line + i, "m") + 1;
            continue;
        }
        const int bytes = hd_utf8_decode(line + i, n - i, &cp);
        assert_that(bytes > 0 && (cp >= 0x20 && cp != 0x7f && !(cp >= 0x80 && cp < 0xa0)),
                    "character %x", cp);
        columns += utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_MC
                       ? 1
                       : utf8proc_charwidth((utf8proc_int32_t)cp);
        i += (size_t)bytes;
    }
    return columns;
}

static void check_lines(const char *text, int width)
{
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const size_t n = strcspn(line, "\n");
        const int columns = columns_of(line, n);
        assert_that(line[n] == '\n' && columns <= width, "%d columns of %d: %.*s", columns, width,
                    (int)n, line);
    }
}

static void no_line_is_wider_than_the_terminal_whatever_the_words(void **state)
{
    (void)state;
    enum { N = 70, ROOM = 24 };
    struct hd_rng rng = {.key = 7};
    static char texts[N][ROOM];
    const char *words[N];
    static float some[N * N];
    for (int i = 0; i < N * N; i++)
        some[i] = hd_rng_uniform(&rng);
    static const uint32_t ranges[][2] = {{1, 0x7f},          {0x80, 0x24f},      {0x300, 0x36f},
                                         {0x590, 0x6ff},     {0x900, 0x97f},     {0x2000, 0x206f},
                                         {0x3040, 0x30ff},   {0x1f300, 0x1f6ff}, {0xe000, 0xffff},
                                         {0x1f3f0, 0x1f400}, {1, 0x10ffff}};
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < N; i++) {
            size_t length = 0;
            const uint32_t *range = ranges[hd_rng_below(&rng, 11)];
            const int n_characters = (int)hd_rng_below(&rng, 6);
            for (int c = 0; c < n_characters; c++)
                length += (size_t)hd_utf8_encode(
                    texts[i] + length, range[0] + hd_rng_below(&rng, range[1] - range[0]));
            if (hd_rng_below(&rng, 5) == 0) /* not UTF-8 */
                texts[i][length++] = (char)(0x80 + hd_rng_below(&rng, 128));
            texts[i][length] = '\0';
            words[i] = texts[i];
        }
        const int n_rows = 1 + (int)hd_rng_below(&rng, 10),
                  n_columns = 1 + (int)hd_rng_below(&rng, N);
        const int width = 24 + (int)hd_rng_below(&rng, 140);
        const heed_picture_attention a = {.words = {words, n_rows, words, n_columns},
                                          .weights = some,
                                          .end = round % 2 ? some : NULL};
        for (int colors = 0; colors < 2; colors++) {
            char *text = heed_draw_text(&a, &(heed_text_options){width, colors}, NULL);
            assert_non_null(text);
            check_lines(text, width);
            hd_free(text);
        }
    }
}

static void sixty_words_are_split_into_panels(void **state)
{
    (void)state;
    enum { N = 60 };
    const char *words[N];
    static float some[N * N];
    for (int i = 0; i < N; i++) {
        words[i] = i % 2 ? "of" : "Verantwortung";
        some[i * N + i] = 1;
    }
    const heed_picture_attention a = {.words = {words, N, words, N}, .weights = some};
    static const int widths[] = {80, 120, 400, 24};
    static const int panels[] = {3, 2, 1, 15};
    for (int k = 0; k < 4; k++) {
        char *text = heed_draw_text(&a, &(heed_text_options){widths[k], false}, NULL);
        int n_words = 0, n_strong = 0, n_panels = -1;
        for (const char *at = text; (at = strstr(at, ",-")) != NULL; at++)
            n_words++;
        for (const char *at = text; (at = strstr(at, "@@")) != NULL; at++)
            n_strong++;
        for (const char *at = text; (at = strstr(at, "\n\n")) != NULL; at++)
            n_panels++;
        check_lines(text, widths[k]);
        assert_int_equal(n_words, N);
        assert_int_equal(n_strong, N);
        assert_that(n_panels + 1 == panels[k], "%d columns: %d panels", widths[k], n_panels + 1);
        hd_free(text);
    }
}

static void what_cannot_be_shown_is_refused(void **state)
{
    (void)state;
    const float bad[] = {NAN};
    heed_error err = {0};
    assert_null(heed_draw_text(
        &(heed_picture_attention){.words = {french, 1, english, 1}, .weights = bad}, NULL, &err));
    assert_error(err, HEED_BAD_OPTION, "is nan");
    shows(&(heed_picture_attention){.words = {french, 0, english, 4}}, 80, false, "no words\n");
    for (long n = 0, n_shown = 0; n_shown < 3; n++) {
        err = (heed_error){0};
        hd_alloc_fail_after(n);
        char *text = heed_draw_text(&cat, &(heed_text_options){28, true}, &err);
        hd_alloc_fail_after(-1);
        n_shown = text ? n_shown + 1 : 0;
        if (!text)
            assert_error(err, HEED_NO_MEMORY, "memory");
        hd_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_fit_stand_side_by_side),
        cmocka_unit_test(words_that_do_not_fit_stand_on_stairs),
        cmocka_unit_test(colours_are_backgrounds_and_end_with_the_cell),
        cmocka_unit_test(more_weight_is_a_lighter_colour),
        cmocka_unit_test(wide_characters_and_combining_marks_are_counted),
        cmocka_unit_test(vowels_with_a_place_of_their_own_have_a_column),
        cmocka_unit_test(right_to_left_words_keep_their_place),
        cmocka_unit_test(commands_and_bad_bytes_are_taken_out),
        cmocka_unit_test(no_line_is_wider_than_the_terminal_whatever_the_words),
        cmocka_unit_test(sixty_words_are_split_into_panels),
        cmocka_unit_test(what_cannot_be_shown_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
