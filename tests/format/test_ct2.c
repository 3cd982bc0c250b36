/* test_ct2.c -- model.bin of CTranslate2: variables of every type are read, scaled where they are to be, and found by their other names; what
 * is broken is refused with a sentence. The files are those of the fuzz target; real ones are test_converted.c's. */
#include "test.h"

#include "base/memory.h"
#include "format/broken.h"
#include "format/ctranslate2.h"

#define SEEDS "tests/fuzz/corpus/ct2/"

static void assert_numbers(const struct hd_ct2 *file, const char *name, const float *wanted, size_t n)
{
    float x[8];
    const struct hd_tensor *t = hd_tensors_find(&file->tensors, name);
    assert_that(t && t->n == n && hd_read_f32(x, t, n, NULL), "%s", name);
    for (size_t i = 0; i < n; i++)
        assert_that(x[i] == wanted[i], "%s[%zu] is %g, not %g", name, i, (double)x[i],
                    (double)wanted[i]);
}

static void variables_and_aliases_are_read(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_ct2 *file = hd_ct2_open(SEEDS "new", &err);
    assert_that(file, "%s", err.message);
    assert_string_equal(file->kind, "TransformerSpec");
    assert_int_equal(file->tensors.n, 6); /* four variables and two aliases, scales are gone */
    assert_numbers(file, "x/weight", (const float[]){0, 1, 2, 3, 4, 5}, 6);
    assert_numbers(file, "y/weight", (const float[]){0.5F, 1, -0.25F, 1}, 4); /* by row */
    assert_numbers(file, "c/weight", (const float[]){-1.5F, 4}, 2);           /* 16 bits, one scale */
    assert_true(hd_tensors_find(&file->tensors, "a/weight")->data ==
                hd_tensors_find(&file->tensors, "x/weight")->data);
    hd_ct2_close(file);
    file = hd_ct2_open(SEEDS "old", &err);
    assert_that(file, "%s", err.message);
    assert_numbers(file, "a/weight", (const float[]){1, 2, 3, 4}, 4);
    hd_ct2_close(file);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *seed, *words;
    } cases[] = {{"huge", "more variables than bytes"},
                 {"zero_scale", "a scale is not above 0"},
                 {"lost_alias", "a name stands for a variable that is not there"},
                 {"twice", "two tensors with the name 'b'"},
                 {"cut", "it ends too early"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        char path[128];
        snprintf(path, sizeof path, SEEDS "%s", cases[i].seed);
        struct hd_ct2 *file = hd_ct2_open(path, &err);
        assert_that(!file, "%s", cases[i].seed);
        assert_error(err, HEED_BAD_MODEL, cases[i].words);
    }
    struct bytes good = bytes_of_file(SEEDS "new");
    for (size_t n = 0; n < good.n; n++) {
        heed_error err = {0};
        assert_null(hd_ct2_open_memory("toy", good.at, n, &err));
        assert_int_equal(err.code, HEED_BAD_MODEL);
    }
    for (size_t i = 0; i < 8 * good.n; i++) {
        heed_error err = {0};
        good.at[i / 8] ^= (unsigned char)(1 << i % 8);
        struct hd_ct2 *file = hd_ct2_open_memory("toy", good.at, good.n, &err);
        assert_true((file != NULL) == (err.code == HEED_OK));
        hd_ct2_close(file);
        good.at[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    free(good.at);
}

static void when_memory_runs_out_there_is_a_sentence(void **state)
{
    (void)state;
    struct hd_ct2 *file = NULL;
    for (int n = 0; !file; n++) {
        heed_error err = {0};
        assert_that(n < 1000, "it never succeeds");
        hd_alloc_fail_after(n);
        file = hd_ct2_open(SEEDS "new", &err);
        hd_alloc_fail_after(-1);
        assert_that(file || err.code == HEED_NO_MEMORY, "allocation %d: %d \"%s\"", n,
                    (int)err.code, err.message);
    }
    hd_ct2_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_and_aliases_are_read),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(when_memory_runs_out_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
