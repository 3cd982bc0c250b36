/* cache.h -- rows of numbers that are kept between the steps of a search, and grow. */
#ifndef HD_MODEL_CACHE_H
#define HD_MODEL_CACHE_H

#include <heed_graph.h>

/* Rows of `width` numbers; 0 while nothing was put there. */
struct hd_cache {
    int width, n_rows;
    float *x;
};

void hd_cache_release(struct hd_cache *cache);

/* The whole cache as a constant of a tape; NULL while it is empty. */
hd_node *hd_cache_node(hd_tape *tape, const struct hd_cache *cache);

/* Copy the rows of x to rows[0..n) of the cache, whose width is at least that of x (what x lacks is zeros). Notes on x's tape when
 * there is no memory. */
void hd_cache_put(struct hd_cache *cache, const hd_node *x, const int *rows);

#endif
