/* common.h -- what the tests of the kernels share: inputs of every kind, and bits compared.
 *
 * A test fills two equal sets of arrays, lets a kernel work on the one and the reference on the other, and compares
 * everything: outputs, inputs, and the few numbers around them that nobody should have touched. */
#ifndef HD_KERNEL_TESTS_H
#define HD_KERNEL_TESTS_H

#include "kernel/kernel.h"
#include "test.h"
#include <float.h>
#include <math.h>

static uint32_t random_state = 1;

static inline uint32_t random_bits(void) /* 24 of them */
{
    random_state = random_state * 1664525U + 1013904223U;
    return random_state >> 8;
}

/* KIND_PLAIN: in [-4, 4). KIND_WIDE: any finite float, every exponent as likely as another. KIND_NASTY: plain, but a third
 * are zeros of both signs, denormals, numbers about to overflow, infinities and NaN. KIND_ZERO: zeros of both signs. */
enum kind { KIND_PLAIN, KIND_WIDE, KIND_NASTY, KIND_ZERO, N_KINDS };

static inline float random_number(enum kind kind)
{
    static const float nasty[] = {
        0.0F,   -0.0F,   1e-45F,  -1e-45F,  1e-38F,  -2e-39F,  1e-20F,   -1e-20F,   1e20F, -1e20F,
        100.0F, -100.0F, FLT_MIN, -FLT_MIN, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};
    const float plain = (float)random_bits() * 0x1p-21F - 4;
    switch (kind) {
    case KIND_WIDE:
        return ldexpf(plain, (int)(random_bits() % 270) - 145);
    case KIND_NASTY:
        return random_bits() % 3 ? plain : nasty[random_bits() % (random_bits() % 4 ? 14 : 19)];
    case KIND_ZERO:
        return random_bits() % 2 ? 0.0F : -0.0F;
    default:
        return plain;
    }
}

/* n numbers off any alignment, with one before them and a few behind that belong to the comparison. They are a block of
 * their own, so that an address sanitizer sees who goes further. */
enum { BEHIND = 5 };

static inline float *random_numbers(long n, enum kind kind)
{
    float *p = malloc((size_t)(n + 1 + BEHIND) * sizeof *p);
    assert_non_null(p);
    for (long i = 0; i < n + 1 + BEHIND; i++)
        p[i] = random_number(kind);
    return p + 1;
}

static inline float *copy_of(const float *x, long n)
{
    float *p = malloc((size_t)(n + 1 + BEHIND) * sizeof *p);
    assert_non_null(p);
    memcpy(p, x - 1, (size_t)(n + 1 + BEHIND) * sizeof *p);
    return p + 1;
}

static inline void numbers_free(float *x)
{
    if (x)
        free(x - 1);
}

static inline bool is_same(float a, float b) /* NaN are all the same */
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* n numbers, the one before them and those behind; the words say what was computed, and for which input. */
static inline void assert_same_bits(const float *got, const float *wanted, long n,
                                    const char *words, ...) __attribute__((format(printf, 4, 5)));
static inline void assert_same_bits(const float *got, const float *wanted, long n,
                                    const char *words, ...)
{
    for (long i = -1; i < n + BEHIND; i++) {
        if (is_same(got[i], wanted[i]))
            continue;
        char what[300];
        va_list list;
        va_start(list, words);
        vsnprintf(what, sizeof what, words, list);
        va_end(list);
        fail_msg("%s: element %ld of %ld is %a, not %a", what, i, n, (double)got[i],
                 (double)wanted[i]);
    }
}

static inline void assert_same_number(float got, float wanted, const char *kernel, const char *what,
                                      long n)
{
    assert_that(is_same(got, wanted), "%s %s, n = %ld: %a, not %a", kernel, what, n, (double)got,
                (double)wanted);
}

/* Every kernel this CPU has but the reference itself. */
#define FOR_EACH_KERNEL(k)                                                    \
    for (const struct hd_kernels *const *k##_at = hd_kernels_available(), *k; \
         (k = *k##_at) != NULL; k##_at++)                                     \
        if (k != &hd_kernels_ref)

/* 0, 1, 2 … : every tail length, and some longer ones that show blocks. */
static inline int size_number(int i)
{
    static const int longer[] = {79, 80, 95, 96, 112, 127, 128, 129, 200, 257, 384, 500, 1000};
    return i <= 67 ? i : i - 68 < (int)(sizeof longer / sizeof *longer) ? longer[i - 68] : -1;
}
#define FOR_EACH_SIZE(n)    for (int n##_at = 0, n; (n = size_number(n##_at)) >= 0; n##_at++)
#define FOR_EACH_KIND(kind) for (enum kind kind = KIND_PLAIN; kind < N_KINDS; kind++)

/* How far `got` is from `exact`, in units of the last place of a float there (the smallest denormal at least). */
static inline double ulps(double got, double exact)
{
    if (got == exact || (got != got && exact != exact) ||
        (isinf(got) && (float)exact == (float)got))
        return 0;
    if (!isfinite(got) || !isfinite(exact))
        return INFINITY;
    const int e = exact == 0 ? -126 : ilogb(exact);
    return fabs(got - exact) / ldexp(1, (e < -126 ? -126 : e) - 23);
}
#endif
