/* graph.c -- a small training run on the other CPU: the same bits as everywhere.
 *
 * A plain program, since the test library is not there for that CPU; the checksum is that of
 * tests/graph/test_checksum.c. Status 0 is a pass. */
#include "graph/checksum.h"
#include <stdio.h>

int main(void)
{
    bool is_fine = true;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        uint64_t sum;
        heed_error err = {0};
        hd_kernels_choose(*k);
        if (!graph_checksum(&sum, 1, &err)) {
            printf("training by %s failed: %s\n", (*k)->name, err.message);
            is_fine = false;
        } else if (sum != GRAPH_CHECKSUM) {
            printf("training by %s has the checksum 0x%016llx instead of 0x%016llx\n", (*k)->name,
                   (unsigned long long)sum, (unsigned long long)GRAPH_CHECKSUM);
            is_fine = false;
        } else {
            printf("training by %s has the same bits\n", (*k)->name);
        }
    }
    return is_fine ? 0 : 1;
}
