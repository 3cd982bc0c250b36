/* test_split.c -- long texts are cut at their own boundaries, and nothing is lost. */
#include "test.h"
#include "translate/languages.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "translate/split.h"
#include "translate/words.h"

static struct hd_vocab *words, *chars;

static int begin(void **state)
{
    (void)state;
    static const char *const tokens[] = {"<unk>", "</s>"};
    words = hd_vocab_from_tokens(HD_VOCAB_WORDS, tokens, 2, NULL);
    chars = hd_vocab_from_tokens(HD_VOCAB_CHARS, tokens, 2, NULL);
    return words && chars ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    hd_vocab_free(words);
    hd_vocab_free(chars);
    return 0;
}

/* The parts as "a|b|c". */
static const char *parts_by(const struct hd_vocab *vocab, const char *text,
                            const struct hd_split_rules *rules)
{
    static char out[1024];
    struct hd_splits parts = {0};
    heed_error err = {0};
    assert_that(hd_split(&parts, vocab, text, strlen(text), rules, &err), "%s", err.message);
    char *to = out;
    for (size_t i = 0; i < parts.n; i++)
        to += sprintf(to, "%s%.*s", i > 0 ? "|" : "",
                      (int)(parts.at[i].span.end - parts.at[i].span.begin),
                      text + parts.at[i].span.begin);
    *to = '\0';
    hd_splits_release(&parts);
    return out;
}

static const char *parts_of(const struct hd_vocab *vocab, const char *text, size_t most)
{
    return parts_by(vocab, text, &(struct hd_split_rules){.most = most});
}

static void what_is_short_stays_whole_if_so_wanted(void **state)
{
    (void)state;
    const struct hd_split_rules whole = {.most = 3, .keeps_sentences = true};
    assert_string_equal(parts_by(words, "One. Two! Three?", &whole), "One. Two! Three?");
    assert_string_equal(parts_by(words, "  One. Two!  ", &whole), "One. Two!");
    assert_string_equal(parts_by(words, "One. Two! Three? Four", &whole), "One.|Two!|Three?|Four");
    assert_string_equal(parts_of(words, "One. Two! Three?", 3), "One.|Two!|Three?");
    assert_string_equal(parts_of(words, "", 3), "");
    assert_string_equal(parts_of(words, " \t ", 3), "");
}

static void a_language_has_its_own_abbreviations(void **state)
{
    (void)state;
    const struct hd_split_rules german = {.most = 9, .language = "de"};
    assert_string_equal(parts_by(words, "Das sind mind. Hundert. Mehr nicht.", &german),
                        "Das sind mind. Hundert.|Mehr nicht.");
}

static void sentences_are_kept_apart(void **state)
{
    (void)state;
    assert_string_equal(parts_of(words, "One two. Three! Four?", 3), "One two.|Three!|Four?");
    assert_string_equal(
        parts_of(words, "He said \"no.\" She left... \"Why?!\" she asked (twice.) Yes", 5),
        "He said \"no.\"|She left...|\"Why?!\" she asked (twice.) Yes");
    assert_string_equal(parts_of(words,
                                 "one\x0Btwo three\xE2\x80\xA8"
                                 "four",
                                 2),
                        "one|two three|four");
    assert_string_equal(parts_of(chars, "我爱你。你呢？好！", 5), "我爱你。|你呢？|好！");
    assert_string_equal(parts_of(words, "कैसे हो। ठीक", 2), "कैसे हो।|ठीक");
}

static void abbreviations_and_numbers_do_not_end_sentences(void **state)
{
    (void)state;
    assert_string_equal(
        parts_of(words, "J. Smith zahlte 3.50 am 3. Mai, z. B. sofort. Dann ging er.", 11),
        "J. Smith zahlte 3.50 am 3. Mai, z. B. sofort.|Dann ging er.");
}

static void clauses_and_words_are_put_together_while_there_is_room(void **state)
{
    (void)state;
    assert_string_equal(parts_of(words, "one two, three, four five six; seven", 3),
                        "one two, three,|four five six;|seven");
    assert_string_equal(parts_of(words, "one two three four five six seven", 3),
                        "one two three|four five six|seven");
    assert_string_equal(parts_of(words, "one, two three four five, six", 2),
                        "one,|two three|four five,|six");
}

static void what_is_too_long_is_cut_into_smaller_parts(void **state)
{
    (void)state;
    const struct hd_split_rules five = {.most = 5, .part = 2};
    assert_string_equal(parts_by(words, "one two three four five", &five),
                        "one two three four five");
    assert_string_equal(parts_by(words, "one two three four five six", &five),
                        "one two|three four|five six");
    assert_string_equal(parts_by(chars, "abcde", &five), "abcde");
    assert_string_equal(parts_by(chars, "我爱我的猫我", &five), "我|爱我|的|猫我");
}

static void words_are_cut_as_a_last_resort(void **state)
{
    (void)state;
    const struct hd_split_rules three = {.most = 3}, four = {.most = 4};
    struct hd_splits parts = {0};
    assert_string_equal(parts_of(chars, "abcdefgh", 4), "abcd|efgh");
    assert_true(hd_split(&parts, chars, "abcdefgh xy", 11, &four, NULL));
    assert_int_equal(parts.n, 3);
    assert_int_equal(parts.n_words_cut, 1);
    hd_splits_release(&parts);
    assert_true(
        hd_split(&parts, chars, "我爱我的猫", 15, &three, NULL)); /* no word of spaces is cut */
    assert_int_equal(parts.n_words_cut, 0);
    hd_splits_release(&parts);
    /* a family is one character */
    assert_string_equal(parts_of(chars, "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 2),
                        "👨‍👩‍👧‍👦|👨‍👩‍👧‍👦");
}

/* Keys and encoded files: to translate them would cost much and help nobody. */
static void what_is_far_longer_than_a_word_is_kept(void **state)
{
    (void)state;
    enum { N = HD_LONGEST_WORD + 1 };
    const struct hd_split_rules four = {.most = 4};
    struct hd_splits parts = {0};
    char text[3 * N + 8] = "ab ";
    memset(text + 3, 'x', N);
    strcpy(text + 3 + N, " cd");
    assert_true(hd_split(&parts, chars, text, strlen(text), &four, NULL));
    assert_int_equal(parts.n, 3);
    assert_int_equal(parts.n_kept, 1);
    assert_int_equal(parts.n_words_cut, 0);
    assert_true(parts.at[1].is_kept && parts.at[1].span.begin == 3 &&
                parts.at[1].span.end == 3 + N);
    assert_true(!parts.at[0].is_kept && !parts.at[2].is_kept);
    hd_splits_release(&parts);
    assert_true(hd_split(&parts, chars, text + 4, N - 1, &four, NULL)); /* one less is cut */
    assert_true(parts.n_kept == 0 && parts.n_words_cut > 0);
    hd_splits_release(&parts);
    for (int i = 0; i < N; i++) /* a script without spaces has no such words */
        memcpy(text + (size_t)3 * (size_t)i, "猫", 3);
    assert_true(hd_split(&parts, chars, text, (size_t)3 * N, &four, NULL));
    assert_true(parts.n_kept == 0 && parts.n > N / 5);
    hd_splits_release(&parts);
}

/* Text of all scripts and marks, at random. */
static void nothing_is_lost(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 11};
    static char text[4096];
    for (int round = 0; round < 500; round++) {
        size_t n = 0;
        for (int k = (int)hd_rng_below(&rng, 12); k > 0; k--) {
            const char *one = languages[hd_rng_below(&rng, N_LANGUAGES)].text;
            static const char *const between[] = {" ",  ". ",           "",  "! ", "\t",
                                                  ", ", "\xE2\x80\xA9", "。"};
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", one,
                                  between[hd_rng_below(&rng, 8)]);
        }
        const struct hd_vocab *vocab = round % 2 ? words : chars;
        const size_t most = 1 + hd_rng_below(&rng, 20);
        const struct hd_split_rules rules = {.most = most, .keeps_sentences = round % 3 == 0};
        struct hd_splits parts = {0};
        heed_error err = {0};
        assert_that(hd_split(&parts, vocab, text, n, &rules, &err), "%s", err.message);
        size_t at = 0;
        for (size_t i = 0; i <= parts.n; i++) {
            const size_t next = i < parts.n ? parts.at[i].span.begin : n;
            assert_that(next >= at && hd_space_before(text + at, next - at) == next - at,
                        "something is lost before part %zu of %s", i, text);
            if (i == parts.n)
                break;
            at = parts.at[i].span.end;
            assert_true(at > next && hd_utf8_valid(text + next, at - next, NULL));
            struct hd_ids ids = {0};
            assert_true(hd_vocab_encode(vocab, text + next, at - next, false, &ids, &err));
            assert_that(ids.n <= most || hd_utf8_count(text + next, at - next) <= 12,
                        "part %zu has %zu subwords, not %zu: %s", i, ids.n, most, text);
            hd_ids_release(&ids);
        }
        hd_splits_release(&parts);
    }
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    bool ok = false;
    for (long n = 0; !ok; n++) {
        heed_error err = {0};
        struct hd_splits parts = {0};
        hd_alloc_fail_after(n);
        ok = hd_split(&parts, words, "one two. three, four five six.", 30,
                      &(struct hd_split_rules){.most = 2}, &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
        hd_splits_release(&parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_short_stays_whole_if_so_wanted),
        cmocka_unit_test(a_language_has_its_own_abbreviations),
        cmocka_unit_test(sentences_are_kept_apart),
        cmocka_unit_test(abbreviations_and_numbers_do_not_end_sentences),
        cmocka_unit_test(clauses_and_words_are_put_together_while_there_is_room),
        cmocka_unit_test(what_is_too_long_is_cut_into_smaller_parts),
        cmocka_unit_test(words_are_cut_as_a_last_resort),
        cmocka_unit_test(what_is_far_longer_than_a_word_is_kept),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
