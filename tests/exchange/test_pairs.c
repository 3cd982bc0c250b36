/* test_pairs.c -- translation memories, tables and PO files become lines of source and target; what is wrong with one is told with file and line. */
#include "folder.h"
#include "test.h"

#include "base/memory.h"
#include "exchange/pairs.h"
#include "text/columns.h"

#include <sys/stat.h>
#include <unistd.h>

static bool has_module;

/* A file's pairs, or the sentence about it; in brackets how many entries are none. */
static const char *pairs(const char *name, const char *bytes, const char *languages)
{
    static char out[4096];
    heed_error err = {0};
    struct hd_pair_counts counts = {0};
    struct hd_direction direction;
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb"), *to = tmpfile();
    assert_true(file && to && fwrite(bytes, 1, strlen(bytes), file) == strlen(bytes));
    fclose(file);
    const bool is_told =
        languages && hd_direction_read(&direction, (struct hd_text){languages, strlen(languages)});
    const bool ok = hd_pairs_convert(hd_pairs_format(HD_PAIRS_AUTO, path), path,
                                     is_told ? &direction : NULL, fileno(to), &counts, &err);
    rewind(to);
    size_t n = fread(out, 1, sizeof out - 100, to);
    fclose(to);
    if (ok)
        snprintf(out + n, 100, "[%zu]", counts.n_unpaired);
    else
        snprintf(out, sizeof out, "%s",
                 strncmp(err.message, path, strlen(path)) == 0 ? err.message + strlen(path)
                                                               : err.message);
    return out;
}

#define TUV(language, text) "<tuv xml:lang=\"" language "\"><seg>" text "</seg></tuv>\n"
#define TMX(units)                                                                        \
    "<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\">" \
    "<header srclang=\"en\"/><body>\n" units "</body></tmx>"

static void memories_have_any_two_of_their_languages(void **state)
{
    (void)state;
    if (!has_module)
        skip();
    static const char two[] = TMX("<tu>" TUV("FR-fr", "La <hi>maison</hi>\n &amp; x") TUV(
        "en-US", "The <bpt i=\"1\">&lt;b></bpt>house<![CDATA[ <&]]>") "</tu><tu>" TUV("en-US",
                                                                                      "a") "</tu>");
    assert_string_equal(pairs("a.tmx", two, NULL), "The house <&\tLa maison & x\n[1]");
    assert_string_equal(pairs("a.tmx", two, "fr-en"), "La maison & x\tThe house <&\n[1]");
    assert_string_equal(pairs("noname", two, "en-fr"), "The house <&\tLa maison & x\n[1]");
    assert_string_equal(pairs("a.tmx", two, "en-de"), "[2]");
    static const char three[] =
        TMX("<tu>" TUV("de", "eins") TUV("en", "one") TUV("pt-BR", "um") "</tu>");
    assert_string_equal(pairs("a.tmx", three, "de-pt_BR"), "eins\tum\n[0]");
    assert_that(strstr(pairs("a.tmx", three, NULL),
                       ":4: there are de, en, pt-BR in it; say which two, as in --pair en-fr="),
                "%s", pairs("a.tmx", three, NULL));
}

static void broken_memories_are_told(void **state)
{
    (void)state;
    if (!has_module)
        skip();
    static const char *const cases[][2] = {
        {"<tmx><tu>\n<tuv></tu></tmx>", ":2: the XML is not well-formed: "},
        {"<tmx>", ":1: the XML is not well-formed: "},
        {"", "not well-formed"},
        {"<tmx></tmx>", ": there is no unit (<tu>) in it"},
        {"\n<html></html>", ""},
        {"<!DOCTYPE tmx [\n<!ENTITY a \"b\">\n<!ENTITY c \"&a;&a;\">]><tmx><tu/></tmx>",
         ":2: the document declares entities"},
        {"<tmx><tu><tuv lang=\"en\"><seg>\xFF</seg></tuv></tu></tmx>", ":1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = pairs("a.tmx", cases[i][0], NULL);
        assert_that(strstr(said, cases[i][1]) && said[0] != '[', "%s: %s", cases[i][0], said);
    }
}

static void tables_have_columns_by_name(void **state)
{
    (void)state;
    assert_string_equal(
        pairs("a.csv", "id,target,Source\n1,\"b \"\"x\"\", c\",\"a\nd\"\r\n2,,e\n", NULL),
        "a d\tb \"x\", c\n[1]");
    assert_string_equal(pairs("a.csv", "fr;en-GB;de\nun;one;eins\n", "en-fr"), "one\tun\n[0]");
    assert_string_equal(pairs("a.csv", "one,un\ntwo,deux", "en-fr"), "one\tun\ntwo\tdeux\n[0]");
    assert_string_equal(pairs("a.csv", "\xEF\xBB\xBFsrc,tgt\n\na,b\n", NULL), "a\tb\n[0]");
    /* what Python and Excel write, and what people type */
    assert_string_equal(pairs("a.csv", "\"source\",\"target\"\r\n\"a\",\"b\r\n\"\r\n", NULL),
                        "a\tb\n[0]");
    assert_string_equal(
        pairs("a.csv", "\"id\",\"source\",\"target\"\r\n\"1\",\"a\",\"b\"\r\n", NULL), "a\tb\n[0]");
    assert_string_equal(pairs("a.csv", " Source , \"target\"\na, \"b, c\"\n", NULL),
                        "a\tb, c\n[0]");
    assert_string_equal(pairs("a.csv", "English,German\na,b\n", NULL), "a\tb\n[0]");
    assert_string_equal(pairs("a.csv", "id,EN,deu\n1,a,b\n", "de-en"), "b\ta\n[0]");
    assert_string_equal(pairs("a.csv", "German;English (US)\na;b\n", "en-de"), "b\ta\n[0]");
    assert_string_equal(pairs("a.csv", "sep=;\r\nsrc;tgt\r\na,b,c;d\r\n", NULL), "a,b,c\td\n[0]");
    assert_string_equal(pairs("a.csv", "is,est\na,b\n", NULL), "is\test\na\tb\n[0]");
    assert_string_equal(pairs("a.csv", "English,francais\na,b\n", NULL),
                        "English\tfrancais\na\tb\n[0]");
    static const char *const cases[][2] = {
        {"en,de,fr\n", ":1: there are 3 columns, and the first line does not say"},
        {"sep=,\na,b,c\n", ":2: there are 3 columns"},
        {"a,b,c\n", ":1: there are 3 columns, and the first line does not say"},
        {"source,target\na,b\n\n\"x\ny\",c,d\n", ":4: this row has 3 columns, but the first has 2"},
        {"source,target\na,\"b\n", ":2: a quotation mark opens a cell here"},
        {"source,target\na,\xFF\n", ":2: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = pairs("a.csv", cases[i][0], NULL);
        assert_that(strstr(said, cases[i][1]), "%s: %s", cases[i][0], said);
    }
}

static void messages_are_pairs_unless_they_are_fuzzy(void **state)
{
    (void)state;
    static const char po[] =
        "msgid \"\"\nmsgstr \"Language: fr_CA\\n\"\n\nmsgid \"One\\n\"\nmsgstr "
        "\"Un\\n\"\n\n#, fuzzy\nmsgid \"Two\"\nmsgstr \"Deux\"\n\nmsgid \"a\"\nmsgid_plural "
        "\"b\"\nmsgstr[0] \"c\"\nmsgstr[1] \"d\"\n\nmsgid \"e\"\nmsgstr \"\"\n";
    assert_string_equal(pairs("a.po", po, NULL), "One\tUn\na\tc\nb\td\n[2]");
    assert_string_equal(pairs("a.po", po, "fr-en"), "Un\tOne\nc\ta\nd\tb\n[2]");
    assert_string_equal(pairs("a.po", "msgid \"a\"\nmsgstr \"b\"\n", "fr-en"), "b\ta\n[0]");
    assert_that(strstr(pairs("a.po", "msgid \"a\"\nmsgstr\n", NULL), ":2: a string"), "no line");
}

static void folders_are_looked_through(void **state)
{
    (void)state;
    static const char *const names[] = {"b.po",  "a.tmx.gz", "notes.txt",
                                        ".c.po", "sub",      "sub/z.CSV"};
    struct hd_paths paths = {0};
    heed_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], "sub") == 0)
            assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
        else
            fclose(fopen(in_folder(names[i]), "w"));
    assert_true(hd_paths_add(&paths, "x.tsv", &err) && hd_paths_add(&paths, folder, &err));
    assert_int_equal(paths.n, 4);
    assert_string_equal(paths.at[0], "x.tsv");
    assert_string_equal(paths.at[1], in_folder("a.tmx.gz"));
    assert_string_equal(paths.at[2], in_folder("b.po"));
    assert_string_equal(paths.at[3], in_folder("sub/z.CSV"));
    hd_paths_release(&paths);
    assert_int_equal(symlink("..", in_folder("sub/up")), 0);
    assert_int_equal(symlink("../b.po", in_folder("sub/another.po")), 0);
    assert_true(hd_paths_add(&paths, folder, &err));
    assert_that(paths.n == 3, "links lead to %zu files instead of 3", paths.n);
    assert_string_equal(paths.at[1], in_folder("b.po"));
    unlink(in_folder("sub/up"));
    unlink(in_folder("sub/another.po"));
    unlink(in_folder("sub/z.CSV"));
    assert_false(hd_paths_add(&paths, in_folder("sub"), &err));
    assert_that(strstr(err.message, "this is a folder without a file that ends in"), "%s",
                err.message);
    hd_paths_release(&paths);
}

/* The module stands beside the folder of tests, where it was built at all. */
static void find_module(void)
{
    char path[512];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s%s/heed_markup.so", build && build[0] == '/' ? "" : "./",
             build ? build : "build");
    if (access(path, F_OK) == 0)
        setenv("HEED_MARKUP_MODULE", path, 1);
    has_module = access(path, F_OK) == 0;
}

int main(void)
{
    find_module();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memories_have_any_two_of_their_languages, fresh_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(broken_memories_are_told, fresh_folder, remove_folder),
        cmocka_unit_test_setup_teardown(tables_have_columns_by_name, fresh_folder, remove_folder),
        cmocka_unit_test_setup_teardown(messages_are_pairs_unless_they_are_fuzzy, fresh_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(folders_are_looked_through, fresh_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
