/* test_vectors.c -- files of vectors: what is in them arrives, and what is wrong with them is said. */
#include "test.h"

#include "base/memory.h"
#include "vector/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What goes into a file; NULL leaves it out. */
struct content {
    enum hd_dtype dtype;
    int n_dims;
    size_t dims[3];
    const float *x;
    size_t n_starts;
    const int64_t *starts;
    const int32_t *rows, *columns;
    size_t n_rows;
};

static const float six[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static char path[64];

static void write_file(const struct content *c)
{
    struct hd_saver s = {0};
    heed_error err = {0};
    snprintf(path, sizeof path, "/tmp/heed-vectors-%ld.safetensors", (long)getpid());
    if (c->x)
        hd_saver_add(&s, hd_tensor_of("vectors", HD_F32, c->x, c->dims, c->n_dims), c->dtype);
    if (c->starts)
        hd_saver_add(&s, hd_tensor_of("starts", HD_I64, c->starts, &c->n_starts, 1), HD_I64);
    if (c->rows)
        hd_saver_add(&s, hd_tensor_of("rows", HD_I32, c->rows, &c->n_rows, 1), HD_I32);
    if (c->columns)
        hd_saver_add(&s, hd_tensor_of("columns", HD_I32, c->columns, &c->n_rows, 1), HD_I32);
    assert_that(hd_saver_write(&s, path, &err), "%s", err.message);
    hd_saver_release(&s);
}

static void items_arrive_as_they_were_written(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        write_file(&(struct content){.dtype = half ? HD_F16 : HD_F32,
                                     .n_dims = 2,
                                     .dims = {6, 2},
                                     .x = six,
                                     .n_starts = 4,
                                     .starts = (int64_t[]){0, 1, 5, 6},
                                     .rows = (int32_t[]){1, 2, 1},
                                     .columns = (int32_t[]){1, 2, 1},
                                     .n_rows = 3});
        struct hd_vectors v = {0};
        heed_error err = {0};
        assert_that(hd_vectors_open(&v, path, &err), "%s", err.message);
        assert_true(hd_vectors_open(&v, path, &err)); /* once more: items go on counting */
        assert_that(v.n == 6 && v.width == 2 && v.has_grids, "%d of %d", v.n, v.width);
        for (int again = 0; again < 6; again += 3) {
            float x[8];
            int rows, columns;
            assert_int_equal(hd_vectors_length(&v, again), 1);
            assert_int_equal(hd_vectors_length(&v, again + 1), 4);
            assert_true(hd_vectors_read(&v, again + 1, x, &err));
            assert_memory_equal(x, six + 2, sizeof x);
            hd_vectors_grid(&v, again + 1, &rows, &columns);
            assert_true(rows == 2 && columns == 2);
            assert_true(hd_vectors_read(&v, again + 2, x, &err) && x[0] == 11 && x[1] == 12);
        }
        float mean[2], scale[2];
        assert_true(hd_vectors_statistics(&v, mean, scale, &err));
        assert_that(mean[0] == 6 && mean[1] == 7 && fabs((double)scale[0] - sqrt(12. / 140)) < 1e-6,
                    "%g %g %g", (double)mean[0], (double)mean[1], (double)scale[0]);
        hd_vectors_close(&v);
    }
}

static void refused(const struct content *c, const char *why)
{
    struct hd_vectors v = {0};
    heed_error err = {0};
    write_file(c);
    assert_false(hd_vectors_open(&v, path, &err));
    assert_that(err.code == HEED_BAD_FILE && strstr(err.message, why), "'%s' should say '%s'",
                err.message, why);
    assert_true(v.n == 0 && v.n_files == 0);
    hd_vectors_close(&v);
}

static void what_is_wrong_with_a_file_is_said(void **state)
{
    (void)state;
    const int64_t good[] = {0, 2, 6}, falling[] = {0, 4, 2, 6}, empty[] = {0, 2, 2, 6},
                  shorter[] = {0, 5}, late[] = {1, 6}, beyond[] = {0, 7, 6};
    refused(&(struct content){.n_starts = 3, .starts = good}, "no tensor 'vectors'");
    refused(&(struct content){.dtype = HD_F32, .n_dims = 2, .dims = {6, 2}, .x = six},
            "no tensor 'starts'");
    refused(
        &(struct content){
            .dtype = HD_F32, .n_dims = 1, .dims = {12}, .x = six, .n_starts = 3, .starts = good},
        "has the shape [12]");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 3,
                              .dims = {6, 2, 1},
                              .x = six,
                              .n_starts = 3,
                              .starts = good},
            "two dimensions");
    refused(
        &(struct content){
            .dtype = HD_F32, .n_dims = 2, .dims = {6, 0}, .x = six, .n_starts = 3, .starts = good},
        "width 0");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 2,
                              .dims = {6, 2},
                              .x = six,
                              .n_starts = 4,
                              .starts = falling},
            "starts must rise");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 2,
                              .dims = {6, 2},
                              .x = six,
                              .n_starts = 3,
                              .starts = beyond},
            "starts must rise");
    refused(
        &(struct content){
            .dtype = HD_F32, .n_dims = 2, .dims = {6, 2}, .x = six, .n_starts = 4, .starts = empty},
        "item 2 (from 1) has no vectors");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 2,
                              .dims = {6, 2},
                              .x = six,
                              .n_starts = 2,
                              .starts = shorter},
            "goes from 0 to 5");
    refused(
        &(struct content){
            .dtype = HD_F32, .n_dims = 2, .dims = {6, 2}, .x = six, .n_starts = 2, .starts = late},
        "goes from 1 to 6");
    refused(
        &(struct content){
            .dtype = HD_F32, .n_dims = 2, .dims = {6, 2}, .x = six, .n_starts = 1, .starts = good},
        "starts must be I64");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 2,
                              .dims = {6, 2},
                              .x = six,
                              .n_starts = 3,
                              .starts = good,
                              .rows = (int32_t[]){1, 2},
                              .n_rows = 2},
            "both rows and columns");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 2,
                              .dims = {6, 2},
                              .x = six,
                              .n_starts = 3,
                              .starts = good,
                              .rows = (int32_t[]){1, 2},
                              .columns = (int32_t[]){2, 3},
                              .n_rows = 2},
            "item 2 (from 1) has 4 vectors, which is not 2 rows of 3");
    refused(&(struct content){.dtype = HD_F32,
                              .n_dims = 2,
                              .dims = {6, 2},
                              .x = six,
                              .n_starts = 3,
                              .starts = good,
                              .rows = (int32_t[]){1, 2, 1},
                              .columns = (int32_t[]){2, 2, 1},
                              .n_rows = 3},
            "one for each item");
}

static void a_number_that_is_none_is_found_when_it_is_read(void **state)
{
    (void)state;
    float x[12];
    memcpy(x, six, sizeof x);
    x[9] = NAN;
    write_file(&(struct content){.dtype = HD_F32,
                                 .n_dims = 2,
                                 .dims = {6, 2},
                                 .x = x,
                                 .n_starts = 3,
                                 .starts = (int64_t[]){0, 2, 6}});
    struct hd_vectors v = {0};
    heed_error err = {0};
    float mean[2], scale[2];
    assert_true(hd_vectors_open(&v, path, &err));
    assert_true(hd_vectors_read(&v, 0, x, &err));
    assert_false(hd_vectors_statistics(&v, mean, scale, &err));
    assert_non_null(strstr(err.message, "vector 3 of item 2 (from 1) has a number"));
    hd_vectors_close(&v);
}

static void files_of_other_widths_do_not_join(void **state)
{
    (void)state;
    struct hd_vectors v = {0};
    heed_error err = {0};
    write_file(&(struct content){.dtype = HD_F32,
                                 .n_dims = 2,
                                 .dims = {6, 2},
                                 .x = six,
                                 .n_starts = 3,
                                 .starts = (int64_t[]){0, 2, 6}});
    assert_true(hd_vectors_open(&v, path, &err));
    write_file(&(struct content){.dtype = HD_F32,
                                 .n_dims = 2,
                                 .dims = {4, 3},
                                 .x = six,
                                 .n_starts = 3,
                                 .starts = (int64_t[]){0, 2, 4}});
    assert_false(hd_vectors_open(&v, path, &err));
    assert_non_null(strstr(err.message, "its vectors have width 3, but those of"));
    assert_int_equal(v.n, 2);
    hd_vectors_close(&v);
    remove(path);
}

/* A .npy of this shape. */
static size_t numpy(char *out, const char *shape, size_t n)
{
    char header[128];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
             shape);
    const size_t length = 118;
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)length;
    out[9] = 0;
    memset(out + 10, ' ', length);
    memcpy(out + 10, header, strlen(header));
    out[10 + length - 1] = '\n';
    memcpy(out + 10 + length, six, n * sizeof *six);
    return 10 + length + n * sizeof *six;
}

static void arrays_of_numpy_are_items(void **state)
{
    (void)state;
    char bytes[256];
    struct hd_vectors v = {0};
    heed_error err = {0};
    float x[6];
    size_t size = numpy(bytes, "(2, 3, 2)", 12);
    assert_that(hd_vectors_open_memory(&v, "three.npy", bytes, size, &err), "%s", err.message);
    assert_true(v.n == 2 && v.width == 2 && hd_vectors_length(&v, 1) == 3);
    assert_true(hd_vectors_read(&v, 1, x, &err) && x[0] == 7 && x[5] == 12);
    char other[256];
    size = numpy(other, "(6, 2)", 12);
    assert_true(hd_vectors_open_memory(&v, "two.npy", other, size, &err));
    assert_true(v.n == 3 && hd_vectors_length(&v, 2) == 6);
    size = numpy(other, "(12,)", 12);
    assert_false(hd_vectors_open_memory(&v, "one.npy", other, size, &err));
    assert_non_null(strstr(err.message, "one.npy: array has the shape [12]"));
    hd_vectors_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_arrive_as_they_were_written),
        cmocka_unit_test(what_is_wrong_with_a_file_is_said),
        cmocka_unit_test(a_number_that_is_none_is_found_when_it_is_read),
        cmocka_unit_test(files_of_other_widths_do_not_join),
        cmocka_unit_test(arrays_of_numpy_are_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
