/* decoder.h -- the decoder of a net in a search: one word of many hypotheses at a time.
 *
 * It remembers in caches of rows: a row for every source position of the sentences that are under way, a row for every such
 * sentence, and a row for every decoded word (its slot): a Transformer's keys and values of that word, a recurrent net's state
 * after it. Nothing is copied when a hypothesis becomes several: they name the same slots. */
#ifndef HD_MODEL_DECODER_H
#define HD_MODEL_DECODER_H

#include "model/batch.h"
#include "model/cache.h"
#include "model/config.h"
#include "model/weights.h"

/* To be given to hd_decoder_free(). */
struct hd_decoder *hd_decoder_new(const struct hd_net *net, heed_error *err);
void hd_decoder_free(struct hd_decoder *decoder);

/* As it was when it was new: after a step that failed, its caches may not go together any more. */
void hd_decoder_clear(struct hd_decoder *decoder);

/* Run the encoder over the sources of a batch and remember what the decoder attends to: entry[i] is the number by which
 * sentence i is known until it leaves. `tape` may be reset afterwards. False with the reason on it, and no sentence has entered. */
bool hd_decoder_enter(struct hd_decoder *decoder, hd_tape *tape, const struct hd_batch *batch,
                      int *entry);
void hd_decoder_leave(struct hd_decoder *decoder, int entry);

/* From now on keep what a net with CTC says of the sentences that enter; and that of one: y_t(k) of its *n positions, each row as wide as
 * the vocabulary and the blank. */
void hd_decoder_keep_ctc(struct hd_decoder *decoder);
const float *hd_decoder_ctc(const struct hd_decoder *decoder, int entry, int *n);

/* Hypotheses that are to grow by a word, each of its own length. What the decoder remembers of a step is kept in a slot, numbered by
 * the caller; hypotheses with the same beginning name the same slots. Memory is taken up to the largest number. */
struct hd_step_rows {
    int n;
    const int *entry;    /* its sentence */
    const int *previous; /* the word before; -1 at the first step: target_start */
    const int *length;   /* words it has: steps that were done for it */
    const int *past;     /* [Σ length]: the slots of these steps, first to last, row after row */
    const int *slot;     /* of this step; it may be that of no other hypothesis that goes on */
    /* [n]: what a row is to look at, weights for all of its source, instead of what it would; NULL where it is free. NULL: all are.
     * Of a Transformer the heads of the alignment do. */
    const float *const *looks;
};

struct hd_stepped {
    hd_node *out;            /* [n,R] */
    struct hd_weights cross; /* on the tape */
};

/* `tape` is the step's: it may be reset before the next. */
struct hd_stepped hd_decoder_step(struct hd_decoder *decoder, hd_tape *tape,
                                  const struct hd_step_rows *rows);

/* ---- for the architectures --------------------------------------------------------------------------------------------- */

enum { HD_MAX_CACHES = 2 * HD_MAX_LAYERS + 4 };

struct hd_decoder {
    const struct hd_net *net;
    struct hd_cache positions[HD_MAX_CACHES], sentences[HD_MAX_CACHES], words[HD_MAX_CACHES];
    hd_spans entries; /* their rows in `positions`; length -1 where no sentence is */
    int *start, *length;
    size_t start_capacity, length_capacity;
    bool keeps_ctc; /* what CTC says of sentences that enter from now on is kept, too */
    struct hd_cache
        ctc; /* a row for every source position: the probability of every word and the blank */
};

/* What of a memory is kept: nodes with a row for every source position, and for every sentence. NULL ones are left out. */
struct hd_to_cache {
    int n_positions, n_sentences;
    hd_node *positions[HD_MAX_CACHES], *sentences[HD_MAX_CACHES];
};

#endif
