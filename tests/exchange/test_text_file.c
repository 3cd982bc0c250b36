/* test_text_file.c -- PO files, subtitles and paragraphs: their texts come out one by one, translations go where they belong, and all else stays as it was. */
#include "test.h"

#include "base/memory.h"

#include <heed.h>

/* The texts of a file, with bars between them; "!" before one that has tags. */
static const char *texts(const char *format, const char *bytes)
{
    static char out[4096];
    heed_error err = {0};
    heed_file *file = heed_file_read(bytes, strlen(bytes), format, "x", &err);
    size_t n = (size_t)snprintf(out, sizeof out, "%s", err.message);
    for (size_t i = 0; i < heed_file_size(file); i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s%s", i > 0 ? "|" : "",
                              heed_file_has_tags(file, i) ? "!" : "", heed_file_text(file, i));
    heed_file_free(file);
    return out;
}

/* The file with these translations in it; its warnings before it, each in brackets. */
static const char *with(const char *format, const char *bytes, const char *const *translations)
{
    static char out[8192];
    heed_error err = {0};
    heed_file *file = heed_file_read(bytes, strlen(bytes), format, "x", &err);
    assert_that(file, "%s", err.message);
    for (size_t i = 0; i < heed_file_size(file); i++)
        assert_that(heed_file_put(file, i, translations[i], &err), "%s", err.message);
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; heed_file_warning(file, i); i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "[%s]", heed_file_warning(file, i));
    char *text = heed_file_write(file, &err);
    snprintf(out + n, sizeof out - n, "%s", text);
    heed_free(text);
    heed_file_free(file);
    return out;
}

#define WITH(format, bytes, ...) with(format, bytes, (const char *const[]){__VA_ARGS__})

static void messages_are_filled_and_marked_fuzzy(void **state)
{
    (void)state;
    assert_string_equal(
        WITH("po",
             "#: a.c:1\n#, c-format\nmsgid \"%d cats\"\nmsgstr \"\"\n\nmsgctxt \"x\"\nmsgid "
             "\"a\"\nmsgstr \"\"\n",
             "%d chats", "un \"b\"\\"),
        "#: a.c:1\n#, fuzzy, c-format\nmsgid \"%d cats\"\nmsgstr \"%d chats\"\n\n#, fuzzy\nmsgctxt "
        "\"x\"\nmsgid \"a\"\nmsgstr \"un \\\"b\\\"\\\\\"\n");
    assert_string_equal(
        WITH("po", "#| msgid \"b\"\r\nmsgid \"\"\r\n\"a\\n\"\r\n\"b\"\r\nmsgstr \"\"\r\n", "c\nd"),
        "#, fuzzy\r\n#| msgid \"b\"\r\nmsgid \"\"\r\n\"a\\n\"\r\n\"b\"\r\nmsgstr "
        "\"\"\r\n\"c\\n\"\r\n\"d\"\r\n");
    assert_string_equal(texts("po", "msgid \"\"\n\"a\\t\\x41\\102\\\"\"\n\"c\"\nmsgstr \"\"\n"),
                        "a\nAB\"c");
    const char *said =
        WITH("po", "msgid \"_Open\\tCtrl+O\\nx\"\nmsgstr \"\"\n", "Ouvrir\nCtrl+O\ny");
    assert_that(strstr(said, "\"_Ouvrir\\tCtrl+O\\n\"\n\"y\""), "%s", said);
}

static void the_header_says_the_language(void **state)
{
    (void)state;
    heed_error err = {0};
    static const char po[] =
        "msgid \"\"\nmsgstr \"Language: pt_BR \\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n";
    heed_file *file = heed_file_read(po, strlen(po), "po", "x", &err);
    assert_true(file && strcmp(heed_file_language(file), "pt_BR") == 0);
    heed_file_free(file);
    file = heed_file_read(po + strlen(po) - 20, 20, "po", "x", &err);
    assert_true(file && !heed_file_language(file) && !heed_file_language(NULL));
    heed_file_free(file);
}

static void a_byte_order_mark_stays(void **state)
{
    (void)state;
    assert_string_equal(WITH("text", "\xEF\xBB\xBFone", "un"), "\xEF\xBB\xBFun");
    assert_string_equal(WITH("srt",
                             "\xEF\xBB\xBF"
                             "1\r\n00:00:01,000 --> 00:00:02,000\r\na\r\n",
                             "b"),
                        "\xEF\xBB\xBF"
                        "1\r\n00:00:01,000 --> 00:00:02,000\r\nb\r\n");
}

static void what_is_translated_or_obsolete_stays(void **state)
{
    (void)state;
    static const char done[] = "msgid \"a\"\nmsgstr \"b\"\n\n#, fuzzy\nmsgid \"c\"\nmsgstr "
                               "\"d\"\n\n#~ msgid \"e\"\n#~ msgstr \"\"\n";
    assert_string_equal(texts("po", done), "");
    char wanted[400];
    snprintf(wanted, sizeof wanted, "[x: 2 of 2 messages have a translation, which stays]%s", done);
    assert_string_equal(WITH("po", done, ""), wanted);
}

static void plurals_have_the_forms_of_their_language(void **state)
{
    (void)state;
    static const char three[] =
        "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=3; plural=0;\\n\"\n\nmsgid \"a "
        "cat\"\nmsgid_plural \"%d cats\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
    const char *said = WITH("po", three, "une", "%d deux");
    assert_that(strstr(said, "#, fuzzy\nmsgid \"a cat\"\nmsgid_plural \"%d cats\"\nmsgstr[0] "
                             "\"une\"\nmsgstr[1] \"%d deux\"\nmsgstr[2] \"%d deux\"\n"),
                "%s", said);
    static const char one[] =
        "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=1; plural=0;\\n\"\n\nmsgid \"a "
        "cat\"\nmsgid_plural \"%d cats\"\nmsgstr[0] \"\"\n";
    assert_string_equal(texts("po", one), "%d cats");
}

static void a_lost_placeholder_is_told_and_left_out(void **state)
{
    (void)state;
    static const char po[] = "\nmsgid \"%s has {n}\"\nmsgstr \"\"\n";
    const char *said = WITH("po", po, "{n} only");
    assert_that(strstr(said, "[x:2: the placeholder '%s' is not in the translation") &&
                    strstr(said, po),
                "%s", said);
    assert_that(strstr(WITH("po", po, "%s %s {n}"), "[x:2: "), "one too many");
    assert_false(strstr(WITH("po", po, "{n} a %s"), "[x:2: "));
}

static void the_mark_of_a_key_goes_before_a_letter_again(void **state)
{
    (void)state;
    assert_string_equal(texts("po",
                              "msgid \"_Open\"\nmsgstr \"\"\nmsgid \"E&xit\"\nmsgstr \"\"\nmsgid "
                              "\"my_name\"\nmsgstr \"\"\nmsgid \"R&amp;D\"\nmsgstr \"\"\n"),
                        "Open|Exit|my_name|!R&amp;D");
    const char *said = WITH("po", "msgid \"_Open\"\nmsgstr \"\"\n", "Komm");
    assert_that(strstr(said, "msgstr \"K_omm\""), "%s", said);
    said = WITH("po", "msgid \"_Open\"\nmsgstr \"\"\n", "Été");
    assert_that(strstr(said, "msgstr \"_Été\""), "%s", said);
}

static const char srt[] =
    "1\n00:00:01,000 --> 00:00:02,000\nOne two\nthree\n\n2\n00:00:02,500 --> "
    "00:00:04,000 X1:5\nfour five, six.\n\n3\n00:00:05,000 --> "
    "00:00:06,000\n- Seven?\n- <i>Eight</i>!\n\n4\n00:00:07,000 --> 00:00:08,000\n\n";

static void a_sentence_over_two_cues_is_one_and_is_divided_again(void **state)
{
    (void)state;
    assert_string_equal(texts("srt", srt),
                        "One two three four five, six.|- Seven?|!- <i>Eight</i>!");
    assert_string_equal(
        WITH("srt", srt, "un deux trois, quatre cinq six.", "- sept ?", "- <i>huit</i> !"),
        "1\n00:00:01,000 --> 00:00:02,000\nun deux trois,\n\n2\n00:00:02,500 --> "
        "00:00:04,000 X1:5\nquatre cinq six.\n\n3\n00:00:05,000 --> 00:00:06,000\n- "
        "sept ?\n- <i>huit</i> !\n\n4\n00:00:07,000 --> 00:00:08,000\n\n");
    /* a pause, an end, or a capital letter: two sentences */
    assert_string_equal(texts("srt", "1\n00:00:01,000 --> 00:00:02,000\nOne\n\n2\n00:00:08,000 --> "
                                     "00:00:09,000\ntwo\n"),
                        "One|two");
    assert_string_equal(texts("srt",
                              "00:00:01,000 --> 00:00:02,000\r\nOne.\r\n\r\n00:00:02,000 --> "
                              "00:00:09,000\r\ntwo"),
                        "One.|two");
    assert_string_equal(
        WITH("srt", srt, "un", "", "z"),
        "1\n00:00:01,000 --> 00:00:02,000\nun\n\n2\n00:00:02,500 --> 00:00:04,000 "
        "X1:5\nun\n\n3\n00:00:05,000 --> 00:00:06,000\n- Seven?\nz\n\n4\n00:00:07,000 "
        "--> 00:00:08,000\n\n");
}

static void long_lines_of_subtitles_are_broken(void **state)
{
    (void)state;
    const char *said = WITH("srt", "1\n00:00:01,000 --> 00:00:02,000\nA.\n",
                            "one two three four five six seven eight nine ten");
    assert_that(strstr(said, "\none two three four five\nsix seven eight nine ten\n"), "%s", said);
    said = WITH("srt", "1\n00:00:01,000 --> 00:00:02,000\nA.\n", " \n one \n\n two ");
    assert_that(strstr(said, ",000\none two\n"), "%s", said);
}

static void of_webvtt_the_cues_alone_are_translated(void **state)
{
    (void)state;
    static const char vtt[] = "WEBVTT - t\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE "
                              "a\n\nintro\n01:02.000 --> 01:03.000 align:start\n<v Ann>Hello\n\n"
                              "00:01:04.000 --> 00:01:05.000\nBye &amp; bye\n";
    assert_string_equal(texts("vtt", vtt), "!<v Ann>Hello|!Bye &amp; bye");
    const char *said = WITH("vtt", vtt, "<v Ann>A", "B");
    assert_that(
        strstr(said, "NOTE a\n\nintro\n01:02.000 --> 01:03.000 align:start\n<v Ann>A\n\n00:"), "%s",
        said);
}

static void times_between_words_stay(void **state)
{
    (void)state;
    static const char vtt[] =
        "WEBVTT\n\n00:02.000 --> 00:05.000\nI <00:02.100>went <00:00:02.900>home x < 3\n";
    assert_string_equal(
        texts("vtt", vtt),
        "!I <wbr data-time=\"00:02.100\">went <wbr data-time=\"00:00:02.900\">home x < 3");
    /* words may change places, times do not go back */
    const char *said =
        WITH("vtt", vtt,
             "Je <wbr data-time=\"00:00:02.900\">rentre <wbr data-time=\"00:02.100\">à pied");
    assert_that(strstr(said, "\nJe <00:02.100>rentre <00:00:02.900>à pied\n"), "%s", said);
    assert_that(strstr(WITH("vtt", vtt, "nothing"), ".000\nnothing\n"), "no tags at all");
}

static void cues_need_no_empty_line_between_them(void **state)
{
    (void)state;
    static const char close[] = "1\n00:00:01,000 --> 00:00:02,000\nOne.\n2\n00:00:03,000 --> "
                                "00:00:04,000\nTwo 2\n3\n4\n00:00:05,000 --> 00:00:06,000\n"
                                "00:00:07,000 --> 00:00:08,000\nA --> B\n";
    assert_string_equal(texts("srt", close), "One.|Two 2 3|A --> B");
    const char *said = WITH("srt", close, "Un.", "Deux", "C");
    assert_string_equal(said, "1\n00:00:01,000 --> 00:00:02,000\nUn.\n2\n00:00:03,000 --> "
                              "00:00:04,000\nDeux\n4\n00:00:05,000 --> 00:00:06,000\n"
                              "00:00:07,000 --> 00:00:08,000\nC\n");
}

static void paragraphs_are_joined_and_broken_again(void **state)
{
    (void)state;
    static const char text[] =
        "# Head\nOne two three\nfour five.\n\n\n  - item a\n    goes on\n  - item "
        "b\n12. end";
    assert_string_equal(texts("text", text),
                        "# Head|One two three four five.|- item a goes on|- item b|12. end");
    assert_string_equal(
        WITH("text", text, "# H", "un deux trois quatre cinq", "- a", "- b", "12. c"),
        "# H\nun deux trois\nquatre cinq\n\n\n  - a\n  - b\n12. c");
    static const char quoted[] = "> One two\n> three.\n>\n> > four\n> five\nsix\n>seven\n>eight";
    assert_string_equal(texts("text", quoted), "One two three.|four|five|six|seven eight");
    assert_string_equal(WITH("text", quoted, "un deux trois", "quatre", "cinq", "six", "sept huit"),
                        "> un deux\n> trois\n>\n> > quatre\n> cinq\nsix\n>sept\n>huit");
}

static void what_is_broken_is_told_with_file_and_line(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"po", "msgid \"a\"\nmsgid \"b\"\n", "x:2: 'msgid \"b\"' cannot stand here"},
        {"po", "\nmsgid \"a\n", "x:2: a string in quotation marks"},
        {"po", "msgid \"a\" b\n", "x:1: there is something behind the string"},
        {"po", "msgid \"a\"\n", "x:1: this msgid has no msgstr"},
        {"po", "msgid \"a\"\nmsgstr[0] \"\"\n", "x:2: 'msgstr[0] \"\"' cannot"},
        {"po", "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"\"\n", "x:3: "},
        {"po", "hello\n", "x:1: 'hello' cannot stand here"},
        {"po", "# nothing\n", "x: there is no message in it"},
        {"po", "msgid \"a\xFF\"\n", "x:1: not UTF-8"},
        {"srt", "", "x: there is no subtitle"},
        {"srt", "1\nhello\n", "x:2: a time such as 00:00:01,000 --> "},
        {"srt", "1\n00:00:01 --> 00:00:02\nx\n", "x:2: a time such as"},
        {"srt", "1\n00:00:01,000 --> 00:00:02,000\na\n\nb\n", "x:5: a time such as"},
        {"srt", "1\n00:00:01,000 --> 00:00:02,000\na\n2\n00:00:03 --> 00:00:04\nb\n",
         "x:5: a time such as"},
        {"vtt", "1\n", "x:1: a WebVTT file begins with the word WEBVTT"},
        {"vtt", "WEBVTT\n\nx\n", "x:3: a time such as 00:00:01.000"},
        {"tmx", "<tmx/>", "x: a translation memory can be learned from, not translated; write"},
        {"csv", "a,b", "x: a table can be learned from, not translated; write"},
        {"doc", "", "there is no format 'doc'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = texts(cases[i][0], cases[i][1]);
        assert_that(strstr(said, cases[i][2]), "%s: \"%s\" instead of \"%s\"", cases[i][1], said,
                    cases[i][2]);
    }
}

static void formats_are_known_by_endings(void **state)
{
    (void)state;
    assert_string_equal(heed_file_format("a/b.PO"), "po");
    assert_string_equal(heed_file_format("b.pot"), "po");
    assert_string_equal(heed_file_format("b.fr.srt"), "srt");
    assert_string_equal(heed_file_format("b.vtt"), "vtt");
    assert_string_equal(heed_file_format("b.po.GZ"), "po");
    assert_string_equal(heed_file_format("b.tmx"), "tmx");
    assert_string_equal(heed_file_format("b.csv.gz"), "csv");
    assert_null(heed_file_format("b.csvs"));
    assert_null(heed_file_format(".gz"));
    assert_null(heed_file_format("a.po/b"));
    assert_null(heed_file_format("b.txt"));
    assert_null(heed_file_format("b.p"));
    assert_null(heed_file_format("po"));
    assert_null(heed_file_format(NULL));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char po[] = "msgid \"\"\nmsgstr \"Language: fr\"\n#, c-format\nmsgid "
                             "\"a\\t%d\"\nmsgid_plural \"b %d\"\nmsgstr[0] \"\"\n";
    static const char *const files[][2] = {{"po", po}, {"srt", srt}, {"text", "a\nb\n\nc"}};
    for (size_t f = 0; f < 3; f++)
        for (long n = 0, is_done = 0; !is_done; n++) {
            heed_error err = {0};
            hd_alloc_fail_after(n);
            heed_file *file =
                heed_file_read(files[f][1], strlen(files[f][1]), files[f][0], "x", &err);
            bool ok = file != NULL;
            for (size_t i = 0; ok && i < heed_file_size(file); i++)
                ok = heed_file_put(file, i, heed_file_text(file, i), &err);
            char *text = ok ? heed_file_write(file, &err) : NULL;
            hd_alloc_fail_after(-1);
            assert_that(text || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
            is_done = text != NULL;
            heed_free(text);
            heed_file_free(file);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_filled_and_marked_fuzzy),
        cmocka_unit_test(the_header_says_the_language),
        cmocka_unit_test(a_byte_order_mark_stays),
        cmocka_unit_test(times_between_words_stay),
        cmocka_unit_test(cues_need_no_empty_line_between_them),
        cmocka_unit_test(what_is_translated_or_obsolete_stays),
        cmocka_unit_test(plurals_have_the_forms_of_their_language),
        cmocka_unit_test(a_lost_placeholder_is_told_and_left_out),
        cmocka_unit_test(the_mark_of_a_key_goes_before_a_letter_again),
        cmocka_unit_test(a_sentence_over_two_cues_is_one_and_is_divided_again),
        cmocka_unit_test(long_lines_of_subtitles_are_broken),
        cmocka_unit_test(of_webvtt_the_cues_alone_are_translated),
        cmocka_unit_test(paragraphs_are_joined_and_broken_again),
        cmocka_unit_test(what_is_broken_is_told_with_file_and_line),
        cmocka_unit_test(formats_are_known_by_endings),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
