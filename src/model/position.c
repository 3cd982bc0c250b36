/* position.c -- positions: sines and cosines of many wavelengths, or a learned vector each.
 *
 * Vaswani et al. (2017), section 3.5. Toolkits differ in three things, and a model trained with one is useless with another, so
 * they are fields of the configuration: layout, denominator of the exponent, and what the first position is called.
 * Learned positions have a row each, counted from 0, and none of these three. */
#include "model/position.h"

#include "base/memory.h"
#include "graph/tape.h"

#define LN_10000 9.2103404F

/* w_i = 10000^(-i/(d/2)) = exp(-i · ln 10000 / (d/2)), i = 0 … d/2-1; Marian divides by d/2-1 */
float *hd_position_frequencies(const struct hd_config *config, heed_error *err)
{
    const struct hd_kernels *k = hd_kernels_chosen(err);
    const int n = config->dim / 2;
    float *w = k ? hd_alloc((size_t)n, sizeof *w, err) : NULL;
    if (!w)
        return NULL;
    const float denominator = (float)(config->position_shorter ? n - 1 : n);
    for (int i = 0; i < n; i++)
        w[i] = -(float)i * LN_10000 / denominator;
    k->exp(w, w, n);
    return w;
}

/* One position: p_2i = sin(t w_i), p_2i+1 = cos(t w_i) */
static void interleaved(const struct hd_kernels *k, float *p, const float *angle, float *scratch,
                        int n)
{
    k->sin(scratch, angle, n);
    k->cos(scratch + n, angle, n);
    for (int i = 0; i < n; i++) {
        p[2 * i] = scratch[i];
        p[2 * i + 1] = scratch[n + i];
    }
}

/* One position: p_i = sin(t w_i), p_d/2+i = cos(t w_i) */
static void halves(const struct hd_kernels *k, float *p, const float *angle, int n)
{
    k->sin(p, angle, n);
    k->cos(p + n, angle, n);
}

/* Positions first … first+n-1: [n,dim] */
static hd_node *table_of(const struct hd_config *c, const float *w, hd_tape *tape, int first, int n)
{
    const int d = c->dim, half = d / 2;
    float *angle = hd_tape_take(tape, "hd_positions_sin", 3 * (size_t)half, sizeof *angle);
    hd_node *table = hd_input(tape, NULL, n, d);
    for (int t = 0; t < n && !hd_has_failed(tape); t++) {
        float *row = table->x + (size_t)t * (size_t)d;
        tape->k->scale(angle, (float)(first + t + c->position_first), w, half);
        if (c->position_layout == HD_LAYOUT_INTERLEAVED)
            interleaved(tape->k, row, angle, angle + half, half);
        else
            halves(tape->k, row, angle, half);
    }
    return table;
}

hd_node *hd_positions_sin(const struct hd_config *config, const float *frequencies, hd_tape *tape,
                          const int *index, int n)
{
    int first = n > 0 ? index[0] : 0, last = first;
    for (int i = 0; i < n; i++) {
        first = index[i] < first ? index[i] : first;
        last = index[i] > last ? index[i] : last;
    }
    int *row = hd_tape_take(tape, "hd_positions_sin", (size_t)n, sizeof *row);
    for (int i = 0; row && i < n; i++)
        row[i] = index[i] - first;
    hd_node *table = table_of(config, frequencies, tape, first, last - first + 1);
    return row ? hd_rows(table, row, n) : &tape->nil;
}

hd_node *hd_positions_learned(hd_node *table, hd_tape *tape, const int *index, int n)
{
    const int most = table->dim[0];
    for (int i = 0; i < n; i++)
        if (index[i] >= most)
            return hd_tape_fail(
                tape, HEED_BAD_TEXT,
                "a sentence has more than %d words, the max-positions of this model with "
                "learned positions; cut it, or train with a larger max-positions",
                most);
    return hd_embed(tape, table, index, n);
}
