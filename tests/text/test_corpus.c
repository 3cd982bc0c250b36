/* test_corpus.c -- sentence pairs in files: every way they can be written, and a sentence with the
 * place for every way they can be wrong. */
#define _GNU_SOURCE
#include "text/files.h"

#include "base/memory.h"
#include "text/corpus.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct hd_corpus_options none, skipping = {.skip_bad = true};

static struct hd_corpus *open_two(const char *source, const char *target,
                                  const struct hd_corpus_options *options, heed_error *err)
{
    const struct hd_corpus_files files = {&source, &target, 1, 1, false, false, NULL};
    return hd_corpus_open(&files, options, err);
}

static struct hd_corpus *open_tsv(const char *path, const struct hd_corpus_options *options,
                                  heed_error *err)
{
    const struct hd_corpus_files files = {&path, NULL, 1, 0, true, false, NULL};
    return hd_corpus_open(&files, options, err);
}

/* All pairs, "source=target|" each. */
static void assert_pairs(struct hd_corpus *corpus, const heed_error *err, const char *wanted)
{
    char all[1024] = "", *at = all;
    assert_that(corpus, "%s", err->message);
    for (size_t i = 0; i < hd_corpus_size(corpus); i++) {
        const struct hd_text_pair p = hd_corpus_pair(corpus, i);
        at += sprintf(at, "%.*s=%.*s|", (int)p.n_source, p.source, (int)p.n_target, p.target);
    }
    assert_string_equal(all, wanted);
}

static void assert_two(const char *source, const char *target, const char *wanted)
{
    heed_error err = {0};
    struct hd_corpus *corpus = open_two(source, target, &none, &err);
    assert_pairs(corpus, &err, wanted);
    hd_corpus_free(corpus);
}

static void assert_two_refused(const char *source, const char *target, enum heed_code code,
                               const char *words)
{
    heed_error err = {0};
    assert_null(open_two(source, target, &none, &err));
    assert_error(err, code, words);
}

/* ---- what is right --------------------------------------------------------------------------- */

static void lines_end_as_lines_do(void **state)
{
    (void)state;
    static const struct {
        const char *source, *target, *wanted;
    } files[] = {
        {"one\ntwo\n", "eins\nzwei\n", "one=eins|two=zwei|"},
        {"one\ntwo", "eins\r\nzwei\r\n", "one=eins|two=zwei|"},
        {"\xEF\xBB\xBFone\n", "eins", "one=eins|"},
        {"one\r", "eins\r\r\n", "one=eins\r|"},
        {"a\rb\n", "a\u2028b \n", "a\rb=a\u2028b |"},
        {"größe\n日本\n", "\u00A0x\n😀\n", "größe=\u00A0x|日本=😀|"},
        {"tab\there\n", "x\n", "tab\there=x|"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_two(put("a", files[i].source), put("b", files[i].target), files[i].wanted);
}

static void columns_of_tsv_are_pairs(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_corpus *corpus =
        open_tsv(put("t", "\xEF\xBB\xBFone\teins\r\ntwo words\tzwei Worte"), &none, &err);
    assert_pairs(corpus, &err, "one=eins|two words=zwei Worte|");
    hd_corpus_free(corpus);
}

static void several_files_are_one_corpus(void **state)
{
    (void)state;
    const char *const source[] = {put("a", "1\n2"), put("b", "3\n"),
                                  put("c", "\xEF\xBB\xBF"
                                           "4\n5")};
    const char *const target[] = {put("x", "i\nii\n"), put("y", "iii"), put("z", "iv\nv\n")};
    const struct hd_corpus_files files = {source, target, 3, 3, false, false, NULL};
    heed_error err = {0};
    struct hd_corpus *corpus = hd_corpus_open(&files, &none, &err);
    assert_pairs(corpus, &err, "1=i|2=ii|3=iii|4=iv|5=v|");
    hd_corpus_free(corpus);
}

static void compressed_files_are_unpacked_and_leave_nothing_behind(void **state)
{
    (void)state;
    heed_error err = {0};
    const char *source = put_packed("named.txt", "wb", "one\ntwo\n", 8);
    const char *target = put("not-packed.gz", "eins\nzwei\ndrei\n");
    put_packed("named.txt", "ab", "three", 5); /* a second member */
    char *spool = strdup(in_folder("model"));
    const int n_before = n_files_in_folder();
    const struct hd_corpus_options options = {.spool = spool};
    struct hd_corpus *corpus = open_two(source, target, &options, &err);
    assert_int_equal(n_files_in_folder(), n_before);
    assert_pairs(corpus, &err, "one=eins|two=zwei|three=drei|");
    hd_corpus_free(corpus);
    free(spool);
    assert_two_refused(source, target, HEED_BAD_OPTION, "must be unpacked first");
}

static void standard_input_and_pipes_are_read(void **state)
{
    (void)state;
    heed_error err = {0};
    char *spool = strdup(in_folder("model"));
    const struct hd_corpus_options options = {.spool = spool};
    const int kept = dup(0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "one\teins\n", 9), 9);
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
    struct hd_corpus *corpus = open_tsv("-", &options, &err);
    dup2(kept, 0);
    close(kept);
    assert_pairs(corpus, &err, "one=eins|");
    hd_corpus_free(corpus);

    const char *pipe_path = in_folder("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(pipe_path, O_WRONLY);
        _exit(write(fd, "a\nb\n", 4) != 4);
    }
    corpus = open_two(pipe_path, put("b", "x\ny\n"), &options, &err);
    assert_pairs(corpus, &err, "a=x|b=y|");
    hd_corpus_free(corpus);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free(spool);
}

static void many_pairs_are_found_by_their_numbers(void **state)
{
    (void)state;
    enum { N = 150000 }; /* more than a block of places */
    char *source = malloc((size_t)N * 16), *target = malloc((size_t)N * 16);
    char *s = source, *t = target;
    for (int i = 0; i < N; i++) {
        s += sprintf(s, i % 7 == 3 ? "\n" : "%d\n", i);
        t += sprintf(t, "<%d>\n", i);
    }
    heed_error err = {0};
    struct hd_corpus *corpus = open_two(put("a", source), put("b", target), &skipping, &err);
    assert_that(corpus, "%s", err.message);
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        if (i % 7 == 3)
            continue;
        char wanted[32];
        const struct hd_text_pair p = hd_corpus_pair(corpus, n++);
        const int length = sprintf(wanted, "%d", i);
        assert_true(p.n_source == (size_t)length && memcmp(p.source, wanted, p.n_source) == 0);
        assert_true(p.n_target == (size_t)length + 2);
        assert_memory_equal(p.target + 1, wanted, length);
    }
    assert_int_equal(hd_corpus_size(corpus), n);
    assert_int_equal(hd_corpus_counts(corpus)->n_lines, N);
    hd_corpus_free(corpus);
    free(source);
    free(target);
}

static uint64_t fingerprint_of(const char *source, const char *target)
{
    heed_error err = {0};
    struct hd_corpus *corpus = open_two(put("a", source), put("b", target), &skipping, &err);
    assert_that(corpus, "%s", err.message);
    const uint64_t fingerprint = hd_corpus_fingerprint(corpus);
    hd_corpus_free(corpus);
    return fingerprint;
}

static void a_corpus_is_known_again_by_its_text_alone(void **state)
{
    (void)state;
    heed_error err = {0};
    const uint64_t wanted = fingerprint_of("one\ntwo\n", "eins\nzwei\n");
    struct hd_corpus *corpus = open_tsv(put("t", "one\teins\ntwo\tzwei\n"), &none, &err);
    assert_true(hd_corpus_fingerprint(corpus) == wanted);
    hd_corpus_free(corpus);
    assert_true(fingerprint_of("one\r\ntwo", "eins\nzwei") == wanted);
    assert_true(fingerprint_of("one\n\ntwo", "eins\nx\nzwei") == wanted);
    static const struct {
        const char *source, *target;
    } others[] = {{"one\ntwo\n", "eins\nzwej\n"},
                  {"two\none\n", "zwei\neins\n"},
                  {"one\n", "eins\n"},
                  {"onetwo\nx\n", "eins\nzwei\n"},
                  {"one\nt\n", "eins\nwozwei\n"},
                  {"eins\nzwei\n", "one\ntwo\n"},
                  {"one\ntwo \n", "eins\nzwei\n"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(fingerprint_of(others[i].source, others[i].target) != wanted);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void a_bad_line_is_named_or_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *source, *target;
        size_t n_target;
        enum hd_bad_pair bad;
        const char *words;
    } files[] = {
        {"a\nb\nc\n", "x\n\xFF\nz\n", 6, HD_BAD_UTF8, "b:2: not UTF-8 at byte 1 of the line"},
        {"a\nb\nc\n", "x\nyy\xC3\nz\n", 8, HD_BAD_UTF8, "b:2: not UTF-8 at byte 3"},
        {"a\nb\nc\n", "x\n\xED\xA0\x80\nz\n", 8, HD_BAD_UTF8, "b:2: not UTF-8"}, /* a surrogate */
        {"a\nb\nc\n", "x\ny\0y\nz\n", 8, HD_BAD_NUL, "b:2: there is a byte 0 in this line"},
        {"a\nb\nc\n", "x\n\nz\n", 5, HD_BAD_EMPTY, "b:2: this sentence is empty"},
        {"a\nb\nc\n", "x\n \t\r\nz\n", 8, HD_BAD_EMPTY, "b:2: this sentence is empty"},
        {"a\nb\nc\n", "x\n\u3000\u200B\nz\n", 11, HD_BAD_EMPTY, "b:2: this sentence is empty"},
        {"a\nb\nc\n", "x\n12345678901\nz\n", 16, HD_BAD_LONG,
         "b:2: this line has 11 bytes, more than 10"},
        {"a\n\nc\n", "x\ny\nz\n", 6, HD_BAD_EMPTY, "a:2: this sentence is empty"},
        {"a\n\xFF\nc\n", "x\n\nz\n", 5, HD_BAD_UTF8, "a:2: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *source = put("a", files[i].source);
        const char *target = put_n("b", files[i].target, files[i].n_target);
        heed_error err = {0};
        struct hd_corpus_options options = {.longest_line = 10};
        assert_null(open_two(source, target, &options, &err));
        assert_error(err, HEED_BAD_TEXT, files[i].words);
        assert_error(err, HEED_BAD_TEXT, "--skip-bad leaves such pairs out");
        options.skip_bad = true;
        err = (heed_error){0};
        struct hd_corpus *corpus = open_two(source, target, &options, &err);
        assert_pairs(corpus, &err, "a=x|c=z|");
        const struct hd_corpus_counts *counts = hd_corpus_counts(corpus);
        assert_true(counts->n_lines == 3 && counts->n_bad == 1);
        assert_true(counts->bad[files[i].bad].n == 1 && counts->bad[files[i].bad].line == 2);
        assert_string_equal(counts->bad[files[i].bad].file,
                            files[i].words[0] == 'a' ? source : target);
        hd_corpus_free(corpus);
    }
}

static void tsv_has_two_columns(void **state)
{
    (void)state;
    static const char *const rows[] = {"no tab", "three\tcolumns\there", "", "x\ty\t"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        snprintf(text, sizeof text, "a\tb\n%s\n", rows[i]);
        heed_error err = {0};
        assert_null(open_tsv(put("t", text), &none, &err));
        assert_error(err, HEED_BAD_TEXT, "t:2: this line is not two columns, source TAB target");
    }
    heed_error err = {0};
    assert_null(open_tsv(put("t", "a\tb\n\tb\n"), &none, &err));
    assert_error(err, HEED_BAD_TEXT, "t:2: this sentence is empty");
    err = (heed_error){0};
    struct hd_corpus *corpus = open_tsv(put("t", "a\t \nx\n1\t2\n3\t4\t5\n"), &skipping, &err);
    assert_pairs(corpus, &err, "1=2|");
    char *left_out = hd_corpus_left_out(corpus, &err), wanted[1024];
    snprintf(wanted, sizeof wanted,
             "3 of 4 pairs are left out: 2 are not two columns (the first is %s:2), 1 has an empty "
             "side (%s:1)",
             in_folder("t"), in_folder("t"));
    assert_string_equal(left_out, wanted);
    hd_free(left_out);
    hd_corpus_free(corpus);
}

static void nothing_left_out_is_nothing_to_say(void **state)
{
    (void)state;
    struct hd_corpus *corpus = open_tsv(put("t", "a\tb\n"), &skipping, NULL);
    char *left_out = hd_corpus_left_out(corpus, NULL);
    assert_string_equal(left_out, "");
    hd_free(left_out);
    hd_corpus_free(corpus);
}

static void files_of_different_length_are_never_accepted(void **state)
{
    (void)state;
    for (int skip_bad = 0; skip_bad < 2; skip_bad++) {
        heed_error err = {0};
        const struct hd_corpus_options options = {.skip_bad = skip_bad};
        assert_null(open_two(put("a", "1\n2\n3\n"), put("b", "x\n"), &options, &err));
        assert_error(err, HEED_BAD_TEXT, "a has 3 lines and ");
        assert_error(err, HEED_BAD_TEXT, "b has 1; ");
        err = (heed_error){0};
        assert_null(open_two(put("a", "1"), put("b", "x\n\n"), &options, &err));
        assert_error(err, HEED_BAD_TEXT, "a has 1 line and ");
        assert_error(err, HEED_BAD_TEXT, "b has 2; ");
    }
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    const char *good = put("b", "x\n");
    assert_two_refused(in_folder("nowhere"), good, HEED_BAD_FILE, "nowhere: there is no such file");
    assert_two_refused(files_folder, good, HEED_BAD_FILE, "this is a folder");
    assert_two_refused(put("a", ""), good, HEED_BAD_TEXT, "a: there is no text in it");
    assert_two_refused(good, put("a", "\xEF\xBB\xBF"), HEED_BAD_TEXT, "a: there is no text in it");
    if (geteuid() != 0) {
        const char *secret = put("secret", "x\n");
        chmod(secret, 0);
        assert_two_refused(secret, good, HEED_BAD_FILE, "no permission");
    }
    heed_error err = {0};
    assert_null(open_two(put("a", "\n\n"), put("c", "x\ny\n"), &skipping, &err));
    assert_error(err, HEED_BAD_TEXT, "a: no pair is left of 2");
}

static void damaged_archives_are_refused(void **state)
{
    (void)state;
    char text[4000], bytes[8000];
    heed_error err = {0};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i % 40 == 39 ? '\n' : 'a' + (int)(i * i * 31 % 23));
    FILE *file = fopen(put_packed("whole.gz", "wb", text, sizeof text), "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    char *spool = strdup(in_folder("model"));
    const struct hd_corpus_options options = {.spool = spool};
    const char *good = put("b", "x\n");
    for (size_t cut = 4; cut < n; cut += 111) {
        err = (heed_error){0};
        assert_null(open_two(put_n("cut.gz", bytes, cut), good, &options, &err));
        assert_error(err, HEED_BAD_FILE, "cut.gz: the compressed file is damaged");
    }
    bytes[n / 2] ^= 0x55;
    err = (heed_error){0};
    assert_null(open_two(put_n("bad.gz", bytes, n), good, &options, &err));
    assert_error(err, HEED_BAD_FILE, "bad.gz: the compressed file is damaged");
    err = (heed_error){0};
    assert_null(open_two(put_packed("empty.gz", "wb", "", 0), good, &options, &err));
    assert_error(err, HEED_BAD_TEXT, "empty.gz: there is no text in it");
    free(spool);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    heed_error err = {0};
    char *text = malloc(1 << 20), *spool = strdup(in_folder("model"));
    memset(text, 'x', 1 << 20);
    for (size_t i = 100; i < 1 << 20; i += 100)
        text[i] = '\n';
    const char *packed = put_packed("large.gz", "wb", text, 1 << 20);
    const struct hd_corpus_options nowhere = {.spool = "/nowhere/at/all"}, here = {.spool = spool};
    assert_null(open_two(packed, packed, &nowhere, &err));
    assert_error(err, HEED_BAD_FILE, "the folder for this file does not exist");

    struct rlimit before, small; /* stands for a full disk */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 1 << 16;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    err = (heed_error){0};
    const struct hd_corpus *corpus = open_two(packed, packed, &here, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_null(corpus);
    assert_error(err, HEED_BAD_FILE, "model.spool-1: the file grows beyond");
    free(text);
    free(spool);
}

static void names_must_go_together(void **state)
{
    (void)state;
    const char *const paths[] = {"a", "b"}, *const input[] = {"-"}, *const twice[] = {"x", "-"};
    static const struct hd_corpus_options options = {0};
    const struct {
        struct hd_corpus_files files;
        const char *words;
    } cases[] = {
        {{paths, paths, 2, 1, false, false, NULL},
         "2 source files and 1 target file do not go together"},
        {{paths, paths, 1, 0, false, false, NULL}, "1 source file and 0 target files"},
        {{paths, paths, 2, 2, true, false, NULL}, "TSV has both in one"},
        {{paths, paths, 0, 0, false, false, NULL}, "no file to read text from"},
        {{input, input, 1, 1, false, false, NULL}, "standard input (-) is named 2 times"},
        {{twice, twice, 2, 2, false, false, NULL}, "standard input (-) is named 2 times"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        assert_null(hd_corpus_open(&cases[i].files, &options, &err));
        assert_error(err, HEED_BAD_OPTION, cases[i].words);
    }
}

/* ---- on the way ------------------------------------------------------------------------------ */

struct progress {
    int n, cancel_at;
    double last;
};

static bool note(void *context, double share)
{
    struct progress *p = context;
    assert_true(share >= p->last && share <= 1);
    p->last = share;
    return ++p->n != p->cancel_at;
}

static void progress_is_told_and_can_cancel(void **state)
{
    (void)state;
    heed_error err = {0};
    struct progress p = {0};
    char *spool = strdup(in_folder("model"));
    struct hd_corpus_options options = {.spool = spool, .progress = note, .context = &p};
    const char *source = put_packed("p.gz", "wb", "a\nb\n", 4), *target = put("b", "x\ny\n");
    hd_corpus_free(open_two(source, target, &options, &err));
    assert_true(p.n >= 2 && p.last == 1);
    for (int i = 1; i <= p.n; i++) {
        struct progress cancelled = {.cancel_at = i};
        options.context = &cancelled;
        err = (heed_error){0};
        assert_null(open_two(source, target, &options, &err));
        assert_error(err, HEED_CANCELLED, "stopped while reading the text");
    }
    free(spool);
}

static void memory_may_fail_at_every_place(void **state)
{
    (void)state;
    char *spool = strdup(in_folder("model"));
    const struct hd_corpus_options options = {.spool = spool};
    const char *source = put_packed("p.gz", "wb", "a\nb\n", 4), *target = put("b", "x\ny\n");
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        struct hd_corpus *corpus = open_two(source, target, &options, &err);
        hd_alloc_fail_after(-1);
        if (corpus) {
            hd_corpus_free(corpus);
            break;
        }
        assert_error(err, HEED_NO_MEMORY, "no memory");
    }
    free(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_as_lines_do),
        cmocka_unit_test(columns_of_tsv_are_pairs),
        cmocka_unit_test(several_files_are_one_corpus),
        cmocka_unit_test(compressed_files_are_unpacked_and_leave_nothing_behind),
        cmocka_unit_test(standard_input_and_pipes_are_read),
        cmocka_unit_test(many_pairs_are_found_by_their_numbers),
        cmocka_unit_test(a_corpus_is_known_again_by_its_text_alone),
        cmocka_unit_test(a_bad_line_is_named_or_left_out),
        cmocka_unit_test(tsv_has_two_columns),
        cmocka_unit_test(nothing_left_out_is_nothing_to_say),
        cmocka_unit_test(files_of_different_length_are_never_accepted),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(a_place_that_cannot_be_written_is_named),
        cmocka_unit_test(names_must_go_together),
        cmocka_unit_test(progress_is_told_and_can_cancel),
        cmocka_unit_test(memory_may_fail_at_every_place),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
