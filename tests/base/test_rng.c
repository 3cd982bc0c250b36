/* test_rng.c -- random numbers: the published answers, the same bits everywhere, and the shape
 * of each distribution. */
#include "test.h"

#include "base/rng.h"
#include "base/rng_checksum.h"

#include <math.h>

/* The known answers that Random123 (Salmon and others) publishes for philox4x32 with 10 rounds:
 * counter words, key words. */
static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t key, low, high;
        uint32_t answer[4];
    } known[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x85a308d3243f6a88,
         0x0370734413198a2e,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}, /* the digits of pi */
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        hd_philox(out, known[i].key, known[i].low, known[i].high);
        for (int w = 0; w < 4; w++)
            assert_that(out[w] == known[i].answer[w], "answer %d, word %d: %08x", i, w, out[w]);
    }
}

static void a_number_computed_alone_is_the_number_drawn(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 42, .stream = 7};
    for (uint64_t i = 0; i < 100; i++) {
        const uint32_t alone =
            hd_rng_u32_at(&(struct hd_rng){.key = 42, .stream = 7, .next = 999}, i);
        assert_int_equal(rng.next, i);
        assert_int_equal(hd_rng_u32(&rng), alone);
    }
    struct hd_rng jumped = {.key = 42, .stream = 7, .next = 50};
    assert_int_equal(hd_rng_u32(&jumped), hd_rng_u32_at(&rng, 50));
    struct hd_rng far = {
        .key = 42, .stream = 7, .next = UINT64_MAX}; /* wraps around like any counter */
    assert_int_equal(hd_rng_u32(&far), hd_rng_u32_at(&rng, UINT64_MAX));
    assert_int_equal(hd_rng_u32(&far), hd_rng_u32_at(&rng, 0));
}

static void keys_and_streams_differ(void **state)
{
    (void)state;
    const struct hd_rng a = {.key = 1, .stream = 0}, b = {.key = 2, .stream = 0},
                        c = {.key = 1, .stream = 1};
    int n_same = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint32_t x = hd_rng_u32_at(&a, i);
        n_same += x == hd_rng_u32_at(&b, i);
        n_same += x == hd_rng_u32_at(&c, i);
    }
    assert_int_equal(n_same, 0);
}

static void many_at_once_are_the_same_as_one_by_one(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < 5; start++)
        for (size_t n = 0; n < 14; n++) {
            struct hd_rng one = {.key = 3, .stream = 1, .next = start}, many = one;
            float out[15] = {0};
            out[n] = -77;
            hd_rng_uniforms(&many, out, n);
            for (size_t i = 0; i < n; i++)
                assert_that(out[i] == hd_rng_uniform(&one), "uniform %zu of %zu from %d", i, n,
                            (int)start);
            hd_rng_normals(&many, out, n);
            for (size_t i = 0; i < n; i++)
                assert_that(out[i] == hd_rng_normal(&one), "normal %zu of %zu from %d", i, n,
                            (int)start);
            assert_int_equal(one.next, many.next);
            assert_true(out[n] == -77);
        }
}

static void uniform_numbers_fill_zero_to_one_evenly(void **state)
{
    (void)state;
    assert_true(hd_uniform_of(0) == 0.0F);
    assert_true(hd_uniform_of(UINT32_MAX) == 1.0F - 0x1p-24F);
    enum { N = 1 << 18, BINS = 64 };
    struct hd_rng rng = {.key = 2024};
    int bins[BINS] = {0};
    double sum = 0;
    for (int i = 0; i < N; i++) {
        const float x = hd_rng_uniform(&rng);
        assert_true(x >= 0 && x < 1);
        bins[(int)(x * BINS)]++;
        sum += x;
    }
    assert_that(fabs(sum / N - 0.5) < 4 * 0.2887 / sqrt(N), "mean %f", sum / N);
    double chi2 = 0; /* 63 degrees of freedom: mean 63, deviation 11.2 */
    for (int b = 0; b < BINS; b++)
        chi2 += (bins[b] - N / BINS) * (double)(bins[b] - N / BINS) / (N / BINS);
    assert_that(chi2 > 30 && chi2 < 110, "chi squared %f", chi2);
}

static void below_n_is_below_n_and_even(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 5};
    const uint32_t ns[] = {1, 2, 3, 7, 1000, 0x80000000U, 0x80000001U, UINT32_MAX};
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 1000; i++)
            assert_true(hd_rng_below(&rng, ns[k]) < ns[k]);
    enum { N = 120000, FACES = 6 };
    int faces[FACES] = {0};
    for (int i = 0; i < N; i++)
        faces[hd_rng_below(&rng, FACES)]++;
    for (int f = 0; f < FACES; f++)
        assert_that(abs(faces[f] - N / FACES) < 550, "face %d came %d times of %d", f, faces[f],
                    N); /* 4 deviations */
    /* Without drawing again, of three thirds of 2^32 · ¾ the middle one would come twice as
     * often. */
    int thirds[3] = {0};
    for (int i = 0; i < 30000; i++)
        thirds[hd_rng_below(&rng, 0xC0000000U) / 0x40000000U]++;
    for (int t = 0; t < 3; t++)
        assert_that(abs(thirds[t] - 10000) < 330, "third %d came %d times", t, thirds[t]);
}

/* Against the normal distribution itself: Φ(x) must give back p. Relative error of x = error of
 * p / (x φ(x)). */
static void a_normal_number_is_the_inverse_of_the_distribution(void **state)
{
    (void)state;
    double worst = 0;
    uint32_t worst_word = 0;
    for (uint64_t k = 0; k < 400000; k++) {
        uint32_t word = (uint32_t)(k * 2654435761U);
        if (k < 100000)
            word = (uint32_t)k; /* the lowest ones: the tail */
        const double p = (word + 0.5) * 0x1p-32;
        const double x = hd_normal_of(word);
        const double phi = exp(-x * x / 2) / 2.5066282746310002;
        const double p_of_x = x < 0 ? 0.5 * erfc(-x / sqrt(2)) : 1 - 0.5 * erfc(x / sqrt(2));
        const double error = fabs(p_of_x - p) / phi / fabs(x);
        if (fabs(x) < 5 || x < 0) /* above, 1 - erfc has no digits left; symmetry covers it */
            if (error > worst) {
                worst = error;
                worst_word = word;
            }
    }
    assert_that(worst < 2e-7, "relative error %g for word %u", worst, worst_word);
    assert_true(hd_normal_of(0) > -6.35F && hd_normal_of(0) < -6.33F);
}

static void the_normal_distribution_is_symmetric_to_the_bit_and_rising(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 100000; k++) {
        const uint32_t word = (uint32_t)(k * 2654435761U);
        assert_that(hd_normal_of(word) == -hd_normal_of(~word), "word %u", word);
    }
    float last = hd_normal_of(0);
    for (uint64_t word = 1 << 15; word < 1ULL << 32; word += 1 << 15) { /* over both seams */
        const float x = hd_normal_of((uint32_t)word);
        assert_that(x > last, "word %u: %.9g after %.9g", (uint32_t)word, (double)x, (double)last);
        last = x;
    }
}

static void normal_numbers_have_the_moments_of_the_normal_distribution(void **state)
{
    (void)state;
    enum { N = 1 << 19 };
    struct hd_rng rng = {.key = 11, .stream = 3};
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = 0; i < N; i++) {
        const double x = hd_rng_normal(&rng);
        m1 += x / N;
        m2 += x * x / N;
        m3 += x * x * x / N;
        m4 += x * x * x * x / N;
    }
    const double deviation = 1 / sqrt(N); /* four deviations each */
    assert_that(fabs(m1) < 4 * deviation, "mean %f", m1);
    assert_that(fabs(m2 - 1) < 4 * sqrt(2) * deviation, "variance %f", m2);
    assert_that(fabs(m3) < 4 * sqrt(15) * deviation, "third moment %f", m3);
    assert_that(fabs(m4 - 3) < 4 * sqrt(96) * deviation, "fourth moment %f", m4);
}

static void shuffling_keeps_the_items_and_makes_every_order_equally_likely(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 9};
    int items[100], seen[100] = {0}, n_moved = 0;
    for (int i = 0; i < 100; i++)
        items[i] = i;
    hd_rng_shuffle(&rng, items, 100);
    for (int i = 0; i < 100; i++) {
        seen[items[i]]++;
        n_moved += items[i] != i;
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_true(n_moved > 80);
    hd_rng_shuffle(&rng, items, 1);
    hd_rng_shuffle(&rng, NULL, 0);

    int orders[27] = {0};
    for (int i = 0; i < 60000; i++) {
        int three[3] = {0, 1, 2};
        hd_rng_shuffle(&rng, three, 3);
        orders[three[0] * 9 + three[1] * 3 + three[2]]++;
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const int c = 3 - a - b, n = a != b ? orders[a * 9 + b * 3 + c] : 10000;
            assert_that(abs(n - 10000) < 400, "%d%d%d came %d times of 60000", a, b, c, n);
        }
}

static void the_numbers_have_the_same_bits_everywhere(void **state)
{
    (void)state;
    const uint64_t sum = rng_checksum();
    assert_that(sum == RNG_CHECKSUM, "the checksum is %016llx", (unsigned long long)sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(a_number_computed_alone_is_the_number_drawn),
        cmocka_unit_test(keys_and_streams_differ),
        cmocka_unit_test(many_at_once_are_the_same_as_one_by_one),
        cmocka_unit_test(uniform_numbers_fill_zero_to_one_evenly),
        cmocka_unit_test(below_n_is_below_n_and_even),
        cmocka_unit_test(a_normal_number_is_the_inverse_of_the_distribution),
        cmocka_unit_test(the_normal_distribution_is_symmetric_to_the_bit_and_rising),
        cmocka_unit_test(normal_numbers_have_the_moments_of_the_normal_distribution),
        cmocka_unit_test(shuffling_keeps_the_items_and_makes_every_order_equally_likely),
        cmocka_unit_test(the_numbers_have_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
