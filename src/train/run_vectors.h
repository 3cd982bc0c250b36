/* run_vectors.h -- vectors as the source of a run: files of them beside the targets' lines. */
#ifndef HD_TRAIN_RUN_VECTORS_H
#define HD_TRAIN_RUN_VECTORS_H

#include "train/run.h"

/* Does the run read vectors, by what was said or by the names of its files? */
bool hd_run_has_vectors(const struct hd_run *run);

/* Open what --src and --dev-src name into run->vectors and run->dev_vectors. */
bool hd_run_open_vectors(struct hd_run *run, heed_error *err);

/* Is there a line for every item? Called when the text has been read. */
bool hd_run_check_vectors(const struct hd_run *run, heed_error *err);

/* Fit a new model's configuration to the vectors; and one that exists: is it of such vectors? */
void hd_run_fit_vectors(const struct hd_run *run, struct hd_config *config);
bool hd_run_agree_vectors(const struct hd_run *run, const char *name, heed_error *err);

/* What is measured, not learned: the mean and the spread of the training vectors. */
bool hd_run_measure_vectors(struct hd_run *run, struct hd_net *net, heed_error *err);

#endif
