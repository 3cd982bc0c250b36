/* encoder.h -- from source words to states h_j: stacks of recurrent layers, one way or both. A document that is read again has more of
 * them (head_span.c). */
#ifndef HD_MODEL_ENCODER_H
#define HD_MODEL_ENCODER_H

#include "model/cell.h"
#include "model/model.h"

/* One direction of one layer. */
struct hd_encoder_layer {
    struct hd_cell_parts cell;
    hd_node *W, *b; /* the input's share: W x + b */
};

struct hd_encoder_parts {
    int n_layers,
        n_halvings; /* layer l reads two states of the layer below side by side, 1 ≤ l ≤ n_halvings, from 0 */
    bool is_bidirectional, is_reversed, is_residual;
    struct hd_encoder_layer forward[HD_MAX_LAYERS], backward[HD_MAX_LAYERS];
};

/* States at every position, and the last state of each layer: what a fixed vector, `copy` and `last` are made of. */
struct hd_encoded {
    hd_node *h;                   /* [Σ S, width]: the top layer */
    hd_node *first_backward;      /* [B, width/2]: ←h_1 of the top layer; NULL when one way */
    hd_node *last[HD_MAX_LAYERS]; /* [B, width], an LSTM's [B, 2·width]: s beside its cell */
};

/* Declare "name.l.forward.W" and so on, for inputs of width `in`. */
void hd_encoder_declare(struct hd_encoder_parts *parts, const struct hd_config *config,
                        hd_params *params, const char *name, int in);
void hd_encoder_init(const struct hd_encoder_parts *parts, uint64_t seed);

/* x [Σ S, E] are the embedded words; *spans become those of the top layer. */
struct hd_encoded hd_encoder_run(const struct hd_encoder_parts *parts, hd_node *x,
                                 const hd_spans **of_top, float dropout_state);
#endif
