/* lines.c -- text files read whole: zlib reads plain files as well as compressed ones, then the bytes are cut into lines
 * and checked. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC on every libc */
#endif
#include "text/lines.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *hd_lines_name(const char *path)
{
    return is_stdin(path) ? "standard input" : path;
}

static gzFile open_text(const char *path, heed_error *err)
{
    const int fd = is_stdin(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        hd_fail_to_read(hd_lines_name(path), errno, err);
    else if (S_ISDIR(st.st_mode))
        hd_fail(err, HEED_BAD_FILE, "%s: this is a folder; name a file in it", path);
    else {
        gzFile file = gzdopen(fd, "rb");
        if (file)
            return file;
        hd_fail(err, HEED_NO_MEMORY, "%s: there is no memory to read it", path);
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static bool fail_to_unpack(gzFile file, const char *name, heed_error *err)
{
    int code;
    const char *reason = gzerror(file, &code);
    if (code == Z_ERRNO)
        return hd_fail_to_read(name, errno, err);
    return hd_fail(err, HEED_BAD_FILE,
                   "%s: the compressed file is damaged (%s); was it copied or downloaded to its "
                   "end?",
                   name, reason);
}

/* All bytes of the file, *size of them, in memory of *capacity. */
static bool read_bytes(struct hd_lines *lines, size_t *size, const char *path, heed_error *err)
{
    gzFile file = open_text(path, err);
    if (!file)
        return false;
    size_t capacity = 0;
    bool ok = true, is_over = false;
    *size = 0;
    while (ok && !is_over) {
        char *grown = hd_grow(lines->bytes, &capacity, *size + (1 << 16), 1, err);
        ok = grown != NULL;
        if (!ok)
            break;
        lines->bytes = grown;
        const size_t room = capacity - *size;
        const int n = gzread(file, grown + *size, room < 1 << 30 ? (unsigned)room : 1 << 30);
        int code = Z_OK;
        if (n == 0)
            gzerror(file, &code); /* a file that was cut short ends like any other */
        ok = (n >= 0 && (code == Z_OK || code == Z_STREAM_END)) ||
             fail_to_unpack(file, hd_lines_name(path), err);
        is_over = n == 0;
        *size += n > 0 ? (size_t)n : 0;
    }
    gzclose_r(file);
    return ok;
}

static bool cut_lines(struct hd_lines *lines, size_t size, const char *path, heed_error *err)
{
    const char *at = lines->bytes, *end = at + size;
    if (size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    size_t n = 0;
    for (const char *c = at; c < end; n++) {
        const char *line_end = memchr(c, '\n', (size_t)(end - c));
        c = line_end ? line_end + 1 : end;
    }
    lines->at = hd_alloc(n, sizeof *lines->at, err);
    if (!lines->at)
        return false;
    for (; lines->n < n; lines->n++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line_end ? line_end : end) - at), bad_at;
        if (!hd_utf8_valid(at, length, &bad_at))
            return hd_fail(err, HEED_BAD_TEXT,
                           "%s: line %zu is not UTF-8 at its byte %zu; convert the file first, for "
                           "example with iconv -t UTF-8",
                           hd_lines_name(path), lines->n + 1, bad_at + 1);
        if (length > 0 && at[length - 1] == '\r')
            length--;
        lines->at[lines->n] = (struct hd_text){at, length};
        at = line_end ? line_end + 1 : end;
    }
    return n > 0 || hd_fail(err, HEED_BAD_TEXT, "%s: there is no text in it, not even a line",
                            hd_lines_name(path));
}

bool hd_lines_read(struct hd_lines *lines, const char *path, heed_error *err)
{
    *lines = (struct hd_lines){0};
    size_t size;
    const bool ok = read_bytes(lines, &size, path, err) && cut_lines(lines, size, path, err);
    if (!ok)
        hd_lines_release(lines);
    return ok;
}

void hd_lines_release(struct hd_lines *lines)
{
    hd_free(lines->at);
    hd_free(lines->bytes);
    *lines = (struct hd_lines){0};
}
