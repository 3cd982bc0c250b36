/* patience.h -- which validation is the best, and how long ago a run has last become better. */
#ifndef HD_TRAIN_PATIENCE_H
#define HD_TRAIN_PATIENCE_H

#include "train/state.h"

/* Take in a validation of the present update: `score`, more is better, and cross entropy. True when it is the best so far. */
bool hd_patience_note(struct hd_progress *progress, double score, double ce);

#endif
