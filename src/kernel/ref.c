/* ref.c -- what every kernel computes, one number at a time: the definition of right.
 *
 * The order of the operations is part of the definition; faster kernels do the same ones in wider registers and must
 * return the same bits. Functions of one number are in ref_math.h, matrix products in ref_gemm.c.
 *
 * This file uses only + - * / fmaf sqrtf, comparisons and the functions of ref_math.h: no bits of floats, no constants
 * of their precision. So it can be compiled for double as well, to see how far the floats are off. */
#include "kernel/ref.h"
#include "base/rng.h"
#include "kernel/ref_math.h"
#include <math.h>
#include <string.h>

/* ---- sums over 16 lanes -------------------------------------------------------------------------------------- */

/* The 16 partial sums of a row: element i goes to lane i % 16. */
struct lanes {
    float sum[HD_LANES];
};

static void lanes_add(struct lanes *s, long i, float x)
{
    s->sum[i % HD_LANES] = s->sum[i % HD_LANES] + x;
}

static void lanes_add_product(struct lanes *s, long i, float a, float b)
{
    s->sum[i % HD_LANES] = fmaf(a, b, s->sum[i % HD_LANES]);
}

/* The sum of a row of n elements. Missing elements of the last 16 are zeros that are added all the same, which makes
 * +0 of a -0; then the tree. */
static float lanes_total(struct lanes s, long n)
{
    for (long i = n; i % HD_LANES; i++)
        lanes_add(&s, i, 0);
    for (int step = HD_LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++)
            s.sum[l] = s.sum[l] + s.sum[l + step];
    return s.sum[0];
}

/* ---- functions of one number --------------------------------------------------------------------------------- */

#define HD_EACH(name)                                 \
    void ref_##name(float *y, const float *x, long n) \
    {                                                 \
        for (long i = 0; i < n; i++)                  \
            y[i] = ref_##name##_of(x[i]);             \
    }
HD_EACH(exp)
HD_EACH(log)
HD_EACH(tanh)
HD_EACH(sigmoid)
HD_EACH(sin)
HD_EACH(cos)
HD_EACH(erf)
HD_EACH(relu)
HD_EACH(gelu)
HD_EACH(swish)
#undef HD_EACH

void ref_tanh_back(float *dx, const float *dy, const float *y, bool add, long n)
{
    for (long i = 0; i < n; i++)
        dx[i] = fmaf(dy[i], fmaf(-y[i], y[i], 1), add ? dx[i] : 0); /* 1 - y² */
}

void ref_sigmoid_back(float *dx, const float *dy, const float *y, bool add, long n)
{
    for (long i = 0; i < n; i++)
        dx[i] = fmaf(dy[i], fmaf(-y[i], y[i], y[i]), add ? dx[i] : 0); /* y - y² */
}

void ref_relu_back(float *dx, const float *dy, const float *y, bool add, long n)
{
    for (long i = 0; i < n; i++) {
        const float before = add ? dx[i] : 0;
        dx[i] = y[i] > 0 ? before + dy[i] : before;
    }
}

/* Φ(x) + x φ(x), the normal distribution and its density */
void ref_gelu_back(float *dx, const float *dy, const float *x, bool add, long n)
{
    for (long i = 0; i < n; i++) {
        const float half = (float)0.5;
        const float all = fmaf(half, ref_erf_of(x[i] * (float)0.70710678118654752440), half);
        const float density = ref_exp_of(-half * x[i] * x[i]) * (float)0.39894228040143267794;
        dx[i] = fmaf(dy[i], fmaf(x[i], density, all), add ? dx[i] : 0);
    }
}

/* σ + x σ (1 - σ) */
void ref_swish_back(float *dx, const float *dy, const float *x, bool add, long n)
{
    for (long i = 0; i < n; i++) {
        const float s = ref_sigmoid_of(x[i]);
        dx[i] = fmaf(dy[i], fmaf(x[i] * s, 1 - s, s), add ? dx[i] : 0);
    }
}

void ref_exp_back(float *dx, const float *dy, const float *y, bool add, long n)
{
    for (long i = 0; i < n; i++)
        dx[i] = fmaf(dy[i], y[i], add ? dx[i] : 0);
}

void ref_log_back(float *dx, const float *dy, const float *x, bool add, long n)
{
    for (long i = 0; i < n; i++)
        dx[i] = (add ? dx[i] : 0) + dy[i] / x[i];
}

/* ---- long vectors -------------------------------------------------------------------------------------------- */

void ref_add(float *y, const float *a, const float *b, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

void ref_sub(float *y, const float *a, const float *b, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = a[i] - b[i];
}

void ref_mul(float *y, const float *a, const float *b, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

void ref_scale(float *y, float s, const float *x, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = s * x[i];
}

void ref_add_scaled(float *y, float s, const float *x, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = fmaf(s, x[i], y[i]);
}

void ref_add_product(float *y, const float *a, const float *b, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = fmaf(a[i], b[i], y[i]);
}

float ref_sum(const float *x, long n)
{
    struct lanes s = {{0}};
    for (long i = 0; i < n; i++)
        lanes_add(&s, i, x[i]);
    return lanes_total(s, n);
}

float ref_dot(const float *a, const float *b, long n)
{
    struct lanes s = {{0}};
    for (long i = 0; i < n; i++)
        lanes_add_product(&s, i, a[i], b[i]);
    return lanes_total(s, n);
}

float ref_max(const float *x, long n)
{
    float largest = -INFINITY;
    for (long i = 0; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest + 0; /* +0 rather than -0, so that the order does not matter */
}

double ref_sum_squares(const float *x, long n)
{
    double sum = 0;
    for (long start = 0; start < n; start += HD_SQUARES_BLOCK) {
        const long left = n - start;
        sum += ref_dot(x + start, x + start, left < HD_SQUARES_BLOCK ? left : HD_SQUARES_BLOCK);
    }
    return sum;
}

bool ref_all_finite(const float *x, long n)
{
    for (long i = 0; i < n; i++)
        if (x[i] - x[i] != 0)
            return false;
    return true;
}

void ref_sum_rows(float *y, const float *x, long ldx, int rows, int n)
{
    for (long r = 0; r < rows; r++)
        ref_add(y, y, x + r * ldx, n);
}

void ref_gather_rows(float *y, const float *table, const int *ids, int rows, int n)
{
    for (long r = 0; r < rows; r++)
        memcpy(y + r * n, table + (long)ids[r] * n, (size_t)n * sizeof *y);
}

void ref_scatter_add_rows(float *dtable, const float *dy, const int *ids, int rows, int n)
{
    for (long r = 0; r < rows; r++) {
        float *row = dtable + (long)ids[r] * n;
        ref_add(row, row, dy + r * n, n);
    }
}

/* Element i = 128 c + 64 h + 16 w + l takes half h (0 the low 16 bits) of word w of block 16 c + l: so a vector of 16
 * blocks gives 128 elements, in order, without moving anything between lanes. */
void ref_dropout(float *y, const float *x, float rate, uint64_t key, uint64_t stream, bool add,
                 long n)
{
    const uint32_t threshold = (uint32_t)(rate * 65536 + (float)0.5);
    const float scale = 1 / (1 - rate);
    for (long i = 0; i < n; i++) {
        uint32_t words[4];
        hd_philox(words, key, (uint64_t)(i / 128 * 16 + i % 16), stream);
        const uint32_t bits = words[i / 16 % 4] >> 16 * (i / 64 % 2) & 0xffff;
        if (add)
            y[i] = bits < threshold ? y[i] : fmaf(x[i], scale, y[i]);
        else
            y[i] = bits < threshold ? 0 : x[i] * scale;
    }
}

/* A place is better when its number is larger, or equal and before; NaN is worse than any number. */
static bool is_better(const float *x, int i, int than)
{
    const bool i_is_nan = x[i] != x[i], than_is_nan = x[than] != x[than];
    if (i_is_nan || than_is_nan)
        return i_is_nan == than_is_nan ? i < than : than_is_nan;
    return x[i] > x[than] || (x[i] == x[than] && i < than);
}

void ref_top_k(int *index, float *value, const float *x, int n, int k)
{
    int last = -1;
    for (int j = 0; j < k; j++) {
        int best = -1; /* the best of those worse than the last one taken */
        for (int i = 0; i < n; i++)
            if ((last < 0 || is_better(x, last, i)) && (best < 0 || is_better(x, i, best)))
                best = i;
        index[j] = best;
        value[j] = best < 0 ? -INFINITY : x[best];
        last = best;
        if (best < 0)
            n = 0; /* none is left for the others */
    }
}

/* ---- rows: softmax and losses --------------------------------------------------------------------------------- */

static bool is_kept(const uint8_t *keep, int i)
{
    return !keep || keep[i];
}

/* The largest kept element (NaN passed over), and Σ exp(x - largest), which is NaN when a kept element is. */
struct softmax_sums {
    float largest, sum;
};

static struct softmax_sums softmax_sums(const float *x, const uint8_t *keep, int n)
{
    float largest = -INFINITY;
    for (int i = 0; i < n; i++)
        largest = is_kept(keep, i) && x[i] > largest ? x[i] : largest;
    largest = largest + 0; /* no -0 */
    struct lanes sum = {{0}};
    for (int i = 0; i < n; i++)
        lanes_add(&sum, i, is_kept(keep, i) ? ref_exp_of(x[i] - largest) : 0);
    return (struct softmax_sums){largest, lanes_total(sum, n)};
}

void ref_softmax(float *y, const float *x, const uint8_t *keep, int n)
{
    const struct softmax_sums s = softmax_sums(x, keep, n);
    const float inverse = 1 / s.sum;
    for (int i = 0; i < n; i++)
        y[i] = is_kept(keep, i) ? ref_exp_of(x[i] - s.largest) * inverse : 0;
}

/* dx_i += y_i (dy_i - Σ_j y_j dy_j) */
void ref_softmax_back(float *dx, const float *dy, const float *y, int n)
{
    const float mean = ref_dot(dy, y, n);
    for (int i = 0; i < n; i++)
        dx[i] = fmaf(y[i], dy[i] - mean, dx[i]);
}

void ref_log_softmax(float *y, const float *x, const uint8_t *keep, int n)
{
    const struct softmax_sums s = softmax_sums(x, keep, n);
    const float log_sum = ref_log_of(s.sum);
    for (int i = 0; i < n; i++)
        y[i] = is_kept(keep, i) ? (x[i] - s.largest) - log_sum : -INFINITY;
}

float ref_log_sum(float *largest, int *index, float *value, const float *x, int n, int k)
{
    const struct softmax_sums s = softmax_sums(x, NULL, n);
    *largest = s.largest;
    ref_top_k(index, value, x, n, k);
    return ref_log_of(s.sum);
}

/* dx_i += dy_i - p_i Σ_j dy_j, p = exp(y): masked elements have p = 0; their dy should be 0 */
void ref_log_softmax_back(float *dx, const float *dy, const float *y, int n)
{
    const float sum = ref_sum(dy, n);
    for (int i = 0; i < n; i++)
        dx[i] = dx[i] + fmaf(-ref_exp_of(y[i]), sum, dy[i]);
}

/* With e_v = exp(x_v - largest): -log p_v = log Σe - (x_v - largest), and the gradient by x_v is
 * p_v - (1-ε)[v = target] - ε/n. */
float ref_xent(float *d, float *db, const float *x, int target, float smoothing, float scale, int n)
{
    const struct softmax_sums s = softmax_sums(x, NULL, n);
    const float log_sum = ref_log_of(s.sum);
    float loss = (1 - smoothing) * (log_sum - (x[target] - s.largest));
    if (smoothing != 0) {
        struct lanes sum = {{0}};
        for (int i = 0; i < n; i++)
            lanes_add(&sum, i, x[i] - s.largest);
        loss = fmaf(smoothing, log_sum - lanes_total(sum, n) / (float)n, loss);
    }
    if (d) {
        const float each = scale / s.sum, less = scale * smoothing / (float)n;
        for (int i = 0; i < n; i++)
            d[i] = fmaf(ref_exp_of(x[i] - s.largest), each, -less);
        d[target] = d[target] - scale * (1 - smoothing);
    }
    for (int i = 0; i < n && d && db; i++)
        db[i] = db[i] + d[i];
    return loss;
}

/* log p1 - log p2, of which elements without probability take no part */
static float log_ratio(float log_p1, float log_p2)
{
    return log_p1 > -INFINITY ? log_p1 - log_p2 : 0;
}

float ref_kl(float *d1, float *d2, const float *x1, const float *x2, float scale, int n)
{
    const struct softmax_sums s1 = softmax_sums(x1, NULL, n), s2 = softmax_sums(x2, NULL, n);
    const float log_sum1 = ref_log_of(s1.sum), log_sum2 = ref_log_of(s2.sum);
    struct lanes sum = {{0}};
    for (int i = 0; i < n; i++) {
        const float log_p1 = (x1[i] - s1.largest) - log_sum1,
                    log_p2 = (x2[i] - s2.largest) - log_sum2;
        lanes_add_product(&sum, i, ref_exp_of(log_p1), log_ratio(log_p1, log_p2));
    }
    const float kl = lanes_total(sum, n);
    for (int i = 0; i < n && (d1 || d2); i++) {
        const float log_p1 = (x1[i] - s1.largest) - log_sum1,
                    log_p2 = (x2[i] - s2.largest) - log_sum2;
        const float p1 = ref_exp_of(log_p1);
        if (d1)
            d1[i] = fmaf(scale * p1, log_ratio(log_p1, log_p2) - kl, d1[i]);
        if (d2)
            d2[i] = fmaf(scale, ref_exp_of(log_p2) - p1, d2[i]);
    }
    return kl;
}

/* ---- rows: norms ---------------------------------------------------------------------------------------------- */

void ref_layer_norm(float *y, float *stats, const float *x, const float *gain, const float *bias,
                    float eps, int n)
{
    const float mean = ref_sum(x, n) / (float)n;
    struct lanes squares = {{0}};
    for (int i = 0; i < n; i++)
        lanes_add_product(&squares, i, x[i] - mean, x[i] - mean);
    const float variance = lanes_total(squares, n) / (float)n;
    const float inverse = 1 / sqrtf(variance + eps);
    for (int i = 0; i < n; i++)
        y[i] = fmaf(gain[i], (x[i] - mean) * inverse, bias[i]);
    stats[0] = mean;
    stats[1] = inverse;
}

/* With z = (x - mean)/√(var + eps) and g = gain ∘ dy: dx (+)= (g - mean(g) - z mean(g ∘ z)) / √(var + eps) */
void ref_layer_norm_back(float *dx, float *dgain, float *dbias, const float *dy, const float *x,
                         const float *gain, const float *stats, bool add, int n)
{
    const float mean = stats[0], inverse = stats[1];
    for (int i = 0; i < n && dgain; i++)
        dgain[i] = fmaf(dy[i], (x[i] - mean) * inverse, dgain[i]);
    for (int i = 0; i < n && dbias; i++)
        dbias[i] = dbias[i] + dy[i];
    if (dx) {
        struct lanes sum = {{0}}, product = {{0}};
        for (int i = 0; i < n; i++) {
            const float g = gain[i] * dy[i];
            lanes_add(&sum, i, g);
            lanes_add_product(&product, i, g, (x[i] - mean) * inverse);
        }
        const float mean_g = lanes_total(sum, n) / (float)n,
                    mean_gz = lanes_total(product, n) / (float)n;
        for (int i = 0; i < n; i++) {
            const float z = (x[i] - mean) * inverse;
            dx[i] = fmaf(inverse, fmaf(-z, mean_gz, gain[i] * dy[i] - mean_g), add ? dx[i] : 0);
        }
    }
}

void ref_rms_norm(float *y, float *stats, const float *x, const float *gain, float eps, int n)
{
    const float inverse = 1 / sqrtf(ref_dot(x, x, n) / (float)n + eps);
    for (int i = 0; i < n; i++)
        y[i] = gain[i] * (x[i] * inverse);
    stats[0] = inverse;
}

void ref_rms_norm_back(float *dx, float *dgain, const float *dy, const float *x, const float *gain,
                       const float *stats, bool add, int n)
{
    const float inverse = stats[0];
    for (int i = 0; i < n && dgain; i++)
        dgain[i] = fmaf(dy[i], x[i] * inverse, dgain[i]);
    if (dx) {
        struct lanes product = {{0}};
        for (int i = 0; i < n; i++)
            lanes_add_product(&product, i, gain[i] * dy[i], x[i] * inverse);
        const float mean_gz = lanes_total(product, n) / (float)n;
        for (int i = 0; i < n; i++)
            dx[i] =
                fmaf(inverse, fmaf(-(x[i] * inverse), mean_gz, gain[i] * dy[i]), add ? dx[i] : 0);
    }
}

/* ---- rows: additive attention ---------------------------------------------------------------------------------- */

/* tanh(q_a + k_a + cover · w_a) */
static float additive_tanh(float q, float k, const float *cover, const float *w, int j, int a)
{
    return ref_tanh_of(cover ? fmaf(cover[j], w[a], q + k) : q + k);
}

void ref_additive(float *e, const float *v, const float *q, const float *k, long ldk,
                  const float *cover, const float *w, int S, int A)
{
    for (int j = 0; j < S; j++) {
        struct lanes sum = {{0}};
        for (int a = 0; a < A; a++)
            lanes_add_product(&sum, a, v[a], additive_tanh(q[a], k[j * ldk + a], cover, w, j, a));
        e[j] = lanes_total(sum, A);
    }
}

/* With t = tanh(…) and g = de_j v_a (1 - t²): dv_a += de_j t, dq_a += g, dk_ja += g, dw_a += cover_j g,
 * dcover_j += Σ_a w_a g; one key after the other */
void ref_additive_back(float *dv, float *dq, float *dk, long lddk, float *dcover, float *dw,
                       const float *de, const float *v, const float *q, const float *k, long ldk,
                       const float *cover, const float *w, int S, int A)
{
    for (int j = 0; j < S; j++) {
        struct lanes sum = {{0}};
        for (int a = 0; a < A; a++) {
            const float t = additive_tanh(q[a], k[j * ldk + a], cover, w, j, a);
            const float g = de[j] * v[a] * fmaf(-t, t, 1);
            if (dv)
                dv[a] = fmaf(de[j], t, dv[a]);
            if (dq)
                dq[a] = dq[a] + g;
            if (dk)
                dk[j * lddk + a] = dk[j * lddk + a] + g;
            if (dw)
                dw[a] = fmaf(cover[j], g, dw[a]);
            if (dcover)
                lanes_add_product(&sum, a, w[a], g);
        }
        if (dcover)
            dcover[j] = dcover[j] + lanes_total(sum, A);
    }
}

/* ---- one step of a recurrent cell ------------------------------------------------------------------------------ */

void ref_rnn_cell(float *s, const float *x, const float *u, int D)
{
    for (int i = 0; i < D; i++)
        s[i] = ref_tanh_of(x[i] + u[i]);
}

void ref_rnn_cell_back(float *dg, const float *ds, const float *s, int D)
{
    for (int i = 0; i < D; i++)
        dg[i] = ds[i] * fmaf(-s[i], s[i], 1);
}

void ref_gru_cell(float *s, float *gates, const float *x, const float *u, const float *prev, int D)
{
    for (int i = 0; i < D; i++) {
        const float r = ref_sigmoid_of(x[i] + u[i]);
        const float z = ref_sigmoid_of(x[D + i] + u[D + i]);
        const float n = ref_tanh_of(fmaf(r, u[2 * D + i], x[2 * D + i]));
        s[i] = fmaf(z, prev[i] - n, n);
        gates[i] = r;
        gates[D + i] = z;
        gates[2 * D + i] = n;
    }
}

void ref_gru_cell_back(float *dx, float *du, float *dprev, const float *ds, const float *gates,
                       const float *u, const float *prev, int D)
{
    for (int i = 0; i < D; i++) {
        const float r = gates[i], z = gates[D + i], n = gates[2 * D + i];
        const float dn = ds[i] * (1 - z) * fmaf(-n, n, 1);
        const float dz = ds[i] * (prev[i] - n) * fmaf(-z, z, z);
        const float dr = dn * u[2 * D + i] * fmaf(-r, r, r);
        dprev[i] = fmaf(z, ds[i], dprev[i]);
        dx[i] = du[i] = dr;
        dx[D + i] = du[D + i] = dz;
        dx[2 * D + i] = dn;
        du[2 * D + i] = r * dn;
    }
}

void ref_lstm_cell(float *s, float *c, float *gates, const float *x, const float *u,
                   const float *c_prev, int D)
{
    for (int j = 0; j < D; j++) {
        const float i = ref_sigmoid_of(x[j] + u[j]);
        const float f = ref_sigmoid_of(x[D + j] + u[D + j]);
        const float g = ref_tanh_of(x[2 * D + j] + u[2 * D + j]);
        const float o = ref_sigmoid_of(x[3 * D + j] + u[3 * D + j]);
        c[j] = fmaf(f, c_prev[j], i * g);
        s[j] = o * ref_tanh_of(c[j]);
        gates[j] = i;
        gates[D + j] = f;
        gates[2 * D + j] = g;
        gates[3 * D + j] = o;
    }
}

void ref_lstm_cell_back(float *dg, float *dc_prev, const float *ds, const float *dc,
                        const float *gates, const float *c, const float *c_prev, int D)
{
    for (int j = 0; j < D; j++) {
        const float i = gates[j], f = gates[D + j], g = gates[2 * D + j], o = gates[3 * D + j];
        const float t = ref_tanh_of(c[j]);
        const float all = fmaf(ds[j] * o, fmaf(-t, t, 1), dc ? dc[j] : 0);
        dg[j] = all * g * fmaf(-i, i, i);
        dg[D + j] = all * c_prev[j] * fmaf(-f, f, f);
        dg[2 * D + j] = all * i * fmaf(-g, g, 1);
        dg[3 * D + j] = ds[j] * t * fmaf(-o, o, o);
        dc_prev[j] = f * all;
    }
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

void ref_adam(float *w, float *m, float *v, const float *g, float rate, float beta1, float beta2,
              float eps, float correct1, float correct2, float l2, float decay, float grad_scale,
              long n)
{
    const float inverse1 = 1 / correct1, inverse2 = 1 / correct2;
    for (long i = 0; i < n; i++) {
        const float gi = l2 != 0 ? fmaf(l2, w[i], grad_scale * g[i]) : grad_scale * g[i];
        m[i] = fmaf(beta1, m[i], (1 - beta1) * gi);
        v[i] = fmaf(beta2, v[i], (1 - beta2) * gi * gi);
        const float step = m[i] * inverse1 / (sqrtf(v[i] * inverse2) + eps);
        w[i] = fmaf(-rate, fmaf(decay, w[i], step), w[i]);
    }
}

void ref_sgd(float *w, float *m, const float *g, float rate, float momentum, float decay,
             float grad_scale, long n)
{
    for (long i = 0; i < n; i++) {
        float step = fmaf(decay, w[i], grad_scale * g[i]);
        if (m)
            step = m[i] = fmaf(momentum, m[i], step);
        w[i] = fmaf(-rate, step, w[i]);
    }
}

#define HD_ENTRY(returns, name, arguments) .name = ref_##name,
const struct hd_kernels hd_kernels_ref = {.name = "ref", HD_KERNEL_LIST(HD_ENTRY)};
#undef HD_ENTRY
