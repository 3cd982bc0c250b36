/* readout.h -- from the decoder's state to what enters the output layer. */
#ifndef HD_MODEL_READOUT_H
#define HD_MODEL_READOUT_H

#include "model/model.h"
#include "model/param.h"

struct hd_readout_parts {
    hd_node *s, *y, *c, *b;
    hd_node *b_y, *b_c; /* with norms that are split, each map has a bias of its own */
    struct hd_map_norm of_s, of_y, of_c;
};

/* Width of what enters the output layer. */
int hd_readout_width(const struct hd_config *config);

void hd_readout_declare(struct hd_readout_parts *parts, const struct hd_config *config,
                        hd_params *params);
void hd_readout_init(const struct hd_readout_parts *parts, uint64_t seed);

/* readout.y E y_{t-1} and readout.c c_t, normalised where there are norms; NULL where there is none. */
hd_node *hd_readout_y(const struct hd_readout_parts *parts, hd_node *y);
hd_node *hd_readout_c(const struct hd_readout_parts *parts, hd_node *c);

/* Wy = hd_readout_y() and Wc = hd_readout_c() are made outside, for many steps at once; NULL where there is none.
 * s is s_t, or s_{t-1} for maxout. Rows may be one step's or all steps'. */
hd_node *hd_readout(const struct hd_readout_parts *parts, const struct hd_config *config,
                    hd_node *s, hd_node *Wy, hd_node *Wc);
#endif
