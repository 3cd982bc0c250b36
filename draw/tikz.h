/* tikz.h -- a scene as TikZ. */
#ifndef HD_DRAW_TIKZ_H
#define HD_DRAW_TIKZ_H

#include "base/bytes.h"
#include "draw/scene.h"

void hd_tikz_write(struct hd_bytes *out, struct hd_scene *scene);

#endif
