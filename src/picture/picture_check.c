/* check.c -- what must be true of a picture's arrays. */
#include "picture/picture_check.h"

#include "base/error.h"
#include "base/quote.h"

enum {
    MOST_WORDS = 300,
    MOST_CELLS = 200000,
    MOST_SERIES = 32,
    MOST_PANELS = 8,
    MOST_GROUPS = 100
};
enum { MOST_POINTS = 10000000 };
#define LARGEST  1e15 /* more is not worth an axis, and differences stay finite */
#define ROUNDING 1e-3 /* how far a weight may be outside 0..1 */

static bool check_strings(const char *const *strings, int n, int most, const char *what,
                          heed_error *err)
{
    if (n < 0 || n > most)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a picture shows 0 to %d %s, not %d; draw a part of them", most, what, n);
    for (int i = 0; i < n; i++)
        if (!strings || !strings[i])
            return hd_fail(err, HEED_BAD_OPTION, "a picture has %d %s, but number %d is missing", n,
                           what, i + 1);
    return true;
}

static bool check_words(const heed_picture_words *words, heed_error *err)
{
    return check_strings(words->rows, words->n_rows, MOST_WORDS, "target words", err) &&
           check_strings(words->columns, words->n_columns, MOST_WORDS, "source words", err);
}

static bool check_weight(float weight, long long row, long long column, heed_error *err)
{
    if (weight >= -ROUNDING && weight <= 1 + ROUNDING) /* false for NaN */
        return true;
    return hd_fail(err, HEED_BAD_OPTION,
                   "the weight of target word %lld and source word %lld is %g; a picture shows "
                   "weights from 0 to 1",
                   row + 1, column + 1, (double)weight);
}

/* n_matrices of them, one after the other. */
static bool check_weights(const float *weights, const heed_picture_words *words,
                          long long n_matrices, heed_error *err)
{
    const long long n_rows = words->n_rows, n_columns = words->n_columns;
    if (!weights && n_matrices * n_rows * n_columns > 0)
        return hd_fail(err, HEED_BAD_OPTION, "a picture of attention has words but no weights");
    for (long long i = 0; i < n_matrices * n_rows * n_columns; i++)
        if (!check_weight(weights[i], i / n_columns % n_rows, i % n_columns, err))
            return false;
    return true;
}

bool hd_attention_check(const heed_picture_attention *a, heed_error *err)
{
    if (!check_words(&a->words, err) || !check_weights(a->weights, &a->words, 1, err))
        return false;
    if (a->style != HEED_DRAW_BOTH && a->style != HEED_DRAW_MATRIX && a->style != HEED_DRAW_LINES)
        return hd_fail(err, HEED_BAD_OPTION, "there is no style %d of attention pictures",
                       (int)a->style);
    for (int r = 0; a->end && r < a->words.n_rows; r++)
        if (!check_weight(a->end[r], r, a->words.n_columns, err))
            return false;
    if (a->n_links < 0 || (a->n_links > 0 && !a->links))
        return hd_fail(err, HEED_BAD_OPTION,
                       "a picture of attention has %d links, but none are given", a->n_links);
    for (int i = 0; i < a->n_links; i++) {
        const heed_picture_link link = a->links[i];
        if (link.row < 0 || link.row >= a->words.n_rows || link.column < 0 ||
            link.column >= a->words.n_columns)
            return hd_fail(err, HEED_BAD_OPTION,
                           "link %d-%d (source-target, from 0) is outside of %d source words and "
                           "%d target words",
                           link.column, link.row, a->words.n_columns, a->words.n_rows);
    }
    return true;
}

static bool check_heads(const heed_picture_heads *heads, heed_error *err)
{
    if (!check_words(&heads->words, err))
        return false;
    if (heads->n_layers < 1 || heads->n_heads < 1)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a page of heads has %d layers of %d heads; it needs one at least",
                       heads->n_layers, heads->n_heads);
    const long long each = (long long)heads->words.n_rows * heads->words.n_columns;
    const long long n = (long long)heads->n_layers * heads->n_heads; /* an int each: fits */
    if (n > MOST_CELLS || n * each > MOST_CELLS)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%lld heads of %d by %d words are more than the %d cells a picture shows; "
                       "draw one layer or "
                       "one head",
                       n, heads->words.n_rows, heads->words.n_columns, MOST_CELLS);
    return check_weights(heads->weights, &heads->words, n, err);
}

static bool check_numbers(const double *numbers, long long n, const char *name, const char *what,
                          heed_error *err)
{
    for (long long i = 0; i < n; i++)
        if (!(numbers[i] >= -LARGEST && numbers[i] <= LARGEST))
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s: %s of point %lld is %g; a picture shows finite numbers up to 1e15",
                           hd_quote(name ? name : "").text, what, i + 1, numbers[i]);
    return true;
}

static bool check_series(const heed_picture_series *line, heed_error *err)
{
    const struct hd_quoted quoted = hd_quote(line->name ? line->name : "");
    const char *name = quoted.text;
    if (line->n < 0 || line->n > MOST_POINTS)
        return hd_fail(err, HEED_BAD_OPTION, "%s: a line has 0 to %d points, not %d", name,
                       MOST_POINTS, line->n);
    if (line->n > 0 && (!line->x || !line->y || !line->low != !line->high))
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s: a line with points needs x and y, and low and high or none of them",
                       name);
    if (line->has_best && (line->best < 0 || line->best >= line->n))
        return hd_fail(err, HEED_BAD_OPTION, "%s: its best point is number %d of %d (from 0)", name,
                       line->best, line->n);
    return check_numbers(line->x, line->n, line->name, "x", err) &&
           check_numbers(line->y, line->n, line->name, "y", err) &&
           (!line->low || (check_numbers(line->low, line->n, line->name, "the lower end", err) &&
                           check_numbers(line->high, line->n, line->name, "the upper end", err)));
}

static bool check_chart(const heed_picture_chart *chart, heed_error *err)
{
    if (chart->n_panels < 1 || chart->n_panels > MOST_PANELS || !chart->panels)
        return hd_fail(err, HEED_BAD_OPTION, "a chart has 1 to %d panels, not %d", MOST_PANELS,
                       chart->n_panels);
    for (int p = 0; p < chart->n_panels; p++) {
        const heed_picture_panel *panel = &chart->panels[p];
        if (panel->n_series < 0 || panel->n_series > MOST_SERIES ||
            (panel->n_series > 0 && !panel->series))
            return hd_fail(err, HEED_BAD_OPTION, "a panel of a chart has 0 to %d lines, not %d",
                           MOST_SERIES, panel->n_series);
        const double limits[2] = {panel->y_least, panel->y_most};
        const bool has_limits = limits[0] != 0 || limits[1] != 0;
        if (!check_numbers(limits, 2, panel->y_label, "the limit", err))
            return false;
        if (has_limits && !(limits[0] < limits[1]))
            return hd_fail(err, HEED_BAD_OPTION, "%s: an axis cannot go from %g to %g",
                           hd_quote(panel->y_label ? panel->y_label : "").text, limits[0],
                           limits[1]);
        for (int s = 0; s < panel->n_series; s++)
            if (!check_series(&panel->series[s], err))
                return false;
    }
    return true;
}

static bool check_bars(const heed_picture_bars *bars, heed_error *err)
{
    if (!check_strings(bars->groups, bars->n_groups, MOST_GROUPS, "groups of bars", err) ||
        !check_strings(bars->series, bars->n_series, MOST_SERIES, "bars per group", err))
        return false;
    if ((!bars->values && bars->n_groups > 0 && bars->n_series > 0) || !bars->low != !bars->high)
        return hd_fail(err, HEED_BAD_OPTION, "bars need values, and low and high or none of them");
    for (int g = 0; bars->counts && g < bars->n_groups; g++)
        if (bars->counts[g] < 0)
            return hd_fail(err, HEED_BAD_OPTION, "%s: a group of %d is no group",
                           hd_quote(bars->groups[g]).text, bars->counts[g]);
    for (int s = 0; s < bars->n_series; s++) {
        const size_t begin = (size_t)s * (size_t)bars->n_groups;
        if (!check_numbers(bars->values + begin, bars->n_groups, bars->series[s], "the value",
                           err) ||
            (bars->low && (!check_numbers(bars->low + begin, bars->n_groups, bars->series[s],
                                          "the lower end", err) ||
                           !check_numbers(bars->high + begin, bars->n_groups, bars->series[s],
                                          "the upper end", err))))
            return false;
    }
    return true;
}

/* Places where words are heard, which lie among the positions. */
static bool check_heard(const heed_picture_view *v, heed_error *err)
{
    for (int i = 0; v->heard && i < v->n_words; i++) {
        const heed_heard h = v->heard[i];
        const bool is_nowhere = h.first == -1 && h.last == -1;
        if (!is_nowhere && (h.first < 0 || h.last < h.first || h.last >= v->n_positions))
            return hd_fail(err, HEED_BAD_OPTION,
                           "word %d is heard from position %d to %d, but there are %d positions",
                           i + 1, h.first, h.last, v->n_positions);
    }
    return true;
}

static bool check_view(const heed_picture_view *v, heed_error *err)
{
    enum { MOST_POSITIONS = 100000, MOST_FRAMES = 10000000, MOST_BANDS = 1024, MOST_PIXELS = 256 };
    const bool is_picture = v->grid_columns > 0;
    const int most_rows = is_picture ? MOST_PIXELS : MOST_FRAMES,
              most_columns = is_picture ? MOST_PIXELS : MOST_BANDS;
    if (!check_strings(v->words, v->n_words, MOST_WORDS, "target words", err))
        return false;
    if (v->n_positions < 1 || v->n_positions > MOST_POSITIONS || v->n_rows < 1 ||
        v->n_rows > most_rows || v->n_columns < 1 || v->n_columns > most_columns ||
        !(v->seconds >= 0 && v->seconds <= LARGEST) || !v->seen || (!v->weights && v->n_words > 0))
        return hd_fail(err, HEED_BAD_OPTION,
                       "a picture of what was looked at has %d positions in %d by %d numbers; "
                       "there must be 1 to %d in 1 by 1 to %d by %d",
                       v->n_positions, v->n_rows, v->n_columns, MOST_POSITIONS, most_rows,
                       most_columns);
    if (is_picture &&
        (v->grid_rows < 1 || v->grid_rows > v->n_rows || v->grid_columns > v->n_columns ||
         (long long)v->grid_rows * v->grid_columns != v->n_positions))
        return hd_fail(err, HEED_BAD_OPTION, "%d rows of %d patches are not %d positions",
                       v->grid_rows, v->grid_columns, v->n_positions);
    const heed_picture_words words = {.n_rows = v->n_words, .n_columns = v->n_positions};
    const long long n = (long long)v->n_rows * v->n_columns * (is_picture ? 3 : 1);
    for (long long i = 0; i < n; i++)
        if (!(v->seen[i] >= -1e15F && v->seen[i] <= 1e15F) ||
            (is_picture && !(v->seen[i] >= 0 && v->seen[i] <= 1)))
            return hd_fail(err, HEED_BAD_OPTION,
                           "number %lld of what was looked at is %g, which cannot be drawn", i + 1,
                           (double)v->seen[i]);
    return check_heard(v, err) && check_weights(v->weights, &words, 1, err);
}

bool hd_picture_check(const heed_picture *p, heed_error *err)
{
    const int n_kinds = (p->attention != NULL) + (p->heads != NULL) + (p->chart != NULL) +
                        (p->bars != NULL) + (p->view != NULL);
    if (n_kinds != 1)
        return hd_fail(err, HEED_BAD_OPTION, "a picture is of one kind, but %d were given",
                       n_kinds);
    return p->attention ? hd_attention_check(p->attention, err)
           : p->heads   ? check_heads(p->heads, err)
           : p->chart   ? check_chart(p->chart, err)
           : p->view    ? check_view(p->view, err)
                        : check_bars(p->bars, err);
}
