/* base.c -- the random generator on the other CPU: the same bits.
 *
 * A plain program, since the test library is not there for that CPU; the checksum is that of
 * tests/base/test_rng.c. Status 0 is a pass. */
#include "base/rng.h"

#include <stdio.h>

#include "base/rng_checksum.h"

int main(void)
{
    const uint64_t sum = rng_checksum();
    if (sum != RNG_CHECKSUM) {
        printf("random numbers have the checksum %016llx instead of %016llx\n",
               (unsigned long long)sum, (unsigned long long)RNG_CHECKSUM);
        return 1;
    }
    puts("random numbers have the same bits");
    return 0;
}
