/* test_translate.c -- texts in, results out, through the public API: lines, words, weights, options, limits, mistakes.
 *
 * The toy model (test_toy.c) says German numbers backwards in English, so what is right is known. */
#include "translate/languages.h"
#include "translate/translated.h"

#include "base/memory.h"
#include "model/model_file.h"
#include "model/settings.h"

#include <math.h>
#include <unistd.h>

static heed_model *toy, *subwords, *fixed;

/* A model with random numbers for a SentencePiece vocabulary. */
static heed_model *random_model(const char *settings)
{
    static char bytes[1 << 20];
    FILE *in = fopen("tests/text/data/unigram.spm", "rb");
    assert_non_null(in);
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    heed_error err = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(HD_VOCAB_SPM, bytes, n, &err);
    assert_that(vocab != NULL, "%s", err.message);
    struct hd_config c = preset_of(settings);
    c.source_vocab = c.target_vocab = hd_vocab_size(vocab);
    set_fields(&c, settings);
    assert_that(hd_config_check(&c, &err), "%s", err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s", err.message);
    hd_net_init(net, 3);
    heed_model *m = hd_model_of(net, vocab, vocab, NULL, &err);
    assert_that(m != NULL, "%s", err.message);
    return m;
}

static int begin(void **state)
{
    (void)state;
    toy = heed_model_load("tests/translate/toy.safetensors", NULL);
    subwords = random_model("transformer dim=16 heads=2 layers=2 ffn=24");
    fixed = random_model("seq2seq dim=8");
    return toy && subwords && fixed ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    heed_model_free(toy);
    heed_model_free(subwords);
    heed_model_free(fixed);
    return 0;
}

static heed_results *one(const char *text, const char *o)
{
    return translated(toy, &text, 1, o);
}

static void assert_text(const char *text, const char *o, const char *wanted)
{
    heed_results *r = one(text, o);
    assert_string_equal(r->at[0]->translations[0]->text, wanted);
    heed_results_free(r);
}

static bool has_warning(const heed_result *r, const char *words)
{
    for (size_t i = 0; i < r->n_warnings; i++)
        if (strstr(r->warnings[i], words))
            return true;
    return false;
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void numbers_are_said_backwards(void **state)
{
    (void)state;
    assert_text("eins zwei drei", NULL, "three two one");
    assert_text("neun", NULL, "nine");
}

static void white_space_is_kept(void **state)
{
    (void)state;
    assert_text("", NULL, "");
    assert_text("  \t ", NULL, "  \t ");
    assert_text("\t zwei  eins \xE3\x80\x80", NULL, "\t one two \xE3\x80\x80");
    assert_text("zwei eins\r", NULL, "one two\r");
}

static void order_and_number_are_kept(void **state)
{
    (void)state;
    const char *texts[] = {
        "eins zwei drei vier fünf", "", "sechs", " ", "sieben acht", "neun eins neun"};
    heed_results *r = translated(toy, texts, 6, NULL);
    static const char *const wanted[] = {
        "five four three two one", "", "six", " ", "eight seven", "nine one nine"};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(r->at[i]->translations[0]->text, wanted[i]);
        assert_string_equal(r->at[i]->source, texts[i]);
        assert_int_equal(r->at[i]->n_warnings, 0);
    }
    heed_results_free(r);
    r = translated(toy, NULL, 0, NULL);
    heed_results_free(r);
}

static void bytes_that_are_not_utf8_are_replaced_and_told(void **state)
{
    (void)state;
    heed_results *r = one("eins \xFF\xFE zwei", NULL);
    assert_string_equal(r->at[0]->source, "eins \xEF\xBF\xBD\xEF\xBF\xBD zwei");
    assert_string_equal(r->at[0]->translations[0]->text, "two <unk> one");
    assert_true(has_warning(r->at[0], "2 bytes of the text are not UTF-8"));
    assert_int_equal(r->at[0]->words[2].start, 8);
    heed_results_free(r);
}

static void sentences_are_translated_one_by_one_and_joined_again(void **state)
{
    (void)state;
    heed_results *r =
        one(" eins zwei drei! vier fünf!  sechs sieben acht neun eins zwei drei vier ", NULL);
    const heed_result *x = r->at[0];
    assert_int_equal(x->n_warnings, 0);
    assert_int_equal(x->translations[0]->n_sentences, 3);
    assert_int_equal(x->translations[0]->sentences[1].source_start, 17);
    assert_int_equal(x->translations[0]->sentences[1].source_end, 27);
    assert_int_equal(x->translations[0]->sentences[1].target_start, 15);
    assert_int_equal(x->n_words, 13);
    const heed_translation *t = x->translations[0];
    assert_string_equal(t->text,
                        " <unk> two one <unk> four  four three two one nine eight seven six ");
    /* each part looks at itself alone */
    for (size_t i = 0; i < t->n_words; i++)
        for (size_t j = 0; j < x->n_words; j++)
            assert_true((i < 3) == (j < 3) || t->attention[i * x->n_words + j] == 0);
    int n_ends = 0;
    for (size_t i = 0; i < x->n_subwords; i++)
        n_ends += x->subwords[i].word < 0;
    assert_int_equal(n_ends, 3);
    heed_results_free(r);
}

static void sentences_stay_together_where_that_is_wanted(void **state)
{
    (void)state;
    heed_results *r = one("eins zwei. Drei", "split=never");
    assert_int_equal(r->at[0]->translations[0]->n_sentences, 1);
    heed_results_free(r);
    r = one("eins zwei. Drei", NULL);
    assert_int_equal(r->at[0]->translations[0]->n_sentences, 2);
    heed_results_free(r);
    /* trained for 12 subwords: what is longer is cut all the same */
    r = one("eins zwei drei! vier fünf! sechs sieben acht neun eins zwei drei vier", "split=never");
    assert_true(has_warning(r->at[0], "the text is longer than the 12 subwords"));
    assert_int_equal(r->at[0]->translations[0]->n_sentences, 3);
    heed_results_free(r);
    r = one("eins zwei drei vier fünf sechs sieben acht neun eins zwei drei vier. Eins", NULL);
    assert_true(has_warning(r->at[0], "a sentence is longer than the 12 subwords"));
    heed_results_free(r);
}

/* A model that was trained on documents is given documents. */
static void models_of_documents_get_whole_texts(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_model *model = heed_model_load("tests/translate/toy.safetensors", &err);
    assert_that(model, "%s", err.message);
    json_object_set_new(model->record, "documents", json_true());
    const char *texts[] = {"eins zwei. Drei"};
    heed_results *r = translated(model, texts, 1, NULL);
    assert_int_equal(r->at[0]->translations[0]->n_sentences, 1);
    heed_results_free(r);
    heed_model_free(model);
}

/* A prefix may be of several sentences; nobody knows to which of the source's they belong. */
static void texts_with_a_prefix_stay_whole(void **state)
{
    (void)state;
    heed_results *r = one("eins zwei. Drei", "prefix=three");
    assert_int_equal(r->at[0]->translations[0]->n_sentences, 1);
    assert_memory_equal(r->at[0]->translations[0]->text, "three", 5);
    heed_results_free(r);
}

static void a_megabyte_is_a_line_like_any_other(void **state)
{
    (void)state;
    enum { WORDS = 30000 };
    char *text = calloc(WORDS + 1, 6), *at = text;
    for (int i = 0; i < WORDS; i++)
        at = stpcpy(at, i % 8 == 7 ? "zwei! " : "zwei ");
    heed_results *r = one(text, "beam=1");
    assert_true(has_warning(r->at[0], "too long for its attention"));
    assert_null(r->at[0]->translations[0]->attention);
    assert_int_equal(r->at[0]->n_words, WORDS);
    assert_true(r->at[0]->translations[0]->n_words > WORDS / 2);
    assert_true(r->at[0]->translations[0]->n_links > WORDS / 2);
    heed_results_free(r);
    memset(text, 'x', (size_t)WORDS * 5); /* one word */
    text[WORDS * 5] = '\0';
    assert_text(text, "beam=1", "<unk>");
    free(text);
}

static void hostile_text_gives_as_many_results(void **state)
{
    (void)state;
    static const char *const texts[] = {"\xFF",
                                        "\xC0\x80",
                                        "\xED\xA0\x80",
                                        "\xF4\x90\x80\x80",
                                        "\xE2\x82",
                                        "\x01\x02\x03",
                                        "\x7F",
                                        "\xEF\xBB\xBF",
                                        "\xE2\x80\x8F\xE2\x80\x8E",
                                        "\xE2\x80\xAE"
                                        "abc",
                                        "\xCC\x81\xCC\x81",
                                        "</s>",
                                        "<unk> <s> <pad>",
                                        "▁",
                                        "▁▁▁",
                                        " ||| ",
                                        "\xE2\x80\xA8\xE2\x80\xA9",
                                        "\r",
                                        "\v\f",
                                        "a\tb",
                                        "\xF0\x9F\x91\xA8\xE2\x80\x8D",
                                        "\xE2\x80\x8D",
                                        "\xEF\xBF\xBF",
                                        "%s%n",
                                        "........",
                                        "。。。",
                                        "!?!?!?"};
    enum { N = sizeof texts / sizeof *texts };
    const heed_model *models[] = {toy, subwords, fixed};
    for (int k = 0; k < 6; k++) {
        heed_results *r = translated(models[k / 2], texts, N, k % 2 ? "max-source=2" : NULL);
        for (int i = 0; i < N; i++)
            assert_true(r->at[i]->n_translations == 1 && r->at[i]->translations[0]->text);
        heed_results_free(r);
    }
}

/* ---- words and weights ---------------------------------------------------------------------------- */

static size_t length_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

static void check_words(const heed_word *words, size_t n, const char *text, const char *name)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        assert_that(words[i].start >= at &&
                        words[i].end == words[i].start + length_of(words[i].text),
                    "%s: word %zu is at %zu to %zu", name, i, words[i].start, words[i].end);
        const char *place = text;
        for (size_t k = 0; k < words[i].start; k++)
            do
                place++;
            while ((*place & 0xC0) == 0x80);
        assert_that(strncmp(place, words[i].text, strlen(words[i].text)) == 0,
                    "%s: word %zu is not '%s'", name, i, words[i].text);
        at = words[i].end;
    }
}

/* All that must be true of a result. */
static void check_result(const heed_result *r, const char *name)
{
    check_words(r->words, r->n_words, r->source, name);
    for (size_t k = 0; k < r->n_translations; k++) {
        const heed_translation *t = r->translations[k];
        check_words(t->words, t->n_words, t->text, name);
        double sum = 0, of_words = 0;
        for (size_t i = 0; i < t->n_subwords; i++) {
            sum += t->subwords[i].logprob;
            of_words += t->subwords[i].word >= 0 ? t->subwords[i].logprob : 0;
        }
        assert_that(fabs(sum - t->logprob) < 1e-4, "%s: %g, not %g", name, sum, t->logprob);
        for (size_t i = 0; i < t->n_words; i++) {
            of_words -= t->words[i].logprob;
            assert_true(t->words[i].confidence >= 0 && t->words[i].confidence <= 1);
        }
        assert_true(fabs(of_words) < 1e-4);
        for (size_t i = 0; t->attention && i < t->n_words; i++) {
            double row = (double)t->attention_end[i];
            for (size_t j = 0; j < r->n_words; j++)
                row += (double)t->attention[i * r->n_words + j];
            assert_that(fabs(row - 1) < 1e-5, "%s: row %zu sums to %g", name, i, row);
        }
        for (size_t i = 0; t->subword_attention && i < t->n_subwords; i++) {
            double row = 0;
            for (size_t j = 0; j < r->n_subwords; j++)
                row += (double)t->subword_attention[i * r->n_subwords + j];
            assert_that(fabs(row - 1) < 1e-5, "%s: subword row %zu sums to %g", name, i, row);
        }
        for (size_t i = 0; i < t->n_links; i++)
            assert_true(t->links[i].source >= 0 && t->links[i].source < (int)r->n_words &&
                        t->links[i].target >= 0 && t->links[i].target < (int)t->n_words);
        assert_true(k == 0 || t->score <= t[-1].score);
    }
}

static void words_and_weights_fit_the_text_in_every_language(void **state)
{
    (void)state;
    for (int l = 0; l < N_LANGUAGES; l++) {
        const char *text = languages[l].text;
        for (int shift = 0; shift < 2; shift++) {
            heed_results *r =
                translated(subwords, &text, 1, shift ? "n-best=3 shift=1" : "n-best=3 shift=0");
            check_result(r->at[0], languages[l].name);
            heed_results_free(r);
        }
        for (int k = 0; k < N_LANGUAGES; k++) { /* given translations */
            const heed_text_pair pair = {text, languages[k].text};
            heed_results *r = aligned(subwords, &pair, 1, NULL);
            assert_string_equal(r->at[0]->translations[0]->text, languages[k].text);
            check_result(r->at[0], languages[k].name);
            heed_results_free(r);
        }
    }
}

static void links_are_backwards_too(void **state)
{
    (void)state;
    heed_results *r = one(" eins  zwei drei vier", NULL);
    const heed_translation *t = r->at[0]->translations[0];
    assert_int_equal(t->n_links, 4);
    for (int i = 0; i < 4; i++)
        assert_true(t->links[i].target == i && t->links[i].source == 3 - i);
    assert_true(t->confidence > 0.9);
    check_result(r->at[0], "toy");
    heed_results_free(r);
}

static void the_next_step_looks_where_the_next_word_is(void **state)
{
    (void)state;
    heed_results *r = one("eins zwei drei vier", "shift=1");
    const heed_translation *t = r->at[0]->translations[0];
    for (size_t i = 0; i < t->n_links; i++)
        assert_true(t->links[i].target > 2 || t->links[i].source == 2 - t->links[i].target);
    heed_results_free(r);
}

static void a_model_without_attention_tells_none(void **state)
{
    (void)state;
    const char *text = "the cat";
    heed_results *r = translated(fixed, &text, 1, NULL);
    assert_null(r->at[0]->translations[0]->attention);
    assert_int_equal(r->at[0]->translations[0]->n_links, 0);
    heed_results_free(r);
    assert_false(heed_model_has_attention(fixed));
    assert_true(heed_model_has_attention(toy) && heed_model_has_attention(subwords));
}

/* ---- options ----------------------------------------------------------------------------------------- */

static void unknown_words_are_replaced_by_those_looked_at(void **state)
{
    (void)state;
    const char *const o = "replace-unknown=yes";
    assert_text("eins Katze, zwei", NULL, "two <unk> one");
    assert_text("eins Katze, zwei", o, "two Katze, one");
    assert_text(" \xC3\xA9t\xC3\xA9 zwei", o, " two \xC3\xA9t\xC3\xA9");
    heed_results *r = one("Hund zwei Katze", o);
    check_result(r->at[0], "replaced");
    assert_string_equal(r->at[0]->translations[0]->words[0].text, "Katze");
    heed_results_free(r);
}

static void a_prefix_is_kept(void **state)
{
    (void)state;
    const heed_text_pair pairs[] = {{"eins zwei", "nine nine"}, {"drei vier", NULL}};
    heed_error err = {0};
    heed_translator *t = translator_of(toy, NULL);
    heed_results *r = heed_translator_complete(t, pairs, 2, &err);
    assert_that(r != NULL, "%s", err.message);
    heed_translator_free(t);
    assert_true(strncmp(r->at[0]->translations[0]->text, "nine nine", 9) == 0);
    assert_string_equal(r->at[1]->translations[0]->text, "four three");
    heed_results_free(r);
}

static void n_best_are_sorted_and_different(void **state)
{
    (void)state;
    heed_results *r = one("eins zwei drei", "n-best=5");
    const heed_result *x = r->at[0];
    assert_int_equal(x->n_translations, 5);
    check_result(x, "n-best");
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(x->translations[i]->text, x->translations[j]->text);
    heed_results_free(r);
    r = one("eins. zwei eins zwei eins zwei eins zwei eins zwei eins zwei",
            "n-best=5"); /* of several parts */
    check_result(r->at[0], "n-best of parts");
    assert_int_equal(r->at[0]->n_translations, 5);
    heed_results_free(r);
}

static void samples_depend_on_seed_and_number(void **state)
{
    (void)state;
    const char *texts[] = {"eins zwei drei vier", "eins zwei drei vier"},
               *const o = "sample=all temperature=20 n-best=2";
    heed_results *a = translated(toy, texts, 2, o), *b = translated(toy, texts, 2, o);
    assert_string_equal(a->at[1]->translations[1]->text, b->at[1]->translations[1]->text);
    assert_string_not_equal(a->at[0]->translations[0]->text, a->at[1]->translations[0]->text);
    heed_results_free(b);
    b = translated(toy, texts, 1, "sample=all temperature=20 n-best=2 number=1");
    assert_string_equal(a->at[1]->translations[0]->text, b->at[0]->translations[0]->text);
    heed_results_free(b);
    b = translated(toy, texts, 1, "sample=all temperature=20 n-best=2 number=1 seed=2");
    assert_string_not_equal(a->at[1]->translations[0]->text, b->at[0]->translations[0]->text);
    heed_results_free(a);
    heed_results_free(b);
}

static void an_output_that_is_too_long_is_cut_and_told(void **state)
{
    (void)state;
    int n_cut = 0;
    static const char *const beams[] = {"beam=1", "beam=2", "beam=3"};
    for (int l = 0; l < N_LANGUAGES; l++) /* a model that has learned nothing does not end */
        for (int b = 0; b < 3; b++) {
            const char *text = languages[l].text;
            heed_results *r = translated(subwords, &text, 1, beams[b]);
            const heed_result *x = r->at[0];
            assert_true(x->translations[0]->is_cut == has_warning(x, "longer than allowed"));
            n_cut += x->translations[0]->is_cut;
            check_result(x, languages[l].name);
            heed_results_free(r);
        }
    assert_true(n_cut > 0);
}

static void what_is_meant_to_repeat_may(void **state)
{
    (void)state;
    heed_results *r = one("acht acht acht acht acht acht acht", NULL);
    assert_string_equal(r->at[0]->translations[0]->text,
                        "eight eight eight eight eight eight eight");
    assert_int_equal(r->at[0]->n_warnings, 0);
    heed_results_free(r);
}

static void several_models_translate_together(void **state)
{
    (void)state;
    heed_error err = {0};
    const heed_model *both[] = {toy, toy}, *mixed[] = {toy, subwords};
    const char *text = "eins zwei";
    heed_translator *t = heed_translator_new(both, 2, &err);
    assert_that(t != NULL, "%s", err.message);
    heed_results *r = heed_translator_translate(t, &text, 1, &err), *alone = one(text, NULL);
    assert_that(r != NULL, "%s", err.message);
    assert_string_equal(r->at[0]->translations[0]->text, "two one");
    assert_true(fabs(r->at[0]->translations[0]->logprob - alone->at[0]->translations[0]->logprob) <
                1e-6);
    heed_results_free(r);
    heed_results_free(alone);
    heed_translator_free(t);
    assert_null(heed_translator_new(mixed, 2, &err));
    assert_error(err, HEED_BAD_OPTION, "model 2 has another vocabulary than the first");
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *words;
    } cases[] = {
        {"beam", "0", "beam must be a whole number from 1 to 1000,"},
        {"batch", "0", "batch must be"},
        {"max-length", "0", "max-length must be"},
        {"threads", "99999", "threads must be"},
        {"length-norm", "long", "length-norm must be none, power:X or gnmt:X"},
        {"length-norm", "power:", "length-norm must be"},
        {"length-norm", "gnmt:1000", "length-norm must be"},
        {"sample", "topk=0", "sample must be none, all, topk=N"},
        {"sample", "topk=1.5", "sample must be"},
        {"sample", "topp=1.1", "sample must be"},
        {"sample", "topp=0", "sample must be"},
        {"head", "all", "head must be a whole number from 0, or mean"},
        {"number", "-1", "number must be"},
        {"number", "99999999999999999999", "number must be"},
        {"attention", "some", "attention must be none, cross, encoder or decoder"},
        {"beem", "5", "there is no option 'beem'; did you mean beam?"},
    };
    heed_translator *t = translator_of(toy, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        assert_false(heed_translator_set(t, cases[i].name, cases[i].value, &err));
        assert_error(err, HEED_BAD_OPTION, cases[i].words);
    }
    heed_translator_free(t);
}

static void what_the_model_cannot_do_is_refused(void **state)
{
    (void)state;
    const struct {
        const heed_model *model;
        const char *options, *words;
    } cases[] = {{toy, "layer=9", "layer must be a whole number from 1 to 1"},
                 {subwords, "head=2", "head must be a whole number from 0 to 1"},
                 {toy, "attention=encoder", "has no self-attention"},
                 {fixed, "attention=decoder", "has no self-attention"},
                 {fixed, "replace-unknown=yes", "has no attention"},
                 {fixed, "coverage-penalty=0.1", "has no attention"}};
    const char *text = "eins";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        heed_translator *t = translator_of(cases[i].model, cases[i].options);
        assert_null(heed_translator_translate(t, &text, 1, &err));
        assert_error(err, HEED_BAD_OPTION, cases[i].words);
        err = (heed_error){0};
        assert_true(heed_translator_submit(t, text, NULL, &err) == 0);
        assert_error(err, HEED_BAD_OPTION, cases[i].words);
        heed_translator_free(t);
    }
}

/* ---- given translations --------------------------------------------------------------------------------- */

static void a_translations_own_score_is_told_again(void **state)
{
    (void)state;
    const char *texts[] = {"eins zwei drei", "neun", " vier fünf sechs sieben acht ",
                           "eins eins eins"};
    heed_translator *scorer = translator_of(toy, NULL);
    heed_results *r = translated(toy, texts, 4, "n-best=4");
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            const heed_translation *t = r->at[i]->translations[k];
            if (strstr(t->text, "<unk>"))
                continue; /* spelling it does not make it unknown */
            const heed_text_pair pair = {texts[i], t->text};
            heed_results *s = heed_translator_score(scorer, &pair, 1, NULL);
            assert_non_null(s);
            assert_true(memcmp(&s->at[0]->translations[0]->logprob, &t->logprob, sizeof(double)) ==
                        0);
            assert_true(memcmp(&s->at[0]->translations[0]->score, &t->score, sizeof(double)) == 0);
            assert_null(s->at[0]->translations[0]->attention);
            heed_results_free(s);
        }
    heed_translator_free(scorer);
    heed_results_free(r);
}

static void pairs_that_cannot_be_looked_at_are_told(void **state)
{
    (void)state;
    char many[512] = "";
    for (int i = 0; i < 60; i++)
        strcat(many, "eins ");
    const heed_text_pair pairs[] = {
        {many, "one"}, {"eins", many}, {"", ""}, {"eins", ""}, {"\xFF", "one"}};
    heed_results *r = aligned(toy, pairs, 5, NULL);
    for (int i = 0; i < 2; i++) {
        assert_true(isnan(r->at[i]->translations[0]->logprob));
        assert_true(has_warning(r->at[i], "but the model was trained for 12"));
    }
    assert_true(isfinite(r->at[2]->translations[0]->logprob) &&
                isfinite(r->at[3]->translations[0]->logprob));
    assert_true(has_warning(r->at[4], "1 byte of the text is not UTF-8"));
    heed_results_free(r);
}

/* ---- the same bits --------------------------------------------------------------------------------------- */

static bool same_numbers(const float *a, const float *b, size_t n)
{
    return (a == NULL) == (b == NULL) && (!a || n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

static void assert_same_result(const heed_result *a, const heed_result *b, const char *why)
{
    assert_that(a->n_translations == b->n_translations && a->n_words == b->n_words &&
                    a->n_warnings == b->n_warnings && strcmp(a->source, b->source) == 0,
                "%s: %s", why, a->source);
    for (size_t k = 0; k < a->n_translations; k++) {
        const heed_translation *p = a->translations[k], *q = b->translations[k];
        assert_that(strcmp(p->text, q->text) == 0, "%s: %s, not %s", why, p->text, q->text);
        assert_that(memcmp(&p->score, &q->score, sizeof p->score) == 0 &&
                        memcmp(&p->logprob, &q->logprob, sizeof p->logprob) == 0 &&
                        memcmp(&p->confidence, &q->confidence, sizeof p->confidence) == 0,
                    "%s: other numbers for %s", why, p->text);
        assert_that(same_numbers(p->attention, q->attention, p->n_words * a->n_words) &&
                        same_numbers(p->subword_attention, q->subword_attention,
                                     p->n_subwords * a->n_subwords),
                    "%s: other weights for %s", why, p->text);
        assert_true(p->n_links == q->n_links);
    }
}

static void batch_threads_and_neighbours_change_no_bit(void **state)
{
    (void)state;
    enum { N = 40 };
    const char *texts[N], *turned[N];
    for (int i = 0; i < N; i++)
        texts[i] = turned[N - 1 - i] = i % 3 == 0   ? languages[i % N_LANGUAGES].text
                                       : i % 3 == 1 ? "the small cat"
                                                    : "a cat, and the other small cat on the house";
    heed_results *wanted = translated(subwords, texts, N, "n-best=2 threads=1");
    static const char *const batches[] = {"1", "3", "64"}, *const threads[] = {"1", "2", "5"};
    heed_translator *t = translator_of(subwords, "n-best=2"); /* one that stays warm */
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 3; k++) {
            heed_translator_set(t, "batch", batches[b], NULL);
            heed_translator_set(t, "threads", threads[k], NULL);
            heed_results *r = heed_translator_translate(t, turned, N, NULL);
            assert_non_null(r);
            for (int i = 0; i < N; i++)
                assert_same_result(wanted->at[i], r->at[N - 1 - i], "batch, threads, order");
            heed_results_free(r);
        }
    for (int i = 0; i < N; i++) {
        heed_results *r = heed_translator_translate(t, &texts[i], 1, NULL);
        assert_non_null(r);
        assert_same_result(wanted->at[i], r->at[0], "alone");
        heed_results_free(r);
    }
    heed_translator_free(t);
    heed_results_free(wanted);
}

/* ---- what goes wrong ---------------------------------------------------------------------------------------- */

struct asked {
    int n, most;
    size_t last;
};

static bool ask(void *data, size_t n_done, size_t n)
{
    struct asked *a = data;
    assert_true(n_done <= n && n_done >= a->last);
    a->last = n_done;
    return ++a->n < a->most;
}

static void how_to_compute_is_settled_before_the_first_text(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_translator *t = translator_of(toy, "compute=int8 compute=f32 compute=int8");
    const char *text = heed_translator_text(t, "eins zwei drei", &err);
    assert_that(text != NULL && strcmp(text, "three two one") == 0, "%s", err.message);
    assert_false(heed_translator_set(t, "compute", "f32", &err));
    assert_error(err, HEED_BAD_OPTION, "compute must be set before the first text");
    err = (heed_error){0};
    heed_options *o = heed_options_new(t, &err);
    assert_true(o && heed_options_set(o, "compute", "f32", &err));
    assert_int_equal(heed_translator_submit(t, "eins", o, &err), 0);
    assert_error(err, HEED_BAD_OPTION, "compute is of a translator as a whole");
    heed_options_free(o);
    heed_translator_free(t);
}

static void progress_is_told_and_can_stop_the_work(void **state)
{
    (void)state;
    const char *texts[] = {"eins zwei drei", "vier", "fünf sechs"};
    for (int threads = 1; threads < 3; threads++)
        for (int most = 1; most < 1000; most += 333) {
            struct asked a = {.most = most};
            heed_translator *t =
                translator_of(toy, threads == 1 ? "threads=1 batch=1" : "threads=2 batch=1");
            heed_translator_watch(t, ask, &a);
            heed_error err = {0};
            heed_results *r = heed_translator_translate(t, texts, 3, &err);
            assert_true(a.n > 0);
            if (most == 1) {
                assert_null(r);
                assert_error(err, HEED_CANCELLED, "stopped before");
            } else
                assert_non_null(r);
            heed_results_free(r);
            heed_translator_watch(t, NULL, NULL); /* and it can go on */
            r = heed_translator_translate(t, texts, 3, NULL);
            assert_string_equal(r->at[2]->translations[0]->text, "six five");
            heed_results_free(r);
            heed_translator_free(t);
        }
}

/* Whatever fails, the next call works. */
static void failing_allocations_are_told(void **state)
{
    (void)state;
    const char *texts[] = {"eins Katze drei",
                           "eins. zwei eins zwei eins zwei eins zwei eins zwei eins zwei", "\xFF"};
    const heed_text_pair pairs[] = {{"eins zwei", "two one"}, {"\xFF", ""}};
    const heed_model *m = toy;
    for (int is_forced = 0; is_forced < 2; is_forced++) {
        bool is_done = false;
        for (long n = 0; !is_done; n += 1 + n / 40) {
            heed_error err = {0};
            hd_alloc_fail_after(n);
            heed_translator *t = heed_translator_new(&m, 1, &err);
            const bool is_set =
                t && set_all(t, "threads=1 beam=2 n-best=2 replace-unknown=yes", &err);
            heed_results *r = !is_set     ? NULL
                              : is_forced ? heed_translator_align(t, pairs, 2, &err)
                                          : heed_translator_translate(t, texts, 3, &err);
            hd_alloc_fail_after(-1);
            assert_that(r != NULL || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
            is_done = r && r->at[is_forced ? 1 : 2]->n_warnings == 1; /* a warning may be lost */
            heed_results_free(r);
            if (is_set && !r && !is_forced) {
                r = heed_translator_translate(t, texts, 3, NULL);
                assert_non_null(r);
                assert_string_equal(r->at[0]->translations[0]->text, "three Katze one");
                heed_results_free(r);
            }
            heed_translator_free(t);
        }
    }
}

static void the_recipe_is_told(void **state)
{
    (void)state;
    heed_error err = {0};
    char *text = heed_model_recipe(toy, &err);
    assert_non_null(text);
    assert_non_null(
        strstr(text, "freeze = a\nfreeze = b\nmax-length = 12\nrate = 0.012\narch = bahdanau\n"));
    assert_non_null(strstr(text, "attention-dim = 16\n"));
    assert_non_null(strstr(text, "bidirectional = yes\n"));
    assert_null(strstr(text, "source-vocab"));
    heed_free(text);
    assert_null(heed_model_recipe(subwords, &err));
    assert_error(err, HEED_BAD_MODEL, "does not say how it was trained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_said_backwards),
        cmocka_unit_test(white_space_is_kept),
        cmocka_unit_test(order_and_number_are_kept),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced_and_told),
        cmocka_unit_test(sentences_are_translated_one_by_one_and_joined_again),
        cmocka_unit_test(sentences_stay_together_where_that_is_wanted),
        cmocka_unit_test(models_of_documents_get_whole_texts),
        cmocka_unit_test(texts_with_a_prefix_stay_whole),
        cmocka_unit_test(a_megabyte_is_a_line_like_any_other),
        cmocka_unit_test(hostile_text_gives_as_many_results),
        cmocka_unit_test(words_and_weights_fit_the_text_in_every_language),
        cmocka_unit_test(links_are_backwards_too),
        cmocka_unit_test(the_next_step_looks_where_the_next_word_is),
        cmocka_unit_test(a_model_without_attention_tells_none),
        cmocka_unit_test(unknown_words_are_replaced_by_those_looked_at),
        cmocka_unit_test(a_prefix_is_kept),
        cmocka_unit_test(n_best_are_sorted_and_different),
        cmocka_unit_test(samples_depend_on_seed_and_number),
        cmocka_unit_test(an_output_that_is_too_long_is_cut_and_told),
        cmocka_unit_test(what_is_meant_to_repeat_may),
        cmocka_unit_test(several_models_translate_together),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_the_model_cannot_do_is_refused),
        cmocka_unit_test(a_translations_own_score_is_told_again),
        cmocka_unit_test(pairs_that_cannot_be_looked_at_are_told),
        cmocka_unit_test(batch_threads_and_neighbours_change_no_bit),
        cmocka_unit_test(how_to_compute_is_settled_before_the_first_text),
        cmocka_unit_test(progress_is_told_and_can_stop_the_work),
        cmocka_unit_test(failing_allocations_are_told),
        cmocka_unit_test(the_recipe_is_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
