/* test_vocab_file.c -- vocabularies of other toolkits: plain lists and Marian's vocab.yml. */
#include "folder.h"
#include "shared.h"

#include "base/memory.h"
#include "text/vocab_file.h"

static const char *put(const char *name, const char *text)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* The tokens are these, written as "id token" and joined by '|'. */
static void assert_tokens(struct hd_tokens *tokens, const char *wanted)
{
    char got[1024] = "";
    for (size_t i = 0; i < tokens->n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d %s", i > 0 ? "|" : "",
                 tokens->ids[i], tokens->text[i]);
    assert_that(strcmp(got, wanted) == 0, "got    \"%s\"\nwanted \"%s\"", got, wanted);
    hd_tokens_release(tokens);
}

static void lists_have_an_id_per_line(void **state)
{
    (void)state;
    const char *same[] = {"<unk>\n</s>\na b\n", "<unk>\n</s>\na b", "<unk>\r\n</s>\r\na b\r\n",
                          "\xEF\xBB\xBF<unk>\n</s>\na b\n"};
    for (int i = 0; i < 4; i++) {
        struct hd_tokens tokens;
        heed_error err = {0};
        assert_that(hd_tokens_from_list(&tokens, "v.txt", same[i], strlen(same[i]), &err), "%s",
                    err.message);
        assert_tokens(&tokens, "0 <unk>|1 </s>|2 a b");
    }
}

static void yaml_has_many_ways_to_write_a_token(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *wanted;
    } good[] = {
        {"a: 0\nb: 1\n", "0 a|1 b"},
        {"b: 1\na: 0", "0 a|1 b"},
        {"---\n# words\n\na:0\r\n", "0 a"},
        {"'it''s': 0\n'''': 1\n'a: b': 2\n", "0 it's|1 '|2 a: b"},
        {"\"\\\"\": 0\n\"\\\\\": 1\n\"\\x41\\u00fc\\U0001F600\": 2\n\"\\t\\e\\_\": 3\n",
         "0 \"|1 \\|2 Aü😀|3 \t\x1B\xC2\xA0"},
        {"a:b: 3\n:: 4\n...: 5\n\\\": 6\n-: 7\n", "3 a:b|4 :|5 ...|6 \\\"|7 -"},
        {"? 'x y'\n: 3\n? z\n: 4\n? \"q\" \n:  5 \n", "3 x y|4 z|5 q"},
        {"?: 3\n?x: 4\n", "3 ?|4 ?x"},
        {"'a' : 0\n\"b\"  :  1\nc : 2\n", "0 a|1 b|2 c"},
        {"\"a'b\": 0\n'a\"b': 1\n", "0 a'b|1 a\"b"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct hd_tokens tokens;
        heed_error err = {0};
        assert_that(hd_tokens_from_yaml(&tokens, "v.yml", good[i].yaml, strlen(good[i].yaml), &err),
                    "%s: %s", good[i].yaml, err.message);
        assert_tokens(&tokens, good[i].wanted);
    }
}

static void broken_vocabularies_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        bool is_yaml;
        const char *text;
        size_t n;
        const char *words;
    } bad[] = {
        {false, "", 0, "v: there is no token"},
        {false, "a\n\nb", 4, "v:2: this line is empty"},
        {false, "a\nb\na\n", 6, "v: the token 'a' is there twice, with the ids"},
        {false, "a\n\xFF", 3, "v: the vocabulary is not UTF-8 at byte 2"},
        {false, "a\0\n", 3, "v: this is no text"},
        {true, "", 0, "v: there is no token"},
        {true, "a\n", 2, "v:1: 'a' is not `token: id`"},
        {true, "a: b\n", 5, "v:1: 'a: b' is not `token: id`"},
        {true, "a: -1\n", 6, "is not `token: id`"},
        {true, "a: 99999999999\n", 15, "is not `token: id`"},
        {true, "a: 1 2\n", 7, "is not `token: id`"},
        {true, "a: \n", 4, "is not `token: id`"},
        {true, ": 1\n", 4, "is a token that is empty"},
        {true, "'': 1\n", 6, "is a token that is empty"},
        {true, "'a: 1\n", 6, "is not `token: id`"},
        {true, "\"a: 1\n", 6, "is not `token: id`"},
        {true, "\"a\\\n", 4, "is not `token: id`"},
        {true, "\"\\q\": 1\n", 8, "is not `token: id`"},
        {true, "\"\\x4\": 1\n", 9, "is not `token: id`"},
        {true, "\"\\uD800\": 1\n", 12, "is not `token: id`"},
        {true, "\"\\n\": 1\n", 8, "has a line end in it"},
        {true, "\"\\0\": 1\n", 8, "has a line end in it"},
        {true, "? a\n", 4, "is not `token: id`"},
        {true, "? a\nb: 1\n", 9, "is not `token: id`"},
        {true, "a: 1\nb: 1\n", 10, "v: the tokens 'a' and 'b' have the same id, 1"},
        {true, "a: 1\na: 2\n", 10, "v: the token 'a' is there twice"},
        {true, "{\"a\": 0}\n", 9, "is not `token: id`"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hd_tokens tokens;
        heed_error err = {0};
        const bool ok = bad[i].is_yaml
                            ? hd_tokens_from_yaml(&tokens, "v", bad[i].text, bad[i].n, &err)
                            : hd_tokens_from_list(&tokens, "v", bad[i].text, bad[i].n, &err);
        assert_that(!ok, "%s was read", bad[i].text);
        assert_error(err, HEED_BAD_MODEL, bad[i].words);
        assert_null(tokens.text);
    }
}

static void marians_corner_cases_are_read(void **state)
{
    (void)state;
    heed_error err = {0};
    char yaml[4096], line[256];
    FILE *file = fopen(shared_file("oracles/marian-vocab/vocab.yml"), "r");
    const size_t n = fread(yaml, 1, sizeof yaml, file);
    fclose(file);
    struct hd_tokens tokens;
    assert_that(hd_tokens_from_yaml(&tokens, "vocab.yml", yaml, n, &err), "%s", err.message);
    file = fopen(shared_file("oracles/marian-vocab/vocab.expected.txt"), "r");
    size_t i = 0;
    for (; fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\n")] = '\0';
        assert_that(i < tokens.n && strcmp(tokens.text[i], line) == 0, "token %zu is not %s", i,
                    line);
    }
    fclose(file);
    assert_int_equal(i, tokens.n);
    hd_tokens_release(&tokens);
}

static void files_are_read_by_their_ending(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_vocab *v = hd_vocab_open(put("v.txt", "<unk>\n</s>\nx\n"), HD_VOCAB_CHARS, &err);
    assert_that(v && hd_vocab_kind(v) == HD_VOCAB_CHARS && hd_vocab_size(v) == 3, "%s",
                err.message);
    hd_vocab_free(v);
    v = hd_vocab_open(put("v.yml", "</s>: 0\n<unk>: 1\n'x y': 2\n"), HD_VOCAB_WORDS, &err);
    assert_that(v && hd_vocab_end(v) == 0 && hd_vocab_unknown(v) == 1 &&
                    hd_vocab_find(v, "x y") == 2,
                "%s", err.message);
    hd_vocab_free(v);
    v = hd_vocab_open("tests/text/data/unigram.spm", HD_VOCAB_WORDS, &err);
    assert_that(v && hd_vocab_kind(v) == HD_VOCAB_SPM, "%s", err.message);
    hd_vocab_free(v);

    /* names of old */
    v = hd_vocab_open(put("v.yaml", "eos: 0\nUNK: 1\nx: 2\n"), HD_VOCAB_WORDS, &err);
    assert_that(v && hd_vocab_end(v) == 0 && hd_vocab_unknown(v) == 1, "%s", err.message);
    hd_vocab_free(v);
    v = hd_vocab_open(put("v.yaml", "x: 2\ny: 3\n"), HD_VOCAB_WORDS, &err);
    assert_that(v && hd_vocab_end(v) == 0 && hd_vocab_unknown(v) == 1 && hd_vocab_size(v) == 4,
                "%s", err.message);
    hd_vocab_free(v);

    static const struct {
        const char *name, *text, *words;
        enum hd_vocab_kind kind;
    } bad[] = {
        {"v.yml", "a: 0\nb: 1\nc: 3\n",
         "v.yml: the ids of the vocabulary have a hole: no token has the id 2, but 'c' has 3",
         HD_VOCAB_WORDS},
        {"v.yml", "x\n", "v.yml:1: ", HD_VOCAB_WORDS},
        {"v.txt", "ab\n", "v.txt: line 1 of the vocabulary, 'ab', is neither", HD_VOCAB_CHARS},
        {"v.spm", "ab\n", "v.spm: the vocabulary is no SentencePiece model", HD_VOCAB_WORDS},
        {"v.bin", "ab\n", "v.bin: the vocabulary is no SentencePiece model", HD_VOCAB_SPM},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (heed_error){0};
        assert_null(hd_vocab_open(put(bad[i].name, bad[i].text), bad[i].kind, &err));
        assert_error(err, HEED_BAD_MODEL, bad[i].words);
    }
    err = (heed_error){0};
    assert_null(hd_vocab_open("none.yml", HD_VOCAB_WORDS, &err));
    assert_error(err, HEED_BAD_FILE, "there is no such file");
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    const char *path = put("v.yml", "a: 2\nb: 3\n");
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        struct hd_vocab *v = hd_vocab_open(path, HD_VOCAB_WORDS, &err);
        hd_alloc_fail_after(-1);
        hd_vocab_free(v);
        if (v)
            break;
        assert_error(err, HEED_NO_MEMORY, "no memory");
        assert_in_range(n, 0, 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_an_id_per_line),
        cmocka_unit_test(yaml_has_many_ways_to_write_a_token),
        cmocka_unit_test(broken_vocabularies_get_a_sentence),
        cmocka_unit_test(marians_corner_cases_are_read),
        cmocka_unit_test_setup_teardown(files_are_read_by_their_ending, fresh_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(without_memory_there_is_a_sentence, fresh_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
