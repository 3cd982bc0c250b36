/* test_lines.c -- text files: every kind of line end, compressed or not, and a sentence for what is wrong with them. */
#define _GNU_SOURCE
#include "text/files.h"

#include "base/memory.h"
#include "text/lines.h"

#include <sys/stat.h>

/* The lines, each with a | after it, are these. */
static void assert_lines(const char *path, const char *wanted)
{
    struct hd_lines lines;
    heed_error err = {0};
    assert_that(hd_lines_read(&lines, path, &err), "%s", err.message);
    char all[1024] = "", *at = all;
    for (size_t i = 0; i < lines.n; i++)
        at += sprintf(at, "%.*s|", (int)lines.at[i].n, lines.at[i].at);
    assert_string_equal(all, wanted);
    hd_lines_release(&lines);
}

static void assert_refused(const char *path, enum heed_code code, const char *words)
{
    struct hd_lines lines;
    heed_error err = {0};
    assert_false(hd_lines_read(&lines, path, &err));
    assert_error(err, code, words);
    assert_true(!lines.at && !lines.bytes && lines.n == 0);
}

static void lines_end_as_lines_do(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *lines;
    } files[] = {
        {"one\ntwo\n", "one|two|"},
        {"one\ntwo", "one|two|"},
        {"one\r\ntwo\r\n", "one|two|"},
        {"\n", "|"},
        {"\n\n", "||"},
        {"\r\n", "|"},
        {"a\n\nb\n", "a||b|"},
        {" a \n", " a |"},
        {"a\rb\n", "a\rb|"},
        {"\xEF\xBB\xBFmark\n", "mark|"},
        {"größe\xE2\x80\xA8same line\n日本\n", "größe\xE2\x80\xA8same line|日本|"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_lines(put_n("plain", files[i].bytes, strlen(files[i].bytes)), files[i].lines);
        assert_lines(put_packed("packed.gz", "wb", files[i].bytes, strlen(files[i].bytes)),
                     files[i].lines);
    }
}

static void a_nul_does_not_end_a_line(void **state)
{
    (void)state;
    struct hd_lines lines;
    assert_true(hd_lines_read(&lines, put_n("nul", "a\0b\nc", 5), NULL));
    assert_true(lines.n == 2 && lines.at[0].n == 3 && lines.at[1].n == 1);
    hd_lines_release(&lines);
}

static void a_large_file_is_read_whole(void **state)
{
    (void)state;
    enum { N = 300000 };
    char *bytes = hd_alloc(N, 8, NULL), *at = bytes;
    for (int i = 0; i < N; i++)
        at += sprintf(at, "%d\n", i);
    const char *path = put_packed("large.gz", "wb", bytes, (size_t)(at - bytes));
    struct hd_lines lines;
    assert_true(hd_lines_read(&lines, path, NULL));
    assert_int_equal(lines.n, N);
    assert_true(lines.at[N - 1].n == 6 && memcmp(lines.at[N - 1].at, "299999", 6) == 0);
    hd_lines_release(&lines);
    hd_free(bytes);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    (void)state;
    assert_refused(in_folder("nowhere"), HEED_BAD_FILE, "nowhere: there is no such file");
    assert_refused(files_folder, HEED_BAD_FILE, "this is a folder");
    assert_refused(put_n("empty", "", 0), HEED_BAD_TEXT, "empty: there is no text in it");
    assert_refused(put_n("mark", "\xEF\xBB\xBF", 3), HEED_BAD_TEXT, "mark: there is no text in it");
    assert_refused(put_n("latin1",
                         "fine\ngr\xF6\xDF"
                         "e\n",
                         12),
                   HEED_BAD_TEXT, "latin1:2: not UTF-8 at byte 3 of the line");
    assert_refused(put_n("cut", "caf\xC3\n", 5), HEED_BAD_TEXT,
                   ":1: not UTF-8 at byte 4 of the line");
    if (geteuid() != 0) {
        const char *path = put_n("secret", "x\n", 2);
        chmod(path, 0);
        assert_refused(path, HEED_BAD_FILE, "no permission");
    }
}

static void a_damaged_archive_is_refused(void **state)
{
    (void)state;
    char text[4000], bytes[8000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i % 40 == 39 ? '\n' : 'a' + (int)(i * i * 31 % 23));
    const char *path = put_packed("whole.gz", "wb", text, sizeof text);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t cut = 4; cut < n; cut += 7)
        assert_refused(put_n("cut.gz", bytes, cut), HEED_BAD_FILE,
                       "cut.gz: the compressed file is");
    bytes[n / 2] ^= 0x55;
    assert_refused(put_n("bad.gz", bytes, n), HEED_BAD_FILE,
                   "bad.gz: the compressed file is damaged");
}

static void memory_may_fail_at_every_place(void **state)
{
    (void)state;
    const char *path = put_n("text", "a\nb\n", 4);
    for (long n = 0;; n++) {
        struct hd_lines lines;
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = hd_lines_read(&lines, path, &err);
        hd_alloc_fail_after(-1);
        hd_lines_release(&lines);
        if (ok)
            break;
        assert_error(err, HEED_NO_MEMORY, "no memory");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_as_lines_do),
        cmocka_unit_test(a_nul_does_not_end_a_line),
        cmocka_unit_test(a_large_file_is_read_whole),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(a_damaged_archive_is_refused),
        cmocka_unit_test(memory_may_fail_at_every_place),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
