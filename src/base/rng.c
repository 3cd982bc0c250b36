/* rng.c -- Philox4x32-10, and numbers made of its words.
 *
 * Everything here is integer arithmetic or IEEE addition, multiplication, division and square
 * root, written out: no function of libm, whose last bit differs between systems. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

/* Ten rounds: two 32×32→64-bit products, crossed over and xored with the key, which moves on by
 * two constants. */
void hd_philox(uint32_t out[4], uint64_t key, uint64_t counter_low, uint64_t counter_high)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)counter_low, c1 = (uint32_t)(counter_low >> 32);
    uint32_t c2 = (uint32_t)counter_high, c3 = (uint32_t)(counter_high >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)c0 * 0xD2511F53U;
        const uint64_t p2 = (uint64_t)c2 * 0xCD9E8D57U;
        c0 = (uint32_t)(p2 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p2;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9U; /* the golden ratio */
        k1 += 0xBB67AE85U; /* √3 - 1 */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint32_t hd_rng_u32_at(const struct hd_rng *rng, uint64_t i)
{
    uint32_t words[4];
    hd_philox(words, rng->key, i / 4, rng->stream);
    return words[i % 4];
}

uint32_t hd_rng_u32(struct hd_rng *rng)
{
    return hd_rng_u32_at(rng, rng->next++);
}

float hd_rng_uniform(struct hd_rng *rng)
{
    return hd_uniform_of(hd_rng_u32(rng));
}

float hd_rng_normal(struct hd_rng *rng)
{
    return hd_normal_of(hd_rng_u32(rng));
}

/* Lemire (2019): the high half of word × n is in [0, n); words whose low half falls short of
 * 2^32 mod n would make some results more likely than others and are drawn again. */
uint32_t hd_rng_below(struct hd_rng *rng, uint32_t n)
{
    assert(n > 0);
    const uint32_t short_of = (uint32_t)-n % n; /* 2^32 mod n */
    for (;;) {
        const uint64_t product = (uint64_t)hd_rng_u32(rng) * n;
        if ((uint32_t)product >= short_of)
            return (uint32_t)(product >> 32);
    }
}

void hd_rng_shuffle(struct hd_rng *rng, int *items, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const uint32_t j = hd_rng_below(rng, (uint32_t)i + 1);
        const int kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}

static void fill(struct hd_rng *rng, float *out, size_t n, float (*number_of)(uint32_t word))
{
    size_t done = 0;
    while (done < n) {
        uint32_t words[4];
        hd_philox(words, rng->key, rng->next / 4, rng->stream);
        for (uint64_t w = rng->next % 4; w < 4 && done < n; w++, rng->next++)
            out[done++] = number_of(words[w]);
    }
}

void hd_rng_uniforms(struct hd_rng *rng, float *out, size_t n)
{
    fill(rng, out, n, hd_uniform_of);
}

void hd_rng_normals(struct hd_rng *rng, float *out, size_t n)
{
    fill(rng, out, n, hd_normal_of);
}

/* -ln(odd · 2^-33) for an odd number of at most 33 bits, to about 1e-12.
 * m · 2^e with m in [√½, √2), then ln m = 2 atanh((m - 1) / (m + 1)) by its series. */
static double minus_log(uint64_t odd)
{
    const int top = 63 - __builtin_clzll(odd);
    double m = (double)odd / (double)(1ULL << top); /* [1, 2), exact */
    int e = top - 33;
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s; /* at most 0.0295 */
    double sum = 1.0 / 15.0;
    for (int k = 13; k >= 1; k -= 2)
        sum = sum * z + 1.0 / k;
    return -((double)e * 0.69314718055994531 + 2.0 * s * sum);
}

static double square_root(double x)
{
    const double r = (double)sqrtf((float)x);
    return 0.5 * (r + x / r); /* one step of Newton's: from 24 bits to 47 */
}

/* The x that a standard normal variable stays below with probability p = (word + ½) / 2^32.
 * Wichura (1988), algorithm AS 241, PPND7: two rational functions, one for the middle and one
 * for the tails; the one for the far tails (p < e^-25) is never needed. The error is below 2e-7
 * · |x|, the largest value 6.34. */
float hd_normal_of(uint32_t word)
{
    const uint64_t odd = 2 * (uint64_t)word + 1;       /* p = odd / 2^33 */
    const double q = ((double)odd - 0x1p32) * 0x1p-33; /* p - ½ */
    if (q >= -0.425 && q <= 0.425) {
        const double r = 0.180625 - q * q;
        return (float)(q *
                       (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
                       (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0));
    }
    const double r = square_root(minus_log(q < 0 ? odd : (1ULL << 33) - odd)) - 1.6;
    const double x = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
                     ((0.12021132975 * r + 0.73700164250) * r + 1.0);
    return (float)(q < 0 ? -x : x);
}
