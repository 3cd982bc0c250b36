/* theme.h -- colours, for light pages and dark ones.
 *
 * Weights are shades of one hue whose lightness only rises or only falls, so they are told apart
 * by everyone and in grey print; lines and bars take Okabe and Ito's colours, made for
 * colour-blind readers. */
#ifndef HD_DRAW_THEME_H
#define HD_DRAW_THEME_H

#include <stdint.h>

/* What a light page shows in the lower half, what a dark one shows in the upper: 0xAARRGGBB each;
 * 0 is "not drawn". */
typedef uint64_t hd_color;

enum { HD_N_SHADES = 5, HD_N_SERIES_COLORS = 7 };

struct hd_theme {
    hd_color paper, ink; /* background and text */
    hd_color muted;      /* text and lines of less importance */
    hd_color grid;
    hd_color link; /* marks of hard links: far from all shades */
    hd_color shades[HD_N_SHADES];
    hd_color series[HD_N_SERIES_COLORS];
};

extern const struct hd_theme hd_theme;

/* What it is on a dark page, for every page. */
hd_color hd_darkened(hd_color color);

/* From a to b; shares below 0 and above 1 are as 0 and 1. */
hd_color hd_mix_colors(hd_color a, hd_color b, double share);

/* The shade of a weight; below 0 and above 1 are as 0 and 1. */
hd_color hd_shade(double weight);

#endif
