/* test_optim.c -- Adam, AdamW and SGD: the same bits from every kernel, and near the formulas in double precision. */
#include "kernel/common.h"

enum {
    ADAM,
    ADAM_L2,
    ADAMW,
    SGD,
    SGD_MOMENTUM,
    N_RULES
}; /* the last with decay, as the second and third */

/* A step's settings. */
struct settings {
    float rate, beta1, beta2, eps, correct1, correct2, decay, grad_scale, momentum;
};

static struct settings settings_of(int rule, int step)
{
    return (struct settings){.rate = 0.01F,
                             .beta1 = 0.9F,
                             .beta2 = 0.98F,
                             .eps = 1e-9F,
                             .correct1 = 1 - powf(0.9F, (float)step),
                             .correct2 = 1 - powf(0.98F, (float)step),
                             .decay = rule == ADAM || rule == SGD ? 0 : 0.1F,
                             .grad_scale = 0.5F,
                             .momentum = 0.9F};
}

static void run(const struct hd_kernels *k, int rule, float *w, float *m, float *v, const float *g,
                int step, long n)
{
    const struct settings s = settings_of(rule, step);
    if (rule < SGD)
        k->adam(w, m, v, g, s.rate, s.beta1, s.beta2, s.eps, s.correct1, s.correct2,
                rule == ADAM_L2 ? s.decay : 0, rule == ADAMW ? s.decay : 0, s.grad_scale, n);
    else
        k->sgd(w, rule == SGD_MOMENTUM ? m : NULL, g, s.rate, s.momentum, s.decay, s.grad_scale, n);
}

static void every_update_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    for (int which = 0; which < N_RULES; which++)
        FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(n)
    {
        float *w = random_numbers(n, kind), *m = random_numbers(n, kind),
              *v = random_numbers(n, kind);
        float *ww = copy_of(w, n), *wm = copy_of(m, n), *wv = copy_of(v, n),
              *g = random_numbers(n, kind);
        run(k, which, w, m, v, g, 1 + n, n);
        run(&hd_kernels_ref, which, ww, wm, wv, g, 1 + n, n);
        assert_same_bits(w, ww, n, "%s w, update %d, kind %d", k->name, which, kind);
        assert_same_bits(m, wm, n, "%s m, update %d, kind %d", k->name, which, kind);
        assert_same_bits(v, wv, n, "%s v, update %d, kind %d", k->name, which, kind);
        numbers_free(w), numbers_free(m), numbers_free(v), numbers_free(g);
        numbers_free(ww), numbers_free(wm), numbers_free(wv);
    }
}

static void twenty_updates_are_near_the_formulas(void **state)
{
    (void)state;
    enum { N = 37 };
    for (int which = 0; which < N_RULES; which++) {
        float w[N], m[N] = {0}, v[N] = {0}, g[N];
        double ew[N], em[N] = {0}, ev[N] = {0};
        for (int i = 0; i < N; i++)
            ew[i] = (double)(w[i] = random_number(KIND_PLAIN));
        for (int step = 1; step <= 20; step++) {
            const struct settings s = settings_of(which, step);
            for (int i = 0; i < N; i++) {
                g[i] = random_number(KIND_PLAIN);
                const double gi = (double)s.grad_scale * (double)g[i] +
                                  (which == ADAM_L2 ? (double)s.decay * ew[i] : 0);
                if (which < SGD) {
                    em[i] = (double)s.beta1 * em[i] + (1 - (double)s.beta1) * gi;
                    ev[i] = (double)s.beta2 * ev[i] + (1 - (double)s.beta2) * gi * gi;
                    const double move = em[i] / (double)s.correct1 /
                                        (sqrt(ev[i] / (double)s.correct2) + (double)s.eps);
                    ew[i] -=
                        (double)s.rate * (move + (which == ADAMW ? (double)s.decay * ew[i] : 0));
                } else {
                    const double move = gi + (double)s.decay * ew[i];
                    em[i] = which == SGD_MOMENTUM ? (double)s.momentum * em[i] + move : move;
                    ew[i] -= (double)s.rate * em[i];
                }
            }
            run(&hd_kernels_ref, which, w, m, v, g, step, N);
        }
        for (int i = 0; i < N; i++)
            assert_that(fabs((double)w[i] - ew[i]) < 1e-5, "update %d, element %d: %.9g, not %.9g",
                        which, i, (double)w[i], ew[i]);
    }
}

static void no_gradient_ever_moves_nothing(void **state)
{
    (void)state;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        float w[20], before[20], m[20] = {0}, v[20] = {0};
        const float g[20] = {0};
        for (int i = 0; i < 20; i++)
            w[i] = before[i] = random_number(KIND_PLAIN);
        run(*k, ADAM, w, m, v, g, 1, 20);
        run(*k, SGD, w, m, v, g, 1, 20);
        assert_memory_equal(w, before, sizeof w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_update_returns_the_bits_of_the_reference),
        cmocka_unit_test(twenty_updates_are_near_the_formulas),
        cmocka_unit_test(no_gradient_ever_moves_nothing),
    };
    return cmocka_run_group_tests_name("kernel/optim", tests, NULL, NULL);
}
