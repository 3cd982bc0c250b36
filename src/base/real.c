/* real.c -- exp, log and cosine of doubles: a power of 2 or a quarter turn split off, and a short series for the rest.
 *
 * Written for the last bit: what is large is added last, and the part of ln 2 that is multiplied by a whole
 * number has so few digits that the product is exact. */
#include "base/real.h"

#include <math.h> /* INFINITY, NAN; no functions */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ln 2 = LN2_HIGH + LN2_LOW; the high part has 32 digits, so that a whole number below 2^21 times it is exact. */
static const double LN2_HIGH = 0x1.62e42fefp-1, LN2_LOW = 0x1.473de6af278edp-34;

/* 2^n, n in [-1022, 1023] */
static double power_of_2(int n)
{
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* eˣ = 2ⁿ eʳ with n the whole number next to x / ln 2, so |r| ≤ ln(2)/2 and 13 terms of eʳ = Σ rᵏ/k! leave
 * out less than 2^-57. */
double hd_real_exp(double x)
{
    if (!(x >= -746)) /* e^-745.2 is still half of the smallest number */
        return x < 0 ? 0 : x;
    if (x > 710)
        return INFINITY;
    const double rounder = 0x1.8p52; /* added to a small number it leaves no place for a fraction */
    const double n = x * 0x1.71547652b82fep+0 + rounder - rounder;
    const double high = x - n * LN2_HIGH;
    const double low = n * LN2_LOW;
    const double r = high - low;
    const double lost = high - r - low; /* what r was rounded by */

    double p = 1. / 6227020800; /* 1/13! */
    static const double factorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040,
                                        720,       120,      24,      6,      2};
    for (int k = 0; k < 11; k++)
        p = p * r + 1 / factorials[k];
    const double y = 1 + (r + (p * r * r + lost));
    const int half =
        (int)n / 2; /* in two steps, of which the first is exact: 2ⁿ itself may be no number */
    return y * power_of_2(half) * power_of_2((int)n - half);
}

/* x = 2ᵏ (1 + f) with √½ ≤ 1 + f < √2, and with s = f / (2 + f)
 *
 *     ln(1 + f) = 2 artanh s = 2s + s R,    R = 2s²/3 + 2s⁴/5 + 2s⁶/7 + …
 *               = f - (f²/2 - s (f²/2 + R)),     as 2s = f - f²/2 + s f²/2
 *
 * where f is exact and the rest is small beside it. |s| < 0.172, so the terms left out, from s²² on, are below 2^-60. */
double hd_real_log(double x)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    if (x == INFINITY)
        return x;
    int k = 0;
    if (x < 0x1p-1022) { /* the smallest numbers have no exponent of their own */
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    k += (int)(bits >> 52) - 1023;
    bits = (bits & 0xFFFFFFFFFFFFF) | (uint64_t)1023 << 52;
    double m; /* in [1, 2) */
    memcpy(&m, &bits, sizeof m);
    if (m >= 0x1.6a09e667f3bcdp+0) { /* √2 */
        m *= 0.5;
        k++;
    }
    const double f = m - 1;
    const double s = f / (2 + f), s2 = s * s;
    double R = 0;
    for (int n = 21; n >= 3; n -= 2)
        R = (R + 2. / n) * s2;
    const double half = 0.5 * f * f;
    return k * LN2_HIGH - ((half - (s * (half + R) + k * LN2_LOW)) - f);
}

/* 1 - y²/2! + y⁴/4! - … and y - y³/3! + y⁵/5! - …, for |y| ≤ π/4: what is left out is below 2^-60. */
static double cosine_series(double y2)
{
    double sum = 1;
    for (int k = 20; k >= 2; k -= 2)
        sum = 1 - sum * y2 / ((k - 1) * k);
    return sum;
}

static double sine_series(double y, double y2)
{
    double sum = 1;
    for (int k = 21; k >= 3; k -= 2)
        sum = 1 - sum * y2 / ((k - 1) * k);
    return y * sum;
}

double hd_real_cos_pi(double x)
{
    const double rounder = 0x1.8p52;
    x = x < 0 ? -x : x;
    const double halves = x * 2 + rounder - rounder; /* quarter turns */
    const double y = (x - halves * 0.5) * 0x1.921fb54442d18p+1, y2 = y * y;
    switch ((long long)halves & 3) {
    case 0:
        return cosine_series(y2);
    case 1:
        return -sine_series(y, y2);
    case 2:
        return -cosine_series(y2);
    default:
        return sine_series(y, y2);
    }
}

char *hd_real_text(char text[32], float x)
{
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, 32, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    return text;
}
