/* memory.h -- the one door to the heap: aligned, zeroed, checked, and able to fail on demand.
 *
 * Everything libheed allocates comes through here, arenas included, so that a test can make any one
 * allocation fail and see what happens. */
#ifndef HD_BASE_MEMORY_H
#define HD_BASE_MEMORY_H

#include <heed.h>

enum { HD_ALIGNMENT = 64 }; /* a cache line, and the widest vector register there is */

/* Zeroed memory for `count` things of `size` bytes, aligned to HD_ALIGNMENT, to be given to
 * hd_free(). Nothing at all (0 bytes) is a valid request with a valid answer. NULL with
 * HEED_NO_MEMORY in `err` when there is not enough, or when count × size is more than a machine
 * can address. */
void *hd_alloc(size_t count, size_t size, heed_error *err) __attribute__((malloc));

/* The same without zeroing and without a sentence: for callers that fill it and speak for
 * themselves. */
void *hd_alloc_raw(size_t bytes) __attribute__((malloc));

/* A copy of a string, to be given to hd_free(). */
char *hd_copy_string(const char *text, heed_error *err) __attribute__((malloc));

/* Room for `count` things or more in an array that has room for *capacity, NULL and 0 at first. What is there is
 * kept, the rest is zero; the room at least doubles when it grows. Returns the array, where it is now; NULL with
 * HEED_NO_MEMORY in `err`, and the old array as it was.
 *
 *     int *grown = hd_grow(list->at, &list->capacity, list->n + 1, sizeof *grown, err);
 *     if (!grown)
 *         return false;
 *     list->at = grown; */
void *hd_grow(void *array, size_t *capacity, size_t count, size_t size, heed_error *err);

/* Give back what these functions gave. NULL is fine. */
void hd_free(void *memory);

/* One zeroed `type` on the heap. */
#define hd_new(type, err) ((type *)hd_alloc(1, sizeof(type), err))

/* For tests: let `n` more allocations succeed and the one after them fail, as if memory had run
 * out; later ones succeed again. 0 means the very next one, -1 switches it off. */
void hd_alloc_fail_after(long n);

/* Sizes that do not overflow: false, and *out unchanged, when the result does not fit. */
static inline bool hd_mul_size(size_t *out, size_t a, size_t b)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

static inline bool hd_add_size(size_t *out, size_t a, size_t b)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

#endif
