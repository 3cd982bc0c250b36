/* quest.h -- the search for one sentence: its open hypotheses, those that have ended, and what a step makes of them.
 *
 * Hypotheses are leaves of a tree of words and point to their parents, so that nothing is copied when one becomes several. Whoever
 * runs the models asks for the open ones, and hands in what the models say of the next word of each. */
#ifndef HD_SEARCH_QUEST_H
#define HD_SEARCH_QUEST_H

#include "kernel/kernel.h"
#include "search/search.h"

/* A word of the tree. */
struct hd_branch {
    int parent; /* -1: the first word */
    int id;
    int slot; /* of the decoder's state after it; -1 until it has one, and after it is given back */
    int n_children;
    float logprob;
};

/* An open hypothesis: its last word (-1: none yet), its length, and Σ log p. */
struct hd_lead {
    int last, length;
    int sample; /* its number, when words are drawn */
    double total;
};

/* One that has ended, or was cut. */
struct hd_ending {
    int last, length;
    bool is_cut;
    float logprob; /* the end marker's */
    double total, score;
    float *alpha; /* the end marker's attention */
};

struct hd_quest {
    const struct hd_search_options *options;
    const struct hd_search_input *input;
    const struct hd_kernels *k;
    int end, n_words, limit; /* end marker, vocabulary, words at most */
    int width;  /* hypotheses, open and ended together: beam, or the number of samples */
    int places; /* of these, not yet taken by one that has ended */
    struct hd_branch *branches;
    size_t n_branches, branch_capacity;
    float *attention; /* [n_branches, n_source]: what each word looked at; empty when nobody asks */
    size_t attention_capacity;
    struct hd_lead *open, *next; /* [beam] each */
    int n_open;
    struct hd_ending *ended; /* [beam], best first */
    int n_ended;
    /* scratch */
    struct hd_candidate *candidates; /* [beam] */
    int *top;                        /* [beam] */
    float *top_value;                /* [beam] */
    int *history;                    /* the words of one hypothesis */
    size_t history_capacity;
    struct hd_chance *chances; /* [n_words], when words are drawn */
    int *freed;                /* slots that are free again since they were last collected */
    size_t n_freed, freed_capacity;
};

/* What the models say of the next word of one open hypothesis: log p(v) = (x[v] - largest) - log_sum. x may be written to. */
struct hd_outlook {
    float *x;
    float largest, log_sum;
    const float *alpha; /* [n_source]; NULL when nobody asked */
};

/* {0} before; to be released also when this fails. */
bool hd_quest_begin(struct hd_quest *q, const struct hd_kernels *k, int end, int n_words, int limit,
                    const struct hd_search_input *input, const struct hd_search_options *options,
                    heed_error *err);
void hd_quest_release(struct hd_quest *q);

/* One step: outlooks[i] is of open[i]. Over when none is open. */
bool hd_quest_step(struct hd_quest *q, const struct hd_outlook *outlooks, heed_error *err);

/* What was found; the quest is over. */
bool hd_quest_found(const struct hd_quest *q, struct hd_found *found, heed_error *err);

/* log p with length and coverage: total over n words, end marker counted; attention [rows, n_source] or NULL. */
double hd_score(const struct hd_search_options *options, double total, int n,
                const float *attention, int rows, int n_source);

/* Draw the word `step` of a sample of the sentence `number`. `room` is for n_words of them. */
struct hd_chance {
    double weight;
    int id;
};
int hd_draw(const struct hd_outlook *outlook, int n_words, const struct hd_search_options *options,
            uint64_t number, int sample, int step, struct hd_chance *room);
#endif
