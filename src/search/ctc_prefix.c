/* ctc_prefix.c -- prefixes grow word by word; all sums go over the positions in their order, in doubles. */
#include "search/ctc_prefix.h"

#include "base/real.h"

#include <math.h>

enum { PSI, LAST, FIRST };

size_t hd_ctc_prefix_size(const struct hd_ctc_said *said)
{
    return FIRST + 2 * (size_t)said->n;
}

static double log_of_two(double a, double b)
{
    const double m = a > b ? a : b;
    if (m == -INFINITY)
        return m;
    double sum = hd_real_exp(a - m);
    sum += hd_real_exp(b - m);
    return m + hd_real_log(sum);
}

/* log y_t(k), t from 0 */
static double log_y(const struct hd_ctc_said *s, int t, int k)
{
    return hd_real_log((double)s->y[(size_t)t * (size_t)s->width + (size_t)k]);
}

/* log φ(t): what may stand before position t, from 0, when the next word is c. */
static double log_phi(const double *prefix, const struct hd_ctc_said *s, int t, bool is_last)
{
    const double *r_n = prefix + FIRST, *r_b = r_n + s->n;
    if (t == 0) /* nothing has been said, which is the empty prefix alone */
        return prefix[LAST] < 0 ? 0 : -INFINITY;
    return is_last ? r_b[t - 1] : log_of_two(r_n[t - 1], r_b[t - 1]);
}

void hd_ctc_prefix_begin(double *prefix, const struct hd_ctc_said *s)
{
    double *r_n = prefix + FIRST, *r_b = r_n + s->n, sum = 0;
    prefix[PSI] = 0;
    prefix[LAST] = -1;
    for (int t = 0; t < s->n; t++) {
        sum += log_y(s, t, s->width - 1);
        r_n[t] = -INFINITY;
        r_b[t] = sum;
    }
}

void hd_ctc_prefix_grow(double *prefix, const double *from, const struct hd_ctc_said *s, int word)
{
    double *r_n = prefix + FIRST, *r_b = r_n + s->n, psi = -INFINITY;
    const bool is_last = from[LAST] == (double)word;
    for (int t = 0; t < s->n; t++) {
        const double y = log_y(s, t, word), phi = log_phi(from, s, t, is_last),
                     before = t > 0 ? r_n[t - 1] : -INFINITY,
                     blank = t > 0 ? r_b[t - 1] : -INFINITY;
        r_n[t] = log_of_two(before, phi) + y;
        r_b[t] = log_of_two(before, blank) + log_y(s, t, s->width - 1);
        psi = log_of_two(psi, phi + y);
    }
    prefix[PSI] = psi;
    prefix[LAST] = word;
}

static double at_least_never(double x)
{
    return x > HD_CTC_NEVER ? x : HD_CTC_NEVER; /* no number, too */
}

/* Σ_t φ(t) y_t(c) of all words but the last one, whose φ is another; φ as multiples of its largest. */
static void add_words(const double *prefix, const struct hd_ctc_said *s, double *next)
{
    const int V = s->width - 1;
    double largest = -INFINITY;
    for (int c = 0; c < V; c++)
        next[c] = 0;
    for (int t = 0; t < s->n; t++) {
        const double phi = log_phi(prefix, s, t, false);
        largest = phi > largest ? phi : largest;
    }
    for (int t = 0; t < s->n && largest > -INFINITY; t++) {
        const double share = hd_real_exp(log_phi(prefix, s, t, false) - largest);
        const float *y = s->y + (size_t)t * (size_t)s->width;
        for (int c = 0; c < V; c++)
            next[c] += share * (double)y[c];
    }
    for (int c = 0; c < V; c++)
        next[c] = hd_real_log(next[c]) + largest - prefix[PSI];
}

void hd_ctc_prefix_next(const double *prefix, const struct hd_ctc_said *s, int end, double *next)
{
    const int V = s->width - 1, last = (int)prefix[LAST];
    const double *r_n = prefix + FIRST, *r_b = r_n + s->n;
    if (s->n > 0)
        add_words(prefix, s, next);
    for (int c = 0; c < V; c++)
        next[c] = s->n > 0 ? at_least_never(next[c]) : HD_CTC_NEVER;
    if (last >= 0 && s->n > 0) {
        double again = -INFINITY;
        for (int t = 0; t < s->n; t++)
            again = log_of_two(again, log_phi(prefix, s, t, true) + log_y(s, t, last));
        next[last] = at_least_never(again - prefix[PSI]);
    }
    if (end >= 0 && end < V) {
        const double whole = s->n > 0   ? log_of_two(r_n[s->n - 1], r_b[s->n - 1])
                             : last < 0 ? 0
                                        : -INFINITY;
        next[end] = at_least_never(whole - prefix[PSI]);
    }
}
