/* line_set.c -- hashes of lines as they are compared, in order. */
#include "text/line_set.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/final_mark.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

struct hd_line_set {
    uint64_t *hashes; /* ascending */
    size_t n, capacity;
};

static uint64_t add_to_hash(uint64_t hash, uint32_t cp)
{
    hash = (hash ^ cp) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 29;
}

/* The line folded in case, a space for any number of them; 0 when nothing is left. */
static uint64_t hash_of(struct hd_text line)
{
    uint64_t hash = 0x8CB92BA72F3D8DD7U;
    bool has_begun = false, has_space = false;
    uint32_t cp;
    line.n = hd_before_final_mark(line);
    for (size_t i = 0; i < line.n;) {
        i += (size_t)hd_utf8_decode(line.at + i, line.n - i, &cp);
        if (hd_char_is_space(cp)) {
            has_space = has_begun;
            continue;
        }
        if (has_space)
            hash = add_to_hash(hash, ' ');
        has_space = false;
        has_begun = true;
        utf8proc_int32_t folded[16];
        int last_class = UTF8PROC_BOUNDCLASS_START;
        const utf8proc_ssize_t n = utf8proc_decompose_char(
            (utf8proc_int32_t)cp, folded, 16, UTF8PROC_CASEFOLD | UTF8PROC_DECOMPOSE, &last_class);
        for (utf8proc_ssize_t k = 0; k < n && k < 16; k++)
            hash = add_to_hash(hash, (uint32_t)folded[k]);
    }
    return has_begun ? (hash ? hash : 1) : 0;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool add_columns(struct hd_line_set *set, struct hd_text line, heed_error *err)
{
    for (bool is_last = false; !is_last;) {
        const char *tab = line.n > 0 ? memchr(line.at, '\t', line.n) : NULL;
        const size_t n = tab ? (size_t)(tab - line.at) : line.n;
        const uint64_t hash = hash_of((struct hd_text){line.at, n});
        if (hash) {
            uint64_t *grown = hd_grow(set->hashes, &set->capacity, set->n + 1, sizeof *grown, err);
            if (!grown)
                return false;
            set->hashes = grown;
            grown[set->n++] = hash;
        }
        is_last = !tab;
        line = tab ? (struct hd_text){tab + 1, line.n - n - 1} : line;
    }
    return true;
}

struct hd_line_set *hd_line_set_read(const char *const *paths, size_t n, heed_error *err)
{
    struct hd_line_set *set = hd_new(struct hd_line_set, err);
    bool ok = set != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        struct hd_lines lines = {0};
        ok = hd_lines_read(&lines, paths[i], err);
        for (size_t k = 0; ok && k < lines.n; k++)
            ok = add_columns(set, lines.at[k], err);
        hd_lines_release(&lines);
    }
    if (!ok) {
        hd_line_set_free(set);
        return NULL;
    }
    if (set->n > 0)
        qsort(set->hashes, set->n, sizeof *set->hashes, by_value);
    return set;
}

void hd_line_set_free(struct hd_line_set *set)
{
    if (!set)
        return;
    hd_free(set->hashes);
    hd_free(set);
}

bool hd_line_set_has(const struct hd_line_set *set, struct hd_text line)
{
    const uint64_t hash = hash_of(line);
    return hash && set->n > 0 && bsearch(&hash, set->hashes, set->n, sizeof hash, by_value) != NULL;
}
