/* axis.h -- numbers along an edge: round ticks, their text, their grid; and the legend of a
 * chart. */
#ifndef HD_DRAW_AXIS_H
#define HD_DRAW_AXIS_H

#include "draw/scene.h"

/* From `least` at pixel `from` to `most` at pixel `to`; ticks are the multiples of `step`
 * between. */
struct hd_axis {
    double least, most, step;
    double from, to;
};

/* An axis that shows [least, most] with about n ticks. is_exact: that and no more; else there is
 * some room around it, and an axis that would begin a little above zero begins at zero. */
struct hd_axis hd_axis_make(double least, double most, int n_ticks, bool is_exact);

double hd_axis_at(const struct hd_axis *axis, double value);

/* How the axis writes a value: as many decimals as its steps need, thousands as k, millions as
 * M. */
const char *hd_axis_text(struct hd_scene *scene, const struct hd_axis *axis, double value);

/* Ticks with their grid lines across a plot from `left` to `right`. */
void hd_axis_draw_y(struct hd_scene *scene, const struct hd_axis *axis, double left, double right);

/* The width of the widest of its texts. */
double hd_axis_text_width(struct hd_scene *scene, const struct hd_axis *axis);

/* Ticks below y. */
void hd_axis_draw_x(struct hd_scene *scene, const struct hd_axis *axis, double y);

/* The i-th series: its colour, and dashed when the colours have been used up. */
hd_color hd_series_color(int i);
bool hd_series_is_dashed(int i);
#define HD_PALE 0.55 /* opacity of bars that would be dashed if they were lines */

/* A bold heading (NULL or "" for none) and below it the names of the series with their colours, in rows
 * of at most `width`; returns where it ends below. */
struct hd_legend {
    const char *heading;
    const char *const *names;
    int n;
    bool are_lines; /* else bars */
    double x, y, width;
};
double hd_legend_draw(struct hd_scene *scene, const struct hd_legend *legend);

/* A plain text. */
void hd_axis_label(struct hd_scene *scene, const char *text, const char *name, double x, double y,
                   enum hd_anchor anchor, hd_color color);

#endif
