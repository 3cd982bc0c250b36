/* shadow.h -- the likeliest word without all logits: an 8-bit shadow of the output layer says which words can be it, and these
 * alone are multiplied out. Made by hd_net_shade(), used by hd_best_words(); see model.h. */
#ifndef HD_MODEL_SHADOW_H
#define HD_MODEL_SHADOW_H

#include "model/model.h"

void hd_shadow_free(struct hd_shadow *shadow);
#endif
