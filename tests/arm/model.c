/* model.c -- every model on the other CPU: the same bits as everywhere.
 *
 * A plain program, since the test library is not there for that CPU; the checksums are those of
 * tests/model/test_bits.c. Status 0 is a pass. */
#include "model/checksum.h"
#include <stdio.h>

int main(void)
{
    bool is_fine = true;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++)
        for (int i = 0; i < N_CHECKED_PRECISIONS * N_MODEL_CHECKSUMS; i++) {
            const struct model_checksum *m = &model_checksums[i / N_CHECKED_PRECISIONS];
            const enum checked_precision p = i % N_CHECKED_PRECISIONS;
            const uint64_t wanted = m->sum[p];
            uint64_t sum = 0;
            heed_error err = {0};
            hd_kernels_choose(*k);
            if (model_checksum(&sum, m, p, 1, &err) && sum == wanted)
                continue;
            printf("%s by %s has the checksum 0x%016llx instead of 0x%016llx in %s %s\n", m->name,
                   (*k)->name, (unsigned long long)sum, (unsigned long long)wanted,
                   checked_precisions[p], err.message);
            is_fine = false;
        }
    if (is_fine)
        printf("%d models have the same bits\n", N_MODEL_CHECKSUMS);
    return is_fine ? 0 : 1;
}
