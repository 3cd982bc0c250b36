/* test_protection.c -- what must not be translated comes through: by passing, by placeholders, or with a warning.
 *
 * The toy model (test_toy.c) says German numbers backwards in English. With other vocabularies, its nine words being placeholders, it is
 * a model that has learned to keep them, in reverse. */
#include "translate/translated.h"

#include "base/memory.h"
#include "model/model_file.h"
#include "text/placeholder.h"

static heed_model *toy, *with_placeholders;

static struct hd_vocab *placeholder_vocab(void)
{
    const char *tokens[2 + HD_N_PLACEHOLDERS] = {"</s>", "<unk>"};
    for (int k = 0; k < HD_N_PLACEHOLDERS; k++)
        tokens[2 + k] = hd_placeholder(k);
    return hd_vocab_from_tokens(HD_VOCAB_WORDS, tokens, 2 + HD_N_PLACEHOLDERS, NULL);
}

static int begin(void **state)
{
    (void)state;
    toy = heed_model_load("tests/translate/toy.safetensors", NULL);
    with_placeholders = heed_model_load("tests/translate/toy.safetensors", NULL);
    if (!toy || !with_placeholders)
        return -1;
    hd_vocab_free(with_placeholders->source);
    hd_vocab_free(with_placeholders->target);
    with_placeholders->source = placeholder_vocab();
    with_placeholders->target = placeholder_vocab();
    return 0;
}

static int end(void **state)
{
    (void)state;
    heed_model_free(toy);
    heed_model_free(with_placeholders);
    return 0;
}

/* "translation|warning|warning" of one text. */
static const char *said(const heed_model *m, const char *text, const char *options)
{
    static char out[1024];
    heed_results *r = translated(m, &text, 1, options);
    int n = snprintf(out, sizeof out, "%s", r->at[0]->translations[0]->text);
    for (size_t i = 0; i < r->at[0]->n_warnings; i++)
        n += snprintf(out + n, sizeof out - (size_t)n, "|%s", r->at[0]->warnings[i]);
    heed_results_free(r);
    return out;
}

static void what_is_nothing_else_passes(void **state)
{
    (void)state;
    assert_string_equal(said(toy, "https://example.com/eins", NULL), "https://example.com/eins");
    assert_string_equal(said(toy, " (main.c, %s) ", NULL), " (main.c, %s) ");
    assert_string_equal(said(toy, "eins zwei! www.example.com. Drei", NULL),
                        said(toy, "eins zwei! www.example.com. Drei", "batch=1"));
    const char *text = "www.example.com! eins zwei";
    heed_results *r = translated(toy, &text, 1, NULL);
    const heed_translation *t = r->at[0]->translations[0];
    assert_string_equal(t->text, "www.example.com! two one");
    assert_int_equal(t->n_sentences, 2);
    assert_int_equal(t->n_links, 2); /* of the two words that were translated */
    assert_true(t->words[0].confidence == 1);
    heed_results_free(r);
}

static void losses_are_told(void **state)
{
    (void)state;
    assert_string_equal(said(toy, "eins www.example.com zwei", NULL),
                        "two <unk> one|'www.example.com' of the source is not in the translation");
    assert_string_equal(said(toy, "eins 17 zwei", NULL),
                        "two <unk> one|the number 17 of the source is not in the translation");
    assert_string_equal(said(toy, "eins 17 zwei", "protect=no"), "two <unk> one");
    assert_string_equal(said(toy, "www.example.com", "protect=no"), "<unk>");
    assert_string_equal(said(toy, "eins 17 zwei", "replace-unknown=yes"), "two 17 one");
}

static void users_name_more(void **state)
{
    (void)state;
    assert_string_equal(said(toy, "zwei", "keep=zwe."), "zwei");
    assert_string_equal(said(toy, "eins zwei", "keep=zwe. keep=x+"),
                        "two one|'zwei' of the source is not in the translation");
    heed_error err = {0};
    heed_translator *t = translator_of(toy, NULL);
    assert_false(heed_translator_set(t, "keep", "a(", &err));
    assert_error(err, HEED_BAD_OPTION, "keep: 'a(' is not a regular expression");
    heed_translator_free(t);
}

/* A model without placeholders that has lost a piece is searched again with the piece as a term, if it can spell it. */
static void what_can_be_spelled_is_said(void **state)
{
    (void)state;
    for (int beam = 1; beam <= 5; beam += 4) {
        const char *options = beam == 1 ? "beam=1 keep=nine" : "beam=5 keep=nine";
        const char *kept = said(toy, "eins nine zwei", options);
        assert_non_null(strstr(kept, "nine"));
        assert_null(strchr(kept, '|')); /* no warning */
    }
    assert_null(
        strstr(said(toy, "eins nine zwei", NULL), "nine")); /* by itself it says no such thing */
    assert_string_equal(said(toy, "eins nine zwei", "keep=nine batch=1 threads=1"),
                        said(toy, "eins nine zwei", "keep=nine"));
}

static void placeholders_stand_for_pieces(void **state)
{
    (void)state;
    const char *text = " %s  www.example.com jane@example.com ";
    heed_results *r = translated(with_placeholders, &text, 1, "keep=zwei protect=yes");
    heed_results_free(r);
    text = "zwei %s www.example.com"; /* a word that is not known, and two pieces */
    r = translated(with_placeholders, &text, 1, NULL);
    const heed_result *x = r->at[0];
    const heed_translation *t = x->translations[0];
    assert_string_equal(t->text, "www.example.com %s <unk>");
    assert_int_equal(x->n_warnings, 0);
    assert_string_equal(x->subwords[1].text, "⟨1⟩");
    assert_string_equal(x->subwords[2].text, "⟨2⟩");
    assert_int_equal(x->n_words, 3);
    assert_string_equal(x->words[2].text, "www.example.com");
    assert_int_equal(x->words[2].start, 8);
    assert_int_equal(t->n_words, 3);
    assert_string_equal(t->words[0].text, "www.example.com");
    assert_true(t->n_links >= 2 && t->links[0].source == 2 && t->links[0].target == 0);
    heed_results_free(r);
}

/* A sentence in small letters begins with one, but a piece that is kept is kept as it is. */
static void capitals_of_kept_pieces_stay(void **state)
{
    (void)state;
    assert_string_equal(said(with_placeholders, "x zwei Www.example.com", NULL),
                        "Www.example.com <unk> <unk>");
}

/* Nine have placeholders, the tenth is a word like any other. */
static void the_tenth_piece_has_no_placeholder(void **state)
{
    (void)state;
    const char *text = "x %a %c %d %e %f %g %i %o %s %u";
    heed_results *r = translated(with_placeholders, &text, 1, "beam=1");
    assert_string_equal(r->at[0]->subwords[9].text, "⟨9⟩");
    assert_string_equal(r->at[0]->subwords[10].text, "<unk>");
    heed_results_free(r);
}

/* What the vocabulary makes something else of is left as it is: "⟨1⟩," is another word than "⟨1⟩". */
static void placeholders_that_do_not_survive_are_not_used(void **state)
{
    (void)state;
    const char *text = "zwei %s, eins";
    heed_results *r = translated(with_placeholders, &text, 1, NULL);
    for (size_t i = 0; i < r->at[0]->n_subwords; i++)
        assert_string_not_equal(r->at[0]->subwords[i].text, "⟨1⟩");
    assert_true(r->at[0]->n_warnings > 0);
    heed_results_free(r);
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    bool ok = false;
    for (long n = 0; !ok; n += 1 + n / 8) {
        const char *text = "zwei %s www.example.com";
        heed_error err = {0};
        heed_translator *t = translator_of(with_placeholders, "keep=a threads=1");
        hd_alloc_fail_after(n);
        heed_results *r = heed_translator_translate(t, &text, 1, &err);
        hd_alloc_fail_after(-1);
        ok = r != NULL;
        assert_that(ok || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
        heed_results_free(r);
        heed_translator_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_nothing_else_passes),
        cmocka_unit_test(losses_are_told),
        cmocka_unit_test(users_name_more),
        cmocka_unit_test(what_can_be_spelled_is_said),
        cmocka_unit_test(placeholders_stand_for_pieces),
        cmocka_unit_test(capitals_of_kept_pieces_stay),
        cmocka_unit_test(the_tenth_piece_has_no_placeholder),
        cmocka_unit_test(placeholders_that_do_not_survive_are_not_used),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
