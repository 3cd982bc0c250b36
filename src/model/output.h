/* output.h -- what comes out of a model: a row of functions. Words one by one, a label, or a span of the source.
 *
 * A new one is a file with such a row and a line in output_of() (model.c). Functions that fail leave the reason on the tape, or in
 * `err` where there is no tape. */
#ifndef HD_MODEL_OUTPUT_H
#define HD_MODEL_OUTPUT_H

#include "model/model.h"

struct hd_output {
    /* Declare what is between the encoder's states and the output, but for an architecture's own decoder, in net->params, and keep it by
     * role in net->output_parts, which free() gets. */
    bool (*declare)(struct hd_net *net, heed_error *err);
    void (*free)(void *parts);
    void (*init)(const struct hd_net *net, uint64_t seed);

    /* What the model says of whole outputs: fill all of `forced`. */
    bool (*teacher_force)(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                          const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                          struct hd_forced *forced);

    /* Σ over rows, of one run and of two that should agree. */
    hd_node *(*loss)(const struct hd_net *net, const struct hd_forced *forced, float smoothing);
    hd_node *(*loss_pair)(const struct hd_net *net, const struct hd_forced *first,
                          const struct hd_forced *second, float smoothing,
                          const hd_consistency *consistency);
};

extern const struct hd_output hd_output_words; /* head_words.c */
extern const struct hd_output hd_output_label; /* head_label.c */
extern const struct hd_output hd_output_span;  /* head_span.c */

#endif
