/* aligner.h -- which words of a text and its translation belong together, learned from the text itself.
 *
 * Five looks at the words alone, then five with their order (hmm.h), in both directions that learn from each other (both_ways.h).
 * Links follow from the probabilities: each token has the one that is most likely made it, unless none is more likely; the two
 * directions are joined, and links of tokens become links of words. The same text gives the same bits for any number of threads. */
#ifndef HD_ALIGN_ALIGNER_H
#define HD_ALIGN_ALIGNER_H

#include "align/link_lists.h"
#include "base/threads.h"
#include "text/lines.h"

/* Sentence pairs, found by number: sides[0] is the source, sides[1] the target, both valid UTF-8. Read from several threads. */
struct hd_pair_source {
    size_t n;
    void (*at)(const void *context, size_t i, struct hd_text sides[2]);
    const void *context;
};

/* Who works, and who is told: watch(context, n_done, n), which may be NULL, is called now and then by the calling thread; false
 * ends the work with HEED_CANCELLED. */
struct hd_align_work {
    struct hd_pool *threads;
    bool (*watch)(void *context, size_t n_done, size_t n);
    void *context;
};

enum {
    HD_LONGEST_LEARNED = 128, /* tokens of a side that an aligner learns from; */
    HD_LONGEST_ALIGNED = 512, /* and that it aligns: longer pairs have no links */
};

struct hd_aligner;

/* Learn from pairs, of very many from a part that is spread evenly; to be given to hd_aligner_free(). NULL with the reason in `err`:
 * HEED_BAD_TEXT (no pair has a word on both sides), HEED_CANCELLED, HEED_NO_MEMORY. */
struct hd_aligner *hd_aligner_learn(const struct hd_pair_source *pairs,
                                    const struct hd_align_work *work, heed_error *err);
void hd_aligner_free(struct hd_aligner *aligner); /* NULL is fine */

/* The numbers of its tokens: of the source (0) or the target (1). */
struct hd_token_ids;
struct hd_token_ids *hd_aligner_ids(const struct hd_aligner *aligner, int side);

/* Add the links of these pairs to `lists`, in their order, each pair's by target word, then source word. */
bool hd_aligner_links(const struct hd_aligner *aligner, const struct hd_pair_source *pairs,
                      enum heed_symmetry how, const struct hd_align_work *work,
                      struct hd_link_lists *lists, heed_error *err);

#endif
