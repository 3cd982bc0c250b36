/* base.c -- random numbers, logarithms and exponentials on the other CPU: the same bits.
 *
 * A plain program, since the test library is not there for that CPU; the checksums are those of
 * tests/base/test_rng.c and test_real.c. Status 0 is a pass. */
#include "base/real.h"
#include "base/rng.h"

#include <stdio.h>

#include "base/real_checksum.h"
#include "base/rng_checksum.h"

static int is_wrong(const char *what, uint64_t sum, uint64_t wanted)
{
    if (sum == wanted)
        printf("%s have the same bits\n", what);
    else
        printf("%s have the checksum %016llx instead of %016llx\n", what, (unsigned long long)sum,
               (unsigned long long)wanted);
    return sum != wanted;
}

int main(void)
{
    return is_wrong("random numbers", rng_checksum(), RNG_CHECKSUM) |
           is_wrong("logarithms and exponentials", real_checksum(), REAL_CHECKSUM);
}
