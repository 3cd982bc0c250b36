/* test_checksum.c -- a small training run has the stored checksum with every instruction set, the
 * one that other CPUs have too. */
#include "test.h"

#include "graph/checksum.h"

static uint64_t checksum_by(const struct hd_kernels *kernels, uint64_t key)
{
    uint64_t sum;
    heed_error err = {0};
    hd_kernels_choose(kernels);
    const bool is_fine = graph_checksum(&sum, key, &err);
    assert_that(is_fine, "%s: %s", kernels->name, err.message);
    return sum;
}

static void every_instruction_set_trains_to_the_stored_checksum(void **state)
{
    (void)state;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        const uint64_t sum = checksum_by(*k, 1);
        assert_that(sum == GRAPH_CHECKSUM, "%s has the checksum 0x%016llx", (*k)->name,
                    (unsigned long long)sum);
    }
}

static void another_dropout_has_another_checksum(void **state)
{
    (void)state;
    assert_true(checksum_by(hd_kernels_available()[1], 2) != GRAPH_CHECKSUM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_trains_to_the_stored_checksum),
        cmocka_unit_test(another_dropout_has_another_checksum),
    };
    return cmocka_run_group_tests_name("graph/checksum", tests, NULL, NULL);
}
