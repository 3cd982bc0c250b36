/* test_vocab_train.c -- vocabularies learned from text: what is in them, the same bytes every time,
 * and a sentence for what cannot be. */
#define _GNU_SOURCE
#include "text/files.h"

#include "base/memory.h"
#include "base/rng.h"
#include "text/vocab_train.h"

#include <fcntl.h>

static struct hd_corpus *corpus_of(const char *source, const char *target)
{
    const char *const src[] = {put("train.src", source)}, *const tgt[] = {put("train.tgt", target)};
    const struct hd_corpus_files files = {src, tgt, 1, 1, false, false, NULL};
    heed_error err = {0};
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, &err);
    assert_that(corpus, "%s", err.message);
    return corpus;
}

/* Sentences of made-up words, the earlier ones more often. */
static struct hd_corpus *made_up_corpus(int n)
{
    char *text[2];
    for (int side = 0; side < 2; side++) {
        struct hd_rng rng = {.key = 5, .stream = (uint64_t)side};
        char *at = text[side] = calloc((size_t)n, 200);
        for (int i = 0; i < n; i++) {
            const uint32_t n_words = 3 + hd_rng_below(&rng, 6);
            for (uint32_t k = 0; k < n_words; k++) {
                uint32_t word = hd_rng_below(&rng, 1 + hd_rng_below(&rng, 800)) * 7919 + 13;
                *at++ = ' ';
                for (uint32_t c = 0; c < 2 + word % 4; c++, word /= 3) {
                    *at++ = "bdfgklmnprstvz"[word % 14];
                    at = stpcpy(at, &"a\0e\0i\0o\0u\0ü\0é\0"[word % 5 * 2]);
                }
            }
            *at++ = '\n';
        }
    }
    struct hd_corpus *corpus = corpus_of(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    return corpus;
}

static struct hd_vocab *learn(const struct hd_corpus *corpus, unsigned sides,
                              const struct hd_vocab_plan *plan)
{
    heed_error err = {0};
    struct hd_vocab *vocab = hd_vocab_learn(corpus, sides, plan, NULL, NULL, &err);
    assert_that(vocab, "%s", err.message);
    return vocab;
}

static void assert_list(const struct hd_corpus *corpus, unsigned sides, enum hd_vocab_kind kind,
                        int size, const char *wanted)
{
    struct hd_vocab *vocab =
        learn(corpus, sides, &(struct hd_vocab_plan){.kind = kind, .size = size});
    char got[1024] = "";
    for (int i = 0; i < hd_vocab_size(vocab); i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", hd_vocab_piece(vocab, i));
    assert_string_equal(got, wanted);
    hd_vocab_free(vocab);
}

static void words_come_by_frequency_and_then_by_their_bytes(void **state)
{
    (void)state;
    struct hd_corpus *corpus = corpus_of("b a c\nb  a </s>\n\tb <unk>\n", "d\nd\nb\n");
    assert_list(corpus, HD_VOCAB_SOURCE, HD_VOCAB_WORDS, 0, "<unk> </s> b a c ");
    assert_list(corpus, HD_VOCAB_SOURCE, HD_VOCAB_WORDS, 4, "<unk> </s> b a ");
    assert_list(corpus, HD_VOCAB_TARGET, HD_VOCAB_WORDS, 0, "<unk> </s> d b ");
    assert_list(corpus, HD_VOCAB_BOTH, HD_VOCAB_WORDS, 0, "<unk> </s> b a d c ");
    hd_corpus_free(corpus);
}

static void characters_likewise(void **state)
{
    (void)state;
    struct hd_corpus *corpus = corpus_of("ab a\n\x01\x62猫\n", "x\ty\nz\n");
    assert_list(corpus, HD_VOCAB_SOURCE, HD_VOCAB_CHARS, 0, "<unk> </s> a b ▁ 猫 ");
    assert_list(corpus, HD_VOCAB_BOTH, HD_VOCAB_CHARS, 5, "<unk> </s> a b x ");
    hd_corpus_free(corpus);
}

static void however_an_accent_is_typed_it_is_one_entry(void **state)
{
    (void)state;
    struct hd_corpus *corpus = corpus_of("caf\u00E9\ncafe\u0301\n", "x\nx\n");
    assert_list(corpus, HD_VOCAB_SOURCE, HD_VOCAB_WORDS, 0, "<unk> </s> caf\u00E9 ");
    assert_list(corpus, HD_VOCAB_SOURCE, HD_VOCAB_CHARS, 0, "<unk> </s> a c f \u00E9 ");
    for (int kind = HD_VOCAB_WORDS; kind <= HD_VOCAB_CHARS; kind++) {
        struct hd_vocab *vocab = learn(corpus, HD_VOCAB_SOURCE,
                                       &(struct hd_vocab_plan){.kind = (enum hd_vocab_kind)kind});
        struct hd_ids composed = {0}, typed = {0};
        assert_true(hd_vocab_encode(vocab, "caf\u00E9", 5, true, &composed, NULL));
        assert_true(hd_vocab_encode(vocab, "cafe\u0301", 6, true, &typed, NULL));
        assert_int_equal(composed.n, typed.n);
        assert_memory_equal(composed.at, typed.at, typed.n * sizeof *typed.at);
        for (size_t i = 0; i < typed.n; i++)
            assert_int_not_equal(typed.at[i], hd_vocab_unknown(vocab));
        hd_ids_release(&composed);
        hd_ids_release(&typed);
        hd_vocab_free(vocab);
    }
    hd_corpus_free(corpus);
}

static void subwords_have_the_symbols_where_marian_has_them(void **state)
{
    (void)state;
    struct hd_corpus *corpus = made_up_corpus(400);
    for (int is_bpe = 0; is_bpe < 2; is_bpe++) {
        struct hd_vocab *vocab =
            learn(corpus, HD_VOCAB_BOTH,
                  &(struct hd_vocab_plan){.kind = HD_VOCAB_SPM, .size = 200, .is_bpe = is_bpe});
        assert_int_equal(hd_vocab_size(vocab), 200);
        assert_int_equal(hd_vocab_end(vocab), 0);
        assert_int_equal(hd_vocab_unknown(vocab), 1);
        assert_int_equal(hd_vocab_begin(vocab), -1);
        assert_int_equal(hd_vocab_padding(vocab), -1);
        for (size_t i = 0; i < hd_corpus_size(corpus); i++) { /* all of the text is covered */
            const struct hd_text_pair pair = hd_corpus_pair(corpus, i);
            struct hd_ids ids = {0};
            assert_true(hd_vocab_encode(vocab, pair.target, pair.n_target, false, &ids, NULL));
            char *back = hd_vocab_decode(vocab, ids.at, ids.n, NULL);
            assert_that(strlen(back) == pair.n_target - 1 && /* which begins with a space */
                            memcmp(back, pair.target + 1, pair.n_target - 1) == 0,
                        "\"%.*s\" comes back as \"%s\"", (int)pair.n_target, pair.target, back);
            hd_free(back);
            hd_ids_release(&ids);
        }
        hd_vocab_free(vocab);
    }
    hd_corpus_free(corpus);
}

static void assert_same_bytes(const struct hd_vocab *a, const struct hd_vocab *b, bool wanted)
{
    size_t n_a, n_b;
    const void *x = hd_vocab_bytes(a, &n_a), *y = hd_vocab_bytes(b, &n_b);
    assert_int_equal(n_a == n_b && memcmp(x, y, n_a) == 0, wanted);
}

static void the_same_text_and_plan_give_the_same_bytes(void **state)
{
    (void)state;
    struct hd_corpus *corpus = made_up_corpus(1000);
    for (int kind = 0; kind < 4; kind++) {
        struct hd_vocab_plan plan = {.kind = kind < 3 ? (enum hd_vocab_kind)kind : HD_VOCAB_SPM,
                                     .is_bpe = kind == 3,
                                     .size = kind % 3 == 0 ? 300 : 0,
                                     .seed = 3,
                                     .most_sentences = 500};
        struct hd_vocab *first = learn(corpus, HD_VOCAB_BOTH, &plan);
        struct hd_vocab *again = learn(corpus, HD_VOCAB_BOTH, &plan);
        plan.seed = 4;
        struct hd_vocab *others = learn(corpus, HD_VOCAB_BOTH, &plan);
        assert_same_bytes(first, again, true);
        if (kind != HD_VOCAB_CHARS) /* their order may be the same by chance */
            assert_same_bytes(first, others, false);
        size_t n;
        const char *bytes = hd_vocab_bytes(first, &n);
        assert_null(memmem(bytes, n, "heed-text", 9)); /* the folder that the text is in */
        hd_vocab_free(first);
        hd_vocab_free(again);
        hd_vocab_free(others);
    }
    hd_corpus_free(corpus);
}

static void a_text_of_few_pieces_gets_a_small_vocabulary(void **state)
{
    (void)state;
    static const char *const texts[] = {"a\n",
                                        "ab\n",
                                        "a b a\n",
                                        "猫\n",
                                        "aaaaaaaaaaaaaaaa\n",
                                        "one two\nthree four\nfive six\n",
                                        "▁▁ x\n",
                                        "...\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int is_bpe = 0; is_bpe < 2; is_bpe++)
            for (int size = 0; size < 3; size++) {
                struct hd_corpus *corpus = corpus_of(texts[i], texts[i]);
                struct hd_vocab_plan plan = {
                    .kind = HD_VOCAB_SPM, .is_bpe = is_bpe, .size = (int[]){0, 50, 8000}[size]};
                struct hd_vocab *vocab = learn(corpus, HD_VOCAB_BOTH, &plan);
                assert_in_range(hd_vocab_size(vocab), 3, 60);
                hd_vocab_free(vocab);
                hd_corpus_free(corpus);
            }
}

static void every_normalisation_can_be_had(void **state)
{
    (void)state;
    static const struct {
        const char *name, *back; /* what becomes of "ﬁX" */
    } rules[] = {{NULL, "fiX"},          {"nmt_nfkc", "fiX"}, {"nfkc", "fiX"},
                 {"nmt_nfkc_cf", "fix"}, {"nfkc_cf", "fix"},  {"identity", "ﬁX"}};
    struct hd_corpus *corpus = corpus_of("ﬁX fiX fix ﬁx\n", "x\n");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct hd_vocab_plan plan = {.normalise = rules[i].name, .most_sentences = 1};
        struct hd_vocab *vocab = learn(corpus, HD_VOCAB_BOTH, &plan);
        struct hd_ids ids = {0};
        assert_true(hd_vocab_encode(vocab, "ﬁX", strlen("ﬁX"), false, &ids, NULL));
        char *back = hd_vocab_decode(vocab, ids.at, ids.n, NULL);
        assert_string_equal(back, rules[i].back);
        hd_free(back);
        hd_ids_release(&ids);
        hd_vocab_free(vocab);
    }
    hd_corpus_free(corpus);
}

static void long_lines_without_a_space_are_learned_from_too(void **state)
{
    (void)state;
    char *text = calloc(1, 100000), *at = text;
    for (int i = 0; i < 9999; i++)
        at = stpcpy(at, i % 3 == 0 ? "猫" : i % 7 == 0 ? "é" : "犬");
    *at = '\n';
    struct hd_corpus *corpus = corpus_of(text, "x\n");
    struct hd_vocab *vocab =
        learn(corpus, HD_VOCAB_SOURCE, &(struct hd_vocab_plan){.kind = HD_VOCAB_SPM, .size = 40});
    assert_true(hd_vocab_find(vocab, "猫") > 1 && hd_vocab_find(vocab, "é") > 1);
    hd_vocab_free(vocab);
    hd_corpus_free(corpus);
    free(text);
}

static void assert_refused(const struct hd_corpus *corpus, struct hd_vocab_plan plan,
                           const char *words)
{
    heed_error err = {0};
    assert_null(hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, &err));
    assert_error(err, HEED_BAD_OPTION, words);
}

static void a_plan_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct hd_corpus *corpus = made_up_corpus(50);
    assert_refused(corpus, (struct hd_vocab_plan){.size = 10}, "no room for the text's characters");
    assert_refused(corpus, (struct hd_vocab_plan){.size = 10, .is_bpe = true}, "no room");
    assert_refused(corpus, (struct hd_vocab_plan){.size = 2}, "cannot have 2 entries");
    assert_refused(corpus, (struct hd_vocab_plan){.size = -1}, "cannot have -1 entries");
    assert_refused(corpus, (struct hd_vocab_plan){.character_coverage = 1.5F}, "between 0 and 1");
    assert_refused(corpus, (struct hd_vocab_plan){.normalise = "nfd"}, "choose from nmt_nfkc");
    hd_corpus_free(corpus);
    heed_error err = {0};
    corpus = corpus_of("\u2585 \u2585\n", "\u2585\n");
    assert_null(
        hd_vocab_learn(corpus, HD_VOCAB_BOTH, &(struct hd_vocab_plan){0}, NULL, NULL, &err));
    assert_error(err, HEED_BAD_TEXT, "no word to learn a vocabulary from");
    hd_corpus_free(corpus);
}

static bool refuse(void *context)
{
    ++*(int *)context;
    return false;
}

static void learning_can_be_cancelled(void **state)
{
    (void)state;
    struct hd_corpus *corpus = made_up_corpus(50);
    for (int kind = 0; kind < 3; kind++) {
        heed_error err = {0};
        int n_asked = 0;
        const struct hd_vocab_plan plan = {.kind = (enum hd_vocab_kind)kind};
        assert_null(hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, refuse, &n_asked, &err));
        assert_error(err, HEED_CANCELLED, "stopped while learning the vocabulary");
        assert_int_equal(n_asked, 1);
    }
    hd_corpus_free(corpus);
}

static void memory_may_fail_at_every_place(void **state)
{
    (void)state;
    struct hd_corpus *corpus = corpus_of("cafe\u0301 x\ny\n", "x\ny\n");
    for (int kind = 0; kind < 3; kind++)
        for (long n = 0;; n++) {
            heed_error err = {0};
            const struct hd_vocab_plan plan = {.kind = (enum hd_vocab_kind)kind};
            hd_alloc_fail_after(n);
            struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, &err);
            hd_alloc_fail_after(-1);
            if (vocab) {
                hd_vocab_free(vocab);
                break;
            }
            assert_error(err, HEED_NO_MEMORY, "no memory");
        }
    hd_corpus_free(corpus);
}

static void nothing_is_printed_while_learning(void **state)
{
    (void)state;
    struct hd_corpus *corpus = made_up_corpus(100);
    char *path = strdup(in_folder("stderr"));
    fflush(NULL);
    const int kept[2] = {dup(1), dup(2)};
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    heed_error err = {0};
    struct hd_vocab *vocab =
        hd_vocab_learn(corpus, HD_VOCAB_BOTH, &(struct hd_vocab_plan){0}, NULL, NULL, &err);
    struct hd_vocab *none =
        hd_vocab_learn(corpus, HD_VOCAB_BOTH, &(struct hd_vocab_plan){.size = 5}, NULL, NULL, &err);
    fflush(NULL);
    dup2(kept[0], 1);
    dup2(kept[1], 2);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    assert_true(vocab && !none);
    close(fd);
    close(kept[0]);
    close(kept[1]);
    free(path);
    hd_vocab_free(vocab);
    hd_corpus_free(corpus);
}

static void more_text_gets_a_larger_vocabulary(void **state)
{
    (void)state;
    static const struct {
        size_t n_pairs, n_words;
        int size;
    } wanted[] = {{0, 0, 500},
                  {10, 200, 500},
                  {5000, 100000, 1000},
                  {29000, 720000, 7000},
                  {160000, 2400000, 10000},
                  {200000, 5000000, 10000},
                  {1000000, 25000000, 16000},
                  {4000000, 100000000, 24000},
                  {40000000, 1000000000, 32000},
                  {100000, 100000, 8000}}; /* words that are not written apart */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(hd_vocab_size_for(wanted[i].n_pairs, wanted[i].n_words), wanted[i].size);
    int before = 0;
    for (size_t n = 1; n < (size_t)1 << 40; n += n / 5 + 1) {
        const int size = hd_vocab_size_for(0, n);
        assert_true(size >= before);
        before = size;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_come_by_frequency_and_then_by_their_bytes),
        cmocka_unit_test(characters_likewise),
        cmocka_unit_test(however_an_accent_is_typed_it_is_one_entry),
        cmocka_unit_test(subwords_have_the_symbols_where_marian_has_them),
        cmocka_unit_test(the_same_text_and_plan_give_the_same_bytes),
        cmocka_unit_test(a_text_of_few_pieces_gets_a_small_vocabulary),
        cmocka_unit_test(every_normalisation_can_be_had),
        cmocka_unit_test(long_lines_without_a_space_are_learned_from_too),
        cmocka_unit_test(a_plan_that_cannot_be_is_refused),
        cmocka_unit_test(learning_can_be_cancelled),
        cmocka_unit_test(memory_may_fail_at_every_place),
        cmocka_unit_test(nothing_is_printed_while_learning),
        cmocka_unit_test(more_text_gets_a_larger_vocabulary),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
