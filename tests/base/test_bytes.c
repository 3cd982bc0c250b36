/* test_bytes.c -- a text in memory grows, ends in a zero, and remembers that memory ran out. */
#include "test.h"

#include "base/bytes.h"
#include "base/memory.h"

static void what_is_added_stands_in_order_and_ends(void **state)
{
    (void)state;
    struct hd_bytes bytes = {0};
    for (int i = 0; i < 1000; i++) {
        hd_bytes_text(&bytes, "ab");
        hd_bytes_add(&bytes, "\0c", 2);
    }
    assert_int_equal(bytes.n, 4000);
    for (int i = 0; i < 4000; i++)
        assert_int_equal(bytes.at[i], "ab\0c"[i % 4]);
    assert_int_equal(bytes.at[4000], '\0');
    assert_false(bytes.has_failed);
    hd_free(bytes.at);
}

static void a_failure_is_remembered_and_what_was_there_stays(void **state)
{
    (void)state;
    struct hd_bytes bytes = {0};
    hd_bytes_text(&bytes, "kept");
    hd_alloc_fail_after(0);
    for (int i = 0; i < 1000 && !bytes.has_failed; i++)
        hd_bytes_text(&bytes, ".");
    hd_alloc_fail_after(-1);
    assert_true(bytes.has_failed);
    assert_memory_equal(bytes.at, "kept", 4);
    hd_bytes_text(&bytes, "more");
    assert_true(bytes.has_failed);
    hd_free(bytes.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_stands_in_order_and_ends),
        cmocka_unit_test(a_failure_is_remembered_and_what_was_there_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
