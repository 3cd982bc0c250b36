/* npz.c -- numpy's arrays: a zip whose members each hold a header and the numbers.
 *
 *     \x93NUMPY, version (2 bytes), length of the header (2 bytes; 4 from version 2 on)
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   a Python dict, spaces, line end
 *     the numbers
 *
 * Invariant: a tensor's bytes are exactly the rest of its member. */
#include "format/npz.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "format/zip.h"

#include <stdlib.h>
#include <string.h>

static bool read_all(struct hd_npz *file, const void *data, size_t size, heed_error *err);
static bool read_array(struct hd_tensor *tensor, const char *bytes, size_t size, heed_error *err);

/* ---- opening --------------------------------------------------------------------------------- */

/* What a tensor points to. */
struct hd_npz_member {
    char *name;
    void *memory; /* NULL when the numbers are in the archive as they are */
};

static struct hd_npz *new_file(const char *path, heed_error *err)
{
    struct hd_npz *file = hd_new(struct hd_npz, err);
    if (file && !(file->path = hd_copy_string(path, err))) {
        hd_free(file);
        return NULL;
    }
    return file;
}

struct hd_npz *hd_npz_open(const char *path, heed_error *err)
{
    struct hd_npz *file = new_file(path, err);
    if (!file || !hd_map_open(&file->map, path, err) ||
        !read_all(file, file->map.data, file->map.size, err)) {
        hd_npz_close(file);
        return NULL;
    }
    return file;
}

struct hd_npz *hd_npz_open_memory(const char *name, const void *data, size_t size, heed_error *err)
{
    struct hd_npz *file = new_file(name, err);
    if (!file || !read_all(file, data, size, err)) {
        hd_npz_close(file);
        return NULL;
    }
    return file;
}

void hd_npz_close(struct hd_npz *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->n_members; i++) {
        hd_free(file->members[i].name);
        hd_free(file->members[i].memory);
    }
    hd_free(file->members);
    hd_tensors_release(&file->tensors);
    hd_map_close(&file->map);
    hd_free(file->path);
    hd_free(file);
}

const struct hd_tensor *hd_npz_find(const struct hd_npz *file, const char *name)
{
    return hd_tensors_find(&file->tensors, name);
}

static bool read_members(struct hd_npz *file, struct hd_zip *zip, heed_error *err)
{
    file->members = hd_alloc(zip->n_members, sizeof *file->members, err);
    file->tensors.at = hd_alloc(zip->n_members, sizeof *file->tensors.at, err);
    if (!file->members || !file->tensors.at)
        return false;
    for (size_t i = 0; i < zip->n_members; i++) {
        struct hd_zip_member *packed = &zip->members[i];
        struct hd_npz_member *member = &file->members[file->n_members++];
        const size_t length = strlen(packed->name);
        if (length < 4 || strcmp(packed->name + length - 4, ".npy") != 0)
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: the member %s is no array, as its name does not end in .npy; this "
                           "is a zip, but "
                           "no npz file",
                           file->path, hd_quote(packed->name).text);
        const char *bytes = hd_zip_read(zip, packed, &member->memory, err);
        if (!bytes)
            return false;
        member->name = packed->name; /* ours from now on */
        packed->name = NULL;
        member->name[length - 4] = '\0';
        struct hd_tensor *tensor = &file->tensors.at[file->tensors.n++];
        *tensor = (struct hd_tensor){.name = member->name, .file = file->path};
        if (!read_array(tensor, bytes, packed->size, err))
            return false;
    }
    return hd_tensors_index(&file->tensors, err);
}

/* One array without an archive around it. */
static bool read_alone(struct hd_npz *file, const void *data, size_t size, heed_error *err)
{
    file->tensors.at = hd_alloc(1, sizeof *file->tensors.at, err);
    if (!file->tensors.at)
        return false;
    file->tensors.n = 1;
    file->tensors.at[0] = (struct hd_tensor){.name = "array", .file = file->path};
    return read_array(&file->tensors.at[0], data, size, err) &&
           hd_tensors_index(&file->tensors, err);
}

static bool read_all(struct hd_npz *file, const void *data, size_t size, heed_error *err)
{
    if (size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0)
        return read_alone(file, data, size, err);
    struct hd_zip zip;
    const bool ok = hd_zip_open(&zip, file->path, data, size, err) && read_members(file, &zip, err);
    hd_zip_release(&zip);
    return ok;
}

/* ---- the header of an array ------------------------------------------------------------------ */

/* What is left to read of the dict. */
struct cursor {
    const char *at, *end;
};

static void skip_spaces(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

/* Step over `word` if it is next. */
static bool accept(struct cursor *c, const char *word)
{
    skip_spaces(c);
    const size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* 'text' or "text" without backslashes, of less than `size` bytes. */
static bool read_string(struct cursor *c, char *out, size_t size)
{
    skip_spaces(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char quote = *c->at++;
    size_t n = 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (*c->at == '\\' || n + 1 == size)
            return false;
        out[n++] = *c->at;
    }
    out[n] = '\0';
    return accept(c, quote == '"' ? "\"" : "'");
}

/* Digits; an L after them is how Python 2 wrote it. */
static bool read_number(struct cursor *c, size_t *out)
{
    skip_spaces(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return false;
    size_t number = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (!hd_mul_size(&number, number, 10) ||
            !hd_add_size(&number, number, (size_t)(*c->at - '0')))
            return false;
    accept(c, "L");
    *out = number;
    return true;
}

/* (), (3,), (3, 4) */
static bool read_shape(struct cursor *c, struct hd_tensor *tensor)
{
    bool has_comma = true; /* before the next number */
    if (!accept(c, "("))
        return false;
    while (!accept(c, ")")) {
        if (!has_comma || tensor->n_dims == HD_TENSOR_DIMS ||
            !read_number(c, &tensor->dims[tensor->n_dims]))
            return false;
        tensor->n_dims++;
        has_comma = accept(c, ",");
    }
    return tensor->n_dims != 1 || has_comma; /* (3) is no tuple */
}

struct header {
    char descr[16];
    bool is_fortran;
    bool has_descr, has_order, has_shape;
};

static bool read_field(struct cursor *c, struct header *header, struct hd_tensor *tensor)
{
    char key[16];
    if (!read_string(c, key, sizeof key) || !accept(c, ":"))
        return false;
    if (strcmp(key, "descr") == 0 && !header->has_descr)
        return header->has_descr = read_string(c, header->descr, sizeof header->descr);
    if (strcmp(key, "fortran_order") == 0 && !header->has_order) {
        header->is_fortran = accept(c, "True");
        return header->has_order = header->is_fortran || accept(c, "False");
    }
    if (strcmp(key, "shape") == 0 && !header->has_shape)
        return header->has_shape = read_shape(c, tensor);
    return false;
}

static bool read_dict(struct cursor *c, struct header *header, struct hd_tensor *tensor)
{
    bool has_comma = true;
    if (!accept(c, "{"))
        return false;
    while (!accept(c, "}")) {
        if (!has_comma || !read_field(c, header, tensor))
            return false;
        has_comma = accept(c, ",");
    }
    skip_spaces(c);
    return c->at == c->end && header->has_descr && header->has_order && header->has_shape;
}

/* ---- an array -------------------------------------------------------------------------------- */

static bool fail_array(const struct hd_tensor *tensor, const char *what, heed_error *err)
{
    return hd_fail(err, HEED_BAD_MODEL, "%s: the array %s %s", tensor->file,
                   hd_quote(tensor->name).text, what);
}

static bool read_dtype(struct hd_tensor *tensor, const char *descr, heed_error *err)
{
    static const struct {
        const char *numpy;
        enum hd_dtype dtype;
    } known[] = {
        {"f4", HD_F32}, {"f2", HD_F16}, {"f8", HD_F64}, {"i1", HD_I8},
        {"u1", HD_U8},  {"i2", HD_I16}, {"u2", HD_U16}, {"i4", HD_I32},
        {"u4", HD_U32}, {"i8", HD_I64}, {"u8", HD_U64}, {"b1", HD_BOOL},
    };
    if (descr[0] == '>')
        return fail_array(
            tensor, "is big-endian; save it again with .astype(a.dtype.newbyteorder('<'))", err);
    if (descr[0] == '<' || descr[0] == '|')
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (strcmp(descr + 1, known[i].numpy) == 0 &&
                (descr[0] == '<' || hd_dtype_size(known[i].dtype) == 1)) {
                tensor->dtype = known[i].dtype;
                return true;
            }
    return hd_fail(
        err, HEED_BAD_MODEL,
        "%s: the array %s has the type %s, which heed does not know; save it again as numbers, for "
        "example with .astype('<f4')",
        tensor->file, hd_quote(tensor->name).text, hd_quote(descr).text);
}

/* Where the dict is in the member: false when it is not all there. */
static bool find_dict(struct cursor *c, const char *bytes, size_t size)
{
    const unsigned char *u = (const unsigned char *)bytes;
    const size_t begin = u[6] == 1 ? 10 : 12;
    if (size < begin)
        return false;
    size_t length = u[8] | (size_t)u[9] << 8;
    if (begin == 12)
        length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (length > size - begin)
        return false;
    *c = (struct cursor){bytes + begin, bytes + begin + length};
    return true;
}

static bool read_array(struct hd_tensor *tensor, const char *bytes, size_t size, heed_error *err)
{
    struct header header = {0};
    struct cursor dict;
    if (size < 8 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return fail_array(
            tensor, "does not begin as numpy's arrays do; this is a zip, but no npz file", err);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return fail_array(
            tensor, "is of a version that heed does not know; save it again with numpy.savez", err);
    if (!find_dict(&dict, bytes, size))
        return fail_array(
            tensor, "is shorter than its header; the program that wrote it made a mistake", err);
    const char *data = dict.end;
    if (!read_dict(&dict, &header, tensor))
        return fail_array(
            tensor,
            "has a header that heed does not understand (records and arrays of more than 8 "
            "dimensions are not read); save it again as plain numbers with numpy.savez",
            err);
    if (header.is_fortran)
        return fail_array(
            tensor,
            "is in Fortran order, columns first; save it again with numpy.ascontiguousarray()",
            err);
    if (!read_dtype(tensor, header.descr, err))
        return false;
    if (!hd_count_elements(&tensor->n, tensor->dims, tensor->n_dims) ||
        !hd_mul_size(&tensor->bytes, tensor->n, hd_dtype_size(tensor->dtype)))
        return fail_array(
            tensor, "has a shape with more numbers than a machine can address; the file is damaged",
            err);
    const size_t left = (size_t)(bytes + size - data);
    if (left != tensor->bytes) {
        char shape[HD_SHAPE_TEXT];
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the array %s of type %s and shape %s has %zu bytes instead of %zu; the "
                       "program that "
                       "wrote it made a mistake",
                       tensor->file, hd_quote(tensor->name).text, hd_dtype_name(tensor->dtype),
                       hd_shape_text(shape, tensor), left, tensor->bytes);
    }
    tensor->data = data;
    return true;
}
