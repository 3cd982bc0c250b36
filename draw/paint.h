/* paint.h -- a scene as PNG or PDF, through cairo. */
#ifndef HD_DRAW_PAINT_H
#define HD_DRAW_PAINT_H

#include "base/bytes.h"
#include "draw/scene.h"

/* False with the reason in `err`; what is in `out` is then of no use. */
bool hd_paint_png(struct hd_bytes *out, struct hd_scene *scene, heed_error *err);
bool hd_paint_pdf(struct hd_bytes *out, struct hd_scene *scene, heed_error *err);

#endif
