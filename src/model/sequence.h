/* sequence.h -- a source or a target as the model reads it: ids, with the end marker where one is wanted, or an item of vectors. A
 * document has a question beside it; the target is then the numbers of the first and of the last id of the answer. */
#ifndef HD_MODEL_SEQUENCE_H
#define HD_MODEL_SEQUENCE_H

struct hd_vectors; /* vector/vectors.h */

struct hd_sequence {
    const int *ids; /* NULL of vectors */
    int n; /* words; of vectors the positions that a decoder attends to: hd_config_positions() */
    const int *question; /* of a document: the ids of what is asked, */
    int n_question;      /* so many */
    /* [n, HD_N_KEYS], [n_question, HD_N_KEYS]: what is known of words beside their ids (text/word_keys.h); NULL: nothing */
    const int *key, *question_key;
    const struct hd_vectors *vectors; /* a source of vectors: `item` of them, */
    int item, n_frames;               /* which has so many; they are read when a batch is made */
};

/* What it costs to read, about. */
static inline int hd_sequence_size(struct hd_sequence s)
{
    return s.vectors ? s.n_frames : s.n + s.n_question;
}

#endif
