/* heads.c -- all heads of a Transformer on a page: a row of small matrices per layer, a column
 * per head. Words stand once, at the left and at the top, as long as cells are large enough for
 * letters. */
#include "draw/layout.h"
#include "draw/matrix.h"

enum { GAP = 14, WIDEST_PAGE = 2600 };

static double cell_size(const heed_picture_heads *heads)
{
    enum { LEGIBLE = 8, LEAST = 3, MOST = 18 };
    const int n = heads->n_heads * heads->words.n_columns;
    const int fits = n > 0 ? 1200 / n : MOST;
    if (fits > MOST)
        return MOST;
    if (fits < LEGIBLE && n * LEGIBLE <= WIDEST_PAGE)
        return LEGIBLE;
    return fits < LEAST ? LEAST : fits;
}

/* "head 3", above; "layer 2", turned, at the left: the numbers of --head, from 0, and of --layer, from 1. */
static void heading(struct hd_scene *scene, const char *what, int i, double x, double y,
                    double angle)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                         .name = what,
                                         .x = x,
                                         .y = y,
                                         .fill = hd_theme.muted,
                                         .font = {.size = 12},
                                         .anchor = HD_MIDDLE,
                                         .angle = angle,
                                         .text = hd_scene_print(scene, "%s %d", what, i)});
}

void hd_layout_heads(struct hd_scene *scene, const heed_picture_heads *heads)
{
    const heed_picture_words *w = &heads->words;
    const double size = cell_size(heads);
    const bool has_words = size >= 8;
    const struct hd_font font = {.size = size < 12 ? size * 0.95 : 11};
    const struct hd_word_row rows = hd_word_row_measure(scene, w->rows, w->n_rows, font, 110);
    struct hd_word_row columns = hd_word_row_measure(scene, w->columns, w->n_columns, font, 110);
    hd_word_row_turn(&columns,
                     0); /* upright words over cells this small would touch: all stand on end */
    const double wide = w->n_columns * size, high = w->n_rows * size;
    const double step_x = (wide < 44 ? 44 : wide) + GAP, step_y = (high < 48 ? 48 : high) + GAP;
    const double left = HD_MARGIN + 20 + (has_words ? (double)(int)rows.widest + 8 : 0);
    const double title = hd_layout_title(scene);
    const double top = (double)(int)(title + 20 + (has_words ? columns.height + 6 : 0));
    const long long n_cells =
        (long long)heads->n_layers * heads->n_heads * w->n_rows * w->n_columns;
    for (int h = 0; h < heads->n_heads; h++) {
        heading(scene, "head", h, left + h * step_x + wide / 2, title + 12, 0);
        for (int c = 0; has_words && c < columns.n; c++)
            hd_word_row_above(scene, &columns, c, left + h * step_x + (c + 0.5) * size, top - 4,
                              "source");
    }
    for (int l = 0; l < heads->n_layers; l++) {
        heading(scene, "layer", l + 1, HD_MARGIN + 10, top + l * step_y + high / 2, -90);
        for (int r = 0; has_words && r < rows.n; r++)
            hd_label_beside(scene, &rows.labels[r], font, left - 5,
                            top + l * step_y + (r + 0.5) * size, "target");
        for (int h = 0; h < heads->n_heads; h++) {
            const size_t which = (size_t)l * (size_t)heads->n_heads + (size_t)h;
            hd_scene_group(scene, "matrix");
            hd_cells_draw(scene,
                          &(struct hd_cells){.rows = &rows,
                                             .columns = &columns,
                                             .weights = heads->weights + which * (size_t)w->n_rows *
                                                                             (size_t)w->n_columns,
                                             .x = left + h * step_x,
                                             .y = top + l * step_y,
                                             .size = size,
                                             .has_tooltips = n_cells <= HD_MOST_TOOLTIPS});
            hd_scene_group_end(scene);
        }
    }
    const double bottom = top + heads->n_layers * step_y;
    const double scale = hd_scale_draw(scene, left, bottom, false);
    hd_scene_extend(scene, left + heads->n_heads * step_x - GAP + HD_MARGIN,
                    bottom + HD_SCALE_HEIGHT + HD_MARGIN);
    hd_scene_extend(scene, left + scale + HD_MARGIN, 0);
}
