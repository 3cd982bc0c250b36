/* grow.h -- a larger net that computes the same, to be trained further. */
#ifndef HD_MODEL_GROW_H
#define HD_MODEL_GROW_H

#include "model/model.h"

/* May a net of `from` become one of `to`? A Transformer may get wider feed-forward layers and, where norms stand before (pre-norm),
 * more layers on top, but of decoders with the ssru, whose layers have no weights that write; all else is alike. */
bool hd_config_grows(const struct hd_config *from, const struct hd_config *to);

/* A net of such a configuration that gives the very bits that `net` gives: what is new reads by start values of `seed`, and is multiplied
 * with zeros where it would be added, until training changes them (Chen et al. 2016). `net` has floats. To be given to hd_net_free(). */
struct hd_net *hd_net_grown(const struct hd_net *net, const struct hd_config *to, uint64_t seed,
                            heed_error *err);
#endif
