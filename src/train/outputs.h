/* outputs.h -- the files that a run writes: MODEL.safetensors, and beside it MODEL.state.safetensors, .log, .jsonl and .svg.
 *
 * Nothing else is ever written over: all of them are checked before the first is touched. */
#ifndef HD_TRAIN_OUTPUTS_H
#define HD_TRAIN_OUTPUTS_H

#include "train/run.h"

/* Fill run->stem and run->state_path from --out. */
bool hd_outputs_name(struct hd_run *run, heed_error *err);

/* Refuse to write over what the run reads, and over files that heed has not written. */
bool hd_outputs_check(const struct hd_run *run, heed_error *err);

/* Remove what runs have left that were killed while they wrote. For who holds the lock of MODEL.log. */
void hd_outputs_sweep(const struct hd_run *run);

/* Is the best model so far in its file? False without an error when there is none: it can be written again. With one when what is
 * there is damaged, another model, or cannot be read now: nothing may take its place. */
bool hd_outputs_has_best(const struct hd_run *run, heed_error *err);

/* Is there a model of heed in this file? False with an error when nobody can tell: it is there, but the system does not let it be
 * read now. */
bool hd_outputs_has_model(const char *path, heed_error *err);

#endif
