/* theme.c -- the two themes. */
#include "draw/theme.h"

static const struct hd_theme light = {
    .paper = 0xffffffff,
    .ink = 0xff1f2328,
    .muted = 0xff6a737d,
    .grid = 0xffe1e4e8,
    .link = 0xffd55e00,
    .shades = {0xfff3f6f9, 0xffb5d3ea, 0xff6aa6d6, 0xff2870b0, 0xff0a2f5f},
    .series = {0xff0072b2, 0xffd55e00, 0xff009e73, 0xffcc79a7, 0xffe69f00, 0xff56b4e9, 0xff5b5b5b},
};

static const struct hd_theme dark = {
    .paper = 0xff15191e,
    .ink = 0xffe6edf3,
    .muted = 0xff98a3ae,
    .grid = 0xff30363d,
    .link = 0xffff8c2e,
    .shades = {0xff1f252c, 0xff234a6b, 0xff2f7ab3, 0xff6bb4e6, 0xffe3f3ff},
    .series = {0xff4aa8e0, 0xfff07b2a, 0xff2cc295, 0xffe09ac2, 0xfff2bd42, 0xff8fd3fb, 0xffb8bec5},
};

const struct hd_theme *hd_theme(bool is_dark)
{
    return is_dark ? &dark : &light;
}

static hd_color mix(hd_color a, hd_color b, double share)
{
    hd_color mixed = 0xff;
    for (int shift = 16; shift >= 0; shift -= 8) {
        const double x = (double)(a >> shift & 0xff), y = (double)(b >> shift & 0xff);
        mixed = mixed << 8 | (hd_color)(x + (y - x) * share + 0.5);
    }
    return mixed;
}

hd_color hd_shade(const struct hd_theme *theme, double weight)
{
    const double at = (weight < 0 ? 0 : weight > 1 ? 1 : weight) * (HD_N_SHADES - 1);
    const int i = at >= HD_N_SHADES - 1 ? HD_N_SHADES - 2 : (int)at;
    return mix(theme->shades[i], theme->shades[i + 1], at - i);
}
