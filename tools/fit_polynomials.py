#!/usr/bin/env python3
"""Fit the polynomials behind exp, log, tanh, sin, cos and erf, and print src/kernel/polynomials.h.

Needs Python 3 with mpmath and numpy:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install mpmath numpy
    /tmp/venv/bin/python tools/fit_polynomials.py > src/kernel/polynomials.h

Each polynomial is the one whose largest weighted error is as good as smallest among those whose coefficients are
floats: the coefficient of the lowest power is rounded to a float, the others are fitted again around it, and so on
upwards. What is left of the error after rounding stands beside each polynomial; rounding while evaluating adds
to it, and tests/kernel/test_math.c measures the whole.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 60
POINTS, ROUNDS = 501, 400


def best(f, weight, basis, low, high):
    """Coefficients c that make max |weight·(f - Σ c_k basis_k)| on [low, high] as good as smallest.

    Lawson (1961): least squares over and over, where points with a large error count for more the next time."""
    grid = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * np.arange(POINTS) / (POINTS - 1))
    w = np.array([float(weight(mp.mpf(x))) for x in grid])
    y = np.array([float(f(mp.mpf(x))) for x in grid]) * w
    b = np.stack([np.array([float(g(mp.mpf(x))) for x in grid]) * w for g in basis], axis=1)
    scale = np.abs(b).max(axis=0)
    b = b / scale
    count = np.ones(POINTS)
    smallest, kept = np.inf, None
    for _ in range(ROUNDS):
        root = np.sqrt(count)
        c = np.linalg.lstsq(b * root[:, None], y * root, rcond=None)[0]
        error = np.abs(y - b @ c)
        if error.max() < smallest:
            smallest, kept = error.max(), c
        count *= error / error.max() + 1e-3
        count /= count.max()
    return kept / scale


def fit(f, weight, basis, low, high):
    """Like best(), with coefficients that are floats; and the error. basis goes from the largest term down."""
    fixed = []
    while len(fixed) < len(basis):
        k = len(fixed)

        def rest(x):
            return f(x) - sum(mp.mpf(float(c)) * g(x) for c, g in zip(fixed, basis))

        fixed.append(np.float32(best(rest, weight, basis[k:], low, high)[0]))
    worst = max(abs(rest_error(f, weight, basis, fixed, mp.mpf(low) + (mp.mpf(high) - low) * i / 5000))
                for i in range(1, 5001))
    return fixed, float(worst)


def rest_error(f, weight, basis, c, x):
    return weight(x) * (f(x) - sum(mp.mpf(float(ck)) * g(x) for ck, g in zip(c, basis)))


def power(k):
    return lambda x: x**k


def hexadecimal(x):
    """A float as C writes it."""
    text = float(x).hex()
    mantissa, exponent = text.split('p')
    mantissa = mantissa.rstrip('0') if '.' in mantissa else mantissa
    number = f"{mantissa.rstrip('.')}p{exponent}F"
    return f"({number})" if x < 0 else number


def split(value, n):
    """value as the sum of n floats, each the rest of those before it, rounded."""
    parts = []
    for _ in range(n):
        parts.append(np.float32(float(value)))
        value -= mp.mpf(float(parts[-1]))
    return parts


def show(comment, values):
    print(f"\n/* {comment} */")
    for name, v in values:
        print(f"#define HD_{name} {hexadecimal(v)}")


def polynomial(name, comment, f, weight, powers, low, high):
    c, worst = fit(f, weight, [power(k) for k in powers], low, high)
    show(f"{comment}; error {worst:.2g}", [(f"{name}_{k}", ck) for k, ck in zip(powers, c)])


def two_over_pi_words(n):
    """2/π as n words of 32 bits, after the binary point."""
    mp.mp.prec = 32 * n + 64
    whole = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (32 * n)))
    mp.mp.dps = 60
    return [(whole >> 32 * (n - 1 - i)) & 0xffffffff for i in range(n)]


def main():
    print("""/* polynomials.h -- the coefficients and constants of exp, log, tanh, sin, cos and erf.
 *
 * Written by tools/fit_polynomials.py; do not edit by hand. ref_math.h and math.inc evaluate the same ones in the
 * same order. "error" is that of the polynomial alone, relative to the function. */
#ifndef HD_POLYNOMIALS_H
#define HD_POLYNOMIALS_H
/* clang-format off */""")

    half = 0.3467  # a little more than ln(2)/2: the quotient is rounded as well
    show("log2(e), and ln 2 in two parts",
         [("LOG2E", np.float32(float(1 / mp.log(2))))] + list(zip(("LN2_1", "LN2_2"), split(mp.log(2), 2))))
    polynomial("EXP", "exp(r) = 1 + r + Σ r^k · HD_EXP_k, |r| ≤ ln(2)/2", lambda x: mp.exp(x) - 1 - x,
               lambda x: mp.exp(-x), range(2, 7), -half, half)
    polynomial("EXPM1", "exp(r) - 1 = r + Σ r^k · HD_EXPM1_k, |r| ≤ ln(2)/2",
               lambda x: mp.expm1(x) - x, lambda x: 1 / abs(mp.expm1(x)) if x else mp.mpf(1),
               range(2, 7), -half, half)
    root = float(mp.sqrt(mp.mpf(1) / 2))
    polynomial("LOG", "log(1 + f) = f - f²/2 + Σ f^k · HD_LOG_k, √½ ≤ 1 + f < √2",
               lambda x: mp.log1p(x) - x + x * x / 2, lambda x: 1 / abs(mp.log1p(x)) if x else mp.mpf(1),
               range(3, 11), root - 1, 2 * root - 1)
    quarter = 0.7870  # a little more than π/4: the quotient is rounded as well
    show("2/π, and π/2 in three parts",
         [("TWO_OVER_PI", np.float32(float(2 / mp.pi)))] +
         list(zip(("HALF_PI_1", "HALF_PI_2", "HALF_PI_3"), split(mp.pi / 2, 3))))
    show("√½, and 1/√(2π)", [("SQRT_HALF", np.float32(root)),
                            ("SQRT_2PI_INV", np.float32(float(1 / mp.sqrt(2 * mp.pi))))])
    polynomial("SIN", "sin(r) = r + Σ r^k · HD_SIN_k, |r| ≤ π/4", lambda x: mp.sin(x) - x,
               lambda x: 1 / mp.sin(x), range(3, 9, 2), 1e-3, quarter)
    polynomial("COS", "cos(r) = 1 - r²/2 + Σ r^k · HD_COS_k, |r| ≤ π/4", lambda x: mp.cos(x) - 1 + x * x / 2,
               lambda x: 1 / mp.cos(x), range(4, 10, 2), 1e-3, quarter)
    polynomial("ERF", "erf(x) = x + x · Σ x^k · HD_ERF_k, |x| < 0.9", lambda x: mp.erf(x) / x - 1,
               lambda x: x / mp.erf(x), range(0, 11, 2), 1e-3, 0.9)
    polynomial("ERFC", "erf(x) = 1 - exp(Σ x^k · HD_ERFC_k), 0.9 ≤ x ≤ 4",
               lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x), range(0, 7), 0.9, 4.0)

    words = two_over_pi_words(8)
    print("\n/* 2/π = 0.…, 32 bits each */")
    rows = [', '.join(f"0x{w:08x}U" for w in words[i:i + 4]) for i in (0, 4)]
    print("#define HD_TWO_OVER_PI_BITS \\\n    " + ', \\\n    '.join(rows))
    print("#endif")


if __name__ == "__main__":
    main()
