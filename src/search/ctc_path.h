/* ctc_path.h -- where CTC hears the words of an output: of all its paths that say them, the likeliest.
 *
 * Graves et al. (2006), section 4.1, has the line l' of words and blanks that a path goes along; the best path along it is Viterbi's:
 *     v_s(i) = y_s(l'_i) + max_{i'} v_{s-1}(i')          i' = i, i-1, and i-2 where l'_i is a word other than l'_{i-2}
 * y_s(k) being the log-probability of word k at position s. Of two that are as likely, the one is taken that
 * ends in a word, and goes on sooner. */
#ifndef HD_SEARCH_CTC_PATH_H
#define HD_SEARCH_CTC_PATH_H

#include "model/sequence.h"
#include <heed.h>

struct hd_net; /* model/model.h */

/* What CTC says at the positions of a source: y_s(k), [n, width], the blank in the last column. */
struct hd_ctc_log_said {
    const float *y;
    int n, width;
};

/* The likeliest path that says these words: path[s] is the number of the word that is said at position s, from 0, -1 where it is the blank.
 * *has_path is false where there are too few positions to say them all. False with the reason in `err`. */
bool hd_ctc_path(const struct hd_ctc_log_said *said, const int *words, int n_words, int *path,
                 bool *has_path, heed_error *err);

/* The same of a source, by those of the nets that have CTC, the log-probabilities of several being added up. path [n_positions] is to be given to
 * hd_free(); NULL where none of them has CTC, or there is no such path. */
bool hd_ctc_find_path(const struct hd_net *const *nets, int n_nets, struct hd_sequence source,
                      const int *words, int n_words, int **path, int *n_positions, heed_error *err);

#endif
