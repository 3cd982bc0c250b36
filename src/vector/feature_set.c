/* feature_set.c -- the public heed_features: files go in, one file of vectors comes out. */
#include "base/error.h"
#include "base/memory.h"
#include "vector/feature.h"

#include <limits.h>
#include <string.h>

struct heed_features {
    struct hd_feature feature;
    bool is_given[64]; /* rows that were set, by number: --like leaves them alone */
    int width;         /* of what was added: that of patches until there is a basis */
    float *x;          /* [n_rows, width] */
    size_t n_rows, capacity;
    int64_t *starts; /* [n + 1] */
    int32_t *rows, *columns;
    size_t n, starts_capacity, rows_capacity, columns_capacity;
};

heed_features *heed_features_new(heed_error *err)
{
    heed_features *f = hd_new(heed_features, err);
    if (f && !heed_option_defaults(hd_feature_options, &f->feature.settings, err)) {
        heed_features_free(f);
        return NULL;
    }
    return f;
}

void heed_features_free(heed_features *f)
{
    if (!f)
        return;
    hd_feature_release(&f->feature);
    hd_free(f->x);
    hd_free(f->starts);
    hd_free(f->rows);
    hd_free(f->columns);
    hd_free(f);
}

const heed_option *heed_features_option_at(int i)
{
    for (int k = 0; k <= i && i >= 0; k++)
        if (!hd_feature_options[k].name)
            return NULL;
    return i < 0 ? NULL : &hd_feature_options[i];
}

bool heed_features_set(heed_features *f, const char *name, const char *value, heed_error *err)
{
    if (!hd_is_given(f, "features", err) || !hd_is_given(name, "name of an option", err) ||
        !hd_is_given(value, "value", err))
        return false;
    if (f->n > 0)
        return hd_fail(err, HEED_BAD_OPTION, "settings come before the first file");
    if (!heed_option_set_named(hd_feature_options, &f->feature.settings, name, value, err))
        return false;
    const heed_option *o = heed_option_find(hd_feature_options, name);
    if (o)
        f->is_given[o - hd_feature_options] = true;
    return true;
}

/* What was set by hand stays. */
static bool take_settings(heed_features *f, const struct hd_feature_settings *other,
                          heed_error *err)
{
    char text[64];
    for (int i = 0; hd_feature_options[i].name; i++) {
        const heed_option *o = &hd_feature_options[i];
        if (!f->is_given[i] && !hd_option_is_open(o, other) &&
            !heed_option_set(o, &f->feature.settings, heed_option_text(o, other, text, sizeof text),
                             err))
            return false;
    }
    return true;
}

bool heed_features_like(heed_features *f, const char *path, heed_error *err)
{
    if (!hd_is_given(f, "features", err) || !hd_is_given(path, "path", err))
        return false;
    struct hd_safetensors *file = hd_safetensors_open(path, err);
    struct hd_feature other = {0};
    const char *const prefixes[] = {"", "features."};
    bool ok = file != NULL;
    if (ok) /* a model has them under its own name */
        ok = hd_feature_load(&other, file,
                             prefixes[hd_safetensors_metadata(file, "heed.config") != NULL], err);
    ok = ok && take_settings(f, &other.settings, err);
    hd_safetensors_close(file);
    if (ok) {
        other.settings = f->feature.settings;
        hd_feature_release(&f->feature);
        f->feature = other;
    }
    return ok;
}

/* Before the first file: what kind they are, and whether all goes together. */
static bool begin(heed_features *f, const char *path, heed_error *err)
{
    struct hd_feature_settings *s = &f->feature.settings;
    enum hd_feature_kind kind = HD_FEATURES_SOUND;
    if (s->kind == HD_OPTION_OPEN) {
        if (!hd_feature_kind_of(&kind, path, err))
            return false;
        s->kind = (int)kind;
    }
    return hd_feature_check(s, err);
}

static bool make_room(heed_features *f, const struct hd_featured *item, heed_error *err)
{
    const size_t width = (size_t)item->width;
    float *x = hd_grow(f->x, &f->capacity, (f->n_rows + (size_t)item->n) * width, sizeof *x, err);
    int64_t *starts =
        x ? hd_grow(f->starts, &f->starts_capacity, f->n + 2, sizeof *starts, err) : NULL;
    int32_t *rows =
        starts ? hd_grow(f->rows, &f->rows_capacity, f->n + 1, sizeof *rows, err) : NULL;
    int32_t *columns =
        rows ? hd_grow(f->columns, &f->columns_capacity, f->n + 1, sizeof *columns, err) : NULL;
    f->x = x ? x : f->x;
    f->starts = starts ? starts : f->starts;
    f->rows = rows ? rows : f->rows;
    f->columns = columns ? columns : f->columns;
    return columns != NULL;
}

bool heed_features_add(heed_features *f, const char *path, heed_error *err)
{
    struct hd_featured item = {0};
    if (!hd_is_given(f, "features", err) || !hd_is_given(path, "path", err) ||
        (f->n == 0 && !begin(f, path, err)))
        return false;
    const bool ok = hd_feature_file(&f->feature, &item, path, err) && make_room(f, &item, err);
    if (ok) {
        f->width = item.width;
        memcpy(f->x + f->n_rows * (size_t)item.width, item.x,
               (size_t)item.n * (size_t)item.width * sizeof *item.x);
        f->rows[f->n] = item.rows;
        f->columns[f->n] = item.columns;
        f->n_rows += (size_t)item.n;
        f->starts[++f->n] = (int64_t)f->n_rows;
    }
    hd_free(item.x);
    return ok;
}

/* Patches become their principal components, in place: these are not wider. */
static bool project_all(heed_features *f, heed_error *err)
{
    const struct hd_feature_settings *s = &f->feature.settings;
    if (s->kind != HD_FEATURES_PICTURES || s->project == 0 || f->feature.basis)
        return true;
    if (!hd_feature_learn_basis(&f->feature, f->x, f->n_rows, err))
        return false;
    const size_t from = (size_t)f->width, to = (size_t)s->project;
    float v[1024];
    for (size_t i = 0; i < f->n_rows; i++) {
        hd_feature_project(&f->feature, v, f->x + i * from);
        memcpy(f->x + i * to, v, to * sizeof *v);
    }
    f->width = s->project;
    return true;
}

bool heed_features_write(heed_features *f, const char *path, heed_error *err)
{
    if (!hd_is_given(f, "features", err) || !hd_is_given(path, "path", err))
        return false;
    if (f->n == 0)
        return hd_fail(err, HEED_BAD_OPTION, "there are no vectors to write; add a file first");
    if (!project_all(f, err))
        return false;
    struct hd_saver saver = {.has_checksums = true};
    const size_t shape[] = {f->n_rows, (size_t)f->width}, n_starts = f->n + 1;
    hd_saver_add(&saver, hd_tensor_of("vectors", HD_F32, f->x, shape, 2),
                 f->feature.settings.store == 0 ? HD_F16 : HD_F32);
    hd_saver_add(&saver, hd_tensor_of("starts", HD_I64, f->starts, &n_starts, 1), HD_I64);
    if (f->feature.settings.kind == HD_FEATURES_PICTURES) {
        hd_saver_add(&saver, hd_tensor_of("rows", HD_I32, f->rows, &f->n, 1), HD_I32);
        hd_saver_add(&saver, hd_tensor_of("columns", HD_I32, f->columns, &f->n, 1), HD_I32);
    }
    const bool ok =
        hd_feature_save(&f->feature, &saver, "", err) && hd_saver_write(&saver, path, err);
    hd_saver_release(&saver);
    return ok;
}

long long heed_features_count(const heed_features *f, enum heed_features_of what)
{
    if (!f)
        return 0;
    return what == HEED_FEATURES_ITEMS     ? (long long)f->n
           : what == HEED_FEATURES_VECTORS ? (long long)f->n_rows
                                           : hd_feature_width(&f->feature.settings);
}
