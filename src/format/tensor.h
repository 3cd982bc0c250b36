/* tensor.h -- a named array as files hold it: type, shape, bytes; and its way to floats and back.
 *
 * What the readers of this room (safetensors, npz) give out. The bytes are little-endian, rows
 * first (C order), and may begin anywhere: foreign files do not align. Nothing here knows what a
 * tensor is for. */
#ifndef HD_FORMAT_TENSOR_H
#define HD_FORMAT_TENSOR_H

#include <heed.h>

#include <stdint.h>

enum hd_dtype {
    HD_F32,
    HD_F16,
    HD_BF16,
    HD_F64,
    HD_I8,
    HD_U8,
    HD_I16,
    HD_U16,
    HD_I32,
    HD_U32,
    HD_I64,
    HD_U64,
    HD_BOOL,
    HD_N_DTYPES
};

/* "F32", "BF16", ...: the names of safetensors. */
const char *hd_dtype_name(enum hd_dtype dtype);

/* Bytes of one element. */
size_t hd_dtype_size(enum hd_dtype dtype);

/* The type of that name; false, and *dtype unchanged, when there is none. */
bool hd_dtype_by_name(enum hd_dtype *dtype, const char *name);

enum { HD_TENSOR_DIMS = 8 };

/* All pointers are borrowed from the reader that made it, until it is closed. */
struct hd_tensor {
    const char *name;
    const char *file; /* for sentences: where it was read, or where it is going */
    enum hd_dtype dtype;
    int n_dims; /* 0 is a single number */
    size_t dims[HD_TENSOR_DIMS];
    size_t n; /* number of elements: the product of dims, may be 0 */
    const void *data;
    size_t bytes; /* n times the size of an element */
};

/* A tensor over data of the caller. Product and sizes must fit: they are the caller's own. */
struct hd_tensor hd_tensor_of(const char *name, enum hd_dtype dtype, const void *data,
                              const size_t *dims, int n_dims);

/* The product of dims into *n; false when it is more than a machine can address. A 0 among them
 * hides no overflow of the others. */
bool hd_count_elements(size_t *n, const size_t *dims, int n_dims);

/* "[128, 512]" into `out`, for sentences; returns `out`. */
enum { HD_SHAPE_TEXT = HD_TENSOR_DIMS * 22 + 4 };
const char *hd_shape_text(char out[HD_SHAPE_TEXT], const struct hd_tensor *tensor);

/* Does the tensor have exactly these dims? */
bool hd_tensor_has_shape(const struct hd_tensor *tensor, const size_t *dims, int n_dims);

/* ---- to floats ------------------------------------------------------------------------------- */

/* All n elements as floats. F32, F16 and BF16 arrive exactly, NaN with its bits; F64 is rounded to
 * the nearest float, ties to even, and what is too large becomes infinite. False with
 * HEED_BAD_MODEL when the tensor has other than n elements or is not of a floating type. */
bool hd_read_f32(float *out, const struct hd_tensor *tensor, size_t n, heed_error *err);

/* The data itself when it is F32 and aligned as floats are; NULL when it has to be read. */
const float *hd_tensor_floats(const struct hd_tensor *tensor);

/* Are x[0..n) all finite? If not, *bad_at (may be NULL) is the index of the first that is not. */
bool hd_all_finite(const float *x, size_t n, size_t *bad_at);

/* The same for a tensor of a floating type as hd_read_f32() would read it, without memory and with
 * a sentence (HEED_BAD_MODEL) that names the place and the value. Integers are always finite. */
bool hd_check_finite(const struct hd_tensor *tensor, heed_error *err);

/* ---- half precision -------------------------------------------------------------------------- */

/* 16 bits to the float of the same value; NaN keeps its sign and bits. */
float hd_f32_of_f16(uint16_t half);
float hd_f32_of_bf16(uint16_t brain);

/* To the nearest, ties to even; what is too large becomes infinite, NaN stays one. */
uint16_t hd_f16_of_f32(float x);
uint16_t hd_bf16_of_f32(float x);

/* ---- many tensors ---------------------------------------------------------------------------- */

/* What a reader found, in the order of the data. {0} is none. */
struct hd_tensors {
    struct hd_tensor *at; /* at[0..n) */
    size_t n;
    const struct hd_tensor **by_name; /* the same, sorted by name */
};

/* The one of that name, or NULL. */
const struct hd_tensor *hd_tensors_find(const struct hd_tensors *tensors, const char *name);

/* For readers: sort by name. False with the reason in `err` when a name is there twice
 * (HEED_BAD_MODEL) or memory is short. */
bool hd_tensors_index(struct hd_tensors *tensors, heed_error *err);

/* Frees the lists, not what the tensors point to. Leaves {0}. */
void hd_tensors_release(struct hd_tensors *tensors);

#endif
