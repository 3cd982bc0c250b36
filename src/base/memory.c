/* memory.c -- the one door to the heap.
 *
 * Invariant: no other file of libheed calls malloc or a relative of it, so hd_alloc_fail_after()
 * reaches every allocation there is. */
#include "base/memory.h"

#include "base/error.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_long n_until_failure = -1; /* negative: allocations fail only when memory is gone */

enum { LARGE_PAGE = 2 << 20 };

/* Large blocks come in large pages where the system has them: 8 MB of weights are there after 4 faults instead of 2,000,
 * which was a fifth of the time to a first translation. The end that does not fill one stays in small pages. */
static void wish_for_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* no harm without */
#else
    (void)memory, (void)bytes;
#endif
}

void *hd_alloc_raw(size_t bytes)
{
    if (atomic_load_explicit(&n_until_failure, memory_order_relaxed) >= 0 &&
        atomic_fetch_sub_explicit(&n_until_failure, 1, memory_order_relaxed) == 0)
        return NULL;
    if (bytes > PTRDIFF_MAX - LARGE_PAGE)
        return NULL;
    const size_t whole = (bytes + HD_ALIGNMENT - 1) / HD_ALIGNMENT * HD_ALIGNMENT;
    const bool is_large = whole >= LARGE_PAGE;
    void *memory = NULL;
    if (posix_memalign(&memory, is_large ? LARGE_PAGE : HD_ALIGNMENT,
                       whole > 0 ? whole : HD_ALIGNMENT) != 0)
        return NULL;
    if (is_large)
        wish_for_large_pages(memory, whole);
    return memory;
}

void *hd_alloc(size_t count, size_t size, heed_error *err)
{
    size_t bytes;
    if (!hd_mul_size(&bytes, count, size)) {
        hd_fail(err, HEED_NO_MEMORY,
                "%zu things of %zu bytes each were asked for, more than a machine can address; "
                "the sizes that led here cannot be right",
                count, size);
        return NULL;
    }
    void *memory = hd_alloc_raw(bytes);
    if (!memory) {
        hd_fail(err, HEED_NO_MEMORY,
                "there is no memory for %zu more bytes; close other programs or use smaller sizes",
                bytes);
        return NULL;
    }
    return memset(memory, 0, bytes);
}

char *hd_copy_string(const char *text, heed_error *err)
{
    const size_t size = strlen(text) + 1;
    char *copy = hd_alloc(size, 1, err);
    return copy ? memcpy(copy, text, size) : NULL;
}

void *hd_grow(void *array, size_t *capacity, size_t count, size_t size, heed_error *err)
{
    if (array && count <= *capacity)
        return array;
    const size_t twice = *capacity > SIZE_MAX / 4 ? SIZE_MAX : 2 * *capacity + 14;
    const size_t grown = count > twice ? count : twice;
    void *larger = hd_alloc(grown, size, err);
    if (!larger)
        return NULL;
    if (array)
        memcpy(larger, array, *capacity * size);
    hd_free(array);
    *capacity = grown;
    return larger;
}

void hd_free(void *memory)
{
    free(memory);
}

void hd_alloc_fail_after(long n)
{
    atomic_store(&n_until_failure, n);
}

void heed_free(void *text)
{
    hd_free(text);
}
