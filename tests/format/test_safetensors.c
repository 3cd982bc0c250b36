/* test_safetensors.c -- the file a model lives in: what is written is read again, what others write
 * is read, and what is broken gets a sentence. */
#include "folder.h"
#include "format/fixture.h"
#include "format/broken.h"
#include "shared.h"

#include "base/memory.h"
#include "format/safetensors.h"

#include <math.h>
#include <sys/stat.h>

#define DATA "tests/format/data/"

static struct hd_safetensors *open_or_fail(const char *path)
{
    heed_error err = {0};
    struct hd_safetensors *file = hd_safetensors_open(path, &err);
    assert_that(file, "%s", err.message);
    return file;
}

/* A reader that touches all there is. */
static bool read_all(const void *data, size_t n, heed_error *err)
{
    struct hd_safetensors *file = hd_safetensors_open_memory("x.safetensors", data, n, err);
    if (!file)
        return false;
    const char *from = data;
    unsigned sum = 0;
    size_t n_bytes = 0;
    for (size_t i = 0; i < file->tensors.n; i++) {
        const struct hd_tensor *t = &file->tensors.at[i];
        const unsigned char *bytes = t->data;
        for (size_t k = 0; k < t->bytes; k++)
            sum += bytes[k];
        assert_true(t->bytes == 0 || ((const char *)bytes >= from &&
                                      t->bytes <= n - (size_t)((const char *)bytes - from)));
        assert_ptr_equal(hd_safetensors_find(file, t->name), t);
        n_bytes += t->bytes;
    }
    assert_true(n_bytes <= n && sum <= 255 * n);
    for (size_t i = 0; i < file->n_metadata; i++)
        assert_non_null(hd_safetensors_metadata(file, file->metadata_keys[i]));
    hd_safetensors_close(file);
    return true;
}

/* header and n zero bytes of data, with the right length in front. */
static struct bytes file_of(const char *header, size_t n_data)
{
    const uint64_t length = strlen(header);
    struct bytes file = {calloc(1, 8 + length + n_data), 8 + length + n_data};
    memcpy(file.at, &length, 8);
    memcpy(file.at + 8, header, length);
    return file;
}

/* ---- round trips ----------------------------------------------------------------------------- */

static void every_type_comes_back(void **state)
{
    (void)state;
    char data[HD_N_DTYPES][48];
    struct hd_saver saver = {0};
    heed_error err = {0};
    const char *path = in_folder("all.safetensors");
    for (int i = 0; i < HD_N_DTYPES; i++) {
        for (int k = 0; k < 48; k++)
            data[i][k] = (char)(7 * i + k);
        const enum hd_dtype dtype = (enum hd_dtype)i;
        hd_saver_add(&saver,
                     hd_tensor_of(hd_dtype_name(dtype), dtype, data[i], (size_t[]){2, 1, 3}, 3),
                     dtype);
    }
    hd_saver_add(&saver, hd_tensor_of("scalar", HD_F32, data[0], NULL, 0), HD_F32);
    hd_saver_add(&saver, hd_tensor_of("empty", HD_F64, NULL, (size_t[]){1, 0}, 2), HD_F64);
    hd_saver_add(&saver, hd_tensor_of("", HD_U8, data[1], (size_t[]){1, 1, 1, 1, 1, 1, 1, 5}, 8),
                 HD_U8);
    hd_saver_note(&saver, "config", "{\"a\": \"\\\"\"}\n\x01 ▁猫");
    hd_saver_note(&saver, "", "");
    assert_that(hd_saver_write(&saver, path, &err), "%s", err.message);
    hd_saver_release(&saver);

    struct hd_safetensors *file = open_or_fail(path);
    assert_int_equal(file->tensors.n, HD_N_DTYPES + 3);
    for (int i = 0; i < HD_N_DTYPES; i++) {
        const enum hd_dtype dtype = (enum hd_dtype)i;
        const struct hd_tensor *t = hd_safetensors_find(file, hd_dtype_name(dtype));
        assert_that(t && t->dtype == dtype && t->n == 6 && t->bytes == 6 * hd_dtype_size(dtype),
                    "%s", hd_dtype_name(dtype));
        assert_true(hd_tensor_has_shape(t, (size_t[]){2, 1, 3}, 3));
        assert_memory_equal(t->data, data[i], t->bytes);
        assert_int_equal((uintptr_t)t->data % hd_dtype_size(dtype), 0);
    }
    assert_int_equal(hd_safetensors_find(file, "scalar")->n, 1);
    assert_int_equal(hd_safetensors_find(file, "empty")->n, 0);
    assert_int_equal(hd_safetensors_find(file, "")->dims[7], 5);
    assert_null(hd_safetensors_find(file, "f32"));
    assert_int_equal(file->n_metadata, 2);
    assert_string_equal(file->metadata_keys[0], "");
    assert_string_equal(hd_safetensors_metadata(file, "config"), "{\"a\": \"\\\"\"}\n\x01 ▁猫");
    assert_string_equal(hd_safetensors_metadata(file, ""), "");
    assert_null(hd_safetensors_metadata(file, "none"));
    hd_safetensors_close(file);
}

static void the_same_gives_the_same_bytes_in_good_order(void **state)
{
    (void)state;
    const float x[3] = {1, 2, 3};
    struct bytes first = {0};
    for (int round = 0; round < 3; round++) {
        struct hd_saver saver = {0};
        heed_error err = {0};
        const char *notes[2] = {"a", "b"};
        hd_saver_note(&saver, notes[round % 2],
                      round % 2 ? "2" : "1"); /* the order of notes is no matter */
        hd_saver_add(&saver, hd_tensor_of("bytes", HD_U8, x, (size_t[]){3}, 1), HD_U8);
        hd_saver_add(&saver, hd_tensor_of("z", HD_F32, x, (size_t[]){3}, 1), HD_F32);
        hd_saver_add(&saver, hd_tensor_of("half", HD_F32, x, (size_t[]){3}, 1), HD_F16);
        hd_saver_add(&saver, hd_tensor_of("a", HD_F32, x, (size_t[]){3}, 1), HD_F32);
        hd_saver_add(&saver, hd_tensor_of("long", HD_I64, x, (size_t[]){1}, 1), HD_I64);
        hd_saver_note(&saver, notes[1 - round % 2], round % 2 ? "1" : "2");
        assert_that(hd_saver_write(&saver, in_folder("x"), &err), "%s", err.message);
        assert_that(hd_saver_write(&saver, in_folder("x"), &err), "again: %s", err.message);
        hd_saver_release(&saver);
        struct bytes now = bytes_of_file(in_folder("x"));
        if (round == 0)
            first = now;
        else {
            assert_int_equal(now.n, first.n);
            assert_memory_equal(now.at, first.at, now.n);
            free(now.at);
        }
    }
    free(first.at);
    struct hd_safetensors *file = open_or_fail(in_folder("x"));
    const char *order[] = {"long", "z", "a", "half", "bytes"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(file->tensors.at[i].name, order[i]);
    assert_int_equal((uintptr_t)file->tensors.at[0].data % 64, 0);
    assert_non_null(hd_tensor_floats(hd_safetensors_find(file, "a")));
    hd_safetensors_close(file);
}

static void an_empty_file_is_one(void **state)
{
    (void)state;
    struct hd_saver saver = {0};
    heed_error err = {0};
    assert_that(hd_saver_write(&saver, in_folder("x"), &err), "%s", err.message);
    struct hd_safetensors *file = open_or_fail(in_folder("x"));
    assert_int_equal(file->tensors.n, 0);
    assert_int_equal(file->map.size, 64);
    assert_null(hd_safetensors_metadata(file, "x"));
    hd_safetensors_close(file);
    hd_safetensors_close(NULL);
    hd_saver_release(&saver);
}

static void floats_are_stored_in_half_the_bytes(void **state)
{
    (void)state;
    enum { N = 5000 };
    static float x[N], back[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)(i - 2000) * 0.0137F;
    x[17] = INFINITY; /* not ours to judge */
    x[18] = NAN;
    for (int pass = 0; pass < 2; pass++) {
        const enum hd_dtype store = pass ? HD_BF16 : HD_F16;
        struct hd_saver saver = {0};
        heed_error err = {0};
        hd_saver_add(&saver, hd_tensor_of("W", HD_F32, x, (size_t[]){N / 100, 100}, 2), store);
        assert_that(hd_saver_write(&saver, in_folder("x"), &err), "%s", err.message);
        hd_saver_release(&saver);
        struct hd_safetensors *file = open_or_fail(in_folder("x"));
        const struct hd_tensor *t = &file->tensors.at[0];
        assert_true(t->dtype == store && t->bytes == 2 * N);
        assert_true(hd_read_f32(back, t, N, &err));
        for (int i = 0; i < N; i++) {
            const float wanted =
                pass ? hd_f32_of_bf16(hd_bf16_of_f32(x[i])) : hd_f32_of_f16(hd_f16_of_f32(x[i]));
            assert_that(back[i] == wanted || i == 18, "%d: %g", i, (double)back[i]);
        }
        assert_true(isnan(back[18]));
        assert_false(hd_check_finite(t, &err));
        assert_error(err, HEED_BAD_MODEL, "number 17 of the tensor 'W' is infinite");
        hd_safetensors_close(file);
    }
}

static void what_half_cannot_hold_is_refused(void **state)
{
    (void)state;
    static float x[3000];
    x[2500] = -65520;
    struct hd_saver saver = {0};
    heed_error err = {0};
    hd_saver_add(&saver, hd_tensor_of("good", HD_F32, x, (size_t[]){2500}, 1), HD_F16);
    hd_saver_add(&saver, hd_tensor_of("W", HD_F32, x, (size_t[]){3000}, 1), HD_F16);
    assert_false(hd_saver_write(&saver, in_folder("x"), &err));
    assert_error(err, HEED_BAD_OPTION,
                 "number 2500 of the tensor 'W' is -65520, too large to be stored as F16");
    assert_that(access(in_folder("x"), F_OK) != 0, "there is a file");
    hd_saver_release(&saver);

    x[2500] = 3.4e38F;
    err = (heed_error){0};
    hd_saver_add(&saver, hd_tensor_of("W", HD_F32, x, (size_t[]){3000}, 1), HD_BF16);
    assert_false(hd_saver_write(&saver, in_folder("x"), &err));
    assert_error(err, HEED_BAD_OPTION, "too large to be stored as BF16; store the model as F32");
    hd_saver_release(&saver);
}

static void what_cannot_be_written_gets_a_sentence(void **state)
{
    (void)state;
    const float x[2] = {1, 2};
    const struct hd_tensor t = hd_tensor_of("W", HD_F32, x, (size_t[]){2}, 1);
    struct hd_tensor bad_name = t, metadata = t, whole = t;
    bad_name.name = "a\xFF";
    metadata.name = HD_METADATA;
    whole.dtype = HD_I32;
    const struct {
        struct hd_tensor tensor;
        enum hd_dtype store;
        const char *key, *value, *words;
        enum heed_code code;
    } bad[] = {
        {t, HD_F32, "k", "v", "two tensors with the name 'W'", HEED_BAD_OPTION},
        {bad_name, HD_F32, "k", "v", "the tensor 'a?' is not UTF-8 at byte 1", HEED_BAD_TEXT},
        {metadata, HD_F32, "k", "v", "cannot be called __metadata__", HEED_BAD_OPTION},
        {whole, HD_F16, "k", "v", "'W' of type I32 cannot be stored as F16", HEED_BAD_OPTION},
        {whole, HD_F32, "k", "v", "'W' of type I32 cannot be stored as F32", HEED_BAD_OPTION},
        {{0}, 0, "there", "v", "two notes with the key 'there'", HEED_BAD_OPTION},
        {{0}, 0, "\xC3", "v", "the key '?' is not UTF-8 at byte 0", HEED_BAD_TEXT},
        {{0}, 0, "k", "v\xC3", "the text 'v?' is not UTF-8 at byte 1", HEED_BAD_TEXT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hd_saver saver = {0};
        heed_error err = {0};
        hd_saver_add(&saver, t, HD_F32);
        hd_saver_note(&saver, "there", "");
        if (bad[i].tensor.name)
            hd_saver_add(&saver, bad[i].tensor, bad[i].store);
        hd_saver_note(&saver, bad[i].key, bad[i].value);
        hd_saver_add(&saver, metadata, HD_I8); /* the first failure is the one that is told */
        assert_false(hd_saver_write(&saver, in_folder("x"), &err));
        assert_error(err, bad[i].code, bad[i].words);
        hd_saver_release(&saver);
    }
    struct hd_saver saver = {0};
    heed_error err = {0};
    assert_false(hd_saver_write(&saver, in_folder("none/x"), &err));
    assert_error(err, HEED_BAD_FILE, "folder");

    char *long_text = malloc(HD_LARGEST_HEADER);
    memset(long_text, 'x', HD_LARGEST_HEADER - 1);
    long_text[HD_LARGEST_HEADER - 1] = '\0';
    hd_saver_note(&saver, "k", long_text);
    err = (heed_error){0};
    assert_false(hd_saver_write(&saver, in_folder("x"), &err));
    assert_error(err, HEED_BAD_OPTION, "make the notes shorter");
    free(long_text);
    hd_saver_release(&saver);
}

/* ---- files of others ------------------------------------------------------------------------- */

static void files_written_by_python_are_read(void **state)
{
    (void)state;
    struct hd_safetensors *file = open_or_fail(DATA "python.safetensors");
    static const struct {
        const char *name;
        enum hd_dtype dtype;
    } wanted[] = {{"float32", HD_F32}, {"float16", HD_F16}, {"float64", HD_F64}, {"int8", HD_I8},
                  {"uint8", HD_U8},    {"int16", HD_I16},   {"uint16", HD_U16},  {"int32", HD_I32},
                  {"uint32", HD_U32},  {"int64", HD_I64},   {"uint64", HD_U64},  {"bool", HD_BOOL}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct hd_tensor *t = hd_safetensors_find(file, wanted[i].name);
        assert_that(t && t->dtype == wanted[i].dtype && hd_tensor_has_shape(t, (size_t[]){2, 3}, 2),
                    "%s", wanted[i].name);
        assert_fixture(t);
    }
    assert_int_equal(file->tensors.n, 15);
    assert_int_equal(hd_safetensors_find(file, "scalar")->n_dims, 0);
    assert_true(hd_tensor_has_shape(hd_safetensors_find(file, "empty"), (size_t[]){1, 0}, 2));
    assert_fixture(hd_safetensors_find(file, "a näme.with \"quotes\""));
    assert_string_equal(hd_safetensors_metadata(file, "note"), "grüße\n\"x\"");
    hd_safetensors_close(file);

    file = open_or_fail(DATA "python_bf16.safetensors");
    assert_true(file->tensors.n == 1 && file->tensors.at[0].dtype == HD_BF16);
    assert_fixture(&file->tensors.at[0]);
    hd_safetensors_close(file);
    file = open_or_fail(DATA "python_empty.safetensors");
    assert_int_equal(file->tensors.n, 0);
    hd_safetensors_close(file);
}

static void a_model_of_hugging_face_is_read(void **state)
{
    (void)state;
    struct hd_safetensors *file =
        open_or_fail(shared_file("oracles/hf-marian-random/model.safetensors"));
    assert_int_equal(file->tensors.n, 86);
    const struct hd_tensor *t = hd_safetensors_find(file, "model.shared.weight");
    assert_true(t && t->n_dims == 2 && t->dims[1] == 2);
    float *x = malloc(t->n * sizeof *x);
    heed_error err = {0};
    for (size_t i = 0; i < file->tensors.n; i++)
        assert_that(hd_check_finite(&file->tensors.at[i], &err), "%s", err.message);
    assert_true(hd_read_f32(x, t, t->n, NULL));
    free(x);
    hd_safetensors_close(file);
}

/* ---- broken files ---------------------------------------------------------------------------- */

#define W4 "\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"

static void every_fault_has_its_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t n_data;
        const char *words;
    } bad[] = {
        {"", 0, "does not begin with '{'"},
        {"[]", 0, "does not begin with '{'"},
        {" {}", 0, "does not begin with '{'"},
        {"{", 0, "not JSON at byte"},
        {"{} x", 0, "not JSON at byte"},
        {"{\"W\":1e999}", 0, "not JSON at byte"},
        {"{" W4 "," W4 "}", 4, "a name twice, the second time before byte"},
        {"{\"\xFF\":{}}", 0, "not UTF-8 at byte"},
        {"{\"a\\u0000b\":{}}", 0, "not JSON"},
        {"{\"W\":{\"a\":[[1]]}}", 0, "nested deeper"},
        {"{\"W\":[],\"X\":[],\"Y\":[],\"Z\":[],\"a\":[],\"b\":[],\"c\":[],\"d\":[],\"e\":[],\"f\":["
         "],"
         "\"g\":[],\"h\":[],\"i\":[],\"j\":[],\"k\":[],\"l\":[],\"m\":[],\"n\":[]}",
         0, "brackets in"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is not a list of texts"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "'k' in __metadata__ is not text"},
        {"{\"__metadata__\":{\"k\":null}}", 0, "'k' in __metadata__ is not text"},
        {"{\"W\":1}", 0, "'W' is not described by an object"},
        {"{\"W\":{}}", 0, "'W' has no \"dtype\""},
        {"{\"W\":{\"dtype\":3,\"shape\":[],\"data_offsets\":[0,4]}}", 4, "'W' has no \"dtype\""},
        {"{\"W\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "'W' has no \"shape\""},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4,
         "'W' has no \"shape\""},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "'W' has no \"data_offsets\""},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":0}}", 4,
         "'W' has more fields"},
        {"{\"W\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
         "'W' has the type 'F8_E4M3'"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         "'W' has 9 dimensions"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
         "'W' has a dimension that is no number"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
         "'W' has a dimension that is no number"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807],\"data_offsets\":[0,4]}}", 4,
         "'W' has a shape with more numbers"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
         "'W' has a shape with more numbers"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]}}", 4,
         "'W' has a shape with more numbers"}, /* × 4 is 4 again */
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[0,4294967296,4294967296],\"data_offsets\":[0,0]}}",
         0, "'W' has a shape with more numbers"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4,
         "'W' has \"data_offsets\" that are not two"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4,
         "'W' has \"data_offsets\" that are not two"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,\"4\"]}}", 4,
         "'W' has \"data_offsets\" that are not two"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
         "'W' ends before it begins"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4,
         "'W' ends before it begins"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,9223372036854775807]}}", 4,
         "'W' should end at byte 9223372036854775807 of the data, but only 4 are there"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[9223372036854775804,"
         "9223372036854775807]}}",
         4, "'W' should end at byte"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,9223372036854775808]}}", 4,
         "not JSON"},
        {"{" W4 "}", 3, "'W' should end at byte 4 of the data, but only 3 are there"},
        {"{\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,20]}}", 20,
         "'W' of type F32 and shape [2, 3] has 20 bytes instead of 24"},
        {"{" W4 ",\"X\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "'W' and 'X' share bytes"},
        {"{" W4 ",\"X\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}", 6,
         "'W' and 'X' share bytes"},
        {"{" W4 ",\"X\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[6,10]}}", 10,
         "2 bytes before the tensor 'X' belong to no tensor"},
        {"{" W4 "}", 5, "1 bytes at the end belong to no tensor"},
        {"{\"\x1B[2J\":1}", 0, "not JSON"}, /* a bare control character */
        {"{\"\\u001b[2J\":1}", 0, "'?[2J' is not described"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bytes file = file_of(bad[i].header, bad[i].n_data);
        heed_error err;
        assert_that(!read_copy(read_all, file.at, file.n, &err), "%s", bad[i].header);
        assert_error(err, HEED_BAD_MODEL, bad[i].words);
        assert_error(err, HEED_BAD_MODEL, "x.safetensors: ");
        free(file.at);
    }
    heed_error err = {0};
    assert_null(hd_safetensors_open(in_folder("none"), &err));
    assert_error(err, HEED_BAD_FILE, "there is no such file");
}

static void odd_but_right_files_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t n_data;
    } good[] = {
        {"{}", 0},
        {"{}   ", 0},
        {"{\"__metadata__\":{}}", 0},
        {"{\"__metadata__\":{\"[[[[[{{{{{\":\"}}}}\\\"[[[[\\\\\"}}", 0},
        {"{ \"\" : { \"data_offsets\" : [ 0 , 1 ] , \"dtype\" : \"U8\" , \"shape\" : [ ] } }", 1},
        {"{\"Z\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},"
         "\"A\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[3,3]},"
         "\"B\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]},"
         "\"Y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
         3},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct bytes file = file_of(good[i].header, good[i].n_data);
        heed_error err;
        assert_that(read_copy(read_all, file.at, file.n, &err), "%s: %s", good[i].header,
                    err.message);
        free(file.at);
    }
}

static void broken_files_come_back_as_sentences(void **state)
{
    (void)state;
    struct bytes file = bytes_of_file(DATA "python.safetensors");
    uint64_t length;
    memcpy(&length, file.at, 8);
    every_beginning_is_refused(read_all, file);
    const size_t n_refused = every_byte_changed(read_all, file, 0, 8 + length, 7);
    assert_in_range(n_refused, 28 * length, 37 * (8 + length));
    free(file.at);

    file = bytes_of_file(DATA "python_bf16.safetensors");
    every_beginning_is_refused(read_all, file);
    every_byte_changed(read_all, file, 0, file.n, 1);
    free(file.at);
}

static void hostile_files_take_no_memory(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1,          55,         (1ULL << 24) + 1, 1ULL << 32,
                                       1ULL << 40, 1ULL << 63, UINT64_MAX - 8,   UINT64_MAX};
    struct bytes file = file_of("{" W4 "}", 4);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memcpy(file.at, &lengths[i], 8);
        refused_within(8, read_all, file, "x.safetensors: ");
    }
    free(file.at);

    /* a megabyte of each thing there can be too much of */
    enum { MANY = 1 << 20 };
    static const struct {
        const char *head, *repeated, *words;
    } much[] = {
        {"{\"W\":", "[", "nested deeper"},  {"{\"W\":", "{\"W\":", "nested deeper"},
        {"{\"W\":[", "{},", "brackets in"}, {"{\"W\":[", "[],", "brackets in"},
        {"{\"W\":[", "1,", "not JSON"},     {"{\"W\":", "9", "not JSON"},
        {"{\"W\":\"", "x", "not JSON"},     {"{", " ", "not JSON"},
    };
    for (size_t i = 0; i < sizeof much / sizeof much[0]; i++) {
        char *header = malloc(MANY + 1);
        size_t n = strlen(much[i].head);
        const size_t step = strlen(much[i].repeated);
        memcpy(header, much[i].head, n);
        for (; n + step <= MANY; n += step)
            memcpy(header + n, much[i].repeated, step);
        header[n] = '\0';
        file = file_of(header, 0);
        refused_within(48, read_all, file, much[i].words);
        free(header);
        free(file.at);
    }
    file = (struct bytes){calloc(1, (1 << 24) + 100), (1 << 24) + 100};
    memcpy(file.at, &(uint64_t){(1 << 24) + 1}, 8);
    refused_within(8, read_all, file, "more than the 16777216 that any model needs");
    free(file.at);
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    struct bytes bytes = bytes_of_file(DATA "python.safetensors");
    int n_failed = 0;
    for (long n = 0;; n++, n_failed++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = read_all(bytes.at, bytes.n, &err);
        hd_alloc_fail_after(-1);
        if (ok)
            break;
        assert_error(err, HEED_NO_MEMORY, "no memory");
    }
    free(bytes.at);
    assert_int_equal(n_failed, 5); /* the file, its path, keys, tensors, the list by name */

    const float x[2] = {1, 2};
    for (long n = 0;; n++) {
        struct hd_saver saver = {0};
        heed_error err = {0};
        hd_alloc_fail_after(n);
        for (int i = 0; i < 20; i++) {
            const char name[2] = {(char)('a' + i), '\0'};
            hd_saver_add(&saver, hd_tensor_of(name, HD_F32, x, (size_t[]){2}, 1), HD_F16);
            hd_saver_note(&saver, name, name);
        }
        const bool ok = hd_saver_write(&saver, in_folder("x"), &err);
        hd_alloc_fail_after(-1);
        hd_saver_release(&saver);
        if (ok)
            break;
        assert_error(err, HEED_NO_MEMORY, "no memory");
        assert_that(access(in_folder("x"), F_OK) != 0, "there is a file");
        assert_in_range(n, 0, 200);
    }
    assert_that(access(in_folder("x"), F_OK) == 0, "there is no file");
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, fresh_folder, remove_folder)

static void checksums_find_every_changed_byte(void **state)
{
    (void)state;
    const float x[3] = {1, 2, 3};
    struct hd_saver saver = {.has_checksums = true};
    hd_saver_add(&saver, hd_tensor_of("half", HD_F32, x, (size_t[]){3}, 1), HD_F16);
    hd_saver_add(&saver, hd_tensor_of("empty", HD_F32, NULL, (size_t[]){0}, 1), HD_F32);
    hd_saver_add(&saver, hd_tensor_of("bytes", HD_U8, x, (size_t[]){11}, 1), HD_U8);
    hd_saver_add(&saver, hd_tensor_of("whole", HD_F32, x, (size_t[]){3}, 1), HD_F32);
    for (int has_note = 0; has_note < 2; has_note++) {
        heed_error err = {0};
        if (has_note)
            hd_saver_note(&saver, "a", "note");
        assert_that(hd_saver_write(&saver, in_folder("x"), &err), "%s", err.message);
        struct bytes file = bytes_of_file(in_folder("x"));
        size_t n_accepted = 0;
        for (size_t at = 0; at <= file.n; at++) {
            if (at < file.n)
                file.at[at] ^= 1;
            err = (heed_error){0};
            struct hd_safetensors *f = hd_safetensors_open_memory("x", file.at, file.n, &err);
            const bool has_sums = f && hd_safetensors_metadata(f, HD_CHECKSUMS);
            const bool ok = f && hd_safetensors_check(f, &err);
            assert_that(ok == (at == file.n || (f && !has_sums)), "byte %zu: %s", at, err.message);
            n_accepted += ok;
            if (f && at == file.n - 1)
                assert_string_equal(err.message,
                                    "x: the tensor 'bytes' is damaged: its checksum is "
                                    "not that of what was written");
            hd_safetensors_close(f);
            if (at < file.n)
                file.at[at] ^= 1;
        }
        assert_that(n_accepted <= 1 + strlen(HD_CHECKSUMS HD_METADATA), "%zu changes are not found",
                    n_accepted); /* of the keys themselves */
        free(file.at);
    }
    hd_saver_release(&saver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_folder(every_type_comes_back),
        with_folder(the_same_gives_the_same_bytes_in_good_order),
        with_folder(an_empty_file_is_one),
        with_folder(floats_are_stored_in_half_the_bytes),
        with_folder(what_half_cannot_hold_is_refused),
        with_folder(what_cannot_be_written_gets_a_sentence),
        with_folder(checksums_find_every_changed_byte),
        cmocka_unit_test(files_written_by_python_are_read),
        cmocka_unit_test(a_model_of_hugging_face_is_read),
        with_folder(every_fault_has_its_sentence),
        cmocka_unit_test(odd_but_right_files_are_read),
        cmocka_unit_test(broken_files_come_back_as_sentences),
        cmocka_unit_test(hostile_files_take_no_memory),
        with_folder(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
