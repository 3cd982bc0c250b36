/* arena.c -- arenas: a chain of chunks, filled one after the other, that becomes one chunk at
 * reset.
 *
 * Growing adds a chunk half as large as all before it. A reset that finds more than one gives
 * them all back and remembers the high-water mark; the next take asks for one chunk of that
 * size. Invariant: chunks after arena->chunk are empty; `at` and `left` are multiples of 64
 * inside arena->chunk. */
#include "base/arena.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

#ifdef HD_ARENA_GUARDED
#include <sanitizer/asan_interface.h>
enum { GAP = 64 }; /* poisoned bytes after each piece */
#else
#define ASAN_POISON_MEMORY_REGION(start, size)   ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
enum { GAP = 0 };
#endif

enum { LINE = HD_ALIGNMENT, SMALLEST_CHUNK = 64 * 1024 };

struct hd_arena_chunk {
    struct hd_arena_chunk *next;
    size_t size; /* bytes of data, a multiple of LINE */
    _Alignas(LINE) char data[];
};

static bool move_to_chunk_with(struct hd_arena *arena, size_t bytes);
static size_t capacity(const struct hd_arena *arena);
static void enter(struct hd_arena *arena, struct hd_arena_chunk *chunk, size_t used_before);
static void close_off(char *start, size_t size);
static void free_chunks(struct hd_arena *arena);
static void note_high_water(struct hd_arena *arena);

void *hd_take_slow(struct hd_arena *arena, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - (1 << 20))
        return NULL;
    const size_t whole = (bytes > 0 ? bytes + LINE - 1 : LINE) / LINE * LINE + GAP;
    if (whole > arena->left && !move_to_chunk_with(arena, whole))
        return NULL;
    void *piece = arena->at;
    arena->at += whole;
    arena->left -= whole;
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
    return piece;
}

void hd_arena_reset(struct hd_arena *arena)
{
    note_high_water(arena);
    if (!arena->first)
        return;
    if (arena->first->next) {
        free_chunks(arena);
        return;
    }
    close_off(arena->first->data, arena->first->size - arena->left);
    enter(arena, arena->first, 0);
}

void hd_arena_release(struct hd_arena *arena)
{
    free_chunks(arena);
    arena->high_water = 0;
}

size_t hd_arena_used(const struct hd_arena *arena)
{
    return arena->used_before + (arena->chunk ? arena->chunk->size - arena->left : 0);
}

size_t hd_arena_high_water(const struct hd_arena *arena)
{
    const size_t used = hd_arena_used(arena);
    return used > arena->high_water ? used : arena->high_water;
}

struct hd_arena_mark hd_arena_mark(const struct hd_arena *arena)
{
    return (struct hd_arena_mark){arena->at, arena->left, arena->chunk, arena->used_before};
}

void hd_arena_rewind(struct hd_arena *arena, struct hd_arena_mark mark)
{
    note_high_water(arena);
    if (!arena->chunk)
        return;
    if (!mark.chunk) { /* marked before the first chunk was there */
        mark.chunk = arena->first;
        mark.at = mark.chunk->data;
        mark.left = mark.chunk->size;
    }
    const struct hd_arena_chunk *past_end = arena->chunk->next;
    for (struct hd_arena_chunk *c = mark.chunk->next; c != past_end; c = c->next)
        close_off(c->data, c->size);
    close_off(mark.at, mark.left);
    arena->chunk = mark.chunk;
    arena->at = mark.at;
    arena->left = mark.left;
    arena->used_before = mark.used_before;
}

/* Make the current chunk one with `bytes` free bytes: the next in the chain if it is large
 * enough, else a new one put before it. */
static bool move_to_chunk_with(struct hd_arena *arena, size_t bytes)
{
    struct hd_arena_chunk *next = arena->chunk ? arena->chunk->next : NULL;
    if (!next || next->size < bytes) {
        const size_t grown =
            arena->first ? capacity(arena) / 2 : arena->high_water + arena->high_water / 8;
        size_t size = bytes > grown ? bytes : grown;
        size = ((size > SMALLEST_CHUNK ? size : SMALLEST_CHUNK) + LINE - 1) / LINE * LINE;
        struct hd_arena_chunk *fresh = hd_alloc_raw(sizeof *fresh + size);
        if (!fresh && size > bytes) /* little is left: ask for what is needed and no more */
            fresh = hd_alloc_raw(sizeof *fresh + (size = bytes));
        if (!fresh)
            return false;
        fresh->next = next;
        fresh->size = size;
        close_off(fresh->data, size);
        if (arena->chunk)
            arena->chunk->next = fresh;
        else
            arena->first = fresh;
        next = fresh;
    }
    enter(arena, next, hd_arena_used(arena));
    return true;
}

static size_t capacity(const struct hd_arena *arena)
{
    size_t sum = 0;
    for (const struct hd_arena_chunk *c = arena->first; c; c = c->next)
        sum += c->size;
    return sum;
}

static void enter(struct hd_arena *arena, struct hd_arena_chunk *chunk, size_t used_before)
{
    arena->chunk = chunk;
    arena->at = chunk->data;
    arena->left = chunk->size;
    arena->used_before = used_before;
}

/* These bytes must not be read any more. */
static void close_off(char *start, size_t size)
{
#ifdef HEED_DEBUG
    ASAN_UNPOISON_MEMORY_REGION(start, size);
    memset(start, 0xFF, size); /* as float or double: NaN */
#endif
    ASAN_POISON_MEMORY_REGION(start, size);
}

static void free_chunks(struct hd_arena *arena)
{
    for (struct hd_arena_chunk *c = arena->first, *next; c; c = next) {
        next = c->next;
        ASAN_UNPOISON_MEMORY_REGION(c->data, c->size);
        hd_free(c);
    }
    *arena = (struct hd_arena){.high_water = arena->high_water};
}

static void note_high_water(struct hd_arena *arena)
{
    arena->high_water = hd_arena_high_water(arena);
}
