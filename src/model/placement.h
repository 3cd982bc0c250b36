/* placement.h -- where attention is applied in a recurrent decoder: one step of `before`, `after`, `inside`, or of none. */
#ifndef HD_MODEL_PLACEMENT_H
#define HD_MODEL_PLACEMENT_H

#include "model/cell.h"
#include "model/encoder.h"
#include "model/first_state.h"
#include "model/readout.h"
#include "model/score.h"

struct hd_rnn_decoder_parts {
    int n_layers;
    bool is_residual;
    struct hd_cell_parts cell[HD_MAX_LAYERS];
    hd_node *W[HD_MAX_LAYERS], *b[HD_MAX_LAYERS]; /* the input's share; layer 1 reads E y_{t-1} */
    hd_node *C, *F;                               /* layer 1: of the context, of the fed h̃ */
    struct hd_cell_parts second;                  /* `inside` */
    hd_node *second_C, *second_b;
};

struct hd_rnn_parts {
    struct hd_encoder_parts encoder;
    struct hd_rnn_decoder_parts decoder;
    struct hd_score_parts score;
    struct hd_readout_parts readout;
    struct hd_start_parts start;
};

/* What the decoder reads of the sentences, computed once. */
struct hd_rnn_memory {
    struct hd_keys keys;
    struct hd_values values;       /* of contexts; with `every` the last encoder state [n, width] */
    hd_node *start[HD_MAX_LAYERS]; /* [n, state width] */
};

/* The decoder between two steps, all [B, ·]. */
struct hd_rnn_decoder_state {
    hd_node *layer[HD_MAX_LAYERS];
    hd_node *fed;   /* h̃_{t-1}, NULL without input feeding */
    hd_node *cover; /* Σ α, NULL without coverage */
    hd_node *alpha; /* α_{t-1}, NULL where no score reads it */
};

/* One step's input and outcome. */
struct hd_step {
    struct hd_view view; /* what each row attends to */
    const int *sentence; /* [B]: whose row it is */
    hd_node *Wy;         /* W E y_{t-1} + b of layer 1, [B,kD] */
    hd_node *readout_s,
        *readout_c; /* out: what hd_readout wants as s and Wc, [B,·]; readout_c NULL where there is none */
    hd_node *attended;    /* out: h̃_t when the readout is `attended`, else NULL */
    hd_node *attended_by; /* out: the node that has the weights; NULL without attention */
    hd_node *scored_by;   /* out: and the one that has the scores */
};

void hd_rnn_decoder_declare(struct hd_rnn_decoder_parts *parts, const struct hd_config *config,
                            hd_params *params);
void hd_rnn_decoder_init(const struct hd_rnn_decoder_parts *parts, uint64_t seed);

/* The state after the step; `step` gets its outcome. step->view.cover and .before are set here. */
struct hd_rnn_decoder_state hd_rnn_decoder_step(const struct hd_rnn_parts *n,
                                                const struct hd_config *config,
                                                const struct hd_rnn_decoder_state *before,
                                                struct hd_step *step);
#endif
