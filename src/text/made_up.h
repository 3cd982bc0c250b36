/* made_up.h -- tokens that no text has: names, numbers, addresses and codes made by rule, for models to learn copying. */
#ifndef HD_TEXT_MADE_UP_H
#define HD_TEXT_MADE_UP_H

#include "base/rng.h"
#include "text/buffer.h"

/* Append a token without a space in it, from numbers of `rng` alone. */
bool hd_make_up_name(struct hd_buffer *out, struct hd_rng *rng, heed_error *err);
bool hd_make_up_number(struct hd_buffer *out, struct hd_rng *rng, heed_error *err);
bool hd_make_up_code(struct hd_buffer *out, struct hd_rng *rng, heed_error *err);

/* A number like this one: as many digits for digits inside punctuation ("7:45"), any number for digits alone. */
bool hd_make_up_number_like(struct hd_buffer *out, struct hd_text number, struct hd_rng *rng,
                            heed_error *err);

#endif
