/* test_tags.c -- tags in translations: case by case with the toy model, which says German numbers backwards in English, and by
 * properties that hold for all texts, with the toy model and the model inside heed. */
#include "test.h"
#include "translate/translated.h"

#include "base/memory.h"
#include "base/rng.h"

#include <sys/wait.h>
#include <unistd.h>

static heed_model *toy, *real;

static int begin(void **state)
{
    (void)state;
    char module[4096];
    const char *build = getenv("BUILD");
    snprintf(module, sizeof module, "%s%s/heed_markup.so", build && build[0] == '/' ? "" : "./",
             build ? build : "build");
    setenv("HEED_MARKUP_MODULE", module, 1);
    toy = heed_model_load("tests/translate/toy.safetensors", NULL);
    real = heed_model_load("models/default.safetensors", NULL);
    return toy && real ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    heed_model_free(toy);
    heed_model_free(real);
    return 0;
}

/* The translation; static. */
static const char *said(const heed_model *m, const char *text, const char *options)
{
    static char out[8192];
    heed_results *r = translated(m, &text, 1, options);
    snprintf(out, sizeof out, "%s", r->at[0]->translations[0]->text);
    assert_string_equal(r->at[0]->source, text);
    heed_results_free(r);
    return out;
}

/* ---- case by case ------------------------------------------------------------------------------------ */

static const struct {
    const char *given, *wanted;
} cases[] = {
#include "markup/tag_cases.inc"
};

static void tags_go_with_their_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *out = said(toy, cases[i].given, "markup=html");
        assert_that(strcmp(out, cases[i].wanted) == 0, "%s\n  %s\n  instead of\n  %s",
                    cases[i].given, out, cases[i].wanted);
    }
}

static void places_are_those_of_the_text_with_its_tags(void **state)
{
    (void)state;
    const char *text = "<p>eins <b>zw&#101;i</b> drei</p>é<i>vier</i>";
    heed_results *r = translated(toy, &text, 1, "markup=html");
    const heed_result *one = r->at[0];
    const heed_translation *t = one->translations[0];
    assert_string_equal(t->text, "<p>three <b>two</b> one</p>&lt;<i>unk</i>&gt;");
    assert_int_equal(one->words[1].start, 11);
    assert_int_equal(one->words[1].end, 20);
    assert_string_equal(one->words[1].text, "zwei");
    assert_int_equal(t->words[0].start, 3);
    assert_int_equal(t->words[0].end, 8);
    assert_int_equal(t->words[1].start, 12);
    assert_int_equal(t->words[1].end, 15);
    assert_int_equal(t->words[3].start, 27);
    assert_int_equal(t->words[3].end, 45);
    assert_int_equal(t->n_sentences, 2);
    assert_int_equal(t->sentences[0].source_start, 3);
    assert_int_equal(t->sentences[0].target_end, 23);
    assert_int_equal(t->links[0].source, 2);
    assert_int_equal(t->links[0].target, 0);
    heed_results_free(r);
}

static void what_is_wrong_with_a_text_is_told(void **state)
{
    (void)state;
    const char *texts[] = {"eins <b>zwei", "eins</i> zwei", "<a>eins<b></a>"};
    heed_results *r = translated(toy, texts, 2, "markup=html");
    assert_string_equal(r->at[0]->warnings[0], "1 tag was never closed; the end was added");
    assert_string_equal(r->at[1]->warnings[0], "1 end tag that nothing had opened was left out");
    heed_results_free(r);
    r = translated(toy, texts + 2, 1, "markup=xml");
    assert_string_equal(r->at[0]->translations[0]->text, texts[2]);
    assert_that(strstr(r->at[0]->warnings[0], "not translated: the XML is not well-formed; line 1"),
                "%s", r->at[0]->warnings[0]);
    heed_results_free(r);
}

static void markup_and_a_prefix_do_not_go_together(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_translator *t = translator_of(toy, "markup=html");
    const heed_text_pair pair = {"eins", "two"};
    assert_null(heed_translator_complete(t, &pair, 1, &err));
    assert_error(err, HEED_BAD_OPTION, "a text with markup cannot have a prefix");
    heed_results *r = heed_translator_align(t, &pair, 1, NULL); /* texts without tags */
    assert_non_null(r);
    heed_results_free(r);
    heed_translator_free(t);
}

static void a_missing_module_says_what_to_install(void **state)
{
    (void)state;
    const pid_t child = fork(); /* once open, it stays open */
    if (child == 0) {
        heed_error err = {0};
        setenv("HEED_MARKUP_MODULE", "/nowhere/heed_markup.so", 1);
        heed_translator *t = translator_of(toy, "markup=html");
        heed_translator_text(t, "eins", &err);
        _exit(err.code == HEED_BAD_FILE && strstr(err.message, "libgumbo-dev libxml2-dev") ? 0 : 1);
    }
    int status;
    assert_true(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- by properties -------------------------------------------------------------------------------------- */

/* A made-up text: numbers, or English words, in elements that each have their own id. */
struct made {
    char text[4096], plain[4096];
    int n_tags;
};

static void add(char *to, const char *what)
{
    strcat(to, what);
}

static void make(struct made *made, uint64_t seed, bool is_english)
{
    static const char *const numbers[] = {"eins", "zwei", "drei", "vier", "neun"};
    static const char *const words[] = {"the", "red", "house", "is", "my", "old", "cat"};
    static const char *const names[] = {"b", "i", "a", "em", "span"};
    char tag[64], stack[8][8];
    struct hd_rng rng = {.key = seed};
    int depth = 0;
    *made = (struct made){0};
    for (int w = 0; w < 7; w++) {
        while (depth < 4 && hd_rng_below(&rng, 3) == 0) {
            strcpy(stack[depth], names[hd_rng_below(&rng, 5)]);
            snprintf(tag, sizeof tag, "<%s id=%d>", stack[depth++], made->n_tags++);
            add(made->text, tag);
        }
        const char *word =
            is_english ? words[hd_rng_below(&rng, 7)] : numbers[hd_rng_below(&rng, 5)];
        add(made->text, word);
        add(made->plain, word);
        while (depth > 0 && hd_rng_below(&rng, 2) == 0) {
            snprintf(tag, sizeof tag, "</%s>", stack[--depth]);
            add(made->text, tag);
        }
        if (hd_rng_below(&rng, 6) == 0) {
            snprintf(tag, sizeof tag, "<img id=%d>", made->n_tags++);
            add(made->text, tag);
        }
        if (w < 6) {
            add(made->text, " ");
            add(made->plain, " ");
        }
    }
    while (depth > 0) {
        snprintf(tag, sizeof tag, "</%s>", stack[--depth]);
        add(made->text, tag);
    }
}

/* Of every id the id of the element around it, -1 for none; dies where tags are not nested. Returns the text without tags. */
static const char *parents(const char *text, int *parent, int n)
{
    static char plain[8192];
    int stack[64], depth = 0;
    char names[64][8], name[8];
    char *to = plain;
    for (int i = 0; i < n; i++)
        parent[i] = -2;
    for (const char *c = text; *c; c++) {
        int id;
        if (*c != '<') {
            *to++ = *c;
            continue;
        }
        if (sscanf(c, "</%7[a-z]>", name) == 1) {
            assert_that(depth > 0 && strcmp(names[--depth], name) == 0, "%s: %s", text, c);
        } else {
            assert_int_equal(sscanf(c, "<%7[a-z] id=%d>", name, &id), 2);
            assert_that(id >= 0 && id < n && parent[id] == -2, "twice %d in %s", id, text);
            parent[id] = depth > 0 ? stack[depth - 1] : -1;
            if (strcmp(name, "img") != 0) {
                strcpy(names[depth], name);
                stack[depth++] = id;
            }
        }
        c = strchr(c, '>');
    }
    assert_that(depth == 0, "%s", text);
    *to = '\0';
    return plain;
}

/* Equal but for the amount of white space? */
static bool has_same_words(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static void check_made(const heed_model *m, uint64_t seed, bool is_english)
{
    enum { MOST = 64 };
    struct made made;
    int before[MOST], after[MOST];
    char plain[4096], out[8192];
    make(&made, seed, is_english);
    snprintf(plain, sizeof plain, "%s", said(m, made.plain, NULL));
    snprintf(out, sizeof out, "%s", said(m, made.text, "markup=html beam=5 attention=none"));
    parents(made.text, before, made.n_tags);
    const char *text = parents(out, after, made.n_tags);
    for (int i = 0; i < made.n_tags; i++)
        assert_that(before[i] == after[i], "%d is in %d instead of %d: %s: %s", i, after[i],
                    before[i], made.text, out);
    assert_that(has_same_words(text, plain), "%s: %s instead of %s", made.text, text, plain);
}

static void every_tag_is_there_once_nested_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
        check_made(toy, seed, false);
    for (uint64_t seed = 0; seed < 40; seed++)
        check_made(real, seed, true);
}

static void neighbours_and_threads_change_nothing(void **state)
{
    (void)state;
    enum { N = 12 };
    static struct made made[N];
    const char *texts[N];
    for (size_t i = 0; i < N; i++) {
        make(&made[i], 1000 + i, true);
        texts[i] = made[i].text;
    }
    heed_results *all = translated(real, texts, N, "markup=html threads=3 batch=5");
    heed_translator *t = translator_of(real, "markup=html threads=2");
    for (size_t i = 0; i < N; i++)
        assert_true(heed_translator_submit(t, texts[i], NULL, NULL) > 0);
    for (size_t i = 0; i < N; i++) {
        uint64_t id;
        heed_result *one = heed_translator_take(t, -1, &id, NULL);
        assert_string_equal(one->translations[0]->text, all->at[id - 1]->translations[0]->text);
        heed_result_free(one);
        assert_string_equal(said(real, texts[i], "markup=html threads=1 batch=1"),
                            all->at[i]->translations[0]->text);
    }
    heed_translator_free(t);
    heed_results_free(all);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *text = "<p>eins <b>zwei</b> <img> drei</p><p>vier &amp; <i>neun</i></p>";
    heed_translator *t = translator_of(toy, "markup=html threads=1");
    heed_results_free(heed_translator_translate(t, &text, 1, NULL));
    int n_refused = 0;
    for (long n = 0, n_well = 0; n_well < 3; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        heed_results *r = heed_translator_translate(t, &text, 1, &err);
        hd_alloc_fail_after(-1);
        assert_that((r != NULL) == (err.code == HEED_OK), "%s", err.message);
        n_well = r ? n_well + 1 : 0;
        n_refused += !r;
        heed_results_free(r);
    }
    assert_that(n_refused > 20, "only %d failed", n_refused);
    heed_translator_free(t);
}

int main(int argc, char **argv)
{
    if (argc > 2) { /* test_tags html|xml TEXT shows it, for more cases */
        begin(NULL);
        puts(said(toy, argv[2], argv[1][0] == 'x' ? "markup=xml" : "markup=html"));
        end(NULL);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_module_says_what_to_install), /* before it is open */
        cmocka_unit_test(tags_go_with_their_words),
        cmocka_unit_test(places_are_those_of_the_text_with_its_tags),
        cmocka_unit_test(what_is_wrong_with_a_text_is_told),
        cmocka_unit_test(markup_and_a_prefix_do_not_go_together),
        cmocka_unit_test(every_tag_is_there_once_nested_as_it_was),
        cmocka_unit_test(neighbours_and_threads_change_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
