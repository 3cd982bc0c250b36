/* reader.c -- lines from a file or pipe, waiting for no more than one. */
#include "reader.h"

#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINES = 4096, MOST_BYTES = 1 << 22, READ = 1 << 16 };

static bool is_compressed(int fd)
{
    unsigned char magic[2];
    return pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

bool reader_open(struct reader *r, const char *path)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    *r = (struct reader){.fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
                         .name = is_stdin ? "standard input" : path};
    struct stat st;
    const char *why = NULL;
    if (r->fd < 0 || fstat(r->fd, &st) != 0)
        why = errno == ENOENT ? "there is no such file" : strerror(errno);
    else if (S_ISDIR(st.st_mode))
        why = "this is a folder; name a file in it";
    if (why) {
        complain("%s: %s", r->name, why);
        reader_close(r);
        return false;
    }
    if (!is_compressed(r->fd))
        return true;
    heed_error err = {0};
    if (heed_lines_read(&r->unpacked, path, &err))
        return true;
    complain("%s", err.message);
    reader_close(r);
    return false;
}

void reader_close(struct reader *r)
{
    if (r->fd > STDIN_FILENO)
        close(r->fd);
    heed_lines_release(&r->unpacked);
    free(r->bytes);
    free(r->lines);
    *r = (struct reader){.fd = -1};
}

static void *more_room(void *memory, size_t bytes)
{
    void *grown = realloc(memory, bytes);
    if (!grown) {
        complain("there is no memory left");
        exit(1);
    }
    return grown;
}

static bool read_more(struct reader *r)
{
    if (r->capacity - r->n < READ + 1) {
        r->capacity = 2 * r->capacity + READ + 1;
        r->bytes = more_room(r->bytes, r->capacity);
    }
    ssize_t got;
    do
        got = read(r->fd, r->bytes + r->n, READ);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        complain(errno == EBADF ? "%s: it is closed, so nothing can be read from it"
                                : "%s: it cannot be read: %s",
                 r->name, strerror(errno));
        return false;
    }
    r->is_at_end = got == 0;
    r->n += (size_t)got;
    return true;
}

static bool has_more_now(const struct reader *r)
{
    struct pollfd ask = {.fd = r->fd, .events = POLLIN};
    return poll(&ask, 1, 0) > 0;
}

/* A NUL is no character of a text: it becomes U+FFFD's stand-in, a byte that is no UTF-8, and is warned of like one. */
static void end_line(struct reader *r, size_t n, char *line, char *end)
{
    *end = '\0';
    for (char *nul; (nul = memchr(line, '\0', (size_t)(end - line))) != NULL;)
        *nul = '\xFF';
    if (n == r->line_room) {
        r->line_room = 2 * n + 64;
        r->lines = more_room(r->lines, r->line_room * sizeof *r->lines);
    }
    r->lines[n] = line;
}

static size_t count_lines(const struct reader *r, size_t from)
{
    size_t n = 0;
    for (const char *at = r->bytes + from, *end = r->bytes + r->n;
         at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    return n;
}

static void hand_out(struct reader *r, const char *const **lines, size_t *n)
{
    char *at = r->bytes + r->used, *end = r->bytes + r->n;
    if (r->used == 0 && r->n_lines == 0 && end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3; /* a byte order mark */
    while (at < end && *n < MOST_LINES) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end && !r->is_at_end)
            break;
        line_end = line_end ? line_end : end;
        end_line(r, (*n)++, at, line_end);
        at = line_end + 1;
    }
    r->used = (size_t)(at - r->bytes);
    r->used = r->used < r->n ? r->used : r->n;
    r->n_lines += *n;
    *lines = r->lines;
}

bool reader_next(struct reader *r, const char *const **lines, size_t *n)
{
    *n = 0;
    if (r->unpacked.n > 0) {
        const size_t left = r->unpacked.n - r->n_handed;
        *n = left < MOST_LINES ? left : MOST_LINES;
        *lines = r->unpacked.at + r->n_handed;
        r->n_handed += *n;
        return true;
    }
    if (r->used > 0)
        memmove(r->bytes, r->bytes + r->used, r->n - r->used);
    r->n -= r->used;
    r->used = 0;
    size_t n_lines = r->bytes ? count_lines(r, 0) : 0;
    while (!r->is_at_end && n_lines < MOST_LINES && (n_lines == 0 || r->n < MOST_BYTES) &&
           (n_lines == 0 || has_more_now(r))) {
        const size_t before = r->n;
        if (!read_more(r))
            return false;
        n_lines += count_lines(r, before);
    }
    if (r->bytes)
        hand_out(r, lines, n);
    return true;
}

/* The lines of a compressed file, with their ends. */
static void join_unpacked(struct reader *r)
{
    for (size_t i = 0; i < r->unpacked.n; i++) {
        const size_t n = strlen(r->unpacked.at[i]);
        r->bytes = more_room(r->bytes, r->n + n + 2);
        memcpy(r->bytes + r->n, r->unpacked.at[i], n);
        r->n += n;
        r->bytes[r->n++] = '\n';
    }
}

const char *reader_whole(struct reader *r)
{
    if (r->unpacked.n > 0)
        join_unpacked(r);
    else
        while (!r->is_at_end)
            if (!read_more(r))
                return NULL;
    r->bytes = more_room(r->bytes, r->n + 1);
    end_line(r, 0, r->bytes, r->bytes + r->n);
    return r->bytes;
}
