/* start.h -- the model that a run begins with. */
#ifndef HD_TRAIN_START_H
#define HD_TRAIN_START_H

#include "train/run.h"

/* Make, find or go on with run->model and complete run->recipe: `saved` is the state of an earlier run, whose vocabularies are taken,
 * or NULL. What was said and does not fit a model that is there is refused. */
bool hd_run_start(struct hd_run *run, struct hd_saved_state *saved, heed_error *err);

#endif
