/* pen.h -- words measured and shaped by pango. A pen belongs to one thread. */
#ifndef HD_DRAW_PEN_H
#define HD_DRAW_PEN_H

#include <heed.h>
#include <pango/pangocairo.h>

#include "base/arena.h"

/* The families asked for, by pango and in SVG; what they lack is taken from any other font. */
#define HD_FONTS "Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif"

struct hd_font {
    double size; /* in the picture's units */
    bool is_bold;
};

struct hd_pen {
    PangoContext *context;
    PangoLayout *layout;
    PangoFontDescription *description;
};

/* False with HEED_BAD_FILE in `err` when this machine has no fonts; the pen is then {0}. */
bool hd_pen_init(struct hd_pen *pen, heed_error *err);
void hd_pen_release(struct hd_pen *pen);

/* A copy of `text` that is UTF-8 and has no control characters: those become their pictures
 * (U+2400...), line ends spaces, bytes that are no character U+FFFD. NULL text is "". NULL when
 * there is no memory. */
const char *hd_clean(struct hd_arena *arena, const char *text);

/* The rest is for clean text. */
double hd_text_width(struct hd_pen *pen, const char *text, struct hd_font font);
bool hd_text_is_rtl(struct hd_pen *pen, const char *text);

/* `text`, or, when it is wider than `width`, as much of its beginning as fits with "…" after it,
 * cut where a cursor could stand. NULL when there is no memory. */
const char *hd_text_fit(struct hd_pen *pen, struct hd_arena *arena, const char *text,
                        struct hd_font font, double width);

/* Let the pen's layout hold this text. */
void hd_pen_set(struct hd_pen *pen, const char *text, struct hd_font font);

#endif
