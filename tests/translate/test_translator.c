/* test_translator.c -- translators: three calls, options by name, requests of many threads, self-attention, sentences, JSON, and
 * arguments that make no sense.
 *
 * The toy model (test_toy.c) says German numbers backwards in English, so what is right is known. */
#include "translate/languages.h"
#include "translate/translated.h"

#include "base/memory.h"
#include "model/model_file.h"
#include "model/settings.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>

static const char TOY[] = "tests/translate/toy.safetensors";
static heed_model *toy, *transformer;

/* A Transformer with random numbers for the toy's vocabularies. */
static heed_model *random_transformer(void)
{
    heed_error err = {0};
    size_t n;
    const void *bytes = hd_vocab_bytes(toy->source, &n);
    struct hd_vocab *source = hd_vocab_from_memory(hd_vocab_kind(toy->source), bytes, n, &err);
    bytes = hd_vocab_bytes(toy->target, &n);
    struct hd_vocab *target = hd_vocab_from_memory(hd_vocab_kind(toy->target), bytes, n, &err);
    struct hd_config c =
        preset_of("transformer dim=16 heads=2 encoder-layers=3 decoder-layers=2 ffn=24");
    c.source_vocab = c.target_vocab = 11;
    set_fields(&c, "transformer dim=16 heads=2 encoder-layers=3 decoder-layers=2 ffn=24");
    assert_that(source && target && hd_config_check(&c, &err), "%s", err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s", err.message);
    hd_net_init(net, 3);
    return hd_model_of(net, source, target, NULL, &err);
}

static int begin(void **state)
{
    (void)state;
    toy = heed_model_load(TOY, NULL);
    transformer = toy ? random_transformer() : NULL;
    return toy && transformer ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    heed_model_free(toy);
    heed_model_free(transformer);
    return 0;
}

static void assert_same(const heed_result *a, const heed_result *b)
{
    char *p = heed_result_json(a, NULL), *q = heed_result_json(b, NULL);
    assert_non_null(p);
    assert_non_null(q);
    assert_string_equal(p, q);
    heed_free(p);
    heed_free(q);
}

/* ---- simple ---------------------------------------------------------------------------------------- */

static void three_calls_translate(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_translator *t = heed_translator_open(TOY, &err);
    assert_that(t != NULL, "%s", err.message);
    assert_string_equal(heed_translator_text(t, "eins zwei drei", &err), "three two one");
    assert_string_equal(heed_translator_text(t, "", &err), "");
    assert_string_equal(heed_translator_text(t, " vier ", &err), " four ");
    heed_translator_free(t);
    heed_translator_free(NULL);
    assert_null(heed_translator_open("nowhere.safetensors", &err));
    assert_error(err, HEED_BAD_FILE, "there is no such file");
}

static void a_warm_translator_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const options[] = {"beam=5", "beam=1", "beam=1 scores=no attention=none",
                                          "n-best=3", "sample=all n-best=2"};
    heed_translator *warm = translator_of(toy, NULL);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const char *texts[] = {"eins Katze drei vier", "neun"};
            assert_true(
                set_all(warm, "beam=5 scores=yes attention=cross n-best=1 sample=none", NULL));
            assert_true(set_all(warm, options[i], NULL));
            heed_results *got = heed_translator_translate(warm, texts, 2, NULL),
                         *wanted = translated(toy, texts, 2, options[i]);
            assert_non_null(got);
            assert_same(got->at[0], wanted->at[0]);
            assert_same(got->at[1], wanted->at[1]);
            heed_results_free(got);
            heed_results_free(wanted);
        }
    heed_translator_free(warm);
}

static void every_option_can_be_listed(void **state)
{
    (void)state;
    int n = 0;
    heed_options *o = heed_options_new(NULL, NULL);
    for (const heed_option *row; (row = heed_translator_option_at(n)); n++) {
        heed_error err = {0};
        assert_true(row->name && row->help);
        if (row->initial)
            assert_that(heed_options_set(o, row->name, row->initial, &err), "%s", err.message);
    }
    assert_true(n > 15);
    assert_null(heed_translator_option_at(-1));
    heed_options_free(o);
    heed_options_free(NULL);
}

static void facts_about_a_model_are_told(void **state)
{
    (void)state;
    assert_string_equal(heed_model_architecture(toy), "bahdanau");
    assert_string_equal(heed_model_languages(toy), "de-en");
    assert_null(heed_model_languages(transformer));
    static const struct {
        enum heed_size size;
        int toy, transformer;
    } facts[] = {{HEED_MODEL_SOURCE_VOCAB, 11, 11},     {HEED_MODEL_TARGET_VOCAB, 11, 11},
                 {HEED_MODEL_ENCODER_LAYERS, 1, 3},     {HEED_MODEL_DECODER_LAYERS, 1, 2},
                 {HEED_MODEL_TRAINED_LENGTH, 12, 200},  {HEED_MODEL_HEADS, 1, 2},
                 {HEED_MODEL_CROSS_LAYERS, 1, 2},       {HEED_MODEL_ENCODER_SELF_LAYERS, 0, 3},
                 {HEED_MODEL_DECODER_SELF_LAYERS, 0, 2}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        assert_int_equal(heed_model_size(toy, facts[i].size), facts[i].toy);
        assert_int_equal(heed_model_size(transformer, facts[i].size), facts[i].transformer);
    }
    assert_true(heed_model_size(toy, HEED_MODEL_PARAMETERS) > 1000);
    assert_int_equal(heed_model_size(toy, (enum heed_size)99), -1);
    assert_int_equal(heed_model_size(NULL, HEED_MODEL_HEADS), -1);
}

/* ---- results ------------------------------------------------------------------------------------------ */

static void sentences_have_their_places_on_both_sides(void **state)
{
    (void)state;
    const char *text = " eins zwei fünf! vier fünf!  sechs sieben acht neun eins zwei drei vier ";
    heed_results *r = translated(toy, &text, 1, NULL);
    const heed_translation *t = r->at[0]->translations[0];
    static const heed_sentence wanted[] = {{1, 16, 1, 14}, {17, 27, 15, 25}, {29, 71, 27, 66}};
    assert_int_equal(t->n_sentences, 3);
    assert_string_equal(t->text,
                        " <unk> two one <unk> four  four three two one nine eight seven six ");
    for (int i = 0; i < 3; i++)
        assert_that(t->sentences[i].source_start == wanted[i].source_start &&
                        t->sentences[i].source_end == wanted[i].source_end &&
                        t->sentences[i].target_start == wanted[i].target_start &&
                        t->sentences[i].target_end == wanted[i].target_end,
                    "sentence %d: %zu to %zu becomes %zu to %zu", i, t->sentences[i].source_start,
                    t->sentences[i].source_end, t->sentences[i].target_start,
                    t->sentences[i].target_end);
    heed_results_free(r);
    text = "  ";
    r = translated(toy, &text, 1, NULL);
    assert_int_equal(r->at[0]->translations[0]->n_sentences, 0);
    heed_results_free(r);
}

static void a_result_is_json(void **state)
{
    (void)state;
    const char *text = "eins \"zwei\\\" \x01 drei";
    heed_results *r = translated(toy, &text, 1, "n-best=2");
    char *line = heed_result_json(r->at[0], NULL);
    json_t *json = json_loads(line, 0, NULL);
    assert_that(json != NULL && !strchr(line, '\n'), "%s", line);
    assert_string_equal(json_string_value(json_object_get(json, "source")), text);
    assert_int_equal(json_array_size(json_object_get(json, "translations")), 2);
    const json_t *sentence = json_array_get(json_object_get(json, "sentences"), 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(sentence, "source"), 1)),
                     19);
    json_decref(json);
    heed_free(line);
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        line = heed_result_json(r->at[0], &err);
        hd_alloc_fail_after(-1);
        if (line)
            break;
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
    heed_free(line);
    heed_results_free(r);
}

static void self_attention_is_between_words_of_one_side(void **state)
{
    (void)state;
    static const char *const kinds[] = {"attention=encoder layer=1 head=0",
                                        "attention=decoder layer=2"};
    const char *text = "eins zwei drei vier. fünf sechs sieben";
    for (int k = 0; k < 2; k++) {
        heed_results *cross =
            translated(transformer, &text, 1, "max-length=0.1 beam=2 max-source=4");
        char options[128];
        snprintf(options, sizeof options, "max-length=0.1 beam=2 max-source=4 %s", kinds[k]);
        heed_results *r = translated(transformer, &text, 1, options);
        const heed_translation *t = r->at[0]->translations[0], *c = cross->at[0]->translations[0];
        const size_t n = k == 0 ? r->at[0]->n_words : t->n_words;
        assert_string_equal(t->text, c->text);
        assert_int_equal(t->n_links, c->n_links); /* they are of the cross-attention */
        assert_int_equal(t->attention_kind,
                         k == 0 ? HEED_ATTENTION_ENCODER : HEED_ATTENTION_DECODER);
        assert_true(t->n_attention_rows == n && t->n_attention_columns == n && n > 3);
        for (size_t i = 0; i < n; i++) {
            double sum = (double)t->attention_end[i];
            for (size_t j = 0; j < n; j++) {
                sum += (double)t->attention[i * n + j];
                if (k == 1 && j > i) /* the decoder does not see what comes later */
                    assert_true(t->attention[i * n + j] == 0);
            }
            assert_that(fabs(sum - 1) < 1e-5, "kind %d: row %zu sums to %g", k, i, sum);
        }
        heed_results_free(r);
        heed_results_free(cross);
    }
}

/* ---- requests ------------------------------------------------------------------------------------------ */

enum { N_TEXTS = 24 };

static const char *text_of(int i)
{
    static const char *const texts[] = {
        "eins",      "zwei drei vier fünf sechs sieben",
        "neun acht", "eins Katze zwei",
        " ",         "eins! zwei eins zwei eins zwei eins zwei eins zwei eins zwei"};
    return texts[i % 6];
}

static const char *options_of(int i)
{
    static const char *const all[] = {"beam=5", "beam=1", "n-best=3 beam=4",
                                      "beam=1 scores=no attention=none",
                                      "sample=all temperature=3 number=7"};
    return all[i % 5];
}

static heed_options *request_options(const heed_translator *t, const char *settings)
{
    char copy[128], *rest = copy;
    heed_options *o = heed_options_new(t, NULL);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(name, '=');
        *value = '\0';
        assert_true(heed_options_set(o, name, value + 1, NULL));
    }
    return o;
}

static void requests_have_options_of_their_own_and_no_neighbours(void **state)
{
    (void)state;
    heed_translator *t = translator_of(toy, "threads=2 batch=3");
    uint64_t ids[N_TEXTS];
    for (int i = 0; i < N_TEXTS; i++) {
        heed_options *o = request_options(t, options_of(i));
        ids[i] = heed_translator_submit(t, text_of(i), o, NULL);
        heed_options_free(o);
        assert_true(ids[i] > 0 && (i == 0 || ids[i] != ids[i - 1]));
    }
    assert_int_equal(heed_translator_pending(t), N_TEXTS);
    for (int n = 0; n < N_TEXTS; n++) {
        heed_error err = {0};
        uint64_t id;
        heed_result *r = heed_translator_take(t, -1, &id, &err);
        assert_that(r != NULL, "%s", err.message);
        int i = 0;
        while (i < N_TEXTS && ids[i] != id)
            i++;
        assert_true(i < N_TEXTS);
        ids[i] = 0;
        const char *text = text_of(i);
        heed_results *wanted = translated(toy, &text, 1, options_of(i));
        assert_same(r, wanted->at[0]);
        heed_results_free(wanted);
        heed_result_free(r);
    }
    uint64_t id = 1;
    assert_null(heed_translator_take(t, -1, &id, NULL)); /* none is under way, so nobody waits */
    assert_true(id == 0 && heed_translator_pending(t) == 0);
    heed_translator_free(t);
}

static void results_come_in_the_order_of_finishing(void **state)
{
    (void)state;
    heed_translator *t = translator_of(transformer, "threads=1 beam=1 scores=no attention=none");
    char text[2048] = "";
    for (int i = 0; i < 150; i++)
        strcat(text, "eins ");
    const uint64_t slow = heed_translator_submit(t, text, NULL, NULL);
    heed_options *o = request_options(t, "max-length=0.01");
    const uint64_t quick = heed_translator_submit(t, "neun", o, NULL);
    uint64_t first, second;
    heed_result_free(heed_translator_take(t, -1, &first, NULL));
    heed_result_free(heed_translator_take(t, -1, &second, NULL));
    assert_true(first == quick && second == slow);
    heed_options_free(o);
    heed_translator_free(t);
}

static uint64_t submitted(heed_translator *t, const char *text)
{
    const uint64_t id = heed_translator_submit(t, text, NULL, NULL);
    assert_true(id > 0);
    return id;
}

/* How many others come back before `wanted`, while each that does is followed by another `text`; `most` when it does not come. */
static int n_before(heed_translator *t, uint64_t wanted, const char *text, int most)
{
    for (int n = 0; n < most; n++) {
        uint64_t id = 0;
        heed_result *r = heed_translator_take(t, -1, &id, NULL);
        assert_non_null(r);
        heed_result_free(r);
        if (id == wanted)
            return n;
        submitted(t, text);
    }
    return most;
}

static const char *const long_sentence = "eins zwei drei vier fünf sechs sieben acht neun eins "
                                         "zwei drei vier fünf sechs sieben acht neun";

static void short_requests_do_not_starve_behind_long_ones(void **state)
{
    (void)state;
    enum { FIRST = 60, MORE = 12 };
    for (int batch = 1; batch <= 3; batch += 2) {
        char settings[64];
        snprintf(settings, sizeof settings, "threads=1 batch=%d beam=10", batch);
        heed_translator *t = translator_of(transformer, settings);
        for (int i = 0; i < FIRST; i++)
            submitted(t, long_sentence);
        const uint64_t quick = submitted(t, "neun");
        const int n = n_before(t, quick, long_sentence, 300);
        assert_that(
            n <= FIRST + MORE,
            "batch %d: %d long sentences, of which %d came first, were answered before a word",
            batch, n, FIRST);
        heed_translator_free(t);
    }
}

static void long_requests_do_not_starve_behind_short_ones(void **state)
{
    (void)state;
    for (int batch = 1; batch <= 3; batch += 2) {
        char settings[64];
        snprintf(settings, sizeof settings, "threads=1 batch=%d beam=10", batch);
        heed_translator *t = translator_of(transformer, settings);
        for (int i = 0; i < 30; i++)
            submitted(t, "neun");
        const uint64_t slow = submitted(t, long_sentence);
        const int n = n_before(t, slow, "neun", 200);
        assert_that(
            n < 31,
            "batch %d: %d words, of which 30 came first, were answered before a sentence of 18",
            batch, n);
        heed_translator_free(t);
    }
}

static void a_text_of_many_parts_leaves_places_to_others(void **state)
{
    (void)state;
    heed_translator *t = translator_of(transformer, "threads=1 batch=3 beam=5 max-source=6");
    char text[4096] = "";
    for (int i = 0; i < 20; i++)
        strcat(text, "eins zwei drei vier fünf ");
    const uint64_t book = submitted(t, text);
    for (int i = 0; i < 8; i++)
        submitted(t, "neun");
    const int n = n_before(t, book, "neun", 200);
    assert_that(n >= 8 && n < 200, "%d words were answered before a text of 20 parts", n);
    heed_translator_free(t);
}

static void a_request_can_be_cancelled_wherever_it_is(void **state)
{
    (void)state;
    heed_translator *t = translator_of(toy, "threads=1 batch=2");
    for (int round = 0; round < 20; round++) {
        uint64_t ids[8], id;
        for (int i = 0; i < 8; i++)
            ids[i] = heed_translator_submit(t, text_of(1), NULL, NULL);
        if (round % 3 == 0) { /* one is finished */
            heed_result *r = heed_translator_take(t, -1, &id, NULL);
            assert_non_null(r);
            heed_result_free(r);
            assert_false(heed_translator_cancel(t, id));
        }
        size_t n = 0;
        for (int i = 0; i < 8; i += 1 + round % 2)
            n += heed_translator_cancel(t, ids[i]);
        assert_true(n > 0);
        assert_false(heed_translator_cancel(t, ids[0]) && heed_translator_cancel(t, 12345678));
        for (heed_result *r; (r = heed_translator_take(t, -1, &id, NULL));) {
            for (int i = 0; i < 8; i += 1 + round % 2)
                assert_true(id != ids[i]);
            assert_string_equal(r->translations[0]->text, "seven six five four three two");
            heed_result_free(r);
        }
        assert_int_equal(heed_translator_pending(t), 0);
    }
    heed_translator_free(t);
}

static void waiting_has_an_end(void **state)
{
    (void)state;
    heed_translator *t = translator_of(toy, "threads=1");
    uint64_t id;
    assert_null(heed_translator_take(t, 0, &id, NULL));
    assert_null(heed_translator_take(t, 30, &id, NULL)); /* somebody might submit meanwhile */
    const uint64_t mine = heed_translator_submit(t, "eins", NULL, NULL);
    heed_result *r = heed_translator_take(t, 60000, &id, NULL);
    assert_true(r && id == mine);
    heed_result_free(r);
    heed_translator_submit(t, text_of(5), NULL, NULL); /* what is under way is dropped */
    heed_translator_free(t);
}

struct client {
    heed_translator *translator;
    pthread_t thread;
    int number, n_wrong;
};

/* Half of the clients submit, half make calls of their own; one takes. */
static void *submit_some(void *argument)
{
    struct client *c = argument;
    for (int i = 0; i < 8; i++) {
        const char *text = i % 2 ? "eins zwei drei" : "neun";
        if (c->number % 2) {
            c->n_wrong += heed_translator_submit(c->translator, text, NULL, NULL) == 0;
            continue;
        }
        heed_results *r = heed_translator_translate(c->translator, &text, 1, NULL);
        c->n_wrong +=
            !r || strcmp(r->at[0]->translations[0]->text, i % 2 ? "three two one" : "nine") != 0;
        heed_results_free(r);
    }
    return NULL;
}

static void many_threads_share_a_translator(void **state)
{
    (void)state;
    enum { N_CLIENTS = 6 };
    heed_translator *t = translator_of(toy, "threads=2 beam=2");
    struct client clients[N_CLIENTS];
    for (int i = 0; i < N_CLIENTS; i++) {
        clients[i] = (struct client){.translator = t, .number = i};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, submit_some, &clients[i]), 0);
    }
    assert_true(heed_translator_set(t, "beam", "3", NULL));
    int n = 0;
    while (n < 8 * N_CLIENTS / 2) {
        heed_result *r = heed_translator_take(t, 60000, NULL, NULL);
        assert_non_null(r);
        const bool is_nine = strcmp(r->source, "neun") == 0;
        assert_string_equal(r->translations[0]->text, is_nine ? "nine" : "three two one");
        heed_result_free(r);
        n++;
    }
    for (int i = 0; i < N_CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        assert_int_equal(clients[i].n_wrong, 0);
    }
    heed_translator_free(t);
}

static void a_request_that_fails_says_why_and_others_go_on(void **state)
{
    (void)state;
    heed_translator *t = translator_of(toy, "threads=1 beam=2");
    bool is_done = false;
    for (long n = 0; !is_done; n += 1 + n / 20) {
        heed_error err = {0};
        uint64_t id = 0, taken = 0;
        heed_result *r = NULL;
        hd_alloc_fail_after(n);
        id = heed_translator_submit(t, "eins zwei drei", NULL, &err);
        if (id > 0)
            r = heed_translator_take(t, -1, &taken, &err);
        hd_alloc_fail_after(-1);
        assert_true(taken == id);
        assert_that(r != NULL || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
        is_done = r && n > 200;
        heed_result_free(r);
        assert_true(heed_translator_submit(t, "neun", NULL, NULL) > 0);
        r = heed_translator_take(t, -1, NULL, NULL);
        assert_true(r && strcmp(r->translations[0]->text, "nine") == 0);
        heed_result_free(r);
    }
    heed_translator_free(t);
}

/* ---- what makes no sense --------------------------------------------------------------------------------- */

static void arguments_that_make_no_sense_are_errors(void **state)
{
    (void)state;
    heed_translator *t = translator_of(toy, NULL);
    const char *texts[] = {"eins", NULL};
    const heed_text_pair pairs[] = {{"eins", NULL}};
    const heed_model *models[] = {toy, NULL};
    heed_options *o = heed_options_new(t, NULL);
#define REFUSED(call, words)                       \
    do {                                           \
        heed_error err = {0};                      \
        assert_false(call);                        \
        assert_error(err, HEED_BAD_OPTION, words); \
    } while (0)
    REFUSED(heed_translator_open(NULL, &err), "there is no path");
    REFUSED(heed_translator_new(NULL, 1, &err), "there is no model");
    REFUSED(heed_translator_new(models, 0, &err), "there is no model");
    REFUSED(heed_translator_new(models, -1, &err), "there is no model");
    REFUSED(heed_translator_new(models, 2, &err), "model 2 of a translator is NULL");
    REFUSED(heed_translator_text(NULL, "eins", &err), "there is no translator");
    REFUSED(heed_translator_text(t, NULL, &err), "text 1 is NULL");
    REFUSED(heed_translator_translate(t, NULL, 1, &err), "there is no list of texts");
    REFUSED(heed_translator_translate(t, texts, 2, &err), "text 2 is NULL");
    REFUSED(heed_translator_align(t, pairs, 1, &err), "text 1 is NULL");
    REFUSED(heed_translator_score(t, NULL, 1, &err), "there is no list of texts");
    REFUSED(heed_translator_set(NULL, "beam", "1", &err), "there is no translator");
    REFUSED(heed_translator_set(t, NULL, "1", &err), "there is no name");
    REFUSED(heed_translator_set(t, "beam", NULL, &err), "there is no value");
    REFUSED(heed_options_set(NULL, "beam", "1", &err), "there is no set of options");
    REFUSED(heed_options_set(o, "", "1", &err), "there is no option");
    REFUSED(heed_translator_submit(NULL, "eins", NULL, &err), "there is no translator");
    REFUSED(heed_translator_submit(t, NULL, NULL, &err), "there is no text");
    REFUSED(heed_translator_take(NULL, 0, NULL, &err), "there is no translator");
    REFUSED(heed_result_json(NULL, &err), "there is no result");
    REFUSED(heed_model_save(toy, "/tmp/x", (enum heed_store)7, &err), "there is no way to store");
    REFUSED(heed_model_info(NULL, true, &err), "there is no model");
    assert_false(heed_translator_cancel(NULL, 1) || heed_translator_cancel(t, 0));
    assert_int_equal(heed_translator_pending(NULL), 0);
    heed_translator_watch(NULL, NULL, NULL);
    assert_null(heed_model_architecture(NULL));
    assert_null(heed_model_languages(NULL));
    assert_false(heed_model_has_attention(NULL));
    heed_results *r = heed_translator_translate(t, NULL, 0, NULL); /* nothing is not wrong */
    assert_true(r && r->n == 0);
    heed_results_free(r);
    heed_results_free(NULL);
    heed_result_free(NULL);
    heed_options_free(o);
    heed_translator_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_calls_translate),
        cmocka_unit_test(a_warm_translator_gives_the_same_bytes),
        cmocka_unit_test(every_option_can_be_listed),
        cmocka_unit_test(facts_about_a_model_are_told),
        cmocka_unit_test(sentences_have_their_places_on_both_sides),
        cmocka_unit_test(a_result_is_json),
        cmocka_unit_test(self_attention_is_between_words_of_one_side),
        cmocka_unit_test(requests_have_options_of_their_own_and_no_neighbours),
        cmocka_unit_test(results_come_in_the_order_of_finishing),
        cmocka_unit_test(short_requests_do_not_starve_behind_long_ones),
        cmocka_unit_test(long_requests_do_not_starve_behind_short_ones),
        cmocka_unit_test(a_text_of_many_parts_leaves_places_to_others),
        cmocka_unit_test(a_request_can_be_cancelled_wherever_it_is),
        cmocka_unit_test(waiting_has_an_end),
        cmocka_unit_test(many_threads_share_a_translator),
        cmocka_unit_test(a_request_that_fails_says_why_and_others_go_on),
        cmocka_unit_test(arguments_that_make_no_sense_are_errors),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
