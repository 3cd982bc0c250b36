/* archive.h -- numpy's archives made by hand, member by member, so that anything in them can be wrong. */
#ifndef HD_TEST_ARCHIVE_H
#define HD_TEST_ARCHIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* An archive as it grows: members first, then the directory. What is to be wrong is changed in
 * it. */
struct archive {
    unsigned char bytes[131072];
    size_t n;
    unsigned char directory[8192];
    size_t n_directory;
    int n_members;
};

static inline void put16(unsigned char *at, unsigned x)
{
    at[0] = (unsigned char)x;
    at[1] = (unsigned char)(x >> 8);
}

static inline void put32(unsigned char *at, size_t x)
{
    put16(at, (unsigned)x & 0xFFFF);
    put16(at + 2, (unsigned)(x >> 16) & 0xFFFF);
}

#define FRESH        \
    (struct archive) \
    {                \
        0            \
    }

enum { LOCAL = 30, ENTRY = 46, END = 22 };

/* Places in an entry of the directory. */
enum {
    FLAGS_AT = 8,
    METHOD_AT = 10,
    CRC_AT = 16,
    PACKED_AT = 20,
    SIZE_AT = 24,
    NAME_AT = 28,
    PLACE_AT = 42
};

static inline void add_packed(struct archive *a, const char *name, const void *packed,
                              size_t n_packed, size_t size, uint32_t crc, unsigned method)
{
    const size_t length = strlen(name);
    unsigned char *local = a->bytes + a->n, *entry = a->directory + a->n_directory;
    if (a->n + LOCAL + length + n_packed > sizeof a->bytes ||
        a->n_directory + ENTRY + length > sizeof a->directory)
        abort();
    put32(local, 0x04034B50);
    put16(local + 8, method);
    put32(local + 14, crc);
    put32(local + 18, n_packed);
    put32(local + 22, size);
    put16(local + 26, (unsigned)length);
    memcpy(local + LOCAL, name, length);
    memcpy(local + LOCAL + length, packed, n_packed);
    put32(entry, 0x02014B50);
    put16(entry + METHOD_AT, method);
    put32(entry + CRC_AT, crc);
    put32(entry + PACKED_AT, n_packed);
    put32(entry + SIZE_AT, size);
    put16(entry + NAME_AT, (unsigned)length);
    put32(entry + PLACE_AT, a->n);
    memcpy(entry + ENTRY, name, length);
    a->n += LOCAL + length + n_packed;
    a->n_directory += ENTRY + length;
    a->n_members++;
}

static inline uint32_t crc_of(const void *data, size_t n)
{
    return (uint32_t)crc32(0, data, (uInt)n);
}

static inline void add_stored(struct archive *a, const char *name, const void *data, size_t n)
{
    add_packed(a, name, data, n, n, crc_of(data, n), 0);
}

/* Of at most some kilobytes once it is packed. */
static inline void add_deflated(struct archive *a, const char *name, const void *data, size_t n)
{
    unsigned char packed[4096];
    z_stream z = {.next_in = (void *)(uintptr_t)data,
                  .avail_in = (uInt)n,
                  .next_out = packed,
                  .avail_out = sizeof packed};
    if (deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    const size_t n_packed = z.total_out;
    deflateEnd(&z);
    add_packed(a, name, packed, n_packed, n, crc_of(data, n), 8);
}

/* Directory and end; the archive is then bytes[0..n). */
static inline void finish_archive(struct archive *a)
{
    const size_t place = a->n;
    memcpy(a->bytes + a->n, a->directory, a->n_directory);
    a->n += a->n_directory;
    unsigned char *end = a->bytes + a->n;
    put32(end, 0x06054B50);
    put16(end + 8, (unsigned)a->n_members);
    put16(end + 10, (unsigned)a->n_members);
    put32(end + 12, a->n_directory);
    put32(end + 16, place);
    a->n += END;
}

/* An array of version 1: this dict, and n zero bytes. */
static inline size_t npy_of(char *out, const char *dict, size_t n_data)
{
    const size_t length = strlen(dict);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    put16((unsigned char *)out + 8, (unsigned)length);
    memcpy(out + 10, dict, length);
    memset(out + 10 + length, 0, n_data);
    return 10 + length + n_data;
}

#endif
