/* test.h -- what every test program includes: cmocka with the headers it wants before it, and
 * asserts that say for which input they failed. */
#ifndef HD_TEST_H
#define HD_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* assert_that(x < n, "x %d, n %d", x, n) fails with the claim and these words. */
#define assert_that(claim, ...)                       \
    do {                                              \
        if (!(claim)) {                               \
            print_error(__VA_ARGS__);                 \
            print_error("\n");                        \
            fail_msg("this is not true: %s", #claim); \
        }                                             \
    } while (0)

/* The error has this code and its sentence contains these words. */
#define assert_error(err, wanted, words)                                                   \
    assert_that((err).code == (wanted) && strstr((err).message, (words)),                  \
                "code %d, \"%s\"; wanted code %d, \"%s\"", (int)(err).code, (err).message, \
                (int)(wanted), (words))

#endif
