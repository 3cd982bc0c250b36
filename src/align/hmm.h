/* hmm.h -- the hidden Markov model of a sentence pair (Vogel, Ney & Tillmann, 1996): states are the words of one language, and each
 * word of the other is made in one of them, or in none.
 *
 * From state i the next word is made in state k with a probability that depends on the jump k - i alone. A word made in none
 * (with probability `p_none`) leaves the state as it was (Och & Ney, 2003). */
#ifndef HD_ALIGN_HMM_H
#define HD_ALIGN_HMM_H

#include <heed.h>
#include <stdint.h>

enum { HD_LONGEST_JUMP = 24, HD_N_JUMPS = 2 * HD_LONGEST_JUMP + 1 };

/* How likely each jump is, up to a factor; longer ones are as likely as the longest. */
struct hd_jumps {
    float weight[HD_N_JUMPS];
    uint64_t count[HD_N_JUMPS]; /* 2^32 to one */
};

/* Before anything was counted: one step on is likely, far away is not. */
void hd_jumps_begin(struct hd_jumps *jumps);

/* Weights from counts, which become 0. */
void hd_jumps_estimate(struct hd_jumps *jumps);

/* One sentence pair in one direction. */
struct hd_hmm {
    int n_states, n_made;
    const float *make; /* [n_made][n_states]: a state makes the word */
    const float *none; /* [n_made]: none does */
    float p_none;
    const struct hd_jumps *jumps;
};

/* Room for such a pair; {0} is none. */
struct hd_hmm_room {
    float *at;
    size_t capacity;
};

void hd_hmm_room_release(struct hd_hmm_room *room);

/* share[n_made][n_states]: how likely each word was made in each state, given them all; what is missing to 1 was made in none. Jumps
 * are added to `counts`, unless it is NULL. False without memory. */
bool hd_hmm_shares(const struct hd_hmm *hmm, float *share, uint64_t *counts,
                   struct hd_hmm_room *room, heed_error *err);

#endif
