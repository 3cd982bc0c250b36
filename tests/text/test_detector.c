/* test_detector.c -- which language a text is in: learned from a little text, the same bits each time, and broken bytes. */
#include "test.h"

#include "base/memory.h"
#include "text/detector.h"

static const char *const languages[] = {"en", "fr", "de"};
static const struct {
    int language;
    const char *text;
} lines[] = {
    {0, "The weather is nice today and we are going to the beach."},
    {0, "My sister has bought a new house near the river."},
    {0, "What would you like to drink with your dinner?"},
    {0, "They were not there when I called them this morning."},
    {0, "She thinks that this book is better than the other one."},
    {1, "Le temps est beau aujourd'hui et nous allons à la plage."},
    {1, "Ma sœur a acheté une nouvelle maison près de la rivière."},
    {1, "Que voulez-vous boire avec votre dîner ?"},
    {1, "Ils n'étaient pas là quand je les ai appelés ce matin."},
    {1, "Elle pense que ce livre est meilleur que l'autre."},
    {2, "Das Wetter ist heute schön und wir gehen an den Strand."},
    {2, "Meine Schwester hat ein neues Haus am Fluss gekauft."},
    {2, "Was möchten Sie zum Abendessen trinken?"},
    {2, "Sie waren nicht da, als ich sie heute Morgen anrief."},
    {2, "Sie denkt, dass dieses Buch besser ist als das andere."},
};
enum { N_LINES = sizeof lines / sizeof *lines };

static struct hd_text line_of(void *context, size_t i, int *language)
{
    (void)context;
    *language = lines[i].language;
    return (struct hd_text){lines[i].text, strlen(lines[i].text)};
}

static struct hd_detector *trained(heed_error *err)
{
    return hd_detector_train(&(struct hd_detector_text){languages, 3, N_LINES, line_of, NULL}, err);
}

static int best_of(const struct hd_detector *d, const char *text)
{
    double p[HD_MOST_LANGUAGES], sum = 0;
    int best = 0;
    hd_detect(d, text, strlen(text), p);
    for (int i = 0; i < hd_detector_size(d); i++) {
        sum += p[i];
        best = p[i] > p[best] ? i : best;
    }
    assert_that(sum > 1 - 1e-9 && sum < 1 + 1e-9, "%s: %g in all", text, sum);
    return best;
}

static void short_input_is_told_apart(void **state)
{
    static const struct {
        const char *text;
        int wanted;
    } cases[] = {{"Hello", 0},
                 {"hi", 0},
                 {"Good morning!", 0},
                 {"THANK YOU", 0},
                 {"Bonjour", 1},
                 {"Merci beaucoup", 1},
                 {"s'il vous plaît", 1},
                 {"Guten Morgen", 2},
                 {"danke schön", 2},
                 {"Where is the house?", 0},
                 {"Nous avons une maison.", 1},
                 {"Wir haben ein Haus.", 2},
                 /* names say little */
                 {"Where is the house of Nous Avons Une Maison?", 0},
                 {"Nous avons une maison, Wir Haben Ein Haus.", 1}};
    (void)state;
    heed_error err = {0};
    struct hd_detector *d = trained(&err);
    assert_that(d, "%s", err.message);
    assert_int_equal(hd_detector_size(d), 3);
    assert_string_equal(hd_detector_language(d, 1), "fr");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_that(best_of(d, cases[i].text) == cases[i].wanted, "%s is %s", cases[i].text,
                    languages[best_of(d, cases[i].text)]);
    double p[HD_MOST_LANGUAGES];
    hd_detect(d, "1234 !?", 7, p);
    assert_true(p[0] == p[1] && p[1] == p[2]);
    hd_detect(d, "\xff\xc3", 2, p); /* no UTF-8 */
    hd_detector_free(d);
}

static void the_same_text_gives_the_same_bytes(void **state)
{
    (void)state;
    struct hd_detector *a = trained(NULL), *b = trained(NULL);
    size_t n, m;
    const void *x = hd_detector_bytes(a, &n), *y = hd_detector_bytes(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    struct hd_detector *again = hd_detector_from_memory(x, n, NULL);
    assert_non_null(again);
    assert_int_equal(best_of(again, "Guten Morgen"), 2);
    hd_detector_free(again);
    hd_detector_free(a);
    hd_detector_free(b);
}

static void what_is_no_detector_is_refused(void **state)
{
    (void)state;
    struct hd_detector *d = trained(NULL);
    size_t n;
    char *bytes = malloc(200000);
    const void *good = hd_detector_bytes(d, &n);
    static const char *const heads[] = {"",
                                        "\n",
                                        "heed-detector 1 ",
                                        "heed-detector 1 7 en\n",
                                        "heed-detector 1 x en fr de\n",
                                        "heed-detector 1 0 en fr de\n",
                                        "heed-detector 2 7 en fr de\n",
                                        "heed-detector 1 7 en f! de\n",
                                        "heed-detector 1 7\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        heed_error err = {0};
        memset(bytes, 0, n);
        strcpy(bytes, heads[i]);
        assert_null(hd_detector_from_memory(bytes, n, &err));
        assert_error(err, HEED_BAD_MODEL, "detector");
    }
    memcpy(bytes, good, n);
    for (size_t cut = 0; cut < 100; cut++) {
        assert_null(hd_detector_from_memory(bytes, cut, NULL));
        assert_null(hd_detector_from_memory(bytes, n - cut - 1, NULL));
    }
    free(bytes);
    hd_detector_free(d);
    heed_error err = {0};
    static const char *const four[] = {"en", "fr", "de", "it"};
    assert_null(
        hd_detector_train(&(struct hd_detector_text){four, 4, N_LINES, line_of, NULL}, &err));
    assert_error(err, HEED_BAD_TEXT, "no text of the language it");
    err = (heed_error){0};
    assert_null(
        hd_detector_train(&(struct hd_detector_text){four, 1, N_LINES, line_of, NULL}, &err));
    assert_error(err, HEED_BAD_OPTION, "not 1");
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct hd_detector *d = NULL;
    int n_failed = 0;
    for (long n = 0; !d && n < 100; n++) {
        hd_alloc_fail_after(n);
        d = trained(NULL);
        n_failed += !d;
    }
    hd_alloc_fail_after(-1);
    assert_true(d && n_failed >= 3);
    hd_detector_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_input_is_told_apart),
        cmocka_unit_test(the_same_text_gives_the_same_bytes),
        cmocka_unit_test(what_is_no_detector_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
