/* files.h -- small files in a folder of their own, for tests that read text. */
#ifndef HD_TEST_FILES_H
#define HD_TEST_FILES_H

#include "test.h"

#include <dirent.h>
#include <unistd.h>
#include <zlib.h>

static char files_folder[] = "/tmp/heed-text-XXXXXX";

/* Good until sixteen calls later. */
static inline const char *in_folder(const char *name)
{
    static char paths[16][512];
    static int next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", files_folder, name);
    return path;
}

static inline const char *put_n(const char *name, const char *bytes, size_t n)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *put(const char *name, const char *text)
{
    return put_n(name, text, strlen(text));
}

/* Compressed; `mode` "wb", or "ab" to append a member. */
static inline const char *put_packed(const char *name, const char *mode, const char *bytes,
                                     size_t n)
{
    const char *path = in_folder(name);
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static inline int n_files_in_folder(void)
{
    int n = 0;
    DIR *folder = opendir(files_folder);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(files_folder) == NULL;
}

static inline int remove_folder(void **state)
{
    (void)state;
    DIR *folder = opendir(files_folder);
    if (!folder)
        return 1;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            unlink(in_folder(entry->d_name));
    closedir(folder);
    return rmdir(files_folder);
}

#endif
