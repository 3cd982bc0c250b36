/* test_word_keys.c -- what is known of words beside their ids. */
#include "test.h"

#include "text/word_keys.h"

enum { MOST = 16 };
static int keys[MOST][HD_N_KEYS];

static struct hd_vocab *of_words(void)
{
    static const char *const list[] = {"<unk>", "</s>", "the"};
    heed_error err = {0};
    struct hd_vocab *v = hd_vocab_from_tokens(HD_VOCAB_WORDS, list, 3, &err);
    assert_non_null(v);
    return v;
}

/* The keys of a text's words; how many there are. */
static size_t find_keys(const char *text)
{
    struct hd_vocab *v = of_words();
    heed_error err = {0};
    struct hd_encoding e;
    assert_true(hd_vocab_encode_spans(v, text, strlen(text), &e, &err) && e.n <= MOST);
    hd_word_keys(v, (struct hd_text){text, strlen(text)}, &e, keys[0]);
    const size_t n = e.n;
    hd_encoding_release(&e);
    hd_vocab_free(v);
    return n;
}

static void unknown_words_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(find_keys("the zebu saw the yak , a zebu"), 8);
    assert_true(keys[0][HD_KEY_ID] == 2 && keys[3][HD_KEY_ID] == 2); /* known: its id */
    assert_true(keys[1][HD_KEY_ID] < -1 && keys[1][HD_KEY_ID] == keys[7][HD_KEY_ID]);
    assert_true(keys[2][HD_KEY_ID] < -1 && keys[2][HD_KEY_ID] != keys[1][HD_KEY_ID] &&
                keys[4][HD_KEY_ID] != keys[1][HD_KEY_ID] &&
                keys[4][HD_KEY_ID] != keys[2][HD_KEY_ID]);
}

static void a_word_is_the_same_in_other_letters_and_with_signs_around_it(void **state)
{
    (void)state;
    assert_int_equal(find_keys("Zebu zebu (ZEBU), zebus ?"), 5);
    const int word = keys[0][HD_KEY_WORD];
    assert_true(word > 0 && keys[1][HD_KEY_WORD] == word && keys[2][HD_KEY_WORD] == word);
    assert_true(keys[3][HD_KEY_WORD] != word && keys[4][HD_KEY_WORD] != word);
    assert_int_equal(find_keys("\xc3\x89"
                               "cole \xc3\xa9"
                               "cole"),
                     2); /* École */
    assert_int_equal(keys[0][HD_KEY_WORD], keys[1][HD_KEY_WORD]);
}

static void words_begin_alike_in_five_letters(void **state)
{
    (void)state;
    assert_int_equal(find_keys("founded Founding found foul a an 1999 live lived"), 9);
    const int found = keys[0][HD_KEY_BEGINNING];
    assert_true(found > 0 && keys[1][HD_KEY_BEGINNING] == found &&
                keys[2][HD_KEY_BEGINNING] == found && keys[3][HD_KEY_BEGINNING] != found);
    assert_true(keys[4][HD_KEY_BEGINNING] == 0 && keys[5][HD_KEY_BEGINNING] == 0 &&
                keys[6][HD_KEY_BEGINNING] == 0); /* too short; digits */
    assert_true(keys[7][HD_KEY_BEGINNING] > 0 &&
                keys[7][HD_KEY_BEGINNING] != keys[8][HD_KEY_BEGINNING]);
}

static void words_have_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum hd_word_shape shape;
    } cases[] = {{"house", HD_SHAPE_SMALL},
                 {"Rome,", HD_SHAPE_CAPITAL},
                 {"I", HD_SHAPE_CAPITAL},
                 {"NATO", HD_SHAPE_CAPITALS},
                 {"iPhone", HD_SHAPE_MIXED},
                 {"McCartney", HD_SHAPE_MIXED},
                 {"(1999)", HD_SHAPE_YEAR},
                 {"19", HD_SHAPE_NUMBER},
                 {"3.50", HD_SHAPE_NUMBER},
                 {"19th", HD_SHAPE_CODE},
                 {"?", HD_SHAPE_SIGN},
                 {"--", HD_SHAPE_SIGN},
                 {"\xe0\xb8\x9a\xe0\xb9\x89\xe0\xb8\xb2\xe0\xb8\x99", HD_SHAPE_SMALL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(find_keys(cases[i].word), 1);
        assert_that(keys[0][HD_KEY_SHAPE] == (int)cases[i].shape, "%s: shape %d, not %d",
                    cases[i].word, keys[0][HD_KEY_SHAPE], (int)cases[i].shape);
    }
}

/* Tokens that are parts of words, with the space before or not, as subwords are. */
static void parts_of_a_word_have_its_keys(void **state)
{
    (void)state;
    struct hd_vocab *v = of_words();
    const char *text = "Abba bb?";
    int ids[] = {0, 0, 0, 0, 0};
    struct hd_span spans[] = {{0, 1}, {1, 4}, {4, 6}, {6, 7}, {7, 8}};
    hd_word_keys(v, (struct hd_text){text, strlen(text)},
                 &(struct hd_encoding){.ids = ids, .spans = spans, .n = 5}, keys[0]);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(keys[i][HD_KEY_WORD], keys[i < 2 ? 0 : 2][HD_KEY_WORD]);
        assert_int_equal(keys[i][HD_KEY_SHAPE], i < 2 ? HD_SHAPE_CAPITAL : HD_SHAPE_SMALL);
    }
    assert_true(keys[0][HD_KEY_WORD] > 0 && keys[0][HD_KEY_WORD] != keys[2][HD_KEY_WORD]);
    hd_vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_words_are_told_apart),
        cmocka_unit_test(a_word_is_the_same_in_other_letters_and_with_signs_around_it),
        cmocka_unit_test(words_begin_alike_in_five_letters),
        cmocka_unit_test(words_have_shapes),
        cmocka_unit_test(parts_of_a_word_have_its_keys),
    };
    return cmocka_run_group_tests_name("text/word_keys", tests, NULL, NULL);
}
