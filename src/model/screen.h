/* screen.h -- the likeliest word without all logits: an 8-bit screen of the output layer says which words can be it, and these
 * alone are multiplied out. */
#ifndef HD_MODEL_SCREEN_H
#define HD_MODEL_SCREEN_H

#include "model/head.h"

/* Make the screen with which hd_best_words() is faster, unless there is one of the present values. It takes as long as some ten
 * words do. Others may be searching. */
bool hd_screen_make(struct hd_head *head, heed_error *err);
void hd_screen_free(struct hd_screen *screen);

/* The likeliest word of each row of x [n,R], the lower id of equal ones: the same as from all logits, but most of them need not
 * be made. -1 where they are not finite. False with the reason on the tape. */
bool hd_best_words(const struct hd_head *head, hd_node *x, int *word);

#endif
