/* foreign.c -- another toolkit's tensors on their way into a net of heed. */
#include "model/foreign.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "model/position.h"

bool hd_foreign_init(struct hd_foreign *f, const char *path, const struct hd_tensors *tensors,
                     heed_error *err)
{
    *f = (struct hd_foreign){.path = path, .tensors = tensors, .err = err};
    f->is_used = hd_alloc(tensors->n, sizeof *f->is_used, err);
    return f->is_used != NULL;
}

void hd_foreign_release(struct hd_foreign *f)
{
    hd_net_free(f->net);
    hd_free(f->is_used);
    *f = (struct hd_foreign){0};
}

/* All that a parameter holds is in the file, but for some biases that others do without. A configuration that asks for
 * much more is refused before there is memory for it. */
static bool is_in_file(const struct hd_foreign *f)
{
    size_t wanted = 0, there = 0;
    for (int i = 0; i < hd_params_number(f->net->params); i++)
        wanted += hd_count(hd_params_at(f->net->params, i));
    for (size_t i = 0; i < f->tensors->n; i++)
        there += f->tensors->at[i].n;
    const size_t copies = f->n_copies > 1 ? (size_t)f->n_copies : 1;
    return wanted / 2 / copies <= there ||
           hd_fail(f->err, HEED_BAD_MODEL,
                   "%s: its configuration asks for %zu numbers, but it holds %zu only", f->path,
                   wanted, there);
}

bool hd_foreign_make(struct hd_foreign *f, struct hd_config *config)
{
    heed_error why = {0};
    if (!hd_config_check(config, &why))
        return hd_fail(f->err, why.code == HEED_BAD_OPTION ? HEED_BAD_MODEL : why.code,
                       "%s: its configuration: %s", f->path, why.message);
    f->net = hd_net_declare(config, f->err);
    return f->net && is_in_file(f) && hd_params_make(f->net->params, f->err);
}

const struct hd_tensor *hd_foreign_find(const struct hd_foreign *f, const char *name)
{
    return hd_tensors_find(f->tensors, name);
}

void hd_foreign_skip(struct hd_foreign *f, const char *name)
{
    const struct hd_tensor *t = hd_foreign_find(f, name);
    if (t)
        f->is_used[t - f->tensors->at] = true;
}

static bool has_shape(const struct hd_tensor *t, size_t rows, size_t columns)
{
    const size_t dims[2] = {rows, columns};
    const size_t n = rows * columns;
    return hd_tensor_has_shape(t, dims, 2) ||
           ((rows == 1 || columns == 1) && hd_tensor_has_shape(t, &n, 1));
}

bool hd_foreign_read(struct hd_foreign *f, const char *name, const struct hd_foreign_place *p)
{
    const struct hd_tensor *t = hd_foreign_find(f, name);
    const size_t rows = (size_t)p->rows, columns = (size_t)p->columns, n = rows * columns;
    char there[HD_SHAPE_TEXT];
    if (!t)
        return hd_fail(f->err, HEED_BAD_MODEL,
                       "%s: the tensor %s is missing, which its configuration asks for", f->path,
                       name);
    const size_t parts = p->n_parts > 0 ? (size_t)p->n_parts : 1, all_n = parts * n;
    const bool fits = p->is_turned ? has_shape(t, parts * columns, rows)
                      : rows == 1  ? has_shape(t, 1, parts * columns)
                                   : has_shape(t, parts * rows, columns);
    if (!fits)
        return hd_fail(f->err, HEED_BAD_MODEL,
                       "%s: the tensor %s is %s, but its configuration asks for [%d, %d]", f->path,
                       name, hd_shape_text(there, t),
                       (int)parts * (p->is_turned ? p->columns : p->rows),
                       p->is_turned ? p->rows : p->columns);
    float *all = hd_alloc(all_n, sizeof *all, f->err), *from = all + (size_t)p->part * n;
    const bool ok = all && hd_check_finite(t, f->err) && hd_read_f32(all, t, all_n, f->err);
    for (size_t r = 0; ok && r < rows; r++)
        for (size_t i = 0; i < columns; i++) {
            float *x = p->to + r * (size_t)p->width + (size_t)p->at + i;
            *x = (p->is_added ? *x : 0) + from[p->is_turned ? i * rows + r : r * columns + i];
        }
    f->is_used[t - f->tensors->at] = true;
    hd_free(all);
    return ok;
}

bool hd_foreign_take(struct hd_foreign *f, const char *theirs, bool is_turned, const char *ours)
{
    hd_node *p = hd_params_find(f->net->params, ours);
    if (!p)
        return hd_fail(f->err, HEED_BAD_MODEL, "%s: there is no place for the tensor %s", f->path,
                       theirs);
    const int columns = hd_width(p);
    return hd_foreign_read(f, theirs,
                           &(struct hd_foreign_place){.to = p->x,
                                                      .rows = p->n_dims == 2 ? p->dim[0] : 1,
                                                      .columns = columns,
                                                      .width = columns,
                                                      .is_turned = is_turned});
}

static bool is_close(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(a[i] - b[i] < 2e-3F && b[i] - a[i] < 2e-3F))
            return false;
    return true;
}

bool hd_foreign_is_sinusoid(const struct hd_foreign *f, const struct hd_config *c,
                            const struct hd_tensor *t, bool *is)
{
    const size_t d = t->dims[1], half = d / 2;
    const struct hd_kernels *k = hd_kernels_chosen(f->err);
    float *x = hd_alloc(t->n + d + half, sizeof *x, f->err), *row = x + t->n, *angle = row + d;
    float *w = hd_position_frequencies(c, f->err);
    const bool ok = k && x && w && hd_check_finite(t, f->err) && hd_read_f32(x, t, t->n, f->err);
    *is = d % 2 == 0 && (!c->position_shorter || half > 1);
    for (size_t p = 0; ok && *is && p < t->dims[0]; p++) {
        k->scale(angle, (float)(p + (size_t)c->position_first), w, (long)half);
        k->sin(row, angle, (long)half);
        k->cos(row + half, angle, (long)half);
        *is = is_close(x + p * d, row, d);
    }
    hd_free(x);
    hd_free(w);
    return ok;
}

bool hd_foreign_is_done(const struct hd_foreign *f)
{
    for (size_t i = 0; i < f->tensors->n; i++)
        if (!f->is_used[i])
            return hd_fail(f->err, HEED_BAD_MODEL,
                           "%s: heed does not know what to do with its tensor %s", f->path,
                           hd_quote(f->tensors->at[i].name).text);
    return true;
}

heed_model *hd_foreign_model(struct hd_foreign *f, struct hd_vocab *source, struct hd_vocab *target,
                             json_t *record)
{
    heed_error why = {0};
    if (!source || !target || !record) {
        if (source && target && !record)
            hd_fail(f->err, HEED_NO_MEMORY, "%s: there is no memory for its record", f->path);
        if (target != source)
            hd_vocab_free(target);
        hd_vocab_free(source);
        json_decref(record);
        return NULL;
    }
    heed_model *model = hd_model_of(f->net, source, target, record, &why);
    f->net = NULL;
    if (!model)
        hd_fail(f->err, why.code, "%s: %s", f->path, why.message);
    return model;
}
