/* search.h -- from one decoder step to whole sentences of ids: greedy, beam, sampling, forced words.
 *
 * A searcher has sentences under way: all hypotheses of all of them advance as one batch, one word a step. Sentences may be
 * added at any time; a finished sentence's rows are taken by the next one at once. No result depends on what else is under way.
 * A searcher belongs to one thread at a time; models are only read, so threads share them.
 *
 * A beam search keeps the likeliest hypotheses, `beam` of them with those that have ended: one that ends leaves its place for
 * good, so the search narrows and is over when `beam` have ended, or sooner when it is certain that none of those still open
 * would be among the n_best. Of equal ones the earlier hypothesis is taken, then the likelier word, then the lower id. */
#ifndef HD_SEARCH_SEARCH_H
#define HD_SEARCH_SEARCH_H

#include "model/model.h"
#include "model/sequence.h"

enum hd_length_norm { HD_LENGTH_NONE, HD_LENGTH_POWER, HD_LENGTH_GNMT };

struct hd_search_options {
    int beam;   /* hypotheses per sentence; 1 is greedy */
    int n_best; /* how many to return, at most beam; of samples: how many are drawn */
    enum hd_length_norm
        norm; /* score = log p / n^alpha, or / ((5+n)/6)^alpha, Wu et al. (2016); n counts the end marker */
    float alpha;
    float coverage_penalty; /* β of + β Σ_j log min(Σ_t α_tj, 1), Wu et al. (2016); 0 is none */
    float
        ctc_weight; /* λ of (1 - λ) log p + λ log ψ, ψ of CTC (ctc_prefix.h); 0: attention alone */
    int no_repeat;     /* n-grams of this length are never repeated; 0 is off */
    bool is_sampled;   /* draw words instead of searching */
    int top_k;         /* draw from the likeliest k words; 0: from all */
    float top_p;       /* and from the fewest that are this likely together; 1: all */
    float temperature; /* 1: as the model says */
    uint64_t seed;
    int n_rows; /* hypotheses that advance together; a matter of speed and memory alone */
    bool
        words_alone; /* greedy search without probabilities, which is faster: logprob is NULL, total and score are 0 */
    bool wants_attention; /* keep the weights, */
    enum hd_attention_kind
        attention;   /* of this kind; a search has those of cross-attention alone */
    int layer, head; /* of hd_weights_of(): 0, -1 are the model's own choice */
    bool
        wants_raw; /* of forced decoding by one net: the scores of cross-attention, or the one vector */
    int n_top;     /* of forced decoding: the likeliest words of each step, so many */
    bool wants_tree;        /* of a search: all words that were ever kept */
    bool never_stops_early; /* until `beam` have ended: slower, the same result (tests) */
    bool (*keep_on)(
        void *
            data); /* asked before every step; false stops the work (HEED_CANCELLED). NULL: never asked */
    void *keep_on_data;
};
struct hd_search_options hd_search_options_default(void);

enum { HD_MOST_ONCE = 16 };
struct hd_terms;
struct hd_neighbours;

/* What the word of a step, from 0, looks at: a weight for each word of the source. */
struct hd_look {
    int step;
    const float *alpha;
};

struct hd_search_input {
    struct hd_sequence source; /* end marker included where the model wants one */
    struct hd_sequence prefix; /* words the output must begin with; may be empty */
    /* Words that a search must find, each once; may be empty. Where the model would end without one of them, the likeliest of those
     * missing is said instead. */
    struct hd_sequence once;
    struct hd_sequence never; /* words that a search must not find; may be empty */
    int max_length; /* words at most, end marker not counted; the prefix is kept even if it is longer */
    int n_looks;     /* of `looks` */
    uint64_t number; /* decides, with the seed, what is drawn: the sentence's number in its text */
    /* What the output must have (search/terms.h); NULL: nothing. Not of samples, nor of words_alone. */
    const struct hd_terms *terms;
    /* Remembered steps that are mixed in (search/neighbours.h); NULL: none. Not of words_alone. */
    const struct hd_neighbours *neighbours;
    /* Steps at which it must look where it is told to; may be empty. */
    const struct hd_look *looks;
};

/* max_length as it is where nobody says otherwise: so many words per source word (3), and 50 more. */
int hd_longest_output(int n_source, float per_word);

/* One output: ids without the end marker; logprob[n] is the end marker's (n+1 numbers; n when it was cut off). */
struct hd_hypothesis {
    int n;
    int *ids;
    float *logprob;      /* of each word, as the model says, whatever was forbidden or forced */
    double total, score; /* Σ logprob; with length and coverage */
    bool is_cut;         /* hit max_length: there is no end marker */
    float *
        attention; /* [n + 1 (the end marker's row, unless cut), n_source], or NULL; of the encoder's self-attention
                         [n_source, n_source], of the decoder's [n + 1, n + 1] */
    float *
        raw; /* the scores of which the attention is made, of the same size; NULL unless asked for, or where there are none */
    float *
        vector; /* [n_vector]: what a model without attention makes of the source; NULL unless asked for */
    int n_vector;
    int *top_ids;       /* [n + 1, n_top], likeliest first; NULL unless asked for */
    float *top_logprob; /* [n + 1, n_top] */
};

/* A word that the search kept for a step at least, or the end of a hypothesis. */
struct hd_tree_node {
    int parent; /* -1: it is a first word */
    int id;     /* the end marker's for an end; -1 for a hypothesis that was cut */
    float logprob;
    double total, score; /* Σ logprob so far; of an end, with length and coverage */
    int rank;            /* of an end: its place among all ends, from 0; -1: no end */
};

/* Best first, those that were cut behind all others; no two have the same words. Samples stand in the order of their numbers and
 * may be the same. {0} is empty. */
struct hd_nbest {
    int n;
    struct hd_hypothesis *best;
    struct hd_tree_node *tree; /* parents stand before children; NULL unless asked for */
    size_t n_tree;
};

void hd_nbest_release(struct hd_nbest *nbest);

/* ---- a searcher ---------------------------------------------------------------------------------------- */

struct hd_searcher;

/* Several nets are an ensemble: the log-probability of a word is the mean of theirs. They may be of any architecture, but their
 * vocabularies are the same. `end` is the end marker's id. Nets are borrowed; the array is not kept. NULL with the reason in `err`. */
struct hd_searcher *hd_searcher_new(const struct hd_net *const *nets, int n_nets, int end,
                                    heed_error *err);
void hd_searcher_free(struct hd_searcher *searcher);

/* Shallow fusion (Gulcehre et al. 2015): a word counts log p(word) + weight · log p_lm(word) from now on, p_lm by a net without a source,
 * which is borrowed. Before the first sentence is added; not of words_alone. False with the reason in `err`. */
bool hd_searcher_fuse(struct hd_searcher *searcher, const struct hd_net *lm, float weight,
                      heed_error *err);

/* Hypotheses that advance together, a matter of speed and memory alone; 48 until it is set. */
void hd_searcher_set_rows(struct hd_searcher *searcher, int n_rows);

/* One more sentence. Its ids are borrowed until it is taken, cancelled or cleared; its options are copied, and each sentence has its
 * own (n_rows and keep_on are not looked at). `tag` tells sentences apart. False with the reason in `err`, and nothing is added:
 * HEED_BAD_OPTION for what cannot be done as it is asked for, HEED_NO_MEMORY. */
bool hd_searcher_add(struct hd_searcher *searcher, const struct hd_search_input *input,
                     const struct hd_search_options *options, void *tag, heed_error *err);

/* One word for every hypothesis under way; those that wait join first, as far as there is room. When it fails (HEED_NO_MEMORY) the
 * searcher must be cleared. */
bool hd_searcher_step(struct hd_searcher *searcher, heed_error *err);

/* A sentence that is finished, in the order of finishing; false when there is none. `nbest` is the caller's then. It is empty (n 0)
 * where the model's numbers were not finite: hd_scores_not_finite() has the sentence to say. */
bool hd_searcher_take(struct hd_searcher *searcher, struct hd_nbest *nbest, void **tag);

/* The words so far of the best hypothesis of a sentence under way, to be given to hd_free(); NULL where there are none, or without
 * memory. */
int *hd_searcher_peek(const struct hd_searcher *searcher, const void *tag, int *n);

/* Forget a sentence, wherever it is; false when there is none of this tag. */
bool hd_searcher_cancel(struct hd_searcher *searcher, const void *tag);

/* Forget all of them. What is warm stays warm. */
void hd_searcher_clear(struct hd_searcher *searcher);

/* Sentences that are not finished yet. */
size_t hd_searcher_size(const struct hd_searcher *searcher);

/* Words of the longest output that is under way; 0: there is none. */
int hd_searcher_longest(const struct hd_searcher *searcher);

/* "the model's numbers are not finite …"; always false. */
bool hd_scores_not_finite(heed_error *err);

/* ---- all at once ------------------------------------------------------------------------------------------ */

/* Search n sentences: found[i] belongs to input[i], to be given to hd_nbest_release(). False with the reason in `err`, and nothing found
 * (HEED_BAD_OPTION, HEED_BAD_MODEL: numbers that are not finite, HEED_CANCELLED, HEED_NO_MEMORY). */
bool hd_search(const struct hd_net *const *nets, int n_nets, int end,
               const struct hd_search_input *input, size_t n,
               const struct hd_search_options *options, struct hd_nbest *found, heed_error *err);

/* Forced decoding: what the nets say of given outputs. input[i].prefix is the whole output, without the end marker; found[i]
 * has one hypothesis, of these words, ended. The same numbers as hd_search() gives for the same output, bit for bit. Of the
 * options count norm, alpha, coverage_penalty (with cross-attention), wants_attention, attention, layer, head, n_top and keep_on. */
bool hd_force_decode(const struct hd_net *const *nets, int n_nets, int end,
                     const struct hd_search_input *input, size_t n,
                     const struct hd_search_options *options, struct hd_nbest *found,
                     heed_error *err);
#endif
