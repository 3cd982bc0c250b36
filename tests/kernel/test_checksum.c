/* test_checksum.c -- every kernel of every instruction set has the stored checksum, the one that other CPUs have too. */
#include "kernel/checksum.h"
#include "test.h"

static void every_kernel_takes_part(void **state)
{
    (void)state;
    struct checksums sums;
    assert_true(kernel_checksums(&sums, hd_kernels_chosen(NULL)));
    for (int i = 0; i < N_CHECKED; i++)
        assert_that(sums.of[i] != 0, "%s was never run", checked_names[i]);
}

static void every_instruction_set_has_the_stored_checksum(void **state)
{
    (void)state;
    struct checksums ref, sums;
    assert_true(kernel_checksums(&ref, &hd_kernels_ref));
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        assert_true(kernel_checksums(&sums, *k));
        for (int i = 0; i < N_CHECKED; i++)
            assert_that(sums.of[i] == ref.of[i], "%s %s differs from the reference", (*k)->name,
                        checked_names[i]);
        assert_that(checksum_of_all(&sums) == KERNEL_CHECKSUM, "%s has the checksum 0x%016llx",
                    (*k)->name, (unsigned long long)checksum_of_all(&sums));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_takes_part),
        cmocka_unit_test(every_instruction_set_has_the_stored_checksum),
    };
    return cmocka_run_group_tests_name("kernel/checksum", tests, NULL, NULL);
}
