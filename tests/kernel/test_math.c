/* test_math.c -- functions of one number: the same bits from every kernel, and near the exact ones. */
#include "kernel/common.h"

#define MATH_FUNCTIONS(X) \
    X(exp) X(log) X(tanh) X(sigmoid) X(sin) X(cos) X(erf) X(relu) X(gelu) X(swish)
#define MATH_BACK_FUNCTIONS(X) \
    X(tanh_back) X(sigmoid_back) X(relu_back) X(gelu_back) X(swish_back) X(exp_back) X(log_back)

typedef void function(float *y, const float *x, long n);
typedef void function_back(float *dx, const float *dy, const float *y, bool add, long n);

/* The functions of a kernel, in the order of the lists. */
struct functions {
    const char *name;
    function *f;
};
struct functions_back {
    const char *name;
    function_back *f;
};

#define ENTRY(function_name) {#function_name, k->function_name},
static void functions_of(const struct hd_kernels *k, struct functions out[10])
{
    const struct functions all[] = {MATH_FUNCTIONS(ENTRY)};
    memcpy(out, all, sizeof all);
}
static void functions_back_of(const struct hd_kernels *k, struct functions_back out[7])
{
    const struct functions_back all[] = {MATH_BACK_FUNCTIONS(ENTRY)};
    memcpy(out, all, sizeof all);
}

static void every_length_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    struct functions ref[10], fast[10];
    functions_of(&hd_kernels_ref, ref);
    FOR_EACH_KERNEL(k)
    {
        functions_of(k, fast);
        for (int f = 0; f < 10; f++)
            FOR_EACH_KIND(kind)
        FOR_EACH_SIZE(n)
        {
            float *x = random_numbers(n, kind), *y = random_numbers(n, kind),
                  *wanted = copy_of(y, n);
            fast[f].f(y, x, n);
            ref[f].f(wanted, x, n);
            assert_same_bits(y, wanted, n, "%s %s, kind %d", k->name, ref[f].name, kind);
            fast[f].f(x, x, n); /* in place */
            for (int i = 0; i < n; i++)
                assert_that(is_same(x[i], wanted[i]), "%s %s in place, n %d", k->name, ref[f].name,
                            n);
            numbers_free(x), numbers_free(y), numbers_free(wanted);
        }
    }
}

static void every_derivative_returns_the_bits_of_the_reference(void **state)
{
    (void)state;
    struct functions_back ref[7], fast[7];
    functions_back_of(&hd_kernels_ref, ref);
    FOR_EACH_KERNEL(k)
    {
        functions_back_of(k, fast);
        for (int f = 0; f < 7; f++)
            FOR_EACH_KIND(kind)
        FOR_EACH_SIZE(n)
        {
            float *dx = random_numbers(n, kind), *wanted = copy_of(dx, n);
            float *dy = random_numbers(n, kind), *y = random_numbers(n, kind);
            fast[f].f(dx, dy, y, true, n);
            ref[f].f(wanted, dy, y, true, n);
            assert_same_bits(dx, wanted, n, "%s %s, kind %d", k->name, ref[f].name, kind);
            ref[f].f(wanted, dy, y, false, n);
            fast[f].f(dy, dy, y, false, n); /* in place */
            for (int i = 0; i < n; i++)
                assert_that(is_same(dy[i], wanted[i]), "%s %s in place, n %d", k->name, ref[f].name,
                            n);
            numbers_free(dx), numbers_free(wanted), numbers_free(dy), numbers_free(y);
        }
    }
}

enum { BLOCK = 1024 };

/* The next BLOCK floats, `stride` bit patterns apart; false when all have been. */
static bool next_patterns(float x[BLOCK], uint64_t *pattern, uint32_t stride)
{
    if (*pattern >> 32)
        return false;
    for (int i = 0; i < BLOCK; i++, *pattern += stride) {
        const uint32_t bits = *pattern >> 32 ? 0 : (uint32_t)*pattern;
        memcpy(&x[i], &bits, sizeof bits);
    }
    return true;
}

static void floats_of_all_sizes_return_the_bits_of_the_reference(void **state)
{
    (void)state;
    struct functions ref[10], fast[10];
    functions_of(&hd_kernels_ref, ref);
    float x[BLOCK], y[BLOCK], wanted[BLOCK];
    for (int f = 0; f < 10; f++)
        for (uint64_t pattern = 0; next_patterns(x, &pattern, 4099);) {
            ref[f].f(wanted, x, BLOCK);
            FOR_EACH_KERNEL(k)
            {
                functions_of(k, fast);
                fast[f].f(y, x, BLOCK);
                for (int i = 0; i < BLOCK; i++)
                    assert_that(is_same(y[i], wanted[i]), "%s %s(%a) = %a, not %a", k->name,
                                ref[f].name, (double)x[i], (double)y[i], (double)wanted[i]);
            }
        }
}

static double exact_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double exact_relu(double x)
{
    return x < 0 ? 0 : x;
}
static double exact_gelu(double x)
{
    return x * 0.5 * erfc(-x * 0.70710678118654752440);
}
static double exact_swish(double x)
{
    return x / (1 + exp(-x));
}

/* The bound of each function: so many ulps of the result, and so many ulps (2^-24) of the argument more. */
static const struct {
    double (*exact)(double);
    double ulps, ulps_of_x;
} bounds[10] = {
    {exp, 0.90, 0},          {log, 0.94, 0},         {tanh, 1.86, 0}, {exact_sigmoid, 1.65, 0},
    {sin, 1.56, 0},          {cos, 1.56, 0},         {erf, 1.10, 0},  {exact_relu, 0, 0},
    {exact_gelu, 1.15, 1.4}, {exact_swish, 2.69, 0},
};

static void the_reference_is_near_the_exact_functions(void **state)
{
    (void)state;
    struct functions ref[10];
    functions_of(&hd_kernels_ref, ref);
    float x[BLOCK], y[BLOCK];
    for (int f = 0; f < 10; f++)
        for (uint64_t pattern = 0; next_patterns(x, &pattern, 4099);) {
            ref[f].f(y, x, BLOCK);
            for (int i = 0; i < BLOCK; i++) {
                const double exact = bounds[f].exact((double)x[i]);
                if (fabs(exact) < 0x1p-120 && bounds[f].exact == exact_swish)
                    continue; /* its σ is denormal and has few bits */
                const double more = bounds[f].ulps_of_x * fabs((double)x[i]) * 0x1p-24;
                const double off =
                    fabs((double)y[i] - exact) <= more ? 0 : ulps((double)y[i], exact);
                assert_that(off <= bounds[f].ulps, "%s(%a) = %a, not %a: %.2f ulps off",
                            ref[f].name, (double)x[i], (double)y[i], exact, off);
            }
        }
}

static float value_of(function *f, float x)
{
    float y;
    f(&y, &x, 1);
    return y;
}

static void the_ends_are_those_of_libm(void **state)
{
    (void)state;
    const float inf = INFINITY;
    const struct {
        const char *what;
        function *f;
        float x, y;
    } known[] = {
        {"exp", hd_kernels_ref.exp, 0, 1},
        {"exp", hd_kernels_ref.exp, -0.0F, 1},
        {"exp", hd_kernels_ref.exp, inf, inf},
        {"exp", hd_kernels_ref.exp, -inf, 0},
        {"exp", hd_kernels_ref.exp, 89, inf},
        {"exp", hd_kernels_ref.exp, -103.0F, 0x1p-149F},
        {"exp", hd_kernels_ref.exp, -104.0F, 0},
        {"log", hd_kernels_ref.log, 1, 0},
        {"log", hd_kernels_ref.log, 0, -inf},
        {"log", hd_kernels_ref.log, -0.0F, -inf},
        {"log", hd_kernels_ref.log, inf, inf},
        {"log", hd_kernels_ref.log, -1, NAN},
        {"log", hd_kernels_ref.log, -inf, NAN},
        {"log", hd_kernels_ref.log, 0x1p-149F, -0x1.9d1dap6F},
        {"tanh", hd_kernels_ref.tanh, -0.0F, -0.0F},
        {"tanh", hd_kernels_ref.tanh, 0x1p-149F, 0x1p-149F},
        {"tanh", hd_kernels_ref.tanh, inf, 1},
        {"tanh", hd_kernels_ref.tanh, -inf, -1},
        {"sigmoid", hd_kernels_ref.sigmoid, 0, 0.5F},
        {"sigmoid", hd_kernels_ref.sigmoid, inf, 1},
        {"sigmoid", hd_kernels_ref.sigmoid, -inf, 0},
        {"sigmoid", hd_kernels_ref.sigmoid, -103.0F, 0x1p-149F},
        {"sin", hd_kernels_ref.sin, -0.0F, -0.0F},
        {"sin", hd_kernels_ref.sin, inf, NAN},
        {"cos", hd_kernels_ref.cos, 0, 1},
        {"cos", hd_kernels_ref.cos, -inf, NAN},
        {"erf", hd_kernels_ref.erf, -0.0F, -0.0F},
        {"erf", hd_kernels_ref.erf, inf, 1},
        {"erf", hd_kernels_ref.erf, -inf, -1},
        {"relu", hd_kernels_ref.relu, NAN, NAN},
        {"relu", hd_kernels_ref.relu, -inf, 0},
        {"gelu", hd_kernels_ref.gelu, inf, inf},
        {"gelu", hd_kernels_ref.gelu, -100, 0},
        {"swish", hd_kernels_ref.swish, inf, inf},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const float y = value_of(known[i].f, known[i].x);
        assert_that(is_same(y, known[i].y), "%s(%a) = %a, not %a", known[i].what,
                    (double)known[i].x, (double)y, (double)known[i].y);
    }
}

/* (f(x+h) - f(x-h)) / 2h in double against what the derivative adds to a gradient. */
static void derivatives_are_those_of_the_functions(void **state)
{
    (void)state;
    static const int of[7] = {2, 3, 7, 8, 9, 0, 1}; /* tanh, sigmoid, relu, gelu, swish, exp, log */
    struct functions ref[10];
    struct functions_back back[7];
    functions_of(&hd_kernels_ref, ref);
    functions_back_of(&hd_kernels_ref, back);
    for (int f = 0; f < 7; f++) {
        const bool takes_y = f < 3 || f == 5;
        for (int i = 0; i < 400; i++) {
            const float x = (float)i * 0.02F - (of[f] == 1 ? -0.5F : 4) + 0.003F;
            const float given = takes_y ? value_of(ref[of[f]].f, x) : x, dy = 3;
            float dx = 10;
            back[f].f(&dx, &dy, &given, true, 1);
            const double h = 1e-5, up = bounds[of[f]].exact((double)x + h),
                         down = bounds[of[f]].exact((double)x - h);
            const double slope = (up - down) / (2 * h);
            assert_that(fabs((double)dx - (10 + 3 * slope)) < 1e-5 * (1 + fabs(3 * slope)),
                        "%s at %f: %f, not %f", back[f].name, (double)x, ((double)dx - 10) / 3,
                        slope);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_returns_the_bits_of_the_reference),
        cmocka_unit_test(every_derivative_returns_the_bits_of_the_reference),
        cmocka_unit_test(floats_of_all_sizes_return_the_bits_of_the_reference),
        cmocka_unit_test(the_reference_is_near_the_exact_functions),
        cmocka_unit_test(the_ends_are_those_of_libm),
        cmocka_unit_test(derivatives_are_those_of_the_functions),
    };
    return cmocka_run_group_tests_name("kernel/math", tests, NULL, NULL);
}
