/* scene.h -- a picture as a list of marks: rectangles, circles, lines, curves, texts, in the order
 * they are painted.
 *
 * Units are CSS pixels, y goes down. Whoever draws into a scene needs no ifs: when memory runs
 * out the scene is marked as failed, later marks are left out, and the caller asks once at the
 * end. Strings and points belong to the scene (its arena) or to the program. */
#ifndef HD_DRAW_SCENE_H
#define HD_DRAW_SCENE_H

#include "draw/pen.h"
#include "draw/theme.h"

enum hd_mark_kind {
    HD_RECT,
    HD_CIRCLE,
    HD_LINE,
    HD_CURVE,
    HD_AREA,
    HD_TEXT,
    HD_GROUP,
    HD_GROUP_END
};
enum hd_anchor { HD_LEFT, HD_MIDDLE, HD_RIGHT };

struct hd_mark {
    enum hd_mark_kind kind;
    const char *name;    /* what it is, SVG's class; may be NULL */
    const char *tooltip; /* or NULL */
    double x, y, w,
        h; /* rectangle; middle of a circle, its radius is w; where a text is anchored */
    const double
        *points; /* x and y in turn: of a line, of a curve (4 points, Bézier), of an area */
    int n_points;
    hd_color fill, stroke;
    double stroke_width;
    double opacity; /* 0 is 1 */
    bool is_dashed;
    const char *text;
    struct hd_font font;
    enum hd_anchor anchor; /* which part of the text is at x; y is its baseline */
    double angle;          /* of a text, in degrees, clockwise around x, y */
};

struct hd_scene {
    hd_color paper;  /* the ground */
    bool has_pixels; /* colours of a photograph, which are the same on every page */
    struct hd_pen pen;
    struct hd_arena arena;
    struct hd_mark *marks;
    size_t n_marks, capacity;
    double width, height; /* of the page; grows with hd_scene_extend() */
    const char *title;    /* clean, "" when there is none */
    bool has_failed;      /* no memory */
};

/* False with the reason in `err`; the scene is then to be released all the same. */
bool hd_scene_init(struct hd_scene *scene, const char *title, heed_error *err);
void hd_scene_release(struct hd_scene *scene);

void hd_scene_add(struct hd_scene *scene, struct hd_mark mark);
void hd_scene_extend(struct hd_scene *scene, double width, double height);

/* All that there is becomes what it is on a dark page. */
void hd_scene_darken(struct hd_scene *scene);

/* What belongs together in the file, as <g class="name">. */
void hd_scene_group(struct hd_scene *scene, const char *name);
void hd_scene_group_end(struct hd_scene *scene);

/* A text made by printf that lives as long as the scene; no floating point, whose commas differ
 * between countries. "" when there is no memory. */
const char *hd_scene_print(struct hd_scene *scene, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `value` with this many decimals, "-0" as "0". */
const char *hd_scene_number(struct hd_scene *scene, double value, int decimals);

/* Room for n numbers. NULL, and the scene failed, when there is no memory. */
double *hd_scene_numbers(struct hd_scene *scene, size_t n);

/* A label: cut to `most` units if it is wider, with the whole text as its tooltip. */
struct hd_label {
    const char *text, *whole; /* the same when it was not cut */
    double width;
    hd_color color; /* 0: the theme's ink */
};
struct hd_label hd_scene_label(struct hd_scene *scene, const char *text, struct hd_font font,
                               double most);

/* Where the baseline of a text is whose middle is at y. */
double hd_baseline(double y, struct hd_font font);

#endif
