/* test_pictures.c -- pictures as files: SVG is parsed and its cells, words and lines are
 * counted, PNG is read and compared with the SVG, PDF has its fonts inside; nothing depends on
 * which fonts there are. */
#define _GNU_SOURCE /* memmem */
#include "draw/svg.h"

#include <heed_draw.h>

#include <cairo.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const english[] = {"I", "love", "my", "cat."};
static const char *const french[] = {"J'aime", "mon", "chat."};
static const float weights[] = {0.52F, 0.43F, 0.01F, 0.02F, 0, 0.02F, 0.97F, 0, 0, 0, 0.03F, 0.95F};
static const float end[] = {0.02F, 0.01F, 0.02F};
static const heed_picture_link links[] = {{0, 0}, {1, 0}, {2, 1}, {3, 2}};

static const heed_picture_attention cat = {
    .words = {french, 3, english, 4}, .weights = weights, .end = end, .links = links, .n_links = 4};

static char *draw(const heed_picture *picture, const char *format, size_t *size)
{
    heed_error err = {0};
    char *bytes = heed_draw_bytes(picture, format, size, &err);
    assert_that(bytes, "%s", err.message);
    return bytes;
}

/* The SVG of a picture; *bytes must live as long. */
static struct svg draw_svg(const heed_picture *picture, char **bytes)
{
    size_t size;
    *bytes = draw(picture, "svg", &size);
    assert_int_equal(strlen(*bytes), size);
    return svg_read(*bytes, size);
}

static void done(struct svg *svg, char *bytes)
{
    svg_free(svg);
    heed_free(bytes);
}

/* ---- attention ------------------------------------------------------------------------------- */

static void a_matrix_has_as_many_cells_and_labels_as_words(void **state)
{
    (void)state;
    heed_picture_attention matrix = cat;
    matrix.style = HEED_DRAW_MATRIX;
    char *bytes;
    struct svg svg = draw_svg(&(heed_picture){.title = "Cat <&\">", .attention = &matrix}, &bytes);
    assert_int_equal(svg_count(&svg, "rect", "cell"), 12);
    assert_int_equal(svg_count(&svg, "rect", "end-cell"), 3);
    assert_int_equal(svg_count(&svg, "rect", "hard"), 4);
    assert_int_equal(svg_count(&svg, "text", "source"), 4);
    assert_int_equal(svg_count(&svg, "text", "target"), 3);
    assert_int_equal(svg_count(&svg, "text", "end"), 1);
    assert_int_equal(svg_count(&svg, "path", "link"), 0);
    for (int i = 0; i < 4; i++)
        assert_string_equal(svg_find(&svg, "source", i)->text, english[i]);
    for (int i = 0; i < 3; i++)
        assert_string_equal(svg_find(&svg, "target", i)->text, french[i]);
    assert_string_equal(svg_find(&svg, "title", 0)->text, "Cat <&\">");
    assert_string_equal(svg_find(&svg, "cell", 6)->title, "mon \xe2\x86\x90 my  0.97");
    done(&svg, bytes);
}

static void cells_stand_in_rows_and_columns_beside_their_words(void **state)
{
    (void)state;
    char *bytes;
    struct svg svg = draw_svg(&(heed_picture){.attention = &cat}, &bytes);
    for (int i = 0; i < 12; i++) {
        const struct element *cell = svg_find(&svg, "cell", i);
        const double middle = number_of(cell, "y") + number_of(cell, "height") / 2;
        const double word = number_of(svg_find(&svg, "target", i / 4), "y");
        assert_that(fabs(word - middle) < 0.5 * number_of(cell, "height"), "row %d: %g, %g", i / 4,
                    word, middle);
        assert_true(number_of(cell, "x") == number_of(svg_find(&svg, "cell", i % 4), "x"));
    }
    done(&svg, bytes);
}

static int lightness(const struct element *cell)
{
    unsigned rgb = 0;
    assert_int_equal(sscanf(attribute(cell, "fill"), "#%6x", &rgb), 1);
    return (int)(2126 * (rgb >> 16) + 7152 * (rgb >> 8 & 0xff) + 722 * (rgb & 0xff));
}

static void more_weight_is_darker_on_light_pages_and_brighter_on_dark_ones(void **state)
{
    (void)state;
    enum { N = 101 };
    const char *columns[N], *row[] = {"x"};
    float rising[N];
    for (int i = 0; i < N; i++) {
        columns[i] = "y";
        rising[i] = (float)i / (N - 1);
    }
    for (int is_dark = 0; is_dark < 2; is_dark++) {
        char *bytes;
        const heed_picture_attention a = {.words = {row, 1, columns, N}, .weights = rising};
        struct svg svg = draw_svg(&(heed_picture){.is_dark = is_dark, .attention = &a}, &bytes);
        for (int i = 1; i < N; i++) {
            const int before = lightness(svg_find(&svg, "cell", i - 1)),
                      now = lightness(svg_find(&svg, "cell", i));
            assert_that(is_dark ? now > before : now < before, "weight %d %%, %d after %d", i, now,
                        before);
        }
        done(&svg, bytes);
    }
}

static void a_light_svg_knows_every_colour_of_the_dark_one(void **state)
{
    (void)state;
    heed_picture picture = {.title = "cat", .attention = &cat};
    char *light_bytes, *dark_bytes;
    struct svg light = draw_svg(&picture, &light_bytes);
    picture.is_dark = true;
    struct svg dark = draw_svg(&picture, &dark_bytes);
    assert_int_equal(svg_count(&light, "style", ""), 1);
    assert_int_equal(svg_count(&dark, "style", ""), 0);
    assert_int_equal(light.n, dark.n + 1);
    static const char *const names[] = {"fill", "stroke"};
    int n_others = 0;
    for (int i = 0, d = 0; i < light.n; i++) {
        if (strcmp(light.elements[i].tag, "style") == 0)
            continue;
        for (int k = 0; k < 2; k++) {
            const char *on_light = attribute(&light.elements[i], names[k]);
            const char *on_dark = attribute(&dark.elements[d], names[k]);
            char rule[100];
            snprintf(rule, sizeof rule, ".heed [%s=\"%s\"]{%s:%s}\n", names[k], on_light, names[k],
                     on_dark);
            if (strcmp(on_light, on_dark) != 0)
                assert_that(strstr(light_bytes, rule), "there is no rule %s", rule);
            n_others += strcmp(on_light, on_dark) != 0;
        }
        d++;
    }
    assert_that(n_others > 40, "%d colours of words, cells and lines", n_others);
    done(&light, light_bytes);
    done(&dark, dark_bytes);
}

static void source_and_target_are_named(void **state)
{
    (void)state;
    heed_picture_attention drawn = cat;
    for (int style = HEED_DRAW_BOTH; style <= HEED_DRAW_LINES; style++) {
        drawn.style = (enum heed_attention_style)style;
        char *bytes;
        struct svg svg = draw_svg(&(heed_picture){.attention = &drawn}, &bytes);
        const int n = svg_count(&svg, "text", "side");
        assert_int_equal(n, style == HEED_DRAW_BOTH ? 4 : 2);
        for (int i = 0; i < n; i++)
            assert_string_equal(svg_find(&svg, "side", i)->text, i % 2 ? "target" : "source");
        done(&svg, bytes);
    }
}

static void lines_are_as_thick_as_the_weight_and_faint_ones_are_left_out(void **state)
{
    (void)state;
    heed_picture_attention rows = cat;
    rows.style = HEED_DRAW_LINES;
    rows.n_links = 0;
    char *bytes;
    struct svg svg = draw_svg(&(heed_picture){.attention = &rows}, &bytes);
    assert_int_equal(svg_count(&svg, "rect", "cell"), 0);
    assert_int_equal(svg_count(&svg, "text", "source"), 4);
    assert_int_equal(svg_count(&svg, "text", "target"), 3);
    assert_int_equal(svg_count(&svg, "path", "link"), 5); /* of weights 0.03 and more */
    const double thick = number_of(svg_find(&svg, "link", 2), "stroke-width"); /* 0.97 */
    const double thin = number_of(svg_find(&svg, "link", 1), "stroke-width");  /* 0.43 */
    assert_true(thick > 1.8 * thin);
    done(&svg, bytes);
    rows.n_links = 4;
    svg = draw_svg(&(heed_picture){.attention = &rows}, &bytes);
    assert_int_equal(svg_count(&svg, "path", "link hard"), 4);
    assert_int_equal(svg_count(&svg, "path", "link"), 1);
    done(&svg, bytes);
}

static void words_of_every_script_stay_whole_texts(void **state)
{
    (void)state;
    static const char *const words[] = {
        "المدرسة!",          "שלום",   "बिल्ली",  "ฉันรัก", "昨日", "👩‍👩‍👧",
        "e\xcc\x81\xcc\x82", "Ελλάδα", "한국어", "<b>&"};
    enum { N = sizeof words / sizeof *words };
    float all[N * N];
    for (int i = 0; i < N * N; i++)
        all[i] = 0.1F;
    char *bytes;
    const heed_picture_attention a = {
        .words = {words, N, words, N}, .weights = all, .style = HEED_DRAW_MATRIX};
    struct svg svg = draw_svg(&(heed_picture){.title = words[0], .attention = &a}, &bytes);
    for (int i = 0; i < N; i++) {
        const struct element *source = svg_find(&svg, "source", i),
                             *target = svg_find(&svg, "target", i);
        assert_string_equal(source->text, words[i]);
        assert_string_equal(target->text, words[i]);
        assert_string_equal(attribute(target, "direction"), i < 2 ? "rtl" : "");
        /* The right end of either is at the matrix: SVG calls it the start where one reads from
         * the right. */
        assert_string_equal(attribute(target, "text-anchor"), i < 2 ? "start" : "end");
    }
    done(&svg, bytes);
}

static void bad_bytes_and_control_characters_are_shown_as_such(void **state)
{
    (void)state;
    static const char *const words[] = {"a\xff\x62",    "\x01\x1b[31m", "x\ny",
                                        "\xef\xbf\xbf", "\x7f",         ""};
    static const char *const shown[] = {"a\xef\xbf\xbd"
                                        "b",
                                        "\xe2\x90\x81\xe2\x90\x9b[31m",
                                        "x y",
                                        "\xef\xbf\xbd",
                                        "\xe2\x90\xa1",
                                        ""};
    const float six[6] = {0};
    char *bytes;
    const heed_picture_attention a = {
        .words = {words, 6, english, 1}, .weights = six, .style = HEED_DRAW_MATRIX};
    struct svg svg = draw_svg(&(heed_picture){.title = "\x02\xc0", .attention = &a}, &bytes);
    for (int i = 0; i < 6; i++)
        assert_string_equal(svg_find(&svg, "target", i)->text, shown[i]);
    done(&svg, bytes);
}

static void long_words_are_cut_and_whole_in_a_tooltip(void **state)
{
    (void)state;
    static const char *const words[] = {"Donaudampfschifffahrtselektrizitätenhauptbetriebswerk",
                                        "short"};
    const float two[2] = {0.5F, 0.5F};
    char *bytes;
    const heed_picture_attention a = {
        .words = {words, 2, words, 1}, .weights = two, .style = HEED_DRAW_MATRIX};
    struct svg svg = draw_svg(&(heed_picture){.attention = &a}, &bytes);
    const struct element *word = svg_find(&svg, "target", 0);
    const size_t kept = strlen(word->text) - 3;
    assert_string_equal(word->text + kept, "\xe2\x80\xa6");
    assert_that(kept >= 8 && strncmp(word->text, words[0], kept) == 0, "%s", word->text);
    assert_string_equal(word->title, words[0]);
    assert_string_equal(svg_find(&svg, "target", 1)->title, "");
    done(&svg, bytes);
}

/* A sentence pair of n × n words. */
static char *draw_square(int n, bool is_dark, struct svg *svg)
{
    const char **words = calloc((size_t)n, sizeof *words);
    float *some = calloc((size_t)n * (size_t)n, sizeof *some);
    for (int i = 0; i < n; i++) {
        words[i] = i % 3 ? "word" : "internationalisation";
        some[i * n + i] = 0.9F;
    }
    char *bytes;
    const heed_picture_attention a = {.words = {words, n, words, n}, .weights = some};
    *svg = draw_svg(&(heed_picture){.is_dark = is_dark, .attention = &a}, &bytes);
    free(words);
    free(some);
    return bytes;
}

static void no_label_of_a_long_sentence_is_too_small_or_touches_another(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 12, 26, 60, 100};
    for (int k = 0; k < 6; k++) {
        const int n = sizes[k];
        struct svg svg;
        char *bytes = draw_square(n, false, &svg);
        assert_int_equal(svg_count(&svg, "rect", "cell"), n * n);
        assert_int_equal(svg_count(&svg, "text", "source"), 2 * n); /* matrix and lines */
        assert_int_equal(svg_count(&svg, "text", "target"), 2 * n);
        const double width = number_of(&svg.elements[0], "width"),
                     height = number_of(&svg.elements[0], "height");
        for (int i = 0; i < n; i++) {
            const struct element *word = svg_find(&svg, "target", i);
            assert_that(number_of(word, "font-size") >= 10, "%d words: size %g", n,
                        number_of(word, "font-size"));
            assert_true(number_of(word, "x") < width && number_of(word, "y") < height);
            if (i > 0)
                assert_that(number_of(word, "y") -
                                    number_of(svg_find(&svg, "target", i - 1), "y") >=
                                1.1 * number_of(word, "font-size"),
                            "%d words: row %d touches the one above", n, i);
        }
        done(&svg, bytes);
    }
}

static void without_words_there_is_still_a_picture(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        char *bytes;
        const heed_picture_attention a = {.words = {french, k == 1, english, k == 2}};
        struct svg svg = draw_svg(&(heed_picture){.attention = &a}, &bytes);
        assert_int_equal(svg_count(&svg, "rect", "cell"), 0);
        assert_string_equal(svg_find(&svg, "empty", 0)->text, "no words");
        done(&svg, bytes);
    }
}

/* ---- heads, charts, bars --------------------------------------------------------------------- */

static void a_page_of_heads_has_a_matrix_per_layer_and_head(void **state)
{
    (void)state;
    enum { LAYERS = 3, HEADS = 4, CELLS = 12 };
    float all[LAYERS * HEADS * CELLS];
    for (int i = 0; i < LAYERS * HEADS * CELLS; i++)
        all[i] = weights[i % CELLS];
    char *bytes;
    const heed_picture_heads heads = {cat.words, all, LAYERS, HEADS};
    struct svg svg = draw_svg(&(heed_picture){.title = "heads", .heads = &heads}, &bytes);
    assert_int_equal(svg_count(&svg, "g", "matrix"), LAYERS * HEADS);
    assert_int_equal(svg_count(&svg, "rect", "cell"), LAYERS * HEADS * CELLS);
    assert_int_equal(svg_count(&svg, "text", "source"), HEADS * 4);
    assert_int_equal(svg_count(&svg, "text", "target"), LAYERS * 3);
    /* The numbers that --layer and --head take: layers count from 1, heads from 0. */
    assert_string_equal(svg_find(&svg, "layer", 0)->text, "layer 1");
    assert_string_equal(svg_find(&svg, "layer", 2)->text, "layer 3");
    assert_string_equal(svg_find(&svg, "head", 0)->text, "head 0");
    assert_string_equal(svg_find(&svg, "head", 3)->text, "head 3");
    done(&svg, bytes);
    const heed_picture_heads nothing = {{NULL, 0, NULL, 0}, NULL, 1, 1};
    svg = draw_svg(&(heed_picture){.heads = &nothing}, &bytes);
    assert_int_equal(svg_count(&svg, "rect", "cell"), 0);
    done(&svg, bytes);
}

static void learning_curves_have_round_ticks_a_legend_and_the_best_point(void **state)
{
    (void)state;
    enum { N = 5000, M = 10 };
    static double x[N], loss[N], at[M], dev[M], bleu[M];
    for (int i = 0; i < N; i++) {
        x[i] = i + 1;
        loss[i] = 2 + 7.0 / (1 + i / 100.0);
    }
    for (int i = 0; i < M; i++) {
        at[i] = 500 * (i + 1);
        dev[i] = 2.5 + 3.0 / (1 + i);
        bleu[i] = 25 - 20.0 / (1 + i);
    }
    const heed_picture_series losses[] = {{"training", x, loss, N, NULL, NULL, false, 0},
                                          {"dev", at, dev, M, NULL, NULL, true, 9}};
    const heed_picture_series scores[] = {{"BLEU", at, bleu, M, NULL, NULL, true, 9}};
    const heed_picture_panel panels[] = {{"cross entropy", losses, 2, 0, 0},
                                         {"BLEU", scores, 1, 0, 0}};
    const heed_picture_chart chart = {"updates", panels, 2};
    char *bytes;
    struct svg svg = draw_svg(&(heed_picture){.title = "ende", .chart = &chart}, &bytes);
    assert_int_equal(svg_count(&svg, "g", "panel"), 2);
    assert_int_equal(svg_count(&svg, "path", "line"), 3);
    assert_int_equal(svg_count(&svg, "circle", "best"), 2);
    assert_int_equal(svg_count(&svg, "circle", "point"), 2 * M);
    assert_int_equal(svg_count(&svg, "text", "series"), 3);
    static const char *const ticks[] = {"0",    "2",    "4",    "6",    "8",    "0",
                                        "1000", "2000", "3000", "4000", "5000", "0",
                                        "5",    "10",   "15",   "20",   "0",    "1000"};
    for (int i = 0; i < (int)(sizeof ticks / sizeof *ticks); i++)
        assert_string_equal(svg_find(&svg, "tick", i)->text, ticks[i]);
    assert_string_equal(svg_find(&svg, "best", 1)->text, "2.800 at 5000");
    assert_string_equal(svg_find(&svg, "best", 3)->text, "23.00 at 5000");
    assert_that(strlen(bytes) < 60000, "%zu bytes for a line that was to be thinned out",
                strlen(bytes));
    done(&svg, bytes);
}

static void a_line_is_cut_where_it_leaves_the_axis(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4}, y[] = {0.5, 9, 0.5, 9, 0.5};
    const heed_picture_series line = {"zigzag", x, y, 5, NULL, NULL, false, 0};
    const heed_picture_panel panel = {"y", &line, 1, 0, 1};
    char *bytes;
    struct svg svg =
        draw_svg(&(heed_picture){.chart = &(heed_picture_chart){"x", &panel, 1}}, &bytes);
    assert_int_equal(svg_count(&svg, "path", "line"), 3); /* up, down and up, down */
    assert_int_equal(svg_count(&svg, "circle", "point"), 3);
    const double top = number_of(svg_find(&svg, "grid", 5), "y");
    for (int i = 0; i < 3; i++)
        for (const char *d = attribute(svg_find(&svg, "line", i), "d");
             (d = strchr(d, ',')) != NULL; d++)
            assert_that(strtod(d + 1, NULL) >= top, "above the panel: %s", d);
    done(&svg, bytes);
}

static void a_line_from_foot_to_top_is_a_rule_with_its_name(void **state)
{
    (void)state;
    static const double x[] = {0, 10}, y[] = {100, 20}, at[] = {8, 8}, whole[] = {0, 100};
    const heed_picture_series lines[] = {
        {"right", x, y, 2, NULL, NULL, false, 0},
        {"longest in training", at, whole, 2, NULL, NULL, false, 0}};
    const heed_picture_panel panel = {"sentences all right, %", lines, 2, 0, 100};
    char *bytes;
    struct svg svg =
        draw_svg(&(heed_picture){.chart = &(heed_picture_chart){"letters", &panel, 1}}, &bytes);
    assert_int_equal(svg_count(&svg, "path", "line"), 1);
    assert_int_equal(svg_count(&svg, "path", "rule"), 1);
    assert_int_equal(svg_count(&svg, "text", "series"), 1); /* the legend does without it */
    assert_string_equal(svg_find(&svg, "rule", 1)->text, "longest in training");
    assert_string_equal(attribute(svg_find(&svg, "rule", 0), "stroke-dasharray"), "6 4");
    const double top = number_of(svg_find(&svg, "grid", 5), "y"),
                 name = number_of(svg_find(&svg, "rule", 1), "y"),
                 legend = number_of(svg_find(&svg, "series", 0), "y"),
                 heading = number_of(svg_find(&svg, "axis", 0), "y");
    assert_that(heading + 16 < legend && legend + 12 < name && name < top,
                "heading %g, legend %g, name of the rule %g, plot %g", heading, legend, name, top);
    done(&svg, bytes);
}

static void charts_have_any_number_of_lines_and_points(void **state)
{
    (void)state;
    double x[64], y[64];
    heed_picture_series lines[32];
    char names[32][16];
    for (int i = 0; i < 64; i++) {
        x[i] = i;
        y[i] = -3e9 * i;
    }
    for (int i = 0; i < 32; i++) {
        snprintf(names[i], sizeof names[i], "line %d", i);
        lines[i] = (heed_picture_series){names[i], x, y, 2 * i, y, y, false, 0};
    }
    static const int n_lines[] = {0, 1, 2, 32};
    for (int k = 0; k < 4; k++) { /* the first lines have no points, two, four... */
        char *bytes;
        const heed_picture_panel panel = {"y", lines, n_lines[k], 0, 0};
        struct svg svg =
            draw_svg(&(heed_picture){.chart = &(heed_picture_chart){"x", &panel, 1}}, &bytes);
        assert_int_equal(svg_count(&svg, "path", "line"), n_lines[k] > 0 ? n_lines[k] - 1 : 0);
        assert_int_equal(svg_count(&svg, "text", "series"), n_lines[k]);
        done(&svg, bytes);
    }
    for (int k = 0; k < 4; k++) { /* one point, of any size */
        static const double sizes[] = {0, 1e-9, -7, 1e15};
        const heed_picture_series point = {"one", x, &sizes[k], 1, NULL, NULL, true, 0};
        const heed_picture_panel panel = {NULL, &point, 1, 0, 0};
        char *bytes;
        struct svg svg =
            draw_svg(&(heed_picture){.chart = &(heed_picture_chart){NULL, &panel, 1}}, &bytes);
        assert_int_equal(svg_count(&svg, "circle", "point"), 1);
        assert_int_equal(svg_count(&svg, "circle", "best"), 1);
        assert_that(svg_count(&svg, "text", "tick") >= 4, "%g: too few ticks", sizes[k]);
        done(&svg, bytes);
    }
}

static void bars_stand_in_groups_with_their_counts(void **state)
{
    (void)state;
    static const char *const groups[] = {"1–5", "6–10", "11+"}, *const models[] = {"RNN",
                                                                                   "Transformer"};
    static const int counts[] = {20, 10, 0};
    static const double values[] = {30, 20, 10, 32, 25, 18}, low[] = {29, 18, 5, 31, 22, 1},
                        high[] = {31, 22, 15, 33, 28, 30};
    heed_picture_bars bars = {"source words", "BLEU", groups, 3,   counts,
                              models,         2,      values, low, high};
    char *bytes;
    struct svg svg = draw_svg(&(heed_picture){.bars = &bars}, &bytes);
    assert_int_equal(svg_count(&svg, "rect", "bar"), 4); /* an empty group has none */
    assert_int_equal(svg_count(&svg, "path", "interval"), 4);
    assert_int_equal(svg_count(&svg, "text", "group"), 3);
    assert_string_equal(svg_find(&svg, "count", 1)->text, "n = 10");
    const double tall = number_of(svg_find(&svg, "bar", 0), "height"),
                 short_one = number_of(svg_find(&svg, "bar", 2), "height");
    assert_that(fabs(tall / short_one - 30.0 / 20) < 0.01, "%g, %g", tall, short_one);
    done(&svg, bytes);
    bars.counts = NULL;
    bars.low = bars.high = NULL;
    svg = draw_svg(&(heed_picture){.bars = &bars}, &bytes);
    assert_int_equal(svg_count(&svg, "rect", "bar"), 6);
    assert_int_equal(svg_count(&svg, "path", "interval"), 0);
    done(&svg, bytes);
    bars.n_groups = 0;
    svg = draw_svg(&(heed_picture){.bars = &bars}, &bytes);
    assert_int_equal(svg_count(&svg, "rect", "bar"), 0);
    done(&svg, bytes);
}

static void numbers_on_bars_of_one_height_do_not_touch(void **state)
{
    (void)state;
    enum { GROUPS = 13, N = 2 * GROUPS };
    static const char *groups[GROUPS], *const models[] = {"one", "two"};
    static double values[N];
    for (int i = 0; i < N; i++) {
        groups[i % GROUPS] = "g";
        values[i] = 89.8;
    }
    const heed_picture_bars bars = {"attention", "AER, %", groups, GROUPS, NULL,
                                    models,      2,        values, NULL,   NULL};
    char *bytes;
    struct svg svg = draw_svg(&(heed_picture){.bars = &bars}, &bytes);
    assert_int_equal(svg_count(&svg, "text", "value"), N);
    for (int i = 1; i < N; i++) {
        const double apart = number_of(svg_find(&svg, "value", i), "x") -
                             number_of(svg_find(&svg, "value", i - 1), "x");
        assert_that(apart >= 2.5 * 11, "number %d is %g units after the one before", i, apart);
    }
    done(&svg, bytes);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct reader {
    const char *at;
    size_t left;
};

static cairo_status_t read_some(void *closure, unsigned char *data, unsigned int n)
{
    struct reader *reader = closure;
    if (n > reader->left)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(data, reader->at, n);
    reader->at += n;
    reader->left -= n;
    return CAIRO_STATUS_SUCCESS;
}

static void a_png_has_two_pixels_per_unit_and_the_colours_of_the_svg(void **state)
{
    (void)state;
    for (int is_dark = 0; is_dark < 2; is_dark++) {
        const heed_picture picture = {.title = "cat", .is_dark = is_dark, .attention = &cat};
        char *svg_bytes;
        struct svg svg = draw_svg(&picture, &svg_bytes);
        size_t size;
        char *png = draw(&picture, "png", &size);
        cairo_surface_t *image =
            cairo_image_surface_create_from_png_stream(read_some, &(struct reader){png, size});
        assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
        assert_true(cairo_image_surface_get_width(image) ==
                    2 * (int)number_of(&svg.elements[0], "width"));
        assert_true(cairo_image_surface_get_height(image) ==
                    2 * (int)number_of(&svg.elements[0], "height"));
        const unsigned char *pixels = cairo_image_surface_get_data(image);
        const int stride = cairo_image_surface_get_stride(image);
        for (int i = 0; i < 12; i++) { /* the middle of each cell */
            const struct element *cell = svg_find(&svg, "cell", i);
            const int x = (int)(2 * number_of(cell, "x") + number_of(cell, "width"));
            const int y = (int)(2 * number_of(cell, "y") + number_of(cell, "height"));
            uint32_t seen;
            unsigned wanted = 0;
            memcpy(&seen, pixels + y * stride + 4 * x, 4);
            assert_int_equal(sscanf(attribute(cell, "fill"), "#%6x", &wanted), 1);
            assert_int_equal(seen & 0xffffff, wanted);
        }
        /* Words left ink in the margin. */
        int n_ink = 0;
        const int left = 2 * (int)number_of(svg_find(&svg, "cell", 0), "x") - 4;
        for (int y = 0; y < cairo_image_surface_get_height(image); y++)
            for (int x = 0; x < left; x++)
                n_ink += memcmp(pixels + y * stride + 4 * x, pixels, 3) != 0;
        assert_that(n_ink > 300, "%d pixels of words", n_ink);
        cairo_surface_destroy(image);
        heed_free(png);
        done(&svg, svg_bytes);
    }
}

static bool contains(const char *bytes, size_t size, const char *words)
{
    return memmem(bytes, size, words, strlen(words)) != NULL;
}

static void a_pdf_has_its_fonts_inside_and_no_date(void **state)
{
    (void)state;
    size_t size;
    char *pdf = draw(&(heed_picture){.title = "cat", .attention = &cat}, "pdf", &size);
    assert_memory_equal(pdf, "%PDF-", 5);
    assert_true(contains(pdf + size - 16, 16, "%%EOF\n%heed\n"));
    assert_true(contains(pdf, size, "/FontFile"));
    assert_false(contains(pdf, size, "/CreationDate"));
    heed_free(pdf);
}

/* How often `what` stands in `text`. */
static int times(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

static void tikz_has_the_marks_of_the_svg_and_texts_that_tex_can_read(void **state)
{
    (void)state;
    const char *const rows[] = {"50% of {a_b}", "#1 & $2", "^~\\|<->\"", "caf\xc3\xa9"};
    heed_picture_attention a = cat;
    for (int style = 0; style < 3; style++) {
        a.style = (enum heed_attention_style)style;
        a.words.columns = rows;
        char *bytes;
        size_t size;
        const heed_picture picture = {.title = "cat", .attention = &a};
        struct svg svg = draw_svg(&picture, &bytes);
        char *tikz = draw(&picture, "tex", &size);
        assert_int_equal(times(tikz, "\\node["), times(bytes, "<text "));
        assert_int_equal(times(tikz, " rectangle "), times(bytes, "<rect "));
        int n_curves = 0;
        for (int i = 0; i < svg.n; i++)
            n_curves += strcmp(svg.elements[i].tag, "path") == 0 &&
                        strchr(attribute(&svg.elements[i], "d"), 'C');
        assert_int_equal(times(tikz, " .. controls "), n_curves);
        assert_int_equal(times(tikz, "\\begin{scope}"), times(tikz, "\\end{scope}"));
        assert_non_null(strstr(tikz, "{50\\% of \\{a\\_b\\}};\n"));
        assert_non_null(strstr(tikz, "{\\#1 \\& \\$2};\n"));
        assert_non_null(strstr(tikz,
                               "{\\textasciicircum{}\\textasciitilde{}\\textbackslash{}\\textbar{}"
                               "\\textless{}{-}\\textgreater{}\\textquotedbl{}};\n"));
        assert_non_null(strstr(tikz, "{caf\xc3\xa9};\n"));
        assert_string_equal(tikz + size - strlen("\\end{tikzpicture}\n"), "\\end{tikzpicture}\n");
        heed_free(tikz);
        done(&svg, bytes);
    }
}

static const char *const formats[] = {"svg", "png", "pdf", "tex"};
enum { N_FORMATS = 4 };

static void *draw_in_a_thread(void *argument)
{
    const heed_picture picture = {.title = "cat", .attention = &cat};
    heed_error err = {0};
    char **out = argument;
    size_t size;
    for (int i = 0; i < N_FORMATS; i++)
        out[i] = heed_draw_bytes(&picture, formats[i], &size, &err);
    return NULL;
}

static void the_same_picture_is_the_same_bytes_in_every_thread(void **state)
{
    (void)state;
    const heed_picture picture = {.title = "cat", .attention = &cat};
    char *others[2][N_FORMATS];
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, draw_in_a_thread, others[t]), 0);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    for (int i = 0; i < N_FORMATS; i++) {
        size_t size;
        char *bytes = draw(&picture, formats[i], &size);
        for (int t = 0; t < 2; t++) {
            assert_non_null(others[t][i]);
            assert_that(memcmp(bytes, others[t][i], size) == 0, "thread %d, %s", t, formats[i]);
            heed_free(others[t][i]);
        }
        heed_free(bytes);
    }
}

static void a_file_is_written_by_its_ending_whole_or_not_at_all(void **state)
{
    (void)state;
    const heed_picture picture = {.attention = &cat};
    const char *build = getenv("BUILD");
    char folder[200], path[300];
    snprintf(folder, sizeof folder, "%s/tests/draw/pictures", build ? build : "build");
    mkdir(folder, 0777);
    static const char *const names[] = {"cat.svg", "cat.png", "cat.pdf", "cat.tex", "cat.v2.SVG"};
    static const char *const starts[] = {"<svg", "\x89PNG", "%PDF", "% \\u", "<svg"};
    for (int i = 0; i < 5; i++) {
        heed_error err = {0};
        char start[5] = {0};
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_that(heed_draw(&picture, path, &err), "%s", err.message);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fread(start, 1, 4, file), 4);
        fclose(file);
        assert_string_equal(start, starts[i]);
        assert_that(heed_draw(&picture, path, &err), "its own is not replaced: %s", err.message);
        file = fopen(path, "wb");
        assert_non_null(file);
        fprintf(file, "%s and more of somebody else's", starts[i]);
        fclose(file);
        assert_false(heed_draw(&picture, path, &err));
        assert_error(err, HEED_BAD_FILE, "that heed has not drawn");
        err = (heed_error){0};
        assert_false(heed_draw_may_write(path, &err));
        assert_error(err, HEED_BAD_FILE, "that heed has not drawn");
        assert_int_equal(truncate(path, 0), 0);
        err = (heed_error){0};
        assert_that(heed_draw(&picture, path, &err), "nothing is lost with an empty file: %s",
                    err.message);
    }
    heed_error err = {0};
    snprintf(path, sizeof path, "%s/nowhere/cat.svg", folder);
    assert_false(heed_draw(&picture, path, &err));
    assert_error(err, HEED_BAD_FILE, "nowhere/cat.svg");
    DIR *listing = opendir(folder);
    int n = 0;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(listing);
    assert_int_equal(n, 5);
}

/* Before this process has looked for fonts. */
static void a_machine_without_fonts_is_told_to_install_some(void **state)
{
    (void)state;
    char config[] = "/tmp/heed-no-fonts-XXXXXX";
    const int fd = mkstemp(config);
    assert_true(fd >= 0 && write(fd, "<fontconfig/>", 13) == 13 && close(fd) == 0);
    const pid_t child = fork();
    if (child == 0) {
        heed_error err = {0};
        size_t size;
        setenv("FONTCONFIG_FILE", config, 1);
        const char *bytes = heed_draw_bytes(&(heed_picture){.attention = &cat}, "svg", &size, &err);
        const bool is_told =
            !bytes && err.code == HEED_BAD_FILE && strstr(err.message, "there are no fonts");
        if (!is_told)
            fprintf(stderr, "%s\n", bytes ? "it was drawn" : err.message);
        _exit(is_told ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    unlink(config);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_without_fonts_is_told_to_install_some),
        cmocka_unit_test(a_matrix_has_as_many_cells_and_labels_as_words),
        cmocka_unit_test(cells_stand_in_rows_and_columns_beside_their_words),
        cmocka_unit_test(more_weight_is_darker_on_light_pages_and_brighter_on_dark_ones),
        cmocka_unit_test(a_light_svg_knows_every_colour_of_the_dark_one),
        cmocka_unit_test(source_and_target_are_named),
        cmocka_unit_test(lines_are_as_thick_as_the_weight_and_faint_ones_are_left_out),
        cmocka_unit_test(words_of_every_script_stay_whole_texts),
        cmocka_unit_test(bad_bytes_and_control_characters_are_shown_as_such),
        cmocka_unit_test(long_words_are_cut_and_whole_in_a_tooltip),
        cmocka_unit_test(no_label_of_a_long_sentence_is_too_small_or_touches_another),
        cmocka_unit_test(without_words_there_is_still_a_picture),
        cmocka_unit_test(a_page_of_heads_has_a_matrix_per_layer_and_head),
        cmocka_unit_test(learning_curves_have_round_ticks_a_legend_and_the_best_point),
        cmocka_unit_test(a_line_is_cut_where_it_leaves_the_axis),
        cmocka_unit_test(a_line_from_foot_to_top_is_a_rule_with_its_name),
        cmocka_unit_test(charts_have_any_number_of_lines_and_points),
        cmocka_unit_test(bars_stand_in_groups_with_their_counts),
        cmocka_unit_test(numbers_on_bars_of_one_height_do_not_touch),
        cmocka_unit_test(a_png_has_two_pixels_per_unit_and_the_colours_of_the_svg),
        cmocka_unit_test(a_pdf_has_its_fonts_inside_and_no_date),
        cmocka_unit_test(tikz_has_the_marks_of_the_svg_and_texts_that_tex_can_read),
        cmocka_unit_test(the_same_picture_is_the_same_bytes_in_every_thread),
        cmocka_unit_test(a_file_is_written_by_its_ending_whole_or_not_at_all),
    };
    char module[300];
    snprintf(module, sizeof module, "%s/heed_draw.so", getenv("BUILD") ? getenv("BUILD") : "build");
    setenv("HEED_DRAW_MODULE", module, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
