/* input.c -- zlib reads plain files as well as compressed ones, of several members too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC on every libc */
#endif
#include "text/input.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

bool hd_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *hd_input_name(const char *path)
{
    return hd_is_stdin(path) ? "standard input" : path;
}

bool hd_input_open(struct hd_input *input, const char *path, heed_error *err)
{
    const int fd = hd_is_stdin(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    *input = (struct hd_input){.name = hd_input_name(path)};
    if (fd < 0 || fstat(fd, &st) != 0)
        hd_fail_to_read(input->name, errno, err);
    else if (S_ISDIR(st.st_mode))
        hd_fail(err, HEED_BAD_FILE, "%s: this is a folder; name a file in it", input->name);
    else {
        input->file = gzdopen(fd, "rb");
        if (input->file)
            return true;
        hd_fail(err, HEED_NO_MEMORY, "%s: there is no memory to read it", input->name);
    }
    if (fd >= 0)
        close(fd);
    return false;
}

static bool fail_to_unpack(const struct hd_input *input, heed_error *err)
{
    int code;
    const char *reason = gzerror(input->file, &code);
    if (code == Z_ERRNO)
        return hd_fail_to_read(input->name, errno, err);
    return hd_fail(err, HEED_BAD_FILE,
                   "%s: the compressed file is damaged (%s); was it copied or downloaded to its "
                   "end?",
                   input->name, reason);
}

bool hd_input_read(struct hd_input *input, char *to, size_t room, size_t *n, heed_error *err)
{
    const int got = gzread(input->file, to, room < 1 << 30 ? (unsigned)room : 1 << 30);
    int code = Z_OK;
    if (got == 0)
        gzerror(input->file, &code); /* a file that was cut short ends like any other */
    *n = got > 0 ? (size_t)got : 0;
    return (got >= 0 && (code == Z_OK || code == Z_STREAM_END)) || fail_to_unpack(input, err);
}

void hd_input_close(struct hd_input *input)
{
    if (input->file)
        gzclose_r(input->file);
    *input = (struct hd_input){0};
}
