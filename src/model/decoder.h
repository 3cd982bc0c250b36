/* decoder.h -- what a decoder remembers between the steps of a search, in caches of rows that grow.
 *
 * Three kinds: a row for every source position of the sentences that are under way, a row for every such sentence, and a row for
 * every decoded word (its slot): a Transformer's keys and values of that word, a recurrent net's state after it. Nothing is copied
 * when a hypothesis becomes several: they name the same slots. Called by model.c and the architectures only; see model.h. */
#ifndef HD_MODEL_DECODER_H
#define HD_MODEL_DECODER_H

#include "model/model.h"

enum { HD_MAX_CACHES = 2 * HD_MAX_LAYERS + 4 };

/* Rows of `width` numbers; 0 while nothing was put there. */
struct hd_cache {
    int width, n_rows;
    float *x;
};

struct hd_decoder {
    const struct hd_net *net;
    struct hd_cache positions[HD_MAX_CACHES], sentences[HD_MAX_CACHES], words[HD_MAX_CACHES];
    hd_spans places; /* by place: rows in `positions`; length -1 where no sentence is */
    int *start, *length;
    size_t start_capacity, length_capacity;
    float *room; /* for widening */
};

/* What of a memory is kept: nodes with a row for every source position, and for every sentence. NULL ones are left out. */
struct hd_to_cache {
    int n_positions, n_sentences;
    hd_node *positions[HD_MAX_CACHES], *sentences[HD_MAX_CACHES];
};

/* The whole cache as a constant of a tape; NULL while it is empty. */
hd_node *hd_cache_node(hd_tape *tape, const struct hd_cache *cache);

/* Copy the rows of x to rows[0..n) of the cache, whose width is at least that of x (what x lacks is zeros). Notes on x's tape when
 * there is no memory. */
void hd_cache_put(struct hd_cache *cache, const hd_node *x, const int *rows);
#endif
