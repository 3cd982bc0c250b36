/* test_vocab.c -- text to ids and back: words, characters, subwords; and everything that text can
 * be besides right. */
#define _GNU_SOURCE
#include "format/broken.h"
#include "shared.h"

#include "base/memory.h"
#include "text/vocab.h"

#include <fcntl.h>

#define DATA "tests/text/data/"

static const char words[] = "<unk>\n</s>\nthe\ncat\nгород\n猫\ncats\n";
static const char chars[] = "<unk>\n</s>\n▁\na\nb\nü\n猫\n😀\n";

static struct hd_vocab *vocab_of(enum hd_vocab_kind kind, const char *list)
{
    heed_error err = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(kind, list, strlen(list), &err);
    assert_that(vocab, "%s", err.message);
    return vocab;
}

static struct hd_vocab *spm_of(const char *path)
{
    struct bytes bytes = bytes_of_file(path);
    heed_error err = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(HD_VOCAB_SPM, bytes.at, bytes.n, &err);
    assert_that(vocab, "%s: %s", path, err.message);
    size_t size;
    assert_memory_equal(hd_vocab_bytes(vocab, &size), bytes.at, bytes.n);
    assert_int_equal(size, bytes.n);
    free(bytes.at);
    return vocab;
}

/* text[0..n) becomes these ids, written as "1 2 3", and they become `back`. */
static void assert_coded_n(const struct hd_vocab *vocab, const char *text, size_t n, bool with_end,
                           const char *wanted, const char *back)
{
    struct hd_ids ids = {0};
    heed_error err = {0};
    char got[1024] = "";
    assert_that(hd_vocab_encode(vocab, text, n, with_end, &ids, &err), "\"%s\": %s", text,
                err.message);
    for (size_t i = 0; i < ids.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i > 0 ? " " : "", ids.at[i]);
    assert_that(strcmp(got, wanted) == 0, "\"%s\" is %s, wanted %s", text, got, wanted);
    char *decoded = hd_vocab_decode(vocab, ids.at, ids.n, &err);
    assert_that(decoded && strcmp(decoded, back) == 0, "\"%s\" comes back as \"%s\", wanted \"%s\"",
                text, decoded, back);
    hd_free(decoded);
    hd_ids_release(&ids);
}

static void assert_coded(const struct hd_vocab *vocab, const char *text, bool with_end,
                         const char *wanted, const char *back)
{
    assert_coded_n(vocab, text, strlen(text), with_end, wanted, back);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void words_are_what_is_between_spaces(void **state)
{
    (void)state;
    struct hd_vocab *v = vocab_of(HD_VOCAB_WORDS, words);
    assert_int_equal(hd_vocab_size(v), 7);
    assert_coded(v, "the cat", false, "2 3", "the cat");
    assert_coded(v, "the cat", true, "2 3 1", "the cat");
    assert_coded(v, " \t the\n\r\n cat  ", true, "2 3 1", "the cat");
    assert_coded(v, "город 猫 cats", false, "4 5 6", "город 猫 cats");
    assert_coded(v, "the dog", false, "2 0", "the <unk>");
    assert_coded(v, "ca cat catss The", false, "0 3 0 0", "<unk> cat <unk> <unk>");
    assert_coded(v, "", false, "", "");
    assert_coded(v, "", true, "1", "");
    assert_coded(v, "   ", true, "1", "");
    assert_coded_n(v, "cat\0cat", 7, false, "0", "<unk>"); /* a NUL is a character of a word */
    assert_coded_n(v, "the cat", 5, false, "2 0", "the <unk>");
    hd_vocab_free(v);
}

static void characters_are_counted_one_by_one(void **state)
{
    (void)state;
    struct hd_vocab *v = vocab_of(HD_VOCAB_CHARS, chars);
    assert_coded(v, "ab bü猫", true, "3 4 2 4 5 6 1", "ab bü猫");
    assert_coded(v, "  a ", false, "2 2 3 2", "  a ");
    assert_coded(v, "a▁b", false, "3 2 4", "a b");
    assert_coded(v, "😀é\n", false, "7 0 0", "😀<unk><unk>");
    assert_coded(v, "<s>", false, "0 0 0", "<unk><unk><unk>");
    assert_coded(v, "", true, "1", "");
    hd_vocab_free(v);
}

static void names_of_special_symbols_in_text_are_words(void **state)
{
    (void)state;
    struct hd_vocab *v = vocab_of(HD_VOCAB_WORDS, "a\n</s>\n<s>\n<pad>\n<unk>\n<other>\n");
    assert_int_equal(hd_vocab_unknown(v), 4);
    assert_int_equal(hd_vocab_end(v), 1);
    assert_int_equal(hd_vocab_begin(v), 2);
    assert_int_equal(hd_vocab_padding(v), 3);
    assert_coded(v, "a </s> <s> <pad> <unk> <other>", true, "0 4 4 4 4 5 1",
                 "a <unk> <unk> <unk> <unk> <other>");
    heed_error err = {0};
    char *text = hd_vocab_decode(v, (int[]){2, 0, 3, 0, 1, 3}, 6, &err);
    assert_string_equal(text, "a a");
    hd_free(text);
    hd_vocab_free(v);

    v = vocab_of(HD_VOCAB_WORDS, "<blank>\n<s>\n</s>\na");
    assert_int_equal(hd_vocab_padding(v), 0);
    assert_int_equal(hd_vocab_unknown(v), -1);
    hd_vocab_free(v);
}

static void bytes_make_the_same_vocabulary_again(void **state)
{
    (void)state;
    const char *lists[] = {words, chars, "x", "x\n", "a b\n\tc\n"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct hd_vocab *v = vocab_of(i == 1 ? HD_VOCAB_CHARS : HD_VOCAB_WORDS, lists[i]);
        size_t n;
        const char *bytes = hd_vocab_bytes(v, &n);
        assert_true(n == strlen(lists[i]) && memcmp(bytes, lists[i], n) == 0);
        for (int id = 0; id < hd_vocab_size(v); id++)
            assert_int_equal(hd_vocab_find(v, hd_vocab_piece(v, id)), id);
        assert_null(hd_vocab_piece(v, -1));
        assert_null(hd_vocab_piece(v, hd_vocab_size(v)));
        assert_int_equal(hd_vocab_find(v, "nowhere"), -1);
        assert_int_equal(hd_vocab_find(v, ""), -1);
        hd_vocab_free(v);
    }
    heed_error err = {0};
    const char *tokens[] = {"<unk>", "</s>", "the", "cat"};
    struct hd_vocab *v = hd_vocab_from_tokens(HD_VOCAB_WORDS, tokens, 4, &err);
    size_t n;
    assert_memory_equal(hd_vocab_bytes(v, &n), "<unk>\n</s>\nthe\ncat\n", 19);
    assert_int_equal(n, 19);
    hd_vocab_free(v);
    assert_null(hd_vocab_from_tokens(HD_VOCAB_WORDS, (const char *[]){"a", "b\nc"}, 2, &err));
    assert_error(err, HEED_BAD_MODEL, "token 1 of the vocabulary, 'b?c', has a line end in it");
}

static void many_words_are_all_found(void **state)
{
    (void)state;
    enum { N = 50000 };
    char *list = malloc(N * 8);
    size_t n = 0;
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(list + n, "w%d\n", i);
    struct hd_vocab *v = vocab_of(HD_VOCAB_WORDS, list);
    for (int i = 0; i < N; i++) {
        char word[16];
        snprintf(word, sizeof word, "w%d", i);
        assert_int_equal(hd_vocab_find(v, word), i);
    }
    assert_int_equal(hd_vocab_find(v, "w50000"), -1);
    hd_vocab_free(v);
    free(list);
}

static void broken_lists_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        enum hd_vocab_kind kind;
        const char *list;
        size_t n;
        const char *words;
    } bad[] = {
        {HD_VOCAB_WORDS, "", 0, "has 0 tokens"},
        {HD_VOCAB_WORDS, "\n", 1, "line 1 of the vocabulary is empty"},
        {HD_VOCAB_WORDS, "a\n\nb\n", 5, "line 2 of the vocabulary is empty"},
        {HD_VOCAB_WORDS, "a\nb\n\n", 5, "line 3 of the vocabulary is empty"},
        {HD_VOCAB_WORDS, "a\nb\na\n", 6, "lines 1 and 3 of the vocabulary are the same, 'a'"},
        {HD_VOCAB_WORDS, "a\n\xC3(\n", 5, "not UTF-8 at byte 2"},
        {HD_VOCAB_WORDS, "a\0b\n", 4, "NUL byte"},
        {HD_VOCAB_CHARS, "<unk>\nab\n", 9,
         "line 2 of the vocabulary, 'ab', is neither a character"},
        {HD_VOCAB_CHARS, "<unk>\n \n", 8, "line 2 of the vocabulary, ' ', is neither a character"},
        {HD_VOCAB_SPM, "", 0, "no SentencePiece model"},
        {HD_VOCAB_SPM, "hello", 5, "no SentencePiece model"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        heed_error err = {0};
        assert_null(hd_vocab_from_memory(bad[i].kind, bad[i].list, bad[i].n, &err));
        assert_error(err, HEED_BAD_MODEL, bad[i].words);
    }
}

/* ---- what can be wrong with text and ids ----------------------------------------------------- */

static void wrong_text_is_refused_and_nothing_appended(void **state)
{
    (void)state;
    struct hd_vocab *all[] = {vocab_of(HD_VOCAB_WORDS, words), vocab_of(HD_VOCAB_CHARS, chars),
                              spm_of(DATA "unigram.spm")};
    for (int i = 0; i < 3; i++) {
        struct hd_ids ids = {0};
        heed_error err = {0};
        assert_true(hd_ids_add(&ids, 77, &err));
        assert_false(hd_vocab_encode(all[i], "the \xFF", 5, true, &ids, &err));
        assert_error(err, HEED_BAD_TEXT, "not UTF-8 at byte 4");
        err = (heed_error){0};
        assert_false(hd_vocab_encode(all[i], "ü", 1, false, &ids, &err));
        assert_error(err, HEED_BAD_TEXT, "not UTF-8 at byte 0");
        assert_true(ids.n == 1 && ids.at[0] == 77);
        err = (heed_error){0};
        assert_true(hd_vocab_encode(all[i], "a", 1, true, &ids, &err) && ids.n > 2 &&
                    ids.at[0] == 77);
        hd_ids_release(&ids);

        const int n = hd_vocab_size(all[i]);
        const int wrong[] = {-1, n, INT32_MAX, INT32_MIN};
        for (int k = 0; k < 4; k++) {
            err = (heed_error){0};
            assert_null(hd_vocab_decode(all[i], (int[]){0, wrong[k]}, 2, &err));
            assert_error(err, HEED_BAD_TEXT, "there is no id");
            assert_null(hd_vocab_piece(all[i], wrong[k]));
        }
        char *nothing = hd_vocab_decode(all[i], NULL, 0, &err);
        assert_string_equal(nothing, "");
        hd_free(nothing);
        hd_vocab_free(all[i]);
    }
    hd_vocab_free(NULL);
}

static void without_an_unknown_symbol_unknown_text_is_refused(void **state)
{
    (void)state;
    struct hd_vocab *v = vocab_of(HD_VOCAB_WORDS, "<blank>\nthe\ncat\n");
    struct hd_ids ids = {0};
    heed_error err = {0};
    assert_true(hd_vocab_encode(v, "the cat", 7, false, &ids, &err));
    assert_false(hd_vocab_encode(v, "the dog", 7, false, &ids, &err));
    assert_error(err, HEED_BAD_TEXT, "'dog' is not in the vocabulary, which has no <unk>");
    err = (heed_error){0};
    assert_false(hd_vocab_encode(v, "the cat", 7, true, &ids, &err));
    assert_error(err, HEED_BAD_OPTION, "no end marker </s>");
    assert_int_equal(ids.n, 2);
    hd_ids_release(&ids);
    hd_vocab_free(v);
}

static void kinds_have_names(void **state)
{
    (void)state;
    enum hd_vocab_kind kind = HD_VOCAB_CHARS;
    assert_true(hd_vocab_kind_by_name(&kind, "spm") && kind == HD_VOCAB_SPM);
    assert_true(hd_vocab_kind_by_name(&kind, "words") && kind == HD_VOCAB_WORDS);
    assert_true(hd_vocab_kind_by_name(&kind, "chars") && kind == HD_VOCAB_CHARS);
    assert_false(hd_vocab_kind_by_name(&kind, "bytes"));
    assert_string_equal(hd_vocab_kind_name(HD_VOCAB_WORDS), "words");
    struct hd_vocab *v = vocab_of(HD_VOCAB_CHARS, chars);
    assert_int_equal(hd_vocab_kind(v), HD_VOCAB_CHARS);
    hd_vocab_free(v);
}

/* ---- SentencePiece --------------------------------------------------------------------------- */

static void special_pieces_are_where_the_model_has_them(void **state)
{
    (void)state;
    struct hd_vocab *v = spm_of(DATA "unigram.spm");
    assert_int_equal(hd_vocab_kind(v), HD_VOCAB_SPM);
    assert_int_equal(hd_vocab_end(v), 0);
    assert_int_equal(hd_vocab_unknown(v), 1);
    assert_int_equal(hd_vocab_begin(v), -1);
    assert_int_equal(hd_vocab_padding(v), -1);
    assert_string_equal(hd_vocab_piece(v, 0), "</s>");
    for (int id = 0; id < hd_vocab_size(v); id++)
        assert_int_equal(hd_vocab_find(v, hd_vocab_piece(v, id)), id);
    assert_int_equal(hd_vocab_find(v, "nowhere"), -1);
    hd_vocab_free(v);
    v = spm_of(DATA "bpe.spm");
    assert_int_equal(hd_vocab_unknown(v), 0);
    assert_int_equal(hd_vocab_begin(v), 1);
    assert_int_equal(hd_vocab_end(v), 2);
    assert_int_equal(hd_vocab_padding(v), 3);
    hd_vocab_free(v);
}

/* Lines of expected.tsv: model, sentence, ids, decoded; a tab in a sentence is \t. */
static void subwords_are_those_of_the_library(void **state)
{
    (void)state;
    FILE *file = fopen(DATA "expected.tsv", "r");
    assert_non_null(file);
    char line[1024];
    int n = 0;
    for (; fgets(line, sizeof line, file); n++) {
        char *field[4], *at = line, path[64];
        for (int i = 0; i < 4; i++)
            field[i] = strsep(&at, "\t\n");
        for (int i = 1; i < 4; i += 2)
            for (char *tab; (tab = strstr(field[i], "\\t"));) {
                *tab = '\t';
                memmove(tab + 1, tab + 2, strlen(tab + 2) + 1);
            }
        snprintf(path, sizeof path, DATA "%s", field[0]);
        struct hd_vocab *v = spm_of(path);
        assert_coded(v, field[1], false, field[2], field[3]);
        char with_end[1024];
        snprintf(with_end, sizeof with_end, "%s%s%d", field[2], field[2][0] ? " " : "",
                 hd_vocab_end(v));
        assert_coded(v, field[1], true, with_end, field[3]);
        hd_vocab_free(v);
    }
    assert_int_equal(n, 27);
    fclose(file);
}

static void a_vocabulary_of_marian_is_read(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_vocab *v = spm_of(shared_file("oracles/spm/vocab.deen.spm"));
    assert_int_equal(hd_vocab_size(v), 32000);
    assert_int_equal(hd_vocab_end(v), 0);
    assert_int_equal(hd_vocab_unknown(v), 1);
    struct hd_ids ids = {0};
    const char text[] = "Guten Morgen, liebe Welt! Ein schöner Tag.";
    assert_true(hd_vocab_encode(v, text, strlen(text), true, &ids, &err));
    char *back = hd_vocab_decode(v, ids.at, ids.n, &err);
    assert_string_equal(back, text);
    hd_free(back);
    hd_ids_release(&ids);
    hd_vocab_free(v);
}

/* A reader for broken.h: all pieces, some text, all ids. */
static bool use_spm(const void *data, size_t n, heed_error *err)
{
    static const char text[] = "the small cat ﬁnds Ａ É 猫\tﬁﬁ.";
    struct hd_vocab *v = hd_vocab_from_memory(HD_VOCAB_SPM, data, n, err);
    if (!v)
        return false;
    struct hd_ids ids = {0};
    heed_error why = {0};
    if (hd_vocab_encode(v, text, sizeof text, hd_vocab_end(v) >= 0, &ids, &why))
        hd_free(hd_vocab_decode(v, ids.at, ids.n, &why));
    ids.n = 0;
    for (int id = 0; id < hd_vocab_size(v); id++) {
        assert_in_range(hd_vocab_find(v, hd_vocab_piece(v, id)) + 1, 0, hd_vocab_size(v));
        assert_true(hd_ids_add(&ids, id, NULL));
    }
    hd_free(hd_vocab_decode(v, ids.at, ids.n, &why));
    hd_ids_release(&ids);
    hd_vocab_free(v);
    return true;
}

/* Where the table of character rules begins in rules.spm: its first trie has 1024 bytes. */
static size_t table_of(struct bytes file)
{
    for (size_t i = 0; i + 8 < file.n; i++)
        if (memcmp(file.at + i, "\0\4\0\0", 4) == 0)
            return i;
    fail_msg("rules.spm has no table of rules");
    return 0;
}

static void broken_models_come_back_as_sentences(void **state)
{
    (void)state;
    heed_error err;
    struct bytes file = bytes_of_file(DATA "rules.spm");
    assert_that(read_copy(use_spm, file.at, file.n, &err), "%s", err.message);
    for (size_t n = 0; n < file.n; n++)
        read_copy(use_spm, file.at, n, &err); /* some beginnings are models as well */
    every_byte_changed(use_spm, file, 0, file.n, 31);
    free(file.at);
    file = bytes_of_file(DATA "unigram.spm");
    every_byte_changed(use_spm, file, 0, file.n, 37);
    free(file.at);
}

/* The library would run out of its memory with each of these. */
static void a_broken_table_of_rules_is_refused(void **state)
{
    (void)state;
    static const uint32_t units[] = {0xFFFFFFFF, 0x7FFFFFFF, 0xFFFFFC00,
                                     0x00FFFE00, 0x00040000, 0x00000000};
    static const uint32_t sizes[] = {0, 1, 4, 1020, 1023, 1 << 20, UINT32_MAX};
    struct bytes file = bytes_of_file(DATA "rules.spm");
    const size_t table = table_of(file);
    unsigned char *copy = malloc(file.n);
    heed_error err;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        memcpy(copy, file.at, file.n);
        for (int k = 0; k < 256; k++)
            memcpy(copy + table + 4 + 4 * k, &units[i], 4);
        assert_that(!read_copy(use_spm, copy, file.n, &err), "units %x", units[i]);
        assert_error(err, HEED_BAD_MODEL, "table of character rules contradicts itself");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memcpy(copy, file.at, file.n);
        memcpy(copy + table, &sizes[i], 4);
        assert_that(!read_copy(use_spm, copy, file.n, &err), "size %u", sizes[i]);
        assert_error(err, HEED_BAD_MODEL, "table of character rules contradicts itself");
    }
    int n_values = 0;
    for (int k = 0; k < 256; k++) { /* each leaf in turn has its text somewhere outside */
        memcpy(copy, file.at, file.n);
        if (!(copy[table + 4 + 4 * k + 3] & 0x80))
            continue;
        n_values++;
        memcpy(copy + table + 4 + 4 * k, &(uint32_t){0x80001000}, 4);
        assert_that(!read_copy(use_spm, copy, file.n, &err), "unit %d", k);
        assert_error(err, HEED_BAD_MODEL, "table of character rules contradicts itself");
    }
    assert_int_equal(n_values, 6); /* as many as there are texts */
    free(copy);
    free(file.at);
}

/* A model with <unk> and n pieces defined by the user: x, xx, xxx... or, when they do not nest,
 * x00, x01... */
static struct bytes model_of(int n, bool is_nested)
{
    struct bytes file = {calloc(1, 1 << 20), 0};
    memcpy(file.at, "\x0A\x09\x0A\x05<unk>\x18\x02", 11);
    file.n = 11;
    for (int i = 1; i <= n; i++) {
        char text[128] = "x";
        if (is_nested)
            memset(text, 'x', (size_t)i);
        else
            snprintf(text, sizeof text, "x%02d", i);
        file.n += (size_t)sprintf((char *)file.at + file.n, "\x0A%c\x0A%c%s\x18\x04",
                                  (int)strlen(text) + 4, (int)strlen(text), text);
    }
    return file;
}

static void pieces_that_nest_too_deep_are_refused(void **state)
{
    (void)state;
    heed_error err;
    for (int n = 63; n <= 99; n++)
        for (int is_nested = 0; is_nested < 2; is_nested++) {
            struct bytes file = model_of(n, is_nested);
            const bool ok = read_copy(use_spm, file.at, file.n, &err);
            free(file.at);
            assert_that(ok == (n <= 64 || !is_nested), "%d: %s", n, err.message);
            if (!ok)
                assert_error(err, HEED_BAD_MODEL, "more than 64 pieces defined by its user");
        }
}

/* Whatever is done to the library, it says nothing. */
static void nothing_is_printed(void **state)
{
    (void)state;
    fflush(stderr);
    char path[] = "/tmp/heed-vocab-XXXXXX";
    const int caught = mkstemp(path), before = dup(2);
    assert_true(caught >= 0 && before >= 0 && dup2(caught, 2) == 2);
    unlink(path);
    heed_error err = {0};
    hd_vocab_free(hd_vocab_from_memory(HD_VOCAB_SPM, "\x0A\x05hello", 7, &err));
    hd_vocab_free(
        hd_vocab_from_memory(HD_VOCAB_SPM, "\x0A\x07\x0A\x03<a>\x18\x03", 9, &err)); /* no <unk> */
    struct hd_vocab *v = spm_of(DATA "bpe.spm");
    struct hd_ids ids = {0};
    hd_vocab_encode(v, "\xF0\x9F\x98\x80 x", 6, true, &ids, &err);
    hd_ids_release(&ids);
    hd_vocab_free(v);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    const off_t said = lseek(caught, 0, SEEK_CUR);
    close(caught);
    assert_int_equal(said, 0);
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (long n = 0;; n++) {
            heed_error err = {0};
            struct hd_ids ids = {0};
            char *text = NULL;
            const char *list = kind == HD_VOCAB_WORDS ? words : chars;
            struct bytes bytes = kind == HD_VOCAB_SPM
                                     ? bytes_of_file(DATA "rules.spm")
                                     : (struct bytes){(unsigned char *)strdup(list), strlen(list)};
            hd_alloc_fail_after(n);
            struct hd_vocab *v =
                hd_vocab_from_memory((enum hd_vocab_kind)kind, bytes.at, bytes.n, &err);
            const bool ok = v && hd_vocab_encode(v, "the cat", 7, true, &ids, &err) &&
                            (text = hd_vocab_decode(v, ids.at, ids.n, &err));
            hd_alloc_fail_after(-1);
            hd_free(text);
            hd_ids_release(&ids);
            hd_vocab_free(v);
            free(bytes.at);
            if (ok)
                break;
            assert_error(err, HEED_NO_MEMORY, "no memory");
            assert_in_range(n, 0, 50);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_what_is_between_spaces),
        cmocka_unit_test(characters_are_counted_one_by_one),
        cmocka_unit_test(names_of_special_symbols_in_text_are_words),
        cmocka_unit_test(bytes_make_the_same_vocabulary_again),
        cmocka_unit_test(many_words_are_all_found),
        cmocka_unit_test(broken_lists_get_a_sentence),
        cmocka_unit_test(wrong_text_is_refused_and_nothing_appended),
        cmocka_unit_test(without_an_unknown_symbol_unknown_text_is_refused),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(special_pieces_are_where_the_model_has_them),
        cmocka_unit_test(subwords_are_those_of_the_library),
        cmocka_unit_test(a_vocabulary_of_marian_is_read),
        cmocka_unit_test(broken_models_come_back_as_sentences),
        cmocka_unit_test(a_broken_table_of_rules_is_refused),
        cmocka_unit_test(pieces_that_nest_too_deep_are_refused),
        cmocka_unit_test(nothing_is_printed),
        cmocka_unit_test(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
