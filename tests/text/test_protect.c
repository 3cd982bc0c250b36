/* test_protect.c -- what must not be translated is found, and its false friends are not. */
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "text/pieces.h"

#include <time.h>

static const char *found(const char *text, const struct hd_keep *keep)
{
    struct hd_protected_list list = {0};
    assert_true(hd_protect_find(&list, keep, text, strlen(text), NULL));
    const char *out = pieces_of(&list, text);
    hd_protected_release(&list);
    return out;
}

static void what_must_not_be_translated_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pieces;
    } cases[] = {
        {"See https://example.com/a?b=c#d.", "url:https://example.com/a?b=c#d"},
        {"(http://a.example.net/x_(y)) is down", "url:http://a.example.net/x_(y)"},
        {"Go to www.example.com, now!", "url:www.example.com"},
        {"Try example.org/path/to today", "url:example.org/path/to"},
        {"On example.com. Then", "url:example.com"},
        {"<https://x.example>", "url:https://x.example"},
        {"git clone ssh://git@host/repo.git", "url:ssh://git@host/repo.git"},
        {"mailto:jane@example.com please", "url:mailto:jane@example.com"},
        {"Write to jane.doe+x@example.co.uk.", "mail:jane.doe+x@example.co.uk"},
        {"in /usr/local/bin or ~/notes", "path:/usr/local/bin path:~/notes"},
        {"Delete C:\\temp\\old.log first", "path:C:\\temp\\old.log"},
        {"\\\\server\\share is full", "path:\\\\server\\share"},
        {"Open readme.txt and main.c.", "path:readme.txt path:main.c"},
        {"src/text/lines.h has it", "path:src/text/lines.h"},
        {"./configure && ../x/y", "path:./configure path:../x/y"},
        {"Straße.pdf, bitte", "path:Straße.pdf"},
        {"I use node.js daily", "path:node.js"}, /* a file's name or a product's: kept either way */
        {"in /etc and /tmp.", "path:/etc path:/tmp"},
        {"Error 0x1F4 at #ff8800", "code:0x1F4 code:#ff8800"},
        {"id 123e4567-e89b-12d3-a456-426614174000!", "code:123e4567-e89b-12d3-a456-426614174000"},
        {"commit 3f2a91c0 broke it", "code:3f2a91c0"},
        {"version 2.4.1, v3 and 1.0.0-beta.2", "code:2.4.1 code:v3 code:1.0.0-beta.2"},
        {"ping 10.0.0.1:8080", "code:10.0.0.1:8080"},
        {"Order ABC-1234 and DIN_4711", "code:ABC-1234 code:DIN_4711"},
        {"part RX100V is out", "code:RX100V"},
        {"COVID-19 came", "code:COVID-19"},
        {"call my_name or std::sort, main()", "code:my_name code:std::sort code:main()"},
        {"Found %s in %1$d files (%-5.2f)", "variable:%s variable:%1$d variable:%-5.2f"},
        {"%(name)s has %{n} of %%", "variable:%(name)s variable:%{n} variable:%%"},
        {"Copy %1 to %2", "variable:%1 variable:%2"},
        {"Hello {name}, {0:.2f} or {}", "variable:{name} variable:{0:.2f} variable:{}"},
        {"${x} and {{ user.name }} or #{y}",
         "variable:${x} variable:{{ user.name }} variable:#{y}"},
        {"<0>Click</0> here<1/>", "variable:<0> variable:</0> variable:<1/>"},
        {"Click <b>here</b>, <a href=\"x.html\">there</a><br/>",
         "variable:<b> variable:</b> variable:<a href=\"x.html\"> variable:</a> variable:<br/>"},
        {"so :smile: now", "variable::smile:"},
        {"in $HOME or $PATH", "variable:$HOME variable:$PATH"},
        {"a ⟨1⟩ of its own", "variable:⟨1⟩"},
        {"Call +49 30 123456 or +1 (555) 123-4567.", "code:+49 30 123456 code:+1 (555) 123-4567"},
        {"Tel. +49 (0)30 123456, 06 12 34 56 78", "code:+49 (0)30 123456 code:06 12 34 56 78"},
        {"030/1234567 or 06.12.34.56.78!", "code:030/1234567 code:06.12.34.56.78"},
        {"Your order 4815162342 is here", "code:4815162342"},
        {"#winter with @jane and @jane@social.example.",
         "code:#winter code:@jane code:@jane@social.example"},
        {"Thanks @Zoë!", "code:@Zoë"},
        {"Run `sudo apt install foo` first", "code:`sudo apt install foo`"},
        {"I ❤️ Paris 😀😀 a lot", "emoji:❤️ emoji:😀😀"},
        {"{name}'s file.txt", "variable:{name} path:file.txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = found(cases[i].text, NULL);
        assert_that(strcmp(got, cases[i].pieces) == 0, "\"%s\"\n  wanted %s\n  got    %s",
                    cases[i].text, cases[i].pieces, got);
    }
}

static void false_friends_are_left_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "e.g. this, i.e. that, etc.",
        "and/or, he/she/they, km/h, 1/2, 24/7",
        "at 3:15 or 15:30:00",
        "U.S. and U.K. troops, p.m., Ph.D.",
        "It costs 3.14, 1.234.567 or 1,234.50 on 12.05.2024 (2024-05-12)",
        "100% of it, a 5 % discount, 50% down, 20% so",
        "He left.Then he came. Hello.It is me",
        "$5 or US$10, A$5",
        "note: this one: that",
        "{this is text}",
        "a < b > c, a <b and c> d, List<T> of <name>",
        "Mr. Smith - well-known - X-ray, T-shirt",
        "face, decade, added, 1234567",
        "well...so what",
        "@ noon, #1, # one",
        "C: drive; a\\b",
        "\"quoted\" – dashes — and … dots",
        "3D, 4K, H2O, B12, 2nd, 1990s",
        "Größe, naïve, 日本語。はい、",
        "(a) b) 1) 2.",
        "// comment, /, ~, ., ..",
        "what?! really!! :) ;-) :D",
        "on 05.12.2024 10:30, 05/12/2024, 05-12-2024, 08 10 12",
        "0 to 100, 0.123456, +5 points, + 1, 3 + 4, 100 000 000",
        "``quoted'' and `so', a ` alone, ``",
        "C# and F#, 5 @ 3, a@b, @, #",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *got = found(texts[i], NULL);
        assert_that(got[0] == '\0', "\"%s\": %s", texts[i], got);
    }
}

static void users_name_what_is_kept(void **state)
{
    (void)state;
    const char *const patterns[] = {"[A-Z][a-z]+Corp", "x+", "é."}, *const words[] = {"Go",
                                                                                      "Ça va"};
    heed_error err = {0};
    struct hd_keep *keep = hd_keep_new(patterns, 3, words, 2, &err);
    assert_that(keep, "%s", err.message);
    assert_string_equal(found("AcmeCorp likes Go, not Gothic or Golang", keep),
                        "kept:AcmeCorp kept:Go");
    assert_string_equal(found("xxx and Ça va?", keep), "kept:xxx kept:Ça va");
    assert_string_equal(found("déjà vu", keep), "kept:éj"); /* bytes or characters: whole ones */
    assert_string_equal(found("dé日", keep), "kept:é日");
    assert_string_equal(found("see xxx.txt and https://xx.de", keep),
                        "path:xxx.txt url:https://xx.de"); /* within one that is longer */
    hd_keep_free(keep);
}

static void expressions_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *reason;
    } bad[] = {{"a[", "'a[' is not a regular expression"}, {"(", "'('"}, {"", "is empty"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_error err = {0};
        assert_null(hd_keep_new(&bad[i].pattern, 1, NULL, 0, &err));
        assert_error(err, HEED_BAD_OPTION, bad[i].reason);
    }
    heed_error err = {0};
    const char *word = "";
    assert_null(hd_keep_new(NULL, 0, &word, 1, &err));
    assert_error(err, HEED_BAD_OPTION, "a word is empty");
}

static void pieces_become_placeholders(void **state)
{
    (void)state;
    const char text[] = "Send %s to jane@example.com at ⟨2⟩!";
    struct hd_protected_list list = {0};
    struct hd_bytes out = {0};
    assert_true(hd_protect_find(&list, NULL, text, strlen(text), NULL));
    hd_protect_replace(&out, text, strlen(text), &list);
    assert_string_equal(out.at, "Send ⟨1⟩ to ⟨2⟩ at ⟨3⟩!");
    hd_free(out.at);
    hd_protected_release(&list);
}

static void the_tenth_piece_stays(void **state)
{
    (void)state;
    const char text[] = "%s %s %s %s %s %s %s %s %s %s.";
    struct hd_protected_list list = {0};
    struct hd_bytes out = {0};
    assert_true(hd_protect_find(&list, NULL, text, strlen(text), NULL));
    assert_int_equal(list.n, 10);
    hd_protect_replace(&out, text, strlen(text), &list);
    assert_string_equal(out.at, "⟨1⟩ ⟨2⟩ ⟨3⟩ ⟨4⟩ ⟨5⟩ ⟨6⟩ ⟨7⟩ ⟨8⟩ ⟨9⟩ %s.");
    hd_free(out.at);
    hd_protected_release(&list);
}

/* Numbers as "a b c". */
static const char *numbers(const char *text)
{
    static char out[1024];
    struct hd_number number;
    size_t n = 0, i = 0;
    out[0] = '\0';
    while (hd_number_next(text, strlen(text), &i, &number))
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", n > 0 ? " " : "", number.value);
    return out;
}

static void numbers_have_one_value_however_they_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *text, *values;
    } cases[] = {
        {"1,234.5", "1234.5"},
        {"1.234,5", "1234.5"},
        {"1 234,5", "1234.5"},
        {"1\u202F234,50", "1234.5"},
        {"1'234.5", "1234.5"},
        {"1,234,567", "1234567"},
        {"1.234.567", "1234567"},
        {"1,234 and 1.234 and 1 234", "1234 1234 1234"},
        {"0.123 and 0,123", "0.123 0.123"},
        {"3.50 and 3,5", "3.5 3.5"},
        {"12345.678", "12345.678"},
        {"in 1990 300 people", "1990 300"},
        {"on 12.05.2024 at 15:30", "12 5 2024 15 30"},
        {"1, 2, 3", "1 2 3"},
        {"1,2,3", "1 2 3"},
        {"007", "7"},
        {"0", "0"},
        {"costs 5.", "5"},
        {"١٬٢٣٤٫٥ и ６７", "1234.5 67"},
        {"६ और १२", "6 12"},
        {"none", ""},
        {"A4 and 3rd", "4 3"},
        {"1.5.2", "1 5 2"},
        {"1 23", "1 23"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_that(strcmp(numbers(cases[i].text), cases[i].values) == 0,
                    "\"%s\": wanted \"%s\", got \"%s\"", cases[i].text, cases[i].values,
                    numbers(cases[i].text));
    char many[400];
    memset(many, '7', sizeof many);
    size_t i = 0;
    struct hd_number number;
    assert_true(hd_number_next(many, sizeof many, &i, &number) && i == sizeof many);
    assert_int_equal(strlen(number.value), 29);
}

static void numbers_that_differ_are_told(void **state)
{
    (void)state;
    const char a[] = "It was built in 1850 for 1,234.50 by 3 men and 3 women.",
               b[] = "Bâtie en 185 pour 1 234,5 par 3 hommes et des femmes.";
    const struct hd_number_difference d = hd_numbers_compare(a, strlen(a), b, strlen(b)),
                                      none = hd_numbers_compare(a, strlen(a), a, strlen(a));
    assert_true(none.n_missing == 0 && none.n_extra == 0);
    assert_int_equal(d.n_missing, 2);
    assert_int_equal(d.n_extra, 1);
    assert_string_equal(d.missing.value, "1850");
    assert_string_equal(d.extra.value, "185");
    assert_memory_equal(b + d.extra.span.begin, "185", 3);
}

/* Pieces ascend and do not overlap. */
static void any_text_survives(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "http://", "www.", "a",  "B",  "1",  ".",    "/",    "\\",  ":", "@", "x.com", "%",
        "s",       "{",    "}",  "$",  "<",  ">",    "0",    "-",   "_", " ", "é",     "日",
        "#",       "f",    "()", "::", "~/", "\xFF", "\xE2", "⟨1⟩", "⟨", ",", "v1",    "\0x"};
    const char *const patterns[] = {"a[^ ]*B", "é|1+"};
    struct hd_keep *keep = hd_keep_new(patterns, 2, parts + 2, 1, NULL);
    for (uint64_t round = 0; round < 4000; round++) {
        struct hd_rng rng = {.key = 5, .stream = round};
        char text[400];
        size_t n = 0;
        for (uint32_t k = hd_rng_below(&rng, 40); k > 0; k--) {
            const char *part = parts[hd_rng_below(&rng, sizeof parts / sizeof *parts)];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        struct hd_protected_list list = {0};
        assert_true(hd_protect_find(&list, round % 2 ? keep : NULL, text, n, NULL));
        for (size_t i = 0; i < list.n; i++)
            assert_true(list.at[i].span.begin < list.at[i].span.end && list.at[i].span.end <= n &&
                        (i == 0 || list.at[i].span.begin >= list.at[i - 1].span.end));
        hd_numbers_compare(text, n, text, n);
        hd_protected_release(&list);
    }
    hd_keep_free(keep);
}

static void time_is_linear(void **state)
{
    (void)state;
    static const char *const hard[] = {"a",   "a.", "a-",     "a/",   "a=a",   "1.",
                                       "%",   "{",  "{{a ",   ":a",   "a_",    "a::a",
                                       "x@x", "((", "www.a)", "a\\a", "1 234", "http://a "};
    for (size_t h = 0; h < sizeof hard / sizeof *hard; h++) {
        const size_t n = 1 << 17, length = strlen(hard[h]);
        char *text = malloc(n + 16);
        struct hd_protected_list list = {0};
        for (size_t i = 0; i < n; i += length)
            memcpy(text + i, hard[h], length);
        const clock_t begin = clock();
        assert_true(hd_protect_find(&list, NULL, text, n, NULL));
        hd_numbers_compare(text, n, text, n);
        const double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
        assert_that(took < 2, "128 kB of \"%s\" take %.1f s", hard[h], took);
        hd_protected_release(&list);
        free(text);
    }
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    const char *const patterns[] = {"a+"}, *const words[] = {"b"};
    const char text[] = "a b www.example.com";
    bool ok = false;
    for (long n = 0; !ok; n++) {
        heed_error err = {0};
        struct hd_protected_list list = {0};
        hd_alloc_fail_after(n);
        struct hd_keep *keep = hd_keep_new(patterns, 1, words, 1, &err);
        ok = keep && hd_protect_find(&list, keep, text, strlen(text), &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
        hd_keep_free(keep);
        hd_protected_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_must_not_be_translated_is_found),
        cmocka_unit_test(false_friends_are_left_alone),
        cmocka_unit_test(users_name_what_is_kept),
        cmocka_unit_test(expressions_that_are_none_are_refused),
        cmocka_unit_test(pieces_become_placeholders),
        cmocka_unit_test(the_tenth_piece_stays),
        cmocka_unit_test(numbers_have_one_value_however_they_are_written),
        cmocka_unit_test(numbers_that_differ_are_told),
        cmocka_unit_test(any_text_survives),
        cmocka_unit_test(time_is_linear),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
