/* test_nearest.c -- "did you mean": slips are recognised, strangers are not. */
#include "test.h"

#include "base/nearest.h"

#include <limits.h>

static void distances_are_what_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } pairs[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"train", "train", 0},
        {"train", "tarin", 1},
        {"train", "rain", 1},
        {"train", "traain", 1},
        {"train", "trajn", 1},
        {"kitten", "sitting", 3},
        {"ab", "ba", 1},
        {"ca", "abc", 3},
        {"translate", "train", 6},
        {"abcdef", "badcfe", 3},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const int there = hd_edit_distance(pairs[i].a, pairs[i].b),
                  back = hd_edit_distance(pairs[i].b, pairs[i].a);
        assert_that(there == pairs[i].distance && back == there, "%s, %s: %d there and %d back",
                    pairs[i].a, pairs[i].b, there, back);
    }
}

static void very_long_words_are_near_themselves_only(void **state)
{
    (void)state;
    char a[200], b[200];
    memset(a, 'a', sizeof a);
    a[199] = '\0';
    memcpy(b, a, sizeof b);
    b[100] = 'b';
    assert_int_equal(hd_edit_distance(a, a), 0);
    assert_int_equal(hd_edit_distance(a, b), INT_MAX);
    assert_null(heed_nearest(a, (const char *[]){"train", b}, 2));
    a[63] = '\0';
    b[63] = '\0';
    b[5] = 'x';
    assert_int_equal(hd_edit_distance(a, b), 1);
}

static void slips_find_their_name(void **state)
{
    (void)state;
    static const char *const names[] = {"train", "translate", "align",           "score",
                                        "eval",  "info",      "label-smoothing", "beam-size"};
    static const struct {
        const char *word, *wanted;
    } slips[] = {
        {"trian", "train"},
        {"trein", "train"},
        {"inf", "info"},
        {"translat", "translate"},
        {"trnaslate", "translate"},
        {"evla", "eval"},
        {"scores", "score"},
        {"label-smothing", "label-smoothing"},
        {"labelsmoothing", "label-smoothing"},
        {"lab", "label-smoothing"},
        {"beam", "beam-size"},
        {"beam_size", "beam-size"},
        {"xyz", NULL},
        {"", NULL},
        {"t", NULL},
        {"banana", NULL},
        {"serve", NULL},
        {"quantize", NULL},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const char *found = heed_nearest(slips[i].word, names, sizeof names / sizeof *names);
        assert_that(found == slips[i].wanted ||
                        (found && slips[i].wanted && strcmp(found, slips[i].wanted) == 0),
                    "\"%s\" found %s, wanted %s", slips[i].word, found ? found : "nothing",
                    slips[i].wanted ? slips[i].wanted : "nothing");
    }
    assert_null(heed_nearest("train", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_what_they_are),
        cmocka_unit_test(very_long_words_are_near_themselves_only),
        cmocka_unit_test(slips_find_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
