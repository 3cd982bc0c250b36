/* pen.c -- measuring with pango, at 72 dots per inch and without rounding to pixels, so that a
 * width does not depend on the screen or the size. */
#include "draw/pen.h"

#include "base/error.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Without fonts pango still measures and draws, little boxes instead of letters. */
static bool has_letters(PangoLayout *layout)
{
    pango_layout_set_text(layout, "a", 1);
    return pango_layout_get_unknown_glyphs_count(layout) == 0;
}

bool hd_pen_init(struct hd_pen *pen, heed_error *err)
{
    *pen = (struct hd_pen){0};
    PangoFontMap *map = pango_cairo_font_map_get_default(); /* one per thread, pango's own */
    pen->context = pango_font_map_create_context(map);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(pen->context, options);
    cairo_font_options_destroy(options);
    pango_cairo_context_set_resolution(pen->context, 72);
    pango_context_set_round_glyph_positions(pen->context, FALSE);
    pen->layout = pango_layout_new(pen->context);
    pango_layout_set_single_paragraph_mode(pen->layout, TRUE);
    pen->description = pango_font_description_from_string(HD_FONTS);
    pango_layout_set_font_description(pen->layout, pen->description);
    if (has_letters(pen->layout))
        return true;
    hd_pen_release(pen);
    return hd_fail(err, HEED_BAD_FILE,
                   "there are no fonts on this machine to draw words with; install some (Debian, "
                   "Ubuntu: apt-get install fonts-noto-core fonts-noto-cjk)");
}

void hd_pen_release(struct hd_pen *pen)
{
    if (pen->description)
        pango_font_description_free(pen->description);
    if (pen->layout)
        g_object_unref(pen->layout);
    if (pen->context)
        g_object_unref(pen->context);
    *pen = (struct hd_pen){0};
}

/* What is shown for a character that must not reach XML or a font. */
static uint32_t visible(uint32_t cp)
{
    if (cp == '\t' || cp == '\n' || cp == '\r' || cp == 0x85 || cp == 0x2028 || cp == 0x2029)
        return ' ';
    if (cp < 0x20)
        return 0x2400 + cp;
    if (cp == 0x7f)
        return 0x2421;
    const bool is_control = cp < 0xa0 && cp > 0x7f, is_no_character = (cp & 0xfffe) == 0xfffe;
    return is_control || is_no_character ? 0xfffd : cp;
}

const char *hd_clean(struct hd_arena *arena, const char *text)
{
    if (!text)
        text = "";
    const size_t n = strlen(text);
    char *clean = hd_take(arena, 3 * n + 1); /* one bad byte becomes three */
    if (!clean)
        return NULL;
    size_t length = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0xfffd;
        const int bytes = hd_utf8_decode(text + i, n - i, &cp);
        length += (size_t)hd_utf8_encode(clean + length, visible(cp));
        i += bytes > 0 ? (size_t)bytes : 1;
    }
    clean[length] = '\0';
    return clean;
}

void hd_pen_set(struct hd_pen *pen, const char *text, struct hd_font font)
{
    pango_font_description_set_absolute_size(pen->description, font.size * PANGO_SCALE);
    pango_font_description_set_weight(pen->description,
                                      font.is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(pen->layout, pen->description);
    pango_layout_set_text(pen->layout, text, -1);
}

double hd_text_width(struct hd_pen *pen, const char *text, struct hd_font font)
{
    int width = 0;
    hd_pen_set(pen, text, font);
    pango_layout_get_size(pen->layout, &width, NULL);
    return (double)width / PANGO_SCALE;
}

bool hd_text_is_rtl(struct hd_pen *pen, const char *text)
{
    pango_layout_set_text(pen->layout, text, -1);
    return pango_layout_get_line_readonly(pen->layout, 0)->resolved_dir == PANGO_DIRECTION_RTL;
}

const char *hd_text_fit(struct hd_pen *pen, struct hd_arena *arena, const char *text,
                        struct hd_font font, double width)
{
    static const char dots[] = "\xe2\x80\xa6";
    if (hd_text_width(pen, text, font) <= width)
        return text;
    int n_attrs = 0;
    const PangoLogAttr *attrs = pango_layout_get_log_attrs_readonly(pen->layout, &n_attrs);
    size_t *stops = hd_take(arena, (size_t)n_attrs * sizeof *stops);
    char *cut = hd_take(arena, strlen(text) + sizeof dots);
    if (!stops || !cut)
        return NULL;
    int n_stops = 0;
    const char *at = text;
    for (int i = 0; i < n_attrs; i++) {
        if (attrs[i].is_cursor_position)
            stops[n_stops++] = (size_t)(at - text);
        if (*at)
            at = g_utf8_next_char(at);
    }
    int fits = 0, too_long = n_stops; /* halving: a longer beginning is not narrower */
    while (too_long - fits > 1) {
        const int half = (fits + too_long) / 2;
        memcpy(cut, text, stops[half]);
        memcpy(cut + stops[half], dots, sizeof dots);
        if (hd_text_width(pen, cut, font) <= width)
            fits = half;
        else
            too_long = half;
    }
    const size_t kept = n_stops > 0 ? stops[fits] : 0;
    memcpy(cut, text, kept);
    memcpy(cut + kept, dots, sizeof dots);
    return cut;
}
