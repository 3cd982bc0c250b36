/* test_doubts.c -- texts that are odd are told, texts that are not are not; files of other kinds are recognised. */
#include "test.h"
#include "text/files.h"

#include "text/doubts.h"
#include "text/other_kind.h"

enum { N = 400 };
static char told[4000];

static void note(void *context, const char *sentence)
{
    (void)context;
    strcat(told, sentence);
    strcat(told, "\n");
}

/* Lines made by `line` from their number. */
static void file_of(const char *name, int n, void (*line)(char *out, int i))
{
    static char text[N * 200];
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        line(text + at, i);
        at += strlen(text + at);
        text[at++] = '\n';
    }
    (void)put_n(name, text, at);
}

static struct hd_corpus *corpus_of(const char *source, const char *target)
{
    char paths[2][600];
    snprintf(paths[0], sizeof paths[0], "%s", source);
    snprintf(paths[1], sizeof paths[1], "%s", target);
    const char *const one[1] = {paths[0]}, *const two[1] = {paths[1]};
    const struct hd_corpus_files files = {one, two, 1, 1, false, false, NULL};
    const struct hd_corpus_options options = {0};
    heed_error err = {0};
    struct hd_corpus *c = hd_corpus_open(&files, &options, &err);
    assert_that(c != NULL, "%s", err.message);
    return c;
}

static void english(char *out, int i)
{
    sprintf(out, "the cat number %d sleeps", i);
}
static void french(char *out, int i)
{
    sprintf(out, "le chat numéro %d dort", i);
}
static void russian(char *out, int i)
{
    sprintf(out, "кошка номер %d спит", i);
}
static void alike(char *out, int i)
{
    (void)i;
    strcpy(out, "always this");
}
static void long_lines(char *out, int i)
{
    sprintf(out, "%d %0150d", i, i);
}
static void other_english(char *out, int i)
{
    sprintf(out, "a dog of %d years", i);
}

static void assert_doubts(int n, void (*source)(char *, int), void (*target)(char *, int),
                          int n_dev, const char *languages, const char *wanted)
{
    file_of("s", n, source);
    file_of("t", n, target);
    struct hd_corpus *text = corpus_of(in_folder("s"), in_folder("t"));
    struct hd_corpus *dev = NULL;
    if (n_dev > 0) {
        file_of("ds", n_dev, source);
        file_of("dt", n_dev, target);
        dev = corpus_of(in_folder("ds"), in_folder("dt"));
    }
    told[0] = '\0';
    const struct hd_doubts doubts = {text, dev, 200, languages};
    hd_tell_doubts(&doubts, note, NULL);
    assert_string_equal(told, wanted);
    hd_corpus_free(dev);
    hd_corpus_free(text);
}

static void odd_texts_are_told(void **state)
{
    (void)state;
    assert_doubts(N, english, french, 0, "en-fr", "");
    assert_doubts(N, english, russian, 0, "en-ru", "");
    assert_doubts(N, english, russian, 0, NULL, "");
    assert_doubts(N, english, russian, 0, "xx-yy", "");
    assert_doubts(299, english, french, 0, "en-fr",
                  "299 pairs are very few: enough for a try, not for a language\n");
    assert_doubts(N, alike, french, 0, NULL,
                  "all lines of the source are the same, so there is nothing to learn from them\n");
    assert_doubts(N, english, alike, 0, NULL,
                  "all lines of the target are the same, so there is nothing to learn from them\n");
    assert_doubts(N, english, english, 0, NULL,
                  "in 100 % of the pairs source and target are the same text; was one file given "
                  "twice?\n");
    assert_doubts(N, english, long_lines, 0, NULL,
                  "the target has more than 5 times as many characters as the source; are these "
                  "pairs?\n");
    assert_doubts(N, english, russian, 0, "ru-en",
                  "the source is mostly Latin letters, but its language, ru, is written in "
                  "Cyrillic ones; are the files named or ordered wrongly?\n"
                  "the target is mostly Cyrillic letters, but its language, en, is written in "
                  "Latin ones; are the files named or ordered wrongly?\n");
    assert_doubts(N, english, other_english, 60, NULL,
                  "60 of 60 different dev pairs are learned from as well, so validation will look "
                  "better than the model is\n");
}

static void other_kinds_of_files_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        bool is_tsv;
        const char *says; /* NULL: it may be text */
    } files[] = {
        {"a cat, a dog\n", 13, false, NULL},
        {"a cat, a dog\tchat\n", 18, true, NULL},
        {"one\n", 4, true, NULL}, /* told with its line */
        {"<b> is bold", 11, false, NULL},
        {"BZ", 2, false, NULL},
        {"%PDF-1.7\n", 9, false,
         "this is a PDF, not lines of text; take its text out first, with pdftotext"},
        {"PK\3\4....", 8, false, "this is a zip archive"},
        {"\xFD"
         "7zXZ\0..",
         8, false, "this is compressed by xz"},
        {"BZh91AY", 7, false, "this is compressed by bzip2"},
        {"\x28\xB5\x2F\xFD.", 5, false, "this is compressed by zstd"},
        {"\xFF\xFE"
         "a\0b\0",
         6, false, "this is UTF-16, not UTF-8; convert it first, with iconv -f UTF-16 -t UTF-8"},
        {"a\0b\0c\0d\0", 8, false, "this is UTF-16"},
        {"\0a\0b\0c\0d", 8, false, "this is UTF-16"},
        {"<?xml version=\"1.0\"?>\n<tmx version=\"1.4\">", 41, false,
         "this is a TMX translation memory"},
        {"<!doctype HTML><p>", 18, false, "this is a page of HTML"},
        {"\"a cat\",\"un chat\"\n", 18, true,
         "this looks like CSV, columns with commas, not like source TAB target; write it with "
         "TABs, or say --format csv"},
        {"{\"en\": \"a\"}\n", 12, true, "this looks like JSON"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        heed_error err = {0};
        const bool ok = hd_check_kind("f", files[i].bytes, files[i].n, files[i].is_tsv, &err);
        assert_that(ok == !files[i].says, "file %zu: '%s'", i, err.message);
        assert_that(ok || (err.code == HEED_BAD_TEXT && strncmp(err.message, "f: ", 3) == 0 &&
                           strncmp(err.message + 3, files[i].says, strlen(files[i].says)) == 0),
                    "file %zu: '%s'", i, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_texts_are_told),
        cmocka_unit_test(other_kinds_of_files_are_recognised),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
