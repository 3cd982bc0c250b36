/* tikz.c -- a scene as TikZ, to be \input into a paper that is written with LaTeX.
 *
 * Every mark is one command, and texts are nodes in the fonts of the paper, at the sizes of the picture. A unit is a CSS pixel, 0.75 of
 * a PostScript point, and y goes down as in the scene. What TeX would read as its own is escaped; letters stay letters, so what is not
 * Latin wants LuaLaTeX or XeLaTeX and a font that has it. Tooltips have no place on paper. The same scene is the same bytes. */
#include "draw/tikz.h"

#include <stdio.h>
#include <string.h>

#define PIXEL 0.75 /* PostScript points */

static void number(struct hd_bytes *out, double value)
{
    char text[32];
    const long long hundredths = (long long)(value * 100 + (value < 0 ? -0.5 : 0.5));
    const long long size = hundredths < 0 ? -hundredths : hundredths;
    snprintf(text, sizeof text, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100, size % 100);
    hd_bytes_text(out, text);
}

static void point(struct hd_bytes *out, double x, double y)
{
    hd_bytes_text(out, "(");
    number(out, x);
    hd_bytes_text(out, ",");
    number(out, y);
    hd_bytes_text(out, ")");
}

static void color(struct hd_bytes *out, const char *name, hd_color c)
{
    char text[80];
    snprintf(text, sizeof text, "%s={rgb,255:red,%u;green,%u;blue,%u}", name,
             (unsigned)(c >> 16 & 0xff), (unsigned)(c >> 8 & 0xff), (unsigned)(c & 0xff));
    hd_bytes_text(out, text);
}

/* What a character of TeX's own is written as; NULL: as itself. */
static const char *written(char c)
{
    switch (c) {
    case '\\':
        return "\\textbackslash{}";
    case '~':
        return "\\textasciitilde{}";
    case '^':
        return "\\textasciicircum{}";
    case '<': /* in the oldest encoding of fonts these three are other characters */
        return "\\textless{}";
    case '>':
        return "\\textgreater{}";
    case '|':
        return "\\textbar{}";
    case '"': /* begins a letter in some languages */
        return "\\textquotedbl{}";
    case '{':
        return "\\{";
    case '}':
        return "\\}";
    case '$':
        return "\\$";
    case '&':
        return "\\&";
    case '#':
        return "\\#";
    case '_':
        return "\\_";
    case '%':
        return "\\%";
    case '-': /* two of them are not a dash */
        return "{-}";
    default:
        return NULL;
    }
}

static void escaped(struct hd_bytes *out, const char *text)
{
    for (; *text; text++)
        if (written(*text))
            hd_bytes_text(out, written(*text));
        else
            hd_bytes_add(out, text, 1);
}

static void text_node(struct hd_bytes *out, const struct hd_mark *m)
{
    static const char *const anchors[] = {"base west", "base", "base east"};
    hd_bytes_text(out, "\\node[anchor=");
    hd_bytes_text(out, anchors[m->anchor]);
    hd_bytes_text(out, ",inner sep=0pt,outer sep=0pt,");
    color(out, "text", m->fill);
    hd_bytes_text(out, ",font=\\fontsize{");
    number(out, m->font.size * PIXEL);
    hd_bytes_text(out, "bp}{");
    number(out, m->font.size * PIXEL * 1.2);
    hd_bytes_text(out, m->font.is_bold ? "bp}\\selectfont\\bfseries" : "bp}\\selectfont");
    if (m->angle != 0) {
        hd_bytes_text(out, ",rotate=");
        number(out, -m->angle); /* TikZ turns the other way */
    }
    if (m->opacity > 0 && m->opacity < 1) {
        hd_bytes_text(out, ",opacity=");
        number(out, m->opacity);
    }
    hd_bytes_text(out, "] at ");
    point(out, m->x, m->y);
    hd_bytes_text(out, " {");
    escaped(out, m->text);
    hd_bytes_text(out, "};\n");
}

static void line(struct hd_bytes *out, const struct hd_mark *m)
{
    for (int i = 0; i < m->n_points; i++) {
        static const char *const curve[] = {"", " .. controls ", " and ", " .. "};
        hd_bytes_text(out, m->kind == HD_CURVE ? curve[i % 4] : i == 0 ? "" : " -- ");
        point(out, m->points[2 * i], m->points[2 * i + 1]);
    }
    if (m->kind == HD_AREA)
        hd_bytes_text(out, " -- cycle");
}

static void shape(struct hd_bytes *out, const struct hd_mark *m)
{
    hd_bytes_text(out, "\\path[");
    if (m->fill)
        color(out, "fill", m->fill);
    if (m->stroke) {
        color(out, m->fill ? ",draw" : "draw", m->stroke);
        hd_bytes_text(out, ",line width=");
        number(out, m->stroke_width * PIXEL);
        hd_bytes_text(out, m->kind == HD_LINE ? "bp,line join=round" : "bp");
        if (m->is_dashed)
            hd_bytes_text(out, ",dash pattern=on 4.5bp off 3bp");
    }
    if (m->opacity > 0 && m->opacity < 1) {
        hd_bytes_text(out, ",opacity=");
        number(out, m->opacity);
    }
    hd_bytes_text(out, "] ");
    if (m->kind == HD_RECT || m->kind == HD_CIRCLE)
        point(out, m->x, m->y);
    if (m->kind == HD_RECT) {
        hd_bytes_text(out, " rectangle ");
        point(out, m->x + m->w, m->y + m->h);
    } else if (m->kind == HD_CIRCLE) {
        hd_bytes_text(out, " circle[radius=");
        number(out, m->w);
        hd_bytes_text(out, "]");
    } else
        line(out, m);
    hd_bytes_text(out, ";\n");
}

static void group(struct hd_bytes *out, const char *name)
{
    hd_bytes_text(out, "\\begin{scope} % ");
    hd_bytes_text(out, name ? name : "");
    hd_bytes_text(out, "\n");
}

void hd_tikz_write(struct hd_bytes *out, struct hd_scene *scene)
{
    hd_bytes_text(out, "% \\usepackage{tikz} and \\usepackage[T1]{fontenc}, or LuaLaTeX; "
                       "\\input{} this file\n"
                       "\\begin{tikzpicture}[x=0.75bp,y=-0.75bp]\n\\path[use as bounding box,");
    color(out, "fill", scene->paper);
    hd_bytes_text(out, "] (0,0) rectangle ");
    point(out, scene->width, scene->height);
    hd_bytes_text(out, ";\n");
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct hd_mark *m = &scene->marks[i];
        if (m->kind == HD_GROUP)
            group(out, m->name);
        else if (m->kind == HD_GROUP_END)
            hd_bytes_text(out, "\\end{scope}\n");
        else if (m->kind == HD_TEXT)
            text_node(out, m);
        else if (m->fill || m->stroke)
            shape(out, m);
    }
    hd_bytes_text(out, "\\end{tikzpicture}\n");
}
