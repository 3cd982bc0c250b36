/* fuzz_vectors.c -- any bytes at all as a file of vectors: items that can be read, or a sentence. */
#include "fuzz/fuzz.h"

#include "vector/vectors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    struct hd_vectors v = {0};
    const bool ok = size > 0 && hd_vectors_open_memory(&v, "fuzz", data, size, &err);
    must(size == 0 || ok == (err.code == HEED_OK));
    for (int i = 0; ok && i < v.n; i++) {
        const int n = hd_vectors_length(&v, i);
        int rows, columns;
        hd_vectors_grid(&v, i, &rows, &columns);
        must(n > 0 && (rows == 0 || rows * columns == n));
        float *x = malloc((size_t)n * (size_t)v.width * sizeof *x);
        must(x);
        if (hd_vectors_read(&v, i, x, NULL))
            must(hd_all_finite(x, (size_t)n * (size_t)v.width, NULL));
        free(x);
    }
    hd_vectors_close(&v);
    return 0;
}
