/* safetensors_read.c -- reading safetensors files without believing them.
 *
 * Reading goes from the outside in: the length of the header, its outline, its JSON, each entry by
 * itself, then all entries side by side. Invariant: once a file is open, every tensor lies inside
 * it, no two share a byte, no byte is left over, and every name and text is UTF-8. */
#include "format/safetensors.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH_SIZE = sizeof(uint64_t), /* of the header's length */
    DEEPEST = 3,                    /* header, entry, shape */
};

/* What people give instead of a model, told by its first bytes; a header's length ends in zeros. NULL: it may be one. */
static const char *other_than_model(const char *data, size_t size)
{
    if (size >= 4 && memcmp(data, "PK\3\4", 4) == 0)
        return "this is a zip archive, as models of Marian are (.npz); heed convert makes a model "
               "of such a one";
    static const struct {
        const char *bytes;
        size_t n;
        const char *what;
    } packed[] = {
        {"\x1f\x8b", 2, "this is compressed by gzip; unpack it first, with gunzip"},
        {"\xfd"
         "7zXZ",
         5, "this is compressed by xz; unpack it first, with unxz"},
        {"\x28\xb5\x2f\xfd", 4, "this is compressed by zstd; unpack it first, with unzstd"},
        {"BZh", 3, "this is compressed by bzip2; unpack it first, with bunzip2"},
        {"%PDF-", 5, "this is a PDF, not a model"},
    };
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (size >= packed[i].n && memcmp(data, packed[i].bytes, packed[i].n) == 0)
            return packed[i].what;
    const size_t n = size < LENGTH_SIZE ? size : LENGTH_SIZE;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)data[i] < ' ' && data[i] != '\t' && data[i] != '\n' && data[i] != '\r')
            return NULL;
    return "this is text, not a model; name a file that heed train or heed convert has written";
}

static bool read_all(struct hd_safetensors *file, const char *data, size_t size, heed_error *err);
static bool check_outline(const char *path, const char *text, size_t n, heed_error *err);
static bool parse(struct hd_safetensors *file, const char *text, size_t n, heed_error *err);
static bool read_metadata(struct hd_safetensors *file, json_t *metadata, heed_error *err);
static bool read_entries(struct hd_safetensors *file, const char *data, size_t size,
                         heed_error *err);
static bool read_entry(struct hd_tensor *tensor, json_t *entry, const char *data, size_t size,
                       heed_error *err);
static bool read_shape(struct hd_tensor *tensor, json_t *shape, heed_error *err);
static bool read_offsets(struct hd_tensor *tensor, json_t *offsets, const char *data, size_t size,
                         heed_error *err);
static bool check_cover(struct hd_safetensors *file, const char *data, size_t size,
                        heed_error *err);

/* ---- opening --------------------------------------------------------------------------------- */

static struct hd_safetensors *new_file(const char *path, heed_error *err)
{
    struct hd_safetensors *file = hd_new(struct hd_safetensors, err);
    if (file && !(file->path = hd_copy_string(path, err))) {
        hd_free(file);
        return NULL;
    }
    return file;
}

struct hd_safetensors *hd_safetensors_open(const char *path, heed_error *err)
{
    struct hd_safetensors *file = new_file(path, err);
    if (!file || !hd_map_open(&file->map, path, err) ||
        !read_all(file, file->map.data, file->map.size, err)) {
        hd_safetensors_close(file);
        return NULL;
    }
    return file;
}

struct hd_safetensors *hd_safetensors_open_memory(const char *name, const void *data, size_t size,
                                                  heed_error *err)
{
    struct hd_safetensors *file = new_file(name, err);
    if (!file || !read_all(file, data, size, err)) {
        hd_safetensors_close(file);
        return NULL;
    }
    return file;
}

void hd_safetensors_close(struct hd_safetensors *file)
{
    if (!file)
        return;
    hd_tensors_release(&file->tensors);
    hd_free(file->metadata_keys);
    json_decref(file->header);
    hd_map_close(&file->map);
    hd_free(file->path);
    hd_free(file);
}

const struct hd_tensor *hd_safetensors_find(const struct hd_safetensors *file, const char *name)
{
    return hd_tensors_find(&file->tensors, name);
}

const char *hd_safetensors_metadata(const struct hd_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, HD_METADATA), key));
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_all(struct hd_safetensors *file, const char *data, size_t size, heed_error *err)
{
    uint64_t length; /* of the header */
    const char *other = other_than_model(data, size);
    if (other)
        return hd_fail(err, HEED_BAD_MODEL, "%s: %s", file->path, other);
    if (size < LENGTH_SIZE)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the file has only %zu bytes, too few for a safetensors file; it was cut "
            "off or is something else",
            file->path, size);
    memcpy(&length, data, sizeof length);
    file->data = data;
    if (length >> 40 != 0) /* bytes of something else */
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: this is no model; name a file that heed train or heed convert has "
                       "written",
                       file->path);
    if (length > size - LENGTH_SIZE)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the header should have %llu bytes, but only %zu are there; the file was cut "
            "off, or is no safetensors file",
            file->path, (unsigned long long)length, size - LENGTH_SIZE);
    if (length > HD_LARGEST_HEADER)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the header has %llu bytes, more than the %d that any model needs; the file "
            "is damaged, or is no safetensors file",
            file->path, (unsigned long long)length, HD_LARGEST_HEADER);
    const char *header = data + LENGTH_SIZE;
    const size_t n = (size_t)length;
    return check_outline(file->path, header, n, err) && parse(file, header, n, err) &&
           read_metadata(file, json_object_get(file->header, HD_METADATA), err) &&
           read_entries(file, header + n, size - LENGTH_SIZE - n, err) &&
           check_cover(file, header + n, size - LENGTH_SIZE - n, err) &&
           hd_tensors_index(&file->tensors, err);
}

/* Look at the brackets alone: too deep or too many of them, and parsing would cost far more memory
 * than the header has bytes. An entry has 3 in 50 bytes or more. */
static bool check_outline(const char *path, const char *text, size_t n, heed_error *err)
{
    if (n == 0 || text[0] != '{')
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the header does not begin with '{'; the file is damaged, or is no "
                       "safetensors file",
                       path);
    bool is_in_string = false;
    int depth = 0;
    size_t n_open = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            is_in_string = !is_in_string;
        else if (is_in_string)
            i += text[i] == '\\';
        else if (text[i] == '{' || text[i] == '[') {
            n_open++;
            if (++depth > DEEPEST)
                return hd_fail(
                    err, HEED_BAD_MODEL,
                    "%s: at byte %zu the header is nested deeper than tensors are described; "
                    "the file is damaged, or is no safetensors file",
                    path, i + LENGTH_SIZE);
        } else if (text[i] == '}' || text[i] == ']')
            depth--;
    }
    if (n_open > 8 + n / 12)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the header has %zu brackets in %zu bytes, more than tensors need; the file "
            "is damaged, or is no safetensors file",
            path, n_open, n);
    return true;
}

static bool parse(struct hd_safetensors *file, const char *text, size_t n, heed_error *err)
{
    json_error_t error;
    file->header = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (file->header)
        return true;
    switch (json_error_code(&error)) {
    case json_error_out_of_memory:
        return hd_fail(err, HEED_NO_MEMORY, "%s: there is no memory for a header of %zu bytes",
                       file->path, n);
    case json_error_duplicate_key:
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the header has a name twice, the second time before byte %d; the program that "
            "wrote the file made a mistake, write it again",
            file->path, error.position + LENGTH_SIZE);
    case json_error_invalid_utf8:
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the header is not UTF-8 at byte %d; the file is damaged, copy or download it "
            "again",
            file->path, error.position + LENGTH_SIZE);
    default:
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the header is not JSON at byte %d; the file is damaged, copy or download it "
            "again",
            file->path, error.position + LENGTH_SIZE);
    }
}

static int compare_strings(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    return strcmp(*x, *y);
}

static bool read_metadata(struct hd_safetensors *file, json_t *metadata, heed_error *err)
{
    if (!metadata)
        return true;
    if (!json_is_object(metadata))
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: " HD_METADATA
                       " is not a list of texts with names; the program that wrote the "
                       "file made a mistake",
                       file->path);
    file->metadata_keys = hd_alloc(json_object_size(metadata), sizeof(char *), err);
    if (!file->metadata_keys)
        return false;
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: %s in " HD_METADATA
                           " is not text; the program that wrote the file made a "
                           "mistake",
                           file->path, hd_quote(key).text);
        file->metadata_keys[file->n_metadata++] = key;
    }
    qsort(file->metadata_keys, file->n_metadata, sizeof(char *), compare_strings);
    return true;
}

static bool read_entries(struct hd_safetensors *file, const char *data, size_t size,
                         heed_error *err)
{
    file->tensors.at = hd_alloc(json_object_size(file->header), sizeof(struct hd_tensor), err);
    if (!file->tensors.at)
        return false;
    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, HD_METADATA) == 0)
            continue;
        struct hd_tensor *tensor = &file->tensors.at[file->tensors.n++];
        *tensor = (struct hd_tensor){.name = name, .file = file->path};
        if (!read_entry(tensor, entry, data, size, err))
            return false;
    }
    return true;
}

static bool fail_entry(const struct hd_tensor *tensor, const char *what, heed_error *err)
{
    return hd_fail(
        err, HEED_BAD_MODEL,
        "%s: the tensor %s %s; the program that wrote the file made a mistake, or the file "
        "was damaged",
        tensor->file, hd_quote(tensor->name).text, what);
}

static bool read_entry(struct hd_tensor *tensor, json_t *entry, const char *data, size_t size,
                       heed_error *err)
{
    json_t *dtype = json_object_get(entry, "dtype");
    json_t *shape = json_object_get(entry, "shape");
    json_t *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_object(entry))
        return fail_entry(tensor, "is not described by an object {...}", err);
    if (!json_is_string(dtype))
        return fail_entry(tensor, "has no \"dtype\" that is text", err);
    if (!json_is_array(shape))
        return fail_entry(tensor, "has no \"shape\" that is a list", err);
    if (!json_is_array(offsets))
        return fail_entry(tensor, "has no \"data_offsets\" that is a list", err);
    if (json_object_size(entry) != 3)
        return fail_entry(tensor, "has more fields than \"dtype\", \"shape\" and \"data_offsets\"",
                          err);
    if (!hd_dtype_by_name(&tensor->dtype, json_string_value(dtype)))
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the tensor %s has the type %s, which heed does not know; convert it to F32, "
            "F16 or BF16 first",
            tensor->file, hd_quote(tensor->name).text, hd_quote(json_string_value(dtype)).text);
    return read_shape(tensor, shape, err) && read_offsets(tensor, offsets, data, size, err);
}

static bool read_shape(struct hd_tensor *tensor, json_t *shape, heed_error *err)
{
    if (json_array_size(shape) > HD_TENSOR_DIMS)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the tensor %s has %zu dimensions, more than the %d that heed reads",
                       tensor->file, hd_quote(tensor->name).text, json_array_size(shape),
                       HD_TENSOR_DIMS);
    tensor->n_dims = (int)json_array_size(shape);
    for (int i = 0; i < tensor->n_dims; i++) {
        json_t *dim = json_array_get(shape, (size_t)i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return fail_entry(tensor, "has a dimension that is no number from 0 up", err);
        tensor->dims[i] = (size_t)json_integer_value(dim);
    }
    if (!hd_count_elements(&tensor->n, tensor->dims, tensor->n_dims) ||
        !hd_mul_size(&tensor->bytes, tensor->n, hd_dtype_size(tensor->dtype)))
        return fail_entry(tensor, "has a shape with more numbers than a machine can address", err);
    return true;
}

static bool read_offsets(struct hd_tensor *tensor, json_t *offsets, const char *data, size_t size,
                         heed_error *err)
{
    json_t *pair[2] = {json_array_get(offsets, 0), json_array_get(offsets, 1)};
    if (json_array_size(offsets) != 2 || !json_is_integer(pair[0]) || !json_is_integer(pair[1]))
        return fail_entry(tensor, "has \"data_offsets\" that are not two whole numbers", err);
    const json_int_t begin = json_integer_value(pair[0]);
    const json_int_t end = json_integer_value(pair[1]);
    if (begin < 0 || end < begin)
        return fail_entry(tensor, "ends before it begins, or begins before the file", err);
    if ((uint64_t)end > size)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the tensor %s should end at byte %lld of the data, but only %zu are there; the "
            "file was cut off, copy or download it again",
            tensor->file, hd_quote(tensor->name).text, (long long)end, size);
    if ((uint64_t)(end - begin) != tensor->bytes) {
        char shape[HD_SHAPE_TEXT];
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the tensor %s of type %s and shape %s has %lld bytes instead of %zu; the program "
            "that wrote the file made a mistake, or the file was damaged",
            tensor->file, hd_quote(tensor->name).text, hd_dtype_name(tensor->dtype),
            hd_shape_text(shape, tensor), (long long)(end - begin), tensor->bytes);
    }
    tensor->data = data + begin;
    return true;
}

/* By place; the empty ones before what begins there, each other by name. */
static int compare_places(const void *a, const void *b)
{
    const struct hd_tensor *x = a;
    const struct hd_tensor *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The tensors stand one after the other and fill the data. */
static bool check_cover(struct hd_safetensors *file, const char *data, size_t size, heed_error *err)
{
    struct hd_tensors *all = &file->tensors;
    qsort(all->at, all->n, sizeof *all->at, compare_places);
    size_t end = 0; /* of what is covered */
    for (size_t i = 0; i < all->n; i++) {
        const size_t begin = (size_t)((const char *)all->at[i].data - data);
        if (begin < end)
            return hd_fail(
                err, HEED_BAD_MODEL,
                "%s: the tensors %s and %s share bytes; the program that wrote the file made a "
                "mistake, or the file was damaged",
                file->path, hd_quote(all->at[i - 1].name).text, hd_quote(all->at[i].name).text);
        if (begin > end)
            return hd_fail(
                err, HEED_BAD_MODEL,
                "%s: %zu bytes before the tensor %s belong to no tensor; the program that wrote "
                "the file made a mistake, or the file was damaged",
                file->path, begin - end, hd_quote(all->at[i].name).text);
        end = begin + all->at[i].bytes;
    }
    if (end != size)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: %zu bytes at the end belong to no tensor; something was appended to the file, "
            "or it was damaged",
            file->path, size - end);
    return true;
}

/* ---- checksums ------------------------------------------------------------------------------- */

static bool is_digits(const char *digits, uint64_t sum)
{
    char wanted[20];
    snprintf(wanted, sizeof wanted, "%016" PRIx64, sum);
    return memcmp(digits, wanted, 16) == 0;
}

/* With its own digits as zeros, which is how it was when it was computed. */
static uint64_t checksum_of_header(const char *data)
{
    static const char zeros[] = "0000000000000000";
    const size_t at = LENGTH_SIZE + strlen("{\"" HD_METADATA "\":{\"" HD_CHECKSUMS "\":\"");
    uint64_t length;
    memcpy(&length, data, sizeof length);
    const size_t end = LENGTH_SIZE + (size_t)length;
    struct hd_checksum sum = hd_checksum_begin();
    if (end < at + 16)
        return 0;
    hd_checksum_add(&sum, data, at);
    hd_checksum_add(&sum, zeros, 16);
    hd_checksum_add(&sum, data + at + 16, end - at - 16);
    return hd_checksum_end(&sum);
}

bool hd_safetensors_check_header(const struct hd_safetensors *file, heed_error *err)
{
    const char *digits = hd_safetensors_metadata(file, HD_CHECKSUMS);
    return !digits ||
           (strlen(digits) == 16 * (file->tensors.n + 1) &&
            is_digits(digits, checksum_of_header(file->data))) ||
           hd_fail(err, HEED_BAD_MODEL,
                   "%s: the header is damaged: its checksum is not that of what was written",
                   file->path);
}

bool hd_safetensors_check_tensor(const struct hd_safetensors *file, const struct hd_tensor *t,
                                 heed_error *err)
{
    const char *digits = hd_safetensors_metadata(file, HD_CHECKSUMS);
    const size_t i = (size_t)(t - file->tensors.at);
    return !digits || is_digits(digits + 16 * (i + 1), hd_checksum_of(t->data, t->bytes)) ||
           hd_fail(err, HEED_BAD_MODEL,
                   "%s: the tensor %s is damaged: its checksum is not that of what was written",
                   file->path, hd_quote(t->name).text);
}

bool hd_safetensors_check(const struct hd_safetensors *file, heed_error *err)
{
    bool ok = hd_safetensors_check_header(file, err);
    for (size_t i = 0; ok && i < file->tensors.n; i++)
        ok = hd_safetensors_check_tensor(file, &file->tensors.at[i], err);
    return ok;
}
