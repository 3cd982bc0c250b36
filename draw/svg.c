/* svg.c -- a scene as SVG, written by hand so that texts stay texts.
 *
 * Every mark is one element with its class; a tooltip is a <title> inside. No ids, no dates: the
 * same scene is the same bytes. Colours are written for light pages, and a style sheet that is
 * asked where readers prefer dark ones has a rule for each colour that is another there. A right-to-left text says so, and its anchor is turned around,
 * because SVG counts "start" in the direction of reading; so it stands where it was put and its
 * full stop is on the left. */
#include "draw/svg.h"

#include <stdio.h>
#include <string.h>

static void number(struct hd_bytes *out, double value)
{
    char text[32];
    const long long hundredths = (long long)(value * 100 + (value < 0 ? -0.5 : 0.5));
    const long long size = hundredths < 0 ? -hundredths : hundredths;
    int n = snprintf(text, sizeof text, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100,
                     size % 100);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    hd_bytes_add(out, text, (size_t)n);
}

static void attribute(struct hd_bytes *out, const char *name, double value)
{
    hd_bytes_text(out, " ");
    hd_bytes_text(out, name);
    hd_bytes_text(out, "=\"");
    number(out, value);
    hd_bytes_text(out, "\"");
}

static void word_attribute(struct hd_bytes *out, const char *name, const char *value)
{
    hd_bytes_text(out, " ");
    hd_bytes_text(out, name);
    hd_bytes_text(out, "=\"");
    hd_bytes_text(out, value);
    hd_bytes_text(out, "\"");
}

static void color_attribute(struct hd_bytes *out, const char *name, hd_color color)
{
    char text[8];
    snprintf(text, sizeof text, "#%06x", (unsigned)(color & 0xffffff));
    word_attribute(out, name, color ? text : "none");
}

static void escaped(struct hd_bytes *out, const char *text)
{
    for (const char *at = text; *at;) {
        const size_t plain = strcspn(at, "&<>\"");
        hd_bytes_add(out, at, plain);
        at += plain;
        switch (*at) {
        case '&':
            hd_bytes_text(out, "&amp;");
            break;
        case '<':
            hd_bytes_text(out, "&lt;");
            break;
        case '>':
            hd_bytes_text(out, "&gt;");
            break;
        case '"':
            hd_bytes_text(out, "&quot;");
            break;
        default:
            return;
        }
        at++;
    }
}

static void path(struct hd_bytes *out, const struct hd_mark *m)
{
    hd_bytes_text(out, " d=\"");
    for (int i = 0; i < m->n_points; i++) {
        hd_bytes_text(out, i == 0 ? "M" : m->kind == HD_CURVE && i == 1 ? "C" : " ");
        number(out, m->points[2 * i]);
        hd_bytes_text(out, ",");
        number(out, m->points[2 * i + 1]);
    }
    hd_bytes_text(out, m->kind == HD_AREA ? "Z\"" : "\"");
}

static void text_attributes(struct hd_bytes *out, struct hd_pen *pen, const struct hd_mark *m)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    const bool is_rtl = hd_text_is_rtl(pen, m->text);
    attribute(out, "x", m->x);
    attribute(out, "y", m->y);
    if (m->angle != 0) {
        hd_bytes_text(out, " transform=\"rotate(");
        number(out, m->angle);
        hd_bytes_text(out, " ");
        number(out, m->x);
        hd_bytes_text(out, " ");
        number(out, m->y);
        hd_bytes_text(out, ")\"");
    }
    attribute(out, "font-size", m->font.size);
    if (m->font.is_bold)
        word_attribute(out, "font-weight", "bold");
    if (is_rtl)
        word_attribute(out, "direction", "rtl");
    if (m->anchor != HD_LEFT || is_rtl)
        word_attribute(out, "text-anchor", anchors[is_rtl ? HD_RIGHT - m->anchor : m->anchor]);
}

/* ---- dark pages ------------------------------------------------------------------------------ */

/* Colours that have had their rule: more than there are shades. */
enum { MOST_RULES = 1024 };
struct rules {
    uint32_t fills[MOST_RULES], strokes[MOST_RULES];
    int n_fills, n_strokes;
};

static bool is_new(uint32_t *known, int *n, uint32_t color)
{
    for (int i = 0; i < *n; i++)
        if (known[i] == color)
            return false;
    if (*n == MOST_RULES)
        return false;
    known[(*n)++] = color;
    return true;
}

static void rule(struct hd_bytes *out, const char *what, hd_color color, uint32_t *known, int *n)
{
    char text[80];
    const uint32_t light = (uint32_t)(color & 0xffffff), dark = (uint32_t)(color >> 32 & 0xffffff);
    if (color == 0 || light == dark || !is_new(known, n, light))
        return;
    snprintf(text, sizeof text, ".heed [%s=\"#%06x\"]{%s:#%06x}\n", what, light, what, dark);
    hd_bytes_text(out, text);
}

static bool has_dark_rules(const struct hd_scene *scene)
{
    return hd_darkened(scene->paper) != scene->paper && !scene->has_pixels;
}

static void dark_rules(struct hd_bytes *out, const struct hd_scene *scene)
{
    struct rules rules = {.n_fills = 0};
    hd_bytes_text(out, "<style>@media (prefers-color-scheme:dark){\n");
    rule(out, "fill", scene->paper, rules.fills, &rules.n_fills);
    for (size_t i = 0; i < scene->n_marks; i++) {
        rule(out, "fill", scene->marks[i].fill, rules.fills, &rules.n_fills);
        rule(out, "stroke", scene->marks[i].stroke, rules.strokes, &rules.n_strokes);
    }
    hd_bytes_text(out, "}</style>\n");
}

static const char *const tags[] = {"rect", "circle", "path", "path", "path", "text", "g"};

static void mark(struct hd_bytes *out, struct hd_pen *pen, const struct hd_mark *m)
{
    const char *tag = tags[m->kind];
    hd_bytes_text(out, "<");
    hd_bytes_text(out, tag);
    if (m->name)
        word_attribute(out, "class", m->name);
    if (m->kind == HD_GROUP) {
        hd_bytes_text(out, ">\n");
        return;
    }
    if (m->kind == HD_RECT) {
        attribute(out, "x", m->x);
        attribute(out, "y", m->y);
        attribute(out, "width", m->w);
        attribute(out, "height", m->h);
    } else if (m->kind == HD_CIRCLE) {
        attribute(out, "cx", m->x);
        attribute(out, "cy", m->y);
        attribute(out, "r", m->w);
    } else if (m->kind == HD_TEXT)
        text_attributes(out, pen, m);
    else
        path(out, m);
    color_attribute(out, "fill", m->fill);
    if (m->stroke) {
        color_attribute(out, "stroke", m->stroke);
        attribute(out, "stroke-width", m->stroke_width);
        if (m->kind == HD_LINE)
            word_attribute(out, "stroke-linejoin", "round");
        if (m->is_dashed)
            word_attribute(out, "stroke-dasharray", "6 4");
    }
    if (m->opacity > 0 && m->opacity < 1)
        attribute(out, "opacity", m->opacity);
    if (m->kind != HD_TEXT && !m->tooltip) {
        hd_bytes_text(out, "/>\n");
        return;
    }
    hd_bytes_text(out, ">");
    if (m->kind == HD_TEXT)
        escaped(out, m->text);
    if (m->tooltip) {
        hd_bytes_text(out, "<title>");
        escaped(out, m->tooltip);
        hd_bytes_text(out, "</title>");
    }
    hd_bytes_text(out, "</");
    hd_bytes_text(out, tag);
    hd_bytes_text(out, ">\n");
}

void hd_svg_write(struct hd_bytes *out, struct hd_scene *scene)
{
    hd_bytes_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (has_dark_rules(
            scene)) /* a page may hold many pictures: rules are for those that have some */
        word_attribute(out, "class", "heed");
    attribute(out, "width", scene->width);
    attribute(out, "height", scene->height);
    hd_bytes_text(out, " viewBox=\"0 0 ");
    number(out, scene->width);
    hd_bytes_text(out, " ");
    number(out, scene->height);
    hd_bytes_text(out, "\" role=\"img\" font-family=\"" HD_FONTS "\">\n");
    if (scene->title[0]) { /* what a browser puts on the tab, and reads aloud */
        hd_bytes_text(out, "<title>");
        escaped(out, scene->title);
        hd_bytes_text(out, "</title>\n");
    }
    if (has_dark_rules(scene))
        dark_rules(out, scene);
    hd_bytes_text(out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"");
    color_attribute(out, "fill", scene->paper);
    hd_bytes_text(out, "/>\n");
    for (size_t i = 0; i < scene->n_marks; i++)
        if (scene->marks[i].kind == HD_GROUP_END)
            hd_bytes_text(out, "</g>\n");
        else
            mark(out, &scene->pen, &scene->marks[i]);
    hd_bytes_text(out, "</svg>\n");
}
