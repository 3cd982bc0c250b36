/* source.h -- what a source is: a row of functions. What the encoder reads of it is one vector per position.
 *
 * A new one is a file with such a row and a line in source_of() (model.c). */
#ifndef HD_MODEL_SOURCE_H
#define HD_MODEL_SOURCE_H

#include "model/batch.h"
#include "model/config.h"
#include <heed_graph.h>

struct hd_net;    /* model.h */
struct hd_memory; /* model.h */

struct hd_source {
    const struct hd_source_kind *kind;
    hd_node *
        table; /* text: [V,E]; the target's, too, when they are tied. NULL where there are no words */
    hd_node *marks; /* a document and a question: [HD_N_MARKS,E], what each position is */
    hd_node *
        traits; /* and [HD_N_TRAITS,E], what each word looks like and how much of it the other text has; or NULL */
    /* vectors: x = W [frames side by side] + b of (v - mean) scale; `half` makes one position of two (Transformer) */
    hd_node *mean, *scale, *W, *b;
    struct {
        hd_node *W, *b;
    } half[HD_MAX_PYRAMID];
};

struct hd_source_kind {
    void (*declare)(struct hd_net *net);
    void (*init)(const struct hd_net *net, uint64_t seed);

    /* The vectors of all positions of a batch [Σ S,E], with the spans of its sentences in memory->spans. NULL where there is nothing
     * to read, or with the reason on the tape. A hidden word is a row of zeros. */
    hd_node *(*read)(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                     struct hd_memory *memory);
};

extern const struct hd_source_kind hd_source_text;     /* source_text.c */
extern const struct hd_source_kind hd_source_vectors;  /* source_vectors.c */
extern const struct hd_source_kind hd_source_question; /* source_question.c */
extern const struct hd_source_kind hd_source_none;     /* source_none.c */

/* Two neighbours side by side become one row: [Σ S, W] → [Σ ⌈S/2⌉, 2W], with *spans those of the result. Behind an odd last one
 * stand zeros. */
hd_node *hd_halve(hd_node *x, const hd_spans **spans);

/* Is this a parameter that is measured, not learned? */
bool hd_source_is_fixed(const char *name);

#endif
