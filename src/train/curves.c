/* curves.c -- two panels over the updates: losses, and the score that decides. */
#include "train/curves.h"

#include <heed_draw.h>

#include "base/memory.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hd_points_add(struct hd_points *p, double x, double y)
{
    double *xs = hd_grow(p->x, &p->x_capacity, (size_t)p->n + 1, sizeof *xs, NULL);
    if (!xs)
        return;
    p->x = xs;
    double *ys = hd_grow(p->y, &p->y_capacity, (size_t)p->n + 1, sizeof *ys, NULL);
    if (!ys)
        return;
    p->y = ys;
    while (p->n > 0 &&
           p->x[p->n - 1] >= x) /* a run that went back reports the same updates again */
        p->n--;
    p->x[p->n] = x;
    p->y[p->n++] = y;
}

void hd_curves_release(struct hd_curves *c)
{
    struct hd_points *all[] = {&c->loss, &c->ce, &c->score};
    for (int i = 0; i < 3; i++) {
        hd_free(all[i]->x);
        hd_free(all[i]->y);
        *all[i] = (struct hd_points){0};
    }
}

static void add_note(struct hd_curves *c, const json_t *note, long update)
{
    const char *event = json_string_value(json_object_get(note, "event"));
    const double x = (double)json_integer_value(json_object_get(note, "update"));
    if (!event || x > (double)update)
        return;
    static const struct {
        const char *metric, *key;
    } keys[] = {{"BLEU", "bleu"}, {"chrF", "chrf"},         {"exact", "exact"},
                {"WER", "wer"},   {"accuracy", "accuracy"}, {"F1", "f1"}};
    if (strcmp(event, "update") == 0)
        hd_points_add(&c->loss, x, json_number_value(json_object_get(note, "loss")));
    if (strcmp(event, "validation") != 0)
        return;
    hd_points_add(&c->ce, x, json_number_value(json_object_get(note, "cross_entropy")));
    for (size_t i = 0; c->has_score && i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].metric, c->metric) == 0)
            hd_points_add(&c->score, x, json_number_value(json_object_get(note, keys[i].key)));
    if (json_is_true(json_object_get(note, "is_best")))
        c->best = c->ce.n - 1;
}

void hd_curves_read(struct hd_curves *c, const char *stem, long update)
{
    char path[4096], *line = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s.jsonl", stem);
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &size, f) > 0) {
        json_t *note = json_loads(line, 0, NULL);
        add_note(c, note, update);
        json_decref(note);
    }
    free(line);
    if (f)
        fclose(f);
}

bool hd_curves_draw(const struct hd_curves *c, const char *stem, heed_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.svg", stem);
    const heed_picture_series losses[] = {
        {.name = "training", .x = c->loss.x, .y = c->loss.y, .n = c->loss.n},
        {.name = "dev",
         .x = c->ce.x,
         .y = c->ce.y,
         .n = c->ce.n,
         .has_best = !c->has_score && c->ce.n > 0,
         .best = c->best},
    };
    const heed_picture_series score = {.name = c->metric,
                                       .x = c->score.x,
                                       .y = c->score.y,
                                       .n = c->score.n,
                                       .has_best = c->score.n > c->best,
                                       .best = c->best};
    const heed_picture_panel panels[] = {
        {.y_label = "cross entropy", .series = losses, .n_series = 2},
        {.y_label = c->metric, .series = &score, .n_series = 1}};
    const heed_picture_chart chart = {
        .x_label = "updates", .panels = panels, .n_panels = c->has_score ? 2 : 1};
    const char *slash = strrchr(stem, '/');
    const heed_picture picture = {.title = slash ? slash + 1 : stem, .chart = &chart};
    return heed_draw(&picture, path, err);
}
