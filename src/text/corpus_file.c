/* corpus_file.c -- files mapped into memory; what cannot be mapped is unpacked into a file without a name. */
#include "text/corpus_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/input.h"
#include "text/other_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Must the file be unpacked before it can be mapped? What is wrong with it is found then. */
static bool needs_unpacking(const char *path)
{
    struct stat st;
    if (hd_is_stdin(path))
        return true;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    if (!S_ISREG(st.st_mode))
        return true;
    unsigned char magic[2] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_gzip = fd >= 0 && read(fd, magic, 2) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
    if (fd >= 0)
        close(fd);
    return is_gzip;
}

bool hd_corpus_ask(const struct hd_corpus_options *options, double share, heed_error *err)
{
    return !options->progress || options->progress(options->context, share) ||
           hd_fail(err, HEED_CANCELLED, "stopped while reading the text");
}

/* A file that has lost its name already: -1 with the reason in `err`. */
static int open_spool(const char *prefix, char *name, size_t size, heed_error *err)
{
    enum { N_TRIES = 1000 };
    int fd = -1;
    for (int i = 1; i <= N_TRIES && fd < 0; i++) {
        snprintf(name, size, "%s.spool-%d", prefix, i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    if (fd < 0)
        hd_fail_to_write(name, errno, err);
    else
        unlink(name);
    return fd;
}

static bool copy_input(int fd, const char *spool, struct hd_input *input,
                       const struct hd_corpus_options *options, heed_error *err)
{
    enum { SIZE = 1 << 20 };
    char *buffer = hd_alloc(SIZE, 1, err);
    bool ok = buffer != NULL;
    for (size_t n = 1; ok && n > 0;) {
        ok = hd_input_read(input, buffer, SIZE, &n, err) && hd_corpus_ask(options, 0, err);
        for (size_t done = 0; ok && done < n;) {
            const ssize_t written = write(fd, buffer + done, n - done);
            if (written < 0 && errno == EINTR)
                continue;
            ok = written > 0 || hd_fail_to_write(spool, written < 0 ? errno : EIO, err);
            done += ok ? (size_t)written : 0;
        }
    }
    hd_free(buffer);
    return ok;
}

static bool fail_empty(const char *name, heed_error *err)
{
    return hd_fail(err, HEED_BAD_TEXT, "%s: there is no text in it, not even a line", name);
}

static bool map_spooled(struct hd_corpus_file *file, const char *path,
                        const struct hd_corpus_options *options, heed_error *err)
{
    if (!options->spool)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s: this must be unpacked first, and there is no place for that; give a "
                       "plain file",
                       file->name);
    struct hd_input input;
    if (!hd_input_open(&input, path, err))
        return false;
    const size_t size = strlen(options->spool) + 24;
    char *name = hd_alloc(size, 1, err);
    const int fd = name ? open_spool(options->spool, name, size, err) : -1;
    bool ok = fd >= 0 && copy_input(fd, name, &input, options, err);
    if (ok)
        ok = lseek(fd, 0, SEEK_END) != 0 ? hd_map_fd(&file->map, fd, file->name, err)
                                         : fail_empty(file->name, err);
    if (fd >= 0)
        close(fd);
    hd_free(name);
    hd_input_close(&input);
    return ok;
}

bool hd_corpus_file_open(struct hd_corpus_file *file, const char *path, bool is_tsv,
                         const struct hd_corpus_options *options, heed_error *err)
{
    struct stat st;
    file->columns = HD_TWO_COLUMNS;
    file->direction = -1;
    file->name = hd_copy_string(hd_input_name(path), err);
    if (!file->name)
        return false;
    if (needs_unpacking(path)) {
        if (!map_spooled(file, path, options, err))
            return false;
    } else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return fail_empty(path, err);
    else if (!hd_map_open(&file->map, path, err))
        return false;
    const bool has_mark = file->map.size >= 3 && memcmp(file->map.data, "\xEF\xBB\xBF", 3) == 0;
    file->text = (const char *)file->map.data + (has_mark ? 3 : 0);
    file->size = file->map.size - (has_mark ? 3 : 0);
    return file->size > 0 ? hd_check_kind(file->name, file->text, file->size, is_tsv, err)
                          : fail_empty(file->name, err);
}

void hd_corpus_file_close(struct hd_corpus_file *file)
{
    hd_map_close(&file->map);
    hd_free(file->name);
}
