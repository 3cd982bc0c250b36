/* neighbours.h -- nearest-neighbour translation: what was said at steps of remembered sentences that are like this step.
 *
 * A remembered step is what entered the output layers and the word that came next. A search step looks for the k nearest, and mixes
 * the words that they said with what the models say (Khandelwal et al., 2021). The steps are those of a few sentences alone, which
 * were chosen because they are like the source, and the nearer the nearest is, the more it counts (Dai et al., 2023):
 *
 *     p(w) = (1 - λ) p_model(w) + λ Σ_{i: next_i = w} softmax(-d_i / temperature)       λ = share · max(0, 1 - d_1 / reach)
 *
 * Distances are squares, by the variance of all steps that there are, so that they mean the same for every model. */
#ifndef HD_SEARCH_NEIGHBOURS_H
#define HD_SEARCH_NEIGHBOURS_H

#include "search/beam.h"

/* The steps of one remembered sentence, its end included. */
struct hd_steps {
    int n, width;
    int *next;      /* [n] */
    float *states;  /* [n, width]; of several nets side by side */
    double *square; /* [n]: |state|² */
};

/* What given outputs make of the nets, as hd_force_decode() runs them: steps[i] is of input[i], whose prefix is the whole output. To be
 * given to hd_steps_release(). False with the reason in `err`, and no steps. */
struct hd_step_recorder;
struct hd_step_recorder *hd_step_recorder_new(heed_error *err); /* memory that stays warm */
void hd_step_recorder_free(struct hd_step_recorder *recorder);  /* NULL is fine */
bool hd_steps_record(struct hd_step_recorder *recorder, const struct hd_net *const *nets,
                     int n_nets, int end, const struct hd_search_input *input, size_t n,
                     struct hd_steps *steps, heed_error *err);
void hd_steps_release(struct hd_steps *steps);

enum { HD_MOST_NEIGHBOURS = 64 };

/* What a search looks at. */
struct hd_neighbours {
    const struct hd_steps **sentences; /* borrowed */
    int n_sentences;
    int k; /* at most HD_MOST_NEIGHBOURS */
    double share, temperature, reach;
    int unknown;     /* a word that is not worth saying, that of unknown ones; -1: there is none */
    double variance; /* of all states; set by hd_neighbours_prepare() */
};

/* Once its sentences are there. False without memory. */
bool hd_neighbours_prepare(struct hd_neighbours *neighbours, heed_error *err);

/* Mixes what they say into the scores of one row: x, log_sum and the likeliest words, which must be writable. states[m] is what entered
 * the output layer of net m, widths[m] numbers. */
void hd_neighbours_mix(const struct hd_neighbours *neighbours, const struct hd_kernels *k,
                       const float *const *states, const int *widths, int n_nets,
                       struct hd_next_scores *scores, int *top, float *top_value);

#endif
