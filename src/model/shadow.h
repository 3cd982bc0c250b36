/* shadow.h -- the likeliest word without all logits: an 8-bit shadow of the output layer says which words can be it, and these
 * alone are multiplied out. Made by hd_net_pack(), used by hd_best_words(). */
#ifndef HD_MODEL_SHADOW_H
#define HD_MODEL_SHADOW_H

#include "kernel/kernel.h"
#include "model/model.h"

struct hd_shadow;

/* NULL without an error when the net has none: its numbers are not finite, or its rows are too long. */
struct hd_shadow *hd_shadow_new(const struct hd_net *net, const struct hd_kernels *k,
                                heed_error *err);
void hd_shadow_free(struct hd_shadow *shadow);
#endif
