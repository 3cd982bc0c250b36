/* marian_bin.h -- reading model.bin of Marian: named arrays, as marian-conv writes them to be mapped into memory.
 *
 *     version (8 bytes, 1), number of arrays (8 bytes)
 *     of each: length of its name with a NUL, type, number of dimensions, bytes (8 bytes each)
 *     the names; the dimensions, 4 bytes each; a number of zeros, and these; then the arrays, each filled up to a multiple of 256
 *
 * Read: numbers (f16 f32 f64, integers), and weights of 8 or 16 bits as Marian packs them for any CPU (intgemm8, intgemm16), which are given
 * out as floats. What is packed for one CPU alone, and what is encrypted, is refused with a sentence. Files are not trusted, as elsewhere
 * in this room. */
#ifndef HD_FORMAT_MARIAN_BIN_H
#define HD_FORMAT_MARIAN_BIN_H

#include "base/arena.h"
#include "base/file.h"
#include "format/tensor.h"

/* An open file; its fields are for reading. */
struct hd_marian_bin {
    char *path;
    struct hd_tensors tensors; /* in the order of the file */
    struct hd_map map;         /* {0} when over memory of the caller */
    struct hd_arena arena;     /* numbers that were packed */
};

/* Open a file, to be given to hd_marian_bin_close(). NULL with the reason in `err`: HEED_BAD_FILE, HEED_BAD_MODEL, HEED_NO_MEMORY. */
struct hd_marian_bin *hd_marian_bin_open(const char *path, heed_error *err);

/* The same over bytes in memory, which must stay until close. `name` is for sentences. */
struct hd_marian_bin *hd_marian_bin_open_memory(const char *name, const void *data, size_t size,
                                                heed_error *err);

/* NULL is fine. */
void hd_marian_bin_close(struct hd_marian_bin *file);

/* Do the first bytes say that it is one? */
bool hd_is_marian_bin(const void *data, size_t size);

#endif
