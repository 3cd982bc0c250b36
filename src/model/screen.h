/* screen.h -- the likeliest word without all logits: an 8-bit screen of the output layer says which words can be it, and these
 * alone are multiplied out. Made by hd_net_make_screen(), used by hd_best_words(); see model.h. */
#ifndef HD_MODEL_SCREEN_H
#define HD_MODEL_SCREEN_H

#include "model/model.h"

void hd_screen_free(struct hd_screen *screen);
#endif
