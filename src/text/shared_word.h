/* shared_word.h -- what both sides of a pair have: a name or a number, spelled alike, that a translator carries over.
 * Found, replaced on both sides, or put to both sides of a pair that has none. */
#ifndef HD_TEXT_SHARED_WORD_H
#define HD_TEXT_SHARED_WORD_H

#include "base/rng.h"
#include "text/buffer.h"

/* Where it stands in both texts; the bytes are the same. */
struct hd_shared_word {
    size_t source, target, n;
    bool is_number; /* there is a digit in it */
};

/* One of those the two texts share, drawn by `rng`; false when there is none. A word is what stands between spaces, without the
 * punctuation around it; it is there once on either side, and has a digit in it or begins with a capital. */
bool hd_find_shared_word(struct hd_shared_word *word, struct hd_text source, struct hd_text target,
                         struct hd_rng *rng);

/* Put `text` in its place on both sides. */
bool hd_replace_shared_word(struct hd_buffer *source, struct hd_buffer *target,
                            const struct hd_shared_word *word, struct hd_text text,
                            heed_error *err);

/* Put `text` at the beginning or the end of both sides, in one of the ways that people write such things. */
bool hd_insert_shared_word(struct hd_buffer *source, struct hd_buffer *target, struct hd_text text,
                           struct hd_rng *rng, heed_error *err);

#endif
