/* source.h -- what a source is: words, each with an embedding. What the encoder reads of it is one vector per position. */
#ifndef HD_MODEL_SOURCE_H
#define HD_MODEL_SOURCE_H

#include "model/batch.h"
#include "model/config.h"
#include <heed_graph.h>

struct hd_source {
    hd_node *table; /* [V,E]; the target's, too, when they are tied */
};

void hd_source_declare(struct hd_source *source, const struct hd_config *config, hd_params *params);
void hd_source_init(const struct hd_source *source, uint64_t seed);

/* The vectors of all positions of a batch, `n` together: [n,E]. A hidden word is a row of zeros. */
hd_node *hd_source_embed(const struct hd_source *source, hd_tape *tape,
                         const struct hd_batch *batch, int n);

#endif
