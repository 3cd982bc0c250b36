/* marian_bin.c -- model.bin of Marian. */
#include "format/marian_bin.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 1, ENCRYPTED = 2, HEADER = 32 }; /* bytes of each array before the names */

/* Types: a class, and the size of an element. */
enum {
    INTGEMM8 = 0x10001,
    INTGEMM16 = 0x10002,
    FORK_INTGEMM8 = 0x4101, /* of the branch of Marian that browsers have */
    FORK_INTGEMM16 = 0x4102,
    PACKED = 0x800, /* and beyond: laid out for one CPU */
};

struct reader {
    struct hd_marian_bin *file;
    const unsigned char *at, *end;
    heed_error *err;
};

static bool read_all(struct hd_marian_bin *file, const void *data, size_t size, heed_error *err);

/* ---- opening --------------------------------------------------------------------------------- */

static struct hd_marian_bin *new_file(const char *path, heed_error *err)
{
    struct hd_marian_bin *file = hd_new(struct hd_marian_bin, err);
    if (file && !(file->path = hd_copy_string(path, err))) {
        hd_free(file);
        return NULL;
    }
    return file;
}

struct hd_marian_bin *hd_marian_bin_open(const char *path, heed_error *err)
{
    struct hd_marian_bin *file = new_file(path, err);
    if (!file || !hd_map_open(&file->map, path, err) ||
        !read_all(file, file->map.data, file->map.size, err)) {
        hd_marian_bin_close(file);
        return NULL;
    }
    return file;
}

struct hd_marian_bin *hd_marian_bin_open_memory(const char *name, const void *data, size_t size,
                                                heed_error *err)
{
    struct hd_marian_bin *file = new_file(name, err);
    if (!file || !read_all(file, data, size, err)) {
        hd_marian_bin_close(file);
        return NULL;
    }
    return file;
}

void hd_marian_bin_close(struct hd_marian_bin *file)
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
    return hd_fail(r->err, HEED_BAD_MODEL, "%s: %s; it is damaged, or not a model.bin of Marian",
                   r->file->path, what);
}

/* A little-endian number of n bytes. */
static uint64_t number_at(const unsigned char *b, size_t n)
{
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++)
        x |= (uint64_t)b[i] << (8 * i);
    return x;
}

bool hd_is_marian_bin(const void *data, size_t size)
{
    const uint64_t version = size >= 16 ? number_at(data, 8) : 0;
    return version == VERSION || version == ENCRYPTED;
}

/* The next n bytes; NULL, and said, where there are not so many. */
static const unsigned char *take(struct reader *r, uint64_t n)
{
    if ((uint64_t)(r->end - r->at) < n) {
        fail(r, "it ends too early");
        return NULL;
    }
    r->at += n;
    return r->at - n;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* What stands before the names, of array i. */
struct header {
    uint64_t name_length, type, n_dims, n_bytes;
};

static struct header header_of(const unsigned char *headers, size_t i)
{
    const unsigned char *b = headers + i * HEADER;
    return (struct header){number_at(b, 8), number_at(b + 8, 8), number_at(b + 16, 8),
                           number_at(b + 24, 8)};
}

static bool read_name(struct reader *r, const struct header *h, struct hd_tensor *t)
{
    const char *s = (const char *)take(r, h->name_length);
    *t = (struct hd_tensor){.file = r->file->path, .name = s};
    if (!s)
        return false;
    const size_t n = (size_t)h->name_length;
    return (n > 1 && s[n - 1] == '\0' && strlen(s) == n - 1 && hd_utf8_valid(s, n - 1, NULL)) ||
           fail(r, "a name in it is no text");
}

static bool read_shape(struct reader *r, const struct header *h, struct hd_tensor *t)
{
    if (h->n_dims > HD_TENSOR_DIMS)
        return fail(r, "an array has more than eight dimensions");
    const unsigned char *b = take(r, 4 * h->n_dims);
    t->n_dims = (int)h->n_dims;
    for (int d = 0; b && d < t->n_dims; d++) {
        const uint64_t size = number_at(b + 4 * d, 4);
        if (size > INT32_MAX)
            return fail(r, "an array has a size below 0");
        t->dims[d] = (size_t)size;
    }
    return b != NULL;
}

/* Its plain type; false without a sentence where it has none. */
static bool plain_type(uint64_t type, enum hd_dtype *dtype)
{
    static const struct {
        unsigned code;
        enum hd_dtype dtype;
    } types[] = {{0x101, HD_I8},  {0x102, HD_I16}, {0x104, HD_I32}, {0x108, HD_I64},
                 {0x201, HD_U8},  {0x202, HD_U16}, {0x204, HD_U32}, {0x208, HD_U64},
                 {0x402, HD_F16}, {0x404, HD_F32}, {0x408, HD_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == type) {
            *dtype = types[i].dtype;
            return true;
        }
    return false;
}

static bool refuse_type(const struct reader *r, const struct hd_tensor *t, uint64_t type)
{
    char what[64];
    if (type == FORK_INTGEMM8 || type == FORK_INTGEMM16)
        return hd_fail(r->err, HEED_BAD_MODEL,
                       "%s: its tensor %s is packed in the way of the Marian that browsers have "
                       "(type 0x%x), which heed cannot read; convert the model's .npz",
                       r->file->path, hd_quote(t->name).text, (unsigned)type);
    if (type >= PACKED && type <= UINT32_MAX)
        return hd_fail(r->err, HEED_BAD_MODEL,
                       "%s: its tensor %s is packed for one kind of CPU (type 0x%x), which heed "
                       "cannot read; convert the model's .npz, or let marian-conv write gemm-type "
                       "float32 or intgemm8",
                       r->file->path, hd_quote(t->name).text, (unsigned)type);
    snprintf(what, sizeof what, "an array has the type 0x%llx, which heed does not know",
             (unsigned long long)type);
    return fail(r, what);
}

/* Packed for any CPU: whole numbers [out,in], whatever its shape [in,out] says, then what they were multiplied by. */
static bool unpack(struct reader *r, const struct header *h, struct hd_tensor *t)
{
    const size_t size = h->type == INTGEMM8 ? 1 : 2;
    size_t packed;
    if (t->n_dims != 2 || !hd_mul_size(&packed, t->n, size) || packed > SIZE_MAX - 4 ||
        h->n_bytes < packed + 4)
        return fail(r, "a packed array has another size than its shape");
    const unsigned char *q = take(r, h->n_bytes);
    float *x = q ? hd_take(&r->file->arena, t->n * sizeof *x) : NULL;
    if (!q || !x)
        return q && hd_fail(r->err, HEED_NO_MEMORY, "%s: there is no memory for %s", r->file->path,
                            t->name);
    const uint32_t bits = (uint32_t)number_at(q + packed, 4);
    float times;
    memcpy(&times, &bits, sizeof times);
    if (!(times > 0) || !hd_all_finite(&times, 1, NULL))
        return fail(r, "a packed array's multiplier is not above 0");
    const size_t rows = t->dims[0], columns = t->dims[1];
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const unsigned char *b = q + (j * rows + i) * size;
            const int whole = size == 1 ? (int8_t)b[0] : (int16_t)(b[0] | b[1] << 8);
            x[i * columns + j] = (float)whole / times;
        }
    t->dtype = HD_F32;
    t->data = x;
    t->bytes = t->n * sizeof *x;
    return true;
}

static bool read_data(struct reader *r, const struct header *h, struct hd_tensor *t)
{
    const bool is_packed = h->type == INTGEMM8 || h->type == INTGEMM16;
    if (!is_packed && !plain_type(h->type, &t->dtype))
        return refuse_type(r, t, h->type);
    if (!hd_count_elements(&t->n, t->dims, t->n_dims))
        return fail(r, "an array has another size than its shape");
    if (is_packed)
        return unpack(r, h, t);
    if (!hd_mul_size(&t->bytes, t->n, hd_dtype_size(t->dtype)) || h->n_bytes < t->bytes)
        return fail(r, "an array has another size than its shape");
    t->data = take(r, h->n_bytes);
    return t->data != NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool read_arrays(struct reader *r, uint64_t n)
{
    struct hd_tensors *all = &r->file->tensors;
    if (n > (uint64_t)(r->end - r->at) / HEADER)
        return fail(r, "it has more arrays than bytes");
    const unsigned char *headers = take(r, n * HEADER);
    all->at = headers ? hd_alloc((size_t)n, sizeof *all->at, r->err) : NULL;
    if (!all->at)
        return false;
    all->n = (size_t)n;
    for (size_t i = 0; i < all->n; i++) {
        const struct header h = header_of(headers, i);
        if (!read_name(r, &h, &all->at[i]))
            return false;
    }
    for (size_t i = 0; i < all->n; i++) {
        const struct header h = header_of(headers, i);
        if (!read_shape(r, &h, &all->at[i]))
            return false;
    }
    const unsigned char *gap = take(r, 8);
    if (!gap || !take(r, number_at(gap, 8)))
        return false;
    for (size_t i = 0; i < all->n; i++) {
        const struct header h = header_of(headers, i);
        if (!read_data(r, &h, &all->at[i]))
            return false;
    }
    return hd_tensors_index(all, r->err);
}

static bool read_all(struct hd_marian_bin *file, const void *data, size_t size, heed_error *err)
{
    heed_error why = {0};
    struct reader r = {file, data, (const unsigned char *)data + size, &why};
    const unsigned char *first = take(&r, 16);
    const uint64_t version = first ? number_at(first, 8) : 0;
    bool ok = first != NULL;
    if (ok && version == ENCRYPTED)
        ok = hd_fail(&why, HEED_BAD_MODEL,
                     "%s: it is encrypted (version 2 of Marian's model.bin), which heed cannot "
                     "read",
                     file->path);
    else if (ok && version != VERSION)
        ok = fail(&r, "it is of a version that heed does not know (1)");
    ok = ok && read_arrays(&r, number_at(first + 8, 8));
    if (!ok)
        hd_fail(err, why.code, "%s", why.message);
    return ok;
}
