/* safetensors.h -- the file a model lives in: a JSON header, then the tensors' bytes, nothing else.
 *
 *     8 bytes   length of the header, little-endian
 *     header    {"__metadata__": {"key": "text", ...},
 *                "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *     data      the tensors, one after the other, without gaps
 *
 * A file may carry checksums (base/checksum.h) in its metadata, under "checksums": 16 hexadecimal digits for the header with the
 * length before it, then 16 for each tensor in the order of their bytes. The header's own digits count as zeros in its checksum.
 *
 * Files are not trusted: whatever the bytes are, the answer is tensors that lie inside the file
 * or a sentence. Writing the same gives the same bytes. */
#ifndef HD_FORMAT_SAFETENSORS_H
#define HD_FORMAT_SAFETENSORS_H

#include "base/file.h"
#include "format/tensor.h"

#define HD_METADATA  "__metadata__"
#define HD_CHECKSUMS "checksums" /* the key in it */

enum { HD_LARGEST_HEADER = 1 << 24 }; /* bytes; a thousand tensors take about 100 KiB */

/* ---- reading --------------------------------------------------------------------------------- */

/* An open file; its fields are for reading. */
struct hd_safetensors {
    char *path;
    struct hd_tensors tensors;  /* in the order of their bytes */
    struct hd_map map;          /* {0} when over memory of the caller */
    void *header;               /* the parsed JSON: names and metadata live in it */
    const char *data;           /* the file's bytes */
    const char **metadata_keys; /* in alphabetical order */
    size_t n_metadata;
};

/* Open a file, to be given to hd_safetensors_close(). It is mapped, so opening reads the header
 * only. NULL with the reason in `err`: HEED_BAD_FILE (missing, not readable), HEED_BAD_MODEL (its
 * contents contradict themselves), HEED_NO_MEMORY. */
struct hd_safetensors *hd_safetensors_open(const char *path, heed_error *err);

/* The same over bytes in memory, which must stay until close. `name` is for sentences. */
struct hd_safetensors *hd_safetensors_open_memory(const char *name, const void *data, size_t size,
                                                  heed_error *err);

/* NULL is fine. */
void hd_safetensors_close(struct hd_safetensors *file);

/* The tensor of that name, or NULL; file->tensors.at[i] is the i-th. */
const struct hd_tensor *hd_safetensors_find(const struct hd_safetensors *file, const char *name);

/* Compare all bytes with the checksums; true as well when the file has none. False with HEED_BAD_MODEL in `err` and a sentence that
 * names the file and the tensor, or the header. */
bool hd_safetensors_check(const struct hd_safetensors *file, heed_error *err);

/* The same in parts: the header first, then single tensors of the file. */
bool hd_safetensors_check_header(const struct hd_safetensors *file, heed_error *err);
bool hd_safetensors_check_tensor(const struct hd_safetensors *file, const struct hd_tensor *t,
                                 heed_error *err);

/* The text noted under a key of the metadata, or NULL; file->metadata_keys has them all. Lives
 * until close. */
const char *hd_safetensors_metadata(const struct hd_safetensors *file, const char *key);

/* ---- writing --------------------------------------------------------------------------------- */

/* What is going to be a file. {0} is nothing yet. Tensors and notes are collected, then written:
 *
 *     struct hd_saver s = {0};
 *     for (...)
 *         hd_saver_add(&s, hd_tensor_of(name, HD_F32, values, dims, n_dims), HD_F16);
 *     hd_saver_note(&s, "heed.config", json);
 *     const bool ok = hd_saver_write(&s, path, err);
 *     hd_saver_release(&s);
 *
 * The first failure is kept and reported by hd_saver_write(). */
struct hd_saver {
    struct hd_saved *tensors;
    size_t n_tensors, tensors_capacity;
    struct hd_note *notes;
    size_t n_notes, notes_capacity;
    bool has_checksums; /* to be set by the caller: write them, too */
    heed_error err;
};

/* Add a tensor, stored as `store`: its own type, or F32 as F16 or BF16, rounded to nearest with
 * ties to even. The name is copied, the data must stay until written. Refused: a name that is there
 * already, "__metadata__", a name that is not UTF-8, another change of type. */
void hd_saver_add(struct hd_saver *saver, struct hd_tensor tensor, enum hd_dtype store);

/* Add text under a key to the metadata. Both are copied; both are UTF-8; a key that is there
 * already is refused. */
void hd_saver_note(struct hd_saver *saver, const char *key, const char *value);

/* Write it all under `path`, whole or not at all (base/file.h). Elements of many bytes come first
 * and the data begins at a multiple of 64, so that all tensors are aligned; the order is otherwise
 * the one they were added in. False with the reason in `err`; a number too large for the type it
 * is to be stored in is HEED_BAD_OPTION and names the tensor. The saver may be written again. */
bool hd_saver_write(struct hd_saver *saver, const char *path, heed_error *err);

/* Leaves {0}. */
void hd_saver_release(struct hd_saver *saver);

#endif
