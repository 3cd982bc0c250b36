/* test_links.c -- links from weights, links of two directions, links judged; and outputs that go round in circles. */
#include "test.h"

#include "base/rng.h"
#include "align/links.h"
#include "translate/loop.h"

#include <math.h>

/* ---- weights --------------------------------------------------------------------------------- */

static void the_word_looked_at_most_is_linked_and_what_is_near_it(void **state)
{
    (void)state;
    const float row[] = {0.1F, 0.5F, 0.36F, 0.04F};
    assert_true(row[1] >= hd_least_link(row, 4) && row[2] >= hd_least_link(row, 4));
    assert_false(row[0] >= hd_least_link(row, 4));
    const float thin[] = {0.15F, 0.15F, 0.1F};
    assert_true(isinf(hd_least_link(thin, 3)));
    assert_true(isinf(hd_least_link(thin, 0)));
}

/* ---- two directions -------------------------------------------------------------------------- */

/* "0-0 1-2" from text, and back. */
static size_t read(heed_link *links, const char *text)
{
    size_t n = 0;
    for (int used; sscanf(text, "%d-%d%n", &links[n].source, &links[n].target, &used) == 2; n++)
        text += used;
    return n;
}

static const char *joined(enum heed_symmetry how, const char *one, const char *other)
{
    static char text[512];
    heed_link a[64], b[64], out[128];
    const size_t n_a = read(a, one), n_b = read(b, other),
                 n = heed_symmetrize(how, a, n_a, b, n_b, out);
    char *to = text;
    *to = '\0';
    assert_true(n <= n_a + n_b);
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%s%d-%d", i > 0 ? " " : "", out[i].source, out[i].target);
    return text;
}

static void both_one_and_either(void **state)
{
    (void)state;
    const char *one = "0-0 1-1 2-2 5-5", *other = "2-2 0-0 1-2 1-1";
    assert_string_equal(joined(HEED_SYMMETRY_INTERSECT, one, other), "0-0 1-1 2-2");
    assert_string_equal(joined(HEED_SYMMETRY_UNION, one, other), "0-0 1-1 1-2 2-2 5-5");
    assert_string_equal(joined(HEED_SYMMETRY_UNION, "", ""), "");
    assert_string_equal(joined(HEED_SYMMETRY_INTERSECT, one, ""), "");
}

/* Koehn, Och & Marcu (2003): neighbours first, then words that are still alone. */
static void links_grow_from_those_that_both_have(void **state)
{
    (void)state;
    assert_string_equal(joined(HEED_SYMMETRY_GROW_DIAG_FINAL, "0-0 1-0 3-3", "0-0 0-1 3-3"),
                        "0-0 1-0 0-1 3-3");
    /* 1-1 is no neighbour that helps, as both its words have links by then */
    assert_string_equal(joined(HEED_SYMMETRY_GROW_DIAG_FINAL, "0-0 1-0 1-1", "0-0 0-1"),
                        "0-0 1-0 0-1");
    /* far away, but one of its words is alone */
    assert_string_equal(joined(HEED_SYMMETRY_GROW_DIAG_FINAL, "0-0 7-7", "0-0"), "0-0 7-7");
    assert_string_equal(joined(HEED_SYMMETRY_GROW_DIAG_FINAL, "4-2", ""), "4-2");
}

static bool has(const heed_link *links, size_t n, heed_link link)
{
    for (size_t i = 0; i < n; i++)
        if (links[i].source == link.source && links[i].target == link.target)
            return true;
    return false;
}

static void grown_links_lie_between_intersection_and_union(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 5};
    for (int round = 0; round < 300; round++) {
        heed_link a[40], b[40], both[80], all[80], grown[80];
        size_t n_a = 0, n_b = 0;
        for (int i = 0; i < 40; i++) {
            const heed_link link = {(int)hd_rng_below(&rng, 9), (int)hd_rng_below(&rng, 9)};
            if (i % 2 == 0 && !has(a, n_a, link))
                a[n_a++] = link;
            else if (!has(b, n_b, link))
                b[n_b++] = link;
        }
        const size_t n_both = heed_symmetrize(HEED_SYMMETRY_INTERSECT, a, n_a, b, n_b, both),
                     n_all = heed_symmetrize(HEED_SYMMETRY_UNION, a, n_a, b, n_b, all),
                     n = heed_symmetrize(HEED_SYMMETRY_GROW_DIAG_FINAL, a, n_a, b, n_b, grown);
        assert_true(n_both <= n && n <= n_all);
        for (size_t i = 0; i < n_both; i++)
            assert_true(has(grown, n, both[i]));
        for (size_t i = 0; i < n; i++)
            assert_true(has(all, n_all, grown[i]) && !has(grown, i, grown[i]));
    }
}

/* ---- quality --------------------------------------------------------------------------------- */

static void quality_is_counted_over_all_sentences(void **state)
{
    (void)state;
    heed_alignment_quality q = {0};
    heed_link links[8], sure[8], possible[8];
    heed_alignment_judge(&q, links, read(links, "0-0 1-1 2-2 3-3"), sure, read(sure, "0-0 1-1 5-5"),
                         possible, read(possible, "2-2"));
    assert_true(q.n_links == 4 && q.n_sure == 3 && q.n_right_sure == 2 && q.n_right_possible == 3);
    assert_true(fabs(q.precision - 75) < 1e-9 && fabs(q.recall - 200.0 / 3) < 1e-9);
    assert_true(fabs(q.error_rate - (100 - 500.0 / 7)) < 1e-9);
    heed_alignment_judge(&q, links, 0, sure, 0, possible, 0);
    assert_true(q.n_links == 4);
    q = (heed_alignment_quality){0};
    heed_alignment_judge(&q, links, 0, sure, 0, possible, 0);
    assert_true(q.precision == 0 && q.recall == 0 && q.error_rate == 0);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void circles_are_told_from_sentences(void **state)
{
    (void)state;
    static const int salad[] = {7, 7, 7, 7, 7, 7, 7, 7}, pairs[] = {1, 2, 1, 2, 1, 2, 1, 2, 9},
                     plain[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, very[] = {3, 4, 4, 4, 5},
                     thrice[] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
    assert_true(hd_is_loop(salad, 8, false) && hd_is_loop(pairs, 9, false));
    assert_false(hd_is_loop(plain, 9, true) || hd_is_loop(very, 5, false));
    assert_true(hd_is_loop(thrice, 9, true)); /* of an output that did not end less is enough */
    assert_false(hd_is_loop(thrice, 9, false) || hd_is_loop(plain, 0, true));
}

static void what_is_meant_to_repeat_may(void **state)
{
    (void)state;
    const struct hd_hypothesis loop = {.n = 9, .total = -1}, near = {.n = 4, .total = -3},
                               far = {.n = 4, .total = -30},
                               cut = {.n = 50, .total = -1, .is_cut = true},
                               cut_again = {.n = 50, .total = -90, .is_cut = true};
    assert_true(hd_is_better_than_loop(&near, &loop));
    assert_false(hd_is_better_than_loop(&far, &loop));
    assert_true(hd_is_better_than_loop(&far, &cut));
    assert_false(hd_is_better_than_loop(&cut_again, &cut) ||
                 hd_is_better_than_loop(&cut_again, &loop));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_looked_at_most_is_linked_and_what_is_near_it),
        cmocka_unit_test(both_one_and_either),
        cmocka_unit_test(links_grow_from_those_that_both_have),
        cmocka_unit_test(grown_links_lie_between_intersection_and_union),
        cmocka_unit_test(quality_is_counted_over_all_sentences),
        cmocka_unit_test(circles_are_told_from_sentences),
        cmocka_unit_test(what_is_meant_to_repeat_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
