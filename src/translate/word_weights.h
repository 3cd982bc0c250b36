/* word_weights.h -- attention between tokens becomes attention and links between words. */
#ifndef HD_TRANSLATE_WORD_WEIGHTS_H
#define HD_TRANSLATE_WORD_WEIGHTS_H

#include "translate/words.h"

/* The tokens of a text, segment by segment, and the words that they belong to. {0} is empty. */
struct hd_token_side {
    struct hd_word_map wording;
    size_t n;
    struct hd_span *spans; /* [n]; HD_NOWHERE for an end marker */
    size_t *segment;       /* [n] */
    size_t n_segments;
    size_t *first; /* [n_segments + 1]: tokens before the segment */
};

/* Room for n tokens of n_segments segments. To be given to hd_token_side_release(), also when it fails. */
bool hd_token_side_init(struct hd_token_side *side, size_t n, size_t n_segments, heed_error *err);
void hd_token_side_release(struct hd_token_side *side);

/* Token weights: rows[i] are those of token i of `from` over the tokens of `to` in the same segment, NULL where there are none. */
struct hd_token_weights {
    const struct hd_token_side *from, *to;
    const float *const *rows;
};

/* Links from words of `to` to words of `from`, by the weights between words. */
bool hd_describe_links(heed_result *result, heed_translation *translation,
                       const struct hd_token_weights *weights, heed_error *err);

/* Weights between words and between tokens. There is a warning instead when the matrices would be too large. */
bool hd_describe_weights(heed_result *result, heed_translation *translation,
                         enum heed_attention kind, const struct hd_token_weights *weights,
                         heed_error *err);
#endif
