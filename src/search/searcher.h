/* searcher.h -- what a searcher holds, for the files that make one: searcher.c (sentences come and go), step.c (one word).
 *
 * Invariant: a slot of the decoders belongs to one word of one sentence's tree, or is free. */
#ifndef HD_SEARCH_SEARCHER_H
#define HD_SEARCH_SEARCHER_H

#include "search/beam.h"

/* A sentence, from being added to being taken. */
struct hd_search_sentence {
    struct hd_search_input input;
    struct hd_search_options options;
    void *tag;
    int entry;      /* in the decoders, the same in all of them; -1 before it is encoded */
    bool is_broken; /* the model's numbers were not finite */
    struct hd_beam beam;
    struct hd_nbest nbest;
};

/* Sentences in order. {0} is none. */
struct hd_sentence_list {
    struct hd_search_sentence **at;
    size_t n, capacity;
};

struct hd_searcher {
    const struct hd_net **nets;
    int n_nets, end, n_words, n_rows;
    struct hd_decoder **decoders; /* [n_nets] */
    hd_tape *tape; /* of the group being encoded, then of a step: what lasts is in the decoders */
    hd_node **out; /* [n_nets]: what enters the output layers, for all rows of the step */
    const struct hd_net *lm; /* shallow fusion; NULL: none */
    struct hd_decoder *lm_decoder;
    hd_node *lm_out;
    float lm_weight;
    struct hd_ctc_states *ctc; /* [n_nets]: of hypotheses, by slot; used by nets with CTC alone */
    struct hd_beam_scratch scratch;

    struct hd_sentence_list waiting, under_way, finished, spare;
    size_t n_encoded; /* of those that wait, the first */
    size_t n_added;
    bool has_failed; /* a step did: the decoders must begin anew */
    struct hd_batch_builder group;

    int *free_slots, n_slots;
    size_t n_free, free_capacity;

    /* The rows of a step. */
    struct hd_step_rows rows;
    int *entry, *previous, *length, *slot, *past;
    size_t row_capacity[4], past_capacity;
    const float **looks;
    size_t looks_capacity;
    struct hd_next_scores *next_scores;
    size_t next_scores_capacity;
    float *alpha;
    size_t alpha_capacity;
};

/* Of a net, what CTC knows of the hypotheses: a prefix (ctc_prefix.h) for every slot. */
struct hd_ctc_states {
    struct hd_ctc_state {
        double *prefix;
        size_t capacity;
    } * at;
    size_t n, capacity;
};
void hd_ctc_states_release(struct hd_ctc_states *states);

/* Of row `row`, whose logits are in scores->x: what attention and CTC together say of every word, in its place; the likeliest in top and
 * value. search_ctc.c */
bool hd_search_mix_ctc(struct hd_searcher *searcher, const struct hd_search_options *options,
                       int row, struct hd_next_scores *scores, int *top, float *value,
                       heed_error *err);

/* Room for `count` in an array that *array points to. */
#define HD_HAS_ROOM(array, capacity, count, err) \
    hd_has_room((void **)&(array), &(capacity), count, sizeof *(array), err)
bool hd_has_room(void **array, size_t *capacity, size_t count, size_t size, heed_error *err);

/* Every hypothesis under way grows by a word; beams of sentences that are over have nothing open then. */
bool hd_search_step(struct hd_searcher *searcher, heed_error *err);

/* The slots that a beam has given back are free again. */
bool hd_take_back_slots(struct hd_searcher *searcher, struct hd_beam *beam, heed_error *err);
#endif
