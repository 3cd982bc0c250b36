/* test_schedule.c -- the rate of an update: what the papers say, at chosen updates. */
#include "test.h"

#include "train/schedule.h"

#include <math.h>

static struct hd_recipe recipe_of(enum hd_schedule schedule, int warmup, int updates)
{
    struct hd_recipe r;
    hd_recipe_init(&r);
    r.schedule = schedule;
    r.warmup = warmup;
    r.updates = updates;
    r.rate = 0.5F;
    return r;
}

static void assert_rate(const struct hd_recipe *r, long update, double factor, double wanted)
{
    const double rate = (double)hd_rate(r, update, factor);
    assert_that(fabs(rate - wanted) <= 1e-6 * wanted + 1e-9,
                "schedule %d, update %ld: %.9g instead of %.9g", r->schedule, update, rate, wanted);
}

static void every_schedule_warms_up_in_a_line(void **state)
{
    (void)state;
    for (int s = HD_SCHEDULE_INV_SQRT; s <= HD_SCHEDULE_CONSTANT; s++) {
        const struct hd_recipe r = recipe_of((enum hd_schedule)s, 100, 1000);
        assert_rate(&r, 1, 1, 0.005);
        assert_rate(&r, 50, 1, 0.25);
        assert_rate(&r, 99, 1, 0.495);
        assert_rate(&r, 100, 1, 0.5);
    }
}

static void the_inverse_square_root_falls_behind_it(void **state)
{
    (void)state;
    const struct hd_recipe r = recipe_of(HD_SCHEDULE_INV_SQRT, 100, 0);
    assert_rate(&r, 400, 1, 0.25);
    assert_rate(&r, 10000, 1, 0.05);
    const struct hd_recipe cold = recipe_of(HD_SCHEDULE_INV_SQRT, 0, 0);
    assert_rate(&cold, 1, 1, 0.5);
    assert_rate(&cold, 4, 1, 0.25);
}

static void the_cosine_ends_at_nothing(void **state)
{
    (void)state;
    const struct hd_recipe r = recipe_of(HD_SCHEDULE_COSINE, 100, 1100);
    assert_rate(&r, 350, 1, 0.5 * 0.5 * (1 + sqrt(0.5)));
    assert_rate(&r, 600, 1, 0.25);
    assert_rate(&r, 1100, 1, 0);
    assert_rate(&r, 2000, 1, 0);
    for (long u = 101; u <= 1100; u++)
        assert_that(hd_rate(&r, u, 1) <= hd_rate(&r, u - 1, 1), "the rate rises at update %ld", u);
}

static void constant_and_plateau_stay_where_they_are(void **state)
{
    (void)state;
    for (int s = HD_SCHEDULE_PLATEAU; s <= HD_SCHEDULE_CONSTANT; s++) {
        const struct hd_recipe r = recipe_of((enum hd_schedule)s, 10, 0);
        assert_rate(&r, 11, 1, 0.5);
        assert_rate(&r, 1000000, 1, 0.5);
    }
}

static void a_factor_lowers_all_of_it(void **state)
{
    (void)state;
    for (int s = HD_SCHEDULE_INV_SQRT; s <= HD_SCHEDULE_CONSTANT; s++)
        for (long u = 1; u < 1000; u += 37) {
            const struct hd_recipe r = recipe_of((enum hd_schedule)s, 100, 1100);
            assert_rate(&r, u, 0.25, 0.25 * (double)hd_rate(&r, u, 1));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_warms_up_in_a_line),
        cmocka_unit_test(the_inverse_square_root_falls_behind_it),
        cmocka_unit_test(the_cosine_ends_at_nothing),
        cmocka_unit_test(constant_and_plateau_stay_where_they_are),
        cmocka_unit_test(a_factor_lowers_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
