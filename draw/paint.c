/* paint.c -- marks become strokes of cairo. */
#include "draw/paint.h"

#include "base/error.h"
#include "draw/draw.h"

#include <cairo-pdf.h>

enum {
    MOST_PIXELS = 60000000,
    MOST_SIDE = 32000
}; /* 240 MB while it is painted; cairo's own limit */

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned int n)
{
    struct hd_bytes *out = closure;
    hd_bytes_add(out, data, n);
    return out->has_failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* The mark goes between the header and what follows. */
static cairo_status_t collect_png(void *closure, const unsigned char *data, unsigned int n)
{
    const struct hd_bytes *out = closure;
    const unsigned missing = out->n < HD_DRAW_PNG_AT ? HD_DRAW_PNG_AT - (unsigned)out->n : 0;
    if (missing == 0 || n < missing)
        return collect(closure, data, n);
    (void)collect(closure, data, missing);
    hd_bytes_add(closure, HD_DRAW_PNG_MARK, sizeof HD_DRAW_PNG_MARK - 1);
    return collect(closure, data + missing, n - missing);
}

static void set_color(cairo_t *cr, hd_color color, double opacity)
{
    cairo_set_source_rgba(cr, (color >> 16 & 0xff) / 255.0, (color >> 8 & 0xff) / 255.0,
                          (color & 0xff) / 255.0, opacity > 0 ? opacity : 1);
}

static void outline(cairo_t *cr, const struct hd_mark *m)
{
    const double *p = m->points;
    cairo_new_path(cr);
    if (m->kind == HD_RECT)
        cairo_rectangle(cr, m->x, m->y, m->w, m->h);
    else if (m->kind == HD_CIRCLE)
        cairo_arc(cr, m->x, m->y, m->w, 0, 2 * G_PI);
    else if (m->kind == HD_CURVE) {
        cairo_move_to(cr, p[0], p[1]);
        cairo_curve_to(cr, p[2], p[3], p[4], p[5], p[6], p[7]);
    } else {
        for (int i = 0; i < m->n_points; i++)
            cairo_line_to(cr, p[2 * i], p[2 * i + 1]);
        if (m->kind == HD_AREA)
            cairo_close_path(cr);
    }
}

static void paint_shape(cairo_t *cr, const struct hd_mark *m)
{
    outline(cr, m);
    if (m->fill) {
        set_color(cr, m->fill, m->opacity);
        cairo_fill_preserve(cr);
    }
    if (m->stroke) {
        static const double dash[] = {6, 4};
        set_color(cr, m->stroke, m->opacity);
        cairo_set_line_width(cr, m->stroke_width);
        cairo_set_dash(cr, dash, m->is_dashed ? 2 : 0, 0);
        cairo_stroke_preserve(cr);
    }
    cairo_new_path(cr);
}

static void paint_text(cairo_t *cr, struct hd_pen *pen, const struct hd_mark *m)
{
    const double width = hd_text_width(pen, m->text, m->font);
    cairo_save(cr);
    cairo_translate(cr, m->x, m->y);
    cairo_rotate(cr, m->angle * G_PI / 180);
    cairo_move_to(cr, m->anchor == HD_LEFT ? 0 : m->anchor == HD_RIGHT ? -width : -width / 2, 0);
    set_color(cr, m->fill, m->opacity);
    pango_cairo_show_layout_line(cr, pango_layout_get_line_readonly(pen->layout, 0));
    cairo_restore(cr);
}

static void paint(cairo_t *cr, struct hd_scene *scene)
{
    set_color(cr, scene->paper, 1);
    cairo_paint(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct hd_mark *m = &scene->marks[i];
        if (m->kind == HD_TEXT)
            paint_text(cr, &scene->pen, m);
        else if (m->kind != HD_GROUP && m->kind != HD_GROUP_END)
            paint_shape(cr, m);
    }
}

static bool failed(cairo_status_t status, heed_error *err)
{
    if (status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_WRITE_ERROR)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory for the picture");
    return hd_fail(err, HEED_BAD_FILE, "cairo cannot draw the picture: %s",
                   cairo_status_to_string(status));
}

bool hd_paint_png(struct hd_bytes *out, struct hd_scene *scene, heed_error *err)
{
    double scale = 2;
    while (scale * scale * scene->width * scene->height > MOST_PIXELS ||
           scale * scene->width > MOST_SIDE || scale * scene->height > MOST_SIDE)
        scale *= 0.9;
    const int width = (int)(scene->width * scale), height = (int)(scene->height * scale);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width < 1 ? 1 : width,
                                                          height < 1 ? 1 : height);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    paint(cr, scene);
    cairo_status_t status = cairo_status(cr);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, collect_png, out);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS || failed(status, err);
}

bool hd_paint_pdf(struct hd_bytes *out, struct hd_scene *scene, heed_error *err)
{
    const double scale = 0.75; /* points per unit */
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
        collect, out, scene->width * scale, scene->height * scale);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, ""); /* else: now */
    if (scene->title[0])
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, scene->title);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    paint(cr, scene);
    cairo_show_page(cr);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    hd_bytes_text(out, HD_DRAW_PDF_MARK); /* a comment */
    return status == CAIRO_STATUS_SUCCESS || failed(status, err);
}
