/* test_features.c -- sound and pictures become the vectors that their formulas say, the same on every machine. */
#include "test.h"

#include "base/memory.h"
#include "base/real.h"
#include "base/rng.h"
#include "vector/feature.h"
#include "vector/fourier.h"
#include "vector/resample.h"
#include "vector/seen.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static struct hd_feature settings_of(int kind)
{
    struct hd_feature f = {0};
    assert_true(heed_option_defaults(hd_feature_options, &f.settings, NULL));
    f.settings.kind = kind;
    f.settings.store = 1;
    return f;
}

/* A tone of so many seconds. */
static struct hd_sound tone(double hz, int rate, double seconds)
{
    struct hd_sound s = {.rate = rate, .n = (size_t)(seconds * rate)};
    s.samples = hd_alloc(s.n, sizeof *s.samples, NULL);
    for (size_t i = 0; i < s.n; i++)
        s.samples[i] = 8000 * hd_real_cos_pi(2 * hz * (double)i / rate);
    return s;
}

static void the_cosine_is_near_the_c_librarys(void **state)
{
    (void)state;
    for (int i = -100000; i <= 100000; i++) {
        const double x = i / 977.;
        assert_that(fabs(hd_real_cos_pi(x) - cos(PI * fmod(x, 2))) < 2e-15, "cos π %g: %a", x,
                    hd_real_cos_pi(x));
    }
    assert_true(hd_real_cos_pi(0) == 1 && hd_real_cos_pi(1) == -1 && hd_real_cos_pi(0.5) == 0 &&
                hd_real_cos_pi(-1.5) == 0 && hd_real_cos_pi(1e6) == 1);
}

static void the_power_is_that_of_the_sum_of_the_formula(void **state)
{
    (void)state;
    struct hd_rng rng = {.key = 3};
    for (int n = 2; n <= 128; n *= 2) {
        struct hd_fourier f = {0};
        double x[128], power[65];
        const int count = n > 2 ? n - 1 : n; /* a zero follows */
        assert_true(hd_fourier_init(&f, n, NULL));
        for (int i = 0; i < count; i++)
            x[i] = (double)hd_rng_u32(&rng) * 0x1p-32 - 0.5;
        hd_fourier_power(&f, x, count, power);
        for (int k = 0; k <= n / 2; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < count; i++) {
                re += x[i] * cos(2 * PI * k * i / n);
                im -= x[i] * sin(2 * PI * k * i / n);
            }
            assert_that(fabs(power[k] - re * re - im * im) < 1e-11, "n %d, k %d: %g", n, k,
                        power[k]);
        }
        hd_fourier_release(&f);
    }
}

static void the_cosine_transform_is_orthonormal(void **state)
{
    (void)state;
    double table[12 * 12];
    hd_cosine_table(table, 12, 12);
    for (int a = 0; a < 12; a++)
        for (int b = 0; b < 12; b++) {
            double sum = 0;
            for (int j = 0; j < 12; j++)
                sum += table[a * 12 + j] * table[b * 12 + j];
            assert_that(fabs(sum - (a == b)) < 1e-14, "rows %d and %d: %g", a, b, sum);
        }
}

static void a_tone_is_loudest_in_its_band(void **state)
{
    (void)state;
    struct hd_feature f = settings_of(HD_FEATURES_SOUND);
    f.settings.center = false;
    int last = -1;
    for (double hz = 200; hz < 6000; hz *= 2) {
        struct hd_sound s = tone(hz, 16000, 0.1);
        struct hd_featured out;
        assert_true(hd_feature_sound(&f, &out, &s, "tone", NULL));
        assert_that(out.n == 8 && out.width == 40, "%d frames of %d", out.n, out.width);
        int best = 0;
        for (int b = 0; b < out.width; b++)
            best = out.x[3 * out.width + b] > out.x[3 * out.width + best] ? b : best;
        const double low = 2595 * log10(1 + 100 / 700.), high = 2595 * log10(1 + 7000 / 700.);
        const double at = (2595 * log10(1 + hz / 700) - low) / (high - low) * 41 - 1;
        assert_that(fabs(best - at) <= 1 && best > last, "%g Hz is in band %d, not %g", hz, best,
                    at);
        last = best;
        hd_free(out.x);
        hd_free(s.samples);
    }
}

static void another_rate_gives_the_same_frames(void **state)
{
    (void)state;
    struct hd_feature f = settings_of(HD_FEATURES_SOUND);
    f.settings.center = false;
    const int rates[] = {44100, 48000, 22050};
    struct hd_sound at16 = tone(1000, 16000, 0.2);
    struct hd_featured wanted;
    assert_true(hd_feature_sound(&f, &wanted, &at16, "tone", NULL));
    for (int i = 0; i < 3; i++) {
        struct hd_sound s = tone(1000, rates[i], 0.2);
        struct hd_featured out;
        assert_true(hd_feature_sound(&f, &out, &s, "tone", NULL));
        assert_int_equal(out.n, wanted.n);
        int best = 0;
        for (int b = 0; b < 40; b++)
            best = wanted.x[5 * 40 + b] > wanted.x[5 * 40 + best] ? b : best;
        assert_that(fabs((double)(out.x[5 * 40 + best] - wanted.x[5 * 40 + best])) < 0.02,
                    "%d Hz: %g, not %g", rates[i], (double)out.x[5 * 40 + best],
                    (double)wanted.x[5 * 40 + best]);
        hd_free(out.x);
        hd_free(s.samples);
    }
    hd_free(wanted.x);
    hd_free(at16.samples);
}

/* Half a second of near silence on both sides of a tone. */
static void silence_is_cut_but_for_its_margin(void **state)
{
    (void)state;
    struct hd_feature f = settings_of(HD_FEATURES_SOUND);
    struct hd_sound s = tone(700, 16000, 1.5);
    struct hd_featured out;
    for (size_t i = 0; i < s.n; i++)
        if (i < 8000 || i >= 16000)
            s.samples[i] = i % 7 == 0 ? 1 : 0;
    f.settings.trim_ms = 100;
    assert_true(hd_feature_sound(&f, &out, &s, "tone", NULL));
    assert_that(out.n >= 66 && out.n <= 76, "%d frames of 148 are left", out.n);
    hd_free(out.x);
    hd_free(s.samples);
}

static void recordings_are_refused_with_a_reason(void **state)
{
    (void)state;
    struct hd_feature f = settings_of(HD_FEATURES_SOUND);
    struct hd_sound s = tone(700, 16000, 0.02);
    struct hd_featured out;
    heed_error err = {0};
    assert_false(hd_feature_sound(&f, &out, &s, "short.wav", &err));
    assert_string_equal(err.message,
                        "short.wav: 20 ms of sound are shorter than a window of 25 ms");
    hd_free(s.samples);
    err = (heed_error){0};
    s = tone(700, 192000, 2. / 192000); /* two samples, of which none is left at 16 kHz */
    assert_false(hd_feature_sound(&f, &out, &s, "tick.wav", &err));
    assert_string_equal(err.message,
                        "tick.wav: 0 ms of sound are shorter than a window of 25 ms");
    hd_free(s.samples);
    err = (heed_error){0};
    f.settings.high = 9000;
    assert_false(hd_feature_check(&f.settings, &err));
    assert_non_null(strstr(err.message, "half the sample rate"));
}

/* 6 by 4 pixels, patches of 3 by 2: red is the column, green the row. */
static void patches_stand_in_the_order_of_rows(void **state)
{
    (void)state;
    unsigned char rgb[4 * 6 * 3];
    for (int i = 0; i < 24; i++) {
        rgb[3 * i] = (unsigned char)(i % 6 * 51);
        rgb[3 * i + 1] = (unsigned char)(i / 6 * 51);
        rgb[3 * i + 2] = 0;
    }
    struct hd_image image = {6, 4, rgb};
    struct hd_feature f = settings_of(HD_FEATURES_PICTURES);
    struct hd_featured out;
    f.settings.patch_width = 3;
    f.settings.patch_height = 2;
    assert_true(hd_feature_image(&f, &out, &image, "picture", NULL));
    assert_that(out.n == 4 && out.rows == 2 && out.columns == 2 && out.width == 18, "%d of %d",
                out.n, out.width);
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < 6; i++) {
            const float *pixel = out.x + p * 18 + 3 * i;
            assert_true(pixel[0] == (float)(p % 2 * 3 + i % 3) * 51 / 255 &&
                        pixel[1] == (float)(p / 2 * 2 + i / 3) * 51 / 255 && pixel[2] == 0);
        }
    hd_free(out.x);
    heed_error err = {0};
    f.settings.patch_width = 4;
    assert_false(hd_feature_image(&f, &out, &image, "picture.png", &err));
    assert_string_equal(err.message, "picture.png: a picture of 6 by 4 pixels is not made of whole "
                                     "patches of 4 by 2; --resize 8x4 makes it so");
}

static void a_smaller_picture_has_the_means_of_what_it_covers(void **state)
{
    (void)state;
    unsigned char rgb[4 * 4 * 3];
    for (int i = 0; i < 48; i++)
        rgb[i] = (unsigned char)(i * 5);
    struct hd_image image = {4, 4, rgb};
    struct hd_feature f = settings_of(HD_FEATURES_PICTURES);
    struct hd_featured out;
    f.settings.patch_width = f.settings.patch_height = 2;
    f.settings.width = f.settings.height = 2;
    assert_true(hd_feature_image(&f, &out, &image, "picture", NULL));
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++)
            for (int c = 0; c < 3; c++) {
                int sum = 0;
                for (int i = 0; i < 4; i++)
                    sum += rgb[((2 * y + i / 2) * 4 + 2 * x + i % 2) * 3 + c];
                assert_that(fabs((double)out.x[(y * 2 + x) * 3 + c] - sum / 4. / 255) < 1e-6,
                            "pixel %d %d", x, y);
            }
    hd_free(out.x);
}

/* Patches that vary along two directions only are given back by two components. */
static void principal_components_find_the_directions_there_are(void **state)
{
    (void)state;
    enum { N = 300, WIDTH = 12 };
    struct hd_feature f = settings_of(HD_FEATURES_PICTURES);
    f.settings.patch_width = f.settings.patch_height = 2;
    f.settings.project = 3;
    static float patches[N * WIDTH];
    struct hd_rng rng = {.key = 9};
    for (int i = 0; i < N; i++) {
        const float a = (float)hd_rng_u32(&rng) * 0x1p-32f, b = (float)hd_rng_u32(&rng) * 0x1p-32f;
        for (int d = 0; d < WIDTH; d++)
            patches[i * WIDTH + d] = 0.1f + a * (float)(d % 3) / 4 + b * (float)(d % 4) / 20;
    }
    assert_true(hd_feature_learn_basis(&f, patches, N, NULL));
    double variance[3] = {0};
    for (int i = 0; i < N; i++) {
        float v[3];
        hd_feature_project(&f, v, patches + i * WIDTH);
        for (int k = 0; k < 3; k++)
            variance[k] += (double)(v[k] * v[k]);
        for (int d = 0; d < WIDTH; d++) {
            double p = (double)f.mean[d];
            for (int k = 0; k < 3; k++)
                p += (double)(v[k] * f.basis[k * WIDTH + d]);
            assert_that(fabs(p - (double)patches[i * WIDTH + d]) < 1e-5, "%d %d: %g", i, d, p);
        }
    }
    assert_that(variance[0] > variance[1] && variance[2] < 1e-8, "%g %g %g", variance[0],
                variance[1], variance[2]);
    hd_feature_release(&f);
}

/* All cepstra are the bands again; components that leave nothing out are the pixels. */
static void vectors_can_be_looked_at_again(void **state)
{
    (void)state;
    struct hd_feature f = settings_of(HD_FEATURES_SOUND), g = f;
    struct hd_sound s = tone(900, 16000, 0.1);
    struct hd_featured bands, cepstra;
    struct hd_seen seen;
    g.settings.cepstra = g.settings.mel;
    assert_true(hd_feature_sound(&f, &bands, &s, "tone", NULL));
    assert_true(hd_feature_sound(&g, &cepstra, &s, "tone", NULL));
    assert_true(hd_feature_see(&seen, &g, &cepstra, NULL));
    assert_true(seen.rows == bands.n && seen.columns == 40 && !seen.is_picture);
    for (int i = 0; i < bands.n * 40; i++)
        assert_that(fabs((double)(seen.x[i] - bands.x[i])) < 1e-4, "%d", i);
    hd_free(seen.x);
    hd_free(bands.x);
    hd_free(cepstra.x);
    hd_free(s.samples);
    unsigned char rgb[4 * 6 * 3];
    for (int i = 0; i < 72; i++)
        rgb[i] = (unsigned char)(i * 3);
    struct hd_image image = {6, 4, rgb};
    struct hd_feature p = settings_of(HD_FEATURES_PICTURES);
    p.settings.patch_width = 3;
    p.settings.patch_height = 2;
    assert_true(hd_feature_image(&p, &bands, &image, "picture", NULL));
    assert_true(hd_feature_see(&seen, &p, &bands, NULL));
    assert_true(seen.rows == 4 && seen.columns == 6 && seen.is_picture);
    for (int i = 0; i < 72; i++)
        assert_that(fabs((double)seen.x[i] - rgb[i] / 255.) < 1e-6, "%d", i);
    hd_free(seen.x);
    hd_free(bands.x);
}

static void the_bits_are_the_same_everywhere(void **state)
{
    (void)state;
    struct hd_feature f = settings_of(HD_FEATURES_SOUND);
    f.settings.cepstra = 13;
    f.settings.trim_ms = 50;
    struct hd_sound s = tone(441, 22050, 0.3);
    struct hd_featured out;
    uint64_t sum = 0;
    for (size_t i = 0; i < s.n; i++)
        s.samples[i] += (double)(i * i % 331);
    assert_true(hd_feature_sound(&f, &out, &s, "tone", NULL));
    for (int i = 0; i < out.n * out.width; i++) {
        uint32_t bits;
        memcpy(&bits, &out.x[i], sizeof bits);
        sum = (sum ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 29;
    }
    hd_free(out.x);
    hd_free(s.samples);
    assert_that(sum == UINT64_C(0xc38c92d75cd8bb84), "the checksum is 0x%llx",
                (unsigned long long)sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cosine_is_near_the_c_librarys),
        cmocka_unit_test(the_power_is_that_of_the_sum_of_the_formula),
        cmocka_unit_test(the_cosine_transform_is_orthonormal),
        cmocka_unit_test(a_tone_is_loudest_in_its_band),
        cmocka_unit_test(another_rate_gives_the_same_frames),
        cmocka_unit_test(silence_is_cut_but_for_its_margin),
        cmocka_unit_test(recordings_are_refused_with_a_reason),
        cmocka_unit_test(patches_stand_in_the_order_of_rows),
        cmocka_unit_test(a_smaller_picture_has_the_means_of_what_it_covers),
        cmocka_unit_test(principal_components_find_the_directions_there_are),
        cmocka_unit_test(vectors_can_be_looked_at_again),
        cmocka_unit_test(the_bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
