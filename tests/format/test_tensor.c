/* test_tensor.c -- types, shapes, and numbers on their way to floats and back. */
#include "test.h"

#include "base/memory.h"
#include "format/tensor.h"

#include <math.h>

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- half precision -------------------------------------------------------------------------- */

/* What the 16 bits mean, by the definition: sign, exponent, fraction. */
static double meaning(int half, int n_fraction, int bias)
{
    const int fraction = half & ((1 << n_fraction) - 1);
    const int exponent = (half & 0x7FFF) >> n_fraction;
    const double scale = ldexp(1, -n_fraction);
    const double size = exponent == 0 ? ldexp(fraction * scale, 1 - bias)
                                      : ldexp(1 + fraction * scale, exponent - bias);
    return half & 0x8000 ? -size : size;
}

static void every_half_is_widened_exactly(void **state)
{
    (void)state;
    for (int h = 0; h < 0x10000; h++) {
        const float f16 = hd_f32_of_f16((uint16_t)h), bf16 = hd_f32_of_bf16((uint16_t)h);
        if ((h & 0x7C00) == 0x7C00)
            assert_that(h & 0x3FF ? isnan(f16) : isinf(f16), "F16 %04x is %g", h, (double)f16);
        else
            assert_that((double)f16 == meaning(h, 10, 15), "F16 %04x is %g", h, (double)f16);
        assert_that(!signbit(f16) == !(h & 0x8000), "F16 %04x has the wrong sign", h);
        assert_that(bits_of(bf16) == (uint32_t)h << 16, "BF16 %04x is %g", h, (double)bf16);
        if ((h & 0x7F80) != 0x7F80)
            assert_that((double)bf16 == meaning(h, 7, 127), "BF16 %04x is %g", h, (double)bf16);
    }
}

static void every_half_comes_back(void **state)
{
    (void)state;
    for (int h = 0; h < 0x10000; h++) {
        const uint16_t f16 = hd_f16_of_f32(hd_f32_of_f16((uint16_t)h));
        const uint16_t bf16 = hd_bf16_of_f32(hd_f32_of_bf16((uint16_t)h));
        const bool is_nan = (h & 0x7C00) == 0x7C00 && (h & 0x3FF);
        const bool is_brain_nan = (h & 0x7F80) == 0x7F80 && (h & 0x7F);
        assert_that(f16 == (is_nan ? h | 0x200 : h), "F16 %04x came back as %04x", h, f16);
        assert_that(bf16 == (is_brain_nan ? h | 0x40 : h), "BF16 %04x came back as %04x", h, bf16);
    }
}

/* Between two neighbours the middle goes to the even one, and what is nearer to one goes there. */
static void narrowing_goes_to_the_nearest(void **state)
{
    (void)state;
    for (int sign = 0; sign < 0x10000; sign += 0x8000)
        for (int h = 0; h < 0x7C00; h++) {
            const float low = hd_f32_of_f16((uint16_t)(h | sign));
            const float high =
                h == 0x7BFF ? copysignf(65536, low) : hd_f32_of_f16((uint16_t)(h + 1) | sign);
            const float middle = (low + high) / 2; /* exact */
            assert_int_equal(hd_f16_of_f32(middle), (h + (h & 1)) | sign);
            assert_int_equal(hd_f16_of_f32(nextafterf(middle, low)), h | sign);
            assert_int_equal(hd_f16_of_f32(nextafterf(middle, high)), (h + 1) | sign);
        }
    for (uint32_t h = 0; h < 0x7F80; h++) {
        float middle, below, above;
        memcpy(&middle, &(uint32_t){h << 16 | 0x8000}, 4);
        memcpy(&below, &(uint32_t){h << 16 | 0x7FFF}, 4);
        memcpy(&above, &(uint32_t){h << 16 | 0x8001}, 4);
        assert_int_equal(hd_bf16_of_f32(middle), h + (h & 1));
        assert_int_equal(hd_bf16_of_f32(below), h);
        assert_int_equal(hd_bf16_of_f32(-above), (h + 1) | 0x8000);
    }
}

static void what_is_too_large_or_small_or_no_number(void **state)
{
    (void)state;
    assert_int_equal(hd_f16_of_f32(65504), 0x7BFF);
    assert_int_equal(hd_f16_of_f32(65519.996F), 0x7BFF);
    assert_int_equal(hd_f16_of_f32(65520), 0x7C00);
    assert_int_equal(hd_f16_of_f32(-3e38F), 0xFC00);
    assert_int_equal(hd_f16_of_f32(-INFINITY), 0xFC00);
    assert_int_equal(hd_f16_of_f32(1e-30F), 0);
    assert_int_equal(hd_f16_of_f32(-1e-45F), 0x8000);
    assert_int_equal(hd_bf16_of_f32(3.4e38F), 0x7F80);
    for (uint32_t fraction = 1; fraction < 1U << 23; fraction = 2 * fraction + 1) {
        float nan;
        memcpy(&nan, &(uint32_t){0xFF800000U | fraction}, 4);
        assert_true(isnan(hd_f32_of_f16(hd_f16_of_f32(nan))));
        assert_true(isnan(hd_f32_of_bf16(hd_bf16_of_f32(nan))));
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static void floats_are_read_from_any_place(void **state)
{
    (void)state;
    const double wide[] = {0, -1.5, 1e300, 1 + 0x1p-24, 1 + 3 * 0x1p-24, 1e-300};
    const float wanted[] = {0, -1.5F, INFINITY, 1, 1 + 0x1p-22F, 0};
    char bytes[8 * 6 + 1];
    for (int shift = 0; shift < 2; shift++) { /* aligned, and not */
        float out[6];
        heed_error err = {0};
        memcpy(bytes + shift, wide, sizeof wide);
        struct hd_tensor t = hd_tensor_of("x", HD_F64, bytes + shift, (size_t[]){2, 3}, 2);
        assert_that(hd_read_f32(out, &t, 6, &err), "%s", err.message);
        assert_memory_equal(out, wanted, sizeof out);
        assert_null(hd_tensor_floats(&t));

        memcpy(bytes + shift, wanted, sizeof wanted);
        t = hd_tensor_of("x", HD_F32, bytes + shift, (size_t[]){6}, 1);
        assert_that(hd_read_f32(out, &t, 6, &err), "%s", err.message);
        assert_memory_equal(out, wanted, sizeof out);

        for (int i = 0; i < 6; i++)
            memcpy(bytes + shift + 2 * i, &(uint16_t){hd_f16_of_f32(wanted[i])}, 2);
        t = hd_tensor_of("x", HD_F16, bytes + shift, (size_t[]){6}, 1);
        assert_true(hd_read_f32(out, &t, 6, &err));
        assert_true(out[1] == -1.5F && isinf(out[2]) && out[4] == 1);

        for (int i = 0; i < 6; i++)
            memcpy(bytes + shift + 2 * i, &(uint16_t){hd_bf16_of_f32(wanted[i])}, 2);
        t = hd_tensor_of("x", HD_BF16, bytes + shift, (size_t[]){6}, 1);
        assert_true(hd_read_f32(out, &t, 6, &err));
        assert_true(out[1] == -1.5F && isinf(out[2]) && out[4] == 1);
    }
}

static void aligned_floats_need_no_reading(void **state)
{
    (void)state;
    const float x[3] = {1, 2, 3};
    struct hd_tensor t = hd_tensor_of("x", HD_F32, x, (size_t[]){2}, 1);
    assert_ptr_equal(hd_tensor_floats(&t), x);
    t.data = (const char *)x + 2;
    assert_null(hd_tensor_floats(&t));
    t = hd_tensor_of("x", HD_I32, x, (size_t[]){2}, 1);
    assert_null(hd_tensor_floats(&t));
}

static void what_is_not_asked_for_is_not_read(void **state)
{
    (void)state;
    float out[4];
    const int32_t x[4] = {0};
    heed_error err = {0};
    struct hd_tensor t = hd_tensor_of("W", HD_I32, x, (size_t[]){2, 2}, 2);
    t.file = "m.safetensors";
    assert_false(hd_read_f32(out, &t, 4, &err));
    assert_error(err, HEED_BAD_MODEL, "m.safetensors: the tensor 'W' has numbers of type I32");
    t.dtype = HD_F32;
    err = (heed_error){0};
    assert_false(hd_read_f32(out, &t, 5, &err));
    assert_error(err, HEED_BAD_MODEL, "'W' has the shape [2, 2], 4 numbers, where 5 are needed");
}

static void the_first_bad_number_is_named(void **state)
{
    (void)state;
    enum { N = 2500 };
    static float x[N];
    size_t bad = 77;
    assert_true(hd_all_finite(x, N, &bad));
    assert_int_equal(bad, 77);
    for (size_t i = 0; i < N; i += 611) {
        heed_error err = {0};
        struct hd_tensor t = hd_tensor_of("W", HD_F32, x, (size_t[]){N}, 1);
        assert_true(hd_check_finite(&t, &err));
        x[i] = i % 2 ? NAN : -INFINITY;
        assert_false(hd_all_finite(x, N, &bad));
        assert_int_equal(bad, i);
        assert_false(hd_check_finite(&t, &err));
        char words[64];
        snprintf(words, sizeof words, "number %zu of the tensor 'W' is %s", i,
                 i % 2 ? "not a number" : "infinite");
        assert_error(err, HEED_BAD_MODEL, words);
        x[i] = 0;
    }
    heed_error err = {0};
    const struct hd_tensor wide = hd_tensor_of("W", HD_F64, &(double){1e39}, NULL, 0);
    assert_false(hd_check_finite(&wide, &err));
    const struct hd_tensor whole = hd_tensor_of("W", HD_I64, &(int64_t){-1}, NULL, 0);
    assert_true(hd_check_finite(&whole, NULL));
}

/* ---- types, shapes, lists -------------------------------------------------------------------- */

static void types_have_names_and_sizes(void **state)
{
    (void)state;
    size_t all = 0;
    for (int i = 0; i < HD_N_DTYPES; i++) {
        enum hd_dtype found;
        assert_true(hd_dtype_by_name(&found, hd_dtype_name((enum hd_dtype)i)));
        assert_int_equal(found, i);
        all += hd_dtype_size((enum hd_dtype)i);
    }
    assert_int_equal(all, 3 * 8 + 3 * 4 + 4 * 2 + 3);
    enum hd_dtype unchanged = HD_I8;
    assert_false(hd_dtype_by_name(&unchanged, "F8_E4M3"));
    assert_false(hd_dtype_by_name(&unchanged, "f32"));
    assert_int_equal(unchanged, HD_I8);
}

static void shapes_are_counted_without_overflow(void **state)
{
    (void)state;
    size_t n = 7;
    assert_true(hd_count_elements(&n, NULL, 0) && n == 1);
    assert_true(hd_count_elements(&n, (size_t[]){2, 3, 4}, 3) && n == 24);
    assert_true(hd_count_elements(&n, (size_t[]){5, 0}, 2) && n == 0);
    const size_t huge = (size_t)1 << 40;
    n = 7;
    assert_false(hd_count_elements(&n, (size_t[]){huge, huge}, 2));
    assert_false(hd_count_elements(&n, (size_t[]){0, huge, huge}, 3));
    assert_false(hd_count_elements(&n, (size_t[]){SIZE_MAX}, 1));
    assert_int_equal(n, 7);

    char text[HD_SHAPE_TEXT];
    struct hd_tensor t = {.n_dims = 0};
    assert_string_equal(hd_shape_text(text, &t), "[]");
    t = (struct hd_tensor){.n_dims = 2, .dims = {128, 512}};
    assert_string_equal(hd_shape_text(text, &t), "[128, 512]");
    assert_true(hd_tensor_has_shape(&t, (size_t[]){128, 512}, 2));
    assert_false(hd_tensor_has_shape(&t, (size_t[]){128, 511}, 2));
    assert_false(hd_tensor_has_shape(&t, (size_t[]){128}, 1));
    t = (struct hd_tensor){.n_dims = HD_TENSOR_DIMS};
    for (int i = 0; i < HD_TENSOR_DIMS; i++)
        t.dims[i] = SIZE_MAX;
    assert_in_range(strlen(hd_shape_text(text, &t)), 1, HD_SHAPE_TEXT - 1);
}

static void tensors_are_found_by_name(void **state)
{
    (void)state;
    const char *names[] = {"d", "a", "", "cc", "c", "b"};
    for (size_t n = 0; n <= 6; n++) {
        struct hd_tensors all = {.n = n};
        heed_error err = {0};
        all.at = hd_alloc(n, sizeof *all.at, NULL);
        for (size_t i = 0; i < n; i++)
            all.at[i].name = names[i];
        assert_true(hd_tensors_index(&all, &err));
        for (size_t i = 0; i < 6; i++)
            assert_ptr_equal(hd_tensors_find(&all, names[i]), i < n ? &all.at[i] : NULL);
        assert_null(hd_tensors_find(&all, "e"));
        hd_tensors_release(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_is_widened_exactly),
        cmocka_unit_test(every_half_comes_back),
        cmocka_unit_test(narrowing_goes_to_the_nearest),
        cmocka_unit_test(what_is_too_large_or_small_or_no_number),
        cmocka_unit_test(floats_are_read_from_any_place),
        cmocka_unit_test(aligned_floats_need_no_reading),
        cmocka_unit_test(what_is_not_asked_for_is_not_read),
        cmocka_unit_test(the_first_bad_number_is_named),
        cmocka_unit_test(types_have_names_and_sizes),
        cmocka_unit_test(shapes_are_counted_without_overflow),
        cmocka_unit_test(tensors_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
