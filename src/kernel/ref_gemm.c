/* ref_gemm.c -- the definition of right for matrix products, of floats, of 8-bit numbers and of bf16.
 *
 * Every output of a product is one chain of fused multiply-adds over k in ascending order; scores (dots) are sums over
 * 16 lanes. Nothing here is fast, and nothing here may be changed lightly: every other kernel returns these bits. */
#include "kernel/bf16.h"
#include "kernel/ref.h"
#include "kernel/ref_math.h"
#include <assert.h>
#include <float.h>
#include <math.h>

static float activated(enum hd_function act, float x)
{
    switch (act) {
    case HD_RELU:
        return ref_relu_of(x);
    case HD_TANH:
        return ref_tanh_of(x);
    case HD_SIGMOID:
        return ref_sigmoid_of(x);
    case HD_GELU:
        return ref_gelu_of(x);
    case HD_SWISH:
        return ref_swish_of(x);
    case HD_NONE:
        break;
    }
    return x;
}

void ref_pack(float *packed, const float *w, long k_stride, long n_stride, int K, int N)
{
    for (int n0 = 0; n0 < N; n0 += HD_LANES)
        for (int k = 0; k < K; k++)
            for (int n = n0; n < n0 + HD_LANES; n++)
                *packed++ = n < N ? w[k * k_stride + n * n_stride] : 0;
}

void ref_gemm(float *y, long ldy, const float *x, long ldx, const float *packed, const float *bias,
              bool accumulate, enum hd_function act, int M, int K, int N)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const float *w = packed + (size_t)(n / HD_LANES) * HD_LANES * K + n % HD_LANES;
            float sum = accumulate ? y[m * ldy + n] : bias ? bias[n] : 0;
            for (int k = 0; k < K; k++)
                sum = fmaf(x[m * ldx + k], w[(size_t)k * HD_LANES], sum);
            y[m * ldy + n] = activated(act, sum);
        }
}

void ref_gemm_free(float *y, long ldy, const float *a, long a_row, long a_k, const float *b,
                   long b_k, long b_col, bool accumulate, int M, int K, int N, float *scratch)
{
    (void)scratch;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = accumulate ? y[m * ldy + n] : 0;
            for (int k = 0; k < K; k++)
                sum = fmaf(a[m * a_row + k * a_k], b[k * b_k + n * b_col], sum);
            y[m * ldy + n] = sum;
        }
}

void ref_dots(float *e, long lde, const float *q, long ldq, const float *k, long ldk, float scale,
              bool accumulate, int T, int S, int D)
{
    for (int t = 0; t < T; t++)
        for (int j = 0; j < S; j++) {
            const float score = scale * ref_dot(q + t * ldq, k + j * ldk, D);
            e[t * lde + j] = accumulate ? e[t * lde + j] + score : score;
        }
}

void ref_attend(float *y, float *w, const float *q, const float *k, long ldk, const float *v,
                long ldv, const int *rows, float scale, int heads, int S, int d, int e)
{
    for (int h = 0; h < heads; h++, w += S, q += d, k += d, v += e, y += e) {
        for (int j = 0; j < S; j++)
            w[j] = scale * ref_dot(q, k + (rows ? rows[j] : j) * ldk, d);
        ref_softmax(w, w, NULL, S);
        for (int i = 0; i < e; i++) {
            float sum = 0;
            for (int j = 0; j < S; j++)
                sum = fmaf(w[j], v[(rows ? rows[j] : j) * ldv + i], sum);
            y[i] = sum;
        }
    }
}

/* ---- 8 bits ----------------------------------------------------------------------------------------------- */

/* What quantise sees: NaN as 0, infinities as the largest finite number. */
static float tamed(float x)
{
    const float low = -FLT_MAX, high = FLT_MAX;
    return x != x ? 0 : x < low ? low : x > high ? high : x;
}

void ref_quantise(int8_t *q, float *scale, const float *x, int n)
{
    float largest = 0;
    for (int i = 0; i < n; i++) {
        const float size = tamed(x[i]) < 0 ? -tamed(x[i]) : tamed(x[i]);
        largest = size > largest ? size : largest;
    }
    const bool is_nothing =
        largest < 0x1p-120f; /* 127 / largest would not be finite, or nearly so */
    const float factor = is_nothing ? 0 : 127 / largest;
    *scale = is_nothing ? 0 : largest / 127;
    for (int i = 0; i < n; i++)
        q[i] = (int8_t)rintf(tamed(x[i]) * factor);
    for (long i = n; i < hd_int8_stride(n); i++)
        q[i] = 0;
}

void ref_pack_int8(uint8_t *packed, const int8_t *w, long k_stride, long n_stride, int K, int N)
{
    for (int n0 = 0; n0 < N; n0 += HD_LANES)
        for (int k0 = 0; k0 < K; k0 += 4)
            for (int n = n0; n < n0 + HD_LANES; n++)
                for (int k = k0; k < k0 + 4; k++)
                    *packed++ =
                        (uint8_t)(128 + (n < N && k < K ? w[k * k_stride + n * n_stride] : 0));
}

static int32_t sum_int8(const int8_t *x, const uint8_t *packed, int n, int K)
{
    const uint8_t *w =
        packed + (size_t)(n / HD_LANES) * HD_LANES * (size_t)hd_int8_stride(K) + n % HD_LANES * 4;
    int32_t sum = 0;
    for (int k = 0; k < K; k++)
        sum += x[k] * ((int)w[(size_t)(k / 4) * HD_LANES * 4 + k % 4] - 128);
    return sum;
}

void ref_gemm_int8_sums(int32_t *y, long ldy, const int8_t *x, long ldx, const uint8_t *packed,
                        int M, int K, int N)
{
    assert(K <= HD_INT8_MAX_K);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            y[m * ldy + n] = sum_int8(x + m * ldx, packed, n, K);
}

void ref_gemm_int8(float *y, long ldy, const int8_t *x, long ldx, const float *x_scale,
                   const uint8_t *packed, const float *w_scale, const float *bias,
                   enum hd_function act, int M, int K, int N)
{
    assert(K <= HD_INT8_MAX_K);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const float sum = (float)sum_int8(x + m * ldx, packed, n, K);
            y[m * ldy + n] = activated(act, fmaf(sum, x_scale[m] * w_scale[n], bias ? bias[n] : 0));
        }
}

void ref_pack_int4(uint8_t *packed, const uint8_t *code, long n_stride, int K, int N)
{
    for (int n0 = 0; n0 < N; n0 += HD_LANES)
        for (int k0 = 0; k0 < K; k0 += 8)
            for (int n = n0; n < n0 + HD_LANES; n++)
                for (int k = k0; k < k0 + 4; k++) {
                    const int low = n < N && k < K ? code[n * n_stride + k] : 0;
                    const int high = n < N && k + 4 < K ? code[n * n_stride + k + 4] : 0;
                    *packed++ = (uint8_t)(low + 16 * high);
                }
}

static int32_t sum_int4(const int8_t *x, const uint8_t *packed, int n, int K)
{
    const uint8_t *w =
        packed + (size_t)(n / HD_LANES) * HD_LANES * 4 * ((size_t)(K + 7) / 8) + n % HD_LANES * 4;
    int32_t sum = 0;
    for (int k = 0; k < K; k++) {
        const int two = w[(size_t)(k / 8) * HD_LANES * 4 + k % 4];
        sum += x[k] * (2 * (k % 8 < 4 ? two % 16 : two / 16) - 15);
    }
    return sum;
}

void ref_bounds_int4(float *above, const int8_t *x, float x_scale, float reach,
                     const uint8_t *packed, const float *scale, const float *radius,
                     const float *bias, int K, int N)
{
    assert(K <= HD_INT8_MAX_K);
    for (int n = 0; n < N; n++) {
        const float sum = (float)sum_int4(x, packed, n, K);
        const float y = fmaf(sum, x_scale * scale[n], bias[n]), most = fmaf(reach, radius[n], y);
        float *panel = &above[n / HD_LANES];
        *panel = n % HD_LANES == 0 || most > *panel ? most + 0 : *panel;
    }
}

/* ---- bf16 -------------------------------------------------------------------------------------------------- */

void ref_to_bf16(uint16_t *y, long ldy, const float *x, long ldx, int rows, int n)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < hd_bf16_stride(n); i++)
            y[r * ldy + i] = i < n ? hd_bf16_of(x[r * ldx + i]) : 0;
}

void ref_pack_bf16(uint32_t *packed, const float *w, long k_stride, long n_stride, int K, int N)
{
    for (int n0 = 0; n0 < N; n0 += HD_LANES)
        for (int k = 0; k < K; k += 2)
            for (int n = n0; n < n0 + HD_LANES; n++) {
                const uint16_t even = n < N ? hd_bf16_of(w[k * k_stride + n * n_stride]) : 0;
                const uint16_t odd =
                    n < N && k + 1 < K ? hd_bf16_of(w[(k + 1) * k_stride + n * n_stride]) : 0;
                *packed++ = even | (uint32_t)odd << 16;
            }
}

void ref_gemm_bf16(float *y, long ldy, const uint16_t *x, long ldx, const uint32_t *packed,
                   const float *bias, bool accumulate, enum hd_function act, int M, int K, int N)
{
    const int pairs = (K + 1) / 2;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const uint32_t *w =
                packed + (size_t)(n / HD_LANES) * HD_LANES * (size_t)pairs + n % HD_LANES;
            float sum = accumulate ? y[m * ldy + n] : bias ? bias[n] : 0;
            for (int i = 0; i < pairs; i++, w += HD_LANES) {
                const uint16_t *pair = x + m * ldx + 2 * i;
                sum = hd_bf16_fma(hd_bf16_value(pair[1]), hd_bf16_value((uint16_t)(*w >> 16)), sum);
                sum = hd_bf16_fma(hd_bf16_value(pair[0]), hd_bf16_value((uint16_t)*w), sum);
            }
            y[m * ldy + n] = activated(act, sum);
        }
}

void ref_gemm_bf16_free(float *y, long ldy, const uint16_t *a, long lda, const uint16_t *b,
                        long ldb, bool accumulate, int M, int K, int N, float *scratch)
{
    (void)scratch;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = accumulate ? y[m * ldy + n] : 0;
            for (int i = 0; i < K; i += 2)
                for (int k = i + 1; k >= i; k--)
                    sum = hd_bf16_fma(k < K ? hd_bf16_value(a[k * lda + m]) : 0,
                                      k < K ? hd_bf16_value(b[k * ldb + n]) : 0, sum);
            y[m * ldy + n] = sum;
        }
}

static int whole_blocks(int K)
{
    return (K + HD_BF16_BLOCK - 1) / HD_BF16_BLOCK * HD_BF16_BLOCK;
}

void ref_gemm_bf16_blocks(float *y, long ldy, const uint16_t *x, long ldx, const uint32_t *packed,
                          const float *bias, bool accumulate, enum hd_function act, int M, int K,
                          int N)
{
    const int pairs = (K + 1) / 2;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const uint32_t *w =
                packed + (size_t)(n / HD_LANES) * HD_LANES * (size_t)pairs + n % HD_LANES;
            struct hd_bf16_sum s = {.sum = accumulate ? y[m * ldy + n] : bias ? bias[n] : 0};
            for (int k = 0; k < whole_blocks(K); k++) {
                const uint32_t pair = k < 2 * pairs ? w[(size_t)(k / 2) * HD_LANES] : 0;
                const uint16_t left = k < 2 * pairs ? x[m * ldx + k] : 0;
                hd_bf16_sum_add(&s, k, hd_bf16_value(left),
                                hd_bf16_value((uint16_t)(k % 2 ? pair >> 16 : pair)));
            }
            y[m * ldy + n] = activated(act, s.sum);
        }
}

void ref_gemm_bf16_blocks_free(float *y, long ldy, const uint16_t *a, long lda, const uint16_t *b,
                               long ldb, bool accumulate, int M, int K, int N, float *scratch)
{
    (void)scratch;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            struct hd_bf16_sum s = {.sum = accumulate ? y[m * ldy + n] : 0};
            for (int k = 0; k < whole_blocks(K); k++)
                hd_bf16_sum_add(&s, k, k < K ? hd_bf16_value(a[k * lda + m]) : 0,
                                k < K ? hd_bf16_value(b[k * ldb + n]) : 0);
            y[m * ldy + n] = s.sum;
        }
}
