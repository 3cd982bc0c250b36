/* model.h -- a model: its configuration, its named parameters, and the two ways to run it.
 *
 * Teacher forcing runs the decoder over whole targets, search one step at a time; both are the same formulas (placement.c,
 * transformer.c) and give the same bits. What is computed once per sentence (the memory) may live on another tape than the
 * steps. A model is only read here, so threads share it; a decoder belongs to one of them. */
#ifndef HD_MODEL_MODEL_H
#define HD_MODEL_MODEL_H

#include "graph/tape.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/ctc_head.h"
#include "model/decoder.h"
#include "model/head.h"
#include "model/screen.h"
#include "model/source.h"
#include "model/weights.h"

struct hd_architecture; /* architecture.h */
struct hd_output;       /* output.h */

/* The parameters of a model, by role. Those that a configuration does not have are NULL. */
struct hd_net {
    struct hd_config config;
    hd_params *params;
    struct hd_source source;
    hd_node *target_table;  /* embeddings [V,E] */
    struct hd_head head;    /* of words and labels */
    struct hd_ctc_head ctc; /* over the encoder's states; {0} without */
    const struct hd_output *output;
    void *output_parts; /* the output's own */
    const struct hd_architecture *architecture;
    void *parts; /* the architecture's own */
};

/* Declare all parameters of a configuration that has been checked, and give them room. Values are zeros; see hd_net_init.
 * To be given to hd_net_free(). */
struct hd_net *hd_net_new(const struct hd_config *config, heed_error *err);
void hd_net_free(struct hd_net *net);

/* The same in two steps: names and shapes only, until hd_params_make(net->params). */
struct hd_net *hd_net_declare(const struct hd_config *config, heed_error *err);

/* What products with matrices are computed in: 8 bits, bf16 or floats. What is to be trained is floats that can change; this is no name. */
enum hd_compute {
    HD_COMPUTE_STORED,
    HD_COMPUTE_F32,
    HD_COMPUTE_BF16,
    HD_COMPUTE_INT8,
    HD_COMPUTE_TO_TRAIN
};
#define HD_COMPUTE_NAMES "stored|f32|bf16|int8"

/* How a matrix is held for that, if it can be; `stored`: how it was found. And: is one held in 8 bits? Does the net compute in this way
 * already? */
enum hd_held hd_held_for(enum hd_compute compute, enum hd_held stored);
bool hd_net_is_int8(const struct hd_net *net);
bool hd_net_computes(const struct hd_net *net, enum hd_compute compute);

/* The same net computed in another way, its parameters quantised, rounded, or widened to floats, and packed. To be given to hd_net_free(). */
struct hd_net *hd_net_as(const struct hd_net *net, enum hd_compute compute, heed_error *err);

/* Start values for training: Glorot for maps, orthogonal for recurrent ones, forget gates at 1, gains 1, embeddings
 * normal with deviation 1/√E. The same on every machine for a seed. */
void hd_net_init(struct hd_net *net, uint64_t seed);

/* Lay the weights that a search reads out for speed, once they have their values. While no tape is in use. */
bool hd_net_pack(struct hd_net *net, heed_error *err);

/* How many words a target may have, end marker included: INT_MAX, but for learned positions. */
int hd_net_max_target(const struct hd_net *net);

/* Shares of numbers dropped while the tape trains. All 0 in {0}. */
struct hd_dropouts {
    float embed;     /* of embeddings (with positions) */
    float state;     /* of the states between recurrent layers; of a Transformer block's outputs */
    float attention; /* of attention weights (Transformer) */
    float ffn;       /* of the feed-forward's hidden layer */
    float output;    /* of what enters the output layer */
    float
        own; /* of the words before, those that are the decoder's own instead of the target's: scheduled sampling (recurrent) */
};

/* ---- once per sentence ------------------------------------------------------------------------------------------ */

/* What the decoder attends to. Made on a tape and gone with it. */
struct hd_memory {
    const hd_spans *spans; /* the source sentences in the rows of h */
    hd_node *h;            /* encoder states, [Σ S, width] */
    const hd_spans *documents,
        *questions; /* where these are in the rows of h; NULL where the source is one text */
    const int *row, *column; /* of each position, where the source is a grid; NULL otherwise */
    struct hd_weights self;  /* of the encoder; rows are those of h */
    void *of_arch;           /* what the architecture prepares once per sentence */
};

/* Run the encoder. `dropouts` may be NULL. */
struct hd_memory *hd_encode(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                            const struct hd_dropouts *dropouts);

/* What a recurrent model without attention makes of sentence i, *n numbers; NULL of others. */
const float *hd_memory_vector(const struct hd_net *net, const struct hd_memory *memory, int i,
                              int *n);

/* ---- teacher forcing: whole targets ------------------------------------------------------------------------------------- */

/* Row r predicts word position[r] of sentence[r]; for recurrent models rows stand time by time. A label is the only word of its
 * sentence. A span has two rows, those of all starts before those of all ends; `out` is what the softmax makes weights of. */
struct hd_forced {
    int n_rows;
    hd_node *out; /* what enters the output layer, [n_rows, R] */
    const int *target, *sentence, *position;
    const int *previous; /* of a recurrent decoder: the word it was shown; NULL of others */
    struct hd_weights cross, self;
};

struct hd_forced *hd_teacher_force(const struct hd_net *net, hd_tape *tape,
                                   const struct hd_memory *memory, const struct hd_batch *batch,
                                   const struct hd_dropouts *dropouts);

/* The loss Σ over target words, through the fused output layer. */
hd_node *hd_forced_loss(const struct hd_net *net, const struct hd_forced *forced, float smoothing);

/* The same of two runs over the same targets that should agree (R-Drop, SimCut). */
hd_node *hd_forced_loss_pair(const struct hd_net *net, const struct hd_forced *first,
                             const struct hd_forced *second, float smoothing,
                             const hd_consistency *consistency);

/* ---- names of parameters --------------------------------------------------------------------------------------------
 *
 * embed | source.embed, target.embed [V,E]    output.W [R,V] output.b [V]     (tied: no output.W)
 *
 * vectors as a source: source.mean, source.scale [width] (measured), source.W [stack · width,E], source.b [E],
 *   source.half.p.{W [2E,E], b} (Transformer, p = 1 … pyramid); a recurrent encoder's layers 2 … pyramid + 1 read two states
 *
 * CTC beside the words: ctc.W [E,V+1], ctc.b [V+1], the blank last
 *
 * a label: attention.{query [1,D], …}, output.W [E,V], output.b [V]
 *
 * a span: source.marks [4,E], source.traits [24,E], question.query [1,D], question.{…} and the other scores as attention.{…} below, question.map.{W, b};
 *   recurrent models: match.{…, C [·,E]}, match.k.1.forward.{…} (k = 1 … hops), hop.k.{…, G [D,E]}, hop.k.update.{W [D,D], C [·,D], b} (k = 2 … hops);
 *   pointer.start.{…}, pointer.update.{W, C, b}, pointer.end.{…}
 *
 * recurrent (k = 1, 3, 4 gates; l = 1, 2, …)
 *   encoder.l.forward.{W [in,kD], U [D,kD], b [kD], c [kD] (gru: added to U s')}, encoder.l.backward.…
 *   decoder.1.{W [E,kD] of y, C [C,kD] of the context, F [D,kD] of the fed h̃, U, b, c}, decoder.l.{W, U, b, c}
 *   decoder.second.{C, U, b, c}: the second cell of `inside`
 *   start.l.{W, b}, start.l.cell.{W, b} (lstm)
 *   attention.{W (query side), U (key side), v, b, cover}, attention.{q,k,v}.i.{W, b} (scaled), attention.{q,k,v,o}.W (multi-head),
 *   attention.p.{W, v} (local p), attention.{F [width,filters], L [filters,A]} (location-aware)
 *   readout.{s, y, c, b}
 * Transformer
 *   {encoder,decoder}.l.self.{q,k,v,o}.{W,b}, .self.norm.{gain,bias}; decoder.l.cross.…; .ffn.{1,2}.{W,b}, .ffn.norm.{gain,bias}
 *   encoder.norm.{gain,bias}, decoder.norm.{gain,bias} (final_norm); source.positions, target.positions [max,D] (learned) */

#endif
