/* lines.c -- text files read whole, then cut into lines and checked. */
#include "text/lines.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/input.h"

#include <string.h>

/* All bytes of the file, *size of them. */
static bool read_bytes(struct hd_lines *lines, size_t *size, const char *path, heed_error *err)
{
    struct hd_input input;
    if (!hd_input_open(&input, path, err))
        return false;
    size_t capacity = 0, n = 1;
    bool ok = true;
    *size = 0;
    while (ok && n > 0) {
        char *grown = hd_grow(lines->bytes, &capacity, *size + (1 << 16), 1, err);
        ok = grown != NULL;
        if (!ok)
            break;
        lines->bytes = grown;
        ok = hd_input_read(&input, grown + *size, capacity - *size, &n, err);
        *size += n;
    }
    hd_input_close(&input);
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
                           "%s:%zu: not UTF-8 at byte %zu of the line; convert the file first, for "
                           "example with iconv -t UTF-8",
                           hd_input_name(path), lines->n + 1, bad_at + 1);
        if (length > 0 && at[length - 1] == '\r')
            length--;
        lines->at[lines->n] = (struct hd_text){at, length};
        at = line_end ? line_end + 1 : end;
    }
    return n > 0 || hd_fail(err, HEED_BAD_TEXT, "%s: there is no text in it, not even a line",
                            hd_input_name(path));
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

/* In one piece of memory. */
bool heed_lines_read(heed_lines *strings, const char *path, heed_error *err)
{
    struct hd_lines lines;
    if (!hd_is_given(strings, "room for lines", err) || !hd_is_given(path, "path", err))
        return false;
    *strings = (heed_lines){0};
    if (!hd_lines_read(&lines, path, err))
        return false;
    size_t n_bytes = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < lines.n; i++) {
        n_bytes += lines.at[i].n + 1;
        ok = !memchr(lines.at[i].at, '\0', lines.at[i].n) ||
             hd_fail(err, HEED_BAD_TEXT, "%s:%zu: there is a NUL byte in this line; is it a text?",
                     hd_input_name(path), i + 1);
    }
    char *memory = ok ? hd_alloc(lines.n * sizeof(char *) + n_bytes, 1, err) : NULL;
    if (memory) {
        *strings = (heed_lines){lines.n, (const char **)memory, memory};
        char *to = memory + lines.n * sizeof(char *);
        for (size_t i = 0; i < lines.n; i++) {
            strings->at[i] = memcpy(to, lines.at[i].at, lines.at[i].n);
            to += lines.at[i].n + 1;
        }
    }
    hd_lines_release(&lines);
    return memory != NULL;
}

void heed_lines_release(heed_lines *lines)
{
    if (!lines)
        return;
    hd_free(lines->memory);
    *lines = (heed_lines){0};
}
