/* scene.c -- collecting marks. */
#include "draw/scene.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool hd_scene_init(struct hd_scene *scene, const char *title, heed_error *err)
{
    *scene = (struct hd_scene){.paper = hd_theme.paper};
    if (!hd_pen_init(&scene->pen, err))
        return false;
    scene->title = hd_clean(&scene->arena, title);
    return scene->title || hd_fail(err, HEED_NO_MEMORY, "there is no memory for the picture");
}

void hd_scene_release(struct hd_scene *scene)
{
    hd_pen_release(&scene->pen);
    hd_free(scene->marks);
    hd_arena_release(&scene->arena);
    *scene = (struct hd_scene){0};
}

void hd_scene_add(struct hd_scene *scene, struct hd_mark mark)
{
    struct hd_mark *marks =
        hd_grow(scene->marks, &scene->capacity, scene->n_marks + 1, sizeof *marks, NULL);
    if (!marks) {
        scene->has_failed = true;
        return;
    }
    scene->marks = marks;
    marks[scene->n_marks++] = mark;
}

void hd_scene_extend(struct hd_scene *scene, double width, double height)
{
    if (width > scene->width)
        scene->width = width;
    if (height > scene->height)
        scene->height = height;
}

void hd_scene_darken(struct hd_scene *scene)
{
    scene->paper = hd_darkened(scene->paper);
    for (size_t i = 0; i < scene->n_marks; i++) {
        scene->marks[i].fill = hd_darkened(scene->marks[i].fill);
        scene->marks[i].stroke = hd_darkened(scene->marks[i].stroke);
    }
}

void hd_scene_group(struct hd_scene *scene, const char *name)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_GROUP, .name = name});
}

void hd_scene_group_end(struct hd_scene *scene)
{
    hd_scene_add(scene, (struct hd_mark){.kind = HD_GROUP_END});
}

const char *hd_scene_print(struct hd_scene *scene, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : hd_take(&scene->arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    else
        scene->has_failed = true;
    va_end(again);
    return text ? text : "";
}

const char *hd_scene_number(struct hd_scene *scene, double value, int decimals)
{
    double unit = 1;
    for (int i = 0; i < decimals; i++)
        unit *= 10;
    const double size = (value < 0 ? -value : value) * unit + 0.5;
    if (size > 9e15) /* has no decimals, and needs no beauty */
        return hd_scene_print(scene, "%.0e", value);
    const long long all = (long long)size, per = (long long)unit;
    const char *sign = value < 0 && all > 0 ? "-" : "";
    return decimals ? hd_scene_print(scene, "%s%lld.%0*lld", sign, all / per, decimals, all % per)
                    : hd_scene_print(scene, "%s%lld", sign, all);
}

double *hd_scene_numbers(struct hd_scene *scene, size_t n)
{
    double *numbers = hd_take(&scene->arena, n * sizeof *numbers);
    if (!numbers)
        scene->has_failed = true;
    return numbers;
}

struct hd_label hd_scene_label(struct hd_scene *scene, const char *text, struct hd_font font,
                               double most)
{
    const char *whole = hd_clean(&scene->arena, text);
    const char *fit = whole ? hd_text_fit(&scene->pen, &scene->arena, whole, font, most) : NULL;
    if (!fit) {
        scene->has_failed = true;
        return (struct hd_label){.text = "", .whole = ""};
    }
    return (struct hd_label){
        .text = fit, .whole = whole, .width = hd_text_width(&scene->pen, fit, font)};
}

double hd_baseline(double y, struct hd_font font)
{
    return y + 0.36 * font.size; /* half the height of a capital letter */
}
