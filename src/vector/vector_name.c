/* vector_name.c -- names of items. */
#include "vector/vector_name.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "vector/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *hd_vector_name_file(const char *name, int *item, heed_error *err)
{
    char *path = hd_copy_string(name, err), *mark = path ? strrchr(path, '#') : NULL, *end;
    *item = -1;
    if (!path || (!mark && !hd_is_vector_path(path)))
        return path;
    if (mark) {
        *mark = '\0';
        if (!hd_is_vector_path(path)) { /* a sound or a picture with such a name */
            *mark = '#';
            return path;
        }
    }
    const long number = mark ? strtol(mark + 1, &end, 10) : 1;
    if (mark && (end == mark + 1 || *end || number < 1 || number > 1 << 30)) {
        hd_fail(err, HEED_BAD_OPTION, "%s names no item; the third of a file is FILE.safetensors#3",
                hd_quote(name).text);
        hd_free(path);
        return NULL;
    }
    *item = (int)number - 1;
    return path;
}

bool heed_vector_names(heed_lines *lines, const char *path, heed_error *err)
{
    struct hd_vectors v = {0};
    if (!hd_is_given(lines, "lines", err) || !hd_is_given(path, "path", err))
        return false;
    const bool is_file = hd_is_vector_path(path);
    if (is_file && !hd_vectors_open(&v, path, err))
        return false;
    const size_t n = is_file ? (size_t)v.n : 1, longest = strlen(path) + 16;
    char *memory = hd_alloc(n, sizeof(char *) + longest, err);
    hd_vectors_close(&v);
    if (!memory)
        return false;
    *lines = (heed_lines){.n = n, .at = (const char **)(void *)memory, .memory = memory};
    char *text = memory + n * sizeof(char *);
    for (size_t i = 0; i < n; i++, text += longest) {
        snprintf(text, longest, is_file ? "%s#%zu" : "%s", path, i + 1);
        lines->at[i] = text;
    }
    return true;
}

bool heed_is_vectors(const char *path)
{
    return path && hd_is_vector_path(path);
}
