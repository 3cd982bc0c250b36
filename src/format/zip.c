/* zip.c -- the directory of a zip archive, and its members unpacked.
 *
 * The end of the file says where the directory is, the directory where the members are; a member's
 * own header is only stepped over. Invariant: members lie one after the other in front of the
 * directory, so the same bytes cannot be unpacked twice. */
#include "format/zip.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    END_SIZE = 22,   /* of the record at the end, without its comment */
    ENTRY_SIZE = 46, /* of an entry in the directory, without name, extra and comment */
    LOCAL_SIZE = 30, /* of the header before a member, without name and extra */
    LONGEST_COMMENT = 65535,
    BEST_RATIO = 1032, /* deflate: 258 bytes from 2 bits */
    USUAL_RATIO = 100, /* no model or matrix packs so well, but a few zeros may: */
    ALWAYS_FINE = 64 << 20,
    STORED = 0,
    DEFLATED = 8,
    STRANGE_FLAGS = 0x2061, /* encrypted in one way or another, or a patch of another file */
};
static const uint32_t END_SIGN = 0x06054B50, ENTRY_SIGN = 0x02014B50, LOCAL_SIGN = 0x04034B50;

static uint32_t u16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const unsigned char *at)
{
    return u16(at) | u16(at + 2) << 16;
}

static const unsigned char *find_end(const unsigned char *data, size_t size);
static bool read_entry(struct hd_zip *zip, struct hd_zip_member *member, const unsigned char *entry,
                       const unsigned char *data, size_t directory, heed_error *err);
static bool find_bytes(struct hd_zip *zip, struct hd_zip_member *member, const unsigned char *entry,
                       const unsigned char *data, size_t directory, heed_error *err);
static bool check_overlaps(const struct hd_zip *zip, heed_error *err);
static bool check_names(const struct hd_zip *zip, heed_error *err);
static bool check_growth(const struct hd_zip *zip, size_t size, heed_error *err);

bool hd_zip_open(struct hd_zip *zip, const char *path, const void *bytes, size_t size,
                 heed_error *err)
{
    const unsigned char *data = bytes;
    *zip = (struct hd_zip){.path = path};
    const unsigned char *end = find_end(data, size);
    if (!end)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: there is no directory at the end of the archive; the file was cut off, or is "
            "no zip (npz) file",
            path);
    const size_t n = u16(end + 10), directory_size = u32(end + 12), directory = u32(end + 16);
    if (n == 0xFFFF || directory_size == UINT32_MAX || directory == UINT32_MAX)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: this is a zip64 archive, which heed does not read; save the arrays again in "
            "files of less than 4 GiB",
            path);
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != n)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: this is one of several parts of an archive; join them first", path);
    const size_t limit = (size_t)(end - data);
    if (directory > limit || directory_size > limit - directory || n > directory_size / ENTRY_SIZE)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the archive's directory (%zu members in %zu bytes at byte %zu) does not fit into "
            "the file; it is damaged, copy or download it again",
            path, n, directory_size, directory);
    zip->members = hd_alloc(n, sizeof *zip->members, err);
    if (!zip->members)
        return false;
    const unsigned char *at = data + directory, *stop = at + directory_size;
    for (size_t i = 0; i < n; i++) {
        size_t whole = ENTRY_SIZE;
        if ((size_t)(stop - at) >= ENTRY_SIZE)
            whole += u16(at + 28) + u16(at + 30) + u16(at + 32);
        if ((size_t)(stop - at) < whole || u32(at) != ENTRY_SIGN)
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: entry %zu of the archive's directory is damaged; copy or download "
                           "the file again",
                           path, i);
        zip->n_members++;
        if (!read_entry(zip, &zip->members[i], at, data, directory, err))
            return false;
        at += whole;
    }
    return check_overlaps(zip, err) && check_names(zip, err) && check_growth(zip, size, err);
}

void hd_zip_release(struct hd_zip *zip)
{
    for (size_t i = 0; i < zip->n_members; i++)
        hd_free(zip->members[i].name);
    hd_free(zip->members);
    *zip = (struct hd_zip){0};
}

/* The record at the end: its sign, and a comment that reaches to the end of the file. */
static const unsigned char *find_end(const unsigned char *data, size_t size)
{
    for (size_t comment = 0; comment <= LONGEST_COMMENT && comment + END_SIZE <= size; comment++) {
        const unsigned char *end = data + size - comment - END_SIZE;
        if (u32(end) == END_SIGN && u16(end + 20) == comment)
            return end;
    }
    return NULL;
}

static bool read_entry(struct hd_zip *zip, struct hd_zip_member *member, const unsigned char *entry,
                       const unsigned char *data, size_t directory, heed_error *err)
{
    const size_t name_size = u16(entry + 28);
    member->name = hd_alloc(name_size + 1, 1, err);
    if (!member->name)
        return false;
    memcpy(member->name, entry + ENTRY_SIZE, name_size);
    const char *path = zip->path;
    const struct hd_quoted name = hd_quote(member->name);
    if (strlen(member->name) != name_size || !hd_utf8_valid(member->name, name_size, NULL))
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the name of the member %s is not UTF-8; the file is damaged", path,
                       name.text);
    if (u16(entry + 8) & STRANGE_FLAGS)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the member %s is encrypted; unpack the archive with its password and save the "
            "arrays again",
            path, name.text);
    const uint32_t method = u16(entry + 10);
    if (method != STORED && method != DEFLATED)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the member %s is packed with method %u, heed reads 0 (stored) and 8 "
                       "(deflated); save "
                       "the arrays again",
                       path, name.text, method);
    member->is_deflated = method == DEFLATED;
    member->crc = u32(entry + 16);
    member->n_packed = u32(entry + 20);
    member->size = u32(entry + 24);
    if (member->n_packed == UINT32_MAX || member->size == UINT32_MAX ||
        u32(entry + 42) == UINT32_MAX)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the member %s is of zip64 kind, which heed does not read; save the "
                       "arrays again in "
                       "files of less than 4 GiB",
                       path, name.text);
    const bool is_possible = member->is_deflated
                                 ? member->size <= BEST_RATIO * (uint64_t)member->n_packed
                                 : member->size == member->n_packed;
    if (!is_possible)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the member %s claims %zu bytes out of %zu packed ones, which cannot "
                       "be; the file is "
                       "damaged",
                       path, name.text, member->size, member->n_packed);
    return find_bytes(zip, member, entry, data, directory, err);
}

static bool find_bytes(struct hd_zip *zip, struct hd_zip_member *member, const unsigned char *entry,
                       const unsigned char *data, size_t directory, heed_error *err)
{
    const size_t at = u32(entry + 42), name_size = u16(entry + 28);
    const bool is_inside = at <= directory && directory - at >= LOCAL_SIZE;
    const unsigned char *local = is_inside ? data + at : NULL;
    if (local && u32(local) == LOCAL_SIGN && u16(local + 26) == name_size) {
        const size_t skip = LOCAL_SIZE + name_size + u16(local + 28), left = directory - at;
        if (skip <= left && member->n_packed <= left - skip &&
            memcmp(local + LOCAL_SIZE, member->name, name_size) == 0) {
            member->packed = local + skip;
            return true;
        }
    }
    return hd_fail(err, HEED_BAD_MODEL,
                   "%s: the member %s (%zu bytes) is not at byte %zu, where the archive's "
                   "directory says; the file is "
                   "damaged, copy or download it again",
                   zip->path, hd_quote(member->name).text, member->n_packed, at);
}

static int compare_places(const void *a, const void *b)
{
    const struct hd_zip_member *const *x = a;
    const struct hd_zip_member *const *y = b;
    return ((*x)->packed > (*y)->packed) - ((*x)->packed < (*y)->packed);
}

static int compare_names(const void *a, const void *b)
{
    const struct hd_zip_member *const *x = a;
    const struct hd_zip_member *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The members in another order, to be given to hd_free(); NULL without memory. */
static const struct hd_zip_member **sorted(const struct hd_zip *zip,
                                           int (*compare)(const void *, const void *),
                                           heed_error *err)
{
    const struct hd_zip_member **order = hd_alloc(zip->n_members, sizeof *order, err);
    for (size_t i = 0; order && i < zip->n_members; i++)
        order[i] = &zip->members[i];
    if (order)
        qsort(order, zip->n_members, sizeof *order, compare);
    return order;
}

/* Between the bytes of two members there is the second one's header. */
static bool check_overlaps(const struct hd_zip *zip, heed_error *err)
{
    const struct hd_zip_member **order = sorted(zip, compare_places, err);
    bool ok = order != NULL;
    for (size_t i = 1; ok && i < zip->n_members; i++) {
        const size_t distance = (size_t)(order[i]->packed - order[i - 1]->packed);
        const size_t wanted = order[i - 1]->n_packed + LOCAL_SIZE + strlen(order[i]->name);
        ok = distance >= wanted ||
             hd_fail(err, HEED_BAD_MODEL,
                     "%s: the members %s and %s share bytes; the file is damaged", zip->path,
                     hd_quote(order[i - 1]->name).text, hd_quote(order[i]->name).text);
    }
    hd_free(order);
    return ok;
}

/* Of two members with one name nobody could say which is meant. */
static bool check_names(const struct hd_zip *zip, heed_error *err)
{
    const struct hd_zip_member **order = sorted(zip, compare_names, err);
    bool ok = order != NULL;
    for (size_t i = 1; ok && i < zip->n_members; i++)
        ok = strcmp(order[i - 1]->name, order[i]->name) != 0 ||
             hd_fail(err, HEED_BAD_MODEL,
                     "%s: the archive has two members with the name %s; the program that wrote it "
                     "made a mistake",
                     zip->path, hd_quote(order[i]->name).text);
    hd_free(order);
    return ok;
}

/* A small file that fills the memory once it is unpacked is no model. */
static bool check_growth(const struct hd_zip *zip, size_t size, heed_error *err)
{
    uint64_t all = 0;
    for (size_t i = 0; i < zip->n_members; i++)
        all += zip->members[i].size;
    return all <= ALWAYS_FINE || all <= USUAL_RATIO * (uint64_t)size ||
           hd_fail(err, HEED_BAD_MODEL,
                   "%s: its %zu bytes unpack to %llu, which weights do not; if the file is what it "
                   "should be, save it again without compression",
                   zip->path, size, (unsigned long long)all);
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static void *take_memory(void *unused, unsigned count, unsigned size)
{
    (void)unused;
    return hd_alloc_raw((size_t)count * size);
}

static void give_memory(void *unused, void *memory)
{
    (void)unused;
    hd_free(memory);
}

/* All of the member into `out`: true when the stream ends where both sizes say. */
static bool inflate_all(unsigned char *out, const struct hd_zip_member *member, bool *has_no_memory)
{
    z_stream stream = {.zalloc = take_memory, .zfree = give_memory};
    *has_no_memory = inflateInit2(&stream, -MAX_WBITS) != Z_OK;
    if (*has_no_memory)
        return false;
    stream.next_in = (unsigned char *)(uintptr_t)member->packed; /* zlib only reads it */
    stream.avail_in = (uInt)member->n_packed;
    stream.next_out = out;
    stream.avail_out = (uInt)member->size;
    const int status = inflate(&stream, Z_FINISH);
    *has_no_memory = status == Z_MEM_ERROR;
    const bool is_whole = status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
    inflateEnd(&stream);
    return is_whole;
}

const void *hd_zip_read(const struct hd_zip *zip, const struct hd_zip_member *member, void **memory,
                        heed_error *err)
{
    const unsigned char *bytes = member->packed;
    *memory = NULL;
    if (member->is_deflated) {
        unsigned char *out = hd_alloc_raw(member->size);
        bool has_no_memory = !out;
        if (!out || !inflate_all(out, member, &has_no_memory)) {
            hd_free(out);
            if (has_no_memory)
                hd_fail(err, HEED_NO_MEMORY, "%s: there is no memory to unpack the %zu bytes of %s",
                        zip->path, member->size, hd_quote(member->name).text);
            else
                hd_fail(err, HEED_BAD_MODEL,
                        "%s: the member %s cannot be unpacked to %zu bytes; the file is damaged, "
                        "copy or download "
                        "it again",
                        zip->path, hd_quote(member->name).text, member->size);
            return NULL;
        }
        bytes = *memory = out;
    }
    if (crc32(crc32(0, NULL, 0), bytes, (uInt)member->size) != member->crc) {
        hd_free(*memory);
        *memory = NULL;
        hd_fail(err, HEED_BAD_MODEL,
                "%s: the checksum of the member %s is wrong; the file is damaged, copy or download "
                "it again",
                zip->path, hd_quote(member->name).text);
        return NULL;
    }
    return bytes;
}
