/* attention.c -- one sentence's attention: the matrix with its words, and two rows of words joined
 * by lines.
 *
 * The matrix stands as papers print it: source words along the top, target words down the left
 * side. Cells shrink with the number of words, from 30 units to 13, and no further: a long
 * sentence gets a larger page instead of letters that cannot be read. */
#include "draw/layout.h"
#include "draw/matrix.h"

static const char end_label[] = "end"; /* of the column for the source's end marker */
enum { END_GAP = 7, WIDEST_WORD = 180 };

static double fit(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

/* ---- whose words these are ---- */

enum { SIDE_ROOM = 18 };
static const struct hd_font side_font = {.size = 12};

static void name_side(struct hd_scene *scene, const char *text, double x, double y, double angle,
                      enum hd_anchor anchor)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                         .name = "side",
                                         .x = x,
                                         .y = y,
                                         .fill = hd_theme.muted,
                                         .font = side_font,
                                         .anchor = anchor,
                                         .angle = angle,
                                         .text = text});
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static void mark_links(struct hd_scene *scene, const heed_picture_attention *a,
                       const struct hd_cells *cells)
{
    for (int i = 0; i < a->n_links; i++)
        hd_link_mark(scene, cells->x + a->links[i].column * cells->size,
                     cells->y + a->links[i].row * cells->size, cells->size);
}

static void draw_end_column(struct hd_scene *scene, const heed_picture_attention *a,
                            const struct hd_cells *cells)
{
    const double x = cells->x + cells->columns->n * cells->size + END_GAP;
    for (int r = 0; r < cells->rows->n; r++)
        hd_cell_draw(scene, cells, r, x, a->end[r], "end-cell",
                     cells->has_tooltips ? end_label : NULL);
    struct hd_word_row end = *cells->columns;
    struct hd_label label = hd_scene_label(scene, end_label, end.font, WIDEST_WORD);
    label.color = hd_theme.muted;
    end.labels = &label;
    hd_word_row_above(scene, &end, 0, x + cells->size / 2, cells->y - 4, "end");
}

/* Returns where it ends below. */
static double draw_matrix(struct hd_scene *scene, const heed_picture_attention *a, double y)
{
    const heed_picture_words *w = &a->words;
    const int n = w->n_rows > w->n_columns ? w->n_rows : w->n_columns;
    const double size = (double)(int)fit(720.0 / n, 13, 30);
    const struct hd_font font = {.size = fit(size * 0.62, 10, 15)};
    const struct hd_word_row rows =
        hd_word_row_measure(scene, w->rows, w->n_rows, font, WIDEST_WORD);
    struct hd_word_row columns =
        hd_word_row_measure(scene, w->columns, w->n_columns, font, WIDEST_WORD);
    hd_word_row_turn(&columns, size);
    const struct hd_cells cells = {.rows = &rows,
                                   .columns = &columns,
                                   .weights = a->weights,
                                   .x = (double)(int)(HD_MARGIN + SIDE_ROOM + rows.widest + 8),
                                   .y = (double)(int)(y + SIDE_ROOM + columns.height + 8),
                                   .size = size,
                                   .has_tooltips = rows.n * columns.n <= HD_MOST_TOOLTIPS};
    hd_scene_group(scene, "matrix");
    name_side(scene, "source", cells.x, y + side_font.size, 0, HD_LEFT);
    name_side(scene, "target", HD_MARGIN + side_font.size, cells.y + rows.n * size / 2, -90,
              HD_MIDDLE);
    hd_cells_draw(scene, &cells);
    for (int c = 0; c < columns.n; c++)
        hd_word_row_above(scene, &columns, c, cells.x + (c + 0.5) * size, cells.y - 4, "source");
    for (int r = 0; r < rows.n; r++)
        hd_label_beside(scene, &rows.labels[r], font, cells.x - 7, cells.y + (r + 0.5) * size,
                        "target");
    double right = cells.x + columns.n * size;
    if (a->end) {
        draw_end_column(scene, a, &cells);
        right += END_GAP + size;
    }
    mark_links(scene, a, &cells);
    hd_scene_group_end(scene);
    const double bottom = cells.y + rows.n * size + 12;
    const double scale = hd_scale_draw(scene, cells.x, bottom, a->n_links > 0);
    hd_scene_extend(scene, cells.x + scale + HD_MARGIN, 0);
    hd_scene_extend(scene, right + columns.overhang + HD_MARGIN, 0);
    return bottom + HD_SCALE_HEIGHT;
}

/* ---- two rows of words ----------------------------------------------------------------------- */

enum { WIDEST_ROW = 1000, WORD_GAP = 20, WIDEST_GAP = 56, LINES_HEIGHT = 130 };

/* Where the middle of each word is, from the left edge of the row, and how wide the row is. */
struct row {
    struct hd_word_row words;
    double *middle;
    double width;
};

static double width_side_by_side(const struct hd_word_row *words, double gap)
{
    double width = words->n > 0 ? (words->n - 1) * gap : 0;
    for (int i = 0; i < words->n; i++)
        width += words->labels[i].width;
    return width;
}

/* Words upright, as far apart as makes the row `width` wide, but not torn apart. */
static void place_upright(struct row *row, double width)
{
    const struct hd_word_row *words = &row->words;
    const double room = width - width_side_by_side(words, 0);
    const double gap = words->n > 1 ? fit(room / (words->n - 1), WORD_GAP, WIDEST_GAP) : 0;
    double at = 0;
    for (int i = 0; i < words->n; i++) {
        row->middle[i] = at + words->labels[i].width / 2;
        at += words->labels[i].width + gap;
    }
    row->width = at - gap;
}

static void place_turned(struct row *row, double width)
{
    const int n = row->words.n;
    const double least = row->words.font.size * 1.5;
    const double pitch = n > 1 ? fit(width / (n - 1), least, 3 * least) : 0;
    for (int i = 0; i < n; i++)
        row->middle[i] = i * pitch;
    row->width = n > 1 ? (n - 1) * pitch : 0;
    hd_word_row_turn(&row->words, pitch);
    if (row->words.angle == 0) /* a row is turned as a whole or not at all */
        row->words.height = 1.3 * row->words.font.size;
}

static void draw_line(struct hd_scene *scene, const char *tooltip, double weight, bool is_hard,
                      double from, double to, double top, double bottom)
{
    double *p = hd_scene_numbers(scene, 8);
    if (!p)
        return;
    const double half = (top + bottom) / 2;
    const double points[8] = {from, top, from, half, to, half, to, bottom};
    for (int i = 0; i < 8; i++)
        p[i] = points[i];
    hd_scene_add(scene, (struct hd_mark){.kind = HD_CURVE,
                                         .name = is_hard ? "link hard" : "link",
                                         .tooltip = tooltip,
                                         .points = p,
                                         .n_points = 4,
                                         .stroke = is_hard ? hd_theme.link : hd_theme.series[0],
                                         .stroke_width = 0.5 + 6 * fit(weight, 0, 1),
                                         .opacity = fit(0.15 + 0.75 * weight, 0.15, 0.9)});
}

static bool is_linked(const heed_picture_attention *a, int row, int column)
{
    for (int i = 0; i < a->n_links; i++)
        if (a->links[i].row == row && a->links[i].column == column)
            return true;
    return false;
}

/* Lines fainter than this are left out: they would be a grey cloud. */
#define FAINTEST 0.03F

/* `hard` chooses which are drawn: those of hard links lie above the others. */
static void draw_lines(struct hd_scene *scene, const heed_picture_attention *a,
                       const struct row *source, const struct row *target, double x[2], double y[2],
                       bool hard)
{
    const int n_words = a->words.n_columns, n_columns = source->words.n;
    for (int r = 0; r < target->words.n; r++)
        for (int c = 0; c < n_columns; c++) {
            const float weight =
                c < n_words ? a->weights[(size_t)r * (size_t)n_words + (size_t)c] : a->end[r];
            const bool is_hard = is_linked(a, r, c);
            if (is_hard != hard || (weight < FAINTEST && !is_hard))
                continue;
            const char *tooltip =
                hd_scene_print(scene, "%s \xe2\x86\x90 %s  %s", target->words.labels[r].whole,
                               source->words.labels[c].whole, hd_scene_number(scene, weight, 2));
            draw_line(scene, tooltip, weight, is_hard, x[0] + source->middle[c],
                      x[1] + target->middle[r], y[0], y[1]);
        }
}

/* The source's words and, if asked for, its end marker. */
static const char *const *with_end(struct hd_scene *scene, const heed_picture_attention *a)
{
    const int n = a->words.n_columns;
    if (!a->end)
        return a->words.columns;
    const char **all = hd_take(&scene->arena, ((size_t)n + 1) * sizeof *all);
    if (!all) {
        scene->has_failed = true;
        return NULL;
    }
    for (int i = 0; i < n; i++)
        all[i] = a->words.columns[i];
    all[n] = end_label;
    return all;
}

static double draw_rows(struct hd_scene *scene, const heed_picture_attention *a, double y)
{
    const struct hd_font font = {.size = a->words.n_columns > 40 || a->words.n_rows > 40 ? 11 : 15};
    const char *const *columns = with_end(scene, a);
    if (!columns)
        return y;
    struct row source = {.words = hd_word_row_measure(scene, columns,
                                                      a->words.n_columns + (a->end != NULL), font,
                                                      WIDEST_WORD)};
    struct row target = {
        .words = hd_word_row_measure(scene, a->words.rows, a->words.n_rows, font, WIDEST_WORD)};
    source.middle = hd_scene_numbers(scene, (size_t)source.words.n);
    target.middle = hd_scene_numbers(scene, (size_t)target.words.n);
    if (scene->has_failed)
        return y;
    if (a->end)
        source.words.labels[a->words.n_columns].color = hd_theme.muted;
    const double s = width_side_by_side(&source.words, WORD_GAP);
    const double t = width_side_by_side(&target.words, WORD_GAP);
    const bool is_upright = s <= WIDEST_ROW && t <= WIDEST_ROW;
    double before = 0; /* slanted words reach out to the left below, to the right above */
    if (is_upright) {
        source.words.height = target.words.height = 1.3 * font.size;
        place_upright(&source, s > t ? s : t);
        place_upright(&target, s > t ? s : t);
    } else {
        const int n = source.words.n > target.words.n ? source.words.n : target.words.n;
        const double width = n * (n > 40 ? 1.5 : 1.8) * font.size;
        place_turned(&source, width);
        place_turned(&target, width);
        before = target.words.angle == 45 ? target.words.height : font.size;
    }
    const double width = source.width > target.width ? source.width : target.width;
    const double left = HD_MARGIN + before;
    double x[2] = {left + (width - source.width) / 2, left + (width - target.width) / 2};
    double lines[2] = {y + SIDE_ROOM + source.words.height + 6, 0};
    lines[1] = lines[0] + LINES_HEIGHT;
    const double foot = lines[1] + target.words.height + 8;
    hd_scene_group(scene, "links");
    name_side(scene, "source", left, y + side_font.size, 0, HD_LEFT);
    name_side(scene, "target", left, foot + side_font.size, 0, HD_LEFT);
    draw_lines(scene, a, &source, &target, x, lines, false);
    draw_lines(scene, a, &source, &target, x, lines, true);
    for (int c = 0; c < source.words.n; c++) {
        const bool is_end = c == a->words.n_columns;
        hd_word_row_above(scene, &source.words, c, x[0] + source.middle[c], lines[0] - 4,
                          is_end ? "end" : "source");
    }
    for (int r = 0; r < target.words.n; r++)
        hd_word_row_below(scene, &target.words, r, x[1] + target.middle[r], lines[1] + 4, "target");
    hd_scene_group_end(scene);
    hd_scene_extend(scene, left + width + font.size + source.words.overhang + HD_MARGIN, 0);
    return foot + SIDE_ROOM;
}

void hd_layout_attention(struct hd_scene *scene, const heed_picture_attention *a)
{
    double y = hd_layout_title(scene);
    if (a->words.n_rows == 0 || a->words.n_columns == 0) {
        const struct hd_font font = {.size = 15};
        hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                             .name = "empty",
                                             .x = HD_MARGIN,
                                             .y = hd_baseline(y + 12, font),
                                             .fill = hd_theme.muted,
                                             .font = font,
                                             .text = "no words"});
        hd_scene_extend(scene, 240, y + 24 + HD_MARGIN);
        return;
    }
    if (a->style != HEED_DRAW_LINES)
        y = draw_matrix(scene, a, y) + (a->style == HEED_DRAW_BOTH ? 28 : 0);
    if (a->style != HEED_DRAW_MATRIX)
        y = draw_rows(scene, a, y);
    hd_scene_extend(scene, 0, y + HD_MARGIN);
}
