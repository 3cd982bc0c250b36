/* test_memory.c -- the heap: zeroed, aligned, counted without overflow, and failing when told
 * to. */
#include "test.h"

#include "base/memory.h"

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 300; n++) {
        heed_error err = {0};
        unsigned char *memory = hd_alloc(n, 1, &err);
        assert_non_null(memory);
        assert_that((uintptr_t)memory % 64 == 0, "%zu bytes at %p", n, (void *)memory);
        for (size_t i = 0; i < n; i++)
            assert_that(memory[i] == 0, "byte %zu of %zu is %d", i, n, memory[i]);
        memset(memory, 0xA5, n); /* so that the next one would find it */
        hd_free(memory);
    }
}

static void large_blocks_are_zeroed_and_aligned_too(void **state)
{
    (void)state;
    static const size_t sizes[] = {(4 << 20) - 64, 4 << 20, (5 << 20) + 3, 6 << 20};
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k / 2];
        heed_error err = {0};
        unsigned char *memory = hd_alloc(n, 1, &err);
        assert_non_null(memory);
        assert_that((uintptr_t)memory % 64 == 0, "%zu bytes at %p", n, (void *)memory);
        size_t at = 0;
        while (at < n && memory[at] == 0)
            at++;
        assert_that(at == n, "byte %zu of %zu is %d", at, n, memory[at]);
        memset(memory, 0xA5, n);
        hd_free(memory);
    }
}

static void nothing_at_all_can_be_asked_for_and_freed(void **state)
{
    (void)state;
    heed_error err = {0};
    void *a = hd_alloc(0, 8, &err), *b = hd_alloc(8, 0, &err), *c = hd_alloc(0, SIZE_MAX, &err);
    assert_true(a && b && c && a != b);
    assert_int_equal(err.code, HEED_OK);
    hd_free(a);
    hd_free(b);
    hd_free(c);
    hd_free(NULL);
}

static void sizes_that_overflow_are_an_error(void **state)
{
    (void)state;
    const size_t sizes[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX / 2, 3}, {(size_t)1 << 32, (size_t)1 << 32}};
    for (int i = 0; i < 3; i++) {
        heed_error err = {0};
        assert_null(hd_alloc(sizes[i][0], sizes[i][1], &err));
        assert_error(err, HEED_NO_MEMORY, "more than a machine can address");
    }
    for (size_t less = 0; less < 200; less++) { /* nothing overflows until the size is rounded up */
        heed_error err = {0};
        assert_null(hd_alloc(SIZE_MAX - less, 1, &err));
        assert_error(err, HEED_NO_MEMORY, "no memory");
        assert_null(hd_alloc_raw(PTRDIFF_MAX - less));
    }
}

static void an_allocation_fails_when_it_is_told_to(void **state)
{
    (void)state;
    for (long n = 0; n < 4; n++) {
        hd_alloc_fail_after(n);
        for (long i = 0; i < 6; i++) {
            heed_error err = {0};
            void *memory = hd_alloc(10, 10, &err);
            assert_that((memory == NULL) == (i == n), "allocation %ld, told to fail after %ld", i,
                        n);
            if (!memory)
                assert_error(err, HEED_NO_MEMORY, "100 more bytes");
            hd_free(memory);
        }
    }
    hd_alloc_fail_after(0);
    hd_alloc_fail_after(-1);
    char *text = hd_copy_string("still here", NULL);
    assert_string_equal(text, "still here");
    hd_free(text);
    hd_alloc_fail_after(0);
    assert_null(hd_copy_string("gone", NULL));
}

static void an_array_grows_and_keeps_what_is_there(void **state)
{
    (void)state;
    int *array = NULL, n_moves = 0;
    size_t capacity = 0;
    for (size_t n = 0; n < 1000; n++) {
        int *grown = hd_grow(array, &capacity, n + 1, sizeof *grown, NULL);
        assert_non_null(grown);
        assert_true(capacity > n);
        n_moves += grown != array;
        array = grown;
        assert_that(array[n] == 0, "element %zu is %d", n, array[n]);
        array[n] = (int)n + 1;
    }
    for (int i = 0; i < 1000; i++)
        assert_that(array[i] == i + 1, "element %d is %d", i, array[i]);
    assert_true(n_moves < 12);

    const size_t before = capacity;
    heed_error err = {0};
    hd_alloc_fail_after(0);
    assert_null(hd_grow(array, &capacity, capacity + 1, sizeof *array, &err));
    assert_error(err, HEED_NO_MEMORY, "no memory");
    assert_null(hd_grow(array, &capacity, SIZE_MAX, sizeof *array, NULL));
    assert_true(capacity == before && array[999] == 1000);
    hd_free(array);
}

static void a_new_thing_has_its_type(void **state)
{
    (void)state;
    struct thing {
        double x;
        int n;
    } *thing = hd_new(struct thing, NULL);
    assert_true(thing && thing->x == 0 && thing->n == 0);
    hd_free(thing);
}

static void sizes_are_added_and_multiplied_only_if_they_fit(void **state)
{
    (void)state;
    size_t out = 7;
    assert_false(hd_mul_size(&out, SIZE_MAX, 2));
    assert_false(hd_add_size(&out, SIZE_MAX, 1));
    assert_int_equal(out, 7);
    assert_true(hd_mul_size(&out, SIZE_MAX / 2, 2) && out == SIZE_MAX - 1);
    assert_true(hd_add_size(&out, out, 1) && out == SIZE_MAX);
    assert_true(hd_mul_size(&out, SIZE_MAX, 0) && out == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(large_blocks_are_zeroed_and_aligned_too),
        cmocka_unit_test(nothing_at_all_can_be_asked_for_and_freed),
        cmocka_unit_test(sizes_that_overflow_are_an_error),
        cmocka_unit_test(an_allocation_fails_when_it_is_told_to),
        cmocka_unit_test(an_array_grows_and_keeps_what_is_there),
        cmocka_unit_test(a_new_thing_has_its_type),
        cmocka_unit_test(sizes_are_added_and_multiplied_only_if_they_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
