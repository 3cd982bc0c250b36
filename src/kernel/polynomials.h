/* polynomials.h -- the coefficients and constants of exp, log, tanh, sin, cos and erf.
 *
 * Written by tools/fit_polynomials.py; do not edit by hand. ref_math.h and math.inc evaluate the same ones in the
 * same order. "error" is that of the polynomial alone, relative to the function. */
#ifndef HD_POLYNOMIALS_H
#define HD_POLYNOMIALS_H
/* clang-format off */

/* log2(e), and ln 2 in two parts */
#define HD_LOG2E 0x1.715476p+0F
#define HD_LN2_1 0x1.62e43p-1F
#define HD_LN2_2 (-0x1.05c61p-29F)

/* exp(r) = 1 + r + Σ r^k · HD_EXP_k, |r| ≤ ln(2)/2; error 3.1e-09 */
#define HD_EXP_2 0x1.fffffcp-2F
#define HD_EXP_3 0x1.555492p-3F
#define HD_EXP_4 0x1.5558aep-5F
#define HD_EXP_5 0x1.123986p-7F
#define HD_EXP_6 0x1.6a4f4cp-10F

/* exp(r) - 1 = r + Σ r^k · HD_EXPM1_k, |r| ≤ ln(2)/2; error 1.4e-08 */
#define HD_EXPM1_2 0x1.fffffep-2F
#define HD_EXPM1_3 0x1.5554b4p-3F
#define HD_EXPM1_4 0x1.5556f2p-5F
#define HD_EXPM1_5 0x1.122546p-7F
#define HD_EXPM1_6 0x1.6b9c74p-10F

/* log(1 + f) = f - f²/2 + Σ f^k · HD_LOG_k, √½ ≤ 1 + f < √2; error 5.8e-09 */
#define HD_LOG_3 0x1.555554p-2F
#define HD_LOG_4 (-0x1.000226p-2F)
#define HD_LOG_5 0x1.99a01cp-3F
#define HD_LOG_6 (-0x1.54728ap-3F)
#define HD_LOG_7 0x1.22d92ep-3F
#define HD_LOG_8 (-0x1.0d8242p-3F)
#define HD_LOG_9 0x1.055ec6p-3F
#define HD_LOG_10 (-0x1.38c9dep-4F)

/* 2/π, and π/2 in three parts */
#define HD_TWO_OVER_PI 0x1.45f306p-1F
#define HD_HALF_PI_1 0x1.921fb6p+0F
#define HD_HALF_PI_2 (-0x1.777a5cp-25F)
#define HD_HALF_PI_3 (-0x1.ee59dap-50F)

/* √½, and 1/√(2π) */
#define HD_SQRT_HALF 0x1.6a09e6p-1F
#define HD_SQRT_2PI_INV 0x1.988454p-2F

/* sin(r) = r + Σ r^k · HD_SIN_k, |r| ≤ π/4; error 4.2e-09 */
#define HD_SIN_3 (-0x1.555544p-3F)
#define HD_SIN_5 0x1.1106c6p-7F
#define HD_SIN_7 (-0x1.991c18p-13F)

/* cos(r) = 1 - r²/2 + Σ r^k · HD_COS_k, |r| ≤ π/4; error 1.2e-10 */
#define HD_COS_4 0x1.55554ap-5F
#define HD_COS_6 (-0x1.6c0c26p-10F)
#define HD_COS_8 0x1.99e714p-16F

/* erf(x) = x + x · Σ x^k · HD_ERF_k, |x| < 0.9; error 1.4e-08 */
#define HD_ERF_0 0x1.06eba6p-3F
#define HD_ERF_2 (-0x1.8126eep-2F)
#define HD_ERF_4 0x1.ce1c1ep-4F
#define HD_ERF_6 (-0x1.b6a7c4p-6F)
#define HD_ERF_8 0x1.47f6ep-8F
#define HD_ERF_10 (-0x1.3d5f28p-11F)

/* erf(x) = 1 - exp(Σ x^k · HD_ERFC_k), 0.9 ≤ x ≤ 4; error 1.7e-09 */
#define HD_ERFC_0 (-0x1.5d0dbp-13F)
#define HD_ERFC_1 (-0x1.20b752p+0F)
#define HD_ERFC_2 (-0x1.4621bcp-1F)
#define HD_ERFC_3 (-0x1.aa7304p-4F)
#define HD_ERFC_4 0x1.6d9c7cp-6F
#define HD_ERFC_5 (-0x1.91cbd4p-9F)
#define HD_ERFC_6 0x1.9fb00cp-13F

/* 2/π = 0.…, 32 bits each */
#define HD_TWO_OVER_PI_BITS \
    0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, \
    0xdb629599U, 0x3c439041U, 0xfe5163abU, 0xdebbc561U
#endif
