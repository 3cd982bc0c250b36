/* alignment_choice.h -- which of a Transformer's attentions tells best which words belong together. */
#ifndef HD_TRAIN_ALIGNMENT_CHOICE_H
#define HD_TRAIN_ALIGNMENT_CHOICE_H

#include "train/run.h"

/* Once a run is over: choose the layer, the head and the step of its best model whose links agree best with those of our own aligner, and
 * write them into the model's file. Does nothing where attention was guided or chosen by the user, where the model has no choice, where the
 * text has too few pairs of words, and for a file that knows its choice. The run's first rank does it. */
bool hd_run_choose_alignment(struct hd_run *run, heed_error *err);

#endif
