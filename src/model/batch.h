/* batch.h -- sentences of ids side by side, as the model reads them: one after the other, without padding. */
#ifndef HD_MODEL_BATCH_H
#define HD_MODEL_BATCH_H

#include "model/sequence.h"
#include "text/word_keys.h"
#include <heed.h>

/* A word of the source or of target_seen that is hidden: its embedding is a row of zeros. */
enum { HD_HIDDEN = -1 };

/* What a position of a document and its question is. */
enum hd_source_mark {
    HD_MARK_QUESTION,
    HD_MARK_DOCUMENT,
    HD_MARK_ASKED,
    HD_MARK_BETWEEN,
    HD_N_MARKS
};

/* What a word of a document or a question looks like, and how much of it is in the other: the number of a trait is likeness · HD_N_SHAPES +
 * shape (text/word_keys.h). */
enum hd_word_likeness { HD_LIKE_NONE, HD_LIKE_BEGINNING, HD_LIKE_WORD, HD_N_LIKENESSES };
enum { HD_N_TRAITS = HD_N_LIKENESSES * HD_N_SHAPES };

/* The end marker, where wanted, is already among the ids. */
struct hd_batch {
    int n;
    const int *source, *source_length; /* [Σ lengths], [n] */
    const int *target, *target_length; /* as the source; not read by a search */
    const int *target_seen; /* what the decoder is shown of the target; NULL: all of it */
    /* documents with questions: */
    const int *question, *question_length; /* [Σ lengths], [n]; NULL: there are none */
    const int *
        mark; /* [Σ source lengths]: enum hd_source_mark of each word of a document, hidden or not */
    const int *
        type; /* [Σ source lengths]: the number of the word among those of its document, each counted once */
    const int *trait, *question_trait; /* [Σ source lengths], [Σ question lengths] */
    /* a source of vectors, instead of ids: */
    const float *frames;     /* [Σ frame_length, width] */
    const int *frame_length; /* [n] */
    const int *grid;         /* [2n]: rows and columns of each; 0 where it has none */
};

/* Builds batches in memory that is kept from one to the next. {0} is empty; to be given to hd_batch_builder_release(). */
struct hd_batch_builder {
    int n;
    size_t n_source, n_target, n_question; /* ids of all sentences together */
    int *question, *question_length, *mark, *type, *trait, *question_trait;
    size_t question_capacity, question_length_capacity, mark_capacity, type_capacity,
        trait_capacity, question_trait_capacity;
    int *source, *target, *source_length, *target_length;
    size_t source_capacity, target_capacity, source_length_capacity, target_length_capacity;
    size_t n_frames;
    float *frames;
    int *frame_length, *grid;
    size_t frames_capacity, frame_length_capacity, grid_capacity;
};

void hd_batch_builder_release(struct hd_batch_builder *builder);

/* Start the next batch. */
void hd_batch_begin(struct hd_batch_builder *builder);

/* Add a sentence; the ids are copied, vectors read. `target` is {0} for a search; `end`, unless it is -1, is appended to the target. */
bool hd_batch_add(struct hd_batch_builder *builder, struct hd_sequence source,
                  struct hd_sequence target, int end, heed_error *err);

/* The sentences added so far, valid until the next hd_batch_add() or hd_batch_begin(). */
struct hd_batch hd_batch_of(const struct hd_batch_builder *builder);

#endif
