/* vector_line.c -- a line that is the name of an item: its vectors are the source.
 *
 * The text of such a line becomes the list of its positions, which are its words: seconds of sound, "row,column" of a picture,
 * numbers from 0 of other vectors. So attention, links and pictures say where a word was seen, by what they do with words. */
#include "base/error.h"
#include "base/memory.h"
#include "translate/job.h"
#include "translate/shelf.h"
#include "vector/seen.h"
#include "vector/vector_name.h"

#include <stdio.h>
#include <string.h>

/* A sound or a picture, made into vectors as the model's were. */
static bool make_vectors(struct hd_line *line, const char *path)
{
    const heed_model *m = line->job->ensemble->models[0];
    struct hd_featured made = {0};
    if (!m->feature || m->feature->settings.kind == HD_OPTION_OPEN)
        return hd_fail(
            &line->err, HEED_BAD_OPTION,
            "%s: the model does not know how its vectors were made, so it reads files of "
            "vectors alone (.safetensors, .npz, .npy)",
            path);
    line->own_vectors = hd_new(struct hd_vectors, &line->err);
    line->item = 0;
    line->vectors = line->own_vectors;
    return line->own_vectors && hd_feature_file(m->feature, &made, path, &line->err) &&
           hd_vectors_add(line->own_vectors, path, &made, &line->err);
}

static bool find_vectors(struct hd_line *line, const char *name)
{
    const struct hd_config *c = &line->job->ensemble->nets[0]->config;
    char *path = hd_vector_name_file(name, &line->item, &line->err);
    bool ok = path != NULL;
    if (ok && line->item < 0)
        ok = make_vectors(line, path);
    else if (ok)
        ok = (line->vectors = hd_shelf_find(line->job->ensemble->shelf, path, &line->err)) != NULL;
    const struct hd_vectors *v = line->vectors;
    if (ok && line->item >= v->n)
        ok = hd_fail(&line->err, HEED_BAD_OPTION, "%s: the file has only %d items", name, v->n);
    if (ok && (v->width != c->source_width || v->has_grids != c->has_grids))
        ok = hd_fail(&line->err, HEED_BAD_OPTION,
                     "%s: its vectors have width %d%s, but the model reads width %d%s", name,
                     v->width, v->has_grids ? " and grids" : "", c->source_width,
                     c->has_grids ? " and grids" : "");
    hd_free(path);
    return ok;
}

/* Seconds from one vector to the next; 0 where nobody knows. */
static double step_of(const struct hd_line *line)
{
    const struct hd_feature *told[] = {line->job->ensemble->models[0]->feature,
                                       &line->vectors->feature};
    for (int i = 0; i < 2; i++)
        if (told[i] && told[i]->settings.kind == HD_FEATURES_SOUND)
            return hd_feature_step(&told[i]->settings);
    return 0;
}

/* The list of positions as text, with their places in it. */
static bool list_positions(struct hd_line *line, struct hd_encoding *places, size_t n)
{
    enum { LONGEST = 32 };
    heed_result *r = line->result;
    const int frames = hd_config_frames(&line->job->ensemble->nets[0]->config);
    char *text = hd_result_keep(r, n * LONGEST + 1, 1, &line->err), *at = text;
    places->ids = text ? hd_alloc(n, sizeof *places->ids, &line->err) : NULL;
    places->spans = places->ids ? hd_alloc(n, sizeof *places->spans, &line->err) : NULL;
    if (!places->spans)
        return false;
    places->n = n;
    r->source = text;
    for (size_t i = 0; i < n; i++) {
        const size_t begin = (size_t)(at - text) + (i > 0);
        const char *space = i > 0 ? " " : "";
        if (r->columns > 0)
            at += snprintf(at, LONGEST, "%s%zu,%zu", space, i / (size_t)r->columns + 1,
                           i % (size_t)r->columns + 1);
        else if (r->step > 0)
            at += snprintf(at, LONGEST, "%s%.2f", space, (double)i * r->step);
        else
            at += snprintf(at, LONGEST, "%s%zu", space, i * (size_t)frames);
        places->spans[i] = (struct hd_span){begin, (size_t)(at - text)};
    }
    line->n_source = line->n_text = (size_t)(at - text);
    return true;
}

/* What can be looked at again belongs to the result. The file knows how it was made, or else the model. */
static bool keep_seen(struct hd_line *line)
{
    heed_result *r = line->result;
    const struct hd_feature *of_file = &line->vectors->feature,
                            *of_model = line->job->ensemble->models[0]->feature;
    const bool is_told = of_file->settings.kind != HD_OPTION_OPEN || of_file->basis;
    const struct hd_feature *f = is_told || !of_model ? of_file : of_model;
    struct hd_featured item = {.n = hd_vectors_length(line->vectors, line->item),
                               .width = line->vectors->width,
                               .rows = r->rows,
                               .columns = r->columns};
    struct hd_seen seen = {0};
    item.x = hd_alloc((size_t)item.n * (size_t)item.width, sizeof *item.x, &line->err);
    bool ok = item.x && hd_vectors_read(line->vectors, line->item, item.x, &line->err) &&
              hd_feature_see(&seen, f, &item, &line->err);
    const size_t n = (size_t)seen.rows * (size_t)seen.columns * (seen.is_picture ? 3 : 1);
    float *kept = ok && seen.x ? hd_result_keep(r, n, sizeof *kept, &line->err) : NULL;
    if (kept) {
        memcpy(kept, seen.x, n * sizeof *kept);
        r->seen = kept;
        r->n_seen_rows = seen.rows;
        r->n_seen_columns = seen.columns;
    }
    ok = ok && (!seen.x || kept);
    hd_free(seen.x);
    hd_free(item.x);
    return ok;
}

bool hd_line_read_vectors(struct hd_line *line, const char *name)
{
    heed_result *r = line->result;
    const struct hd_config *c = &line->job->ensemble->nets[0]->config;
    line->symbol = -1;
    if (line->job->markup)
        return hd_fail(&line->err, HEED_BAD_OPTION, "vectors have no tags; leave markup out");
    if (!find_vectors(line, name))
        return false;
    r->item = r->source;
    hd_vectors_grid(line->vectors, line->item, &r->rows, &r->columns);
    r->step = step_of(line) * hd_config_frames(c);
    const int n = hd_config_positions(c, hd_vectors_length(line->vectors, line->item));
    line->segments = hd_alloc(1, sizeof *line->segments, &line->err);
    if (!line->segments)
        return false;
    line->n_segments = 1;
    struct hd_segment *s = &line->segments[0];
    s->line = line;
    s->ids = hd_alloc((size_t)n, sizeof *s->ids, &line->err);
    s->n_ids = s->ids ? n : 0;
    if (!s->ids || !list_positions(line, &s->source, (size_t)n))
        return false;
    s->span = (struct hd_span){0, line->n_source};
    return !line->job->has_attention || keep_seen(line);
}

struct hd_sequence hd_segment_source(const struct hd_segment *s)
{
    const struct hd_line *line = s->line;
    struct hd_sequence source = {.ids = s->ids,
                                 .n = s->n_ids,
                                 .question = line->question.ids,
                                 .n_question = (int)line->question.n,
                                 .key = line->keys};
    if (line->keys)
        source.question_key = line->keys + (size_t)s->n_ids * HD_N_KEYS;
    if (line->vectors) {
        source.ids = NULL;
        source.vectors = line->vectors;
        source.item = line->item;
        source.n_frames = hd_vectors_length(line->vectors, line->item);
    }
    return source;
}
