/* theme.c -- the colours, each for both kinds of pages. */
#include "draw/theme.h"

#define ON(light, dark) (0xff000000ff000000ULL | (hd_color)(dark) << 32 | (light))

const struct hd_theme hd_theme = {
    .paper = ON(0xffffff, 0x15191e),
    .ink = ON(0x1f2328, 0xe6edf3),
    .muted = ON(0x6a737d, 0x98a3ae),
    .grid = ON(0xe1e4e8, 0x30363d),
    .link = ON(0xd55e00, 0xff8c2e),
    .shades = {ON(0xf3f6f9, 0x1f252c), ON(0xb5d3ea, 0x234a6b), ON(0x6aa6d6, 0x2f7ab3),
               ON(0x2870b0, 0x6bb4e6), ON(0x0a2f5f, 0xe3f3ff)},
    .series = {ON(0x0072b2, 0x4aa8e0), ON(0xd55e00, 0xf07b2a), ON(0x009e73, 0x2cc295),
               ON(0xcc79a7, 0xe09ac2), ON(0xe69f00, 0xf2bd42), ON(0x56b4e9, 0x8fd3fb),
               ON(0x5b5b5b, 0xb8bec5)},
};

hd_color hd_darkened(hd_color color)
{
    return (color & ~(hd_color)UINT32_MAX) | color >> 32;
}

hd_color hd_mix_colors(hd_color a, hd_color b, double share)
{
    hd_color mixed = 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    for (int shift = 56; shift >= 0; shift -= 8) {
        const double x = (double)(a >> shift & 0xff), y = (double)(b >> shift & 0xff);
        mixed = mixed << 8 | (hd_color)(x + (y - x) * share + 0.5);
    }
    return mixed;
}

hd_color hd_shade(double weight)
{
    const double at = (weight < 0 ? 0 : weight > 1 ? 1 : weight) * (HD_N_SHADES - 1);
    const int i = at >= HD_N_SHADES - 1 ? HD_N_SHADES - 2 : (int)at;
    return hd_mix_colors(hd_theme.shades[i], hd_theme.shades[i + 1], at - i);
}
