/* test_glossary.c -- glossaries are read or refused with the line that is wrong, and their terms are found as whole words. */
#include "text/files.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "text/glossary.h"

#include <strings.h>

static struct hd_glossary *glossary_of(const char *text)
{
    heed_error err = {0};
    struct hd_glossary *g = hd_glossary_from_memory("g.tsv", text, strlen(text), &err);
    assert_that(g, "%s", err.message);
    return g;
}

/* Matches as "found=form/form ...". */
static const char *matches(const struct hd_glossary *g, const char *text)
{
    static char out[1024];
    struct hd_term_match m;
    size_t n = 0, i = 0;
    out[0] = '\0';
    while (hd_glossary_next(g, text, strlen(text), &i, &m)) {
        struct hd_bytes forms = {0};
        for (int k = 0; k < hd_glossary_n_translations(g, m.term); k++) {
            hd_bytes_text(&forms, k > 0 ? "/" : "");
            hd_glossary_form(&forms, g, &m, k, text);
        }
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s=%s", n > 0 ? " " : "",
                              (int)(m.span.end - m.span.begin), text + m.span.begin, forms.at);
        hd_free(forms.at);
    }
    return out;
}

static void terms_are_found_as_whole_words(void **state)
{
    (void)state;
    struct hd_glossary *g = glossary_of("apple\tPomme\n"
                                        "apple pie\ttarte aux pommes\ttourte\r\n"
                                        "\n"
                                        "iPhone\t-\n"
                                        "US\tÉtats-Unis\n"
                                        "us\tnous\n"
                                        "New York\tNouvelle York\n"
                                        "mother's day\tfête des mères\n"
                                        "Haus\tmaison\n"
                                        "猫\tchat\n"
                                        "C++\tC++\n"
                                        "été\tsummer\n");
    static const struct {
        const char *text, *found;
    } cases[] = {
        {"An apple a day", "apple=Pomme"},
        {"apples, pineapple, apple-tree", "apple=Pomme"},
        {"Apple pie is good", "Apple pie=Tarte aux pommes/Tourte"},
        {"APPLE PIE!", "APPLE PIE=TARTE AUX POMMES/TOURTE"},
        {"apple \xC2\xA0 pie", "apple \xC2\xA0 pie=tarte aux pommes/tourte"},
        {"apple pies", "apple=Pomme"}, /* the longer one is no whole word */
        {"an iPhone, no iphone or IPHONE", "iPhone=iPhone"},
        {"the US and us", "US=États-Unis us=nous"},
        {"Us and them", "Us=Nous"},
        {"new york, New York", "New York=Nouvelle York"},
        {"Mother’s Day", "Mother’s Day=Fête des mères"},
        {"haus und HAUS", "haus=maison HAUS=MAISON"},
        {"我爱猫和狗", "猫=chat"},
        {"C++, C", "C++=C++"},
        {"ÉTÉ, Été, l'été", "ÉTÉ=SUMMER Été=Summer été=summer"},
        {"e\xCC\x81t, nothing", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_that(strcmp(matches(g, cases[i].text), cases[i].found) == 0,
                    "\"%s\": wanted \"%s\", got \"%s\"", cases[i].text, cases[i].found,
                    matches(g, cases[i].text));
    assert_int_equal(hd_glossary_size(g), 11);
    hd_glossary_free(g);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } bad[] = {
        {"a\tb\nno tab here\n", "g.tsv:2: there is no TAB"},
        {"a\tb\n\n\tb\n", "g.tsv:3: there is no term before the TAB"},
        {"a\t \n", "g.tsv:1: there is no translation behind the TAB; write - to keep"},
        {"a\tb\t\n", "g.tsv:1: there is no translation"},
        {"Apple\tx\nb\ty\napple\tz\n", "g.tsv:3: 'apple' has another translation in line 1"},
        {"NATO\tx\nNATO\tx\ty\n", "g.tsv:2: 'NATO' has another translation in line 1"},
        {"", "there is no term in it"},
        {"\n \n", "there is no term in it"},
        {"a\tb\n\xFF\tc\n", "g.tsv:2: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_error err = {0};
        assert_null(hd_glossary_from_memory("g.tsv", bad[i].text, strlen(bad[i].text), &err));
        assert_error(err, HEED_BAD_TEXT, bad[i].reason);
    }
    heed_error err = {0};
    assert_null(hd_glossary_from_memory("g.tsv", "a\0\tb", 4, &err));
    assert_error(err, HEED_BAD_TEXT, "g.tsv:1: there is a NUL byte");
    struct hd_glossary *g = glossary_of("apple\tpomme\nApple\tpomme\nNATO\t-\nnato\tx\n");
    assert_int_equal(hd_glossary_size(g), 3); /* said twice is said once; NATO and nato are two */
    hd_glossary_free(g);
}

static void files_are_read_packed_or_not(void **state)
{
    (void)state;
    const char text[] = "\xEF\xBB\xBF"
                        "tea\tthé\nmilk\tlait";
    put("plain.tsv", text);
    put_packed("packed.tsv.gz", "wb", text, strlen(text));
    static const char *const names[] = {"plain.tsv", "packed.tsv.gz"};
    for (int i = 0; i < 2; i++) {
        heed_error err = {0};
        struct hd_glossary *g = hd_glossary_read(in_folder(names[i]), &err);
        assert_that(g, "%s", err.message);
        assert_string_equal(matches(g, "Tea, milk"), "Tea=Thé milk=lait");
        hd_glossary_free(g);
    }
    heed_error err = {0};
    assert_null(hd_glossary_read(in_folder("nowhere"), &err));
    assert_int_equal(err.code, HEED_BAD_FILE);
    err = (heed_error){0};
    put("bad.tsv", "a\tb\nc d\n");
    assert_null(hd_glossary_read(in_folder("bad.tsv"), &err));
    assert_error(err, HEED_BAD_TEXT, "bad.tsv:2: there is no TAB");
}

/* In texts of a, b, A, ä, 日, - and spaces: is text[begin..end) not part of a longer word? */
static bool stands_alone(const char *text, size_t begin, size_t end)
{
    const size_t wide = strlen("日");
    const bool is_wide_inside[2] = {(unsigned char)text[begin] == 0xE6,
                                    end >= wide && (unsigned char)text[end - wide] == 0xE6};
    const bool is_letter_before = begin > 0 && !strchr(" -", text[begin - 1]) &&
                                  !(begin >= wide && (unsigned char)text[begin - wide] == 0xE6);
    const bool is_letter_behind =
        text[end] && !strchr(" -", text[end]) && (unsigned char)text[end] != 0xE6;
    return (is_wide_inside[0] || !is_letter_before) && (is_wide_inside[1] || !is_letter_behind);
}

/* Against the plainest way to find terms: all of them at every place, the longest first. */
static void every_match_is_the_first_and_longest(void **state)
{
    (void)state;
    static const char *const letters[] = {"a", "b", "日", "A", " ", "ä", "-"};
    for (uint64_t round = 0; round < 3000; round++) {
        struct hd_rng rng = {.key = 9, .stream = round};
        char file[400] = "", terms[8][32], text[100] = "";
        for (int t = 0; t < 8; t++) {
            strcpy(terms[t], letters[hd_rng_below(&rng, 3)]);
            for (uint32_t k = hd_rng_below(&rng, 4); k > 0; k--)
                strcat(terms[t], letters[hd_rng_below(&rng, 3)]);
            snprintf(file + strlen(file), sizeof file - strlen(file), "%s\tx\n", terms[t]);
        }
        for (int k = 0; k < 20; k++)
            strcat(text, letters[hd_rng_below(&rng, 7)]);
        struct hd_glossary *g = glossary_of(file);
        const size_t n = strlen(text);
        size_t next = 0;
        for (size_t i = 0; i < n;) {
            size_t longest = 0;
            for (int t = 0; t < 8; t++) {
                const size_t length = strlen(terms[t]);
                if (length > longest && i + length <= n &&
                    strncasecmp(text + i, terms[t], length) == 0 &&
                    stands_alone(text, i, i + length))
                    longest = length;
            }
            if (longest > 0) {
                struct hd_term_match m;
                assert_that(hd_glossary_next(g, text, n, &next, &m) && m.span.begin == i &&
                                m.span.end == i + longest,
                            "\"%s\" at %zu, %zu bytes; terms:\n%s", text, i, longest, file);
            }
            i += longest > 0 ? longest : 1;
        }
        struct hd_term_match m;
        assert_false(hd_glossary_next(g, text, n, &next, &m));
        hd_glossary_free(g);
    }
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    bool ok = false;
    for (long n = 0; !ok; n++) {
        heed_error err = {0};
        const char text[] = "a\tb\nc\td\te\n";
        hd_alloc_fail_after(n);
        struct hd_glossary *g = hd_glossary_from_memory("g", text, strlen(text), &err);
        hd_alloc_fail_after(-1);
        ok = g != NULL;
        assert_that(ok || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
        hd_glossary_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_found_as_whole_words),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(files_are_read_packed_or_not),
        cmocka_unit_test(every_match_is_the_first_and_longest),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
