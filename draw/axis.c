/* axis.c -- axes and legends. */
#include "draw/axis.h"

#include <string.h>

static const struct hd_font tick_font = {.size = 12};

/* The round number (1, 2 or 5 times a power of ten) nearest above `rough`, which is more than 0. */
static double round_step(double rough)
{
    double power = 1;
    while (power * 10 <= rough)
        power *= 10;
    while (power > rough)
        power /= 10;
    const double digit = rough / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static double whole_below(double x)
{
    const double cut = (double)(long long)x;
    return cut > x ? cut - 1 : cut;
}

struct hd_axis hd_axis_make(double least, double most, int n_ticks, bool is_exact)
{
    if (!(most - least > 1e-9 * (most > -least ? most : -least))) { /* one value: in the middle */
        const double around = most == 0 ? 0.5 : 0.1 * (most > 0 ? most : -most);
        least -= around;
        most += around;
    }
    if (!is_exact) {
        const double room = 0.06 * (most - least);
        const bool is_from_zero = least >= 0 && least <= 0.3 * most;
        const bool is_to_zero = most <= 0 && most >= 0.3 * least;
        least = is_from_zero ? 0 : least - room;
        most = is_to_zero ? 0 : most + room;
    }
    return (struct hd_axis){
        .least = least, .most = most, .step = round_step((most - least) / n_ticks)};
}

double hd_axis_at(const struct hd_axis *axis, double value)
{
    return axis->from +
           (value - axis->least) / (axis->most - axis->least) * (axis->to - axis->from);
}

const char *hd_axis_text(struct hd_scene *scene, const struct hd_axis *axis, double value)
{
    const double largest = axis->most > -axis->least ? axis->most : -axis->least;
    double unit = 1;
    const char *suffix = "";
    if (largest >= 1e7) {
        unit = 1e6;
        suffix = "M";
    } else if (largest >= 1e4) {
        unit = 1e3;
        suffix = "k";
    } else if (largest < 1e-4) {
        int power = 0;
        for (; largest / unit < 1 && power < 30; power++)
            unit /= 10;
        suffix = hd_scene_print(scene, "e-%d", power);
    }
    int decimals = 0;
    for (double step = axis->step / unit; step < 0.999 && decimals < 9; step *= 10)
        decimals++;
    const bool is_zero = value < axis->step * 1e-6 && value > -axis->step * 1e-6;
    if (is_zero)
        return "0";
    return hd_scene_print(scene, "%s%s", hd_scene_number(scene, value / unit, decimals), suffix);
}

/* The i-th tick; false when there are no more. */
static bool tick(const struct hd_axis *axis, int i, double *value)
{
    const double first = -whole_below(-axis->least / axis->step + 1e-9);
    *value = (first + i) * axis->step;
    return *value <= axis->most + axis->step * 1e-9;
}

void hd_axis_label(struct hd_scene *scene, const char *text, const char *name, double x, double y,
                   enum hd_anchor anchor, hd_color color)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                         .name = name,
                                         .x = x,
                                         .y = y,
                                         .fill = color,
                                         .font = tick_font,
                                         .anchor = anchor,
                                         .text = text});
}

static void rule(struct hd_scene *scene, double x, double y, double width, double height,
                 hd_color color)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                         .name = "grid",
                                         .x = x,
                                         .y = y,
                                         .w = width,
                                         .h = height,
                                         .fill = color});
}

void hd_axis_draw_y(struct hd_scene *scene, const struct hd_axis *axis, double left, double right)
{
    double value;
    for (int i = 0; tick(axis, i, &value); i++) {
        const double y = hd_axis_at(axis, value);
        rule(scene, left, y - 0.5, right - left, 1, hd_theme.grid);
        hd_axis_label(scene, hd_axis_text(scene, axis, value), "tick", left - 8,
                      hd_baseline(y, tick_font), HD_RIGHT, hd_theme.muted);
    }
}

double hd_axis_text_width(struct hd_scene *scene, const struct hd_axis *axis)
{
    double value, widest = 0;
    for (int i = 0; tick(axis, i, &value); i++) {
        const double width =
            hd_text_width(&scene->pen, hd_axis_text(scene, axis, value), tick_font);
        if (width > widest)
            widest = width;
    }
    return widest;
}

void hd_axis_draw_x(struct hd_scene *scene, const struct hd_axis *axis, double y)
{
    double value;
    rule(scene, axis->from, y - 0.5, axis->to - axis->from, 1, hd_theme.muted);
    for (int i = 0; tick(axis, i, &value); i++) {
        const double x = hd_axis_at(axis, value);
        rule(scene, x - 0.5, y, 1, 5, hd_theme.muted);
        hd_axis_label(scene, hd_axis_text(scene, axis, value), "tick", x, y + 18, HD_MIDDLE,
                      hd_theme.muted);
    }
}

hd_color hd_series_color(int i)
{
    return hd_theme.series[i % HD_N_SERIES_COLORS];
}

bool hd_series_is_dashed(int i)
{
    return i / HD_N_SERIES_COLORS % 2 == 1;
}

enum { LEGEND_ROW = 20, SWATCH = 18 };

static void draw_swatch(struct hd_scene *scene, const struct hd_legend *legend, int i, double x,
                        double middle)
{
    struct hd_mark mark = {.kind = HD_RECT,
                           .name = "legend",
                           .x = x + 2,
                           .y = middle - 5,
                           .w = SWATCH - 4,
                           .h = 10,
                           .fill = hd_series_color(i),
                           .opacity = hd_series_is_dashed(i) ? HD_PALE : 1};
    if (legend->are_lines) {
        double *points = hd_scene_numbers(scene, 4);
        if (!points)
            return;
        points[0] = x;
        points[2] = x + SWATCH;
        points[1] = points[3] = middle;
        mark = (struct hd_mark){.kind = HD_LINE,
                                .name = "legend",
                                .points = points,
                                .n_points = 2,
                                .stroke = mark.fill,
                                .stroke_width = 3,
                                .is_dashed = hd_series_is_dashed(i)};
    }
    hd_scene_add(scene, mark);
}

double hd_legend_draw(struct hd_scene *scene, const struct hd_legend *legend)
{
    double x = legend->x, y = legend->y + LEGEND_ROW / 2.0;
    if (legend->heading && legend->heading[0]) {
        const struct hd_font bold = {.size = 13, .is_bold = true};
        const struct hd_label label = hd_scene_label(scene, legend->heading, bold, legend->width);
        hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                             .name = "axis",
                                             .x = x,
                                             .y = hd_baseline(y, bold),
                                             .fill = hd_theme.ink,
                                             .font = bold,
                                             .text = label.text});
        y += legend->n > 0 ? LEGEND_ROW : 0; /* a row of its own, whatever the viewer's font is */
    }
    for (int i = 0; i < legend->n; i++) {
        const struct hd_label label =
            hd_scene_label(scene, legend->names[i], tick_font, legend->width * 0.5);
        const double needs = SWATCH + 6 + label.width * 1.08 + 18;
        if (x > legend->x && x + needs > legend->x + legend->width) {
            x = legend->x;
            y += LEGEND_ROW;
        }
        draw_swatch(scene, legend, i, x, y);
        hd_axis_label(scene, label.text, "series", x + SWATCH + 6, hd_baseline(y, tick_font),
                      HD_LEFT, hd_theme.ink);
        x += needs;
    }
    return y + LEGEND_ROW / 2.0;
}
