/* cache.c -- a cache that is full grows by a quarter; a wider row widens all. */
#include "model/cache.h"

#include "base/memory.h"
#include "graph/tape.h"

#include <string.h>

void hd_cache_release(struct hd_cache *cache)
{
    hd_free(cache->x);
}

hd_node *hd_cache_node(hd_tape *tape, const struct hd_cache *cache)
{
    if (cache->width == 0)
        return NULL;
    const hd_node node = {.x = cache->x,
                          .n_dims = 2,
                          .dim = {cache->n_rows, cache->width, 1, 1},
                          .count = (size_t)cache->n_rows * (size_t)cache->width};
    return hd_on(tape, &node);
}

/* Room for n_rows of this width; what is there stays. */
static bool grow_cache(struct hd_cache *p, hd_tape *t, int n_rows, int width)
{
    if (n_rows <= p->n_rows && width <= p->width)
        return true;
    const int wide = width > p->width ? width : p->width,
              more = n_rows < INT_MAX / 2 ? n_rows + n_rows / 4 : n_rows,
              rows = n_rows <= p->n_rows ? p->n_rows : more;
    size_t bytes;
    const bool fits = hd_mul_size(&bytes, (size_t)rows * sizeof *p->x, (size_t)wide);
    float *x = fits ? hd_alloc_raw(bytes) : NULL;
    if (!x) {
        hd_tape_take_slow(t, "hd_decoder", (size_t)rows * (size_t)wide, sizeof *x);
        return false;
    }
    for (int r = 0; r < p->n_rows && p->width > 0; r++)
        memcpy(x + (size_t)r * (size_t)wide, p->x + (size_t)r * (size_t)p->width,
               (size_t)p->width * sizeof *x);
    hd_free(p->x);
    *p = (struct hd_cache){wide, rows, x};
    return true;
}

void hd_cache_put(struct hd_cache *cache, const hd_node *x, const int *rows)
{
    const int n = hd_n_rows(x), width = hd_last_dim(x);
    int last = -1;
    for (int i = 0; i < n; i++)
        last = rows[i] > last ? rows[i] : last;
    if (hd_has_failed(x->tape) || !grow_cache(cache, x->tape, last + 1, width))
        return;
    for (int i = 0; i < n; i++) {
        float *to = cache->x + (size_t)rows[i] * (size_t)cache->width;
        memcpy(to, x->x + (size_t)i * (size_t)width, (size_t)width * sizeof *to);
        memset(to + width, 0, (size_t)(cache->width - width) * sizeof *to);
    }
}
