/* module.c -- what libheed calls: a picture is laid out as a scene and the scene written in one
 * of four formats. */
#include "draw/draw.h"

#include "base/error.h"
#include "base/memory.h"
#include "draw/layout.h"
#include "draw/paint.h"
#include "draw/svg.h"
#include "draw/tikz.h"

#include <string.h>

static const struct hd_font title_font = {.size = 17, .is_bold = true};
enum { LEAST_TITLE = 360 };

double hd_layout_title(struct hd_scene *scene)
{
    return scene->title[0] ? HD_MARGIN + 36 : HD_MARGIN;
}

/* Last, when it is known how much room there is. */
static void draw_title(struct hd_scene *scene)
{
    if (!scene->title[0])
        return;
    const double room = scene->width - 2 * HD_MARGIN;
    const struct hd_label label =
        hd_scene_label(scene, scene->title, title_font, room > LEAST_TITLE ? room : LEAST_TITLE);
    hd_scene_add(scene, (struct hd_mark){
                            .kind = HD_TEXT,
                            .name = "title",
                            .tooltip = strcmp(label.text, label.whole) != 0 ? label.whole : NULL,
                            .x = HD_MARGIN,
                            .y = HD_MARGIN + 17,
                            .fill = hd_theme.ink,
                            .font = title_font,
                            .text = label.text});
    hd_scene_extend(scene, label.width * 1.05 + 2 * HD_MARGIN, 0);
}

static void lay_out(struct hd_scene *scene, const heed_picture *picture)
{
    if (picture->attention)
        hd_layout_attention(scene, picture->attention);
    else if (picture->heads)
        hd_layout_heads(scene, picture->heads);
    else if (picture->chart)
        hd_layout_chart(scene, picture->chart);
    else if (picture->view)
        hd_layout_view(scene, picture->view);
    else
        hd_layout_bars(scene, picture->bars);
    draw_title(scene);
    if (picture->is_dark)
        hd_scene_darken(scene);
    scene->width = (double)(int)(scene->width + 0.999); /* whole pixels */
    scene->height = (double)(int)(scene->height + 0.999);
}

static bool write_scene(struct hd_bytes *out, struct hd_scene *scene, enum hd_draw_format format,
                        heed_error *err)
{
    if (format == HD_DRAW_PNG)
        return hd_paint_png(out, scene, err);
    if (format == HD_DRAW_PDF)
        return hd_paint_pdf(out, scene, err);
    if (format == HD_DRAW_TIKZ)
        hd_tikz_write(out, scene);
    else
        hd_svg_write(out, scene);
    return true;
}

static char *render(const heed_picture *picture, enum hd_draw_format format, size_t *size,
                    heed_error *err)
{
    struct hd_scene scene;
    struct hd_bytes out = {0};
    bool is_fine = hd_scene_init(&scene, picture->title, err);
    if (is_fine)
        lay_out(&scene, picture);
    is_fine =
        is_fine && !scene.has_failed && write_scene(&out, &scene, format, err) && !out.has_failed;
    hd_scene_release(&scene);
    if (!is_fine) {
        hd_free(out.at);
        hd_fail(err, HEED_NO_MEMORY,
                "there is no memory for the picture"); /* if nothing was said yet */
        return NULL;
    }
    *size = out.n;
    return out.at;
}

const struct hd_draw_module hd_draw_module = {HEED_VERSION, render, hd_free};
