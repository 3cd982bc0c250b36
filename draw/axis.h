/* axis.h -- numbers along an edge: round ticks, their text, their grid; and the legend of a chart. */
#ifndef HD_DRAW_AXIS_H
#define HD_DRAW_AXIS_H

#include "draw/scene.h"

/* From `least` at pixel `from` to `most` at pixel `to`; ticks are the multiples of `step` between. */
struct hd_axis {
    double least, most, step;
    double from, to;
};

/* An axis that shows [least, most] and has about n ticks. is_round: it begins and ends at ticks. */
struct hd_axis hd_axis_make(double least, double most, int n_ticks, bool is_round);

double hd_axis_at(const struct hd_axis *axis, double value);

/* How the axis writes a value: as many decimals as its steps need, thousands as k, millions as M. */
const char *hd_axis_text(struct hd_scene *scene, const struct hd_axis *axis, double value);

/* Ticks with their grid lines across a plot from `left` to `right`; returns the width of the widest text. */
void hd_axis_draw_y(struct hd_scene *scene, const struct hd_axis *axis, double left, double right);
double hd_axis_text_width(struct hd_scene *scene, const struct hd_axis *axis);

/* Ticks below y. */
void hd_axis_draw_x(struct hd_scene *scene, const struct hd_axis *axis, double y);

/* The i-th series: its colour, and dashed when the colours have been used up. */
hd_color hd_series_color(const struct hd_scene *scene, int i);
bool hd_series_is_dashed(int i);

/* A bold heading (may be NULL or "") and the names with their colours behind it, in rows of at most `width`; returns
 * where it ends below. */
double hd_legend_draw(struct hd_scene *scene, const char *heading, const char *const *names, int n,
                      double x, double y, double width);

/* A plain text. */
void hd_axis_label(struct hd_scene *scene, const char *text, const char *name, double x, double y,
                   enum hd_anchor anchor, hd_color color);

#endif
