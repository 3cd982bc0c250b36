/* matrix.c -- cells, their marks, and the scale that explains them. */
#include "draw/matrix.h"

static double gap(double size)
{
    return size >= 10 ? 1 : 0;
}

void hd_cell_draw(struct hd_scene *scene, const struct hd_cells *cells, int row, double x,
                  float weight, const char *name, const char *column)
{
    const char *tooltip =
        column ? hd_scene_print(scene, "%s \xe2\x86\x90 %s  %s", cells->rows->labels[row].whole,
                                column, hd_scene_number(scene, weight, 2))
               : NULL;
    hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                         .name = name,
                                         .tooltip = tooltip,
                                         .x = x,
                                         .y = cells->y + row * cells->size,
                                         .w = cells->size - gap(cells->size),
                                         .h = cells->size - gap(cells->size),
                                         .fill = hd_shade(weight)});
}

void hd_cells_draw(struct hd_scene *scene, const struct hd_cells *cells)
{
    for (int r = 0; r < cells->rows->n; r++)
        for (int c = 0; c < cells->columns->n; c++)
            hd_cell_draw(scene, cells, r, cells->x + c * cells->size,
                         cells->weights[(size_t)r * (size_t)cells->columns->n + (size_t)c], "cell",
                         cells->has_tooltips ? cells->columns->labels[c].whole : NULL);
}

void hd_link_mark(struct hd_scene *scene, double x, double y, double size)
{
    const double width = size >= 20 ? 2 : 1.5, inside = size - gap(size) - width;
    hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                         .name = "hard",
                                         .x = x + width / 2,
                                         .y = y + width / 2,
                                         .w = inside,
                                         .h = inside,
                                         .stroke = hd_theme.link,
                                         .stroke_width = width});
}

static double note(struct hd_scene *scene, const char *text, double x, double y)
{
    const struct hd_font font = {.size = 11};
    hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                         .name = "scale",
                                         .x = x,
                                         .y = hd_baseline(y + HD_SCALE_HEIGHT / 2.0, font),
                                         .fill = hd_theme.muted,
                                         .font = font,
                                         .text = text});
    return x + hd_text_width(&scene->pen, text, font);
}

double hd_scale_draw(struct hd_scene *scene, double x, double y, bool has_links)
{
    enum { STEPS = 20, STEP = 5 };
    double at = note(scene, "0", x, y) + 5;
    for (int i = 0; i < STEPS; i++)
        hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                             .name = "scale",
                                             .x = at + i * STEP,
                                             .y = y + 2,
                                             .w = STEP,
                                             .h = 10,
                                             .fill = hd_shade(i / (STEPS - 1.0))});
    at = note(scene, "1", at + STEPS * STEP + 5, y);
    if (has_links) {
        hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                             .name = "scale",
                                             .x = at + 19,
                                             .y = y + 2,
                                             .w = 10,
                                             .h = 10,
                                             .stroke = hd_theme.link,
                                             .stroke_width = 1.5});
        at = note(scene, "link", at + 35, y);
    }
    return at - x;
}
