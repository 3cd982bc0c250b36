/* test_batch.c -- sentences added to a builder stand one after the other, and a warm builder takes no memory. */
#include "test.h"

#include "base/memory.h"
#include "model/batch.h"

static const int one[] = {5, 6, 7}, two[] = {8, 9};

static void sentences_stand_one_after_the_other(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_batch_builder b = {0};
    const struct hd_sequence nothing = {0};
    hd_batch_begin(&b);
    assert_true(hd_batch_add(&b, (struct hd_sequence){.ids = one, .n = 3},
                             (struct hd_sequence){.ids = two, .n = 2}, -1,
                             &err)); /* its target has its end marker already */
    assert_true(hd_batch_add(&b, nothing, (struct hd_sequence){.ids = one, .n = 1}, 1, &err));
    assert_true(hd_batch_add(&b, (struct hd_sequence){.ids = two, .n = 2}, nothing, 1, &err));
    const struct hd_batch batch = hd_batch_of(&b);
    assert_int_equal(batch.n, 3);
    assert_memory_equal(batch.source_length, ((const int[]){3, 0, 2}), 3 * sizeof(int));
    assert_memory_equal(batch.target_length, ((const int[]){2, 2, 1}), 3 * sizeof(int));
    assert_memory_equal(batch.source, ((const int[]){5, 6, 7, 8, 9}), 5 * sizeof(int));
    assert_memory_equal(batch.target, ((const int[]){8, 9, 5, 1, 1}), 5 * sizeof(int));
    assert_null(batch.target_seen);
    assert_int_equal(b.n_source, 5);
    assert_int_equal(b.n_target, 5);
    hd_batch_builder_release(&b);
}

static void a_warm_builder_takes_no_memory(void **state)
{
    (void)state;
    heed_error err = {0};
    struct hd_batch_builder b = {0};
    for (int round = 0; round < 3; round++) {
        hd_batch_begin(&b);
        if (round > 0)
            hd_alloc_fail_after(0);
        for (int i = 0; i < 100; i++)
            assert_true(hd_batch_add(&b, (struct hd_sequence){.ids = one, .n = 3},
                                     (struct hd_sequence){.ids = two, .n = 2}, 1, &err));
        hd_alloc_fail_after(-1);
        assert_int_equal(hd_batch_of(&b).n, 100);
        assert_int_equal(b.n_source, 300);
        assert_int_equal(b.n_target, 300);
    }
    hd_batch_builder_release(&b);
}

static void without_memory_the_batch_stays_as_it_was(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        heed_error err = {0};
        struct hd_batch_builder b = {0};
        hd_batch_begin(&b);
        hd_alloc_fail_after(n);
        assert_false(hd_batch_add(&b, (struct hd_sequence){.ids = one, .n = 3},
                                  (struct hd_sequence){.ids = two, .n = 2}, 1, &err));
        hd_alloc_fail_after(-1);
        assert_int_equal(err.code, HEED_NO_MEMORY);
        assert_int_equal(hd_batch_of(&b).n, 0);
        assert_int_equal(b.n_source + b.n_target, 0);
        assert_true(hd_batch_add(&b, (struct hd_sequence){.ids = one, .n = 3},
                                 (struct hd_sequence){.ids = two, .n = 2}, 1, &(heed_error){0}));
        hd_batch_builder_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_stand_one_after_the_other),
        cmocka_unit_test(a_warm_builder_takes_no_memory),
        cmocka_unit_test(without_memory_the_batch_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
