/* ctranslate2.c -- model.bin of CTranslate2. */
#include "format/ctranslate2.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NEWEST = 6, LEAST_VARIABLE = 8, LEAST_ALIAS = 4 }; /* bytes */

struct reader {
    struct hd_ct2 *file;
    const unsigned char *at, *end;
    heed_error *err;
};

static bool read_all(struct hd_ct2 *file, const void *data, size_t size, heed_error *err);

/* ---- opening --------------------------------------------------------------------------------- */

static struct hd_ct2 *new_file(const char *path, heed_error *err)
{
    struct hd_ct2 *file = hd_new(struct hd_ct2, err);
    if (file && !(file->path = hd_copy_string(path, err))) {
        hd_free(file);
        return NULL;
    }
    return file;
}

struct hd_ct2 *hd_ct2_open(const char *path, heed_error *err)
{
    struct hd_ct2 *file = new_file(path, err);
    if (!file || !hd_map_open(&file->map, path, err) ||
        !read_all(file, file->map.data, file->map.size, err)) {
        hd_ct2_close(file);
        return NULL;
    }
    return file;
}

struct hd_ct2 *hd_ct2_open_memory(const char *name, const void *data, size_t size, heed_error *err)
{
    struct hd_ct2 *file = new_file(name, err);
    if (!file || !read_all(file, data, size, err)) {
        hd_ct2_close(file);
        return NULL;
    }
    return file;
}

void hd_ct2_close(struct hd_ct2 *file)
{
    if (!file)
        return;
    hd_tensors_release(&file->tensors);
    hd_arena_release(&file->arena);
    hd_map_close(&file->map);
    hd_free(file->path);
    hd_free(file);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool fail(const struct reader *r, const char *what)
{
    return hd_fail(r->err, HEED_BAD_MODEL,
                   "%s: %s; it is damaged, or not a model.bin of CTranslate2", r->file->path, what);
}

static const unsigned char *bytes(struct reader *r, size_t n)
{
    if ((size_t)(r->end - r->at) < n) {
        fail(r, "it ends too early");
        return NULL;
    }
    r->at += n;
    return r->at - n;
}

/* A little-endian number of n bytes; 0 where they are not there, which has been said. */
static uint32_t number(struct reader *r, size_t n)
{
    const unsigned char *b = bytes(r, n);
    uint32_t x = 0;
    for (size_t i = 0; b && i < n; i++)
        x |= (uint32_t)b[i] << (8 * i);
    return x;
}

/* Its length, with a NUL at the end, and the bytes. */
static const char *string(struct reader *r)
{
    const size_t n = number(r, 2);
    const char *s = hd_failed(r->err) ? NULL : (const char *)bytes(r, n);
    if (s && (n == 0 || s[n - 1] != '\0' || strlen(s) != n - 1 || !hd_utf8_valid(s, n - 1, NULL))) {
        fail(r, "a name in it is no text");
        return NULL;
    }
    return s;
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool read_type(struct reader *r, struct hd_tensor *t, uint32_t *n_bytes)
{
    static const enum hd_dtype types[] = {HD_F32, HD_I8, HD_I16, HD_I32, HD_F16, HD_BF16};
    static const enum hd_dtype by_size[] = {[1] = HD_I8, [2] = HD_I16, [4] = HD_F32};
    const uint32_t code = number(r, 1), count = number(r, 4);
    const bool is_new = r->file->version >= 4;
    if (is_new ? code >= sizeof types / sizeof *types : code != 1 && code != 2 && code != 4)
        return fail(r, "a variable has a type that heed does not know");
    t->dtype = is_new ? types[code] : by_size[code];
    *n_bytes = is_new ? count : count <= UINT32_MAX / 4 ? count * code : UINT32_MAX;
    return true;
}

static bool read_variable(struct reader *r, struct hd_tensor *t)
{
    uint32_t n_bytes = 0;
    *t = (struct hd_tensor){.file = r->file->path, .name = string(r)};
    t->n_dims = t->name ? (int)number(r, 1) : 0;
    if (t->n_dims > HD_TENSOR_DIMS)
        return fail(r, "a variable has more than eight dimensions");
    for (int d = 0; t->name && d < t->n_dims; d++)
        t->dims[d] = number(r, 4);
    if (!t->name || hd_failed(r->err) || !read_type(r, t, &n_bytes) || hd_failed(r->err))
        return false;
    if (!hd_count_elements(&t->n, t->dims, t->n_dims) ||
        !hd_mul_size(&t->bytes, t->n, hd_dtype_size(t->dtype)) || t->bytes != n_bytes)
        return fail(r, "a variable has another size than its shape");
    t->data = bytes(r, t->bytes);
    return t->data != NULL;
}

static bool read_variables(struct reader *r)
{
    struct hd_tensors *all = &r->file->tensors;
    const size_t n = number(r, 4);
    if (n > (size_t)(r->end - r->at) / LEAST_VARIABLE)
        return fail(r, "it has more variables than bytes");
    const unsigned char *start = r->at;
    for (size_t i = 0; i < n; i++) { /* how far they go; then aliases can be counted */
        struct hd_tensor t;
        if (!read_variable(r, &t))
            return false;
    }
    const size_t n_aliases = r->file->version >= 3 ? number(r, 4) : 0;
    if (hd_failed(r->err) || n_aliases > (size_t)(r->end - r->at) / LEAST_ALIAS)
        return fail(r, "it has more names than bytes");
    const unsigned char *aliases = r->at;
    all->at = hd_alloc(n + n_aliases, sizeof *all->at, r->err);
    if (!all->at)
        return false;
    for (r->at = start; all->n < n; all->n++)
        if (!read_variable(r, &all->at[all->n]))
            return false;
    r->at = aliases;
    return hd_tensors_index(all, r->err);
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* w = q / s, one scale for all or for each row. */
static bool scale(struct reader *r, struct hd_tensor *t, const struct hd_tensor *by)
{
    const size_t rows = t->n_dims > 0 ? t->dims[0] : 1,
                 in_row = rows > 0 && t->n >= rows ? t->n / rows : 1;
    float *x = hd_take(&r->file->arena, t->n * sizeof *x);
    float *s = hd_alloc(by->n, sizeof *s, r->err);
    bool ok = s && (x || hd_fail(r->err, HEED_NO_MEMORY, "%s: there is no memory for %s",
                                 r->file->path, t->name));
    ok = ok && hd_read_f32(s, by, by->n, r->err) &&
         ((by->n == 1 || by->n == rows) || fail(r, "a scale does not fit its variable"));
    for (size_t i = 0; ok && i < by->n; i++)
        ok = (s[i] > 0 && hd_all_finite(s + i, 1, NULL)) || fail(r, "a scale is not above 0");
    for (size_t i = 0; ok && i < t->n; i++) {
        const unsigned char *b = (const unsigned char *)t->data + i * hd_dtype_size(t->dtype);
        const int q = t->dtype == HD_I8 ? (int8_t)b[0] : (int16_t)(b[0] | b[1] << 8);
        x[i] = (float)q / s[by->n == 1 ? 0 : i / in_row];
    }
    hd_free(s);
    t->dtype = HD_F32;
    t->data = x;
    t->bytes = t->n * sizeof *x;
    return ok;
}

/* Variables with a scale beside them, and then without. */
static bool scale_all(struct reader *r)
{
    struct hd_tensors *all = &r->file->tensors;
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        struct hd_tensor *t = &all->at[i];
        char name[512];
        const int length = snprintf(name, sizeof name, "%s_scale", t->name);
        const struct hd_tensor *by =
            length > 0 && (size_t)length < sizeof name ? hd_tensors_find(all, name) : NULL;
        if (by && (t->dtype == HD_I8 || t->dtype == HD_I16) && !scale(r, t, by))
            return false;
    }
    for (size_t i = 0; i < all->n; i++) {
        const char *s = all->at[i].name;
        const size_t length = strlen(s);
        if (length < 13 || strcmp(s + length - 13, "/weight_scale") != 0)
            all->at[n++] = all->at[i];
    }
    all->n = n;
    hd_free(all->by_name);
    all->by_name = NULL;
    return hd_tensors_index(all, r->err);
}

/* Names that come twice are found by the index that is made last. */
static bool read_aliases(struct reader *r, size_t n)
{
    struct hd_tensors *all = &r->file->tensors;
    const struct hd_tensors variables = *all; /* names are looked up in what has been indexed */
    for (size_t i = 0; i < n; i++) {
        const char *name = string(r), *target = name ? string(r) : NULL;
        const struct hd_tensor *t = target ? hd_tensors_find(&variables, target) : NULL;
        const size_t length = name ? strlen(name) : 0;
        if (!target)
            return false;
        if (length >= 13 && strcmp(name + length - 13, "/weight_scale") == 0)
            continue;
        if (!t)
            return fail(r, "a name stands for a variable that is not there");
        all->at[all->n] = *t;
        all->at[all->n++].name = name;
    }
    if (all->n == variables.n)
        return true;
    hd_free(all->by_name);
    all->by_name = NULL;
    return hd_tensors_index(all, r->err);
}

static bool read_all(struct hd_ct2 *file, const void *data, size_t size, heed_error *err)
{
    heed_error why = {0};
    struct reader r = {file, data, (const unsigned char *)data + size, &why};
    file->kind = "";
    file->version = number(&r, 4);
    bool ok = !hd_failed(&why);
    if (ok && (file->version < 1 || file->version > NEWEST))
        ok = fail(&r, "it is of a version that heed does not know (1 to 6)");
    if (ok && file->version >= 2) {
        file->kind = string(&r);
        (void)number(&r, 4);
        ok = file->kind && !hd_failed(&why);
    }
    ok = ok && read_variables(&r);
    const unsigned char *aliases = r.at;
    if (ok) {
        r.at = aliases - (file->version >= 3 ? 4 : 0);
        const size_t n = file->version >= 3 ? number(&r, 4) : 0;
        ok = scale_all(&r) && read_aliases(&r, n);
    }
    if (hd_failed(&why))
        hd_fail(err, why.code, "%s", why.message);
    return ok;
}
