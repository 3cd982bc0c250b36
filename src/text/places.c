/* places.c -- where things begin. */
#include "text/places.h"

#include "base/memory.h"

enum { PLACES_PER_BLOCK = 1 << 16 };

bool hd_places_add(struct hd_places *p, uint64_t place, heed_error *err)
{
    for (; p->n_turns < place >> 32; p->n_turns++) {
        size_t *turns = hd_grow(p->turns, &p->turn_capacity, p->n_turns + 1, sizeof *turns, err);
        if (!turns)
            return false;
        p->turns = turns;
        turns[p->n_turns] = p->n;
    }
    if (p->n == p->n_blocks * PLACES_PER_BLOCK) {
        uint32_t **blocks =
            hd_grow(p->blocks, &p->block_capacity, p->n_blocks + 1, sizeof *blocks, err);
        if (!blocks)
            return false;
        p->blocks = blocks;
        blocks[p->n_blocks] = hd_alloc(PLACES_PER_BLOCK, sizeof **blocks, err);
        if (!blocks[p->n_blocks])
            return false;
        p->n_blocks++;
    }
    p->blocks[p->n / PLACES_PER_BLOCK][p->n % PLACES_PER_BLOCK] = (uint32_t)place;
    p->n++;
    return true;
}

uint64_t hd_places_at(const struct hd_places *p, size_t i)
{
    uint64_t high = 0;
    while (high < p->n_turns && p->turns[high] <= i)
        high++;
    return high << 32 | p->blocks[i / PLACES_PER_BLOCK][i % PLACES_PER_BLOCK];
}

void hd_places_release(struct hd_places *p)
{
    for (size_t i = 0; i < p->n_blocks; i++)
        hd_free(p->blocks[i]);
    hd_free(p->blocks);
    hd_free(p->turns);
}
