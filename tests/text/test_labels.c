/* test_labels.c -- labels as a vocabulary, and how well they were found. */
#include "test.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/labels.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The labels of a file of lines "text TAB label"; NULL with the reason in `err`. */
static struct hd_vocab *learn(const char *lines, heed_error *err)
{
    char path[] = "/tmp/heed-labels-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, lines, strlen(lines)) == (ssize_t)strlen(lines));
    close(file);
    const char *const paths[] = {path};
    const struct hd_corpus_files files = {.source = paths, .n_source = 1, .is_tsv = true};
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, err);
    assert_non_null(corpus);
    struct hd_vocab *vocab = hd_labels_learn(corpus, err);
    hd_corpus_free(corpus);
    unlink(path);
    return vocab;
}

static void labels_are_whole_lines_in_the_order_of_their_bytes(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_vocab *v = learn("a\tvery good\nb\t bad \nc\tvery good\nd\t</s>\n", &err);
    assert_non_null(v);
    assert_int_equal(hd_vocab_kind(v), HD_VOCAB_LABELS);
    assert_int_equal(hd_vocab_size(v), 3);
    assert_string_equal(hd_vocab_piece(v, 0), "</s>");
    assert_string_equal(hd_vocab_piece(v, 1), "bad");
    assert_string_equal(hd_vocab_piece(v, 2), "very good");
    assert_int_equal(hd_vocab_end(v), -1); /* a label is no special symbol, whatever its name */
    struct hd_ids ids = {0};
    assert_true(hd_vocab_encode(v, "  very good ", 12, false, &ids, &err));
    assert_true(ids.n == 1 && ids.at[0] == 2);
    assert_false(hd_vocab_encode(v, "very", 4, false, &ids, &err));
    assert_true(err.code == HEED_BAD_TEXT && strstr(err.message, "none of the 3 labels"));
    char *text = hd_vocab_decode(v, ids.at, 1, NULL);
    assert_string_equal(text, "very good");
    struct hd_span span;
    hd_free(text);
    text = hd_vocab_decode_spans(v, ids.at, 1, &span, NULL);
    assert_true(span.begin == 0 && span.end == 9);
    hd_free(text);
    size_t n;
    const void *bytes = hd_vocab_bytes(v, &n);
    struct hd_vocab *again = hd_vocab_from_memory(HD_VOCAB_LABELS, bytes, n, NULL);
    assert_true(again && hd_vocab_size(again) == 3);
    hd_vocab_free(again);
    hd_vocab_free(v);
    hd_ids_release(&ids);
}

static void one_label_and_too_many_are_refused(void **state)
{
    (void)state;
    heed_error err = {0};
    assert_null(learn("a\tx\nb\tx\n", &err));
    assert_true(err.code == HEED_BAD_TEXT && strstr(err.message, "nothing to tell apart"));
    char *lines = malloc(200 * 16), *at = lines;
    for (int i = 0; i < 200; i++)
        at += sprintf(at, "a\tlabel %d\n", i);
    err = (heed_error){0};
    assert_null(learn(lines, &err));
    assert_true(err.code == HEED_BAD_TEXT && strstr(err.message, "200 different labels"));
    free(lines);
}

static void labels_are_counted_as_found_and_right(void **state)
{
    (void)state;
    heed_error err = {0};
    const heed_pair pairs[] = {{"a", "a"}, {"a", "a"}, {"b", "a"},
                               {"b", "b"}, {"c", "b"}, {"b", "b"}};
    heed_confusion *c = heed_confusion_new(pairs, 6, &err);
    assert_non_null(c);
    assert_int_equal(c->n_labels, 3);
    const size_t counts[] = {2, 1, 0, 0, 2, 1, 0, 0, 0};
    assert_memory_equal(c->counts, counts, sizeof counts);
    assert_true(fabs(c->accuracy - 400.0 / 6) < 1e-9);
    /* F1 of a is 4/5, of b 4/6; c is no label of the references */
    assert_true(fabs(c->macro_f1 - 50 * (4.0 / 5 + 4.0 / 6)) < 1e-9);
    heed_confusion_free(c);
    heed_confusion_free(NULL);
    assert_null(heed_confusion_new(NULL, 0, &err));
    assert_int_equal(err.code, HEED_BAD_TEXT);
    const heed_pair bad[] = {{"a", NULL}};
    assert_null(heed_confusion_new(bad, 1, NULL));
}

static void without_memory_there_are_no_labels(void **state)
{
    (void)state;
    const heed_pair pairs[] = {{"a", "b"}, {"b", "b"}};
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        heed_confusion *c = heed_confusion_new(pairs, 2, &err);
        hd_alloc_fail_after(-1);
        heed_confusion_free(c);
        if (c)
            return;
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_whole_lines_in_the_order_of_their_bytes),
        cmocka_unit_test(one_label_and_too_many_are_refused),
        cmocka_unit_test(labels_are_counted_as_found_and_right),
        cmocka_unit_test(without_memory_there_are_no_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
