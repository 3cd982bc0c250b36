/* safetensors_write.c -- writing safetensors files: first collected, then written whole or not at
 * all.
 *
 * Invariant: the same tensors and notes, added in the same order, give the same bytes. */
#include "format/safetensors.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_ALIGNMENT = 64 }; /* where the data begins: no tensor is unaligned, whatever it holds */

/* ---- collecting ------------------------------------------------------------------------------ */

struct hd_saved {
    char *name;
    struct hd_tensor tensor;
    enum hd_dtype store;
};

struct hd_note {
    char *key, *value;
};

/* Room for one more thing of `size` bytes at the end of a list. */
static bool make_room(void **list, size_t n, size_t *capacity, size_t size, heed_error *err)
{
    if (n < *capacity)
        return true;
    const size_t larger = n < 8 ? 16 : 2 * n;
    void *grown = hd_alloc(larger, size, err);
    if (!grown)
        return false;
    if (n > 0)
        memcpy(grown, *list, n * size);
    hd_free(*list);
    *list = grown;
    *capacity = larger;
    return true;
}

static bool check_text(const char *text, const char *what, heed_error *err)
{
    size_t bad_at;
    return hd_utf8_valid(text, strlen(text), &bad_at) ||
           hd_fail(err, HEED_BAD_TEXT,
                   "%s %s is not UTF-8 at byte %zu; a safetensors file cannot hold it", what,
                   hd_quote(text).text, bad_at);
}

void hd_saver_add(struct hd_saver *saver, struct hd_tensor tensor, enum hd_dtype store)
{
    heed_error *err = &saver->err;
    assert(tensor.bytes == tensor.n * hd_dtype_size(tensor.dtype));
    if (hd_failed(err) || !check_text(tensor.name, "the name of the tensor", err))
        return;
    if (store != tensor.dtype &&
        !(tensor.dtype == HD_F32 && (store == HD_F16 || store == HD_BF16))) {
        hd_fail(err, HEED_BAD_OPTION,
                "the tensor %s of type %s cannot be stored as %s; only F32 can be stored as "
                "another type, F16 "
                "or BF16",
                hd_quote(tensor.name).text, hd_dtype_name(tensor.dtype), hd_dtype_name(store));
        return;
    }
    if (strcmp(tensor.name, HD_METADATA) == 0) {
        hd_fail(err, HEED_BAD_OPTION,
                "a tensor cannot be called " HD_METADATA
                ", the notes of a file are; choose another name");
        return;
    }
    for (size_t i = 0; i < saver->n_tensors; i++)
        if (strcmp(saver->tensors[i].name, tensor.name) == 0) {
            hd_fail(err, HEED_BAD_OPTION,
                    "two tensors with the name %s cannot be in one file; choose another name",
                    hd_quote(tensor.name).text);
            return;
        }
    void *list = saver->tensors;
    char *name = NULL;
    if (make_room(&list, saver->n_tensors, &saver->tensors_capacity, sizeof *saver->tensors, err))
        name = hd_copy_string(tensor.name, err);
    saver->tensors = list;
    if (name) {
        tensor.name = name;
        saver->tensors[saver->n_tensors++] = (struct hd_saved){name, tensor, store};
    }
}

void hd_saver_note(struct hd_saver *saver, const char *key, const char *value)
{
    heed_error *err = &saver->err;
    if (hd_failed(err) || !check_text(key, "the key", err) || !check_text(value, "the text", err))
        return;
    for (size_t i = 0; i < saver->n_notes; i++)
        if (strcmp(saver->notes[i].key, key) == 0) {
            hd_fail(err, HEED_BAD_OPTION,
                    "two notes with the key %s cannot be in one file; choose another key",
                    hd_quote(key).text);
            return;
        }
    void *list = saver->notes;
    const bool has_room =
        make_room(&list, saver->n_notes, &saver->notes_capacity, sizeof *saver->notes, err);
    saver->notes = list;
    if (!has_room)
        return;
    struct hd_note *note = &saver->notes[saver->n_notes++];
    note->key = hd_copy_string(key, err);
    note->value = hd_copy_string(value, err);
}

void hd_saver_release(struct hd_saver *saver)
{
    for (size_t i = 0; i < saver->n_tensors; i++)
        hd_free(saver->tensors[i].name);
    for (size_t i = 0; i < saver->n_notes; i++) {
        hd_free(saver->notes[i].key);
        hd_free(saver->notes[i].value);
    }
    hd_free(saver->tensors);
    hd_free(saver->notes);
    *saver = (struct hd_saver){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Text that grows; after a failure it only looks as if. */
struct text {
    char *at;
    size_t n, capacity;
    heed_error *err;
    bool has_failed;
};

static void put_bytes(struct text *text, const char *bytes, size_t n)
{
    if (text->has_failed)
        return;
    if (n > text->capacity - text->n) {
        const size_t capacity = 2 * (text->n + n) + 1024;
        char *grown = hd_alloc(capacity, 1, text->err);
        if (!grown) {
            text->has_failed = true;
            return;
        }
        if (text->n > 0)
            memcpy(grown, text->at, text->n);
        hd_free(text->at);
        text->at = grown;
        text->capacity = capacity;
    }
    memcpy(text->at + text->n, bytes, n);
    text->n += n;
}

static void put(struct text *text, const char *string)
{
    put_bytes(text, string, strlen(string));
}

static void put_number(struct text *text, size_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", number);
    put(text, digits);
}

static void put_checksum(struct text *text, uint64_t sum)
{
    char digits[20];
    snprintf(digits, sizeof digits, "%016" PRIx64, sum);
    put(text, digits);
}

/* A JSON string: only quotes, backslashes and control characters need another spelling. */
static void put_string(struct text *text, const char *string)
{
    put(text, "\"");
    for (const char *s = string; *s; s++) {
        char escape[8];
        if (*s == '"' || *s == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *s);
            put(text, escape);
        } else if ((unsigned char)*s < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*s);
            put(text, escape);
        } else
            put_bytes(text, s, 1);
    }
    put(text, "\"");
}

static int compare_notes(const void *a, const void *b)
{
    const struct hd_note *x = a;
    const struct hd_note *y = b;
    return strcmp(x->key, y->key);
}

/* `sums` are the tensors' checksums in their order, NULL for none. The header's is put in when all of it is there. */
static void put_metadata(struct text *text, struct hd_saver *saver, const uint64_t *sums)
{
    put_string(text, HD_METADATA);
    put(text, ":{");
    if (sums) {
        put_string(text, HD_CHECKSUMS);
        put(text, ":\"0000000000000000");
        for (size_t i = 0; i < saver->n_tensors; i++)
            put_checksum(text, sums[i]);
        put(text, saver->n_notes > 0 ? "\"," : "\"");
    }
    if (saver->n_notes > 0)
        qsort(saver->notes, saver->n_notes, sizeof *saver->notes, compare_notes);
    for (size_t i = 0; i < saver->n_notes; i++) {
        put(text, i > 0 ? "," : "");
        put_string(text, saver->notes[i].key);
        put(text, ":");
        put_string(text, saver->notes[i].value);
    }
    put(text, "}");
}

static size_t stored_bytes(const struct hd_saved *saved)
{
    return saved->tensor.n * hd_dtype_size(saved->store);
}

static void put_entry(struct text *text, const struct hd_saved *saved, size_t begin)
{
    put_string(text, saved->name);
    put(text, ":{\"dtype\":");
    put_string(text, hd_dtype_name(saved->store));
    put(text, ",\"shape\":[");
    for (int i = 0; i < saved->tensor.n_dims; i++) {
        put(text, i > 0 ? "," : "");
        put_number(text, saved->tensor.dims[i]);
    }
    put(text, "],\"data_offsets\":[");
    put_number(text, begin);
    put(text, ",");
    put_number(text, begin + stored_bytes(saved));
    put(text, "]}");
}

/* The tensors in the order of the file: elements of 8 bytes, of 4, of 2, of 1, each as they
 * came. */
static const struct hd_saved **in_order(const struct hd_saver *saver, heed_error *err)
{
    const struct hd_saved **order = hd_alloc(saver->n_tensors, sizeof *order, err);
    size_t n = 0;
    for (size_t size = 8; order && size > 0; size /= 2)
        for (size_t i = 0; i < saver->n_tensors; i++)
            if (hd_dtype_size(saver->tensors[i].store) == size)
                order[n++] = &saver->tensors[i];
    return order;
}

static bool put_header(struct text *text, const char *path, struct hd_saver *saver,
                       const struct hd_saved **order, const uint64_t *sums)
{
    const bool has_metadata = saver->n_notes > 0 || sums;
    size_t begin = 0;
    put(text, "{");
    if (has_metadata)
        put_metadata(text, saver, sums);
    for (size_t i = 0; i < saver->n_tensors; i++) {
        put(text, i > 0 || has_metadata ? ",\n" : "");
        put_entry(text, order[i], begin);
        begin += stored_bytes(order[i]);
    }
    put(text, "}");
    while (!text->has_failed && (sizeof(uint64_t) + text->n) % DATA_ALIGNMENT != 0)
        put(text, " ");
    if (text->n > HD_LARGEST_HEADER)
        return hd_fail(
            text->err, HEED_BAD_OPTION,
            "%s: names, shapes and notes take %zu bytes, more than the %d that a file may have for "
            "them; make the notes shorter",
            path, text->n, HD_LARGEST_HEADER);
    if (sums && !text->has_failed) {
        const uint64_t length = text->n;
        struct hd_checksum sum = hd_checksum_begin();
        hd_checksum_add(&sum, &length, sizeof length);
        hd_checksum_add(&sum, text->at, text->n);
        char digits[20];
        snprintf(digits, sizeof digits, "%016" PRIx64, hd_checksum_end(&sum));
        memcpy(text->at + strlen("{\"" HD_METADATA "\":{\"" HD_CHECKSUMS "\":\""), digits, 16);
    }
    return !text->has_failed;
}

/* Where a tensor's bytes go: to the file, or into a checksum. */
struct sink {
    struct hd_writer *file;
    struct hd_checksum *sum;
};

static bool give(const struct sink *sink, const void *bytes, size_t n, heed_error *err)
{
    if (sink->file)
        return hd_write(sink->file, bytes, n, err);
    hd_checksum_add(sink->sum, bytes, n);
    return true;
}

static bool fail_too_large(const char *path, const struct hd_saved *saved, float x, size_t i,
                           heed_error *err)
{
    const bool is_f16 = saved->store == HD_F16;
    return hd_fail(
        err, HEED_BAD_OPTION,
        "%s: number %zu of the tensor %s is %g, too large to be stored as %s; store the model as "
        "%s",
        path, i, hd_quote(saved->name).text, (double)x, is_f16 ? "F16 (at most 65504)" : "BF16",
        is_f16 ? "BF16 or F32" : "F32");
}

/* F32 as 16 bits, a few at a time. */
static bool give_rounded(const struct sink *sink, const char *path, const struct hd_saved *saved,
                         heed_error *err)
{
    enum { AT_ONCE = 2048 };
    float from[AT_ONCE];
    uint16_t to[AT_ONCE];
    const bool is_f16 = saved->store == HD_F16;
    for (size_t first = 0; first < saved->tensor.n; first += AT_ONCE) {
        const size_t n = saved->tensor.n - first < AT_ONCE ? saved->tensor.n - first : AT_ONCE;
        memcpy(from, (const char *)saved->tensor.data + first * sizeof *from, n * sizeof *from);
        for (size_t i = 0; i < n; i++) {
            to[i] = is_f16 ? hd_f16_of_f32(from[i]) : hd_bf16_of_f32(from[i]);
            const float back = is_f16 ? hd_f32_of_f16(to[i]) : hd_f32_of_bf16(to[i]);
            if (!hd_all_finite(&back, 1, NULL) && hd_all_finite(&from[i], 1, NULL))
                return fail_too_large(path, saved, from[i], first + i, err);
        }
        if (!give(sink, to, n * sizeof *to, err))
            return false;
    }
    return true;
}

static bool give_tensor(const struct sink *sink, const char *path, const struct hd_saved *saved,
                        heed_error *err)
{
    if (saved->tensor.n == 0)
        return true;
    if (saved->store != saved->tensor.dtype)
        return give_rounded(sink, path, saved, err);
    return give(sink, saved->tensor.data, saved->tensor.bytes, err);
}

static uint64_t *checksums_of(const char *path, const struct hd_saver *saver,
                              const struct hd_saved **order, heed_error *err)
{
    uint64_t *sums = hd_alloc(saver->n_tensors, sizeof *sums, err);
    bool ok = sums != NULL;
    for (size_t i = 0; ok && i < saver->n_tensors; i++) {
        struct hd_checksum sum = hd_checksum_begin();
        ok = give_tensor(&(struct sink){.sum = &sum}, path, order[i], err);
        sums[i] = hd_checksum_end(&sum);
    }
    if (ok)
        return sums;
    hd_free(sums);
    return NULL;
}

bool hd_saver_write(struct hd_saver *saver, const char *path, heed_error *err)
{
    if (hd_failed(&saver->err))
        return hd_fail(err, saver->err.code, "%s: %s", path, saver->err.message);
    struct hd_writer w = {0};
    struct text header = {.err = err};
    const struct hd_saved **order = in_order(saver, err);
    uint64_t *sums = order && saver->has_checksums ? checksums_of(path, saver, order, err) : NULL;
    bool ok = order && (sums || !saver->has_checksums) &&
              put_header(&header, path, saver, order, sums) && hd_writer_open(&w, path, err);
    if (ok) {
        const uint64_t length = header.n;
        ok = hd_write(&w, &length, sizeof length, err) && hd_write(&w, header.at, header.n, err);
        for (size_t i = 0; ok && i < saver->n_tensors; i++)
            ok = give_tensor(&(struct sink){.file = &w}, path, order[i], err);
        ok = ok && hd_writer_commit(&w, err);
        hd_writer_abandon(&w);
    }
    hd_free(header.at);
    hd_free(sums);
    hd_free(order);
    return ok;
}
