/* test_sentence.c -- lines are cut where a reader would cut them, and no byte is lost, whatever the bytes are. */
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "text/lines.h"
#include "text/sentence.h"
#include "translate/languages.h"

#include <time.h>

static const char cases[] = "tests/text/data/sentences.tsv";

/* Sentences follow each other, are not empty, and together are the text; none but the last ends inside a character.
 * Returns how many there are. */
static size_t check(const char *text, size_t n, const char *language)
{
    struct hd_sentences s;
    struct hd_span span;
    size_t end = 0, n_sentences = 0;
    hd_sentences_begin(&s, text, n, language);
    while (hd_sentences_next(&s, &span)) {
        assert_that(span.begin == end && span.end > span.begin && span.end <= n,
                    "%zu to %zu of %zu in \"%.*s\"", span.begin, span.end, n, (int)n, text);
        end = span.end;
        n_sentences++;
    }
    assert_that(end == n, "ends at %zu of %zu: \"%.*s\"", end, n, (int)n, text);
    return n_sentences;
}

static const char *marked(const char *text, const char *language)
{
    static char out[4096];
    struct hd_sentences s;
    struct hd_span span;
    size_t n = 0;
    hd_sentences_begin(&s, text, strlen(text), language);
    while (hd_sentences_next(&s, &span))
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", n > 0 ? "¶" : "",
                              (int)(span.end - span.begin), text + span.begin);
    out[n] = '\0';
    return out;
}

static void without_marks(char *to, const char *from, size_t n)
{
    const size_t mark = strlen("¶");
    for (size_t i = 0; i < n;)
        if (n - i >= mark && memcmp(from + i, "¶", mark) == 0)
            i += mark;
        else
            *to++ = from[i++];
    *to = '\0';
}

/* With its language's lists and with all of them. */
static void lines_are_cut_where_a_reader_would_cut_them(void **state)
{
    (void)state;
    struct hd_lines lines;
    heed_error err = {0};
    size_t n_cases = 0, n_wrong = 0;
    assert_that(hd_lines_read(&lines, cases, &err), "%s", err.message);
    for (size_t i = 0; i < lines.n; i++) {
        char line[2048], text[2048];
        snprintf(line, sizeof line, "%.*s", (int)lines.at[i].n, lines.at[i].at);
        if (line[0] == '#')
            continue;
        char *kind = strchr(line, '\t'), *wanted = kind ? strchr(kind + 1, '\t') : NULL;
        assert_that(wanted, "line %zu has no three columns", i + 1);
        *kind++ = *wanted++ = '\0';
        without_marks(text, wanted, strlen(wanted));
        for (int with = 0; with < 2; with++) {
            const char *got = marked(text, with ? line : NULL);
            if (strcmp(got, wanted) != 0) {
                print_error("%s:%zu: %s, language %s\n  wanted %s\n  got    %s\n", cases, i + 1,
                            kind, with ? line : "not given", wanted, got);
                n_wrong++;
            }
        }
        n_cases++;
    }
    hd_lines_release(&lines);
    assert_that(n_cases > 280 && n_wrong == 0, "%zu cases, %zu wrong", n_cases, n_wrong);
}

static void lists_belong_to_languages(void **state)
{
    (void)state;
    assert_string_equal(marked("L'on. Rossi parla.", "it"), "L'on. Rossi parla.");
    assert_string_equal(marked("The light is on. Rossi saw it.", "en"),
                        "The light is on. ¶Rossi saw it.");
    assert_string_equal(marked("The light is on. Rossi saw it.", NULL),
                        "The light is on. ¶Rossi saw it.");
    assert_string_equal(marked("Das sind mind. Tausend.", "de-AT"), "Das sind mind. Tausend.");
    assert_string_equal(marked("Never mind. Peter knows.", "xx"), "Never mind. ¶Peter knows.");
}

static void line_ends_end_sentences(void **state)
{
    (void)state;
    assert_string_equal(marked("one\ntwo\r\n\r\nthree", NULL), "one\n¶two\r\n\r\n¶three");
    assert_string_equal(marked("  lead. Then trail.  ", NULL), "  lead. ¶Then trail.  ");
    assert_int_equal(check("", 0, NULL), 0);
    assert_int_equal(check("  \n ", 4, NULL), 1);
}

/* Whole files of the tests, as one text and line by line. */
static void files_come_back_whole(void **state)
{
    (void)state;
    static const char *const files[] = {cases,
                                        "tests/text/data/expected.tsv",
                                        "tests/text/data/unigram.spm",
                                        "tests/cli/default.tsv",
                                        "docs/translating.md",
                                        "src/text/sentence_words.c"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        FILE *file = fopen(files[f], "rb");
        assert_that(file, "%s", files[f]);
        char *text = malloc(1 << 20);
        const size_t n = fread(text, 1, 1 << 20, file);
        fclose(file);
        assert_that(n > 0 && check(text, n, NULL) > 0, "%s", files[f]);
        free(text);
    }
    for (int i = 0; i < N_LANGUAGES; i++)
        check(languages[i].text, strlen(languages[i].text), NULL);
}

static void random_text_comes_back_whole(void **state)
{
    (void)state;
    static const char *const parts[] = {
        ".", ". ", "...", "?",    "!",        "! ",       "\"",  "'",  "“",   "”",  "„",   "«", "»",
        "(", ")",  "[",   "]",    " ",        "  ",       "\n",  "1",  "2.",  "3)", "a",   "B", "I",
        "é", "Dr", "e.g", "z. B", "。",       "！",       "「",  "」", "と",  "。", "।",   "؟", "։",
        ";", "α",  "다",  "😀",    ":)",       "•",        "¿",   "-",  "–",   "/",  "www", ":", ",",
        "ו", "\"", "г",   "\xFF", "\xE2\x80", "\xC2\xA0", "[1]", "Mr", "The", "*"};
    const uint32_t n_parts = sizeof parts / sizeof *parts;
    for (uint64_t round = 0; round < 5000; round++) {
        struct hd_rng rng = {.key = 17, .stream = round};
        char text[600];
        size_t n = 0;
        const size_t n_pieces = 1 + hd_rng_below(&rng, 60);
        for (size_t i = 0; i < n_pieces; i++) {
            const char *part = parts[hd_rng_below(&rng, n_parts)];
            const size_t length = strlen(part);
            memcpy(text + n, part, length);
            n += length;
        }
        check(text, n, round % 3 ? NULL : "de");
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Twice the text takes twice the time, not four times, for what is hardest. */
static void time_is_linear(void **state)
{
    (void)state;
    static const char *const hard[] = {".",    "a. ",  "((", "\"a ", "« ",    "1. ",  "a.a",
                                       "! ",   "。」", "😀",  "Dr. ", ". . ",  "A.B ", "“",
                                       "x\" ", "[1",   ".)", ".\"",  "!) a ", "a: 1 "};
    for (size_t h = 0; h < sizeof hard / sizeof *hard; h++) {
        const size_t n = 1 << 17, length = strlen(hard[h]);
        char *text = malloc(n + 16);
        for (size_t i = 0; i < n; i += length)
            memcpy(text + i, hard[h], length);
        const double begin = seconds();
        check(text, n, NULL);
        const double took = seconds() - begin;
        assert_that(took < 2, "128 kB of \"%s\" takes %.1f s", hard[h], took);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_where_a_reader_would_cut_them),
        cmocka_unit_test(lists_belong_to_languages),
        cmocka_unit_test(line_ends_end_sentences),
        cmocka_unit_test(files_come_back_whole),
        cmocka_unit_test(random_text_comes_back_whole),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
