/* test_npz.c -- numpy's archives: those of numpy and of other toolkits are read, broken ones get a
 * sentence. */
#define _GNU_SOURCE /* memmem */
#include "format/fixture.h"
#include "format/archive.h"
#include "format/broken.h"
#include "shared.h"

#include "base/memory.h"
#include "format/npz.h"

#define DATA "tests/format/data/"

static struct hd_npz *open_or_fail(const char *path)
{
    heed_error err = {0};
    struct hd_npz *file = hd_npz_open(path, &err);
    assert_that(file, "%s", err.message);
    return file;
}

/* A reader that touches all there is. */
static bool read_all(const void *data, size_t n, heed_error *err)
{
    struct hd_npz *file = hd_npz_open_memory("x.npz", data, n, err);
    if (!file)
        return false;
    unsigned sum = 0;
    for (size_t i = 0; i < file->tensors.n; i++) {
        const struct hd_tensor *t = &file->tensors.at[i];
        for (size_t k = 0; k < t->bytes; k++)
            sum += ((const unsigned char *)t->data)[k];
        assert_ptr_equal(hd_npz_find(file, t->name), t);
    }
    assert_true(sum < UINT32_MAX);
    hd_npz_close(file);
    return true;
}

/* ---- files of others ------------------------------------------------------------------------- */

static void files_written_by_numpy_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum hd_dtype dtype;
    } wanted[] = {{"float32", HD_F32}, {"float16", HD_F16}, {"float64", HD_F64}, {"int8", HD_I8},
                  {"uint8", HD_U8},    {"int16", HD_I16},   {"uint16", HD_U16},  {"int32", HD_I32},
                  {"uint32", HD_U32},  {"int64", HD_I64},   {"uint64", HD_U64},  {"bool", HD_BOOL}};
    const char *paths[] = {DATA "stored.npz", DATA "deflated.npz"};
    for (int p = 0; p < 2; p++) {
        struct hd_npz *file = open_or_fail(paths[p]);
        assert_int_equal(file->tensors.n, 15);
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            const struct hd_tensor *t = hd_npz_find(file, wanted[i].name);
            assert_that(t && t->dtype == wanted[i].dtype &&
                            hd_tensor_has_shape(t, (size_t[]){2, 3}, 2),
                        "%s", wanted[i].name);
            assert_fixture(t);
        }
        assert_int_equal(hd_npz_find(file, "scalar")->n_dims, 0);
        assert_fixture(hd_npz_find(file, "scalar"));
        assert_true(hd_tensor_has_shape(hd_npz_find(file, "empty"), (size_t[]){1, 0}, 2));
        assert_fixture(hd_npz_find(file, "a näme.with \"quotes\""));
        assert_null(hd_npz_find(file, "float32.npy"));
        hd_npz_close(file);
    }
    struct hd_npz *file = open_or_fail(DATA "versions.npz");
    assert_int_equal(file->tensors.n, 3);
    for (int i = 0; i < 3; i++)
        assert_fixture(&file->tensors.at[i]);
    hd_npz_close(file);
    hd_npz_close(NULL);
}

static void arrays_that_are_not_read_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *path, *words;
    } bad[] = {
        {DATA "fortran.npz", "the array 'W' is in Fortran order"},
        {DATA "big_endian.npz", "the array 'W' is big-endian"},
        {DATA "text.npz", "the array 'W' has the type '<U2'"},
        {DATA "pickle.npz", "the array 'W' has the type '|O'"},
        {DATA "record.npz", "the array 'W' has a header that heed does not understand (records"},
        {DATA "python.safetensors", "no directory at the end"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        heed_error err = {0};
        assert_null(hd_npz_open(bad[i].path, &err));
        assert_error(err, HEED_BAD_MODEL, bad[i].words);
        assert_error(err, HEED_BAD_MODEL, bad[i].path);
    }
    heed_error err = {0};
    assert_null(hd_npz_open(DATA "none.npz", &err));
    assert_error(err, HEED_BAD_FILE, "there is no such file");
}

static void models_of_marian_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t n;
        const char *name;
        size_t shape[2];
    } models[] = {
        {"oracles/marian-ende-transformer/model.npz", 87, "encoder_l2_ffn_W1", {128, 512}},
        {"oracles/marian-ende-rnn/model.npz", 40, "decoder_c_tt", {1, 0}},
        {"oracles/luong-letters-to-ipa/luong_2406536.npz",
         14,
         "decoder.attn.linear_out.weight",
         {100, 200}},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct hd_npz *file = open_or_fail(shared_file(models[i].path));
        assert_int_equal(file->tensors.n, models[i].n);
        assert_true(hd_tensor_has_shape(hd_npz_find(file, models[i].name), models[i].shape, 2));
        heed_error err = {0};
        for (size_t k = 0; k < file->tensors.n; k++)
            assert_that(hd_check_finite(&file->tensors.at[k], &err), "%s", err.message);
        const struct hd_tensor *config = hd_npz_find(file, "special:model.yml");
        if (i < 2) {
            assert_true(config && config->dtype == HD_I8 && config->n_dims == 1);
            assert_non_null(memmem(config->data, config->n, "dim-emb: 128", 12));
        }
        hd_npz_close(file);
    }
}

/* ---- archives made by hand ------------------------------------------------------------------- */

static struct bytes finish(struct archive *a)
{
    finish_archive(a);
    return (struct bytes){a->bytes, a->n};
}

#define DICT "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     \n" /* 65 bytes */

static void assert_refused(struct archive *a, const char *words)
{
    heed_error err;
    const struct bytes file = finish(a);
    assert_that(!read_copy(read_all, file.at, file.n, &err), "read; wanted: %s", words);
    assert_error(err, HEED_BAD_MODEL, words);
    assert_error(err, HEED_BAD_MODEL, "x.npz: ");
}

static void every_fault_of_the_archive_has_its_sentence(void **state)
{
    (void)state;
    char npy[512];
    const size_t n = npy_of(npy, DICT, 24);
    heed_error err;
#define FRESH        \
    (struct archive) \
    {                \
        0            \
    }
    struct archive a = FRESH; /* first that it is right when nothing is wrong */
    add_stored(&a, "W.npy", npy, n);
    add_deflated(&a, "X.npy", npy, n);
    struct bytes file = finish(&a);
    assert_that(read_copy(read_all, file.at, file.n, &err), "%s", err.message);

    /* one entry of the directory is changed */
    static const struct {
        int at, n_bytes;
        size_t value;
        const char *words;
    } changes[] = {
        {0, 4, 0, "entry 0 of the archive's directory is damaged"},
        {FLAGS_AT, 2, 1, "'W.npy' is encrypted"},
        {FLAGS_AT, 2, 0x2000, "'W.npy' is encrypted"},
        {METHOD_AT, 2, 12, "'W.npy' is packed with method 12"},
        {METHOD_AT, 2, 8, "'W.npy' cannot be unpacked"},
        {CRC_AT, 4, 1, "the checksum of the member 'W.npy' is wrong"},
        {PACKED_AT, 4, 0xFFFFFFFF, "'W.npy' is of zip64 kind"},
        {SIZE_AT, 4, 0xFFFFFFFF, "'W.npy' is of zip64 kind"},
        {PLACE_AT, 4, 0xFFFFFFFF, "'W.npy' is of zip64 kind"},
        {PLACE_AT, 4, 0xFFFFFFFE, "'W.npy' (99 bytes) is not at byte 4294967294"},
        {PLACE_AT, 4, 1, "'W.npy' (99 bytes) is not at byte 1"},
        {SIZE_AT, 4, 98, "'W.npy' claims 98 bytes out of 99"},
        {SIZE_AT, 4, 0x7FFFFFFF, "'W.npy' claims 2147483647 bytes out of 99"},
        {NAME_AT, 2, 4, "'W.np' (99 bytes) is not at byte 0"},
        {NAME_AT, 2, 500, "entry 0 of the archive's directory is damaged"},
        {30, 2, 500, "entry 0 of the archive's directory is damaged"}, /* extra */
    };
    assert_int_equal(n, 99);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        a = FRESH;
        add_stored(&a, "W.npy", npy, n);
        (changes[i].n_bytes == 2 ? (put16(a.directory + changes[i].at, (unsigned)changes[i].value))
                                 : (put32(a.directory + changes[i].at, changes[i].value)));
        assert_refused(&a, changes[i].words);
    }

    a = FRESH;
    add_packed(&a, "W.npy", npy, 10, 10 * 1032 + 1, 0, 8);
    assert_refused(&a, "'W.npy' claims 10321 bytes out of 10");
    a = FRESH;
    add_deflated(&a, "W.npy", npy, n);
    put32(a.directory + SIZE_AT, n - 1);
    assert_refused(&a, "'W.npy' cannot be unpacked to 98 bytes");
    a = FRESH;
    add_deflated(&a, "W.npy", npy, n);
    put32(a.directory + SIZE_AT, n + 1);
    assert_refused(&a, "'W.npy' cannot be unpacked to 100 bytes");
    a = FRESH;
    add_deflated(&a, "W.npy", npy, n);
    a.bytes[LOCAL + 5] |= 6; /* a kind of block that there is not */
    assert_refused(&a, "'W.npy' cannot be unpacked");
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    put32(a.bytes, 0);
    assert_refused(&a, "'W.npy' (99 bytes) is not at byte 0");
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    put16(a.bytes + 28, 2); /* of extra bytes, so that it reaches into the directory */
    assert_refused(&a, "'W.npy' (99 bytes) is not at byte 0");
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    a.bytes[LOCAL] = 'V';
    assert_refused(&a, "'W.npy' (99 bytes) is not at byte 0");
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    memcpy(a.directory + a.n_directory, a.directory,
           ENTRY + 5); /* the same bytes for a second name */
    a.n_directory += ENTRY + 5;
    a.n_members++;
    assert_refused(&a, "'W.npy' and 'W.npy' share bytes");
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    add_stored(&a, "W.npy", npy, n);
    assert_refused(&a, "two members with the name 'W.npy'");
    static const char few[40000];
    a = FRESH; /* no more than deflate could make of them, and yet too much for so few bytes */
    add_packed(&a, "W.npy", few, sizeof few, 36000000, 0, 8);
    add_packed(&a, "X.npy", few, sizeof few, 36000000, 0, 8);
    assert_refused(&a, "bytes unpack to 72000000, which weights do not");
    a = FRESH;
    add_stored(&a, "W\xFF.npy", npy, n);
    assert_refused(&a, "'W?.npy' is not UTF-8");
    a = FRESH;
    add_stored(&a, "config.yml", npy, n);
    assert_refused(&a, "'config.yml' is no array");

    /* the end of the archive is changed */
    static const struct {
        int at, n_bytes;
        size_t value;
        const char *words;
    } ends[] = {
        {4, 2, 1, "one of several parts"},
        {8, 2, 2, "one of several parts"},
        {10, 2, 0xFFFF, "zip64"},
        {12, 4, 0xFFFFFFFF, "zip64"},
        {16, 4, 0xFFFFFFFF, "zip64"},
        {16, 4, 0x7FFFFFFF, "does not fit into the file"},
        {12, 4, 5000, "does not fit into the file"},
        {12, 4, 20, "does not fit into the file"},
        {20, 2, 1, "no directory at the end"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        a = FRESH;
        add_stored(&a, "W.npy", npy, n);
        file = finish(&a);
        unsigned char *end = file.at + file.n - END;
        (ends[i].n_bytes == 2 ? (put16(end + ends[i].at, (unsigned)ends[i].value))
                              : (put32(end + ends[i].at, ends[i].value)));
        assert_that(!read_copy(read_all, file.at, file.n, &err), "read; wanted: %s", ends[i].words);
        assert_error(err, HEED_BAD_MODEL, ends[i].words);
    }
}

static void archives_may_have_comments_and_extras(void **state)
{
    (void)state;
    char npy[512];
    heed_error err;
    struct archive a = FRESH;
    add_stored(&a, "W.npy", npy, npy_of(npy, DICT, 24));
    struct bytes file = finish(&a);
    memcpy(file.at + file.n, "PK\x05\x06 hello", 10);
    put16(file.at + file.n - 2, 10);
    file.n += 10;
    assert_that(read_copy(read_all, file.at, file.n, &err), "%s", err.message);
    a = FRESH;
    file = finish(&a);
    assert_that(read_copy(read_all, file.at, file.n, &err), "an archive of nothing: %s",
                err.message);
}

static void every_fault_of_an_array_has_its_sentence(void **state)
{
    (void)state;
    static const char strange[] = "'W' has a header that heed does not understand";
    static const char large[] = "'W' has a shape with more numbers than a machine can address";
    static const struct {
        const char *dict;
        size_t n_data;
        const char *words; /* NULL: read */
    } arrays[] = {
        {DICT, 24, NULL},
        {"{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", 24, NULL},
        {"{'descr': '<i1', 'fortran_order': False, 'shape': (3L,), }\n", 3, NULL},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", 1, NULL},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 0), }\n", 0, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1), }\n", 4,
         NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }\n", 4,
         strange},
        {"", 24, strange},
        {"{", 24, strange},
        {"{}", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", 24, strange},
        {"{'descr': '<f4", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, }", 24, strange},
        {"{'descr': '<f4', 'shape': (2, 3), }", 24, strange},
        {"{'fortran_order': False, 'shape': (2, 3), }", 24, strange},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24,
         strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", 24, strange},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3], }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6 6), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,), }", 24, strange},
        {"{'descr': '<f\\x34', 'fortran_order': False, 'shape': (6,), }", 24, strange},
        {"{'descr': '<f4\", 'fortran_order': False, 'shape': (6,), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }", 24,
         strange},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }", 24, strange},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24,
         "'W' is in Fortran order"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", 24, "'W' is big-endian"},
        {"{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }", 24,
         "'W' has the type '=f4'"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (2, 3), }", 24,
         "'W' has the type '|f4'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }", 48,
         "'W' has the type '<c8'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", 24, "'W' has the type ''"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0, large},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,), }", 4, large},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }", 0,
         large},
        {DICT, 23, "'W' of type F32 and shape [2, 3] has 23 bytes instead of 24"},
        {DICT, 25, "'W' of type F32 and shape [2, 3] has 25 bytes instead of 24"},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        for (int is_deflated = 0; is_deflated < 2; is_deflated++) {
            char npy[512];
            const size_t n = npy_of(npy, arrays[i].dict, arrays[i].n_data);
            struct archive a = FRESH;
            (is_deflated ? add_deflated : add_stored)(&a, "W.npy", npy, n);
            if (arrays[i].words) {
                assert_refused(&a, arrays[i].words);
                continue;
            }
            heed_error err;
            const struct bytes file = finish(&a);
            assert_that(read_copy(read_all, file.at, file.n, &err), "%s: %s", arrays[i].dict,
                        err.message);
        }

    char npy[512];
    const size_t n = npy_of(npy, DICT, 24);
    for (size_t cut = 0; cut < n; cut++) { /* the archive is right, the array in it ends early */
        struct archive a = FRESH;
        add_stored(&a, "W.npy", npy, cut);
        assert_refused(&a, cut < 8                      ? "does not begin as numpy's"
                           : cut < 10 + sizeof DICT - 1 ? "shorter than its header"
                                                        : "bytes instead of 24");
    }
    npy[6] = 4;
    struct archive a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    assert_refused(&a, "'W' is of a version that heed does not know");
    npy[6] = 2; /* the length is now 4 bytes, the first two of the dict among them */
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    assert_refused(&a, "shorter than its header");
}

/* ---- broken files ---------------------------------------------------------------------------- */

static void broken_files_come_back_as_sentences(void **state)
{
    (void)state;
    char npy[512];
    const size_t n = npy_of(npy, DICT, 24);
    struct archive a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    add_deflated(&a, "X.npy", npy, n);
    struct bytes file = finish(&a);
    every_beginning_is_refused(read_all, file);
    const size_t n_refused = every_byte_changed(read_all, file, 0, file.n, 1);
    assert_in_range(n_refused, 150 * file.n, 255 * file.n); /* times and versions do not matter */

    const char *paths[] = {DATA "deflated.npz", DATA "versions.npz"};
    for (int i = 0; i < 2; i++) {
        file = bytes_of_file(paths[i]);
        every_beginning_is_refused(read_all, file);
        every_byte_changed(read_all, file, 0, file.n, 50);
        free(file.at);
    }
}

static void hostile_files_take_no_memory(void **state)
{
    (void)state;
    char npy[512];
    const size_t n = npy_of(npy, DICT, 24);
    struct archive a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    put16(a.directory + METHOD_AT, 8);
    put32(a.directory + SIZE_AT, 0xFFFFFFFE);
    refused_within(8, read_all, finish(&a), "claims 4294967294 bytes out of 99");

    /* a dict that claims 2^32 - 1 bytes of header, and one that claims 2^60 numbers */
    a = FRESH;
    memcpy(npy + 6, "\x02\x00\xFF\xFF\xFF\xFF", 6);
    add_stored(&a, "W.npy", npy, n);
    refused_within(8, read_all, finish(&a), "shorter than its header");
    a = FRESH;
    add_stored(&a, "W.npy", npy,
               npy_of(npy,
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,), }",
                      4));
    refused_within(8, read_all, finish(&a), "instead of 4611686018427387904");

    /* 65534 members in a directory that has one */
    a = FRESH;
    add_stored(&a, "W.npy", npy, n);
    a.n_members = 65534;
    refused_within(8, read_all, finish(&a), "does not fit into the file");
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    struct bytes bytes = bytes_of_file(DATA "deflated.npz");
    long n = 0;
    for (;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = read_all(bytes.at, bytes.n, &err);
        hd_alloc_fail_after(-1);
        if (ok)
            break;
        assert_error(err, HEED_NO_MEMORY, "no memory");
        assert_in_range(n, 0, 200);
    }
    assert_in_range(n, 2 + 1 + 15 * 2, 200); /* names and arrays at least, and what zlib takes */
    free(bytes.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_written_by_numpy_are_read),
        cmocka_unit_test(arrays_that_are_not_read_get_a_sentence),
        cmocka_unit_test(models_of_marian_are_read),
        cmocka_unit_test(every_fault_of_the_archive_has_its_sentence),
        cmocka_unit_test(archives_may_have_comments_and_extras),
        cmocka_unit_test(every_fault_of_an_array_has_its_sentence),
        cmocka_unit_test(broken_files_come_back_as_sentences),
        cmocka_unit_test(hostile_files_take_no_memory),
        cmocka_unit_test(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
