/* view.c -- what was looked at while words were said: the attention of each word below a spectrogram, over seconds, and where CTC hears it; or
 * the picture once per word, the patches that were looked at clear and the others pale. */
#include "draw/axis.h"
#include "draw/layout.h"

enum {
    SOUND_WIDTH = 720,
    SOUND_HEIGHT = 160,
    LANE = 22,
    BAR = 5,
    PANEL_GAP = 16,
    MOST_CELLS_WIDE = 240
};

static const struct hd_font word_font = {.size = 13};

/* A pixel is the same on every page. */
static hd_color rgb_of(double r, double g, double b)
{
    const unsigned red = (unsigned)(r * 255 + 0.5), green = (unsigned)(g * 255 + 0.5),
                   blue = (unsigned)(b * 255 + 0.5);
    const hd_color color = 0xff000000U | red << 16 | green << 8 | blue;
    return color << 32 | color;
}

static void cell(struct hd_scene *scene, const char *name, double x, double y, double w, double h,
                 hd_color color)
{
    hd_scene_add(scene,
                 (struct hd_mark){
                     .kind = HD_RECT, .name = name, .x = x, .y = y, .w = w, .h = h, .fill = color});
}

static void word(struct hd_scene *scene, const char *text, double x, double y,
                 enum hd_anchor anchor, double most)
{
    const struct hd_label label = hd_scene_label(scene, text, word_font, most);
    hd_scene_add(scene, (struct hd_mark){.kind = HD_TEXT,
                                         .name = "target",
                                         .x = x,
                                         .y = y,
                                         .fill = hd_theme.ink,
                                         .font = word_font,
                                         .anchor = anchor,
                                         .text = label.text});
}

/* ---- sound ---------------------------------------------------------------------------------------- */

/* The mean of some frames in a band. */
static double band_of(const heed_picture_view *v, int from, int to, int band)
{
    double sum = 0;
    for (int t = from; t < to; t++)
        sum += (double)v->seen[(size_t)t * (size_t)v->n_columns + (size_t)band];
    return sum / (to - from);
}

static void draw_spectrogram(struct hd_scene *scene, const heed_picture_view *v, double left,
                             double top)
{
    const int n = v->n_rows < MOST_CELLS_WIDE ? v->n_rows : MOST_CELLS_WIDE, bands = v->n_columns;
    double least = 0, most = 0;
    for (long long i = 0; i < (long long)v->n_rows * bands; i++) {
        const double x = (double)v->seen[i];
        least = i == 0 || x < least ? x : least;
        most = i == 0 || x > most ? x : most;
    }
    const double w = (double)SOUND_WIDTH / n, h = (double)SOUND_HEIGHT / bands;
    hd_scene_group(scene, "spectrogram");
    for (int t = 0; t < n; t++)
        for (int b = 0; b < bands; b++) {
            const int from = (int)((long long)t * v->n_rows / n),
                      to = (int)((long long)(t + 1) * v->n_rows / n);
            const double x = band_of(v, from, to, b),
                         share = most > least ? (x - least) / (most - least) : 0;
            cell(scene, "band", left + t * w, top + SOUND_HEIGHT - (b + 1) * h, w + 0.3, h + 0.3,
                 hd_mix_colors(hd_theme.paper, hd_theme.ink, share * share));
        }
    hd_scene_group_end(scene);
}

static void draw_seconds(struct hd_scene *scene, const heed_picture_view *v, double left,
                         double bottom)
{
    struct hd_axis x = hd_axis_make(0, v->seconds > 0 ? v->seconds : v->n_rows, 8, true);
    x.from = left;
    x.to = left + SOUND_WIDTH;
    hd_axis_draw_x(scene, &x, bottom);
    hd_axis_label(scene, v->seconds > 0 ? "seconds" : "vectors", "axis", left + SOUND_WIDTH / 2.,
                  bottom + 36, HD_MIDDLE, hd_theme.ink);
}

/* Where CTC hears each word, at the foot of its lane; and what is what. Returns where it ends below. */
static double draw_heard(struct hd_scene *scene, const heed_picture_view *v, double left,
                         double lanes, double bottom)
{
    static const char *const names[] = {"attention", "CTC"};
    const double w = (double)SOUND_WIDTH / v->n_positions;
    if (!v->heard)
        return bottom + 44;
    hd_scene_group(scene, "heard");
    for (int i = 0; i < v->n_words; i++)
        if (v->heard[i].first >= 0)
            cell(scene, "bar", left + v->heard[i].first * w, lanes + (i + 1) * LANE - 2 - BAR,
                 (v->heard[i].last - v->heard[i].first + 1) * w, BAR, hd_series_color(1));
    hd_scene_group_end(scene);
    return hd_legend_draw(
        scene, &(struct hd_legend){
                   .names = names, .n = 2, .x = left, .y = bottom + 44, .width = SOUND_WIDTH});
}

static void layout_sound(struct hd_scene *scene, const heed_picture_view *v)
{
    const double top = hd_layout_title(scene), left = HD_MARGIN + 110;
    const double lanes = top + SOUND_HEIGHT + 10, bottom = lanes + v->n_words * LANE;
    const double w = (double)SOUND_WIDTH / (v->n_positions > 0 ? v->n_positions : 1);
    draw_spectrogram(scene, v, left, top);
    draw_seconds(scene, v, left, bottom);
    hd_scene_group(scene, "attention");
    for (int i = 0; i < v->n_words; i++) {
        word(scene, v->words[i], left - 8, hd_baseline(lanes + (i + 0.5) * LANE, word_font),
             HD_RIGHT, 100);
        for (int j = 0; j < v->n_positions; j++) {
            const double weight =
                (double)v->weights[(size_t)i * (size_t)v->n_positions + (size_t)j];
            if (weight >= 0.005)
                cell(scene, "weight", left + j * w, lanes + i * LANE + 2, w, LANE - 4,
                     hd_mix_colors(hd_theme.paper, hd_series_color(0), 0.15 + weight));
        }
    }
    hd_scene_group_end(scene);
    const double end = draw_heard(scene, v, left, lanes, bottom);
    hd_scene_extend(scene, left + SOUND_WIDTH + HD_MARGIN, end + HD_MARGIN);
}

/* ---- pictures ------------------------------------------------------------------------------------- */

/* How much of a pixel is shown: a patch that has all of the largest weight entirely, one without any hardly. */
static double clearness(const heed_picture_view *v, const float *weights, int y, int x)
{
    double most = 0;
    for (int j = 0; j < v->n_positions; j++)
        most = (double)weights[j] > most ? (double)weights[j] : most;
    const int row = y * v->grid_rows / v->n_rows, column = x * v->grid_columns / v->n_columns;
    const double weight = (double)weights[row * v->grid_columns + column];
    return most > 0 ? 0.15 + 0.85 * weight / most : 0.15;
}

static void draw_panel(struct hd_scene *scene, const heed_picture_view *v, const float *weights,
                       double left, double top, double pixel)
{
    for (int y = 0; y < v->n_rows; y++)
        for (int x = 0; x < v->n_columns; x++) {
            const float *c = v->seen + ((size_t)y * (size_t)v->n_columns + (size_t)x) * 3;
            const hd_color color = rgb_of((double)c[0], (double)c[1], (double)c[2]);
            const double clear = weights ? clearness(v, weights, y, x) : 1;
            cell(scene, "pixel", left + x * pixel, top + y * pixel, pixel + 0.3, pixel + 0.3,
                 hd_mix_colors(hd_theme.paper, color, clear));
        }
}

/* The lightest frame that tells where a picture ends, and the patch that was looked at most. */
static void frame(struct hd_scene *scene, double x, double y, double w, double h, hd_color color,
                  double width)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_RECT,
                                         .name = "frame",
                                         .x = x,
                                         .y = y,
                                         .w = w,
                                         .h = h,
                                         .stroke = color,
                                         .stroke_width = width});
}

static void layout_picture(struct hd_scene *scene, const heed_picture_view *v)
{
    scene->has_pixels = true;
    const double top = hd_layout_title(scene);
    const int longest = v->n_rows > v->n_columns ? v->n_rows : v->n_columns;
    const double pixel = 132. / longest, wide = pixel * v->n_columns, high = pixel * v->n_rows;
    const int n = v->n_words + 1, per_row = n < 6 ? n : 6;
    for (int i = 0; i < n; i++) {
        const int line = i / per_row;
        const double x = HD_MARGIN + i % per_row * (wide + PANEL_GAP),
                     y = top + line * (high + 22 + PANEL_GAP);
        const float *weights = i > 0 ? v->weights + (size_t)(i - 1) * (size_t)v->n_positions : NULL;
        hd_scene_group(scene, "panel");
        draw_panel(scene, v, weights, x, y, pixel);
        int best = 0;
        for (int j = 0; weights && j < v->n_positions; j++)
            best = weights[j] > weights[best] ? j : best;
        frame(scene, x, y, wide, high, hd_theme.grid, 1);
        const int row = weights ? best / v->grid_columns : 0;
        if (weights)
            frame(scene, x + best % v->grid_columns * wide / v->grid_columns,
                  y + row * high / v->grid_rows, wide / v->grid_columns, high / v->grid_rows,
                  hd_series_color(0), 2);
        if (weights)
            word(scene, v->words[i - 1], x + wide / 2, y + high + 16, HD_MIDDLE, wide);
        hd_scene_group_end(scene);
        hd_scene_extend(scene, x + wide + HD_MARGIN, y + high + 22 + HD_MARGIN);
    }
}

void hd_layout_view(struct hd_scene *scene, const heed_picture_view *view)
{
    (view->grid_columns > 0 ? layout_picture : layout_sound)(scene, view);
}
