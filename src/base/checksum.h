/* checksum.h -- 64 bits that differ when bytes differ: XXH64 (Collet), the same on every CPU.
 *
 * Finds damage, not forgery. A change within one word of 8 bytes is always found, since every step can be undone. */
#ifndef HD_BASE_CHECKSUM_H
#define HD_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* A checksum of bytes that come in parts. */
struct hd_checksum {
    uint64_t lane[4];
    uint64_t n;                /* bytes so far */
    unsigned char waiting[32]; /* those that do not fill four words yet */
};

struct hd_checksum hd_checksum_begin(void);
void hd_checksum_add(struct hd_checksum *sum, const void *bytes, size_t n);
uint64_t hd_checksum_end(const struct hd_checksum *sum);

/* All at once. */
uint64_t hd_checksum_of(const void *bytes, size_t n);

#endif
