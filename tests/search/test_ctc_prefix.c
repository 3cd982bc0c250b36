/* test_ctc_prefix.c -- the likelihood of a prefix against its definition: the sum over all paths that begin with it, each written out. */
#include "test.h"

#include "search/ctc_prefix.h"

#include <math.h>

enum { V = 4, S = 5, END = 0 }; /* words, the first of which is the end marker; positions */

static float y[S * (V + 1)];
static const struct hd_ctc_said said = {y, S, V + 1};

/* Probabilities of some logits; the end marker has some, too, which mean nothing. */
static void fill(void)
{
    for (int t = 0; t < S; t++) {
        double sum = 0, e[V + 1];
        for (int k = 0; k <= V; k++)
            sum += e[k] = exp((double)((t * 31 + k * 17 + 5) % 13) / 4);
        for (int k = 0; k <= V; k++)
            y[t * (V + 1) + k] = (float)(e[k] / sum);
    }
}

/* What a path says. */
static int spell(const int *path, int *words)
{
    int n = 0;
    for (int t = 0; t < S; t++)
        if (path[t] != V && (t == 0 || path[t] != path[t - 1]))
            words[n++] = path[t];
    return n;
}

/* p of all that begins with these words, or is these words and no more. */
static double by_definition(const int *words, int n, bool is_whole)
{
    double sum = 0;
    int n_paths = 1;
    for (int t = 0; t < S; t++)
        n_paths *= V + 1;
    for (int number = 0; number < n_paths; number++) {
        int path[S], found[S], rest = number;
        double p = 1;
        for (int t = 0; t < S; t++, rest /= V + 1) {
            path[t] = rest % (V + 1);
            p *= (double)y[t * (V + 1) + path[t]];
        }
        const int n_found = spell(path, found);
        const bool begins = n_found >= n && memcmp(found, words, (size_t)n * sizeof *words) == 0;
        sum += begins && (!is_whole || n_found == n) ? p : 0;
    }
    return sum;
}

static void every_next_word_is_as_likely_as_its_paths(void **state)
{
    (void)state;
    static const int prefixes[][4] = {{0}, {2}, {2, 2}, {1, 3, 1}, {3, 3, 3}, {1, 2, 3, 1}};
    static const int lengths[] = {0, 1, 2, 3, 3, 4};
    fill();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        double one[2 + 2 * S], other[2 + 2 * S], next[V], *now = one, *before = other;
        assert_int_equal(hd_ctc_prefix_size(&said), 2 + 2 * S);
        hd_ctc_prefix_begin(now, &said);
        for (int w = 0; w < lengths[i]; w++) {
            double *was = now;
            now = before;
            before = was;
            hd_ctc_prefix_grow(now, before, &said, prefixes[i][w]);
        }
        hd_ctc_prefix_next(now, &said, END, next);
        const double psi = by_definition(prefixes[i], lengths[i], false);
        assert_that(fabs(hd_ctc_prefix_size(&said) ? now[0] - log(psi) : 1) < 1e-6,
                    "prefix %zu: %g, not %g", i, now[0], log(psi));
        for (int c = 0; c < V; c++) {
            int words[5];
            memcpy(words, prefixes[i], sizeof prefixes[i]);
            words[lengths[i]] = c;
            const double p = c == END ? by_definition(words, lengths[i], true)
                                      : by_definition(words, lengths[i] + 1, false);
            const double wanted = p > 0 ? log(p / psi) : HD_CTC_NEVER;
            assert_that(fabs(next[c] - wanted) < 1e-5, "prefix %zu, word %d: %g, not %g", i, c,
                        next[c], wanted);
        }
    }
}

static void a_source_of_nothing_says_nothing(void **state)
{
    (void)state;
    const struct hd_ctc_said nothing = {y, 0, V + 1};
    double prefix[2], next[V];
    hd_ctc_prefix_begin(prefix, &nothing);
    hd_ctc_prefix_next(prefix, &nothing, END, next);
    assert_true(next[END] == 0 && next[1] == HD_CTC_NEVER);
    double grown[2];
    hd_ctc_prefix_grow(grown, prefix, &nothing, 1);
    hd_ctc_prefix_next(grown, &nothing, END, next);
    assert_true(next[END] == HD_CTC_NEVER && next[1] == HD_CTC_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_next_word_is_as_likely_as_its_paths),
        cmocka_unit_test(a_source_of_nothing_says_nothing),
    };
    return cmocka_run_group_tests_name("search/ctc_prefix", tests, NULL, NULL);
}
