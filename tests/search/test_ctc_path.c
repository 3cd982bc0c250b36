/* test_ctc_path.c -- the likeliest path against its definition: all paths there are, each written out. */
#include "test.h"

#include "base/memory.h"
#include "search/ctc_path.h"

#include <math.h>

enum { V = 3, S = 6, N_PATHS = 4096 }; /* words; positions; (V + 1) ^ S */

static float y[S * (V + 1)];

/* Log-probabilities of numbers that have no ties. */
static void fill(int seed)
{
    uint32_t x = (uint32_t)seed * 2654435761U + 1;
    for (int s = 0; s < S; s++) {
        double sum = 0, e[V + 1];
        for (int k = 0; k <= V; k++) {
            x = x * 1664525U + 1013904223U;
            sum += e[k] = exp((double)(x >> 8) / (1 << 22));
        }
        for (int k = 0; k <= V; k++)
            y[s * (V + 1) + k] = (float)log(e[k] / sum);
    }
}

/* What a path says; at[s] is the number of the word at position s, -1 at a blank. */
static int spell(const int *path, int n, int *words, int *at)
{
    int n_words = 0;
    for (int s = 0; s < n; s++) {
        if (path[s] != V && (s == 0 || path[s] != path[s - 1]))
            words[n_words++] = path[s];
        at[s] = path[s] == V ? -1 : n_words - 1;
    }
    return n_words;
}

/* The likeliest of all that say these words; false where there is none. */
static bool by_definition(const int *words, int n_words, int n, int *best)
{
    double most = -INFINITY;
    for (int number = 0; number < N_PATHS; number++) {
        int path[S], found[S], at[S], rest = number;
        double p = 0;
        for (int s = 0; s < n; s++, rest /= V + 1) {
            path[s] = rest % (V + 1);
            p += (double)y[s * (V + 1) + path[s]];
        }
        if (spell(path, n, found, at) != n_words ||
            memcmp(found, words, (size_t)n_words * sizeof *words) != 0 || !(p > most))
            continue;
        most = p;
        memcpy(best, at, (size_t)n * sizeof *at);
    }
    return most > -INFINITY;
}

static const int outputs[][5] = {{0},       {1},          {0, 0},      {2, 1, 2},
                                 {1, 1, 1}, {0, 1, 2, 0}, {2, 2, 2, 2}};
static const int lengths[] = {0, 1, 2, 3, 3, 4, 4};
enum { N_OUTPUTS = sizeof lengths / sizeof *lengths };

static void it_is_the_likeliest_of_all_that_say_the_words(void **state)
{
    (void)state;
    int n_found = 0, n_none = 0;
    for (int seed = 0; seed < 4; seed++)
        for (int o = 0; o < N_OUTPUTS; o++)
            for (int n = 1; n <= S; n++) {
                fill(seed);
                int path[S], wanted[S];
                bool has_path;
                heed_error err = {0};
                const struct hd_ctc_log_said said = {y, n, V + 1};
                assert_true(hd_ctc_path(&said, outputs[o], lengths[o], path, &has_path, &err));
                const bool is_there = by_definition(outputs[o], lengths[o], n, wanted);
                assert_that(has_path == is_there, "output %d in %d positions: %d, not %d", o, n,
                            has_path, is_there);
                for (int s = 0; is_there && s < n; s++)
                    assert_that(path[s] == wanted[s],
                                "seed %d, output %d, %d positions, at %d: word %d, not %d", seed, o,
                                n, s, path[s], wanted[s]);
                n_found += is_there;
                n_none += !is_there;
            }
    assert_true(n_found > 50 && n_none > 20);
}

static void of_paths_that_are_as_likely_it_is_the_one_that_goes_on_soonest_and_ends_in_a_word(
    void **state)
{
    (void)state;
    const int words[] = {1};
    int path[3];
    bool has_path;
    heed_error err = {0};
    for (int i = 0; i < S * (V + 1); i++)
        y[i] = -1;
    assert_true(
        hd_ctc_path(&(struct hd_ctc_log_said){y, 3, V + 1}, words, 1, path, &has_path, &err));
    assert_true(has_path && path[0] == 0 && path[1] == 0 && path[2] == 0);
}

static void a_source_of_nothing_has_none(void **state)
{
    (void)state;
    bool has_path = true;
    heed_error err = {0};
    assert_true(
        hd_ctc_path(&(struct hd_ctc_log_said){y, 0, V + 1}, outputs[1], 1, NULL, &has_path, &err));
    assert_false(has_path);
}

static void without_memory_it_fails(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        int path[S];
        bool has_path;
        heed_error err = {0};
        hd_alloc_fail_after(n);
        assert_false(hd_ctc_path(&(struct hd_ctc_log_said){y, S, V + 1}, outputs[1], 1, path,
                                 &has_path, &err));
        hd_alloc_fail_after(-1);
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_likeliest_of_all_that_say_the_words),
        cmocka_unit_test(
            of_paths_that_are_as_likely_it_is_the_one_that_goes_on_soonest_and_ends_in_a_word),
        cmocka_unit_test(a_source_of_nothing_has_none),
        cmocka_unit_test(without_memory_it_fails),
    };
    return cmocka_run_group_tests_name("search/ctc_path", tests, NULL, NULL);
}
