/* test_marian_bin.c -- model.bin of Marian: arrays of every type are read, packed ones as floats; what is broken is refused with a sentence.
 * The files are those of the fuzz target; models that Marian wrote are tests/search/test_marian_kinds.c's. */
#include "test.h"

#include "base/memory.h"
#include "format/broken.h"
#include "format/marian_bin.h"

#define SEEDS "tests/fuzz/corpus/marian_bin/"

static void assert_numbers(const struct hd_marian_bin *file, const char *name, const float *wanted,
                           size_t n)
{
    float x[8];
    const struct hd_tensor *t = hd_tensors_find(&file->tensors, name);
    assert_that(t && t->n == n && hd_read_f32(x, t, n, NULL), "%s", name);
    for (size_t i = 0; i < n; i++)
        assert_that(x[i] == wanted[i], "%s[%zu] is %g, not %g", name, i, (double)x[i],
                    (double)wanted[i]);
}

static void arrays_are_read(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_marian_bin *file = hd_marian_bin_open(SEEDS "good", &err);
    assert_that(file, "%s", err.message);
    assert_int_equal(file->tensors.n, 5);
    assert_numbers(file, "W", (const float[]){0, 1, 2, 3, 4, 5}, 6);
    assert_numbers(file, "half", (const float[]){1, -2}, 2);
    /* [2,3] of 1 -2 | 3 -4 | 5 127, over 4 */
    assert_numbers(file, "q8", (const float[]){0.25F, 0.75F, 1.25F, -0.5F, -1, 31.75F}, 6);
    assert_numbers(file, "q16", (const float[]){1, -0.5F}, 2);
    const struct hd_tensor *yml = hd_tensors_find(&file->tensors, "special:model.yml");
    assert_true(yml && yml->dtype == HD_I8 && yml->bytes == 4 && memcmp(yml->data, "a: 1", 4) == 0);
    hd_marian_bin_close(file);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *seed, *words;
    } cases[] = {
        {"fork", "its tensor 'q8' is packed in the way of the Marian that browsers have"},
        {"packed", "its tensor 'q8' is packed for one kind of CPU (type 0x11001)"},
        {"unknown", "an array has the type 0x7, which heed does not know"},
        {"encrypted", "it is encrypted"},
        {"version", "it is of a version that heed does not know"},
        {"huge", "it has more arrays than bytes"},
        {"twice", "two tensors with the name 'W'"},
        {"negative", "an array has a size below 0"},
        {"overflow", "an array has another size than its shape"},
        {"short", "an array has another size than its shape"},
        {"short_packed", "a packed array has another size than its shape"},
        {"zero_multiplier", "a packed array's multiplier is not above 0"},
        {"no_text", "a name in it is no text"},
        {"dims", "more than eight dimensions"},
        {"cut", "it ends too early"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        char path[128];
        snprintf(path, sizeof path, SEEDS "%s", cases[i].seed);
        struct hd_marian_bin *file = hd_marian_bin_open(path, &err);
        assert_that(!file, "%s", cases[i].seed);
        assert_error(err, HEED_BAD_MODEL, cases[i].words);
    }
}

static bool read_file(const void *data, size_t n, heed_error *err)
{
    struct hd_marian_bin *file = hd_marian_bin_open_memory("toy", data, n, err);
    volatile unsigned sum = 0;
    for (size_t i = 0; file && i < file->tensors.n; i++)
        for (size_t k = 0; k < file->tensors.at[i].bytes; k++)
            sum += ((const unsigned char *)file->tensors.at[i].data)[k];
    (void)sum;
    hd_marian_bin_close(file);
    return file != NULL;
}

static void a_file_that_is_cut_or_has_another_bit_is_read_or_refused(void **state)
{
    (void)state;
    struct bytes good = bytes_of_file(SEEDS "good");
    every_beginning_is_refused(read_file, good);
    for (size_t i = 0; i < 8 * good.n; i++) {
        heed_error err;
        good.at[i / 8] ^= (unsigned char)(1 << i % 8);
        (void)read_copy(read_file, good.at, good.n, &err);
        good.at[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    free(good.at);
}

static void its_first_bytes_say_what_it_is(void **state)
{
    (void)state;
    struct bytes good = bytes_of_file(SEEDS "good"),
                 other = bytes_of_file("tests/fuzz/corpus/ct2/new");
    assert_true(hd_is_marian_bin(good.at, good.n));
    assert_false(hd_is_marian_bin(good.at, 15));
    assert_false(hd_is_marian_bin(other.at, other.n));
    free(good.at);
    free(other.at);
}

static void when_memory_runs_out_there_is_a_sentence(void **state)
{
    (void)state;
    struct hd_marian_bin *file = NULL;
    for (int n = 0; !file; n++) {
        heed_error err = {0};
        assert_that(n < 1000, "it never succeeds");
        hd_alloc_fail_after(n);
        file = hd_marian_bin_open(SEEDS "good", &err);
        hd_alloc_fail_after(-1);
        assert_that(file || err.code == HEED_NO_MEMORY, "allocation %d: %d \"%s\"", n,
                    (int)err.code, err.message);
    }
    hd_marian_bin_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(a_file_that_is_cut_or_has_another_bit_is_read_or_refused),
        cmocka_unit_test(its_first_bytes_say_what_it_is),
        cmocka_unit_test(when_memory_runs_out_there_is_a_sentence),
    };
    return cmocka_run_group_tests_name("format/marian_bin", tests, NULL, NULL);
}
