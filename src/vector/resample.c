/* resample.c -- a sinc under a Hann window, cut off below half of the lower rate.
 *
 *     y(t) = Σ_i x_i h(t - i),   h(u) = c · sinc(c u) · (½ + ½ cos(πu/R)),   c = min(1, out/in) · 0.95,   |u| < R = 16/c
 *
 * The places t - i repeat after `out / gcd` samples, so a table has one row for each of them. */
#include "vector/resample.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <string.h>

static int greatest_common_divisor(int a, int b)
{
    while (b != 0) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static double kernel_at(double u, double cut, double reach)
{
    const double PI = 0x1.921fb54442d18p+1;
    if (u <= -reach || u >= reach)
        return 0;
    const double sinc = u == 0 ? 1 : hd_real_cos_pi(cut * u - 0.5) / (PI * cut * u);
    return cut * sinc * (0.5 + 0.5 * hd_real_cos_pi(u / reach));
}

/* Samples between 0 and n - 1; what lies beyond the ends is silence. */
static double weigh(const double *x, size_t n, long long first, const double *weights, int taps)
{
    double sum = 0;
    for (int k = 0; k < taps; k++) {
        const long long i = first + k;
        if (i >= 0 && i < (long long)n)
            sum += weights[k] * x[i];
    }
    return sum;
}

bool hd_resample(double **out, size_t *n, const struct hd_sound *s, int rate, heed_error *err)
{
    const int divisor = greatest_common_divisor(s->rate, rate);
    const long long up = rate / divisor, down = s->rate / divisor;
    if (s->n > (size_t)1 << 36)
        return hd_fail(err, HEED_BAD_FILE, "a recording of %zu samples is too long; cut it", s->n);
    *n = (size_t)((long long)s->n * up / down);
    *out = hd_alloc(*n + 1, sizeof **out, err);
    if (!*out)
        return false;
    if (up == down) {
        memcpy(*out, s->samples, *n * sizeof **out);
        return true;
    }
    const double cut = 0.95 * (up < down ? (double)up / (double)down : 1), reach = 16 / cut;
    const int half = (int)reach + 1, taps = 2 * half;
    double *table = hd_alloc((size_t)up * (size_t)taps, sizeof *table, err);
    for (long long phase = 0; table && phase < up; phase++)
        for (int k = 0; k < taps;
             k++) /* the k-th sample is (half - 1) before the place, and so on */
            table[phase * taps + k] =
                kernel_at((double)phase / (double)up + half - 1 - k, cut, reach);
    for (size_t t = 0; table && t < *n; t++) {
        const long long place = (long long)t * down, i = place / up; /* i + phase/up samples */
        const double *weights = table + place % up * taps;
        (*out)[t] = weigh(s->samples, s->n, i - (half - 1), weights, taps);
    }
    hd_free(table);
    return table != NULL;
}
