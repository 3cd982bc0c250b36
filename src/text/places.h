/* places.h -- where things begin, in ascending order: 4 bytes each. */
#ifndef HD_TEXT_PLACES_H
#define HD_TEXT_PLACES_H

#include <heed.h>
#include <stdint.h>

/* {0} is none. Of a place the low 32 bits are kept, and the high ones follow from where the low ones begin anew. */
struct hd_places {
    uint32_t **blocks; /* the low 32 bits, so many to a block */
    size_t n, n_blocks, block_capacity;
    size_t *turns; /* turns[k]: the first pair whose place is (k + 1) << 32 or more */
    size_t n_turns, turn_capacity;
};

bool hd_places_add(struct hd_places *places, uint64_t place, heed_error *err);
uint64_t hd_places_at(const struct hd_places *places, size_t i);
void hd_places_release(struct hd_places *places);

#endif
