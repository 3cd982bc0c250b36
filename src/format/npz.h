/* npz.h -- reading numpy's archives, the files in which Marian and others keep their weights: a zip
 * with one .npy array in each member. A .npy file itself is read as an archive of one, named "array".
 *
 * Read: members stored or deflated, .npy of version 1, 2 and 3, numbers (f2 f4 f8, i1 to i8, u1 to
 * u8, b1) little-endian and rows first. Each checksum is compared. Everything else, zip64 and
 * encryption included, is refused with a sentence. Files are not trusted: whatever the bytes
 * are, the answer is tensors or a sentence, and memory stays within 64 MiB or 100 times
 * the file. */
#ifndef HD_FORMAT_NPZ_H
#define HD_FORMAT_NPZ_H

#include "base/file.h"
#include "format/tensor.h"

/* An open archive; its fields are for reading. */
struct hd_npz {
    char *path;
    struct hd_tensors tensors; /* in the order of the archive's directory; names without ".npy" */
    struct hd_map map;         /* {0} when over memory of the caller */
    struct hd_npz_member *members;
    size_t n_members;
};

/* Open a file, to be given to hd_npz_close(). NULL with the reason in `err`: HEED_BAD_FILE
 * (missing, not readable), HEED_BAD_MODEL (its contents contradict themselves or are of a kind that
 * is not read), HEED_NO_MEMORY. */
struct hd_npz *hd_npz_open(const char *path, heed_error *err);

/* The same over bytes in memory, which must stay until close. `name` is for sentences. */
struct hd_npz *hd_npz_open_memory(const char *name, const void *data, size_t size, heed_error *err);

/* NULL is fine. */
void hd_npz_close(struct hd_npz *file);

/* The array of that name (without ".npy"), or NULL; file->tensors.at[i] is the i-th. */
const struct hd_tensor *hd_npz_find(const struct hd_npz *file, const char *name);

#endif
