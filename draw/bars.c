/* bars.c -- groups of bars that begin at zero, with the numbers on top where there is room. */
#include "draw/axis.h"
#include "draw/layout.h"

enum {
    PLOT_HEIGHT = 300,
    LEAST_BAR = 10,
    MOST_BAR = 44,
    GROUP_GAP = 22,
    LEAST_GROUP = 44,
    WIDEST = 1150
};

static const struct hd_font value_font = {.size = 11};

static const char *value_text(struct hd_scene *scene, double value)
{
    return hd_scene_number(scene, value, 1);
}

/* How wide a bar must be for its number: the viewer's font may be a little wider than ours. */
static double room_for(struct hd_scene *scene, const char *value)
{
    return 1.08 * hd_text_width(&scene->pen, value, value_font) + 5;
}

/* Wide enough for all numbers where that leaves a page that is no wider than others. */
static double bar_width(struct hd_scene *scene, const heed_picture_bars *bars)
{
    const int n = bars->n_series * bars->n_groups;
    const double rough = n > 0 ? 700.0 / n : MOST_BAR;
    double bar = rough < LEAST_BAR ? LEAST_BAR : rough > MOST_BAR ? MOST_BAR : (double)(int)rough;
    double widest = 0;
    for (int i = 0; i < n; i++) {
        const double room = room_for(scene, value_text(scene, bars->values[i]));
        widest = room > widest ? room : widest;
    }
    if (widest > bar && widest * n + GROUP_GAP * bars->n_groups <= WIDEST)
        bar = (double)(int)(widest + 0.999);
    return bar;
}

static struct hd_axis y_axis(const heed_picture_bars *bars)
{
    double least = 0, most = 0;
    for (int i = 0; i < bars->n_series * bars->n_groups; i++) {
        if (bars->counts && bars->counts[i % bars->n_groups] == 0)
            continue;
        const double low = bars->low ? bars->low[i] : bars->values[i];
        const double high = bars->high ? bars->high[i] : bars->values[i];
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    return hd_axis_make(least, most > least ? most : 1, 6, false);
}

static void draw_interval(struct hd_scene *scene, const struct hd_axis *y, double x, double low,
                          double high)
{
    const double from = hd_axis_at(y, low), to = hd_axis_at(y, high);
    const double shape[6][2] = {{x - 3, to}, {x + 3, to},   {x, to},
                                {x, from},   {x - 3, from}, {x + 3, from}};
    double *points = hd_scene_numbers(scene, 12);
    if (!points)
        return;
    for (int i = 0; i < 12; i++)
        points[i] = shape[i / 2][i % 2];
    hd_scene_add(scene, (struct hd_mark){.kind = HD_LINE,
                                         .name = "interval",
                                         .points = points,
                                         .n_points = 6,
                                         .stroke = hd_theme.ink,
                                         .stroke_width = 1.2});
}

static void draw_bar(struct hd_scene *scene, const heed_picture_bars *bars, const struct hd_axis *y,
                     int s, int g, double x, double width)
{
    const size_t i = (size_t)s * (size_t)bars->n_groups + (size_t)g;
    const double zero = hd_axis_at(y, 0), at = hd_axis_at(y, bars->values[i]);
    const char *value = value_text(scene, bars->values[i]);
    hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                         .name = "bar",
                                         .tooltip = value,
                                         .x = x,
                                         .y = at < zero ? at : zero,
                                         .w = width - 2,
                                         .h = at < zero ? zero - at : at - zero,
                                         .fill = hd_series_color(s),
                                         .opacity = hd_series_is_dashed(s) ? HD_PALE : 1});
    double top = at < zero ? at : zero;
    if (bars->low) {
        draw_interval(scene, y, x + width / 2 - 1, bars->low[i], bars->high[i]);
        const double high = hd_axis_at(y, bars->high[i]);
        top = high < top ? high : top;
    }
    if (room_for(scene, value) <= width)
        hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                             .name = "value",
                                             .x = x + width / 2 - 1,
                                             .y = top - 4,
                                             .fill = hd_theme.ink,
                                             .font = value_font,
                                             .anchor = HD_MIDDLE,
                                             .text = value});
}

static void draw_group(struct hd_scene *scene, const heed_picture_bars *bars,
                       const struct hd_axis *y, int g, double x, double width, double bar)
{
    const struct hd_label label =
        hd_scene_label(scene, bars->groups[g], (struct hd_font){.size = 12}, width - 4);
    const double left = x + (width - bars->n_series * bar) / 2;
    const bool is_empty = bars->counts && bars->counts[g] == 0;
    for (int s = 0; !is_empty && s < bars->n_series; s++)
        draw_bar(scene, bars, y, s, g, left + s * bar, bar);
    hd_axis_label(scene, label.text, "group", x + width / 2, y->from + 18, HD_MIDDLE, hd_theme.ink);
    if (bars->counts)
        hd_axis_label(scene, hd_scene_print(scene, "n = %d", bars->counts[g]), "count",
                      x + width / 2, y->from + 34, HD_MIDDLE, hd_theme.muted);
}

void hd_layout_bars(struct hd_scene *scene, const heed_picture_bars *bars)
{
    double top = hd_layout_title(scene);
    const double bar = bar_width(scene, bars);
    double group = bars->n_series * bar + GROUP_GAP;
    const double least = bars->counts ? LEAST_GROUP + 22 : LEAST_GROUP;
    group = group < least ? least : group;
    struct hd_axis y = y_axis(bars);
    const double left = (double)(int)(HD_MARGIN + hd_axis_text_width(scene, &y) + 12);
    const double width = bars->n_groups * group < 420 ? 420 : bars->n_groups * group;
    group = bars->n_groups > 0 ? width / bars->n_groups : width;
    const bool is_alone = bars->n_series == 1 && (!bars->series[0] || !bars->series[0][0]);
    top = hd_legend_draw(scene, &(struct hd_legend){.heading = bars->y_label,
                                                    .names = bars->series,
                                                    .n = is_alone ? 0 : bars->n_series,
                                                    .x = left,
                                                    .y = top,
                                                    .width = width});
    y.to = top + 16;
    y.from = y.to + PLOT_HEIGHT;
    hd_scene_group(scene, "bars");
    hd_axis_draw_y(scene, &y, left, left + width);
    for (int g = 0; g < bars->n_groups; g++)
        draw_group(scene, bars, &y, g, left + g * group, group, bar);
    hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                         .name = "grid",
                                         .x = left,
                                         .y = hd_axis_at(&y, 0) - 0.5,
                                         .w = width,
                                         .h = 1,
                                         .fill = hd_theme.muted});
    hd_scene_group_end(scene);
    double bottom = y.from + (bars->counts ? 40 : 24);
    if (bars->x_label && bars->x_label[0]) {
        const struct hd_label label =
            hd_scene_label(scene, bars->x_label, (struct hd_font){.size = 12}, width);
        hd_axis_label(scene, label.text, "axis", left + width / 2, bottom + 18, HD_MIDDLE,
                      hd_theme.ink);
        bottom += 24;
    }
    hd_scene_extend(scene, left + width + HD_MARGIN, bottom + HD_MARGIN);
}
