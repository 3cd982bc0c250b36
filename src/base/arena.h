/* arena.h -- memory that is taken piece by piece and given back all at once.
 *
 * A batch takes what it needs; a reset forgets it all and keeps the memory. After the first few
 * batches the arena is one piece, as large as the largest batch, and taking is a comparison and
 * an addition.
 *
 *     struct hd_arena a = {0};
 *     for each batch {
 *         float *x = hd_take(&a, n * sizeof *x);
 *         ...
 *         hd_arena_reset(&a);
 *     }
 *     hd_arena_release(&a);
 *
 * Not for two threads at once: each thread has an arena of its own. Under AddressSanitizer
 * whatever is not taken is poisoned and takes have a gap between them; with -DHEED_DEBUG what is
 * not taken yet, or not any more, is full of NaN. */
#ifndef HD_BASE_ARENA_H
#define HD_BASE_ARENA_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define HD_ARENA_GUARDED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HD_ARENA_GUARDED 1
#endif
#endif

struct hd_arena_chunk;

/* {0} is an empty arena. */
struct hd_arena {
    char *at;                     /* where the next piece begins, aligned to 64 */
    size_t left;                  /* bytes from there to the end of the chunk, a multiple of 64 */
    struct hd_arena_chunk *chunk; /* the chunk `at` is in; those after it are empty */
    struct hd_arena_chunk *first;
    size_t used_before; /* bytes taken from the chunks before this one */
    size_t high_water;  /* of the past; hd_arena_high_water() knows the present as well */
};

/* A moment to go back to; valid until the arena is reset or rewound to an earlier one. */
struct hd_arena_mark {
    char *at;
    size_t left;
    struct hd_arena_chunk *chunk;
    size_t used_before;
};

/* When the chunk is full. Not to be called directly. */
void *hd_take_slow(struct hd_arena *arena, size_t bytes);

/* `bytes` bytes, aligned to 64, NOT zeroed, that live until the arena is reset, rewound or
 * released. NULL when there is no memory or no such size; 0 bytes are a valid request. */
static inline void *hd_take(struct hd_arena *arena, size_t bytes)
{
#ifndef HD_ARENA_GUARDED
    if (__builtin_expect(bytes - 1 < arena->left, 1)) { /* 0 bytes go the slow way */
        const size_t whole = (bytes + 63) & ~(size_t)63;
        void *piece = arena->at;
        arena->at += whole;
        arena->left -= whole;
        return piece;
    }
#endif
    return hd_take_slow(arena, bytes);
}

/* Forget everything taken; keep the memory. If the arena had to grow, it will be one piece from
 * now on. */
void hd_arena_reset(struct hd_arena *arena);

/* Give the memory back; the arena is empty and may be used again. */
void hd_arena_release(struct hd_arena *arena);

/* Bytes taken now, and the most ever taken at a time (since {0} or release), alignment included. */
size_t hd_arena_used(const struct hd_arena *arena);
size_t hd_arena_high_water(const struct hd_arena *arena);

/* Everything taken after hd_arena_mark() is forgotten by hd_arena_rewind(). Marks nest. */
struct hd_arena_mark hd_arena_mark(const struct hd_arena *arena);
void hd_arena_rewind(struct hd_arena *arena, struct hd_arena_mark mark);

#endif
