/* test_vary.c -- pairs that are varied: what becomes of a sentence, how often, and that nothing else happens to it. */
#include "test.h"
#include "translate/languages.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/final_mark.h"
#include "text/letter_case.h"
#include "text/made_up.h"
#include "text/shared_word.h"
#include "text/vary.h"

#define PAIR(source, target)                                     \
    {                                                            \
        source, sizeof source - 1, target, sizeof target - 1, 0, \
        {                                                        \
            0                                                    \
        }                                                        \
    }
static const struct hd_text_pair pairs[] = {
    PAIR("Tom's dog isn't \"big\".", "Le chien de Tom n'est pas « grand »."),
    PAIR("I have 25 cats.", "J'ai 25 chats."),
    PAIR("Où est Anna ?", "Where is Anna?"),
    PAIR("Save As", "Enregistrer sous"),
};
enum { N_PAIRS = sizeof pairs / sizeof *pairs };

static struct hd_text_pair draw_pair(void *context, struct hd_rng *rng)
{
    (void)context;
    return pairs[hd_rng_below(rng, N_PAIRS)];
}

static const struct hd_vary_partner partner = {draw_pair, NULL};

static struct hd_text_pair pair_of(const char *source, const char *target)
{
    return (struct hd_text_pair){
        .source = source, .n_source = strlen(source), .target = target, .n_target = strlen(target)};
}

static struct hd_vary_rates only(enum hd_variation kind, float rate)
{
    struct hd_vary_rates rates = {{0}};
    rates.of[kind] = rate;
    return rates;
}

static void vary(struct hd_varied *v, struct hd_text_pair pair, const struct hd_vary_rates *rates,
                 uint64_t stream)
{
    heed_error err = {0};
    const struct hd_rng rng = {7, stream, 0};
    assert_that(hd_vary(v, pair, rates, &partner, &rng, &err), "%s", err.message);
}

#define assert_text(buffer, wanted)                                                    \
    assert_that((buffer).n == strlen(wanted) &&                                        \
                    ((buffer).n == 0 || memcmp((buffer).at, wanted, (buffer).n) == 0), \
                "\"%.*s\", not \"%s\"", (int)(buffer).n, (buffer).at ? (buffer).at : "", wanted)

/* ---- what becomes of a sentence ------------------------------------------------------------------ */

static void letters_change_as_their_language_writes_them(void **state)
{
    static const struct {
        enum hd_letter_case letter_case;
        const char *from, *to;
    } cases[] = {
        {HD_CASE_UPPER, "Große Straße, été.", "GROSSE STRASSE, ÉTÉ."},
        {HD_CASE_LOWER, "ÉTÉ À ΟΔΟΣ ΣΑΣ.", "été à οδος σας."},
        {HD_CASE_FIRST_LOWER, "« Bonjour Tom. »", "« bonjour Tom. »"},
        {HD_CASE_FIRST_LOWER, "NATO is here.", "NATO is here."},
        {HD_CASE_FIRST_LOWER, "3 Katzen", "3 Katzen"},
        {HD_CASE_TITLE, "don't go to école, l'été", "Don't Go To École, L'été"},
        {HD_CASE_UPPER, "我爱 ⟨1⟩ 猫", "我爱 ⟨1⟩ 猫"},
        {HD_CASE_LOWER, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hd_buffer out = {0};
        const struct hd_text text = {cases[i].from, strlen(cases[i].from)};
        assert_true(hd_change_case(&out, text, cases[i].letter_case, NULL));
        assert_text(out, cases[i].to);
        hd_buffer_release(&out);
    }
}

static void final_punctuation_goes_on_both_sides_or_on_none(void **state)
{
    static const char *const cases[][4] = {
        {"Where is it?", "Où est-ce ?", "Where is it", "Où est-ce"},
        {"Stop...", "Arrête…", "Stop", "Arrête"},
        {"我爱你。", "I love you.", "我爱你", "I love you"},
        {"Save as", "Enregistrer sous.", "Save as", "Enregistrer sous."},
        {"He said \"no.\"", "Il dit non.", "He said \"no.\"", "Il dit non."},
        {"?", "Pourquoi ?", "?", "Pourquoi ?"},
    };
    (void)state;
    const struct hd_vary_rates rates = only(HD_VARY_PUNCTUATION, 1);
    struct hd_varied v = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vary(&v, pair_of(cases[i][0], cases[i][1]), &rates, i);
        assert_text(v.source, cases[i][2]);
        assert_text(v.target, cases[i][3]);
    }
    hd_varied_release(&v);
}

static void quotes_of_the_source_take_the_other_style(void **state)
{
    static const char *const cases[][2] = {
        {"I don't say \"yes\" ('no').", "I don’t say “yes” (‘no’)."},
        {"„Ja“, it’s ‚so‘.", "\"Ja\", it's 'so'."},
        {"no quotes", "no quotes"},
    };
    (void)state;
    const struct hd_vary_rates rates = only(HD_VARY_QUOTES, 1);
    struct hd_varied v = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vary(&v, pair_of(cases[i][0], "l'\"été\""), &rates, i);
        assert_text(v.source, cases[i][1]);
        assert_text(v.target, "l'\"été\"");
        assert_int_equal(v.kinds != 0, strcmp(cases[i][0], cases[i][1]) != 0);
    }
    hd_varied_release(&v);
}

static void sentences_are_joined_and_phrases_stay_alone(void **state)
{
    (void)state;
    const struct hd_vary_rates rates = only(HD_VARY_JOIN, 1);
    struct hd_varied v = {0};
    int n_joined[4] = {0};
    for (uint64_t i = 0; i < 300; i++) {
        vary(&v, pair_of("One.", "Un."), &rates, i);
        int n = 1;
        for (size_t k = 0; k + 2 < v.source.n; k++)
            n += strchr(".?", v.source.at[k]) && v.source.at[k + 1] == ' ';
        n_joined[n < 4 ? n : 3]++;
        assert_true(memcmp(v.source.at, "One.", 4) == 0 && memcmp(v.target.at, "Un.", 3) == 0);
        vary(&v, pair_of("Save As", "Enregistrer sous"), &rates, i);
        assert_text(v.source, "Save As");
        vary(&v, pair_of("我爱你。", "I do."), &rates, i);
        assert_true(v.source.n == 12 || v.source.at[12] != ' ');
    }
    hd_varied_release(&v);
    assert_that(n_joined[1] > 30 && n_joined[2] > 100 && n_joined[3] > 20, "%d %d %d", n_joined[1],
                n_joined[2], n_joined[3]);
}

/* ---- names and numbers ------------------------------------------------------------------------- */

static void shared_names_and_numbers_are_found(void **state)
{
    static const char *const cases[][3] = {
        {"Tom's dog.", "Le chien de Tom.", "Tom"},
        {"It is 7:45, Sir.", "Il est 7:45.", "7:45"},
        {"I am here.", "I bin da.", NULL},       /* capitals of one letter are no names */
        {"I have 1 cat.", "J'ai 1 chat.", NULL}, /* one changes the words beside it */
        {"Tom saw Tom.", "Tom a vu Tom.", NULL}, /* which is which? */
        {"A hotel", "Un hotel", NULL},           /* an ordinary word */
        {"See ⟨1⟩ now", "Voir ⟨1⟩ ici", NULL},   /* a placeholder */
        {"", "", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hd_text source = {cases[i][0], strlen(cases[i][0])},
                             target = {cases[i][1], strlen(cases[i][1])};
        struct hd_rng rng = {1, i, 0};
        struct hd_shared_word word;
        const bool found = hd_find_shared_word(&word, source, target, &rng);
        assert_that(found == (cases[i][2] != NULL), "%s", cases[i][0]);
        if (!found)
            continue;
        assert_int_equal(word.n, strlen(cases[i][2]));
        assert_memory_equal(source.at + word.source, cases[i][2], word.n);
        assert_memory_equal(target.at + word.target, cases[i][2], word.n);
    }
}

/* A token is one word of plain characters, and there are many of them. */
static void made_up_tokens_are_single_words_of_many_kinds(void **state)
{
    (void)state;
    static bool (*const make[])(struct hd_buffer *, struct hd_rng *, heed_error *) = {
        hd_make_up_name, hd_make_up_number, hd_make_up_code};
    struct hd_buffer out = {0};
    size_t longest = 0;
    bool has[256] = {0};
    for (uint64_t i = 0; i < 6000; i++) {
        struct hd_rng rng = {3, i, 0};
        out.n = 0;
        assert_true(make[i % 3](&out, &rng, NULL));
        assert_true(out.n > 0 && hd_utf8_valid(out.at, out.n, NULL));
        assert_that(!memchr(out.at, ' ', out.n), "%.*s", (int)out.n, out.at);
        assert_that(rng.next < 200, "%.*s takes %d numbers", (int)out.n, out.at, (int)rng.next);
        longest = out.n > longest ? out.n : longest;
        for (size_t k = 0; k < out.n; k++)
            has[(unsigned char)out.at[k]] = true;
    }
    hd_buffer_release(&out);
    assert_that(longest > 20 && longest < 80, "the longest has %zu bytes", longest);
    for (const char *c = "aAzZ09.:/@_-%${}#\\~<+"; *c; c++)
        assert_that(has[(unsigned char)*c], "no token has %c", *c);
}

static int count_of(const struct hd_buffer *text, const char *word)
{
    int n = 0;
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= text->n; i++)
        n += memcmp(text->at + i, word, length) == 0;
    return n;
}

static void placeholders_are_the_same_on_both_sides(void **state)
{
    (void)state;
    const struct hd_vary_rates rates = only(HD_VARY_PLACEHOLDERS, 1);
    struct hd_varied v = {0};
    int n_of[4] = {0}, seen[HD_N_PLACEHOLDERS] = {0};
    for (uint64_t i = 0; i < 2000; i++) {
        vary(&v, pairs[i % N_PAIRS], &rates, i);
        int n = 0;
        for (int k = 0; k < HD_N_PLACEHOLDERS; k++) {
            const int here = count_of(&v.source, hd_placeholder(k));
            assert_that(here <= 1 && here == count_of(&v.target, hd_placeholder(k)), "%.*s / %.*s",
                        (int)v.source.n, v.source.at, (int)v.target.n, v.target.at);
            n += here;
            seen[k] += here;
        }
        assert_true(n >= 1 && n <= 3);
        n_of[n]++;
    }
    assert_that(n_of[1] > 1100 && n_of[2] > 400 && n_of[3] > 180, "%d %d %d", n_of[1], n_of[2],
                n_of[3]);
    for (int k = 0; k < HD_N_PLACEHOLDERS; k++)
        assert_that(seen[k] > 200, "%s is there %d times", hd_placeholder(k), seen[k]);
    vary(&v, pair_of("Click ⟨ok⟩.", "Cliquez ⟨ok⟩."), &rates, 1);
    assert_text(v.source, "Click ⟨ok⟩.");
    hd_varied_release(&v);
}

/* What was there before and behind the name is there after. */
static void copying_changes_a_shared_word_on_both_sides(void **state)
{
    (void)state;
    const struct hd_vary_rates rates = only(HD_VARY_COPY, 1);
    struct hd_varied v = {0};
    int n_replaced = 0, n_alone = 0;
    for (uint64_t i = 0; i < 1200; i++) {
        vary(&v, pair_of("Then Anna left.", "Dann ging Anna."), &rates, i);
        if (v.source.n == v.target.n && memcmp(v.source.at, v.target.at, v.source.n) == 0) {
            n_alone++;
            continue;
        }
        assert_true(memcmp(v.source.at, "Then ", 5) == 0 &&
                    memcmp(v.target.at, "Dann ging ", 10) == 0);
        const size_t n = v.source.n - strlen("Then  left.");
        assert_int_equal(v.target.n, n + strlen("Dann ging ."));
        assert_memory_equal(v.source.at + 5, v.target.at + 10, n);
        n_replaced += n != 4 || memcmp(v.source.at + 5, "Anna", 4) != 0;
        vary(&v, pair_of("It is 12:30.", "Es ist 12:30."), &rates, i);
        assert_true(v.kinds == 1U << HD_VARY_COPY);
    }
    hd_varied_release(&v);
    assert_that(n_replaced > 1050 && n_alone > 60 && n_alone < 140, "%d replaced, %d alone",
                n_replaced, n_alone);
}

/* ---- of all kinds --------------------------------------------------------------------------------- */

static void rates_are_kept_and_kinds_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { N = 8000 };
    struct hd_varied v = {0};
    struct hd_vary_rates all = {{0.3F, 0.3F, 0.3F, 0.3F, 0.3F, 0.3F}};
    for (int kind = 0; kind < HD_N_VARIATIONS; kind++) {
        const struct hd_vary_rates rates = only(kind, 0.3F);
        int n = 0;
        for (uint64_t i = 0; i < N; i++) {
            vary(&v, pairs[0], &rates, i);
            const bool alone = v.kinds != 0;
            n += alone;
            vary(&v, pairs[0], &all, i);
            if (kind == HD_VARY_CASE || kind == HD_VARY_PLACEHOLDERS || kind == HD_VARY_COPY)
                assert_true((v.kinds >> kind & 1) == alone);
        }
        /* some partners of a joined pair are phrases; four deviations are 164 */
        const int wanted = kind == HD_VARY_JOIN ? N * 3 / 10 * 3 / 4 : N * 3 / 10;
        assert_that(abs(n - wanted) < 164, "kind %d: %d of %d", kind, n, N);
    }
    hd_varied_release(&v);
}

static void text_stays_utf8_and_is_never_empty(void **state)
{
    (void)state;
    const struct hd_vary_rates all = {{0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}}, none = {{0}};
    struct hd_varied v = {0}, again = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        const char *source = languages[i % N_LANGUAGES].text,
                   *target = languages[i / N_LANGUAGES % N_LANGUAGES].text;
        const struct hd_text_pair pair = pair_of(source, target);
        vary(&v, pair, &all, i);
        assert_true(v.source.n > 0 && v.target.n > 0);
        assert_that(hd_utf8_valid(v.source.at, v.source.n, NULL) &&
                        hd_utf8_valid(v.target.at, v.target.n, NULL),
                    "%s / %s", source, target);
        vary(&again, pair, &all, i);
        assert_true(again.kinds == v.kinds && again.source.n == v.source.n &&
                    memcmp(again.source.at, v.source.at, v.source.n) == 0);
        vary(&v, pair, &none, i);
        assert_text(v.source, source);
        assert_text(v.target, target);
    }
    hd_varied_release(&v);
    hd_varied_release(&again);
}

/* Case, punctuation and quotes leave every letter: folded in case, the beginning of the text is the text's. */
static void writing_otherwise_loses_no_letter(void **state)
{
    (void)state;
    const struct hd_vary_rates rates = {{0.5F, 1, 0.5F, 0, 0, 0}};
    struct hd_varied v = {0};
    for (uint64_t i = 0; i < 2000; i++) {
        const char *text = "Paul isn't at Zoe's; \"WHY\" is he late?";
        vary(&v, pair_of(text, text), &rates, i);
        const size_t n = strlen(text) - 1;
        assert_true(v.target.n == n || v.target.n == n + 1);
        for (size_t k = 0; k < n; k++)
            assert_that((v.target.at[k] | 32) == (text[k] | 32), "%.*s", (int)v.target.n,
                        v.target.at);
    }
    hd_varied_release(&v);
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    const struct hd_vary_rates all = {{1, 1, 1, 1, 1, 1}};
    const struct hd_rng rng = {7, 1, 0};
    for (long n = 0; n < 4; n++) {
        struct hd_varied v = {0};
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = hd_vary(&v, pairs[0], &all, &partner, &rng, &err);
        hd_alloc_fail_after(-1);
        assert_true(ok || err.code == HEED_NO_MEMORY);
        assert_true(n > 1 || !ok);
        hd_varied_release(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_change_as_their_language_writes_them),
        cmocka_unit_test(final_punctuation_goes_on_both_sides_or_on_none),
        cmocka_unit_test(quotes_of_the_source_take_the_other_style),
        cmocka_unit_test(sentences_are_joined_and_phrases_stay_alone),
        cmocka_unit_test(shared_names_and_numbers_are_found),
        cmocka_unit_test(made_up_tokens_are_single_words_of_many_kinds),
        cmocka_unit_test(placeholders_are_the_same_on_both_sides),
        cmocka_unit_test(copying_changes_a_shared_word_on_both_sides),
        cmocka_unit_test(rates_are_kept_and_kinds_do_not_disturb_each_other),
        cmocka_unit_test(text_stays_utf8_and_is_never_empty),
        cmocka_unit_test(writing_otherwise_loses_no_letter),
        cmocka_unit_test(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
