/* test_bits.c -- the loss, logits and gradients of every model are the stored ones, bit for bit,
 * with every instruction set; other compilers and CPUs are held to the same checksums. */
#include "test.h"

#include "model/checksum.h"

static uint64_t checksum_by(const struct hd_kernels *kernels, const struct model_checksum *m,
                            enum checked_precision precision, uint64_t key)
{
    uint64_t sum;
    heed_error err = {0};
    hd_kernels_choose(kernels);
    const bool is_fine = model_checksum(&sum, m, precision, key, &err);
    assert_that(is_fine, "%s by %s: %s", m->name, kernels->name, err.message);
    return sum;
}

static void every_model_has_the_stored_bits(void **state)
{
    (void)state;
    int n_others = 0;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++)
        for (int i = 0; i < N_CHECKED_PRECISIONS * N_MODEL_CHECKSUMS; i++) {
            const struct model_checksum *m = &model_checksums[i / N_CHECKED_PRECISIONS];
            const enum checked_precision p = i % N_CHECKED_PRECISIONS;
            const uint64_t sum = checksum_by(*k, m, p, 1);
            if (sum == m->sum[p])
                continue;
            print_error("%s by %s has the checksum 0x%016llx in %s\n", m->name, (*k)->name,
                        (unsigned long long)sum, checked_precisions[p]);
            n_others++;
        }
    assert_int_equal(n_others, 0);
}

/* As long as it drops anything, the key of dropout shows. */
static void another_dropout_has_other_bits(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODEL_CHECKSUMS; i++)
        assert_that(checksum_by(hd_kernels_available()[1], &model_checksums[i], CHECKED_F32, 2) !=
                        model_checksums[i].sum[CHECKED_F32],
                    "%s", model_checksums[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_has_the_stored_bits),
        cmocka_unit_test(another_dropout_has_other_bits),
    };
    return cmocka_run_group_tests_name("model/bits", tests, NULL, NULL);
}
