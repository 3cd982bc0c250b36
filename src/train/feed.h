/* feed.h -- the order of the text: from a corpus to batches of ids, epoch after epoch.
 *
 * An epoch is a true shuffle of all pairs. It is read in pools of some ten thousand pairs, each sorted by length and cut into
 * batches of about equal numbers of target tokens, which come in random order. A batch is a function of the corpus, the seed and
 * its place alone, so going on after a kill means going to a place. Pairs may be varied on the way (text/vary.h). */
#ifndef HD_TRAIN_FEED_H
#define HD_TRAIN_FEED_H

#include "base/threads.h"
#include "align/link_lists.h"
#include "model/guidance.h"
#include "model/sequence.h"
#include "text/corpus.h"
#include "text/vary.h"
#include "text/vocab.h"
#include "vector/vectors.h"

struct hd_feed_options {
    uint64_t seed;
    const struct hd_link_lists
        *links;              /* of the words of every pair of the corpus; NULL: not known */
    bool links_by_character; /* how they count words: text/word_links.h */
    int tokens;              /* target tokens of a batch, end marker included; or, where it */
    bool counts_source;      /* is the source that is long, source tokens */
    int max_length;          /* tokens of a side; longer pairs are left out */
    int max_answer; /* documents with questions: tokens of an answer; 0: sources are plain text */
    float subword_sampling; /* 0: none */
    int hold_out;           /* every so-manyth pair is kept for validation; 0: none */
    struct hd_vary_rates vary;
    /* Vectors as a source: line i of the text belongs to item i of them; NULL: the source is text. `frames` are one position. */
    const struct hd_vectors *vectors;
    int frames;
    int max_frames, batch_frames; /* of an item; of a batch, beside its tokens */
    float
        temperature; /* of several languages: a direction of n pairs has a share of n^(1/temperature); 1, and 0: as it is */
};

/* The next batch: batch `batch` of pool `pool` of epoch `epoch`, all from 0. */
struct hd_feed_position {
    int epoch, pool, batch;
};

/* One pair of sentences as ids; end markers are there where the vocabulary has one. Without a source's vocabulary the source is empty. */
struct hd_pair_ids {
    struct hd_sequence source, target;
    struct hd_token_links links; /* of their tokens; none without options.links */
};

struct hd_feed;

/* A document and its question as ids, with the numbers of the answer's first and last token behind them, appended to `ids`; the tokens' places
 * in the document, to be given to hd_encoding_release(), go to *placed, which may be NULL. Of document and question `longest` tokens together, and of
 * the question one less at most. Behind the ids stand their keys. The sequences point to ids->at when all is added (hd_question_ids). False with the reason in `err`. */
struct hd_question_lengths {
    int document, question; /* tokens; 0 where there are none */
};
bool hd_question_encode(const struct hd_vocab *vocab, const struct hd_text_pair *pair, int longest,
                        struct hd_ids *ids, struct hd_question_lengths *lengths,
                        struct hd_encoding *placed, heed_error *err);
struct hd_pair_ids hd_question_ids(const int *ids, const struct hd_question_lengths *lengths);

/* The vectors of a pair of the corpus, as a sequence of positions of so many frames. */
struct hd_sequence hd_vector_sequence(const struct hd_vectors *vectors, int frames,
                                      const struct hd_corpus *corpus, size_t pair);

/* The corpus, the vocabularies and the pool of threads must stay. Where the corpus names languages and the source's vocabulary has
 * symbols for them, sources begin with that of their target's language. */
struct hd_feed *hd_feed_new(const struct hd_corpus *corpus, const struct hd_vocab *source,
                            const struct hd_vocab *target, const struct hd_feed_options *options,
                            struct hd_pool *threads, heed_error *err);
void hd_feed_free(struct hd_feed *feed);

/* Pairs of the batch at *place, *n of them, shortest first; *place becomes the next one's. They live until the next call.
 * NULL with the reason in `err`: no pair of the corpus is short enough, or memory is short. */
const struct hd_pair_ids *hd_feed_next(struct hd_feed *feed, struct hd_feed_position *place, int *n,
                                       heed_error *err);

/* Passes over the text when `place` is reached: 2.5 in the middle of the third. */
double hd_feed_epoch(const struct hd_feed *feed, const struct hd_feed_position *place);

/* Pairs of the first epoch that was asked for, as far as it was read, and those left out: a side too long, or without any token. */
struct hd_feed_counts {
    size_t n_pairs, n_long, n_empty;
};
struct hd_feed_counts hd_feed_counts(const struct hd_feed *feed);

/* The i-th of n in an order that a key decides: a permutation, computed where it is asked for. */
uint64_t hd_shuffled(uint64_t i, uint64_t n, uint64_t key, uint64_t stream);

#endif
