/* architecture.h -- what an architecture is: a row of functions.
 *
 * A new one is a file with such a row and a line in architecture_of() (model.c). Functions that fail leave the reason on the tape, or in
 * `err` where there is no tape. */
#ifndef HD_MODEL_ARCHITECTURE_H
#define HD_MODEL_ARCHITECTURE_H

#include "model/decoder.h"
#include "model/model.h"

struct hd_architecture {
    /* Declare its parameters, those of the encoder and the decoder that the configuration has, in net->params and keep them by role in net->parts, which free() gets. Weights that a search
     * multiplies with are declared as hd_map_param()s, which hd_net_pack() lays out. */
    bool (*declare)(struct hd_net *net, heed_error *err);
    void (*free)(void *parts);
    void (*init)(struct hd_net *net, uint64_t seed);

    /* Width of what enters the head, and how many words a target may have, end marker included. */
    int (*output_width)(const struct hd_config *config);
    int (*max_target)(const struct hd_config *config);

    /* From embedded source positions x [Σ S, E] to the memory, whose spans are there already. x is NULL without a source. */
    bool (*encode)(const struct hd_net *net, hd_tape *tape, hd_node *x,
                   const struct hd_dropouts *dropouts, struct hd_memory *memory);

    /* Whole targets: fill all of `forced`; its `out` stays NULL where there are no words at all. */
    bool (*teacher_force)(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                          const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                          struct hd_forced *forced);

    /* Search: what of a memory the decoder keeps for its steps, and one step. */
    void (*cache)(const struct hd_net *net, const struct hd_memory *memory,
                  struct hd_to_cache *kept);
    struct hd_stepped (*step)(struct hd_decoder *decoder, hd_tape *tape,
                              const struct hd_step_rows *rows);
};

extern const struct hd_architecture hd_recurrent;   /* rnn.c */
extern const struct hd_architecture hd_transformer; /* transformer.c */

#endif
