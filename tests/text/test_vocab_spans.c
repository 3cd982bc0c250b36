/* test_vocab_spans.c -- ids know their places: in every language the places ascend and leave nothing out, and the ids are those of the
 * plain functions. */
#include "test.h"
#include "translate/languages.h"

#include "base/memory.h"
#include "text/vocab.h"

static struct hd_vocab *vocab_from_file(const char *path)
{
    static char bytes[1 << 20];
    FILE *in = fopen(path, "rb");
    assert_that(in != NULL, "%s", path);
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    heed_error err = {0};
    struct hd_vocab *v = hd_vocab_from_memory(HD_VOCAB_SPM, bytes, n, &err);
    assert_that(v != NULL, "%s: %s", path, err.message);
    return v;
}

static struct hd_vocab *list_of(enum hd_vocab_kind kind)
{
    static const char *const tokens[] = {"<unk>", "</s>", "a", "é", "▁",
                                         "你",    "o",    "n", "e", "\xCC\x81"};
    heed_error err = {0};
    struct hd_vocab *v = hd_vocab_from_tokens(kind, tokens, 10, &err);
    assert_that(v != NULL, "%s", err.message);
    return v;
}

static struct hd_vocab *vocab_at(int i)
{
    static const char *const files[] = {"tests/text/data/unigram.spm", "tests/text/data/bpe.spm",
                                        "tests/text/data/rules.spm"};
    return i < 3    ? vocab_from_file(files[i])
           : i == 3 ? list_of(HD_VOCAB_WORDS)
           : i == 4 ? list_of(HD_VOCAB_CHARS)
                    : NULL;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void ids_of_text_ascend_and_leave_nothing_out(void **state)
{
    (void)state;
    struct hd_vocab *v;
    for (int k = 0; (v = vocab_at(k)); hd_vocab_free(v), k++)
        for (int l = 0; l < N_LANGUAGES; l++) {
            const char *text = languages[l].text;
            const size_t n = strlen(text);
            heed_error err = {0};
            struct hd_ids ids = {0};
            struct hd_encoding placed;
            assert_that(hd_vocab_encode(v, text, n, false, &ids, &err), "%s", err.message);
            assert_that(hd_vocab_encode_spans(v, text, n, &placed, &err), "%s", err.message);
            assert_that(placed.n == ids.n && memcmp(placed.ids, ids.at, ids.n * sizeof(int)) == 0,
                        "vocabulary %d, %s: %zu ids, not %zu", k, languages[l].name, placed.n,
                        ids.n);
            size_t at = 0;
            for (size_t i = 0; i < placed.n; i++) {
                const struct hd_span s = placed.spans[i];
                assert_that(s.begin >= at && s.end >= s.begin && s.end <= n,
                            "vocabulary %d, %s: id %zu at %zu to %zu", k, languages[l].name, i,
                            s.begin, s.end);
                assert_that(s.begin == n || (text[s.begin] & 0xC0) != 0x80,
                            "vocabulary %d, %s: id %zu begins inside a character", k,
                            languages[l].name, i);
                for (size_t b = at; b < s.begin; b++)
                    assert_that(k < 3 || is_space((unsigned char)text[b]),
                                "vocabulary %d, %s: byte %zu is in no id", k, languages[l].name, b);
                /* SentencePiece leaves out nothing between its first piece and its last */
                assert_that(k >= 3 || i == 0 || s.begin == at,
                            "vocabulary %d, %s: gap before id %zu", k, languages[l].name, i);
                at = s.end;
            }
            hd_ids_release(&ids);
            hd_encoding_release(&placed);
        }
}

static void text_of_ids_is_covered_by_them(void **state)
{
    (void)state;
    struct hd_vocab *v;
    for (int k = 0; (v = vocab_at(k)); hd_vocab_free(v), k++)
        for (int l = 0; l < N_LANGUAGES; l++) {
            heed_error err = {0};
            struct hd_ids ids = {0};
            assert_true(hd_vocab_encode(v, languages[l].text, strlen(languages[l].text),
                                        hd_vocab_end(v) >= 0, &ids, &err));
            struct hd_span *spans = calloc(ids.n + 1, sizeof *spans);
            char *plain = hd_vocab_decode(v, ids.at, ids.n, &err),
                 *text = hd_vocab_decode_spans(v, ids.at, ids.n, spans, &err);
            assert_that(plain && text && strcmp(plain, text) == 0, "vocabulary %d: %s, not %s", k,
                        text, plain);
            size_t at = 0;
            for (size_t i = 0; i < ids.n; at = spans[i++].end)
                assert_that(spans[i].begin == at && spans[i].end >= at,
                            "vocabulary %d, %s: id %zu at %zu to %zu, not from %zu", k,
                            languages[l].name, i, spans[i].begin, spans[i].end, at);
            assert_that(at == strlen(text), "vocabulary %d, %s: %zu of %zu bytes", k,
                        languages[l].name, at, strlen(text));
            free(spans);
            hd_free(plain);
            hd_free(text);
            hd_ids_release(&ids);
        }
}

static void a_character_of_several_parts_has_one_place(void **state)
{
    (void)state;
    struct hd_vocab *v = list_of(HD_VOCAB_CHARS);
    struct hd_encoding p;
    heed_error err = {0};
    assert_true(hd_vocab_encode_spans(v, "ae\xCC\x81 n", 6, &p, &err)); /* normal form C: é */
    assert_int_equal(p.n, 4);
    const struct hd_span wanted[] = {{0, 1}, {1, 4}, {4, 5}, {5, 6}};
    assert_memory_equal(p.spans, wanted, sizeof wanted);
    assert_int_equal(p.ids[1], 3);
    hd_encoding_release(&p);
    hd_vocab_free(v);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    struct hd_vocab *v = list_of(HD_VOCAB_WORDS);
    struct hd_encoding p;
    struct hd_span span[1];
    heed_error err = {0};
    assert_false(hd_vocab_encode_spans(v, "a\xFF", 2, &p, &err));
    assert_error(err, HEED_BAD_TEXT, "not UTF-8 at byte 1");
    err = (heed_error){0};
    assert_null(hd_vocab_decode_spans(v, (const int[]){99}, 1, span, &err));
    assert_error(err, HEED_BAD_TEXT, "there is no id 99");
    hd_vocab_free(v);
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    struct hd_vocab *v;
    for (int k = 0; (v = vocab_at(k)); hd_vocab_free(v), k++)
        for (long n = 0;; n++) {
            heed_error err = {0};
            struct hd_encoding p;
            struct hd_span spans[64];
            hd_alloc_fail_after(n);
            const bool ok = hd_vocab_encode_spans(v, "ae one 你", 10, &p, &err);
            char *text = ok ? hd_vocab_decode_spans(v, p.ids, p.n, spans, &err) : NULL;
            hd_alloc_fail_after(-1);
            const bool is_done = text != NULL;
            assert_that(is_done || err.code == HEED_NO_MEMORY, "%ld: %s", n, err.message);
            hd_free(text);
            if (ok)
                hd_encoding_release(&p);
            if (is_done)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_text_ascend_and_leave_nothing_out),
        cmocka_unit_test(text_of_ids_is_covered_by_them),
        cmocka_unit_test(a_character_of_several_parts_has_one_place),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
