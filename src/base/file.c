/* file.c -- mapping files, and writing them so that a half-written one never stands under its
 * name.
 *
 * Writing: a temporary file beside the target (same disk, so that rename works), write, fsync,
 * rename, fsync of the folder. Invariant: `path` is touched by rename() alone, unless it is a
 * device or pipe. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC and friends on every libc */
#endif
#include "base/file.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 16, LARGEST_WRITE = 1 << 30, N_TRIES = 100 };

/* ---- reading --------------------------------------------------------------------------------- */

bool hd_fail_to_read(const char *path, int error, heed_error *err)
{
    if (error == ENOENT || error == ENOTDIR)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: there is no such file; check the name and the folder", path);
    if (error == EACCES || error == EPERM)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: you have no permission to read this file; ask its owner", path);
    if (error == EBADF)
        return hd_fail(err, HEED_BAD_FILE, "%s: it is closed, so nothing can be read from it",
                       path);
    if (error == ENOMEM)
        return hd_fail(err, HEED_NO_MEMORY,
                       "%s: the file is larger than the memory that can be addressed", path);
    return hd_fail(err, HEED_BAD_FILE, "%s: the file cannot be read: %s", path, strerror(error));
}

/* What a clone has in the place of a large file. */
static bool is_pointer(const struct hd_map *map)
{
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    return map->size < 1024 && map->size >= sizeof begin &&
           memcmp(map->data, begin, sizeof begin - 1) == 0;
}

bool hd_map_fd(struct hd_map *map, int fd, const char *name, heed_error *err)
{
    *map = (struct hd_map){0};
    struct stat st;
    if (fstat(fd, &st) != 0)
        return hd_fail_to_read(name, errno, err);
    if (S_ISDIR(st.st_mode))
        return hd_fail(err, HEED_BAD_FILE, "%s: this is a folder; name a file in it", name);
    if (!S_ISREG(st.st_mode))
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: this is a pipe or a device; save its contents to a file first", name);
    if (st.st_size == 0)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: the file is empty; was it copied or downloaded to its end?", name);
    if ((uintmax_t)st.st_size > PTRDIFF_MAX)
        return hd_fail_to_read(name, ENOMEM, err);
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return hd_fail_to_read(name, errno, err);
    *map = (struct hd_map){data, (size_t)st.st_size};
    if (!is_pointer(map))
        return true;
    hd_map_close(map);
    return hd_fail(err, HEED_BAD_FILE,
                   "%s: this is a pointer of git-lfs, not the file that it stands for; run git lfs "
                   "pull in its folder",
                   name);
}

bool hd_map_open(struct hd_map *map, const char *path, heed_error *err)
{
    *map = (struct hd_map){0};
    const int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for the other end of a pipe */
    if (fd < 0)
        return hd_fail_to_read(path, errno, err);
    const bool ok = hd_map_fd(map, fd, path, err);
    close(fd); /* the mapping stays */
    return ok;
}

void hd_map_forget(const struct hd_map *map, const void *from, size_t size)
{
    const uintptr_t start = (uintptr_t)map->data, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t at = (uintptr_t)from, first = (at + page - 1) / page * page,
                    end = (at + size) / page * page;
    if (map->data && at >= start && at + size <= start + map->size && end > first)
        (void)madvise((void *)first, end - first, MADV_DONTNEED); /* of a file that is only read */
}

void hd_map_close(struct hd_map *map)
{
    if (map->data)
        munmap((void *)(uintptr_t)map->data, map->size);
    *map = (struct hd_map){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool open_directly(struct hd_writer *w, heed_error *err);
static bool open_temporary(struct hd_writer *w, const struct stat *old, heed_error *err);
static bool write_all(struct hd_writer *w, const char *data, size_t n, heed_error *err);
static bool flush(struct hd_writer *w, heed_error *err);
static bool sync_folder(char *path, heed_error *err);

bool hd_fail_to_write(const char *path, int error, heed_error *err)
{
    if (error == ENOSPC || error == EDQUOT)
        return hd_fail(
            err, HEED_BAD_FILE,
            "%s: the disk is full; free some space or choose another place, and run again", path);
    if (error == EFBIG)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: the file grows beyond what this disk or your limits (ulimit -f) allow",
                       path);
    if (error == ENOENT || error == ENOTDIR)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: the folder for this file does not exist; make it first", path);
    if (error == EACCES || error == EPERM || error == EROFS)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: you have no permission to write here; choose another place", path);
    if (error == EISDIR)
        return hd_fail(err, HEED_BAD_FILE, "%s: this is a folder; name a file in it", path);
    if (error == EPIPE)
        return hd_fail(err, HEED_BAD_FILE, "%s: whoever was reading this has stopped", path);
    return hd_fail(err, HEED_BAD_FILE, "%s: the file cannot be written: %s", path, strerror(error));
}

/* Where a link leads whose file is not there yet; `path` itself when it is no link. */
static const char *follow(const char *path, char target[PATH_MAX])
{
    enum { MOST_LINKS = 40 };
    char text[PATH_MAX], from[PATH_MAX];
    snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < MOST_LINKS; i++) {
        const ssize_t n = readlink(target, text, sizeof text - 1);
        if (n < 0)
            return target;
        text[n] = '\0';
        memcpy(from, target, sizeof from);
        const char *slash = text[0] == '/' ? NULL : strrchr(from, '/');
        const int folder = slash ? (int)(slash + 1 - from) : 0;
        if (snprintf(target, PATH_MAX, "%.*s%s", folder, from, text) >= PATH_MAX)
            return path;
    }
    return path;
}

bool hd_writer_open(struct hd_writer *w, const char *path, heed_error *err)
{
    *w = (struct hd_writer){.fd = -1};
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    const bool is_ordinary = exists && S_ISREG(st.st_mode);
    char target[PATH_MAX]; /* where a symbolic link leads */
    const bool is_resolved = is_ordinary && realpath(path, target);
    w->path = hd_copy_string(is_resolved ? target : exists ? path : follow(path, target), err);
    w->buffer = hd_alloc(BUFFER_SIZE, 1, err);
    bool ok = false;
    if (!w->path || !w->buffer)
        ok = false;
    else if (path[0] == '\0')
        hd_fail(err, HEED_BAD_FILE, "a file to write was given an empty name");
    else if (exists && S_ISDIR(st.st_mode))
        hd_fail_to_write(path, EISDIR, err);
    else if (exists && access(path, W_OK) != 0)
        hd_fail_to_write(path, errno, err);
    else if (exists && !is_ordinary)
        ok = open_directly(w, err);
    else
        ok = open_temporary(w, exists ? &st : NULL, err);
    w->is_open = w->fd >= 0;
    if (!ok)
        hd_writer_abandon(w);
    return ok;
}

static bool open_directly(struct hd_writer *w, heed_error *err)
{
    w->is_direct = true;
    do
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
    while (w->fd < 0 && errno == EINTR);
    return w->fd >= 0 || hd_fail_to_write(w->path, errno, err);
}

/* PATH.PID-TRY.tmp: the process's number keeps two writers apart, the try's number passes by
 * what a killed one left. */
static bool open_temporary(struct hd_writer *w, const struct stat *old, heed_error *err)
{
    const size_t size = strlen(w->path) + 48;
    w->temporary = hd_alloc(size, 1, err);
    if (!w->temporary)
        return false;
    for (int i = 0; i < N_TRIES && w->fd < 0; i++) {
        snprintf(w->temporary, size, "%s.%ld-%d.tmp", w->path, (long)getpid(), i);
        w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    if (w->fd < 0) {
        const int error = errno;
        hd_free(w->temporary);
        w->temporary = NULL; /* not ours to remove */
        return hd_fail_to_write(w->path, error, err);
    }
    if (old && fchmod(w->fd, old->st_mode & 07777) != 0)
        return hd_fail_to_write(w->path, errno, err);
    return true;
}

bool hd_write(struct hd_writer *w, const void *data, size_t n, heed_error *err)
{
    assert(w->is_open);
    if (w->has_failed)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: an earlier write failed, so the file would not be whole", w->path);
    if (n == 0)
        return true;
    if (n > BUFFER_SIZE - w->n_buffered && !flush(w, err))
        return false;
    if (n >= BUFFER_SIZE)
        return write_all(w, data, n, err);
    memcpy(w->buffer + w->n_buffered, data, n);
    w->n_buffered += n;
    return true;
}

bool hd_writer_commit(struct hd_writer *w, heed_error *err)
{
    assert(w->is_open);
    bool ok = !w->has_failed ||
              hd_fail(err, HEED_BAD_FILE,
                      "%s: an earlier write failed, so the file would not be whole", w->path);
    ok = ok && flush(w, err);
    if (ok && fsync(w->fd) != 0 && !(w->is_direct && (errno == EINVAL || errno == ENOTSUP)))
        ok = hd_fail_to_write(w->path, errno, err);
    const int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0 && errno != EINTR && ok)
        ok = hd_fail_to_write(w->path, errno, err);
    if (ok && !w->is_direct) {
        if (rename(w->temporary, w->path) != 0)
            ok = hd_fail_to_write(w->path, errno, err);
        else {
            char *renamed =
                w->temporary; /* its folder is the file's, and it is not needed any more */
            w->temporary = NULL;
            ok = sync_folder(renamed, err);
            hd_free(renamed);
        }
    }
    hd_writer_abandon(w);
    return ok;
}

void hd_writer_abandon(struct hd_writer *w)
{
    if (w->is_open && w->fd >= 0)
        close(w->fd);
    if (w->temporary)
        unlink(w->temporary);
    hd_free(w->path);
    hd_free(w->temporary);
    hd_free(w->buffer);
    *w = (struct hd_writer){0};
}

static bool flush(struct hd_writer *w, heed_error *err)
{
    const size_t n = w->n_buffered;
    w->n_buffered = 0;
    return write_all(w, w->buffer, n, err);
}

/* The system may take less than it is given, or be interrupted by a signal; neither is a
 * failure. */
static bool write_all(struct hd_writer *w, const char *data, size_t n, heed_error *err)
{
    while (n > 0) {
        const ssize_t taken = write(w->fd, data, n < LARGEST_WRITE ? n : LARGEST_WRITE);
        if (taken < 0 && errno == EINTR)
            continue;
        if (taken <= 0) {
            w->has_failed = true;
            return hd_fail_to_write(w->path, taken < 0 ? errno : EIO, err);
        }
        data += taken;
        n -= (size_t)taken;
        w->n_written += (size_t)taken;
    }
    return true;
}

/* A rename is on the disk when the folder is. Some file systems cannot sync a folder, and some
 * folders may be written but not read: then there is nothing more to be done. Cuts `path` down
 * to its folder. */
static bool sync_folder(char *path, heed_error *err)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0'; /* "/file" is in "/" */
    const char *folder = slash ? path : ".";
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return true;
    const bool ok = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ||
                    hd_fail_to_write(folder, errno, err);
    close(fd);
    return ok;
}
