/* vary.h -- sentence pairs varied as they are read, so that a model knows what people type: a missing full stop, other
 * capitals, other quotes, several sentences in a line, names and codes that no text has.
 *
 * What becomes of a pair depends on its text, the rates and the place in a stream of random numbers, and on nothing else. Each
 * kind draws numbers of its own, so its choices stay when the rate of another changes. */
#ifndef HD_TEXT_VARY_H
#define HD_TEXT_VARY_H

#include "base/rng.h"
#include "text/buffer.h"
#include "text/corpus.h"
#include "text/placeholder.h"

enum hd_variation {
    HD_VARY_PUNCTUATION, /* final punctuation dropped on both sides */
    HD_VARY_CASE, /* both sides with a small first letter, in lower case, in capitals, in Title Case */
    HD_VARY_QUOTES, /* straight quotes and apostrophes of the source curly, or curly ones straight */
    HD_VARY_JOIN,   /* two or three sentences in a line */
    HD_VARY_COPY,   /* a made-up name, number, address or code on both sides */
    HD_VARY_PLACEHOLDERS, /* one to three of ⟨1⟩ to ⟨9⟩ on both sides */
    HD_N_VARIATIONS
};

/* The share of pairs that each kind is tried on; where it cannot be applied the pair stays as it is. */
struct hd_vary_rates {
    float of[HD_N_VARIATIONS];
};

/* Is any of them more than 0? */
bool hd_vary_is_on(const struct hd_vary_rates *rates);

/* Gives another pair of the same languages, to be joined. */
struct hd_vary_partner {
    struct hd_text_pair (*draw)(void *context, struct hd_rng *rng);
    void *context;
};

/* A pair that was varied; {0} is none. */
struct hd_varied {
    struct hd_buffer source, target;
    struct hd_buffer spare;
    struct hd_buffer before[2]; /* the two sides before a change, to follow links through it */
    struct hd_word_links links;
    bool has_links;
    unsigned kinds; /* that were applied: 1 << enum hd_variation */
    int direction;
};

/* Vary a pair; `rng` is at the beginning of a stream that belongs to the pair. The memory of `varied` is used again. False without
 * memory. */
bool hd_vary(struct hd_varied *varied, struct hd_text_pair pair, const struct hd_vary_rates *rates,
             const struct hd_vary_partner *partner, const struct hd_rng *rng, heed_error *err);

/* What it is now; lives until the next call. */
struct hd_text_pair hd_varied_pair(const struct hd_varied *varied);

/* Leaves {0}. */
void hd_varied_release(struct hd_varied *varied);

#endif
