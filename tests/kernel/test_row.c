/* test_row.c -- softmax, losses, norms and additive attention: the same bits from every kernel, and near the formulas in
 * double precision, values and gradients. */
#include "kernel/common.h"

/* 0 here and there; sometimes nothing is kept. A malloc of its own, so that a sanitizer sees reads beyond. */
static uint8_t *random_mask(int n)
{
    uint8_t *keep = malloc((size_t)n + 1);
    assert_non_null(keep);
    const uint32_t share = random_bits() % 4;
    for (int i = 0; i < n; i++)
        keep[i] = random_bits() % 4 < share ? (uint8_t)(1 + random_bits() % 255) : 0;
    return keep;
}

static double largest(const float *x, const uint8_t *keep, int n)
{
    double m = -INFINITY;
    for (int i = 0; i < n; i++)
        if (!keep || keep[i])
            m = fmax(m, (double)x[i]);
    return m;
}

static double log_sum_exp(const float *x, const uint8_t *keep, int n)
{
    const double m = largest(x, keep, n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (!keep || keep[i])
            sum += exp((double)x[i] - m);
    return m + log(sum);
}

static void assert_near(double got, double exact, double bound, const char *what, int n)
{
    assert_that(fabs(got - exact) <= bound, "%s, n %d: %.9g, not %.9g", what, n, got, exact);
}

/* ---- softmax ------------------------------------------------------------------------------------------------------- */

static void softmax_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        float *x = random_numbers(n, kind), *y = random_numbers(n, kind), *wanted = copy_of(y, n);
        uint8_t *keep = random_mask(n);
        k->softmax(y, x, NULL, n);
        hd_kernels_ref.softmax(wanted, x, NULL, n);
        assert_same_bits(y, wanted, n, "%s softmax, kind %d", k->name, kind);
        k->softmax(y, x, keep, n);
        hd_kernels_ref.softmax(wanted, x, keep, n);
        assert_same_bits(y, wanted, n, "%s masked softmax, kind %d", k->name, kind);
        k->log_softmax(y, x, NULL, n);
        hd_kernels_ref.log_softmax(wanted, x, NULL, n);
        assert_same_bits(y, wanted, n, "%s log_softmax, kind %d", k->name, kind);
        k->log_softmax(y, x, keep, n);
        hd_kernels_ref.log_softmax(wanted, x, keep, n);
        assert_same_bits(y, wanted, n, "%s masked log_softmax, kind %d", k->name, kind);
        for (int most = 0; most <= 66; most += most < 3 ? 1 : 21) {
            float *sums = random_numbers(2, kind), *sums_wanted = copy_of(sums, 2),
                  *value = random_numbers(most, kind), *value_wanted = copy_of(value, most);
            int index[66], index_wanted[66];
            sums[0] = k->log_sum(&sums[1], index, value, x, n, most);
            sums_wanted[0] =
                hd_kernels_ref.log_sum(&sums_wanted[1], index_wanted, value_wanted, x, n, most);
            assert_same_bits(sums, sums_wanted, 2, "%s log_sum, kind %d", k->name, kind);
            assert_same_bits(value, value_wanted, most, "%s log_sum, kind %d", k->name, kind);
            assert_true(memcmp(index, index_wanted, (size_t)most * sizeof *index) == 0);
            numbers_free(sums), numbers_free(sums_wanted), numbers_free(value),
                numbers_free(value_wanted);
        }

        float *dx = random_numbers(n, kind), *dx_wanted = copy_of(dx, n);
        k->softmax_back(dx, x, y, n);
        hd_kernels_ref.softmax_back(dx_wanted, x, y, n);
        assert_same_bits(dx, dx_wanted, n, "%s softmax_back, kind %d", k->name, kind);
        k->log_softmax_back(dx, y, x, n);
        hd_kernels_ref.log_softmax_back(dx_wanted, y, x, n);
        assert_same_bits(dx, dx_wanted, n, "%s log_softmax_back, kind %d", k->name, kind);

        memcpy(y, x, (size_t)n * sizeof *y);
        k->softmax(y, y, keep, n);
        hd_kernels_ref.softmax(wanted, x, keep, n);
        assert_same_bits(y, wanted, n, "%s softmax in place, kind %d", k->name, kind);
        numbers_free(x), numbers_free(y), numbers_free(wanted), numbers_free(dx),
            numbers_free(dx_wanted);
        free(keep);
    }
}

static void softmax_is_near_the_formula(void **state)
{
    (void)state;
    for (int n = 1; n <= 130; n++) {
        float *x = random_numbers(n, KIND_PLAIN), *y = random_numbers(n, KIND_PLAIN),
              *l = random_numbers(n, KIND_PLAIN);
        uint8_t *keep = random_mask(n);
        keep[n / 2] = 1;
        hd_kernels_ref.softmax(y, x, keep, n);
        hd_kernels_ref.log_softmax(l, x, keep, n);
        const double lse = log_sum_exp(x, keep, n);
        for (int i = 0; i < n; i++) {
            if (!keep[i]) {
                assert_true(y[i] == 0 && !signbit(y[i]) && l[i] == -INFINITY);
                continue;
            }
            assert_near((double)y[i], exp((double)x[i] - lse), 4e-7, "softmax", n);
            assert_near((double)l[i], (double)x[i] - lse, 3e-6, "log_softmax", n);
        }
        numbers_free(x), numbers_free(y), numbers_free(l);
        free(keep);
    }
}

static void softmax_gradients_are_near_the_formula(void **state)
{
    (void)state;
    for (int n = 1; n <= 100; n += 3) {
        float *x = random_numbers(n, KIND_PLAIN), *y = random_numbers(n, KIND_PLAIN),
              *dy = random_numbers(n, KIND_PLAIN);
        float *dx = random_numbers(n, KIND_ZERO), *dl = random_numbers(n, KIND_ZERO),
              *l = random_numbers(n, KIND_PLAIN);
        hd_kernels_ref.softmax(y, x, NULL, n);
        hd_kernels_ref.softmax_back(dx, dy, y, n);
        hd_kernels_ref.log_softmax(l, x, NULL, n);
        hd_kernels_ref.log_softmax_back(dl, dy, l, n);
        const double lse = log_sum_exp(x, NULL, n);
        double mean = 0, sum = 0;
        for (int i = 0; i < n; i++) {
            mean += exp((double)x[i] - lse) * (double)dy[i];
            sum += (double)dy[i];
        }
        for (int i = 0; i < n; i++) {
            const double p = exp((double)x[i] - lse);
            assert_near((double)dx[i], p * ((double)dy[i] - mean), 4e-6, "softmax_back", n);
            assert_near((double)dl[i], (double)dy[i] - p * sum, 4e-5, "log_softmax_back", n);
        }
        numbers_free(x), numbers_free(y), numbers_free(dy), numbers_free(dx), numbers_free(dl),
            numbers_free(l);
    }
}

static void softmax_of_strange_rows(void **state)
{
    (void)state;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        const uint8_t none[3] = {0, 0, 0}, some[3] = {1, 0, 1};
        float y[3];
        const float huge[3] = {3e38F, NAN, 3e38F};
        (*k)->softmax(y, huge, some,
                      3); /* a masked NaN takes no part; the largest number does not overflow */
        assert_true(y[0] == 0.5F && y[1] == 0 && y[2] == 0.5F);
        (*k)->softmax(y, huge, NULL, 3);
        assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
        (*k)->softmax(y, huge, none, 3);
        assert_true(y[0] == 0 && y[1] == 0 && y[2] == 0);
        (*k)->log_softmax(y, huge, none, 3);
        assert_true(y[0] == -INFINITY && y[1] == -INFINITY && y[2] == -INFINITY);
        const float with_minus[3] = {-INFINITY, 1, -INFINITY};
        (*k)->softmax(y, with_minus, NULL, 3);
        assert_true(y[0] == 0 && y[1] == 1 && y[2] == 0);
    }
}

/* ---- losses -------------------------------------------------------------------------------------------------------- */

static void losses_return_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        float *x = random_numbers(n, kind), *x2 = random_numbers(n, kind);
        float *d1 = random_numbers(n, kind), *w1 = copy_of(d1, n), *d2 = random_numbers(n, kind),
              *w2 = copy_of(d2, n);
        const bool some = n % 3 == 0, other = n % 5 == 0;
        assert_same_number(k->kl(some ? NULL : d1, other ? NULL : d2, x, x2, 0.7F, n),
                           hd_kernels_ref.kl(some ? NULL : w1, other ? NULL : w2, x, x2, 0.7F, n),
                           k->name, "kl", n);
        assert_same_bits(d1, w1, n, "%s kl, first gradient, kind %d", k->name, kind);
        assert_same_bits(d2, w2, n, "%s kl, second gradient, kind %d", k->name, kind);
        for (int s = 0; s < 3 && n > 0; s++) {
            const float smoothing = (float)s * 0.1F;
            const int target = (int)random_bits() % n;
            const float wanted = hd_kernels_ref.xent(w1, w2, x, target, smoothing, 0.3F, n);
            assert_same_number(k->xent(d1, d2, x, target, smoothing, 0.3F, n), wanted, k->name,
                               "xent", n);
            assert_same_bits(d1, w1, n, "%s xent, smoothing %d, kind %d", k->name, s, kind);
            assert_same_bits(d2, w2, n, "%s xent, sum, smoothing %d, kind %d", k->name, s, kind);
            assert_same_number(k->xent(NULL, NULL, x, target, smoothing, 0.3F, n), wanted, k->name,
                               "xent alone", n);
            memcpy(d1, x, (size_t)n * sizeof *x);
            assert_same_number(k->xent(d1, NULL, d1, target, smoothing, 0.3F, n), wanted, k->name,
                               "xent in place", n);
            assert_same_bits(d1, w1, n, "%s xent in place, smoothing %d, kind %d", k->name, s,
                             kind);
        }
        numbers_free(x), numbers_free(x2), numbers_free(d1), numbers_free(w1), numbers_free(d2),
            numbers_free(w2);
    }
}

static void cross_entropy_is_near_the_formula(void **state)
{
    (void)state;
    for (int n = 1; n <= 200; n += 3)
        for (int s = 0; s < 3; s++) {
            float *x = random_numbers(n, KIND_PLAIN), *d = random_numbers(n, KIND_PLAIN);
            const int target = (int)random_bits() % n;
            const float smoothing = (float)s * 0.1F;
            const double e = (double)smoothing, lse = log_sum_exp(x, NULL, n);
            double mean = 0;
            for (int i = 0; i < n; i++)
                mean += (lse - (double)x[i]) / n;
            const double loss = (double)hd_kernels_ref.xent(d, NULL, x, target, smoothing, 2, n);
            assert_near(loss, (1 - e) * (lse - (double)x[target]) + e * mean, 4e-6, "xent", n);
            for (int i = 0; i < n; i++)
                assert_near((double)d[i],
                            2 * (exp((double)x[i] - lse) - (i == target ? 1 - e : 0) - e / n), 2e-6,
                            "gradient of xent", n);
            numbers_free(x), numbers_free(d);
        }
}

static void a_long_row_is_as_exact_as_a_short_one(void **state)
{
    (void)state;
    const int n = 8000;
    float *x = random_numbers(n, KIND_PLAIN), *d = random_numbers(n, KIND_PLAIN),
          *wanted = random_numbers(n, KIND_PLAIN);
    const double lse = log_sum_exp(x, NULL, n);
    const float loss = hd_kernels_ref.xent(wanted, NULL, x, 17, 0.1F, 1, n);
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        mean += (lse - (double)x[i]) / n;
        sum += (double)wanted[i];
    }
    assert_near((double)loss, 0.9 * (lse - (double)x[17]) + 0.1 * mean, 1e-5, "xent", n);
    assert_near(sum, 0, 1e-5, "sum of the gradient", n);
    FOR_EACH_KERNEL(k)
    {
        assert_same_number(k->xent(d, NULL, x, 17, 0.1F, 1, n), loss, k->name, "xent", n);
        assert_true(memcmp(d, wanted, (size_t)n * sizeof *d) == 0);
    }
    numbers_free(x), numbers_free(d), numbers_free(wanted);
}

static void divergence_is_near_the_formula(void **state)
{
    (void)state;
    for (int n = 1; n <= 120; n += 7) {
        float *x1 = random_numbers(n, KIND_PLAIN), *x2 = random_numbers(n, KIND_PLAIN);
        float *d1 = random_numbers(n, KIND_ZERO), *d2 = random_numbers(n, KIND_ZERO);
        const double lse1 = log_sum_exp(x1, NULL, n), lse2 = log_sum_exp(x2, NULL, n);
        double kl = 0;
        for (int i = 0; i < n; i++)
            kl += exp((double)x1[i] - lse1) * ((double)x1[i] - lse1 - ((double)x2[i] - lse2));
        assert_near((double)hd_kernels_ref.kl(d1, d2, x1, x2, 3, n), kl, 1e-5, "kl", n);
        for (int i = 0; i < n; i++) {
            const double p1 = exp((double)x1[i] - lse1), p2 = exp((double)x2[i] - lse2);
            const double ratio = (double)x1[i] - lse1 - ((double)x2[i] - lse2);
            assert_near((double)d1[i], 3 * p1 * (ratio - kl), 1e-5, "gradient by the first", n);
            assert_near((double)d2[i], 3 * (p2 - p1), 1e-5, "gradient by the second", n);
        }
        numbers_free(x1), numbers_free(x2), numbers_free(d1), numbers_free(d2);
    }
}

static void what_has_no_probability_does_not_diverge(void **state)
{
    (void)state;
    const float x1[3] = {1, -INFINITY, 2}, x2[3] = {1, -INFINITY, 2};
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        float d1[3] = {0}, d2[3] = {0};
        const float kl = (*k)->kl(d1, d2, x1, x2, 1, 3);
        assert_true(kl == 0 && d1[1] == 0 && d2[1] == 0);
    }
}

/* ---- norms --------------------------------------------------------------------------------------------------------- */

static void norms_return_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        float *x = random_numbers(n, kind), *gain = random_numbers(n, kind),
              *bias = random_numbers(n, kind);
        float *y = random_numbers(n, kind), *wy = copy_of(y, n), *dy = random_numbers(n, kind);
        float *dx = random_numbers(n, kind), *wx = copy_of(dx, n), *dg = random_numbers(n, kind),
              *wg = copy_of(dg, n);
        float *db = random_numbers(n, kind), *wb = copy_of(db, n);
        float stats[2] = {1, 2}, ws[2] = {1, 2};
        const bool no_x = n % 5 == 1, no_gain = n % 7 == 2, no_bias = n % 3 == 2, add = n % 2;
        if (!add) /* in place */
            numbers_free(dx), dx = copy_of(dy, n), numbers_free(wx), wx = copy_of(dy, n);
        const float *fast_dy = add ? dy : dx, *ref_dy = add ? dy : wx;
        k->layer_norm(y, stats, x, gain, bias, 1e-5F, n);
        hd_kernels_ref.layer_norm(wy, ws, x, gain, bias, 1e-5F, n);
        assert_same_bits(y, wy, n, "%s layer_norm, kind %d", k->name, kind);
        assert_true(is_same(stats[0], ws[0]) && is_same(stats[1], ws[1]));
        k->layer_norm_back(no_x ? NULL : dx, no_gain ? NULL : dg, no_bias ? NULL : db, fast_dy, x,
                           gain, stats, add, n);
        hd_kernels_ref.layer_norm_back(no_x ? NULL : wx, no_gain ? NULL : wg, no_bias ? NULL : wb,
                                       ref_dy, x, gain, stats, add, n);
        assert_same_bits(dx, wx, n, "%s layer_norm_back by x, kind %d", k->name, kind);
        assert_same_bits(dg, wg, n, "%s layer_norm_back by gain, kind %d", k->name, kind);
        assert_same_bits(db, wb, n, "%s layer_norm_back by bias, kind %d", k->name, kind);
        k->rms_norm(y, stats, x, gain, 1e-5F, n);
        hd_kernels_ref.rms_norm(wy, ws, x, gain, 1e-5F, n);
        assert_same_bits(y, wy, n, "%s rms_norm, kind %d", k->name, kind);
        assert_true(is_same(stats[0], ws[0]));
        k->rms_norm_back(no_x ? NULL : dx, no_gain ? NULL : dg, fast_dy, x, gain, stats, add, n);
        hd_kernels_ref.rms_norm_back(no_x ? NULL : wx, no_gain ? NULL : wg, ref_dy, x, gain, stats,
                                     add, n);
        assert_same_bits(dx, wx, n, "%s rms_norm_back by x, kind %d", k->name, kind);
        assert_same_bits(dg, wg, n, "%s rms_norm_back by gain, kind %d", k->name, kind);
        numbers_free(x), numbers_free(gain), numbers_free(bias), numbers_free(y), numbers_free(wy),
            numbers_free(dy);
        numbers_free(dx), numbers_free(wx), numbers_free(dg), numbers_free(wg), numbers_free(db),
            numbers_free(wb);
    }
}

/* 1/√0 times the zeros that stand for elements beyond the end would be NaN. */
static void an_infinite_factor_does_not_reach_beyond_the_end(void **state)
{
    (void)state;
    const float one[3] = {1, 1, 1};
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        float dx[3] = {0}, stats[2] = {INFINITY, 0};
        (*k)->rms_norm_back(dx, NULL, one, one, one, stats, true, 3);
        assert_that(dx[0] == -INFINITY, "%s rms_norm_back: %f", (*k)->name, (double)dx[0]);
        stats[0] = 0.5F, stats[1] = INFINITY, dx[0] = 0;
        (*k)->layer_norm_back(dx, NULL, NULL, one, one, one, stats, true, 3);
        assert_that(dx[0] == -INFINITY, "%s layer_norm_back: %f", (*k)->name, (double)dx[0]);
    }
}

/* Σ_i dy_i y_i in double, as a function of x: its slope is the gradient. */
static double norm_in_double(const double *x, const float *gain, const float *bias, const float *dy,
                             double eps, int n)
{
    double mean = 0, variance = 0, sum = 0;
    for (int i = 0; i < n && bias; i++) /* no bias: RMS norm, no mean */
        mean += x[i] / n;
    for (int i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / n;
    for (int i = 0; i < n; i++)
        sum += (double)dy[i] * ((double)gain[i] * (x[i] - mean) / sqrt(variance + eps) +
                                (bias ? (double)bias[i] : 0));
    return sum;
}

static void norms_are_near_the_formulas(void **state)
{
    (void)state;
    for (int n = 2; n <= 70; n += 4) {
        float *x = random_numbers(n, KIND_PLAIN), *gain = random_numbers(n, KIND_PLAIN),
              *bias = random_numbers(n, KIND_PLAIN);
        float *dy = random_numbers(n, KIND_PLAIN), *y = random_numbers(n, KIND_PLAIN);
        for (int is_rms = 0; is_rms < 2; is_rms++) {
            float *dx = random_numbers(n, KIND_ZERO), *dgain = random_numbers(n, KIND_ZERO),
                  *dbias = random_numbers(n, KIND_ZERO);
            float stats[2];
            if (is_rms) {
                hd_kernels_ref.rms_norm(y, stats, x, gain, 1e-3F, n);
                hd_kernels_ref.rms_norm_back(dx, dgain, dy, x, gain, stats, true, n);
            } else {
                hd_kernels_ref.layer_norm(y, stats, x, gain, bias, 1e-3F, n);
                hd_kernels_ref.layer_norm_back(dx, dgain, dbias, dy, x, gain, stats, true, n);
            }
            double at[70], value = 0;
            for (int i = 0; i < n; i++) {
                at[i] = (double)x[i];
                value += (double)dy[i] * (double)y[i];
            }
            const float *b = is_rms ? NULL : bias;
            assert_near(value, norm_in_double(at, gain, b, dy, 1e-3, n), 1e-4, "norm", n);
            for (int i = 0; i < n; i++) {
                const double h = 1e-5;
                at[i] += h;
                const double up = norm_in_double(at, gain, b, dy, 1e-3, n);
                at[i] -= 2 * h;
                const double down = norm_in_double(at, gain, b, dy, 1e-3, n);
                at[i] += h;
                assert_near((double)dx[i], (up - down) / (2 * h), 1e-4,
                            is_rms ? "rms_norm by x" : "layer_norm by x", n);
                const double z = ((double)y[i] - (b ? (double)b[i] : 0)) / (double)gain[i];
                assert_near((double)dgain[i], (double)dy[i] * z, 1e-3, "norm by gain", n);
                assert_true(is_rms || dbias[i] == dy[i]);
            }
            numbers_free(dx), numbers_free(dgain), numbers_free(dbias);
        }
        numbers_free(x), numbers_free(gain), numbers_free(bias), numbers_free(dy), numbers_free(y);
    }
}

/* ---- additive attention ---------------------------------------------------------------------------------------------- */

enum { MOST_KEYS = 9 };

/* One query, S keys of A numbers (rows ldk apart), with or without cover; every output. */
struct attention {
    float *v, *q, *k, *cover, *w, *de;
    float *e, *dv, *dq, *dk, *dcover, *dw;
};

static struct attention random_attention(int S, int A, long ldk, enum kind kind)
{
    return (struct attention){.v = random_numbers(A, kind),
                              .q = random_numbers(A, kind),
                              .k = random_numbers(S * ldk, kind),
                              .cover = random_numbers(S, kind),
                              .w = random_numbers(A, kind),
                              .de = random_numbers(S, kind),
                              .e = random_numbers(S, kind),
                              .dv = random_numbers(A, kind),
                              .dq = random_numbers(A, kind),
                              .dk = random_numbers(S * ldk, kind),
                              .dcover = random_numbers(S, kind),
                              .dw = random_numbers(A, kind)};
}

static struct attention copy_of_attention(const struct attention *a, int S, int A, long ldk)
{
    struct attention b = *a;
    b.e = copy_of(a->e, S), b.dv = copy_of(a->dv, A), b.dq = copy_of(a->dq, A),
    b.dk = copy_of(a->dk, S * ldk);
    b.dcover = copy_of(a->dcover, S), b.dw = copy_of(a->dw, A);
    return b;
}

static void outputs_free(struct attention *a)
{
    numbers_free(a->e), numbers_free(a->dv), numbers_free(a->dq), numbers_free(a->dk),
        numbers_free(a->dcover), numbers_free(a->dw);
}

static void inputs_free(struct attention *a)
{
    numbers_free(a->v), numbers_free(a->q), numbers_free(a->k), numbers_free(a->cover),
        numbers_free(a->w), numbers_free(a->de);
}

/* Forward and backward; bit i of `without` leaves output i out, the highest one the cover. */
static void run_attention(const struct hd_kernels *k, const struct attention *a, int S, int A,
                          long ldk, unsigned without)
{
    const bool has_cover = !(without & 32);
    k->additive(a->e, a->v, a->q, a->k, ldk, has_cover ? a->cover : NULL, has_cover ? a->w : NULL,
                S, A);
    k->additive_back(without & 1 ? NULL : a->dv, without & 2 ? NULL : a->dq,
                     without & 4 ? NULL : a->dk, ldk, without & 8 || !has_cover ? NULL : a->dcover,
                     without & 16 || !has_cover ? NULL : a->dw, a->de, a->v, a->q, a->k, ldk,
                     has_cover ? a->cover : NULL, has_cover ? a->w : NULL, S, A);
}

static void additive_attention_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    FOR_EACH_KIND(kind)
    for (int S = 0; S <= MOST_KEYS; S++)
        for (int A = 0; A <= 70; A += A < 36 ? 1 : 11) {
            const long ldk = A + (long)(random_bits() % 3);
            const unsigned without =
                random_bits() % 3 ? (random_bits() % 2) * 32 : random_bits() % 64;
            struct attention mine = random_attention(S, A, ldk, kind),
                             ref = copy_of_attention(&mine, S, A, ldk);
            run_attention(k, &mine, S, A, ldk, without);
            run_attention(&hd_kernels_ref, &ref, S, A, ldk, without);
            const char *name = k->name;
            assert_same_bits(mine.e, ref.e, S, "%s additive, S %d, A %d, kind %d", name, S, A,
                             kind);
            assert_same_bits(mine.dv, ref.dv, A, "%s additive dv, S %d, A %d, kind %d", name, S, A,
                             kind);
            assert_same_bits(mine.dq, ref.dq, A, "%s additive dq, S %d, A %d, kind %d", name, S, A,
                             kind);
            assert_same_bits(mine.dk, ref.dk, S * ldk, "%s additive dk, S %d, A %d, kind %d", name,
                             S, A, kind);
            assert_same_bits(mine.dcover, ref.dcover, S, "%s additive dcover, S %d, A %d, kind %d",
                             name, S, A, kind);
            assert_same_bits(mine.dw, ref.dw, A, "%s additive dw, S %d, A %d, kind %d", name, S, A,
                             kind);
            outputs_free(&mine), outputs_free(&ref), inputs_free(&mine);
        }
}

static void a_key_has_the_same_score_in_any_company(void **state)
{
    (void)state;
    enum { S = 7, A = 37 };
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        struct attention a = random_attention(S, A, A, KIND_PLAIN);
        (*k)->additive(a.e, a.v, a.q, a.k, A, NULL, NULL, S, A);
        for (int j = 0; j < S; j++) {
            float alone;
            (*k)->additive(&alone, a.v, a.q, a.k + j * A, A, NULL, NULL, 1, A);
            assert_same_number(alone, a.e[j], (*k)->name, "additive", j);
        }
        outputs_free(&a), inputs_free(&a);
    }
}

static void additive_attention_is_near_the_formula(void **state)
{
    (void)state;
    enum { S = 5, A = 21 };
    struct attention a = random_attention(S, A, A, KIND_PLAIN);
    float *const zero[] = {a.dv, a.dq, a.dk, a.dcover, a.dw};
    const int size[] = {A, A, S * A, S, A};
    for (int o = 0; o < 5; o++)
        memset(zero[o], 0, (size_t)size[o] * sizeof(float));
    run_attention(&hd_kernels_ref, &a, S, A, A, 0);
    double dv[A] = {0}, dq[A] = {0}, dw[A] = {0};
    for (int j = 0; j < S; j++) {
        double e = 0, dcover = 0;
        for (int i = 0; i < A; i++) {
            const double t =
                tanh((double)a.q[i] + (double)a.k[j * A + i] + (double)a.cover[j] * (double)a.w[i]);
            const double g = (double)a.de[j] * (double)a.v[i] * (1 - t * t);
            e += (double)a.v[i] * t;
            dv[i] += (double)a.de[j] * t;
            dq[i] += g;
            dw[i] += g * (double)a.cover[j];
            dcover += g * (double)a.w[i];
            assert_near((double)a.dk[j * A + i], g, 1e-5, "dk", i);
        }
        assert_near((double)a.e[j], e, 1e-5, "e", j);
        assert_near((double)a.dcover[j], dcover, 1e-5, "dcover", j);
    }
    for (int i = 0; i < A; i++) {
        assert_near((double)a.dv[i], dv[i], 1e-5, "dv", i);
        assert_near((double)a.dq[i], dq[i], 1e-5, "dq", i);
        assert_near((double)a.dw[i], dw[i], 1e-5, "dw", i);
    }
    outputs_free(&a), inputs_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_returns_the_bits_of_the_reference),
        cmocka_unit_test(softmax_is_near_the_formula),
        cmocka_unit_test(softmax_gradients_are_near_the_formula),
        cmocka_unit_test(softmax_of_strange_rows),
        cmocka_unit_test(losses_return_the_bits_of_the_reference),
        cmocka_unit_test(cross_entropy_is_near_the_formula),
        cmocka_unit_test(a_long_row_is_as_exact_as_a_short_one),
        cmocka_unit_test(divergence_is_near_the_formula),
        cmocka_unit_test(what_has_no_probability_does_not_diverge),
        cmocka_unit_test(norms_return_the_bits_of_the_reference),
        cmocka_unit_test(an_infinite_factor_does_not_reach_beyond_the_end),
        cmocka_unit_test(norms_are_near_the_formulas),
        cmocka_unit_test(additive_attention_returns_the_bits_of_the_reference),
        cmocka_unit_test(a_key_has_the_same_score_in_any_company),
        cmocka_unit_test(additive_attention_is_near_the_formula),
    };
    return cmocka_run_group_tests_name("kernel/row", tests, NULL, NULL);
}
