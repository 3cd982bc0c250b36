/* test_file.c -- files: read as memory, written whole or not at all, and a sentence for
 * everything that can happen to them. */
#define _GNU_SOURCE
#include "folder.h"
#include "test.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#ifdef __linux__
#include <sys/mount.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_contents(const char *path, const char *wanted)
{
    struct hd_map map;
    heed_error err = {0};
    assert_that(hd_map_open(&map, path, &err), "%s", err.message);
    assert_that(map.size == strlen(wanted) && memcmp(map.data, wanted, map.size) == 0, "%s: %.*s",
                path, (int)map.size, (const char *)map.data);
    hd_map_forget(&map, map.data, map.size); /* its bytes are read once more */
    assert_memory_equal(map.data, wanted, map.size);
    hd_map_close(&map);
    hd_map_forget(&map, map.data, map.size);
}

/* Whole pages of the file come back as they were, and memory that is not the file's stays. */
static void what_is_forgotten_is_read_again(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    char *text = malloc(SIZE + 1), *own = malloc(SIZE + 1);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)('a' + i % 23);
    text[SIZE] = '\0';
    memcpy(own, text, SIZE + 1);
    const char *path = in_folder("large");
    put(path, text);
    struct hd_map map;
    heed_error err = {0};
    assert_that(hd_map_open(&map, path, &err), "%s", err.message);
    hd_map_forget(&map, (const char *)map.data + 5000, SIZE - 7000);
    hd_map_forget(&map, own, SIZE);
    assert_memory_equal(map.data, text, SIZE);
    assert_memory_equal(own, text, SIZE);
    hd_map_close(&map);
    free(text);
    free(own);
}

/* Files in the folder: what was left behind shows. */
static int n_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* ---- reading */

static void a_file_is_read_as_it_is(void **state)
{
    (void)state;
    const char *path = in_folder("a");
    put(path, "hello\nworld");
    assert_contents(path, "hello\nworld");
}

static void what_cannot_be_mapped_gets_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } bad[] = {
        {"missing", "there is no such file"},
        {"file/inside", "there is no such file"},
        {"folder", "this is a folder"},
        {"empty", "the file is empty"},
        {"pointer", "run git lfs pull in its folder"},
        {"pipe", "a pipe or a device"},
    };
    put(in_folder("file"), "x");
    put(in_folder("empty"), "");
    put(in_folder("pointer"),
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12345\n");
    assert_int_equal(mkdir(in_folder("folder"), 0777), 0);
    assert_int_equal(mkfifo(in_folder("pipe"), 0666), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hd_map map = {.size = 5};
        heed_error err = {0};
        assert_false(hd_map_open(&map, in_folder(bad[i].name), &err));
        assert_error(err, HEED_BAD_FILE, bad[i].words);
        assert_non_null(strstr(err.message, in_folder(bad[i].name)));
        assert_true(!map.data && map.size == 0);
        hd_map_close(&map);
    }
    struct hd_map map;
    assert_false(hd_map_open(&map, "/dev/null", NULL));
    if (geteuid() != 0) {
        heed_error err = {0};
        assert_int_equal(chmod(in_folder("file"), 0), 0);
        assert_false(hd_map_open(&map, in_folder("file"), &err));
        assert_error(err, HEED_BAD_FILE, "no permission");
    }
}

/* ---- writing */

static void a_file_appears_when_it_is_whole(void **state)
{
    (void)state;
    char path[512];
    strcpy(path, in_folder("model"));
    put(path, "old");
    struct hd_writer w = {0};
    heed_error err = {0};
    assert_true(hd_writer_open(&w, path, &err));
    assert_true(hd_write(&w, "new ", 4, &err));
    assert_true(hd_write(&w, NULL, 0, &err));
    assert_contents(path, "old");
    assert_true(hd_write(&w, "text", 4, &err));
    assert_contents(path, "old");
    assert_that(hd_writer_commit(&w, &err), "%s", err.message);
    assert_contents(path, "new text");
    assert_int_equal(n_files(), 1);
    hd_writer_abandon(&w); /* also after a commit */
    hd_writer_abandon(&w);
    assert_contents(path, "new text");
}

static void an_abandoned_file_leaves_nothing(void **state)
{
    (void)state;
    struct hd_writer w = {0};
    hd_writer_abandon(&w);
    assert_true(hd_writer_open(&w, in_folder("model"), NULL));
    assert_true(hd_write(&w, "half", 4, NULL));
    assert_int_equal(n_files(), 1);
    hd_writer_abandon(&w);
    assert_int_equal(n_files(), 0);
}

static void writes_of_every_size_arrive_in_order(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    unsigned char *data = malloc(N);
    for (int i = 0; i < N; i++)
        data[i] = (unsigned char)(i * 2654435761U >> 24);
    const char *path = in_folder("large");
    struct hd_writer w = {0};
    heed_error err = {0};
    assert_true(hd_writer_open(&w, path, &err));
    size_t done = 0;
    for (size_t n = 1; done < N;
         n = n * 3 % 200003 + 1) { /* below, at and above the size of the buffer */
        const size_t now = n < N - done ? n : N - done;
        assert_true(hd_write(&w, data + done, now, &err));
        done += now;
    }
    assert_true(hd_writer_commit(&w, &err));
    struct hd_map map;
    assert_true(hd_map_open(&map, path, &err));
    assert_int_equal(map.size, N);
    assert_memory_equal(map.data, data, N);
    hd_map_close(&map);
    free(data);
}

static void two_writers_of_one_file_do_not_meet(void **state)
{
    (void)state;
    struct hd_writer a = {0}, b = {0};
    const char *path = in_folder("model");
    assert_true(hd_writer_open(&a, path, NULL) && hd_writer_open(&b, path, NULL));
    assert_true(hd_write(&a, "aaaa", 4, NULL) && hd_write(&b, "bb", 2, NULL));
    assert_true(hd_writer_commit(&b, NULL));
    assert_contents(path, "bb");
    assert_true(hd_writer_commit(&a, NULL));
    assert_contents(path, "aaaa");
    assert_int_equal(n_files(), 1);
}

static void permissions_and_links_stay(void **state)
{
    (void)state;
    char path[512], link[512];
    strcpy(path, in_folder("model"));
    strcpy(link, in_folder("link"));
    put(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("model", link), 0);
    struct hd_writer w = {0};
    assert_true(hd_writer_open(&w, link, NULL) && hd_write(&w, "new", 3, NULL) &&
                hd_writer_commit(&w, NULL));
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_contents(path, "new");
    /* a link to a link to a file that is not there yet */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(link, in_folder("second")), 0);
    assert_true(hd_writer_open(&w, in_folder("second"), NULL) && hd_write(&w, "first", 5, NULL) &&
                hd_writer_commit(&w, NULL));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_contents(path, "first");

    const mode_t old = umask(027);
    assert_true(hd_writer_open(&w, in_folder("fresh"), NULL) && hd_writer_commit(&w, NULL));
    umask(old);
    assert_int_equal(stat(in_folder("fresh"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void a_file_in_the_current_folder_needs_no_slash(void **state)
{
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    struct hd_writer w = {0};
    heed_error err = {0};
    assert_true(hd_writer_open(&w, "plain", &err) && hd_write(&w, "x", 1, &err));
    const bool ok = hd_writer_commit(&w, &err);
    assert_int_equal(chdir(before), 0);
    assert_that(ok, "%s", err.message);
    assert_contents(in_folder("plain"), "x");
}

static void places_that_cannot_be_written_get_a_sentence(void **state)
{
    (void)state;
    put(in_folder("file"), "x");
    assert_int_equal(mkdir(in_folder("folder"), 0777), 0);
    static const struct {
        const char *name, *words;
    } bad[] = {
        {"missing/file", "the folder for this file does not exist"},
        {"file/inside", "the folder for this file does not exist"},
        {"folder", "this is a folder"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hd_writer w = {0};
        heed_error err = {0};
        assert_false(hd_writer_open(&w, in_folder(bad[i].name), &err));
        assert_error(err, HEED_BAD_FILE, bad[i].words);
        hd_writer_abandon(&w);
    }
    struct hd_writer w = {0};
    heed_error err = {0};
    assert_false(hd_writer_open(&w, "", &err));
    assert_error(err, HEED_BAD_FILE, "empty name");
    char long_name[300];
    memset(long_name, 'a', sizeof long_name);
    long_name[299] = '\0';
    err = (heed_error){0};
    assert_false(hd_writer_open(&w, in_folder(long_name), &err));
    assert_error(err, HEED_BAD_FILE, "cannot be written");
    if (geteuid() != 0) {
        err = (heed_error){0};
        assert_int_equal(chmod(in_folder("file"), 0444), 0);
        assert_false(hd_writer_open(&w, in_folder("file"), &err));
        assert_error(err, HEED_BAD_FILE, "no permission to write");
    }
    assert_int_equal(n_files(), 2);
}

/* /dev/full is Linux's disk that is always full; it is not a plain file, so it is written
 * directly and not replaced. */
static void a_full_disk_is_reported_and_the_device_stays(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    struct hd_writer w = {0};
    heed_error err = {0};
    assert_that(hd_writer_open(&w, "/dev/full", &err), "%s", err.message);
    assert_true(hd_write(&w, "x", 1, &err)); /* in the buffer */
    assert_false(hd_writer_commit(&w, &err));
    assert_error(err, HEED_BAD_FILE, "/dev/full: the disk is full");
    assert_true(hd_writer_open(&w, "/dev/null", NULL) && hd_write(&w, "x", 1, NULL) &&
                hd_writer_commit(&w, NULL));
    struct stat st;
    assert_true(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode));
    assert_true(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

/* As when a program's output goes to another program. */
static void an_open_pipe_can_be_named_and_written(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[64], got[8] = "";
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    struct hd_writer w = {0};
    heed_error err = {0};
    assert_that(hd_writer_open(&w, path, &err), "%s", err.message);
    assert_true(hd_write(&w, "text", 4, &err) && hd_writer_commit(&w, &err));
    assert_int_equal(read(ends[0], got, sizeof got - 1), 4);
    assert_string_equal(got, "text");
    close(ends[0]);
    close(ends[1]);
}

/* A limit on file sizes stands in for a disk with 100 000 bytes left: the system takes a part of
 * the write, then refuses. */
static void a_write_that_comes_up_short_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_folder("model");
    put(path, "old");
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 100000, .rlim_max = before.rlim_max});

    static char data[150000];
    struct hd_writer w = {0};
    heed_error err = {0}, later = {0}, last = {0};
    const bool opened = hd_writer_open(&w, path, &err);
    const bool wrote = hd_write(&w, data, sizeof data, &err);
    const size_t n_written = w.n_written;
    const bool wrote_more = hd_write(&w, "x", 1, &later);
    const bool committed = hd_writer_commit(&w, &last);

    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_true(opened);
    assert_false(wrote);
    assert_error(err, HEED_BAD_FILE, "the file grows beyond");
    assert_int_equal(n_written, 100000); /* there was a short write before the refusal */
    assert_false(wrote_more);
    assert_error(later, HEED_BAD_FILE, "an earlier write failed");
    assert_false(committed);
    assert_error(last, HEED_BAD_FILE, "an earlier write failed");
    assert_contents(path, "old");
    assert_int_equal(n_files(), 1);
}

/* A real disk of 64 kB, where the one who runs the tests may make one. */
static void a_disk_that_fills_up_leaves_the_old_file(void **state)
{
    (void)state;
#ifdef __linux__
    if (mount("none", folder, "tmpfs", 0, "size=64k") != 0)
        skip();
    const char *path = in_folder("model");
    put(path, "old");
    static char data[100000];
    struct hd_writer w = {0};
    heed_error err = {0};
    const bool opened = hd_writer_open(&w, path, &err);
    const bool wrote = hd_write(&w, data, sizeof data, &err);
    hd_writer_abandon(&w);
    const int n_left = n_files();
    FILE *file = fopen(path, "r");
    char old[4] = "";
    const size_t n_old = file ? fread(old, 1, 3, file) : 0;
    if (file)
        fclose(file);
    umount(folder); /* before anything can fail and leave it behind */
    assert_true(opened);
    assert_false(wrote);
    assert_error(err, HEED_BAD_FILE, "model: the disk is full; free some space");
    assert_int_equal(n_left, 1);
    assert_true(n_old == 3 && strcmp(old, "old") == 0);
#else
    skip();
#endif
}

/* A slow reader behind a small pipe, and a timer whose signal interrupts the write again and
 * again. */
static atomic_int n_signals;

static void count_signal(int number)
{
    (void)number;
    n_signals++;
}

static void *read_slowly(void *path)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    const int fd = open(path, O_RDONLY);
    static unsigned char data[300000];
    size_t n = 0;
    for (ssize_t got;
         (got = read(fd, data + n, sizeof data - n < 9000 ? sizeof data - n : 9000)) > 0;
         n += (size_t)got)
        usleep(2000);
    close(fd);
    for (size_t i = 0; i < n; i++)
        if (data[i] != (unsigned char)(i % 251))
            return NULL;
    return (void *)(uintptr_t)n;
}

static void signals_do_not_tear_a_write(void **state)
{
    (void)state;
    char path[512];
    strcpy(path, in_folder("pipe"));
    assert_int_equal(mkfifo(path, 0666), 0);
    const struct sigaction action = {.sa_handler = count_signal}; /* no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, path), 0);

    struct hd_writer w = {0};
    heed_error err = {0};
    assert_true(hd_writer_open(&w, path, &err));
    const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    static unsigned char data[200000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i % 251);
    const bool ok = hd_write(&w, data, sizeof data, &err);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_that(ok, "%s", err.message);
    assert_that(hd_writer_commit(&w, &err), "%s", err.message);
    void *n_read;
    pthread_join(reader, &n_read);
    signal(SIGALRM, SIG_DFL);
    assert_int_equal((uintptr_t)n_read, sizeof data);
    assert_true(n_signals > 0);
}

static void without_memory_no_file_is_touched(void **state)
{
    (void)state;
    const char *path = in_folder("model");
    int n = 0;
    for (;; n++) {
        struct hd_writer w = {0};
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = hd_writer_open(&w, path, &err) && hd_write(&w, "x", 1, &err) &&
                        hd_writer_commit(&w, &err);
        hd_writer_abandon(&w);
        if (ok)
            break;
        assert_error(err, HEED_NO_MEMORY, "no memory");
        assert_int_equal(n_files(), 0);
    }
    hd_alloc_fail_after(-1);
    assert_int_equal(n, 3);
    assert_contents(path, "x");
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, fresh_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_folder(a_file_is_read_as_it_is),
        with_folder(what_is_forgotten_is_read_again),
        with_folder(what_cannot_be_mapped_gets_a_sentence),
        with_folder(a_file_appears_when_it_is_whole),
        with_folder(an_abandoned_file_leaves_nothing),
        with_folder(writes_of_every_size_arrive_in_order),
        with_folder(two_writers_of_one_file_do_not_meet),
        with_folder(permissions_and_links_stay),
        with_folder(a_file_in_the_current_folder_needs_no_slash),
        with_folder(places_that_cannot_be_written_get_a_sentence),
        with_folder(an_open_pipe_can_be_named_and_written),
        with_folder(a_full_disk_is_reported_and_the_device_stays),
        with_folder(a_write_that_comes_up_short_leaves_the_old_file),
        with_folder(a_disk_that_fills_up_leaves_the_old_file),
        with_folder(signals_do_not_tear_a_write),
        with_folder(without_memory_no_file_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
