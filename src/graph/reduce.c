/* reduce.c -- ops that bring the numbers of a row, or of a whole node, together: softmax, norms,
 * sums, means. */
#include "graph/tape.h"

#include <string.h>

/* ---- softmax and its logarithm --------------------------------------------------------------- */

/* The bytes of a mask that fits x (NULL stays NULL); false, and the reason on the tape, when it
 * does not fit. */
static bool keep_of(hd_tape *t, const char *op, const hd_node *x, const hd_mask *mask,
                    const uint8_t **keep)
{
    *keep = mask ? mask->keep : NULL;
    if (!mask || (mask->rows == hd_n_rows(x) && mask->width == hd_last_dim(x)))
        return true;
    hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the mask has %d rows of %d, x %s has %d of %d", op,
                 mask->rows, mask->width, hd_text(x).s, hd_n_rows(x), hd_last_dim(x));
    return false;
}

static void softmax_rows_back(hd_node *y)
{
    const int rows = hd_n_rows(y), n = hd_last_dim(y);
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    for (long r = 0; dx && r < rows; r++)
        y->tape->k->softmax_back(dx + r * n, y->g + r * n, y->x + r * n, n);
}

hd_node *hd_softmax(hd_node *x, const hd_mask *mask)
{
    hd_tape *t = hd_home1("hd_softmax", x);
    const uint8_t *keep;
    if (hd_has_failed(t) || !keep_of(t, "hd_softmax", x, mask, &keep))
        return &t->nil;
    hd_node *y = hd_make_like(t, "hd_softmax", x, softmax_rows_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    const int rows = hd_n_rows(x), n = hd_last_dim(x);
    for (long r = 0; r < rows; r++)
        t->k->softmax(y->x + r * n, x->x + r * n, keep ? keep + r * n : NULL, n);
    return y;
}

static void log_softmax_rows_back(hd_node *y)
{
    const int rows = hd_n_rows(y), n = hd_last_dim(y);
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    for (long r = 0; dx && r < rows; r++)
        y->tape->k->log_softmax_back(dx + r * n, y->g + r * n, y->x + r * n, n);
}

hd_node *hd_log_softmax(hd_node *x, const hd_mask *mask)
{
    hd_tape *t = hd_home1("hd_log_softmax", x);
    const uint8_t *keep;
    if (hd_has_failed(t) || !keep_of(t, "hd_log_softmax", x, mask, &keep))
        return &t->nil;
    hd_node *y = hd_make_like(t, "hd_log_softmax", x, log_softmax_rows_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    const int rows = hd_n_rows(x), n = hd_last_dim(x);
    for (long r = 0; r < rows; r++)
        t->k->log_softmax(y->x + r * n, x->x + r * n, keep ? keep + r * n : NULL, n);
    return y;
}

/* ---- norms: Ba, Kiros & Hinton (2016); Zhang & Sennrich (2019) ------------------------------- */

/* A vector as wide as x's rows? */
static bool fits_rows(hd_tape *t, const char *op, const char *name, const hd_node *v,
                      const hd_node *x)
{
    if (v->n_dims == 1 && v->dim[0] == hd_last_dim(x))
        return true;
    hd_tape_fail(t, HEED_BAD_SHAPE, "%s: %s %s does not fit x %s, it must be [%d]", op, name,
                 hd_text(v).s, hd_text(x).s, hd_last_dim(x));
    return false;
}

/* y->extra: two numbers per row, mean and 1/√(var + eps). */
static void layer_norm_rows_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *x = y->in[0], *gain = y->in[1];
    const int rows = hd_n_rows(y), n = hd_last_dim(y);
    const float *stats = y->extra;
    float *dgain = hd_gradient_of(t, y->in[1]), *dbias = hd_gradient_of(t, y->in[2]);
    bool adds;
    float *dx = hd_gradient_in_place(y, y->in[0], &adds);
    const bool is_shared = (dx && (dx == dgain || dx == dbias)) || (dgain && dgain == dbias);
    for (long r = 0; r < rows; r++) {
        const float *dy = y->g + r * n, *row = x->x + r * n;
        float *drow = dx ? dx + r * n : NULL;
        if (!is_shared) {
            t->k->layer_norm_back(drow, dgain, dbias, dy, row, gain->x, stats + 2 * r, adds, n);
        } else {
            t->k->layer_norm_back(NULL, dgain, NULL, dy, row, gain->x, stats + 2 * r, true, n);
            t->k->layer_norm_back(NULL, NULL, dbias, dy, row, gain->x, stats + 2 * r, true, n);
            t->k->layer_norm_back(drow, NULL, NULL, dy, row, gain->x, stats + 2 * r, adds, n);
        }
    }
}

hd_node *hd_layer_norm(hd_node *x, hd_node *gain, hd_node *bias, float eps)
{
    hd_tape *t = hd_home3("hd_layer_norm", x, gain, bias);
    if (hd_has_failed(t) || !fits_rows(t, "hd_layer_norm", "gain", gain, x) ||
        !fits_rows(t, "hd_layer_norm", "bias", bias, x))
        return &t->nil;
    const int rows = hd_n_rows(x), n = hd_last_dim(x);
    hd_node *y = hd_make_like(t, "hd_layer_norm", x, layer_norm_rows_back, x, gain, bias,
                              2 * (size_t)rows * sizeof(float));
    if (!y)
        return &t->nil;
    float *stats = y->extra;
    for (long r = 0; r < rows; r++)
        t->k->layer_norm(y->x + r * n, stats + 2 * r, x->x + r * n, gain->x, bias->x, eps, n);
    return y;
}

/* y->extra: one number per row, 1/√(mean x² + eps). */
static void rms_norm_rows_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *x = y->in[0], *gain = y->in[1];
    const int rows = hd_n_rows(y), n = hd_last_dim(y);
    const float *stats = y->extra;
    float *dgain = hd_gradient_of(t, y->in[1]);
    bool adds;
    float *dx = hd_gradient_in_place(y, y->in[0], &adds);
    for (long r = 0; r < rows; r++) {
        const float *dy = y->g + r * n, *row = x->x + r * n;
        float *drow = dx ? dx + r * n : NULL;
        if (!dx || dx != dgain) {
            t->k->rms_norm_back(drow, dgain, dy, row, gain->x, stats + r, adds, n);
        } else {
            t->k->rms_norm_back(NULL, dgain, dy, row, gain->x, stats + r, true, n);
            t->k->rms_norm_back(drow, NULL, dy, row, gain->x, stats + r, adds, n);
        }
    }
}

hd_node *hd_rms_norm(hd_node *x, hd_node *gain, float eps)
{
    hd_tape *t = hd_home2("hd_rms_norm", x, gain);
    if (hd_has_failed(t) || !fits_rows(t, "hd_rms_norm", "gain", gain, x))
        return &t->nil;
    const int rows = hd_n_rows(x), n = hd_last_dim(x);
    hd_node *y = hd_make_like(t, "hd_rms_norm", x, rms_norm_rows_back, x, gain, NULL,
                              (size_t)rows * sizeof(float));
    if (!y)
        return &t->nil;
    float *stats = y->extra;
    for (long r = 0; r < rows; r++)
        t->k->rms_norm(y->x + r * n, stats + r, x->x + r * n, gain->x, eps, n);
    return y;
}

/* ---- sums and means of everything ------------------------------------------------------------ */

static void add_to_all(float *dx, float s, long n)
{
    for (long i = 0; i < n; i++)
        dx[i] += s;
}

static void sum_back(hd_node *y)
{
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx)
        add_to_all(dx, *y->g, (long)y->in[0]->count);
}

hd_node *hd_sum(hd_node *x)
{
    hd_tape *t = hd_home1("hd_sum", x);
    if (hd_has_failed(t))
        return &t->nil;
    hd_node *y = hd_make(t, "hd_sum", hd_shape1(1), sum_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    *y->x = t->k->sum(x->x, (long)x->count);
    return y;
}

static void mean_back(hd_node *y)
{
    const hd_node *x = y->in[0];
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx && x->count > 0)
        add_to_all(dx, *y->g / (float)x->count, (long)x->count);
}

hd_node *hd_mean(hd_node *x)
{
    hd_tape *t = hd_home1("hd_mean", x);
    if (hd_has_failed(t))
        return &t->nil;
    hd_node *y = hd_make(t, "hd_mean", hd_shape1(1), mean_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    *y->x = x->count > 0 ? t->k->sum(x->x, (long)x->count) / (float)x->count : 0;
    return y;
}

static void sum_squares_back(hd_node *y)
{
    const hd_node *x = y->in[0];
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx)
        y->tape->k->add_scaled(dx, 2 * *y->g, x->x, (long)x->count);
}

hd_node *hd_sum_squares(hd_node *x)
{
    hd_tape *t = hd_home1("hd_sum_squares", x);
    if (hd_has_failed(t))
        return &t->nil;
    hd_node *y = hd_make(t, "hd_sum_squares", hd_shape1(1), sum_squares_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    *y->x = (float)t->k->sum_squares(x->x, (long)x->count);
    return y;
}

/* ---- sums along one dimension ---------------------------------------------------------------- */

static void sum_rows_back(hd_node *y)
{
    const int rows = hd_n_rows(y->in[0]), n = (int)y->count;
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    for (long r = 0; dx && r < rows; r++)
        y->tape->k->add(dx + r * n, dx + r * n, y->g, n);
}

hd_node *hd_sum_rows(hd_node *x)
{
    hd_tape *t = hd_home1("hd_sum_rows", x);
    if (hd_has_failed(t))
        return &t->nil;
    const int n = hd_last_dim(x);
    hd_node *y = hd_make(t, "hd_sum_rows", hd_shape1(n), sum_rows_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    memset(y->x, 0, y->count * sizeof *y->x);
    t->k->sum_rows(y->x, x->x, n, hd_n_rows(x), n);
    return y;
}

static void sum_last_back(hd_node *y)
{
    const int n = hd_last_dim(y->in[0]);
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    for (size_t r = 0; dx && r < y->count; r++)
        add_to_all(dx + r * (size_t)n, y->g[r], n);
}

hd_node *hd_sum_last(hd_node *x)
{
    hd_tape *t = hd_home1("hd_sum_last", x);
    if (hd_has_failed(t))
        return &t->nil;
    hd_node *y = hd_make(t, "hd_sum_last", hd_shape_width(x, 1), sum_last_back, x, NULL, NULL, 0);
    if (!y)
        return &t->nil;
    const int n = hd_last_dim(x);
    for (size_t r = 0; r < y->count; r++)
        y->x[r] = t->k->sum(x->x + r * (size_t)n, n);
    return y;
}

/* ---- mean of each sentence's rows ------------------------------------------------------------ */

static void mean_spans_back(hd_node *y)
{
    const hd_spans *spans = *(const hd_spans **)y->extra;
    const int n = y->dim[1];
    float *dh = hd_gradient_of(y->tape, y->in[0]);
    for (long b = 0; dh && b < spans->n; b++)
        for (int j = 0; j < spans->length[b]; j++)
            y->tape->k->add_scaled(dh + (long)(spans->start[b] + j) * n,
                                   1 / (float)spans->length[b], y->g + b * n, n);
}

hd_node *hd_mean_spans(hd_node *h, const hd_spans *spans)
{
    hd_tape *t = hd_home1("hd_mean_spans", h);
    if (hd_has_failed(t))
        return &t->nil;
    if (hd_n_rows(h) < spans->rows)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_mean_spans: h %s has %d rows, but the spans reach to row %d",
                            hd_text(h).s, hd_n_rows(h), spans->rows);
    const int n = hd_last_dim(h);
    hd_node *y = hd_make(t, "hd_mean_spans", hd_shape2(spans->n, n), mean_spans_back, h, NULL, NULL,
                         sizeof spans);
    if (!y)
        return &t->nil;
    *(const hd_spans **)y->extra = spans;
    memset(y->x, 0, y->count * sizeof *y->x);
    for (long b = 0; b < spans->n; b++)
        if (spans->length[b] > 0) {
            t->k->sum_rows(y->x + b * n, h->x + (long)spans->start[b] * n, n, spans->length[b], n);
            t->k->scale(y->x + b * n, 1 / (float)spans->length[b], y->x + b * n, n);
        }
    return y;
}
