/* model.h -- a model: its configuration, its named parameters, and the two ways to run it.
 *
 * Teaching runs the decoder over whole targets, search one step at a time; both are the same formulas (place.c,
 * transformer.c) and give the same bits. What is computed once per sentence (the memory) may live on another tape than the
 * steps. A model is only read here, so threads share it; a decoder belongs to one of them. */
#ifndef HD_MODEL_MODEL_H
#define HD_MODEL_MODEL_H

#include "model/batch.h"
#include "model/config.h"
#include "model/weights.h"
#include <heed_graph.h>

struct hd_rnn_parts;         /* place.h */
struct hd_transformer_parts; /* transformer.h */
struct hd_screen;            /* screen.h */

/* The parameters of a model, by role. Those that a configuration does not have are NULL. */
struct hd_net {
    struct hd_config config;
    hd_params *params;
    hd_node *source_table, *target_table; /* embeddings [V,E]; one and the same node when tied */
    hd_node *output,
        *output_bias; /* [R,V], or the target table [V,E] when is_output_tied; bias [V] */
    bool is_output_tied;
    _Atomic(struct hd_screen *)
        screen;               /* of the output layer, made by hd_net_make_screen(); may be NULL */
    struct hd_rnn_parts *rnn; /* NULL for the Transformer */
    struct hd_transformer_parts *transformer;
};

/* Declare all parameters of a configuration that has been checked, and give them room. Values are zeros; see hd_net_init.
 * To be given to hd_net_free(). */
struct hd_net *hd_net_new(const struct hd_config *config, heed_error *err);
void hd_net_free(struct hd_net *net);

/* The same in two steps: names and shapes only, until hd_params_make(net->params). */
struct hd_net *hd_net_declare(const struct hd_config *config, heed_error *err);

/* Start values for training: Glorot for maps, orthogonal for recurrent ones, forget gates at 1, gains 1, embeddings
 * normal with deviation 1/√E. The same on every machine for a seed. */
void hd_net_init(struct hd_net *net, uint64_t seed);

/* Lay the weights out for speed, once they have their values: those that a search reads. While no tape is in use. */
bool hd_net_pack(struct hd_net *net, heed_error *err);

/* Make the 8-bit screen with which hd_best_words() is faster, unless there is one of the present values. It takes as long as
 * some ten words do. Others may be searching. */
bool hd_net_make_screen(struct hd_net *net, heed_error *err);

/* Shares of numbers dropped while the tape trains. All 0 in {0}. */
struct hd_dropouts {
    float embed;     /* of embeddings (with positions) */
    float state;     /* of the states between recurrent layers; of a Transformer block's outputs */
    float attention; /* of attention weights (Transformer) */
    float ffn;       /* of the feed-forward's hidden layer */
    float output;    /* of what enters the output layer */
};

/* ---- once per sentence ------------------------------------------------------------------------------------------ */

/* What the decoder may look at. Made on a tape and gone with it. */
struct hd_memory {
    const hd_spans *spans;  /* the source sentences in the rows of h */
    hd_node *h;             /* encoder states, [Σ S, width] */
    struct hd_weights self; /* of the encoder; rows are those of h */
    void *of_arch;          /* what the architecture prepares once per sentence */
};

/* Run the encoder. `dropouts` may be NULL. */
struct hd_memory *hd_encode(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                            const struct hd_dropouts *dropouts);

/* ---- teaching: whole targets ------------------------------------------------------------------------------------- */

/* Row r predicts word position[r] of sentence[r]; for recurrent models rows stand time by time. */
struct hd_forced {
    int n_rows;
    hd_node *out; /* what enters the output layer, [n_rows, R] */
    const int *target, *sentence, *position;
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

/* ---- search: one word of many hypotheses --------------------------------------------------------------------------- */

/* What a net remembers between the steps of a search. To be given to hd_decoder_free(). */
struct hd_decoder;
struct hd_decoder *hd_decoder_new(const struct hd_net *net, heed_error *err);
void hd_decoder_free(struct hd_decoder *decoder);

/* As it was when it was new: after a step that failed, its caches may not go together any more. */
void hd_decoder_clear(struct hd_decoder *decoder);

/* Run the encoder over the sources of a batch and remember what the decoder looks at: place[i] is the number by which
 * sentence i is known until it leaves. `tape` may be reset afterwards. False with the reason on it, and no sentence has entered. */
bool hd_decoder_enter(struct hd_decoder *decoder, hd_tape *tape, const struct hd_batch *batch,
                      int *place);
void hd_decoder_leave(struct hd_decoder *decoder, int place);

/* Hypotheses that are to grow by a word, each of its own length. What the decoder remembers of a step is kept in a slot, numbered by
 * the caller; hypotheses with the same beginning name the same slots. Memory is taken up to the largest number. */
struct hd_rows {
    int n;
    const int *place;    /* its sentence */
    const int *previous; /* the word before; -1 at the first step: target_start */
    const int *length;   /* words it has: steps that were done for it */
    const int *past;     /* [Σ length]: the slots of these steps, first to last, row after row */
    const int *slot;     /* of this step; it may be that of no other hypothesis that goes on */
};

struct hd_stepped {
    hd_node *out;            /* [n,R] */
    struct hd_weights cross; /* on the tape */
};

/* `tape` is the step's: it may be reset before the next. */
struct hd_stepped hd_decoder_step(struct hd_decoder *decoder, hd_tape *tape,
                                  const struct hd_rows *rows);

/* What the output layer makes of rows [n,R]: logits [n,V], with the tied table or its own weights. */
hd_node *hd_logits(const struct hd_net *net, hd_node *out);

/* The likeliest word of each row of [n,R], the lower id of equal ones: the same as from all logits, but most of them need not be made.
 * -1 where they are not finite. False with the reason on the tape. */
bool hd_best_words(const struct hd_net *net, hd_node *out, int *word);

/* ---- names of parameters --------------------------------------------------------------------------------------------
 *
 * embed | source.embed, target.embed [V,E]    output.W [R,V] output.b [V]     (tied: no output.W)
 *
 * recurrent (k = 1, 3, 4 gates; l = 1, 2, …)
 *   encoder.l.forward.{W [in,kD], U [D,kD], b [kD], c [kD] (gru: added to U s')}, encoder.l.backward.…
 *   decoder.1.{W [E,kD] of y, C [C,kD] of the context, F [D,kD] of the fed h̃, U, b, c}, decoder.l.{W, U, b, c}
 *   decoder.second.{C, U, b, c}: the second cell of `inside`
 *   start.l.{W, b}, start.l.cell.{W, b} (lstm)
 *   attention.{W (query side), U (key side), v, b, cover}, attention.{q,k,v}.i.{W, b} (scaled), attention.{q,k,v,o}.W (multi-head),
 *   attention.p.{W, v} (local p)
 *   readout.{s, y, c, b}
 * Transformer
 *   {encoder,decoder}.l.self.{q,k,v,o}.{W,b}, .self.norm.{gain,bias}; decoder.l.cross.…; .ffn.{1,2}.{W,b}, .ffn.norm.{gain,bias}
 *   encoder.norm.{gain,bias}, decoder.norm.{gain,bias} (final_norm); source.positions, target.positions [max,D] (learned) */

#endif
