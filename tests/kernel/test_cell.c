/* test_cell.c -- one step of RNN, GRU and LSTM: the same bits from every kernel, and gradients that are the slopes of the
 * formulas in double precision. */
#include "kernel/common.h"

static double sigma(double x)
{
    return 1 / (1 + exp(-x));
}

/* Everything that a cell reads and writes, as long as the largest cell needs. */
struct cell {
    float *x, *u, *prev, *ds, *dc;          /* read */
    float *s, *c, *gates, *dx, *du, *dprev; /* written */
};

static struct cell random_cell(int D, enum kind kind)
{
    return (struct cell){.x = random_numbers(4L * D, kind),
                         .u = random_numbers(4L * D, kind),
                         .prev = random_numbers(D, kind),
                         .ds = random_numbers(D, kind),
                         .dc = random_numbers(D, kind),
                         .s = random_numbers(D, kind),
                         .c = random_numbers(D, kind),
                         .gates = random_numbers(4L * D, kind),
                         .dx = random_numbers(4L * D, kind),
                         .du = random_numbers(4L * D, kind),
                         .dprev = random_numbers(D, kind)};
}

static struct cell with_outputs_copied(const struct cell *a, int D)
{
    struct cell b = *a;
    b.s = copy_of(a->s, D), b.c = copy_of(a->c, D), b.gates = copy_of(a->gates, 4L * D);
    b.dx = copy_of(a->dx, 4L * D), b.du = copy_of(a->du, 4L * D), b.dprev = copy_of(a->dprev, D);
    return b;
}

static void cell_free(struct cell *a, bool with_inputs)
{
    numbers_free(a->s), numbers_free(a->c), numbers_free(a->gates);
    numbers_free(a->dx), numbers_free(a->du), numbers_free(a->dprev);
    if (with_inputs)
        numbers_free(a->x), numbers_free(a->u), numbers_free(a->prev), numbers_free(a->ds),
            numbers_free(a->dc);
}

/* A step and the way back. */
static void run_rnn(const struct hd_kernels *k, struct cell *a, int D)
{
    k->rnn_cell(a->s, a->x, a->u, D);
    k->rnn_cell_back(a->dx, a->ds, a->s, D);
}
static void run_gru(const struct hd_kernels *k, struct cell *a, int D)
{
    k->gru_cell(a->s, a->gates, a->x, a->u, a->prev, D);
    k->gru_cell_back(a->dx, a->du, a->dprev, a->ds, a->gates, a->u, a->prev, D);
}
static void run_lstm(const struct hd_kernels *k, struct cell *a, int D)
{
    k->lstm_cell(a->s, a->c, a->gates, a->x, a->u, a->prev, D);
    k->lstm_cell_back(a->dx, a->dprev, a->ds, D % 2 ? a->dc : NULL, a->gates, a->c, a->prev, D);
}

static const struct {
    const char *name;
    void (*run)(const struct hd_kernels *k, struct cell *a, int D);
} cells[] = {{"rnn", run_rnn}, {"gru", run_gru}, {"lstm", run_lstm}};

static void every_cell_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    FOR_EACH_KERNEL(k)
    for (int which = 0; which < 3; which++)
        FOR_EACH_KIND(kind)
    FOR_EACH_SIZE(D)
    {
        struct cell mine = random_cell(D, kind), ref = with_outputs_copied(&mine, D);
        cells[which].run(k, &mine, D);
        cells[which].run(&hd_kernels_ref, &ref, D);
        const char *name = cells[which].name;
        assert_same_bits(mine.s, ref.s, D, "%s %s s, kind %d", k->name, name, kind);
        assert_same_bits(mine.c, ref.c, D, "%s %s c, kind %d", k->name, name, kind);
        assert_same_bits(mine.gates, ref.gates, 4L * D, "%s %s gates, kind %d", k->name, name,
                         kind);
        assert_same_bits(mine.dx, ref.dx, 4L * D, "%s %s dx, kind %d", k->name, name, kind);
        assert_same_bits(mine.du, ref.du, 4L * D, "%s %s du, kind %d", k->name, name, kind);
        assert_same_bits(mine.dprev, ref.dprev, D, "%s %s dprev, kind %d", k->name, name, kind);
        cell_free(&ref, false), cell_free(&mine, true);
    }
}

static void a_state_may_be_written_over_the_previous_one(void **state)
{
    (void)state;
    const int D = 37;
    for (const struct hd_kernels *const *k = hd_kernels_available(); *k; k++) {
        struct cell a = random_cell(D, KIND_PLAIN);
        (*k)->gru_cell(a.s, a.gates, a.x, a.u, a.prev, D);
        float *s = copy_of(a.prev, D);
        (*k)->gru_cell(s, a.gates, a.x, a.u, s, D);
        assert_memory_equal(s, a.s, D * sizeof *s);
        (*k)->lstm_cell(a.s, a.c, a.gates, a.x, a.u, a.prev, D);
        memcpy(s, a.prev, D * sizeof *s);
        (*k)->lstm_cell(a.s, s, a.gates, a.x, a.u, s, D);
        assert_memory_equal(s, a.c, D * sizeof *s);
        numbers_free(s);
        cell_free(&a, true);
    }
}

/* ---- against the formulas ------------------------------------------------------------------------------------------- */

/* One unit of a cell in double precision: its inputs, and Σ outputs · their gradients. */
struct unit {
    double x[4], u[4], prev, ds, dc;
};

static double rnn_value(const struct unit *a)
{
    return a->ds * tanh(a->x[0] + a->u[0]);
}

static double gru_value(const struct unit *a)
{
    const double r = sigma(a->x[0] + a->u[0]), z = sigma(a->x[1] + a->u[1]);
    const double n = tanh(a->x[2] + r * a->u[2]);
    return a->ds * ((1 - z) * n + z * a->prev);
}

static double lstm_value(const struct unit *a)
{
    const double i = sigma(a->x[0] + a->u[0]), f = sigma(a->x[1] + a->u[1]);
    const double g = tanh(a->x[2] + a->u[2]), o = sigma(a->x[3] + a->u[3]);
    const double c = f * a->prev + i * g;
    return a->ds * o * tanh(c) + a->dc * c;
}

/* How the value changes with one of the inputs, a number inside of `one`. */
static double slope(double (*value)(const struct unit *), const struct unit *one, double *input)
{
    const double before = *input, h = 1e-6;
    *input = before + h;
    const double up = value(one);
    *input = before - h;
    const double down = value(one);
    *input = before;
    return (up - down) / (2 * h);
}

static void assert_near(float got, double exact, const char *what, int i)
{
    assert_that(fabs((double)got - exact) <= 2e-5 * (1 + fabs(exact)),
                "%s, unit %d: %.9g, not %.9g", what, i, (double)got, exact);
}

static struct unit unit_of(const struct cell *a, int i, int D, int n_gates)
{
    struct unit one = {.prev = (double)a->prev[i], .ds = (double)a->ds[i], .dc = (double)a->dc[i]};
    for (int g = 0; g < n_gates; g++) {
        one.x[g] = (double)a->x[g * D + i];
        one.u[g] = (double)a->u[g * D + i];
    }
    return one;
}

static void rnn_is_near_the_formula(void **state)
{
    (void)state;
    const int D = 53;
    struct cell a = random_cell(D, KIND_PLAIN);
    run_rnn(&hd_kernels_ref, &a, D);
    for (int i = 0; i < D; i++) {
        struct unit one = unit_of(&a, i, D, 1);
        assert_near(a.ds[i] * a.s[i], rnn_value(&one), "value", i);
        assert_near(a.dx[i], slope(rnn_value, &one, &one.x[0]), "dx", i);
    }
    cell_free(&a, true);
}

static void gru_is_near_the_formula(void **state)
{
    (void)state;
    const int D = 53;
    struct cell a = random_cell(D, KIND_PLAIN);
    memset(a.dprev, 0, (size_t)D * sizeof *a.dprev); /* dprev is added to */
    run_gru(&hd_kernels_ref, &a, D);
    for (int i = 0; i < D; i++) {
        struct unit one = unit_of(&a, i, D, 3);
        assert_near(a.ds[i] * a.s[i], gru_value(&one), "value", i);
        for (int g = 0; g < 3; g++) {
            assert_near(a.dx[g * D + i], slope(gru_value, &one, &one.x[g]), "dx", i);
            assert_near(a.du[g * D + i], slope(gru_value, &one, &one.u[g]), "du", i);
        }
        assert_near(a.dprev[i], slope(gru_value, &one, &one.prev), "dprev", i);
    }
    cell_free(&a, true);
}

static void lstm_is_near_the_formula(void **state)
{
    (void)state;
    for (int D = 52; D <= 53; D++) { /* without and with a gradient of c from later */
        struct cell a = random_cell(D, KIND_PLAIN);
        run_lstm(&hd_kernels_ref, &a, D);
        for (int i = 0; i < D; i++) {
            struct unit one = unit_of(&a, i, D, 4);
            one.dc = D % 2 ? one.dc : 0;
            assert_near(a.ds[i] * a.s[i] + (float)one.dc * a.c[i], lstm_value(&one), "value", i);
            for (int g = 0; g < 4; g++)
                assert_near(a.dx[g * D + i], slope(lstm_value, &one, &one.x[g]), "dg", i);
            assert_near(a.dprev[i], slope(lstm_value, &one, &one.prev), "dc_prev", i);
        }
        cell_free(&a, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_returns_the_bits_of_the_reference),
        cmocka_unit_test(a_state_may_be_written_over_the_previous_one),
        cmocka_unit_test(rnn_is_near_the_formula),
        cmocka_unit_test(gru_is_near_the_formula),
        cmocka_unit_test(lstm_is_near_the_formula),
    };
    return cmocka_run_group_tests_name("kernel/cell", tests, NULL, NULL);
}
