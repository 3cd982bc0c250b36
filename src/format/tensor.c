/* tensor.c -- named arrays: their types and shapes, and the way to floats and back.
 *
 * Half precision goes through integers, so that every compiler and CPU gives the same bits, NaN
 * included. Invariant: file bytes are only ever read with memcpy, since they may begin anywhere. */
#include "format/tensor.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files are little-endian, and read as they are");

/* ---- types and shapes ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t size;
} dtypes[HD_N_DTYPES] = {
    [HD_F32] = {"F32", 4},   [HD_F16] = {"F16", 2}, [HD_BF16] = {"BF16", 2}, [HD_F64] = {"F64", 8},
    [HD_I8] = {"I8", 1},     [HD_U8] = {"U8", 1},   [HD_I16] = {"I16", 2},   [HD_U16] = {"U16", 2},
    [HD_I32] = {"I32", 4},   [HD_U32] = {"U32", 4}, [HD_I64] = {"I64", 8},   [HD_U64] = {"U64", 8},
    [HD_BOOL] = {"BOOL", 1},
};

const char *hd_dtype_name(enum hd_dtype dtype)
{
    assert((unsigned)dtype < HD_N_DTYPES);
    return dtypes[dtype].name;
}

size_t hd_dtype_size(enum hd_dtype dtype)
{
    assert((unsigned)dtype < HD_N_DTYPES);
    return dtypes[dtype].size;
}

bool hd_dtype_by_name(enum hd_dtype *dtype, const char *name)
{
    for (int i = 0; i < HD_N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = (enum hd_dtype)i;
            return true;
        }
    return false;
}

bool hd_count_elements(size_t *n, const size_t *dims, int n_dims)
{
    size_t product = 1;
    bool is_empty = false;
    for (int i = 0; i < n_dims; i++) {
        if (dims[i] == 0)
            is_empty = true;
        else if (!hd_mul_size(&product, product, dims[i]))
            return false;
    }
    if (product > PTRDIFF_MAX)
        return false;
    *n = is_empty ? 0 : product;
    return true;
}

struct hd_tensor hd_tensor_of(const char *name, enum hd_dtype dtype, const void *data,
                              const size_t *dims, int n_dims)
{
    assert(n_dims >= 0 && n_dims <= HD_TENSOR_DIMS);
    struct hd_tensor t = {.name = name, .file = "", .dtype = dtype, .n_dims = n_dims, .data = data};
    for (int i = 0; i < n_dims; i++)
        t.dims[i] = dims[i];
    const bool fits =
        hd_count_elements(&t.n, dims, n_dims) && hd_mul_size(&t.bytes, t.n, hd_dtype_size(dtype));
    assert(fits);
    (void)fits;
    return t;
}

const char *hd_shape_text(char out[HD_SHAPE_TEXT], const struct hd_tensor *tensor)
{
    char *at = out;
    *at++ = '[';
    for (int i = 0; i < tensor->n_dims; i++)
        at += sprintf(at, "%s%zu", i > 0 ? ", " : "", tensor->dims[i]);
    strcpy(at, "]");
    return out;
}

bool hd_tensor_has_shape(const struct hd_tensor *tensor, const size_t *dims, int n_dims)
{
    return tensor->n_dims == n_dims &&
           (n_dims == 0 || memcmp(tensor->dims, dims, (size_t)n_dims * sizeof *dims) == 0);
}

/* ---- half precision -------------------------------------------------------------------------- */

static float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* F16: 1 sign, 5 exponent (bias 15), 10 fraction. F32: 1, 8 (bias 127), 23. Exponent and fraction, put where a float has
 * them, are the number times 2^(15-127), subnormals as well; infinities and NaN get the greatest exponent. Without
 * branches, as it is done for every number of a model. */
static inline float widen(uint16_t half)
{
    const float magnitude = float_of_bits((half & 0x7FFFU) << 13) * 0x1p112F;
    const uint32_t is_infinite = (half & 0x7C00U) == 0x7C00U;
    return float_of_bits(bits_of_float(magnitude) | is_infinite * 0x7F800000U |
                         (half & 0x8000U) << 16);
}

float hd_f32_of_f16(uint16_t half)
{
    return widen(half);
}

float hd_f32_of_bf16(uint16_t brain)
{
    return float_of_bits((uint32_t)brain << 16);
}

/* bits / 2^n to the nearest integer, ties to even; 1 <= n <= 31. */
static uint32_t shift_to_nearest(uint32_t bits, int n)
{
    const uint32_t half = 1U << (n - 1);
    const uint32_t rest = bits & ((1U << n) - 1);
    const uint32_t whole = bits >> n;
    return whole + (rest > half || (rest == half && (whole & 1)));
}

uint16_t hd_f16_of_f32(float x)
{
    const uint32_t bits = bits_of_float(x);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000U);
    const uint32_t size = bits & 0x7FFFFFFFU;
    if (size >
        0x7F800000U) /* NaN: what fits of it, and quiet, so that it is not taken for infinite */
        return (uint16_t)(sign | 0x7E00U | (size >> 13 & 0x3FFU));
    if (size >= 0x47800000U) /* 2^16 and more */
        return (uint16_t)(sign | 0x7C00U);
    if (size >=
        0x38800000U) /* 2^-14 and more: normal. A carry runs into the exponent, up to infinity. */
        return (uint16_t)(sign | shift_to_nearest(size - (112U << 23), 13));
    if (size < 0x33000000U) /* less than 2^-25 */
        return sign;
    const int exponent = (int)(size >> 23); /* 102 to 112; the result counts in 2^-24 */
    return (uint16_t)(sign | shift_to_nearest((size & 0x7FFFFFU) | 0x800000U, 126 - exponent));
}

uint16_t hd_bf16_of_f32(float x)
{
    const uint32_t bits = bits_of_float(x);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U)
        return (uint16_t)(bits >> 16 | 0x40U);
    return (uint16_t)shift_to_nearest(bits, 16);
}

/* ---- to floats ------------------------------------------------------------------------------- */

static bool is_floating(enum hd_dtype dtype)
{
    return dtype == HD_F32 || dtype == HD_F16 || dtype == HD_BF16 || dtype == HD_F64;
}

/* Elements first .. first + n of a tensor of a floating type. */
static void convert(float *out, const struct hd_tensor *tensor, size_t first, size_t n)
{
    const char *from = (const char *)tensor->data + first * hd_dtype_size(tensor->dtype);
    enum { N_TOGETHER = 16 }; /* a number that compilers know makes vectors of */
    uint16_t half, together[N_TOGETHER];
    double wide;
    switch (tensor->dtype) {
    case HD_F32:
        memcpy(out, from, n * sizeof *out);
        break;
    case HD_F16:
        for (; n >= N_TOGETHER; n -= N_TOGETHER, out += N_TOGETHER, from += sizeof together) {
            memcpy(together, from, sizeof together);
            for (int i = 0; i < N_TOGETHER; i++)
                out[i] = widen(together[i]);
        }
        for (size_t i = 0; i < n; i++)
            out[i] = widen((memcpy(&half, from + 2 * i, 2), half));
        break;
    case HD_BF16:
        for (size_t i = 0; i < n; i++)
            out[i] = hd_f32_of_bf16((memcpy(&half, from + 2 * i, 2), half));
        break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(memcpy(&wide, from + 8 * i, 8), wide);
    }
}

bool hd_read_f32(float *out, const struct hd_tensor *tensor, size_t n, heed_error *err)
{
    char shape[HD_SHAPE_TEXT];
    if (!is_floating(tensor->dtype))
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the tensor %s has numbers of type %s where F32, F16, BF16 or F64 is "
                       "needed; this is not the tensor it should be",
                       tensor->file, hd_quote(tensor->name).text, hd_dtype_name(tensor->dtype));
    if (tensor->n != n)
        return hd_fail(
            err, HEED_BAD_MODEL,
            "%s: the tensor %s has the shape %s, %zu numbers, where %zu are needed; this "
            "is not the tensor it should be",
            tensor->file, hd_quote(tensor->name).text, hd_shape_text(shape, tensor), tensor->n, n);
    if (n > 0)
        convert(out, tensor, 0, n);
    return true;
}

const float *hd_tensor_floats(const struct hd_tensor *tensor)
{
    const bool is_aligned = (uintptr_t)tensor->data % _Alignof(float) == 0;
    return tensor->dtype == HD_F32 && is_aligned ? tensor->data : NULL;
}

enum { BLOCK = 256 };

static bool is_finite(float x)
{
    return (bits_of_float(x) & 0x7F800000U) != 0x7F800000U;
}

/* Nothing is decided inside a block, so that the compiler takes several numbers at a time. */
static bool block_is_finite(const float *x)
{
    unsigned n_bad = 0;
    for (int i = 0; i < BLOCK; i++)
        n_bad += !is_finite(x[i]);
    return n_bad == 0;
}

bool hd_all_finite(const float *x, size_t n, size_t *bad_at)
{
    size_t i = 0;
    while (n - i >= BLOCK && block_is_finite(x + i))
        i += BLOCK;
    while (i < n && is_finite(x[i]))
        i++;
    if (i < n && bad_at)
        *bad_at = i;
    return i == n;
}

bool hd_check_finite(const struct hd_tensor *tensor, heed_error *err)
{
    enum { AT_ONCE = 4 * BLOCK };
    float some[AT_ONCE];
    if (!is_floating(tensor->dtype))
        return true;
    for (size_t first = 0; first < tensor->n; first += AT_ONCE) {
        const size_t n = tensor->n - first < AT_ONCE ? tensor->n - first : AT_ONCE;
        size_t bad;
        convert(some, tensor, first, n);
        if (!hd_all_finite(some, n, &bad))
            return hd_fail(
                err, HEED_BAD_MODEL,
                "%s: number %zu of the tensor %s is %s, so nothing computed with it would "
                "mean anything; the training that wrote it went astray, or the file was "
                "damaged",
                tensor->file, first + bad, hd_quote(tensor->name).text,
                isnan(some[bad]) ? "not a number (NaN)" : "infinite");
    }
    return true;
}

/* ---- many tensors ---------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const struct hd_tensor *const *x = a;
    const struct hd_tensor *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

bool hd_tensors_index(struct hd_tensors *tensors, heed_error *err)
{
    tensors->by_name = hd_alloc(tensors->n, sizeof(struct hd_tensor *), err);
    if (!tensors->by_name)
        return false;
    for (size_t i = 0; i < tensors->n; i++)
        tensors->by_name[i] = &tensors->at[i];
    qsort(tensors->by_name, tensors->n, sizeof(struct hd_tensor *), compare_names);
    for (size_t i = 1; i < tensors->n; i++)
        if (compare_names(&tensors->by_name[i - 1], &tensors->by_name[i]) == 0)
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: there are two tensors with the name %s; the program that wrote the "
                           "file made a mistake, write it again",
                           tensors->by_name[i]->file, hd_quote(tensors->by_name[i]->name).text);
    return true;
}

const struct hd_tensor *hd_tensors_find(const struct hd_tensors *tensors, const char *name)
{
    size_t low = 0, high = tensors->n; /* it is in by_name[low..high) or nowhere */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, tensors->by_name[middle]->name);
        if (order == 0)
            return tensors->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

void hd_tensors_release(struct hd_tensors *tensors)
{
    hd_free(tensors->at);
    hd_free(tensors->by_name);
    *tensors = (struct hd_tensors){0};
}
