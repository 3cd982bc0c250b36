/* run_prepare.h -- making a run that can begin, or go on, and saving it. */
#ifndef HD_TRAIN_RUN_PREPARE_H
#define HD_TRAIN_RUN_PREPARE_H

#include "train/run.h"

/* Read the text, choose what was left open, make or find the model and its state. False with the reason in `err`; the files of a run
 * that was not there before are then gone again. */
bool hd_run_prepare(struct hd_run *run, heed_error *err);
void hd_run_release(struct hd_run *run);

/* The state to its file; all ranks call it, the first one writes. */
bool hd_run_save(struct hd_run *run, bool is_good, heed_error *err);

#endif
