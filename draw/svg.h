/* svg.h -- a scene as SVG. */
#ifndef HD_DRAW_SVG_H
#define HD_DRAW_SVG_H

#include "base/bytes.h"
#include "draw/scene.h"

void hd_svg_write(struct hd_bytes *out, struct hd_scene *scene);

#endif
