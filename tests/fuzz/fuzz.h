/* fuzz.h -- what fuzz targets share. A target is given bytes and must come back; what must be true
 * and is not, or a byte that is touched and is not there, ends the program. */
#ifndef HD_FUZZ_H
#define HD_FUZZ_H

#include "format/tensor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(claim) ((claim) ? (void)0 : abort())

/* Touch all there is of a tensor. */
static inline void use_tensor(const struct hd_tensors *tensors, size_t i)
{
    const struct hd_tensor *t = &tensors->at[i];
    char shape[HD_SHAPE_TEXT];
    heed_error err = {0};
    must(hd_tensors_find(tensors, t->name) == t);
    must(strlen(hd_shape_text(shape, t)) < sizeof shape);
    must(t->bytes == t->n * hd_dtype_size(t->dtype));
    volatile unsigned sum = 0;
    for (size_t k = 0; k < t->bytes; k++)
        sum += ((const unsigned char *)t->data)[k];
    (void)sum;
    float *x = malloc((t->n + 1) * sizeof *x);
    if (hd_read_f32(x, t, t->n, NULL))
        must(hd_all_finite(x, t->n, NULL) == hd_check_finite(t, &err));
    free(x);
}

#endif
