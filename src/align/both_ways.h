/* both_ways.h -- a sentence pair seen from both sides: how likely each token makes each token of the other language.
 *
 * The two models of a pair learn from what they agree on (Liang, Taskar & Klein, 2006, "Alignment by agreement"): a link counts as
 * much as both believe in it together, so that each holds back the other's mistakes with rare words. */
#ifndef HD_ALIGN_BOTH_WAYS_H
#define HD_ALIGN_BOTH_WAYS_H

#include "align/hmm.h"
#include "align/pair_table.h"

/* What is known so far. In direction 0 source tokens make target tokens. */
struct hd_align_model {
    struct hd_pair_table table;
    struct hd_jumps jumps[2];
};

/* The tokens of a pair, both sides with one at least. */
struct hd_id_pair {
    const uint32_t *source, *target;
    int n_source, n_target;
};

/* How a pair is looked at. The first look finds everything equally likely; then words alone decide (model 1 of Brown et al., 1993), then
 * their order does, too. */
enum hd_align_stage { HD_ALIGN_FIRST, HD_ALIGN_WORDS, HD_ALIGN_HMM };

/* Room for one pair at a time; {0} is none. Afterwards share[0][n_target][n_source] and share[1][n_source][n_target] have the
 * probability of each link in each direction; what is missing in a row to 1 is that of no link. */
struct hd_both_ways {
    float *share[2];
    float *make[2], *none[2];
    int64_t *
        found; /* [n_source + 1][n_target + 1] in the table; the last row and column are those of no token */
    float *memory;
    size_t capacity, found_capacity;
    struct hd_hmm_room hmm;
};

void hd_both_ways_release(struct hd_both_ways *both);

/* Look at a pair. `jumps`, unless it is NULL, gets the jumps of both directions, 2^32 to one. False without memory. */
bool hd_both_ways_look(struct hd_both_ways *both, const struct hd_align_model *model,
                       const struct hd_id_pair *pair, enum hd_align_stage stage,
                       uint64_t (*jumps)[HD_N_JUMPS], heed_error *err);

/* Count in the table what was seen; all tokens of the pair are in it. Threads may do so at the same time. */
void hd_both_ways_count(const struct hd_both_ways *both, struct hd_align_model *model,
                        const struct hd_id_pair *pair, enum hd_align_stage stage);

#endif
