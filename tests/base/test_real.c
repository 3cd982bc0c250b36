/* test_real.c -- exp and log of doubles: near the C library's, right at the edges, and the same bits everywhere. */
#include "test.h"

#include "base/real.h"
#include "base/rng.h"

#include "base/real_checksum.h"

#include <math.h>

/* How many numbers lie between two, which have the same sign. */
static uint64_t ulps(double a, double b)
{
    int64_t i, j;
    memcpy(&i, &a, sizeof i);
    memcpy(&j, &b, sizeof j);
    return (uint64_t)(i > j ? i - j : j - i);
}

static double uniform(struct hd_rng *rng)
{
    return (double)hd_rng_u32(rng) * 0x1p-32 + (double)hd_rng_u32(rng) * 0x1p-64;
}

/* The C library is within 1 ulp of the truth, and so are we. */
static void check_exp(double x)
{
    assert_that(ulps(hd_real_exp(x), exp(x)) <= 2, "exp(%a) is %a, the C library has %a", x,
                hd_real_exp(x), exp(x));
}

static void check_log(double x)
{
    assert_that(x == 1 ? hd_real_log(x) == 0 : ulps(hd_real_log(x), log(x)) <= 2,
                "log(%a) is %a, the C library has %a", x, hd_real_log(x), log(x));
}

static void exp_is_near_the_c_library(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 1};
    for (int i = 0; i < 300000; i++) {
        check_exp(2 * uniform(&rng) - 1);
        check_exp(1460 * uniform(&rng) - 748); /* what is no normal number, too */
        check_exp(ldexp(uniform(&rng) - 0.5, -(i % 1070)));
    }
}

static void log_is_near_the_c_library(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 2};
    for (int i = 0; i < 300000; i++) {
        check_log(100 * uniform(&rng));
        check_log(1 + ldexp(uniform(&rng) - 0.5, -(i % 53)));
        check_log(ldexp(1 + uniform(&rng), i % 2098 - 1074));
    }
    for (int i = 1; i <= 100000; i++)
        check_log(i);
}

static void edges_are_right(void **state)
{
    (void)state;
    assert_true(hd_real_exp(0) == 1 && hd_real_exp(-0.0) == 1);
    assert_true(hd_real_exp(1000) == INFINITY && hd_real_exp(INFINITY) == INFINITY);
    assert_true(hd_real_exp(-1000) == 0 && hd_real_exp(-INFINITY) == 0 && hd_real_exp(-2.5e9) == 0);
    assert_true(isnan(hd_real_exp(NAN)) && isnan(hd_real_log(NAN)));
    check_exp(0x1.62e42fefa39efp+9); /* the last that is a number */
    check_exp(0x1.62e42fefa39fp+9);  /* and the first that is too large */
    check_exp(-745.2);
    check_exp(-745.1);
    assert_true(hd_real_log(1) == 0);
    assert_true(hd_real_log(0) == -INFINITY && hd_real_log(-0.0) == -INFINITY);
    assert_true(hd_real_log(INFINITY) == INFINITY);
    assert_true(isnan(hd_real_log(-1)) && isnan(hd_real_log(-INFINITY)));
    check_log(0x1p-1074);
    check_log(0x1.fffffffffffffp+1023);
}

static void the_bits_are_the_same_on_every_machine(void **state)
{
    (void)state;
    const uint64_t sum = real_checksum();
    assert_that(sum == REAL_CHECKSUM, "the checksum is %016llx", (unsigned long long)sum);
}

static void text_is_the_shortest_that_is_the_float(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(hd_real_text(text, 0.1F), "0.1");
    assert_string_equal(hd_real_text(text, 1e-6F), "1e-06");
    assert_string_equal(hd_real_text(text, 0), "0");
    assert_string_equal(hd_real_text(text, 16777216), "16777216");
    struct hd_rng rng = {.key = 3};
    for (int i = 0; i < 10000; i++) {
        const float x = (float)ldexp(uniform(&rng) - 0.5, i % 250 - 125);
        assert_that(strtof(hd_real_text(text, x), NULL) == x, "%a becomes '%s'", (double)x, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_near_the_c_library),
        cmocka_unit_test(log_is_near_the_c_library),
        cmocka_unit_test(edges_are_right),
        cmocka_unit_test(text_is_the_shortest_that_is_the_float),
        cmocka_unit_test(the_bits_are_the_same_on_every_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
