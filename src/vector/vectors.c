/* vectors.c -- files of vectors: opened, checked, and read item by item. */
#include "vector/vectors.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/npz.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* One file: all its vectors in one tensor, or a tensor for each item. */
struct hd_vectors_file {
    char *path;
    struct hd_safetensors *safetensors;
    struct hd_npz *npz;
    float *memory;              /* of an item that was no file */
    struct hd_tensor all;       /* one tensor; n_dims 0 where each item has its own */
    const void *starts;         /* I64 [n + 1]; NULL: of npy, items of `length` */
    const void *rows, *columns; /* I32 [n]; NULL: no grids */
    int length;
    int n, first; /* items, and the number of the first among all files' */
    int grid[2];  /* of an item in memory */
};

static int64_t whole_at(const void *numbers, size_t i)
{
    int64_t x;
    memcpy(&x, (const char *)numbers + i * sizeof x, sizeof x);
    return x;
}

static int32_t int_at(const void *numbers, size_t i)
{
    int32_t x;
    memcpy(&x, (const char *)numbers + i * sizeof x, sizeof x);
    return x;
}

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

bool hd_is_vector_path(const char *path)
{
    return ends_in(path, ".safetensors") || ends_in(path, ".npz") || ends_in(path, ".npy");
}

/* ---- checking ------------------------------------------------------------------------------------- */

static bool check_numbers(const struct hd_vectors_file *f, const struct hd_tensor *t, int n_dims,
                          heed_error *err)
{
    char shape[HD_SHAPE_TEXT];
    const bool is_real =
        t->dtype == HD_F32 || t->dtype == HD_F16 || t->dtype == HD_BF16 || t->dtype == HD_F64;
    if (!is_real)
        return hd_fail(err, HEED_BAD_FILE, "%s: %s is %s; vectors are F32 or F16", f->path, t->name,
                       hd_dtype_name(t->dtype));
    if (t->n_dims != n_dims)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: %s has the shape %s; vectors have two dimensions, [length, width]",
                       f->path, t->name, hd_shape_text(shape, t));
    const size_t width = t->dims[n_dims - 1];
    if (width == 0 || width > HD_WIDEST_VECTOR)
        return hd_fail(err, HEED_BAD_FILE, "%s: %s has vectors of width %zu; 1 to %d are read",
                       f->path, t->name, width, HD_WIDEST_VECTOR);
    return true;
}

static bool check_length(const struct hd_vectors_file *f, size_t item, int64_t length,
                         heed_error *err)
{
    if (length == 0)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: item %zu (from 1) has no vectors at all; leave it out, and its line",
                       f->path, item + 1);
    if (length > HD_LONGEST_ITEM)
        return hd_fail(err, HEED_BAD_FILE, "%s: item %zu (from 1) has %lld vectors; at most %d",
                       f->path, item + 1, (long long)length, HD_LONGEST_ITEM);
    return true;
}

static bool check_starts(const struct hd_vectors_file *f, size_t n_rows, heed_error *err)
{
    const int64_t first = whole_at(f->starts, 0), last = whole_at(f->starts, (size_t)f->n);
    if (first != 0 || last != (int64_t)n_rows)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: starts goes from %lld to %lld, but there are vectors 0 to %zu; it must "
                       "have the first vector of each item and, last, their number",
                       f->path, (long long)first, (long long)last, n_rows);
    for (size_t i = 0; i < (size_t)f->n; i++) {
        const int64_t from = whole_at(f->starts, i), to = whole_at(f->starts, i + 1);
        if (from < 0 || to < from || to > (int64_t)n_rows)
            return hd_fail(err, HEED_BAD_FILE,
                           "%s: starts must rise, but number %zu is %lld and the next %lld",
                           f->path, i + 1, (long long)from, (long long)to);
        if (!check_length(f, i, to - from, err))
            return false;
    }
    return true;
}

static bool check_grids(const struct hd_vectors_file *f, heed_error *err)
{
    for (size_t i = 0; i < (size_t)f->n; i++) {
        const int64_t rows = int_at(f->rows, i), columns = int_at(f->columns, i),
                      length = whole_at(f->starts, i + 1) - whole_at(f->starts, i);
        if (rows < 1 || columns < 1 || rows * columns != length)
            return hd_fail(err, HEED_BAD_FILE,
                           "%s: item %zu (from 1) has %lld vectors, which is not %lld rows of %lld",
                           f->path, i + 1, (long long)length, (long long)rows, (long long)columns);
    }
    return true;
}

/* A list of whole numbers, as many as there are items and `more`. */
static bool find_list(const void **list, const struct hd_vectors_file *f, const char *name,
                      enum hd_dtype dtype, heed_error *err)
{
    const struct hd_tensor *t = hd_safetensors_find(f->safetensors, name);
    char shape[HD_SHAPE_TEXT];
    if (!t || (t->dtype == dtype && t->n_dims == 1 && t->n == (size_t)f->n)) {
        *list = t ? t->data : NULL;
        return true;
    }
    return hd_fail(err, HEED_BAD_FILE, "%s: %s is %s %s, but must be %s [%d], one for each item",
                   f->path, name, hd_dtype_name(t->dtype), hd_shape_text(shape, t),
                   hd_dtype_name(dtype), f->n);
}

static bool check_safetensors(struct hd_vectors_file *f, heed_error *err)
{
    const struct hd_tensor *all = hd_safetensors_find(f->safetensors, "vectors"),
                           *starts = hd_safetensors_find(f->safetensors, "starts");
    if (!all)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: there is no tensor 'vectors' in it; a file of vectors has vectors "
                       "[Σ lengths, width] and starts [n + 1]",
                       f->path);
    if (!check_numbers(f, all, 2, err))
        return false;
    if (!starts)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: there is no tensor 'starts' in it, which says where each item begins",
                       f->path);
    if (starts->dtype != HD_I64 || starts->n_dims != 1 || starts->n < 2 || starts->n > INT_MAX / 2)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: starts must be I64 [n + 1], the first vector of each item and, last, "
                       "their number",
                       f->path);
    f->all = *all;
    f->starts = starts->data;
    f->n = (int)starts->n - 1;
    if (!check_starts(f, all->dims[0], err) || !find_list(&f->rows, f, "rows", HD_I32, err) ||
        !find_list(&f->columns, f, "columns", HD_I32, err))
        return false;
    if (!f->rows != !f->columns)
        return hd_fail(err, HEED_BAD_FILE, "%s: a grid needs both rows and columns", f->path);
    return !f->rows || check_grids(f, err);
}

/* An item an array; a single array of three dimensions is several items. */
static bool check_npz(struct hd_vectors_file *f, heed_error *err)
{
    const struct hd_tensors *t = &f->npz->tensors;
    if (t->n == 0 || t->n > INT_MAX / 2)
        return hd_fail(err, HEED_BAD_FILE, "%s: there are %zu arrays in it", f->path, t->n);
    if (t->n == 1 && t->at[0].n_dims == 3) {
        f->all = t->at[0];
        if (!check_numbers(f, &f->all, 3, err))
            return false;
        if (f->all.dims[0] == 0 || f->all.dims[0] > INT_MAX / 2)
            return hd_fail(err, HEED_BAD_FILE, "%s: there are %zu items in it", f->path,
                           f->all.dims[0]);
        f->n = (int)f->all.dims[0];
        if (!check_length(f, 0, (int64_t)f->all.dims[1], err))
            return false;
        f->length = (int)f->all.dims[1];
        return true;
    }
    f->n = (int)t->n;
    for (size_t i = 0; i < t->n; i++) {
        if (!check_numbers(f, &t->at[i], 2, err) ||
            !check_length(f, i, (int64_t)t->at[i].dims[0], err))
            return false;
        if (t->at[i].dims[1] != t->at[0].dims[1])
            return hd_fail(err, HEED_BAD_FILE,
                           "%s: %s has vectors of width %zu, but those of %s have %zu", f->path,
                           t->at[i].name, t->at[i].dims[1], t->at[0].name, t->at[0].dims[1]);
    }
    return true;
}

/* ---- opening -------------------------------------------------------------------------------------- */

static void close_file(struct hd_vectors_file *f)
{
    hd_safetensors_close(f->safetensors);
    hd_npz_close(f->npz);
    hd_free(f->memory);
    hd_free(f->path);
}

void hd_vectors_close(struct hd_vectors *v)
{
    for (size_t i = 0; i < v->n_files; i++)
        close_file(&v->files[i]);
    hd_free(v->files);
    hd_feature_release(&v->feature);
    *v = (struct hd_vectors){0};
}

static size_t width_of(const struct hd_vectors_file *f)
{
    return f->all.n_dims > 0 ? f->all.dims[f->all.n_dims - 1]
           : f->npz          ? f->npz->tensors.at[0].dims[1]
                             : 0;
}

/* The file joins the others, or is closed. */
static bool join(struct hd_vectors *v, struct hd_vectors_file *f, heed_error *err)
{
    const size_t width = width_of(f);
    const bool has_grids = f->rows || f->grid[0] > 0;
    bool ok = v->n_files == 0 || (int)width == v->width ||
              hd_fail(err, HEED_BAD_FILE,
                      "%s: its vectors have width %zu, but those of %s have %d; make them alike",
                      f->path, width, v->files[0].path, v->width);
    ok = ok &&
         (v->n_files == 0 || has_grids == v->has_grids ||
          hd_fail(err, HEED_BAD_FILE, "%s %s grids (rows, columns), but %s %s", f->path,
                  has_grids ? "has" : "has no", v->files[0].path, has_grids ? "has none" : "has"));
    ok = ok && (f->n <= INT_MAX / 2 - v->n ||
                hd_fail(err, HEED_BAD_FILE, "%s: there are too many items", f->path));
    struct hd_vectors_file *grown =
        ok ? hd_grow(v->files, &v->capacity, v->n_files + 1, sizeof *grown, err) : NULL;
    if (!grown) {
        close_file(f);
        return false;
    }
    v->files = grown;
    f->first = v->n;
    v->width = (int)width;
    v->read = hd_vectors_read;
    v->grid = hd_vectors_grid;
    v->has_grids = has_grids;
    v->n += f->n;
    v->files[v->n_files++] = *f;
    return true;
}

/* What the first file says about how it was made. */
static bool note_feature(struct hd_vectors *v, const struct hd_vectors_file *f, heed_error *err)
{
    if (v->n_files > 0)
        return true;
    if (!f->safetensors) {
        v->feature.settings.kind = HD_OPTION_OPEN;
        return true;
    }
    if (!hd_feature_load(&v->feature, f->safetensors, "", err))
        return false;
    if (v->feature.settings.kind != HD_OPTION_OPEN &&
        (size_t)hd_feature_width(&v->feature.settings) != width_of(f))
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: its vectors have width %zu, but its settings make %d", f->path,
                       width_of(f), hd_feature_width(&v->feature.settings));
    return true;
}

static bool open_bytes(struct hd_vectors *v, const char *path, const void *data, size_t size,
                       heed_error *err)
{
    struct hd_vectors_file f = {.path = hd_copy_string(path, err)};
    const bool is_numpy =
        data ? size >= 2 && (memcmp(data, "PK", 2) == 0 || memcmp(data, "\x93N", 2) == 0)
             : !ends_in(path, ".safetensors");
    bool ok = f.path != NULL;
    if (ok && is_numpy)
        f.npz = data ? hd_npz_open_memory(path, data, size, err) : hd_npz_open(path, err);
    else if (ok)
        f.safetensors = data ? hd_safetensors_open_memory(path, data, size, err)
                             : hd_safetensors_open(path, err);
    ok = f.npz ? check_npz(&f, err) : f.safetensors && check_safetensors(&f, err);
    ok = ok && note_feature(v, &f, err);
    if (ok)
        return join(v, &f, err);
    close_file(&f);
    return false;
}

bool hd_vectors_open(struct hd_vectors *v, const char *path, heed_error *err)
{
    return open_bytes(v, path, NULL, 0, err);
}

bool hd_vectors_open_memory(struct hd_vectors *v, const char *name, const void *data, size_t size,
                            heed_error *err)
{
    return open_bytes(v, name, data, size, err);
}

bool hd_vectors_add(struct hd_vectors *v, const char *name, struct hd_featured *item,
                    heed_error *err)
{
    const size_t dims[] = {1, (size_t)item->n, (size_t)item->width};
    struct hd_vectors_file f = {.path = hd_copy_string(name, err),
                                .memory = item->x,
                                .all = hd_tensor_of("vectors", HD_F32, item->x, dims, 3),
                                .length = item->n,
                                .n = 1,
                                .grid = {item->rows, item->columns}};
    *item = (struct hd_featured){0};
    if (v->n_files == 0)
        v->feature.settings.kind = HD_OPTION_OPEN;
    if (f.path)
        return join(v, &f, err);
    close_file(&f);
    return false;
}

/* ---- reading -------------------------------------------------------------------------------------- */

static const struct hd_vectors_file *file_of(const struct hd_vectors *v, int item)
{
    size_t low = 0, high = v->n_files;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (v->files[middle].first <= item)
            low = middle;
        else
            high = middle;
    }
    return &v->files[low];
}

int hd_vectors_length(const struct hd_vectors *v, int item)
{
    const struct hd_vectors_file *f = file_of(v, item);
    const size_t i = (size_t)(item - f->first);
    if (f->starts)
        return (int)(whole_at(f->starts, i + 1) - whole_at(f->starts, i));
    return f->all.n_dims > 0 ? f->length : (int)f->npz->tensors.at[i].dims[0];
}

void hd_vectors_grid(const struct hd_vectors *v, int item, int *rows, int *columns)
{
    const struct hd_vectors_file *f = file_of(v, item);
    const size_t i = (size_t)(item - f->first);
    *rows = f->rows ? int_at(f->rows, i) : f->grid[0];
    *columns = f->columns ? int_at(f->columns, i) : f->grid[1];
}

struct hd_vectors_name hd_vectors_name(const struct hd_vectors *v, int item)
{
    const struct hd_vectors_file *f = file_of(v, item);
    struct hd_vectors_name name;
    if (f->n == 1)
        snprintf(name.text, sizeof name.text, "%s", f->path);
    else
        snprintf(name.text, sizeof name.text, "%s, item %d", f->path, item - f->first + 1);
    return name;
}

bool hd_vectors_read(const struct hd_vectors *v, int item, float *x, heed_error *err)
{
    const struct hd_vectors_file *f = file_of(v, item);
    const size_t i = (size_t)(item - f->first);
    const size_t dims[] = {(size_t)hd_vectors_length(v, item), (size_t)v->width};
    struct hd_tensor t;
    if (f->all.n_dims == 0) {
        t = f->npz->tensors.at[i];
    } else {
        const size_t from = f->starts ? (size_t)whole_at(f->starts, i) : i * dims[0];
        t = hd_tensor_of("vectors", f->all.dtype,
                         (const char *)f->all.data + from * dims[1] * hd_dtype_size(f->all.dtype),
                         dims, 2);
        t.file = f->path;
    }
    size_t bad;
    if (!hd_read_f32(x, &t, dims[0] * dims[1], err))
        return false;
    if (!hd_all_finite(x, dims[0] * dims[1], &bad))
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: vector %zu of item %d (from 1) has a number that is not finite",
                       f->path, bad / dims[1] + 1, item - f->first + 1);
    return true;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t hd_vectors_fingerprint(const struct hd_vectors *v)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) + (uint64_t)v->width;
    for (int item = 0; item < v->n; item++) {
        const struct hd_vectors_file *f = file_of(v, item);
        const size_t i = (size_t)(item - f->first), n = (size_t)hd_vectors_length(v, item);
        const bool is_own = f->all.n_dims == 0;
        const struct hd_tensor *t = is_own ? &f->npz->tensors.at[i] : &f->all;
        const size_t from = is_own      ? 0
                            : f->starts ? (size_t)whole_at(f->starts, i)
                                        : i * n,
                     row = (size_t)v->width * hd_dtype_size(t->dtype);
        const char *first = (const char *)t->data + from * row;
        hash = mix(hash, &n, sizeof n);
        hash = mix(mix(hash, first, row), first + (n - 1) * row, row);
    }
    return hash;
}

/* Σ x and Σ (x - first)² by number, item by item in their order; the first vector's values keep the squares small. */
static bool sum_all(const struct hd_vectors *v, double *sums, double *squares, double *shift,
                    size_t *n_rows, heed_error *err)
{
    const size_t width = (size_t)v->width;
    float *x = NULL;
    size_t capacity = 0;
    bool ok = true;
    for (int item = 0; ok && item < v->n; item++) {
        const size_t n = (size_t)hd_vectors_length(v, item);
        float *grown = hd_grow(x, &capacity, n * width, sizeof *x, err);
        ok = grown != NULL;
        x = grown ? grown : x;
        ok = ok && hd_vectors_read(v, item, x, err);
        for (size_t d = 0; ok && item == 0 && d < width; d++)
            shift[d] = (double)x[d];
        for (size_t i = 0; ok && i < n * width; i++) {
            const double u = (double)x[i] - shift[i % width];
            sums[i % width] += u;
            squares[i % width] += u * u;
        }
        *n_rows += n;
    }
    hd_free(x);
    return ok;
}

bool hd_vectors_statistics(const struct hd_vectors *v, float *mean, float *scale, heed_error *err)
{
    const size_t width = (size_t)v->width;
    double *sums = hd_alloc(3 * width, sizeof *sums, err);
    size_t n = 0;
    const bool ok = sums && sum_all(v, sums, sums + width, sums + 2 * width, &n, err);
    for (size_t d = 0; ok && d < width; d++) {
        const double m = sums[d] / (double)n, variance = sums[width + d] / (double)n - m * m;
        mean[d] = (float)(m + sums[2 * width + d]);
        scale[d] = variance > 1e-10 ? (float)(1 / __builtin_sqrt(variance)) : 1;
    }
    hd_free(sums);
    return ok;
}
