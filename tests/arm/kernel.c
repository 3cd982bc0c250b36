/* kernel.c -- every kernel on the other CPU: the same bits as everywhere.
 *
 * A plain program, since the test library is not there for that CPU; the checksum is that of
 * tests/kernel/test_checksum.c. Status 0 is a pass. */
#include "kernel/checksum.h"
#include <stdio.h>

int main(void)
{
    static struct checksums ref, sums;
    if (!kernel_checksums(&ref, &hd_kernels_ref)) {
        puts("there is no memory for the test");
        return 1;
    }
    bool is_fine = true;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        if (!kernel_checksums(&sums, *k))
            return 1;
        for (int i = 0; i < N_CHECKED; i++)
            if (sums.of[i] != ref.of[i]) {
                printf("%s %s differs from the reference\n", (*k)->name, checked_names[i]);
                is_fine = false;
            }
        const uint64_t all = checksum_of_all(&sums);
        if (all != KERNEL_CHECKSUM) {
            printf("kernels %s have the checksum 0x%016llx instead of 0x%016llx\n", (*k)->name,
                   (unsigned long long)all, (unsigned long long)KERNEL_CHECKSUM);
            is_fine = false;
        } else {
            printf("kernels %s have the same bits\n", (*k)->name);
        }
    }
    return is_fine ? 0 : 1;
}
