/* beam.h -- the search for one sentence: its open hypotheses, those that have ended, and what a step makes of them.
 *
 * Hypotheses are leaves of a tree of words and point to their parents, so that nothing is copied when one becomes several. Whoever
 * runs the models asks for the open ones, and hands in what the models say of the next word of each. */
#ifndef HD_SEARCH_BEAM_H
#define HD_SEARCH_BEAM_H

#include "kernel/kernel.h"
#include "search/search.h"

/* A word of the tree. The first is no word: what stands before all of them. */
struct hd_branch {
    int parent; /* -1: the root's */
    int id;     /* -1: the root's */
    int slot; /* of the decoder's state after it; -1 until it has one, and after it is given back */
    int n_children;
    float logprob;
};

/* What required words are forgiven (constrain.c): of terms that are whole, and of one that is begun. {0} without terms. */
struct hd_term_bias {
    double settled, pending;
};

/* An open hypothesis: its last word, its length, and Σ log p. */
struct hd_open_hypothesis {
    int last, length;
    int sample; /* its number, when words are drawn */
    double total;
    struct hd_term_bias bias;
};

/* One that has ended, or was cut. */
struct hd_ended_hypothesis {
    int last, length;
    bool is_cut;
    float logprob; /* the end marker's */
    double total, score;
    float *alpha; /* the end marker's attention */
};

/* One way to go on: the open hypothesis `from` and a word. */
struct hd_candidate {
    int from, id;
    float logprob;
    double total;
    struct hd_term_bias bias;
};

/* Room for one step, shared by all beams of a search. */
struct hd_beam_scratch {
    struct hd_candidate *candidates; /* [width] */
    int *top;                        /* [width] */
    float *top_value;                /* [width] */
    size_t candidates_capacity, top_capacity, value_capacity;
    int *history; /* the words of one hypothesis */
    size_t history_capacity;
    struct hd_constrained *constrained; /* ways to go on with terms */
    size_t constrained_capacity;
    struct hd_weighted_word *chances; /* [n_words], when words are drawn */
};

struct hd_beam {
    const struct hd_search_options *options;
    const struct hd_search_input *input;
    const struct hd_kernels *k;
    struct hd_beam_scratch *scratch;
    int end, n_words, limit; /* end marker, vocabulary, words at most */
    int places;              /* of the width, not yet taken by a hypothesis that has ended */
    struct hd_branch *branches;
    size_t n_branches, branch_capacity;
    float *attention; /* [n_branches, n_source]: what each word looked at; empty when nobody asks */
    size_t attention_capacity;
    struct hd_open_hypothesis *open, *next; /* [width] each */
    int n_open;
    struct hd_ended_hypothesis *ended; /* [width], best first */
    int n_ended;
    int *freed; /* slots that are free again; whoever gave them takes them and sets n_freed to 0 */
    size_t n_freed, freed_capacity;
};

/* Hypotheses of a sentence, open and ended together: the beam, or the number of samples. */
static inline int hd_beam_width(const struct hd_search_options *options)
{
    return options->is_sampled ? options->n_best : options->beam;
}

/* Room for a sentence with these options; {0} is none. */
bool hd_beam_scratch_reserve(struct hd_beam_scratch *s, int n_words,
                             const struct hd_search_options *options, heed_error *err);
void hd_beam_scratch_release(struct hd_beam_scratch *s);

/* What the models say of the next word of one open hypothesis: log p(v) = (x[v] - largest) - log_sum. x may be
 * written to. Where only the likeliest word is known, top[0], x is NULL. */
struct hd_next_scores {
    float *x;
    float largest, log_sum;
    int n_top; /* the likeliest words are known already, so many; 0: they are not */
    const int *top;
    const float *top_value; /* x[top[i]] */
    const float *alpha;     /* [n_source]; NULL when nobody asked */
};

/* What a beam is about. */
struct hd_beam_task {
    const struct hd_search_input *input;
    const struct hd_search_options *options;
    int end, n_words, limit; /* end marker, vocabulary, words at most */
};

/* {0} before; to be released also when this fails. */
bool hd_beam_begin(struct hd_beam *q, const struct hd_beam_task *task, const struct hd_kernels *k,
                   struct hd_beam_scratch *scratch, heed_error *err);
void hd_beam_release(struct hd_beam *q);

/* How many of the likeliest words are worth knowing beforehand. */
int hd_beam_top_k(const struct hd_beam *q);

/* One step: next_scores[i] is of open[i]. Over when none is open. */
bool hd_beam_step(struct hd_beam *q, const struct hd_next_scores *next_scores, heed_error *err);

/* The words of a hypothesis, first to last, with room for one more; NULL without memory. */
int *hd_beam_history(struct hd_beam *q, int last, int length, heed_error *err);

/* What the options and the input do not allow as the next word of a hypothesis becomes impossible: x is -INFINITY. False without
 * memory. */
bool hd_beam_forbid(struct hd_beam *q, const struct hd_open_hypothesis *hyp, float *x,
                    heed_error *err);

/* The best ways to go on for an output that must have terms, into scratch->candidates, best first; how many, -1 without memory. */
int hd_beam_constrain(struct hd_beam *q, const struct hd_next_scores *next_scores, heed_error *err);

/* Nothing stays open, and nothing more is found. */
bool hd_beam_stop(struct hd_beam *q, heed_error *err);

/* What was found; the beam is over. */
bool hd_beam_collect(const struct hd_beam *q, struct hd_nbest *found, heed_error *err);

/* log p with length and coverage: total over n words, end marker counted; attention [rows, n_source] or NULL. */
double hd_hypothesis_score(const struct hd_search_options *options, double total, int n,
                           const float *attention, int rows, int n_source);

/* Draw the word `step` of a sample of the sentence `number`. `room` is for n_words of them. */
struct hd_weighted_word {
    double weight;
    int id;
};
int hd_sample_word(const struct hd_next_scores *next_scores, int n_words,
                   const struct hd_search_options *options, uint64_t number, int sample, int step,
                   struct hd_weighted_word *room);
#endif
