/* test_link_lists.c -- links as text: what is read is what was written, and what is no link is told with its line. */
#include "test.h"

#include "align/link_lists.h"
#include "base/memory.h"

static bool read_line(struct hd_link_lists *lists, const char *line, heed_error *err)
{
    return hd_link_lists_read_line(lists, line, strlen(line), "links", 3, err);
}

static void links_are_read(void **state)
{
    (void)state;
    struct hd_link_lists lists = {0}, joined = {0};
    heed_error err = {0};
    size_t n;
    assert_true(read_line(&lists, "0-0 1-2\t2-1 \r", &err));
    assert_true(read_line(&lists, "", &err));
    assert_true(read_line(&lists, " 65535-7", &err));
    assert_int_equal(lists.n, 3);
    const struct hd_word_link *first = hd_link_list(&lists, 0, &n);
    assert_int_equal(n, 3);
    assert_int_equal(first[1].source, 1);
    assert_int_equal(first[1].target, 2);
    hd_link_list(&lists, 1, &n);
    assert_int_equal(n, 0);
    assert_true(hd_link_lists_join(&joined, &lists, &err) &&
                hd_link_lists_join(&joined, &lists, &err));
    assert_int_equal(joined.n, 6);
    const struct hd_word_link *last = hd_link_list(&joined, 5, &n);
    assert_int_equal(n, 1);
    assert_int_equal(last->source, 65535);
    hd_link_lists_release(&lists);
    hd_link_lists_release(&joined);
}

static void what_is_no_link_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "0-0 1+1", "1",      "-1",  "1-",      "1-x",
        "a-b",     "1-2-3",  "1p2", "65536-0", "0-99999999999999999999",
        "1 -2",    "0-0,1-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hd_link_lists lists = {0};
        heed_error err = {0};
        assert_that(!read_line(&lists, bad[i], &err), "'%s' was read", bad[i]);
        assert_error(err, HEED_BAD_TEXT, "links:3: '");
        hd_link_lists_release(&lists);
    }
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    struct hd_link_lists lists = {0};
    heed_error err = {0};
    assert_false(hd_link_lists_read(&lists, "/nowhere/links", &err));
    assert_error(err, HEED_BAD_FILE, "/nowhere/links");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long i = 0;; i++) {
        struct hd_link_lists lists = {0};
        heed_error err = {0};
        hd_alloc_fail_after(i);
        const bool ok = read_line(&lists, "0-0 1-1 2-2", &err);
        hd_alloc_fail_after(-1);
        hd_link_lists_release(&lists);
        if (ok)
            break;
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_read),
        cmocka_unit_test(what_is_no_link_is_told),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
