/* words.c -- where words go when there are many. */
#include "draw/word_row.h"

#include <string.h>

#define SLANT 0.70711 /* sine and cosine of 45 degrees */

struct hd_word_row hd_word_row_measure(struct hd_scene *scene, const char *const *words, int n,
                                       struct hd_font font, double most)
{
    struct hd_word_row measured = {.n = n, .font = font};
    measured.labels = hd_take(&scene->arena, (size_t)n * sizeof *measured.labels);
    if (!measured.labels) {
        scene->has_failed = true;
        measured.n = 0;
        return measured;
    }
    for (int i = 0; i < n; i++) {
        measured.labels[i] = hd_scene_label(scene, words[i], font, most);
        if (measured.labels[i].width > measured.widest)
            measured.widest = measured.labels[i].width;
    }
    return measured;
}

void hd_word_row_turn(struct hd_word_row *words, double pitch)
{
    const double size = words->font.size;
    if (words->widest * 1.1 + 4 <= pitch) {
        words->angle = 0;
        words->height = 1.3 * size;
    } else if (pitch * SLANT >= 1.2 * size) {
        words->angle = 45;
        words->height = (words->widest + size) * SLANT;
    } else {
        words->angle = 90;
        words->height = words->widest;
    }
    words->overhang = 0;
    for (int i = 0; words->angle == 45 && i < words->n; i++) {
        const double reach = (words->labels[i].width + size) * SLANT - (words->n - 1 - i) * pitch;
        if (reach > words->overhang)
            words->overhang = reach;
    }
}

void hd_label_put(struct hd_scene *scene, const struct hd_label *label, struct hd_mark mark)
{
    mark.kind = HD_TEXT;
    mark.text = label->text;
    mark.tooltip = strcmp(label->text, label->whole) != 0 ? label->whole : NULL;
    mark.fill = label->color ? label->color : hd_theme.ink;
    hd_scene_add(scene, mark);
}

void hd_word_row_above(struct hd_scene *scene, const struct hd_word_row *words, int i, double x,
                       double y, const char *name)
{
    struct hd_mark mark = {
        .name = name, .x = x, .y = y, .font = words->font, .angle = -words->angle};
    if (words->angle == 0) {
        mark.anchor = HD_MIDDLE;
        mark.y -= 0.25 * words->font.size;
    } else if (words->angle == 45)
        mark.x += 0.3 * words->font.size;
    else
        mark.x += 0.36 * words->font.size;
    hd_label_put(scene, &words->labels[i], mark);
}

void hd_word_row_below(struct hd_scene *scene, const struct hd_word_row *words, int i, double x,
                       double y, const char *name)
{
    struct hd_mark mark = {.name = name,
                           .x = x,
                           .y = y,
                           .font = words->font,
                           .anchor = HD_RIGHT,
                           .angle = -words->angle};
    if (words->angle == 0) {
        mark.anchor = HD_MIDDLE;
        mark.y += words->font.size;
    } else if (words->angle == 45) {
        mark.x += 0.3 * words->font.size;
        mark.y += 0.5 * words->font.size;
    } else
        mark.x += 0.36 * words->font.size;
    hd_label_put(scene, &words->labels[i], mark);
}

void hd_label_beside(struct hd_scene *scene, const struct hd_label *label, struct hd_font font,
                     double x, double y, const char *name)
{
    hd_label_put(
        scene, label,
        (struct hd_mark){
            .name = name, .x = x, .y = hd_baseline(y, font), .font = font, .anchor = HD_RIGHT});
}
