/* layout.h -- how each kind of picture is laid out: plain arrays in, marks in a scene out, from
 * the upper left corner of the page. The arrays have been checked. */
#ifndef HD_DRAW_LAYOUT_H
#define HD_DRAW_LAYOUT_H

#include "draw/scene.h"

#include <heed_draw.h>

enum { HD_MARGIN = 20 }; /* around the page */

/* The picture's title, if it has one, at the top; returns where the rest begins. */
double hd_layout_title(struct hd_scene *scene);

void hd_layout_attention(struct hd_scene *scene, const heed_picture_attention *attention);
void hd_layout_heads(struct hd_scene *scene, const heed_picture_heads *heads);
void hd_layout_chart(struct hd_scene *scene, const heed_picture_chart *chart);
void hd_layout_view(struct hd_scene *scene, const heed_picture_view *view);
void hd_layout_bars(struct hd_scene *scene, const heed_picture_bars *bars);

#endif
