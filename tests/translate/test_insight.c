/* test_insight.c -- how a translation came about: given outputs, the likeliest words of each step, the beam as a tree; and many
 * sentences of one request beside single ones.
 *
 * The toy model (test_toy.c) says German numbers backwards in English. */
#include "translate/translated.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char TOY[] = "tests/translate/toy.safetensors";
static heed_model *toy;

static int begin(void **state)
{
    (void)state;
    toy = heed_model_load(TOY, NULL);
    return toy ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    heed_model_free(toy);
    return 0;
}

static heed_translator *new_translator(int n_models)
{
    heed_error err = {0};
    const heed_model *models[2] = {toy, toy};
    heed_translator *t = heed_translator_new(models, n_models, &err);
    assert_that(t != NULL, "%s", err.message);
    return t;
}

/* The result of a text with options "name=value", ended by NULL. */
static heed_result *submit(heed_translator *t, const char *text, const char *const *options)
{
    heed_error err = {0};
    heed_options *o = heed_options_new(t, &err);
    for (; o && *options; options++) {
        char name[32];
        const char *equals = strchr(*options, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        assert_that(heed_options_set(o, name, equals + 1, &err), "%s", err.message);
    }
    const uint64_t id = heed_translator_submit(t, text, o, &err);
    heed_options_free(o);
    assert_that(id != 0, "%s", err.message);
    uint64_t taken = 0;
    heed_result *r = heed_translator_take(t, -1, &taken, &err);
    assert_that(r != NULL, "%s", err.message);
    assert_true(taken == id);
    return r;
}

#define SUBMIT(t, text, ...) submit(t, text, (const char *const[]){__VA_ARGS__, NULL})

static void a_given_output_is_looked_at_as_align_does(void **state)
{
    (void)state;
    heed_translator *t = new_translator(1);
    const heed_text_pair pairs[] = {{"eins zwei drei", "three two one"},
                                    {"eins zwei", "nine"},
                                    {"eins. zwei.", "two."},
                                    {"", "one"},
                                    {"eins", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char target[64];
        snprintf(target, sizeof target, "target=%s", pairs[i].target);
        heed_results *wanted = heed_translator_align(t, &pairs[i], 1, NULL);
        heed_result *r = SUBMIT(t, pairs[i].source, target);
        char *a = heed_result_json(wanted->at[0], NULL), *b = heed_result_json(r, NULL);
        assert_string_equal(a, b);
        heed_free(a);
        heed_free(b);
        heed_results_free(wanted);
        heed_result_free(r);
    }
    heed_translator_free(t);
}

static void calls_do_not_know_a_given_output(void **state)
{
    (void)state;
    heed_translator *t = new_translator(1);
    assert_true(heed_translator_set(t, "target", "nine", NULL));
    heed_error err = {0};
    assert_string_equal(heed_translator_text(t, "eins zwei", &err), "two one");
    heed_translator_free(t);
}

static void each_step_tells_its_likeliest_words(void **state)
{
    (void)state;
    for (int n_models = 1; n_models <= 2; n_models++) {
        heed_translator *t = new_translator(n_models);
        heed_result *r = SUBMIT(t, "eins zwei. drei!", "steps=4", "n-best=2");
        for (size_t k = 0; k < r->n_translations; k++) {
            const heed_translation *tr = r->translations[k];
            assert_int_equal(tr->n_choices, 4);
            for (size_t i = 0; i < tr->n_subwords; i++) {
                const heed_choice *c = &tr->choices[4 * i];
                size_t written = 0;
                while (written < 4 && strcmp(c[written].text, tr->subwords[i].text) != 0)
                    written++;
                if (written < 4)
                    assert_true(c[written].logprob == tr->subwords[i].logprob);
                else
                    assert_true(tr->subwords[i].logprob <= c[3].logprob);
                for (int j = 1; j < 4; j++)
                    assert_true(c[j - 1].logprob >= c[j].logprob);
            }
        }
        heed_result_free(r);
        r = SUBMIT(t, "eins", "steps=0");
        assert_null(r->translations[0]->choices);
        heed_result_free(r);
        r = SUBMIT(t, "eins", "steps=100"); /* more than there are words */
        assert_string_equal(r->translations[0]->choices[0].text, "one");
        heed_result_free(r);
        heed_translator_free(t);
    }
}

/* Every n-best translation is a way through the tree, and its numbers add up. */
static void the_tree_has_all_that_was_found(void **state)
{
    (void)state;
    heed_translator *t = new_translator(1);
    heed_result *r = SUBMIT(t, "eins zwei drei", "tree=yes", "beam=4", "n-best=4");
    assert_true(r->n_beam > 4);
    for (size_t i = 0; i < r->n_beam; i++) {
        const heed_beam_node *n = &r->beam[i];
        assert_true(n->parent < (int)i && n->sentence == 0);
        const double before = n->parent >= 0 ? r->beam[n->parent].total : 0;
        assert_true(fabs(before + n->logprob - n->total) < 1e-9);
        if (n->rank < 0 || n->rank >= (int)r->n_translations)
            continue;
        const heed_translation *tr = r->translations[n->rank];
        assert_true(n->score == tr->score && n->total == tr->logprob);
        size_t k = tr->n_subwords;
        for (int at = (int)i; at >= 0; at = r->beam[at].parent)
            assert_string_equal(r->beam[at].text, tr->subwords[--k].text);
        assert_int_equal(k, 0);
    }
    heed_result_free(r);
    r = SUBMIT(t, "eins. zwei.", "tree=yes");
    assert_int_equal(r->beam[r->n_beam - 1].sentence, 1);
    heed_result_free(r);
    r = SUBMIT(t, "eins", "tree=no");
    assert_true(r->beam == NULL && r->n_beam == 0);
    heed_result_free(r);
    heed_translator_free(t);
}

/* Without memory there is an error, and nothing is lost. */
static void failing_memory_is_an_error(void **state)
{
    (void)state;
    heed_translator *t = new_translator(1);
    heed_options *o = heed_options_new(t, NULL);
    heed_options_set(o, "steps", "3", NULL);
    heed_options_set(o, "tree", "yes", NULL);
    heed_options_set(o, "threads", "1", NULL);
    bool is_done = false;
    for (long n = 0; n < 4000 && !is_done; n++) {
        heed_error err = {0};
        uint64_t id = 0, taken = 0;
        hd_alloc_fail_after(n);
        id = heed_translator_submit(t, "eins zwei", o, &err);
        heed_result *r = id ? heed_translator_take(t, -1, &taken, &err) : NULL;
        is_done = r && r->translations[0]->choices && r->beam;
        hd_alloc_fail_after(-1);
        assert_true(r || err.code == HEED_NO_MEMORY);
        heed_result_free(r);
        is_done = is_done && n > 100;
    }
    assert_true(is_done);
    heed_options_free(o);
    heed_translator_free(t);
}

/* One text of a thousand sentences, then a short one, and a single thread: the short one is done first. */
static void a_long_text_does_not_keep_a_short_one_waiting(void **state)
{
    (void)state;
    heed_translator *t = new_translator(1);
    enum { N = 1000 };
    char *text = calloc(N, 8);
    for (int i = 0; i < N; i++)
        strcat(text + (size_t)i * 6, "eins. ");
    assert_true(heed_translator_set(t, "threads", "1", NULL));
    const uint64_t first = heed_translator_submit(t, text, NULL, NULL),
                   second = heed_translator_submit(t, "zwei", NULL, NULL);
    uint64_t id = 0;
    heed_result *r = heed_translator_take(t, -1, &id, NULL);
    assert_true(id == second);
    assert_string_equal(r->translations[0]->text, "two");
    heed_result_free(r);
    r = heed_translator_take(t, -1, &id, NULL);
    assert_true(id == first);
    heed_result_free(r);
    free(text);
    heed_translator_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_given_output_is_looked_at_as_align_does),
        cmocka_unit_test(calls_do_not_know_a_given_output),
        cmocka_unit_test(each_step_tells_its_likeliest_words),
        cmocka_unit_test(the_tree_has_all_that_was_found),
        cmocka_unit_test(failing_memory_is_an_error),
        cmocka_unit_test(a_long_text_does_not_keep_a_short_one_waiting),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
