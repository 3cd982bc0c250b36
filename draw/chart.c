/* chart.c -- lines over a common x axis, in panels one above the other.
 *
 * A run of a hundred thousand updates has more points than the page has pixels. Such a line is
 * drawn as the means of short stretches, with a band from the lowest to the highest of each. */
#include "draw/axis.h"
#include "draw/layout.h"
#include "draw/word_row.h"

enum { PLOT_WIDTH = 660, MOST_POINTS = 400, FEW_POINTS = 40 };

struct range {
    double least, most;
    bool is_empty;
};

static void stretch(struct range *range, double value)
{
    if (range->is_empty || value < range->least)
        range->least = value;
    if (range->is_empty || value > range->most)
        range->most = value;
    range->is_empty = false;
}

static struct range x_range(const heed_picture_chart *chart)
{
    struct range range = {.most = 1, .is_empty = true};
    for (int p = 0; p < chart->n_panels; p++)
        for (int s = 0; s < chart->panels[p].n_series; s++)
            for (int i = 0; i < chart->panels[p].series[s].n; i++)
                stretch(&range, chart->panels[p].series[s].x[i]);
    return range;
}

static struct hd_axis y_axis(const heed_picture_panel *panel)
{
    struct range range = {.most = 1, .is_empty = true};
    if (panel->y_least != 0 || panel->y_most != 0)
        return hd_axis_make(panel->y_least, panel->y_most, 5, true);
    for (int s = 0; s < panel->n_series; s++) {
        const heed_picture_series *line = &panel->series[s];
        for (int i = 0; i < line->n; i++) {
            stretch(&range, line->y[i]);
            if (line->low) {
                stretch(&range, line->low[i]);
                stretch(&range, line->high[i]);
            }
        }
    }
    return hd_axis_make(range.least, range.most, 5, false);
}

/* A place on the page. */
struct place {
    double x, y;
};

struct plot {
    struct hd_axis x, y;
};

static struct place place_of(const struct plot *plot, double x, double y)
{
    return (struct place){hd_axis_at(&plot->x, x), hd_axis_at(&plot->y, y)};
}

/* A line of at most MOST_POINTS points that looks like this one. False when there is no memory. */
static bool thin_out(struct hd_scene *scene, heed_picture_series *line)
{
    if (line->n <= MOST_POINTS)
        return true;
    const heed_picture_series all = *line;
    double *means = hd_scene_numbers(scene, 4 * (size_t)MOST_POINTS);
    if (!means)
        return false;
    double *x = means, *y = x + MOST_POINTS, *low = y + MOST_POINTS, *high = low + MOST_POINTS;
    for (int k = 0; k < MOST_POINTS; k++) {
        const int begin = (int)((long long)all.n * k / MOST_POINTS);
        const int end = (int)((long long)all.n * (k + 1) / MOST_POINTS);
        struct range range = {.is_empty = true};
        x[k] = y[k] = 0;
        for (int i = begin; i < end; i++) {
            x[k] += all.x[i] / (end - begin);
            y[k] += all.y[i] / (end - begin);
            stretch(&range, all.low ? all.low[i] : all.y[i]);
            stretch(&range, all.high ? all.high[i] : all.y[i]);
        }
        low[k] = range.least;
        high[k] = range.most;
    }
    *line = (heed_picture_series){
        .name = all.name, .x = x, .y = y, .n = MOST_POINTS, .low = low, .high = high};
    return true;
}

/* The part of a to b with y between top and bottom; false if there is none. */
static bool clip(struct place *a, struct place *b, double top, double bottom)
{
    const double edges[2] = {top, bottom};
    for (int e = 0; e < 2; e++) {
        const double sign = e == 0 ? 1 : -1; /* inside is sign × (y - edge) ≥ 0 */
        const double da = sign * (a->y - edges[e]), db = sign * (b->y - edges[e]);
        if (da < 0 && db < 0)
            return false;
        const struct place cut = {a->x + (b->x - a->x) * da / (da - db), edges[e]};
        if (da < 0)
            *a = cut;
        else if (db < 0)
            *b = cut;
    }
    return true;
}

static void add_line(struct hd_scene *scene, const double *points, int n, int series)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_LINE,
                                         .name = "line",
                                         .points = points,
                                         .n_points = n,
                                         .stroke = hd_series_color(series),
                                         .stroke_width = 2,
                                         .is_dashed = hd_series_is_dashed(series)});
}

/* The line in as many pieces as lie inside the panel. */
static void draw_pieces(struct hd_scene *scene, const struct plot *plot,
                        const heed_picture_series *line, int series)
{
    double *points =
        hd_scene_numbers(scene, 4 * (size_t)line->n); /* a piece has at most twice its steps */
    int n = 0;
    double *piece = points;
    for (int i = 0; points && i + 1 < line->n; i++) {
        struct place a = place_of(plot, line->x[i], line->y[i]);
        struct place b = place_of(plot, line->x[i + 1], line->y[i + 1]);
        const struct place b_whole = b;
        const bool is_inside = clip(&a, &b, plot->y.to, plot->y.from);
        if (is_inside && n == 0) {
            piece[n++] = a.x;
            piece[n++] = a.y;
        }
        if (is_inside) {
            piece[n++] = b.x;
            piece[n++] = b.y;
        }
        const bool leaves = !is_inside || b.y != b_whole.y;
        if (n > 0 && (leaves || i + 2 == line->n)) {
            add_line(scene, piece, n / 2, series);
            piece += n;
            n = 0;
        }
    }
}

static void draw_dots(struct hd_scene *scene, const struct plot *plot,
                      const heed_picture_series *line, int series)
{
    for (int i = 0; line->n <= FEW_POINTS && i < line->n; i++) {
        const struct place at = place_of(plot, line->x[i], line->y[i]);
        if (at.y < plot->y.to - 0.5 || at.y > plot->y.from + 0.5)
            continue;
        hd_scene_add(scene, (struct hd_mark){.kind = HD_CIRCLE,
                                             .name = "point",
                                             .tooltip = hd_scene_number(scene, line->y[i], 4),
                                             .x = at.x,
                                             .y = at.y,
                                             .w = 3,
                                             .fill = hd_series_color(series)});
    }
}

/* The nearest y that the axis shows. */
static double inside(const struct hd_axis *axis, double y)
{
    return y > axis->from ? axis->from : y < axis->to ? axis->to : y;
}

static void draw_band(struct hd_scene *scene, const struct plot *plot,
                      const heed_picture_series *line, int series)
{
    const int n = line->n;
    double *points = hd_scene_numbers(scene, 4 * (size_t)n);
    if (!points)
        return;
    for (int i = 0; i < n; i++) {
        const int back = 2 * n - 1 - i;
        const struct place low = place_of(plot, line->x[i], line->low[i]);
        const struct place high = place_of(plot, line->x[i], line->high[i]);
        points[2 * i] = low.x;
        points[2 * i + 1] = inside(&plot->y, low.y);
        points[2 * back] = high.x;
        points[2 * back + 1] = inside(&plot->y, high.y);
    }
    hd_scene_add(scene, (struct hd_mark){.kind = HD_AREA,
                                         .name = "band",
                                         .points = points,
                                         .n_points = 2 * n,
                                         .fill = hd_series_color(series),
                                         .opacity = 0.2});
}

static void draw_best(struct hd_scene *scene, const struct plot *plot,
                      const heed_picture_series *line, int series)
{
    const struct hd_font font = {.size = 12, .is_bold = true};
    const struct place at = place_of(plot, line->x[line->best], line->y[line->best]);
    if (at.y < plot->y.to - 0.5 || at.y > plot->y.from + 0.5)
        return;
    const double value = line->y[line->best];
    const char *text =
        hd_scene_print(scene, "%s at %s", hd_scene_number(scene, value, value < 10 ? 3 : 2),
                       hd_scene_number(scene, line->x[line->best], 0));
    const double half = hd_text_width(&scene->pen, text, font) / 2 + 4;
    const double x = at.x + half > plot->x.to     ? plot->x.to - half
                     : at.x - half < plot->x.from ? plot->x.from + half
                                                  : at.x;
    const bool is_high = at.y - 26 < plot->y.to; /* no room above */
    hd_scene_add(scene, (struct hd_mark){.kind = HD_CIRCLE,
                                         .name = "best",
                                         .x = at.x,
                                         .y = at.y,
                                         .w = 5.5,
                                         .fill = hd_theme.paper,
                                         .stroke = hd_series_color(series),
                                         .stroke_width = 2.5});
    hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                         .name = "best",
                                         .x = x,
                                         .y = is_high ? at.y + 24 : at.y - 13,
                                         .fill = hd_theme.ink,
                                         .font = font,
                                         .anchor = HD_MIDDLE,
                                         .text = text});
}

static void draw_series(struct hd_scene *scene, const struct plot *plot, heed_picture_series line,
                        int series)
{
    if (!thin_out(scene, &line))
        return;
    if (line.low)
        draw_band(scene, plot, &line, series);
    draw_pieces(scene, plot, &line, series);
    draw_dots(scene, plot, &line, series);
}

enum { RULE_NAME = 10 }; /* above the plot */

/* Two points at one x, from the foot of the axis to its top. */
static bool is_rule(const heed_picture_panel *panel, int series)
{
    const heed_picture_series *line = &panel->series[series];
    return panel->y_least < panel->y_most && line->n == 2 && line->x[0] == line->x[1] &&
           line->y[0] == panel->y_least && line->y[1] == panel->y_most;
}

static void draw_rule(struct hd_scene *scene, const struct plot *plot,
                      const heed_picture_series *line)
{
    const struct hd_font font = {.size = 11};
    const double x = hd_axis_at(&plot->x, line->x[0]);
    double *points = hd_scene_numbers(scene, 4);
    if (!points)
        return;
    points[0] = points[2] = x;
    points[1] = plot->y.to;
    points[3] = plot->y.from;
    hd_scene_add(scene, (struct hd_mark){.kind = HD_LINE,
                                         .name = "rule",
                                         .points = points,
                                         .n_points = 2,
                                         .stroke = hd_theme.muted,
                                         .stroke_width = 1.5,
                                         .is_dashed = true});
    const struct hd_label label = hd_scene_label(scene, line->name, font, PLOT_WIDTH / 2.0);
    const double most = plot->x.to - 0.54 * label.width;
    hd_label_put(scene, &label,
                 (struct hd_mark){.name = "rule",
                                  .x = x < most ? x : most,
                                  .y = plot->y.to - 5,
                                  .font = font,
                                  .anchor = HD_MIDDLE});
}

/* Heading, legend and lines from y on; returns where it ends below. */
static double draw_panel(struct hd_scene *scene, const heed_picture_panel *panel,
                         const struct hd_axis *x, struct hd_axis y, double top, double height)
{
    const char **names = hd_take(&scene->arena, ((size_t)panel->n_series + 1) * sizeof *names);
    if (!names) {
        scene->has_failed = true;
        return top;
    }
    int n_lines = 0;
    while (n_lines < panel->n_series && !is_rule(panel, n_lines)) {
        names[n_lines] = panel->series[n_lines].name;
        n_lines++;
    }
    hd_scene_group(scene, "panel");
    /* A single line that has the axis's name needs no legend. */
    const bool is_alone = n_lines == 1 && (!names[0] || !names[0][0]);
    y.to = 12 + (n_lines < panel->n_series ? RULE_NAME : 0) +
           hd_legend_draw(scene, &(struct hd_legend){.heading = panel->y_label,
                                                     .names = names,
                                                     .n = is_alone ? 0 : n_lines,
                                                     .are_lines = true,
                                                     .x = x->from,
                                                     .y = top,
                                                     .width = x->to - x->from});
    y.from = y.to + height;
    const struct plot plot = {*x, y};
    hd_axis_draw_y(scene, &y, x->from, x->to);
    for (int s = 0; s < panel->n_series; s++)
        if (is_rule(panel, s))
            draw_rule(scene, &plot, &panel->series[s]);
        else
            draw_series(scene, &plot, panel->series[s], s);
    for (int s = 0; s < panel->n_series; s++)
        if (panel->series[s].has_best)
            draw_best(scene, &plot, &panel->series[s], s);
    hd_axis_draw_x(scene, x, y.from);
    hd_scene_group_end(scene);
    return y.from + 26;
}

void hd_layout_chart(struct hd_scene *scene, const heed_picture_chart *chart)
{
    double y = hd_layout_title(scene), widest = 0;
    for (int p = 0; p < chart->n_panels; p++) {
        const struct hd_axis axis = y_axis(&chart->panels[p]);
        const double width = hd_axis_text_width(scene, &axis);
        widest = width > widest ? width : widest;
    }
    const struct range range = x_range(chart);
    const bool is_from_zero = range.least >= 0 && range.least <= 0.3 * range.most;
    struct hd_axis x = hd_axis_make(is_from_zero ? 0 : range.least, range.most, 7, true);
    x.from = (double)(int)(HD_MARGIN + widest + 12);
    x.to = x.from + PLOT_WIDTH;
    for (int p = 0; p < chart->n_panels; p++) {
        const struct hd_axis axis = y_axis(&chart->panels[p]);
        y = draw_panel(scene, &chart->panels[p], &x, axis, y, chart->n_panels == 1 ? 320 : 190) +
            14;
    }
    if (chart->x_label && chart->x_label[0]) {
        const struct hd_label label =
            hd_scene_label(scene, chart->x_label, (struct hd_font){.size = 12}, PLOT_WIDTH);
        hd_axis_label(scene, label.text, "axis", (x.from + x.to) / 2, y, HD_MIDDLE, hd_theme.ink);
        y += 8;
    }
    hd_scene_extend(scene, x.to + HD_MARGIN + 16, y + HD_MARGIN - 8);
}
