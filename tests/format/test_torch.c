/* test_torch.c -- files of torch.save(): tensors are read, and what is no tensor, or is not all there, is refused with a sentence. The
 * files are those of the fuzz target; whole ones that torch wrote are in tests/model/hf. */
#include "test.h"

#include "base/memory.h"
#include "format/archive.h"
#include "format/broken.h"
#include "format/torch.h"

#define SEEDS "tests/fuzz/corpus/torch/"

static struct archive a;

/* A zip with this pickle and one storage of six floats, 0 to 5. */
static void zip_of(const char *seed, const char *pickle, const char *storage, size_t size)
{
    char path[128];
    float x[6] = {0, 1, 2, 3, 4, 5};
    snprintf(path, sizeof path, SEEDS "%s", seed);
    struct bytes file = bytes_of_file(path);
    a = FRESH;
    add_stored(&a, pickle, file.at, file.n);
    add_stored(&a, storage, x, size);
    finish_archive(&a);
    free(file.at);
}

static void assert_refused(const void *data, size_t size, const char *words)
{
    heed_error err = {0};
    struct hd_torch *file = hd_torch_open_memory("toy.bin", data, size, &err);
    assert_that(!file, "it is read, but: %s", words);
    assert_error(err, HEED_BAD_MODEL, words);
    assert_error(err, HEED_BAD_MODEL, "toy.bin: ");
}

static void assert_zip_refused(const char *seed, const char *words)
{
    zip_of(seed, "x/data.pkl", "x/data/0", 24);
    assert_refused(a.bytes, a.n, words);
}

static void a_zip_and_a_file_of_old_are_read(void **state)
{
    (void)state;
    heed_error err = {0};
    zip_of("pickle", "x/data.pkl", "x/data/0", 24);
    struct hd_torch *file = hd_torch_open_memory("toy.bin", a.bytes, a.n, &err);
    assert_that(file, "%s", err.message);
    float x[6];
    assert_int_equal(file->tensors.n, 1);
    assert_string_equal(file->tensors.at[0].name, "a");
    assert_true(hd_tensor_has_shape(&file->tensors.at[0], (const size_t[]){2, 3}, 2));
    assert_true(hd_read_f32(x, &file->tensors.at[0], 6, &err) && x[0] == 0 && x[5] == 5);
    hd_torch_close(file);
    file = hd_torch_open(SEEDS "old", &err);
    assert_that(file, "%s", err.message);
    assert_int_equal(file->tensors.n, 2);
    const struct hd_tensor *t = hd_tensors_find(&file->tensors, "a"),
                           *half = hd_tensors_find(&file->tensors, "b");
    assert_true(t && half && half->dtype == HD_F16 && hd_read_f32(x, t, 6, &err) && x[4] == 4);
    hd_torch_close(file);
    zip_of("parameter", "x/data.pkl", "x/data/0", 24);
    file = hd_torch_open_memory("toy.bin", a.bytes, a.n, &err);
    assert_that(file && file->tensors.n == 1, "%s", err.message);
    hd_torch_close(file);
}

static void code_is_named_and_not_run(void **state)
{
    (void)state;
    assert_zip_refused("code", "its pickle would run 'posix system', and heed runs nothing");
    assert_zip_refused("code4", "its pickle would run 'posix system', and heed runs nothing");
}

static void what_is_not_as_it_should_be_is_named(void **state)
{
    (void)state;
    assert_zip_refused("transposed", "the tensor 'a' is not stored rows first");
    assert_zip_refused("huge_memo", "its pickle numbers what is not there");
    assert_zip_refused("deep", "it holds no dict of tensors");
    zip_of("pickle", "x/data.pkl", "x/data/1", 24);
    assert_refused(a.bytes, a.n, "the tensor 'a' has a storage that is not in the file");
    zip_of("pickle", "x/data.pkl", "x/data/0", 20);
    assert_refused(a.bytes, a.n, "the tensor 'a' is larger than its storage");
    zip_of("pickle", "x/other.pkl", "x/data/0", 24);
    assert_refused(a.bytes, a.n, "a zip without a data.pkl");
    a = FRESH;
    add_packed(&a, "x/data.pkl", "", 0, 1 << 30, 0, 8);
    finish_archive(&a);
    assert_refused(a.bytes, a.n, "claims 1073741824 bytes");
    static const float many[10000];
    struct bytes pickle = bytes_of_file(SEEDS "pickle");
    a = FRESH;
    add_stored(&a, "x/data.pkl", pickle.at, pickle.n);
    add_deflated(&a, "x/data/0", many, sizeof many);
    finish_archive(&a);
    assert_refused(a.bytes, a.n,
                   "the member 'x/data/0' unpacks to 40000 bytes, of which its tensors need 24");
    a = FRESH;
    add_stored(&a, "x/data.pkl", pickle.at, pickle.n);
    add_stored(&a, "x/data/0", many, 24);
    add_stored(&a, "x/data/0", many, 24);
    finish_archive(&a);
    assert_refused(a.bytes, a.n, "two members with the name 'x/data/0'");
    a = FRESH; /* what no tensor needs is not unpacked, whatever it is */
    add_stored(&a, "x/data.pkl", pickle.at, pickle.n);
    add_deflated(&a, "x/data/0", many, 24);
    add_packed(&a, "x/data/1", "no", 2, 1000, 0, 8);
    finish_archive(&a);
    heed_error err = {0};
    struct hd_torch *file = hd_torch_open_memory("toy.bin", a.bytes, a.n, &err);
    assert_that(file && file->n_memory == 2, "%s", err.message);
    hd_torch_close(file);
    free(pickle.at);
}

/* Cut anywhere, or with any byte changed: tensors, or a sentence. */
static void broken_files_do_no_harm(void **state)
{
    (void)state;
    struct bytes old = bytes_of_file(SEEDS "old");
    for (size_t n = 0; n < old.n; n++) {
        heed_error err = {0};
        struct hd_torch *file = hd_torch_open_memory("toy.bin", old.at, n, &err);
        assert_that(!file && err.code == HEED_BAD_MODEL, "cut at %zu", n);
    }
    for (size_t i = 0; i < old.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            heed_error err = {0};
            old.at[i] ^= (char)(1 << bit);
            struct hd_torch *file = hd_torch_open_memory("toy.bin", old.at, old.n, &err);
            assert_true((file != NULL) == (err.code == HEED_OK));
            hd_torch_close(file);
            old.at[i] ^= (char)(1 << bit);
        }
    free(old.at);
}

static void when_memory_runs_out_there_is_a_sentence(void **state)
{
    (void)state;
    zip_of("pickle", "x/data.pkl", "x/data/0", 24);
    struct hd_torch *file = NULL;
    for (int n = 0; !file; n++) {
        heed_error err = {0};
        assert_that(n < 1000, "it never succeeds");
        hd_alloc_fail_after(n);
        file = hd_torch_open_memory("toy.bin", a.bytes, a.n, &err);
        hd_alloc_fail_after(-1);
        assert_that(file || err.code == HEED_NO_MEMORY, "allocation %d: %d \"%s\"", n,
                    (int)err.code, err.message);
    }
    hd_torch_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zip_and_a_file_of_old_are_read),
        cmocka_unit_test(code_is_named_and_not_run),
        cmocka_unit_test(what_is_not_as_it_should_be_is_named),
        cmocka_unit_test(broken_files_do_no_harm),
        cmocka_unit_test(when_memory_runs_out_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
