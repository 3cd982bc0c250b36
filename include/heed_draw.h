/* heed_draw.h -- pictures from plain arrays: attention as a matrix and as lines, all heads of a
 * Transformer, learning curves, bars; as SVG, PNG, PDF or TikZ, and attention as characters for a
 * terminal.
 *
 * Nothing here knows of models: whoever has words and weights can draw them. Words are UTF-8 of any
 * script; each is shaped as its script wants, and one too long for its place is cut with "…" (an
 * SVG has it whole as a tooltip). What is no UTF-8, and control characters, are shown as signs that
 * say so.
 *
 * All four need cairo and pango, which are loaded when the first picture is asked for and
 * not before (the module heed_draw.so); characters for a terminal need nothing.
 *
 * The same picture on the same machine is the same bytes. Other fonts give other widths, and so
 * other bytes.
 *
 *     const char *src[] = {"I", "love", "my", "cat."}, *tgt[] = {"J'aime", "mon", "chat."};
 *     const float weights[] = {.52F, .43F, .01F, .02F,  0, .02F, .97F, 0,  0, 0, .03F, .95F};
 *     const heed_picture_attention attention = {
 *         .words = {.rows = tgt, .n_rows = 3, .columns = src, .n_columns = 4}, .weights = weights};
 *     if (!heed_draw(&(heed_picture){.attention = &attention}, "cat.svg", &err))
 *         fprintf(stderr, "%s\n", err.message); */
#ifndef HEED_DRAW_H
#define HEED_DRAW_H

#include <heed.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The words on the margins of a matrix: target words are rows, source words are columns. Up to
 * 300 each. */
typedef struct heed_picture_words {
    const char *const *rows;
    int n_rows;
    const char *const *columns;
    int n_columns;
} heed_picture_words;

/* A hard link between two words, counted from 0. */
typedef struct heed_picture_link {
    int column, row;
} heed_picture_link;

enum heed_attention_style {
    HEED_DRAW_BOTH,   /* the matrix, and below it the lines */
    HEED_DRAW_MATRIX, /* a cell per pair of words: darker is more; on a dark page, brighter */
    HEED_DRAW_LINES,  /* two rows of words joined by lines, the thicker the more */
};

/* Who attends to whom. Weights are from 0 to 1 (0.001 more or less is taken as rounding). */
typedef struct heed_picture_attention {
    heed_picture_words words;
    const float *weights; /* [n_rows][n_columns] */
    const float *end; /* [n_rows]: the share of the source's end marker, a last column; or NULL */
    const heed_picture_link *links; /* cells to be marked, or NULL */
    int n_links;
    enum heed_attention_style style;
} heed_picture_attention;

/* The attention of a translation as something to draw, with these links marked, such as the
 * translation's own. Points into the result, which must outlive it. To be given to heed_free();
 * NULL with the reason in `err` (HEED_BAD_OPTION: there is no attention; HEED_NO_MEMORY). */
HEED_API heed_picture_attention *heed_result_picture(const heed_result *result,
                                                     const heed_translation *translation,
                                                     const heed_link *links, size_t n_links,
                                                     heed_error *err);

/* A page of small matrices, a row of them per layer. Layers are numbered from 1 and heads from 0, as everywhere. At most
 * 200,000 cells in all. */
typedef struct heed_picture_heads {
    heed_picture_words words;
    const float *weights; /* [n_layers][n_heads][n_rows][n_columns] */
    int n_layers, n_heads;
} heed_picture_heads;

/* What a model looked at while it said words: of sound the attention of each word below the spectrogram, over seconds; of a picture the
 * picture once more for each word, clear where it was looked at. */
typedef struct heed_picture_view {
    const char *const *words;
    int n_words;                 /* up to 300 */
    const float *weights;        /* [n_words][n_positions], from 0 to 1 */
    int n_positions;             /* up to 100,000; of a picture grid_rows × grid_columns */
    const float *seen;           /* sound: [n_rows] frames of [n_columns] bands; a picture:
                                    [n_rows][n_columns][3], red, green and blue from 0 to 1 */
    int n_rows, n_columns;       /* of a picture up to 256 each */
    double seconds;              /* of all frames; 0: not known */
    int grid_rows, grid_columns; /* of a picture's patches; 0 of sound */
    const heed_heard *heard;     /* of sound, [n_words]: the first and the last position at which
                                    CTC hears each word, a bar below its attention; or NULL */
} heed_picture_view;

/* The same of a translation by a model that reads vectors. Points into the result, which must outlive it. To be given to heed_free(); NULL with
 * the reason in `err` (HEED_BAD_OPTION: there is no attention, or nothing that could be looked at). */
HEED_API heed_picture_view *heed_result_view(const heed_result *result,
                                             const heed_translation *translation, heed_error *err);

/* A line of a chart. {0} is a line without points. Two points at one x, at the panel's y_least and its y_most, are a rule: drawn dashed in the
 * grey of the axes, its name beside it and not in the legend. Rules stand after the lines. */
typedef struct heed_picture_series {
    const char *name;
    const double *x, *y; /* [n] */
    int n;
    const double *low, *high; /* [n]: a band around the line, or both NULL */
    bool has_best;            /* mark point number `best`, */
    int best;                 /* counted from 0, with its value */
} heed_picture_series;

typedef struct heed_picture_panel {
    const char *y_label;
    const heed_picture_series *series;
    int n_series; /* up to 32 */
    double y_least,
        y_most; /* what the axis shows; both 0: all there is. Lines are cut where they leave it. */
} heed_picture_panel;

/* Lines over one x axis, in panels one above the other: learning curves, scores against sizes. */
typedef struct heed_picture_chart {
    const char *x_label;
    const heed_picture_panel *panels;
    int n_panels; /* 1 to 8 */
} heed_picture_chart;

/* Groups of bars, a bar per series in each: scores by sentence length for several models. */
typedef struct heed_picture_bars {
    const char *x_label, *y_label;
    const char *const *groups; /* what stands under each group: "1–10" */
    int n_groups;              /* up to 100 */
    const int *counts; /* [n_groups]: how many a group has, written below it; 0: no bars; or NULL */
    const char *const *series; /* a name each */
    int n_series;              /* up to 32 */
    const double *values;      /* [n_series][n_groups] */
    const double *low, *high;  /* the same: confidence intervals, or both NULL */
} heed_picture_bars;

/* A picture: exactly one of the pointers is set. Everything is borrowed during the call only. */
typedef struct heed_picture {
    const char *title; /* above it all, or NULL */
    bool is_dark;      /* light on dark; default false: dark on light, but an SVG is shown light on
                          dark to readers who prefer that, unless it shows a photograph */
    const heed_picture_attention *attention;
    const heed_picture_heads *heads;
    const heed_picture_chart *chart;
    const heed_picture_bars *bars;
    const heed_picture_view *view;
} heed_picture;

/* Draw into a file, whole or not at all; what kind of file its ending says: .svg, .png (two pixels
 * per unit, for sharp screens; fewer when it would have more than 60 million), .pdf (fonts
 * embedded) or .tex (TikZ, to be \input into a paper; texts are in the fonts of the paper).
 *
 * False with the reason in `err`: HEED_BAD_OPTION (another ending, too many words, a number that
 * is not finite or a weight that is none), HEED_BAD_FILE (the module or cairo is missing, no
 * fonts, the file cannot be written, or another file has its name), HEED_NO_MEMORY. Threads may draw at the same time. */
HEED_API bool heed_draw(const heed_picture *picture, const char *path, heed_error *err);

/* May heed_draw() write there? A picture that heed has drawn is replaced; nothing else is: then HEED_BAD_FILE with the
 * reason. To be asked before something is made that takes long. */
HEED_API bool heed_draw_may_write(const char *path, heed_error *err);

/* The same into memory, to be given to heed_free(); `format` is "svg", "png", "pdf" or "tex", *size
 * the number of bytes (a zero follows them). NULL with the reason in `err`. */
HEED_API char *heed_draw_bytes(const heed_picture *picture, const char *format, size_t *size,
                               heed_error *err);

/* How heed_draw_text() draws. */
typedef struct heed_text_options {
    int width;       /* columns of the terminal; 0 is 80 */
    bool has_colors; /* 256 colours as background; default false: the characters " .:-=+*#%@" */
} heed_text_options;

/* Attention as characters, lines that end in newlines, to be given to heed_free(): a row per
 * target word, a column per source word. Wide (CJK) characters and combining marks are counted
 * as terminals do, words keep their place whatever their direction, and none can send commands
 * to the terminal. What is too wide is cut into panels, one below the other. `style` is ignored,
 * `options` may be NULL. NULL with the reason in `err`. */
HEED_API char *heed_draw_text(const heed_picture_attention *attention,
                              const heed_text_options *options, heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
