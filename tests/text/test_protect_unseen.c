/* test_protect_unseen.c -- words in letters that a vocabulary spells in bytes are kept; others, and all without such a vocabulary, are not. */
#include "text/files.h"
#include "text/pieces.h"

#include "base/memory.h"
#include "text/vocab_train.h"

static struct hd_vocab *learned(bool spells_bytes)
{
    static const char text[] = "The quick brown fox jumps over the lazy dog, don't you think?\n"
                               "I met a wizard near the café on my way.\n"
                               "Élan, naïve: qualms about a box of quartz.\n日本語 is hard.\n";
    const char *const src[] = {put("train.src", text)}, *const tgt[] = {put("train.tgt", text)};
    const struct hd_corpus_files files = {src, tgt, 1, 1, false, false, NULL};
    heed_error err = {0};
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, &err);
    assert_that(corpus, "%s", err.message);
    struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_BOTH,
                                            &(struct hd_vocab_plan){.kind = HD_VOCAB_SPM,
                                                                    .size = 4000,
                                                                    .spells_bytes = spells_bytes,
                                                                    .character_coverage = 1},
                                            NULL, NULL, &err);
    assert_that(vocab, "%s", err.message);
    hd_corpus_free(corpus);
    return vocab;
}

static const char *found(const struct hd_vocab *vocab, const char *text)
{
    struct hd_protected_list list = {0};
    struct hd_encoding encoding = {0};
    heed_error err = {0};
    assert_true(hd_protect_find(&list, NULL, text, strlen(text), &err));
    assert_true(hd_vocab_encode_spans(vocab, text, strlen(text), &encoding, &err));
    assert_true(
        hd_protect_unseen(&list, vocab, text, (struct hd_span){0, strlen(text)}, &encoding, &err));
    const char *out = pieces_of(&list, text);
    hd_encoding_release(&encoding);
    hd_protected_release(&list);
    return out;
}

static void words_in_unseen_letters_are_kept(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pieces;
    } cases[] = {
        {"The dog jumps.", ""},
        {"", ""},
        {"A café, an élan, naïve", ""},
        {"CAFÉ NAÏVE", ""}, /* the small letter is there */
        {"I met Łukasz.", "unseen:Łukasz"},
        {"(Łukasz), don't!", "unseen:Łukasz"},
        {"near Gdańsk-Wrzeszcz", "unseen:Gdańsk-Wrzeszcz"},
        {"Łukasz's dog", "unseen:Łukasz"},
        {"l'Łódź", "unseen:Łódź"},
        {"Привет, мир! The fox", "unseen:Привет unseen:мир"},
        {"добрый день and добрый", "unseen:добрый день unseen:добрый"},
        {"Łukasz at łukasz.txt", "unseen:Łukasz path:łukasz.txt"},
        {"こんにちは", "unseen:こんにちは"},
        {"日本語", ""},
        {"日本語は本", "unseen:は"},      /* without spaces between words, single letters */
        {"日本語 がん本", "unseen:がん"}, /* side by side as one piece */
        {"5 Ω, 3 ½ ☃", "unseen:Ω emoji:☃"},
    };
    struct hd_vocab *vocab = learned(true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = found(vocab, cases[i].text);
        assert_that(strcmp(got, cases[i].pieces) == 0, "\"%s\"\n  wanted %s\n  got    %s",
                    cases[i].text, cases[i].pieces, got);
    }
    hd_vocab_free(vocab);
}

static void a_vocabulary_without_bytes_keeps_nothing(void **state)
{
    (void)state;
    struct hd_vocab *vocab = learned(false);
    assert_string_equal(found(vocab, "Łukasz, Привет"), "");
    hd_vocab_free(vocab);
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    struct hd_vocab *vocab = learned(true);
    const char text[] = "Łukasz, Łódź, Łukasz, Łódź";
    const struct hd_span all = {0, sizeof text - 1};
    struct hd_encoding encoding = {0};
    heed_error err = {0};
    assert_true(hd_vocab_encode_spans(vocab, text, all.end, &encoding, &err));
    bool ok = false;
    for (long n = 0; !ok; n++) {
        struct hd_protected_list list = {0};
        hd_alloc_fail_after(n);
        ok = hd_protect_unseen(&list, vocab, text, all, &encoding, &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
        assert_true(!ok || (n > 0 && list.n == 4));
        hd_protected_release(&list);
    }
    hd_encoding_release(&encoding);
    hd_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_in_unseen_letters_are_kept),
        cmocka_unit_test(a_vocabulary_without_bytes_keeps_nothing),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
