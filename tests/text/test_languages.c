/* test_languages.c -- texts of several languages: columns and their names, vocabularies with symbols, and lines that must not be
 * learned. */
#include "text/files.h"

#include "base/memory.h"
#include "text/corpus.h"
#include "text/line_set.h"
#include "text/vary_plan.h"
#include "text/vocab_train.h"

static struct hd_text text_of(const char *string)
{
    return (struct hd_text){string, strlen(string)};
}

/* All pairs, "from-to:source=target|" each. */
static void assert_pairs(const struct hd_corpus_files *files, const char *wanted)
{
    char all[1024] = "", *at = all;
    heed_error err = {0};
    struct hd_corpus *corpus = hd_corpus_open(files, &(struct hd_corpus_options){0}, &err);
    assert_that(corpus, "%s", err.message);
    for (size_t i = 0; i < hd_corpus_size(corpus); i++) {
        const struct hd_text_pair p = hd_corpus_pair(corpus, i);
        const struct hd_direction *d = hd_corpus_direction(corpus, p.direction);
        at += sprintf(at, "%s-%s:%.*s=%.*s|", d ? d->from : "", d ? d->to : "", (int)p.n_source,
                      p.source, (int)p.n_target, p.target);
    }
    hd_corpus_free(corpus);
    assert_string_equal(all, wanted);
}

static void columns_are_named_by_the_option_or_a_header(void **state)
{
    (void)state;
    const char *const plain = put("plain.tsv", "one\tun\ntwo\tdeux\n"),
                      *const header = put("header.tsv", "fr\ten\nun\tone\n"),
                      *const four = put("four.tsv",
                                        "from\tsource\tto\ttarget\nen\tone\tde\teins\nde\tzwei\ten"
                                        "\ttwo\nen\tthree\tde\tdrei\n");
    const char *const twice[] = {plain, plain}, *const ways[] = {"en-fr", "fr-en"},
                      *const back[] = {"fr-en", "en-fr"};
    assert_pairs(&(struct hd_corpus_files){twice, NULL, 2, 0, true, false, ways},
                 "en-fr:one=un|en-fr:two=deux|fr-en:un=one|fr-en:deux=two|");
    assert_pairs(&(struct hd_corpus_files){twice, NULL, 2, 0, true, false, back},
                 "fr-en:one=un|fr-en:two=deux|en-fr:un=one|en-fr:deux=two|");
    const char *const headers[] = {header, header};
    assert_pairs(&(struct hd_corpus_files){headers, NULL, 2, 0, true, false, ways},
                 "en-fr:one=un|fr-en:un=one|");
    assert_pairs(&(struct hd_corpus_files){headers, NULL, 1, 0, true, false, NULL}, "-:un=one|");
    const char *const wide = put("wide.tsv", "id\tTarget \tSource\r\n1\tun\tone\r\n");
    assert_pairs(&(struct hd_corpus_files){&wide, NULL, 1, 0, true, false, NULL}, "-:one=un|");
    assert_pairs(&(struct hd_corpus_files){&four, NULL, 1, 0, true, false, NULL},
                 "en-de:one=eins|de-en:zwei=two|en-de:three=drei|");
    const char *const mixed[] = {four, plain}, *const none[] = {NULL, "en-fr"};
    assert_pairs(&(struct hd_corpus_files){mixed, NULL, 2, 0, true, false, none},
                 "en-de:one=eins|de-en:zwei=two|en-de:three=drei|en-fr:one=un|en-fr:two=deux|");
}

static void a_direction_is_two_names(void **state)
{
    static const char *const good[] = {"en-fr", "pt_BR-zh2", "x-y"};
    static const char *const bad[] = {
        "", "en", "en-", "-fr", "en-en", "e n-f", "en-fr-de", "1-2", "en-abcdefghijklmnop"};
    struct hd_direction d;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_that(hd_direction_read(&d, text_of(good[i])), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_that(!hd_direction_read(&d, text_of(bad[i])), "%s", bad[i]);
}

static void excluded_lines_are_known_in_other_letters_and_without_marks(void **state)
{
    (void)state;
    const char *const paths[] = {
        put("a", "Where is the Straße?\nÉtÉ\n...\n\n  two   words .\n"),
        put_packed("b.gz", "wb", "left\tRight column!\n", strlen("left\tRight column!\n"))};
    static const char *const in[] = {"where is the STRASSE",
                                     "where is the straße !",
                                     "été",
                                     "e\xCC\x81t\xC3\x89.",
                                     "Two words",
                                     "LEFT",
                                     "right column"},
                             *const out[] = {"",
                                             "...",
                                             "where is the",
                                             "two",
                                             "left right column",
                                             "ete",
                                             "where's the straße"};
    heed_error err = {0};
    struct hd_line_set *set = hd_line_set_read(paths, 2, &err);
    assert_that(set, "%s", err.message);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        assert_that(hd_line_set_has(set, text_of(in[i])), "%s", in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_that(!hd_line_set_has(set, text_of(out[i])), "%s", out[i]);
    hd_line_set_free(set);
    const char *const missing[] = {in_folder("missing")};
    assert_null(hd_line_set_read(missing, 1, &err));
    assert_error(err, HEED_BAD_FILE, "missing");
}

/* ---- vocabularies -------------------------------------------------------------------------------- */

static struct hd_corpus *some_text(void)
{
    const char *path = put("text.tsv", "the old house is red\tla vieille maison est rouge\n"
                                       "a red cat sees the house\tun chat rouge voit la maison\n"
                                       "the cat is old\tle chat est vieux\n");
    heed_error err = {0};
    const struct hd_corpus_files files = {&path, NULL, 1, 0, true, false, NULL};
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, &err);
    assert_that(corpus, "%s", err.message);
    return corpus;
}

static void assert_round_trip(const struct hd_vocab *vocab, const char *text)
{
    struct hd_ids ids = {0};
    struct hd_encoding placed;
    heed_error err = {0};
    assert_that(hd_vocab_encode(vocab, text, strlen(text), false, &ids, &err), "%s", err.message);
    for (size_t i = 0; i < ids.n; i++)
        assert_that(ids.at[i] != hd_vocab_unknown(vocab), "%s: id %zu is unknown", text, i);
    char *again = hd_vocab_decode(vocab, ids.at, ids.n, &err);
    assert_string_equal(again, text);
    hd_free(again);
    struct hd_span *spans = calloc(ids.n + 1, sizeof *spans);
    again = hd_vocab_decode_spans(vocab, ids.at, ids.n, spans, &err);
    assert_string_equal(again, text);
    for (size_t i = 1; i < ids.n; i++)
        assert_true(spans[i].begin >= spans[i - 1].end || spans[i].begin == spans[i].end);
    assert_true(hd_vocab_encode_spans(vocab, text, strlen(text), &placed, &err));
    assert_int_equal(placed.n, ids.n);
    hd_encoding_release(&placed);
    free(spans);
    hd_free(again);
    hd_ids_release(&ids);
}

static void vocabularies_spell_what_they_have_no_piece_for(void **state)
{
    static const char *const languages[] = {"fr", "en"};
    (void)state;
    struct hd_corpus *corpus = some_text();
    for (int is_bpe = 0; is_bpe < 2; is_bpe++) {
        const struct hd_vocab_plan plan = {.kind = HD_VOCAB_SPM,
                                           .size = 600,
                                           .is_bpe = is_bpe,
                                           .spells_bytes = true,
                                           .has_placeholders = true,
                                           .languages = languages,
                                           .n_languages = 2};
        heed_error err = {0};
        struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, &err);
        assert_that(vocab, "%s", err.message);
        assert_round_trip(vocab, "the {Ünïcode} 猫 👍🏽 http://x.y/?z=%20");
        assert_round_trip(vocab, "red ⟨1⟩ (⟨9⟩). a⟨2⟩b");
        struct hd_ids ids = {0};
        assert_true(hd_vocab_encode(vocab, "⟨3⟩", strlen("⟨3⟩"), false, &ids, NULL));
        assert_int_equal(ids.at[ids.n - 1], hd_vocab_find(vocab, "⟨3⟩"));
        ids.n = 0;
        const int symbol = hd_vocab_language(vocab, "fr");
        assert_true(symbol > 0 && hd_vocab_language(vocab, "en") > 0);
        assert_int_equal(hd_vocab_language(vocab, "de"), -1);
        assert_true(hd_vocab_encode(vocab, "<2fr>", 5, false, &ids, NULL)); /* spelled, not meant */
        for (size_t i = 0; i < ids.n; i++)
            assert_int_not_equal(ids.at[i], symbol);
        hd_ids_release(&ids);
        size_t n;
        const char *name = hd_vocab_language_of(vocab, symbol, &n);
        assert_true(name && n == 2 && memcmp(name, "fr", 2) == 0);
        assert_null(hd_vocab_language_of(vocab, hd_vocab_end(vocab), &n));
        hd_vocab_free(vocab);
    }
    hd_corpus_free(corpus);
}

/* Without room for 256 bytes there are none, rather than no vocabulary. */
static void a_small_vocabulary_has_no_bytes(void **state)
{
    (void)state;
    struct hd_corpus *corpus = some_text();
    const struct hd_vocab_plan plan = {.kind = HD_VOCAB_SPM, .size = 60, .spells_bytes = true};
    heed_error err = {0};
    struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, &err);
    assert_that(vocab, "%s", err.message);
    assert_int_equal(hd_vocab_find(vocab, "<0x41>"), -1);
    hd_vocab_free(vocab);
    hd_corpus_free(corpus);
}

static void lists_have_symbols_for_languages(void **state)
{
    static const char *const languages[] = {"fr"};
    (void)state;
    struct hd_corpus *corpus = some_text();
    for (int kind = HD_VOCAB_WORDS; kind <= HD_VOCAB_CHARS; kind++) {
        const struct hd_vocab_plan plan = {
            .kind = (enum hd_vocab_kind)kind, .languages = languages, .n_languages = 1};
        struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_SOURCE, &plan, NULL, NULL, NULL);
        assert_non_null(vocab);
        assert_int_equal(hd_vocab_language(vocab, "fr"), 2);
        hd_vocab_free(vocab);
    }
    hd_corpus_free(corpus);
}

/* Capitals have pieces of their own where text is varied in case. */
static void a_vocabulary_is_learned_from_text_as_it_is_varied(void **state)
{
    (void)state;
    struct hd_corpus *corpus = some_text();
    struct hd_vary_rates rates = {{0}};
    rates.of[HD_VARY_CASE] = 1;
    struct hd_vocab_plan plan = {.kind = HD_VOCAB_SPM, .size = 200, .vary = &rates};
    struct hd_vocab *varied = hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, NULL);
    plan.vary = NULL;
    struct hd_vocab *plain = hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, NULL);
    assert_true(varied && plain);
    assert_true(hd_vocab_find(plain, "A") < 0 && hd_vocab_find(varied, "A") >= 0);
    hd_vocab_free(varied);
    hd_vocab_free(plain);
    hd_corpus_free(corpus);
}

/* ---- what is varied by itself -------------------------------------------------------------------- */

static struct hd_vary_rates chosen_for(struct hd_vary_facts facts, bool is_subwords)
{
    struct hd_vary_rates rates = {{-1, -1, -1, -1, 0.7F, -1}};
    hd_vary_choose(&rates, &facts, is_subwords);
    assert_true(rates.of[HD_VARY_COPY] == 0.7F); /* what was said stays */
    rates.of[HD_VARY_COPY] = 0;
    return rates;
}

static void a_kind_is_on_only_for_text_of_its_kind(void **state)
{
    const struct hd_vary_facts natural = {.n_pairs = 50000,
                                          .ended = 0.9F,
                                          .begun = 0.95F,
                                          .upper = 0.05F,
                                          .lowered = 0.9F,
                                          .quoted = 0.2F,
                                          .shared = 0.1F};
    (void)state;
    struct hd_vary_rates rates = chosen_for(natural, true);
    for (int i = 0; i < HD_N_VARIATIONS; i++)
        assert_true((rates.of[i] > 0) == (i != HD_VARY_COPY));
    struct hd_vary_facts f = natural;
    f.ended = 0.2F; /* phrases */
    rates = chosen_for(f, true);
    assert_true(rates.of[HD_VARY_PUNCTUATION] == 0 && rates.of[HD_VARY_JOIN] == 0);
    assert_true(rates.of[HD_VARY_CASE] > 0);
    f = natural;
    f.shared = 0;
    rates = chosen_for(f, true);
    assert_true(rates.of[HD_VARY_PLACEHOLDERS] == 0);
    struct hd_vary_facts off[4] = {natural, natural, natural, natural};
    off[0].n_pairs = 5000;
    off[1].tokenised = 0.9F;
    off[2].lowered = 0.01F;
    for (int i = 0; i < 4; i++) {
        rates = chosen_for(off[i], i < 3);
        assert_that(!hd_vary_is_on(&rates), "text %d", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_named_by_the_option_or_a_header),
        cmocka_unit_test(a_direction_is_two_names),
        cmocka_unit_test(excluded_lines_are_known_in_other_letters_and_without_marks),
        cmocka_unit_test(vocabularies_spell_what_they_have_no_piece_for),
        cmocka_unit_test(a_small_vocabulary_has_no_bytes),
        cmocka_unit_test(lists_have_symbols_for_languages),
        cmocka_unit_test(a_vocabulary_is_learned_from_text_as_it_is_varied),
        cmocka_unit_test(a_kind_is_on_only_for_text_of_its_kind),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
