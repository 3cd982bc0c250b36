/* sound.c -- from samples to frames: the power of overlapping windows in mel bands, its logarithm, cepstra.
 *
 *     x_t ← x_t - mean(x),   y_t = x_t - 0.97 x_{t-1}                         pre-emphasis
 *     P_k = |DFT(w ⊙ y[frame])_k|²,   w_i = 0.54 - 0.46 cos(2πi/(N-1))         Hamming
 *     m_b = ln max(1, Σ_k F_bk P_k),   F_b triangles, their corners even on the mel scale 2595 log10(1 + f/700)
 *     c   = DCT-II(m), its first numbers
 *
 * Samples have the scale of 16 bits, so that the floor of 1 lies below all that can be heard. */
#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "vector/feature.h"
#include "vector/fourier.h"
#include "vector/resample.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One recording on its way. */
struct sounding {
    const struct hd_feature_settings *settings;
    const char *name;
    double *y; /* samples, emphasised */
    size_t n_samples;
    double *mel; /* [n_frames, bands] */
    int n_frames;
};

/* ---- bands ---------------------------------------------------------------------------------------- */

static double mel_of(double hz)
{
    return 2595 * hd_real_log(1 + hz / 700) / hd_real_log(10);
}

static double hz_of(double mel)
{
    return 700 * (hd_real_exp(mel / 2595 * hd_real_log(10)) - 1);
}

/* The triangles [bands, bins]: band b rises from corner b to b+1 and falls to b+2. */
static void make_bands(double *bands, const struct hd_feature_settings *s, int n_fft)
{
    const double low = mel_of((double)s->low), high = mel_of((double)s->high);
    const int n_bins = n_fft / 2 + 1;
    for (int b = 0; b < s->mel; b++) {
        const double step = (high - low) / (s->mel + 1);
        const double left = hz_of(low + b * step), peak = hz_of(low + (b + 1) * step),
                     right = hz_of(low + (b + 2) * step);
        for (int k = 0; k < n_bins; k++) {
            const double f = (double)k * s->sample_rate / n_fft;
            const double up = (f - left) / (peak - left), down = (right - f) / (right - peak);
            const double weight = up < down ? up : down;
            bands[b * n_bins + k] = weight > 0 ? weight : 0;
        }
    }
}

static int whole(double x)
{
    return (int)(x + 0.5);
}

static int power_of_2_from(int n)
{
    int power = 2;
    while (power < n)
        power *= 2;
    return power;
}

static void log_bands(double *out, const double *bands, const double *power, int n_bands,
                      int n_bins)
{
    for (int b = 0; b < n_bands; b++) {
        double sum = 0;
        for (int k = 0; k < n_bins; k++)
            sum += bands[b * n_bins + k] * power[k];
        out[b] = hd_real_log(sum > 1 ? sum : 1);
    }
}

/* All frames of s->y. */
static bool make_frames(struct sounding *s, heed_error *err)
{
    const struct hd_feature_settings *set = s->settings;
    const int window = whole((double)set->window_ms * set->sample_rate / 1000),
              hop = whole((double)set->hop_ms * set->sample_rate / 1000);
    const int n_fft = power_of_2_from(window), n_bins = n_fft / 2 + 1, n_bands = set->mel;
    if (s->n_samples < (size_t)window)
        return hd_fail(err, HEED_BAD_FILE, "%s: %zu ms of sound are shorter than a window of %g ms",
                       s->name, s->n_samples * 1000 / (size_t)set->sample_rate,
                       (double)set->window_ms);
    const size_t n_frames = 1 + (s->n_samples - (size_t)window) / (size_t)hop;
    if (n_frames > 1 << 24)
        return hd_fail(err, HEED_BAD_FILE, "%s: %zu frames are too many for one recording; cut it",
                       s->name, n_frames);
    struct hd_fourier fourier = {0};
    double *hamming =
        hd_alloc(2 * (size_t)window + (size_t)n_bins * (size_t)(n_bands + 1), sizeof *hamming, err);
    s->mel = hamming ? hd_alloc(n_frames * (size_t)n_bands, sizeof *s->mel, err) : NULL;
    const bool ok = s->mel && hd_fourier_init(&fourier, n_fft, err);
    if (ok) {
        double *frame = hamming + window, *power = frame + window, *bands = power + n_bins;
        make_bands(bands, set, n_fft);
        for (int i = 0; i < window; i++)
            hamming[i] = 0.54 - 0.46 * hd_real_cos_pi(2. * i / (window > 1 ? window - 1 : 1));
        for (size_t t = 0; t < n_frames; t++) {
            for (int i = 0; i < window; i++)
                frame[i] = s->y[t * (size_t)hop + (size_t)i] * hamming[i];
            hd_fourier_power(&fourier, frame, window, power);
            log_bands(s->mel + t * (size_t)n_bands, bands, power, n_bands, n_bins);
        }
        s->n_frames = (int)n_frames;
    }
    hd_fourier_release(&fourier);
    hd_free(hamming);
    return ok;
}

/* ---- silence -------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which this share of the sorted numbers lies, between neighbours in proportion. */
static double quantile(const double *sorted, int n, double share)
{
    const double at = share * (n - 1);
    const int below = (int)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

/* The mean of a frame's bands, and over five frames; ends count as if they went on. */
static void loudness(double *out, double *each, const struct sounding *s)
{
    const int n = s->n_frames, n_bands = s->settings->mel;
    for (int t = 0; t < n; t++) {
        double sum = 0;
        for (int b = 0; b < n_bands; b++)
            sum += s->mel[(size_t)t * (size_t)n_bands + (size_t)b];
        each[t] = sum / n_bands;
    }
    for (int t = 0; t < n; t++) {
        double sum = 0;
        for (int d = -2; d <= 2; d++)
            sum += each[t + d < 0 ? 0 : t + d >= n ? n - 1 : t + d];
        out[t] = sum / 5;
    }
}

/* Silence is what is not louder than the 5th percentile and a fifth of the way from there to the 95th. */
static bool trim(struct sounding *s, heed_error *err)
{
    const struct hd_feature_settings *set = s->settings;
    const int n = s->n_frames, margin = whole((double)set->trim_ms / (double)set->hop_ms);
    double *loud = hd_alloc(2 * (size_t)n, sizeof *loud, err), *sorted = loud ? loud + n : NULL;
    if (!loud)
        return false;
    loudness(loud, sorted, s);
    memcpy(sorted, loud, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    const double low = quantile(sorted, n, 0.05), high = quantile(sorted, n, 0.95);
    const double threshold = low + 0.2 * (high - low);
    int first = 0, last = n - 1;
    while (first < n && !(loud[first] > threshold))
        first++;
    while (last >= 0 && !(loud[last] > threshold))
        last--;
    hd_free(loud);
    if (first > last)
        return true; /* all alike: nothing is silence */
    const int begin = first > margin ? first - margin : 0;
    const int end = last + margin < n ? last + (margin > 0 ? margin : 1) : n;
    const size_t width = (size_t)set->mel;
    s->n_frames = end - begin;
    memmove(s->mel, s->mel + (size_t)begin * width, (size_t)s->n_frames * width * sizeof *s->mel);
    return true;
}

/* ---- frames into vectors ---------------------------------------------------------------------------- */

/* Means of so many frames each; what is left over at the end is dropped. */
static void average(struct sounding *s)
{
    const int most = s->n_frames < s->settings->average ? s->n_frames : s->settings->average;
    const int k = most > 0 ? most : 1;
    const int n = s->n_frames / k, width = s->settings->mel;
    for (int t = 0; t < n; t++)
        for (int b = 0; b < width; b++) {
            double sum = 0;
            for (int i = 0; i < k; i++)
                sum += s->mel[(size_t)(t * k + i) * (size_t)width + (size_t)b];
            s->mel[(size_t)t * (size_t)width + (size_t)b] = sum / k;
        }
    s->n_frames = n;
}

/* In place: a frame has no more cepstra than bands. */
static bool make_cepstra(struct sounding *s, heed_error *err)
{
    const int n_bands = s->settings->mel, n = s->settings->cepstra;
    double *table = hd_alloc((size_t)n * (size_t)(n_bands + 1), sizeof *table, err);
    if (!table)
        return false;
    double *c = table + n * n_bands;
    hd_cosine_table(table, n, n_bands);
    for (int t = 0; t < s->n_frames; t++) {
        const double *m = s->mel + (size_t)t * (size_t)n_bands;
        for (int k = 0; k < n; k++) {
            c[k] = 0;
            for (int j = 0; j < n_bands; j++)
                c[k] += table[k * n_bands + j] * m[j];
        }
        memcpy(s->mel + (size_t)t * (size_t)n, c, (size_t)n * sizeof *c);
    }
    hd_free(table);
    return true;
}

static void center(double *x, int n, int width)
{
    for (int d = 0; d < width; d++) {
        double sum = 0;
        for (int t = 0; t < n; t++)
            sum += x[(size_t)t * (size_t)width + (size_t)d];
        for (int t = 0; t < n; t++)
            x[(size_t)t * (size_t)width + (size_t)d] -= sum / n;
    }
}

static bool give(struct hd_featured *out, const struct sounding *s, const float *deviations,
                 heed_error *err)
{
    const int width = hd_feature_width(s->settings);
    const size_t n = (size_t)s->n_frames * (size_t)width;
    *out = (struct hd_featured){.n = s->n_frames, .width = width};
    out->x = hd_alloc(n, sizeof *out->x, err);
    for (size_t i = 0; out->x && i < n; i++)
        out->x[i] =
            (float)(deviations ? s->mel[i] / (double)deviations[i % (size_t)width] : s->mel[i]);
    return out->x != NULL;
}

/* x_t - mean, then minus a share of the sample before; backwards, so that it is still there. */
static void emphasise(double *x, size_t n, double share)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] -= mean;
    for (size_t i = n; i > 1; i--) /* nothing where resampling has left no sample */
        x[i - 1] -= share * x[i - 2];
}

bool hd_feature_sound(const struct hd_feature *f, struct hd_featured *out,
                      const struct hd_sound *sound, const char *name, heed_error *err)
{
    struct sounding s = {.settings = &f->settings, .name = name};
    bool ok = hd_resample(&s.y, &s.n_samples, sound, f->settings.sample_rate, err);
    if (ok)
        emphasise(s.y, s.n_samples, (double)f->settings.pre_emphasis);
    ok = ok && make_frames(&s, err) && (f->settings.trim_ms == 0 || trim(&s, err));
    if (ok)
        average(&s);
    ok = ok && (f->settings.cepstra == 0 || make_cepstra(&s, err));
    if (ok && f->settings.center)
        center(s.mel, s.n_frames, hd_feature_width(&f->settings));
    ok = ok && give(out, &s, f->deviations, err);
    hd_free(s.y);
    hd_free(s.mel);
    return ok;
}
