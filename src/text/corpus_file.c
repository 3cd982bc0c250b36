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

/* Unpack a file into the spool. */
static bool unpack(int fd, const char *spool, const char *path,
                   const struct hd_corpus_options *options, heed_error *err)
{
    struct hd_input input;
    if (!hd_input_open(&input, path, err))
        return false;
    const bool ok = copy_input(fd, spool, &input, options, err);
    hd_input_close(&input);
    return ok;
}

/* Or write it there as TSV. */
static bool convert(struct hd_corpus_file *file, int fd, const char *path, const char *direction,
                    const struct hd_corpus_options *options, heed_error *err)
{
    const struct hd_corpus_converter *c = options->converter;
    struct hd_direction languages;
    const bool is_told =
        direction && hd_direction_read(&languages, (struct hd_text){direction, strlen(direction)});
    return hd_corpus_ask(options, 0, err) &&
           c->convert(c->context, path, is_told ? &languages : NULL, fd, &file->n_unpaired, err);
}

static bool map_spooled(struct hd_corpus_file *file, const char *path, const char *direction,
                        const struct hd_corpus_options *options, heed_error *err)
{
    if (!options->spool)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s: this must be unpacked first, and there is no place for that; give a "
                       "plain file",
                       file->name);
    const size_t size = strlen(options->spool) + 24;
    char *name = hd_alloc(size, 1, err);
    const int fd = name ? open_spool(options->spool, name, size, err) : -1;
    bool ok = fd >= 0 && (file->is_converted ? convert(file, fd, path, direction, options, err)
                                             : unpack(fd, name, path, options, err));
    const bool is_empty = ok && lseek(fd, 0, SEEK_END) == 0;
    if (ok && !(is_empty && file->is_converted))
        ok = is_empty ? fail_empty(file->name, err) : hd_map_fd(&file->map, fd, file->name, err);
    if (fd >= 0)
        close(fd);
    hd_free(name);
    return ok;
}

bool hd_corpus_file_open(struct hd_corpus_file *file, const char *path, bool is_tsv,
                         const char *direction, const struct hd_corpus_options *options,
                         heed_error *err)
{
    const struct hd_corpus_converter *c = is_tsv ? options->converter : NULL;
    struct stat st;
    file->columns = HD_TWO_COLUMNS;
    file->direction = -1;
    file->name = hd_copy_string(hd_input_name(path), err);
    if (!file->name)
        return false;
    file->is_converted = c && c->is_other(c->context, path);
    if (file->is_converted || needs_unpacking(path)) {
        if (!map_spooled(file, path, direction, options, err))
            return false;
    } else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return fail_empty(path, err);
    else if (!hd_map_open(&file->map, path, err))
        return false;
    const bool has_mark = file->map.size >= 3 && memcmp(file->map.data, "\xEF\xBB\xBF", 3) == 0;
    file->text = (const char *)file->map.data + (has_mark ? 3 : 0);
    file->size = file->map.size - (has_mark ? 3 : 0);
    if (file->is_converted && file->size == 0)
        file->text = ""; /* none of its entries is a pair */
    else if (file->size == 0)
        return fail_empty(file->name, err);
    return file->is_converted || hd_check_kind(file->name, file->text, file->size, is_tsv, err);
}

void hd_corpus_file_close(struct hd_corpus_file *file)
{
    hd_map_close(&file->map);
    hd_free(file->name);
}
