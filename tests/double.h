/* double.h -- heed in double precision, for gradients by differences: include it, then the rooms' .c files. The kernels are the reference's
 * over doubles, and the functions of one number are libm's. */
#ifndef HD_TESTS_DOUBLE_H
#define HD_TESTS_DOUBLE_H

#define float double
#define fmaf            fma
#define sqrtf           sqrt
#define fabsf           fabs
#define rintf           rint
#define strtof          strtod
#define __builtin_sqrtf __builtin_sqrt

#define HD_REF_MATH_H /* the functions of one number are libm's here */
static inline double ref_exp_of(double x)
{
    return exp(x);
}
static inline double ref_log_of(double x)
{
    return log(x);
}
static inline double ref_tanh_of(double x)
{
    return tanh(x);
}
static inline double ref_sigmoid_of(double x)
{
    return 1 / (1 + exp(-x));
}
static inline double ref_sin_of(double x)
{
    return sin(x);
}
static inline double ref_cos_of(double x)
{
    return cos(x);
}
static inline double ref_erf_of(double x)
{
    return erf(x);
}
static inline double ref_relu_of(double x)
{
    return x > 0 ? x : 0;
}
static inline double ref_gelu_of(double x)
{
    return x / 2 * (1 + erf(x * M_SQRT1_2));
}
static inline double ref_swish_of(double x)
{
    return x / (1 + exp(-x));
}

#include "base/rng.c"
#include "kernel/ref.c"
#include "kernel/ref_gemm.c"

const struct hd_kernels *hd_kernels_chosen(heed_error *err)
{
    (void)err;
    return &hd_kernels_ref;
}

#endif
