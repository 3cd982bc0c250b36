/* position.h -- where a word stands, as a vector to be added to its embedding. */
#ifndef HD_MODEL_POSITION_H
#define HD_MODEL_POSITION_H

#include "model/config.h"
#include <heed_graph.h>

/* The frequencies w_i of sinusoidal positions, [dim/2], to be given to hd_free(); NULL with the reason in `err`. The same
 * bits on every machine. */
float *hd_position_frequencies(const struct hd_config *config, heed_error *err);

/* The vectors of positions index[0..n), counted from 0: [n,dim]. */
hd_node *hd_positions_sin(const struct hd_config *config, const float *frequencies, hd_tape *tape,
                          const int *index, int n);

/* The same from a table [max_positions,dim]; a position beyond it is the tape's error. */
hd_node *hd_positions_learned(hd_node *table, hd_tape *tape, const int *index, int n);

#endif
