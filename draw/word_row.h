/* words.h -- rows of words along the edges of a picture, upright if they fit and slanted or
 * turned if not. */
#ifndef HD_DRAW_WORD_ROW_H
#define HD_DRAW_WORD_ROW_H

#include "draw/scene.h"

/* Labels in a row; {0} is none. */
struct hd_word_row {
    struct hd_label *labels;
    int n;
    struct hd_font font;
    double widest;
    double angle;    /* 0, 45 or 90 degrees, rising to the right */
    double height;   /* what they take above or below their edge */
    double overhang; /* how far past the place of the last word the row reaches */
};

/* Measure words[0..n), none wider than `most`. */
struct hd_word_row hd_word_row_measure(struct hd_scene *scene, const char *const *words, int n,
                                       struct hd_font font, double most);

/* Choose the angle at which they stand `pitch` apart without touching. */
void hd_word_row_turn(struct hd_word_row *words, double pitch);

/* The i-th word above an edge at y, or hanging from it; its middle, or where it turns, is at x. */
void hd_word_row_above(struct hd_scene *scene, const struct hd_word_row *words, int i, double x,
                       double y, const char *name);
void hd_word_row_below(struct hd_scene *scene, const struct hd_word_row *words, int i, double x,
                       double y, const char *name);

/* A label whose right end is at x, its middle at y. */
void hd_label_beside(struct hd_scene *scene, const struct hd_label *label, struct hd_font font,
                     double x, double y, const char *name);

/* One at any place and angle. */
void hd_label_put(struct hd_scene *scene, const struct hd_label *label, struct hd_mark mark);

#endif
