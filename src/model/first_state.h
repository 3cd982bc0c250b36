/* first_state.h -- from the encoder's states to the first state of the decoder. */
#ifndef HD_MODEL_FIRST_STATE_H
#define HD_MODEL_FIRST_STATE_H

#include "model/model.h"
#include "model/param.h"

struct hd_start_parts {
    hd_node *W[HD_MAX_LAYERS], *b[HD_MAX_LAYERS]; /* s_0 = tanh(W h + b), one map per layer */
    hd_node *cell_W[HD_MAX_LAYERS], *cell_b[HD_MAX_LAYERS]; /* an LSTM's c_0 */
    struct hd_map_norm norm[HD_MAX_LAYERS], cell_norm[HD_MAX_LAYERS];
};

struct hd_encoded;
void hd_start_declare(struct hd_start_parts *parts, const struct hd_config *config,
                      hd_params *params);
void hd_start_init(const struct hd_start_parts *parts, uint64_t seed);

/* The first state of decoder layer l (from 0) for every sentence: [n, state width]. */
hd_node *hd_start_state(const struct hd_start_parts *parts, const struct hd_config *config,
                        const struct hd_encoded *encoded, const hd_spans *spans, int l);
#endif
