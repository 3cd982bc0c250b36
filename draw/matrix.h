/* matrix.h -- cells shaded by weight, with a tooltip each: the part that one matrix and a page
 * of heads share. */
#ifndef HD_DRAW_MATRIX_H
#define HD_DRAW_MATRIX_H

#include "draw/word_row.h"

/* Cells with tooltips in one picture; more would make a file that no browser opens with
 * pleasure. */
enum { HD_MOST_TOOLTIPS = 20000 };

struct hd_cells {
    const struct hd_word_row *rows, *columns;
    const float *weights; /* [rows][columns] */
    double x, y;          /* upper left corner */
    double size;          /* of a cell; from 10 on there is a gap of 1 between cells */
    bool has_tooltips;
};

void hd_cells_draw(struct hd_scene *scene, const struct hd_cells *cells);

/* One cell; `column` is what the tooltip calls it, NULL for no tooltip. */
void hd_cell_draw(struct hd_scene *scene, const struct hd_cells *cells, int row, double x,
                  float weight, const char *name, const char *column);

/* What the shades mean, from 0 to 1, at (x, y); with a link's mark if there are links. Returns
 * its width; it is HD_SCALE_HEIGHT high. */
enum { HD_SCALE_HEIGHT = 14 };
double hd_scale_draw(struct hd_scene *scene, double x, double y, bool has_links);

/* The frame that marks a hard link around a cell. */
void hd_link_mark(struct hd_scene *scene, double x, double y, double size);

#endif
