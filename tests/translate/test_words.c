/* test_words.c -- words are what a reader sees: they cover the text exactly in every language, and every subword has its word. */
#include "test.h"
#include "translate/languages.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "translate/words.h"

static struct hd_vocab *vocab;

static int begin(void **state)
{
    (void)state;
    static char bytes[1 << 20];
    FILE *in = fopen("tests/text/data/unigram.spm", "rb");
    if (!in)
        return -1;
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    vocab = hd_vocab_from_memory(HD_VOCAB_SPM, bytes, n, NULL);
    return vocab ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    hd_vocab_free(vocab);
    return 0;
}

/* Words of a text between tokens at these places, as "a|b|c". */
static const char *cut(const char *text, const struct hd_span *tokens, size_t n)
{
    static char out[1024];
    struct hd_word_map w;
    heed_error err = {0};
    assert_that(hd_word_map_make(&w, text, strlen(text), tokens, n, &err), "%s", err.message);
    char *to = out;
    for (size_t i = 0; i < w.n; i++)
        to += sprintf(to, "%s%.*s", i > 0 ? "|" : "", (int)(w.words[i].end - w.words[i].begin),
                      text + w.words[i].begin);
    *to = '\0';
    hd_word_map_release(&w);
    return out;
}

static void words_cover_the_text_exactly_in_every_language(void **state)
{
    (void)state;
    for (int l = 0; l < N_LANGUAGES; l++) {
        const char *text = languages[l].text;
        const size_t n = strlen(text);
        heed_error err = {0};
        struct hd_encoding p;
        struct hd_word_map w;
        assert_that(hd_vocab_encode_spans(vocab, text, n, &p, &err), "%s", err.message);
        assert_that(hd_word_map_make(&w, text, n, p.spans, p.n, &err), "%s", err.message);
        assert_that(w.n > 0, "%s has no words", languages[l].name);
        size_t at = 0;
        for (size_t i = 0; i <= w.n; i++) {
            const size_t next = i < w.n ? w.words[i].begin : n;
            assert_that(next >= at, "%s: word %zu begins before the one before it ends",
                        languages[l].name, i);
            assert_that(hd_space_before(text + at, next - at) == next - at,
                        "%s: before word %zu there is something that is no space",
                        languages[l].name, i);
            if (i == w.n)
                break;
            assert_that(w.words[i].end > next &&
                            hd_utf8_valid(text + next, w.words[i].end - next, NULL),
                        "%s: word %zu is no text", languages[l].name, i);
            at = w.words[i].end;
        }
        for (size_t t = 0; t < p.n; t++)
            assert_that(w.of_token[t] >= (t > 0 ? w.of_token[t - 1] : 0) &&
                            w.of_token[t] < (int)w.n,
                        "%s: subword %zu belongs to word %d", languages[l].name, t, w.of_token[t]);
        hd_word_map_release(&w);
        hd_encoding_release(&p);
    }
}

static void words_are_what_stands_between_spaces(void **state)
{
    (void)state;
    const struct hd_span token = {0, 1};
    assert_string_equal(cut("  one two,\tthree ", &token, 1), "one|two,|three");
    assert_string_equal(cut("one\xC2\xA0two\xE3\x80\x80three", &token, 1), "one|two|three");
    assert_string_equal(cut("나는 고양이를", &token, 1), "나는|고양이를");
    assert_string_equal(cut("", &token, 0), "");
    assert_string_equal(cut(" \t ", &token, 0), "");
}

static void without_spaces_words_are_subwords(void **state)
{
    (void)state;
    const struct hd_span chinese[] = {{0, 3}, {3, 9}, {9, 12}};
    assert_string_equal(cut("我爱你呢", chinese, 3), "我|爱你|呢");
    const struct hd_span mixed[] = {
        {0, 3}, {3, 5}, {5, 7}, {7, 10}}; /* love is one word however it is cut */
    assert_string_equal(cut("我love你", mixed, 4), "我|love|你");
    const struct hd_span marks[] = {{0, 3}, {3, 6}, {6, 9}}; /* the vowel sits on its consonant */
    assert_string_equal(cut("ที่", marks, 3), "ที่");
    const struct hd_span korean[] = {{0, 3}, {3, 6}}; /* has spaces */
    assert_string_equal(cut("한글", korean, 2), "한글");
}

static void every_subword_has_its_word(void **state)
{
    (void)state;
    /* " ", "on", "", "e two", end marker, "three" */
    const struct hd_span tokens[] = {{0, 1}, {1, 3}, {3, 3}, {3, 8}, HD_NOWHERE, {8, 14}, {14, 15}};
    static const int wanted[] = {0, 0, 0, 0, -1, 2, 2};
    struct hd_word_map w;
    assert_true(hd_word_map_make(&w, " one two three ", 15, tokens, 7, NULL));
    assert_int_equal(w.n, 3);
    assert_memory_equal(w.of_token, wanted, sizeof wanted);
    hd_word_map_release(&w);
}

static void spaces_are_found_at_both_ends(void **state)
{
    (void)state;
    const char *text = " \xC2\xA0 a b\xE3\x80\x80\t";
    const size_t n = strlen(text);
    assert_int_equal(hd_space_before(text, n), 4);
    assert_int_equal(hd_space_after(text, n), 4);
    assert_int_equal(hd_space_before(text, 0), 0);
    assert_int_equal(hd_space_after("\xFF", 1), 0);
    uint32_t cp = 0;
    assert_int_equal(hd_last_char("x€", 4, &cp), 3);
    assert_int_equal(cp, 0x20AC);
    assert_int_equal(hd_last_char("\x80\x80\x80\x80\x80", 5, &cp), 0);
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    for (long n = 0; n < 2; n++) {
        heed_error err = {0};
        struct hd_word_map w;
        hd_alloc_fail_after(n);
        assert_false(hd_word_map_make(&w, "a b", 3, &(struct hd_span){0, 1}, 1, &err));
        hd_alloc_fail_after(-1);
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_cover_the_text_exactly_in_every_language),
        cmocka_unit_test(words_are_what_stands_between_spaces),
        cmocka_unit_test(without_spaces_words_are_subwords),
        cmocka_unit_test(every_subword_has_its_word),
        cmocka_unit_test(spaces_are_found_at_both_ends),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
