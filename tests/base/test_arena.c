/* test_arena.c -- arenas: pieces that do not touch, one chunk in the steady state, marks, and no
 * memory. */
#include "test.h"

#include "base/arena.h"
#include "base/memory.h"

#ifdef HD_ARENA_GUARDED
#include <sanitizer/asan_interface.h>
#endif

/* Sizes that make a fresh arena grow several times, odd ones among them. */
static size_t odd_size(int i)
{
    return (size_t)i * 977 % 30011 + 1;
}

static void take_many(struct hd_arena *arena, int n)
{
    for (int i = 0; i < n; i++) {
        unsigned char *piece = hd_take(arena, odd_size(i));
        assert_non_null(piece);
        memset(piece, i & 0xFF, odd_size(i));
    }
}

static void pieces_are_aligned_and_do_not_touch(void **state)
{
    (void)state;
    enum { N = 400 };
    struct hd_arena arena = {0};
    unsigned char *pieces[N];
    for (int i = 0; i < N; i++) {
        pieces[i] = hd_take(&arena, odd_size(i));
        assert_that(pieces[i] && (uintptr_t)pieces[i] % 64 == 0, "piece %d at %p", i,
                    (void *)pieces[i]);
        memset(pieces[i], i & 0xFF, odd_size(i));
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < odd_size(i); k++)
            assert_that(pieces[i][k] == (i & 0xFF), "piece %d, byte %zu of %zu", i, k, odd_size(i));
    hd_arena_release(&arena);
}

static void an_empty_arena_can_be_reset_rewound_and_released(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    hd_arena_rewind(&arena, hd_arena_mark(&arena));
    hd_arena_reset(&arena);
    assert_int_equal(hd_arena_used(&arena), 0);
    assert_int_equal(hd_arena_high_water(&arena), 0);
    hd_arena_release(&arena);
    hd_arena_release(&arena);
}

static void nothing_at_all_is_a_piece_too(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    char *a = hd_take(&arena, 0), *b = hd_take(&arena, 0), *c = hd_take(&arena, 1);
    assert_true(a && b && c && a != b && b != c);
    hd_arena_release(&arena);
}

static void a_chunk_can_be_filled_to_its_last_byte(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    assert_non_null(hd_take(&arena, 64));
    for (int round = 0; round < 3; round++) {
        const size_t left = arena.left;
#ifdef HD_ARENA_GUARDED
        char *rest = hd_take(&arena, left - 64);
#else
        char *rest = hd_take(&arena, left - 5); /* rounded up to all of it */
#endif
        assert_non_null(rest);
        memset(rest, 1, left - 64);
        assert_int_equal(arena.left, 0);
        assert_non_null(hd_take(&arena, 1));
    }
    hd_arena_release(&arena);
}

static void sizes_nobody_has_are_refused(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    for (int is_warm = 0; is_warm <= 1; is_warm++) {
        for (size_t less = 0; less < 200; less++) {
            assert_null(hd_take(&arena, SIZE_MAX - less));
            assert_null(hd_take(&arena, PTRDIFF_MAX - less));
            assert_null(hd_take(&arena, (size_t)PTRDIFF_MAX + less));
        }
        assert_non_null(hd_take(&arena, 100));
    }
    hd_arena_release(&arena);
}

/* The armed failure is still there afterwards: nothing was allocated in between. */
static void once_warm_nothing_is_allocated(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    take_many(&arena, 200); /* grows */
    const size_t used = hd_arena_used(&arena);
    hd_arena_reset(&arena);
    take_many(&arena, 200); /* one chunk from here on */
    assert_int_equal(hd_arena_used(&arena), used);
    hd_alloc_fail_after(0);
    for (int batch = 0; batch < 5; batch++) {
        hd_arena_reset(&arena);
        assert_int_equal(hd_arena_used(&arena), 0);
        take_many(&arena, 200);
    }
    assert_null(hd_alloc_raw(1));
    assert_int_equal(hd_arena_high_water(&arena), used);
    hd_arena_release(&arena);
}

static void the_high_water_mark_is_the_most_at_a_time(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    take_many(&arena, 50);
    const size_t most = hd_arena_used(&arena);
    assert_int_equal(hd_arena_high_water(&arena), most);
    hd_arena_reset(&arena);
    take_many(&arena, 10);
    assert_true(hd_arena_used(&arena) < most);
    assert_int_equal(hd_arena_high_water(&arena), most);
    const struct hd_arena_mark mark = hd_arena_mark(&arena);
    take_many(&arena, 60);
    const size_t more = hd_arena_used(&arena);
    assert_true(more > most);
    hd_arena_rewind(&arena, mark);
    assert_int_equal(hd_arena_high_water(&arena), more);
    hd_arena_release(&arena);
    assert_int_equal(hd_arena_high_water(&arena), 0);
}

static void rewinding_forgets_what_came_after_the_mark_and_nothing_else(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    const struct hd_arena_mark start = hd_arena_mark(&arena);
    unsigned char *kept = hd_take(&arena, 1000);
    memset(kept, 0x5A, 1000);
    const struct hd_arena_mark outer = hd_arena_mark(&arena);
    take_many(&arena, 20);
    const struct hd_arena_mark inner = hd_arena_mark(&arena);
    const size_t used_inner = hd_arena_used(&arena);
    take_many(&arena, 200); /* several chunks more */
    hd_arena_rewind(&arena, inner);
    assert_int_equal(hd_arena_used(&arena), used_inner);
    take_many(&arena, 200);
    hd_arena_rewind(&arena, outer);
    unsigned char *again = hd_take(&arena, 10);
    hd_arena_rewind(&arena, outer);
    assert_ptr_equal(hd_take(&arena, 10), again);
    for (int i = 0; i < 1000; i++)
        assert_that(kept[i] == 0x5A, "byte %d", i);
    hd_arena_rewind(&arena, start);
    assert_int_equal(hd_arena_used(&arena), 0);
    assert_ptr_equal(hd_take(&arena, 1000), kept);
    hd_arena_release(&arena);
}

static void rewinding_keeps_the_chunks_for_the_next_round(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    assert_non_null(hd_take(&arena, 8));
    const struct hd_arena_mark mark = hd_arena_mark(&arena);
    take_many(&arena, 100);
    hd_alloc_fail_after(0);
    for (int round = 0; round < 5; round++) {
        hd_arena_rewind(&arena, mark);
        take_many(&arena, 100);
    }
    assert_null(hd_alloc_raw(1)); /* still armed */
    hd_arena_release(&arena);
}

static void without_memory_there_is_no_piece_and_no_harm(void **state)
{
    (void)state;
    const size_t large = 10 * 1000 * 1000;
    struct hd_arena arena = {0};
    hd_alloc_fail_after(0);
    assert_null(hd_take(&arena, large));
    unsigned char *kept = hd_take(&arena, 100);
    assert_non_null(kept);
    memset(kept, 7, 100);
    hd_alloc_fail_after(0);
    assert_null(hd_take(&arena, large)); /* nothing smaller to try */
    hd_alloc_fail_after(0);
    assert_non_null(
        hd_take(&arena, arena.left + 64)); /* half as much again fails, just enough does not */
    assert_non_null(hd_take(&arena, large));
    for (int i = 0; i < 100; i++)
        assert_int_equal(kept[i], 7);
    hd_arena_reset(&arena);
    hd_alloc_fail_after(0);
    assert_non_null(
        hd_take(&arena, large)); /* the one large chunk fails, a piece is had nevertheless */
    hd_arena_release(&arena);
}

#ifdef HD_ARENA_GUARDED
static void whatever_is_not_taken_is_poisoned(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    char *a = hd_take(&arena, 10), *b = hd_take(&arena, 64);
    assert_false(__asan_address_is_poisoned(a) || __asan_address_is_poisoned(a + 9));
    assert_true(__asan_address_is_poisoned(a + 10) && __asan_address_is_poisoned(b - 1));
    assert_false(__asan_address_is_poisoned(b) || __asan_address_is_poisoned(b + 63));
    assert_true(__asan_address_is_poisoned(b + 64));
    hd_arena_reset(&arena);
    assert_true(__asan_address_is_poisoned(a) && __asan_address_is_poisoned(b));
    hd_arena_release(&arena);
}
#endif

#ifdef HEED_DEBUG
static void what_is_not_in_use_is_full_of_nan(void **state)
{
    (void)state;
    struct hd_arena arena = {0};
    float *x = hd_take(&arena, 100 * sizeof *x);
    for (int i = 0; i < 100; i++) {
        assert_true(x[i] != x[i]);
        x[i] = 1;
    }
    hd_arena_reset(&arena);
    float *y = hd_take(&arena, 100 * sizeof *y);
    assert_ptr_equal(x, y);
    for (int i = 0; i < 100; i++)
        assert_true(y[i] != y[i]);
    hd_arena_release(&arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_touch),
        cmocka_unit_test(an_empty_arena_can_be_reset_rewound_and_released),
        cmocka_unit_test(nothing_at_all_is_a_piece_too),
        cmocka_unit_test(a_chunk_can_be_filled_to_its_last_byte),
        cmocka_unit_test(sizes_nobody_has_are_refused),
        cmocka_unit_test(once_warm_nothing_is_allocated),
        cmocka_unit_test(the_high_water_mark_is_the_most_at_a_time),
        cmocka_unit_test(rewinding_forgets_what_came_after_the_mark_and_nothing_else),
        cmocka_unit_test(rewinding_keeps_the_chunks_for_the_next_round),
        cmocka_unit_test(without_memory_there_is_no_piece_and_no_harm),
#ifdef HD_ARENA_GUARDED
        cmocka_unit_test(whatever_is_not_taken_is_poisoned),
#endif
#ifdef HEED_DEBUG
        cmocka_unit_test(what_is_not_in_use_is_full_of_nan),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
