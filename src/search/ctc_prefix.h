/* ctc_prefix.h -- how likely CTC finds it that an output begins with given words: Watanabe et al. (2017), algorithm 2.
 *
 * A prefix g has r_n(t) and r_b(t), logarithms of the probability that the first t positions say g and end with its last word, or with a
 * blank. What begins with g and a further word c is
 *     ψ(g c) = Σ_t φ_c(t-1) y_t(c)     φ_c(t) = exp r_b(t) + exp r_n(t), without r_n where c is g's last word (a blank must be between)
 * and what is g and nothing more, ψ(g end) = exp r_n(S) + exp r_b(S). */
#ifndef HD_SEARCH_CTC_PREFIX_H
#define HD_SEARCH_CTC_PREFIX_H

#include <heed.h>

/* What CTC says at the positions of a source: y_t(k), [n, width], the blank in the last column. */
struct hd_ctc_said {
    const float *y;
    int n, width;
};

/* A prefix, in an array of its own: {log ψ, last word or -1, r_n(1) … r_n(n), r_b(1) … r_b(n)} */
size_t hd_ctc_prefix_size(const struct hd_ctc_said *said);

/* Of no words; and of those of `from` and one more. */
void hd_ctc_prefix_begin(double *prefix, const struct hd_ctc_said *said);
void hd_ctc_prefix_grow(double *prefix, const double *from, const struct hd_ctc_said *said,
                        int word);

/* log ψ(g c) - log ψ(g) of every word c; of `end`, that of nothing more. What cannot be is HD_CTC_NEVER. */
#define HD_CTC_NEVER (-1e4)
void hd_ctc_prefix_next(const double *prefix, const struct hd_ctc_said *said, int end,
                        double *next);

#endif
