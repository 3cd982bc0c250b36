/* test_clock.c -- time goes forward, in seconds. */
#include "test.h"

#include "base/clock.h"

static void time_goes_forward_in_seconds(void **state)
{
    (void)state;
    const double begin = hd_seconds();
    double last = begin;
    for (int i = 0; i < 1000; i++) {
        const double now = hd_seconds();
        assert_that(now >= last, "%.9f after %.9f", now, last);
        last = now;
    }
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    const double slept = hd_seconds() - last;
    assert_that(slept >= 0.019 && slept < 60, "20 ms of sleep took %f s", slept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_goes_forward_in_seconds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
