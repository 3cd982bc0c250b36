/* broken.h -- for tests of file readers: the same file, broken in every small way there is.
 *
 * A reader is given copies that end where their bytes end, so that AddressSanitizer sees one byte
 * too many; it may refuse them or read them, and must come back either way. */
#ifndef HD_TEST_BROKEN_H
#define HD_TEST_BROKEN_H

#include "test.h"

#include <heed.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct bytes {
    unsigned char *at;
    size_t n;
};

/* Reads all there is to read in data[0..n); false with the reason in `err`. */
typedef bool reader(const void *data, size_t n, heed_error *err);

static inline struct bytes bytes_of_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_that(file, "%s cannot be opened", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long n = ftell(file);
    rewind(file);
    struct bytes bytes = {malloc((size_t)n + 1), (size_t)n};
    assert_int_equal(fread(bytes.at, 1, bytes.n, file), n);
    fclose(file);
    return bytes;
}

/* Read the first n bytes from memory of just that size. What is refused must say why. */
static inline bool read_copy(reader *read, const unsigned char *data, size_t n, heed_error *err)
{
    unsigned char *copy = malloc(n > 0 ? n : 1);
    unsigned char *at = copy + (n == 0); /* of nothing, not even one byte */
    memcpy(at, data, n);
    *err = (heed_error){0};
    const bool ok = read(at, n, err);
    free(copy);
    assert_that(ok == (err->code == HEED_OK) && ok == (err->message[0] == '\0'),
                "%s, but the error is %d \"%s\"", ok ? "read" : "refused", (int)err->code,
                err->message);
    return ok;
}

/* Cut off anywhere, it is refused. */
static inline void every_beginning_is_refused(reader *read, struct bytes file)
{
    heed_error err;
    for (size_t n = 0; n < file.n; n++)
        assert_that(!read_copy(read, file.at, n, &err), "%zu of %zu bytes were read", n, file.n);
    assert_that(read_copy(read, file.at, file.n, &err), "%s", err.message);
}

/* Each of the bytes first .. last replaced by every step-th other value (1: by all 255): read or
 * refused, that is all. Returns how many were refused. */
static inline size_t every_byte_changed(reader *read, struct bytes file, size_t first, size_t last,
                                        int step)
{
    size_t n_refused = 0;
    for (size_t i = first; i < last; i++) {
        const unsigned char was = file.at[i];
        for (int change = 1; change < 256; change += step) {
            heed_error err;
            file.at[i] = (unsigned char)(was ^ change);
            n_refused += !read_copy(read, file.at, file.n, &err);
        }
        file.at[i] = was;
    }
    return n_refused;
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

/* Refused, and for this reason, in a process that can have `mebibytes` more than it has. (Not under
 * AddressSanitizer, which needs all the addresses there are: there without the limit.) */
static inline void refused_within(size_t mebibytes, reader *read, struct bytes file,
                                  const char *words)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_that(child >= 0, "fork failed");
    if (child == 0) {
#ifndef HAS_ASAN
        size_t pages = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        if (statm && fscanf(statm, "%zu", &pages) == 1) {
            const rlim_t limit =
                (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)mebibytes << 20);
            setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
        }
#else
        (void)mebibytes;
#endif
        heed_error err = {0};
        const bool ok = read(file.at, file.n, &err);
        const bool is_good = !ok && err.code == HEED_BAD_MODEL && strstr(err.message, words);
        if (!is_good)
            fprintf(stderr, "%s: %s; wanted: %s\n", ok ? "read" : "refused", err.message, words);
        _exit(is_good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_that(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d, wanted: %s", status,
                words);
}

#endif
