/* torch.h -- reading the files of torch.save(): a dict of tensors, such as pytorch_model.bin.
 *
 * Read: the zip of today (a pickle, and a member for the bytes of each storage) and what torch wrote before 1.6 (pickles, then the
 * storages one after the other). The pickle is read as plain values (format/pickle.h): nothing is executed, and whatever is no tensor is
 * refused with a sentence. Files are not trusted, as elsewhere in this room. */
#ifndef HD_FORMAT_TORCH_H
#define HD_FORMAT_TORCH_H

#include "base/arena.h"
#include "base/file.h"
#include "format/tensor.h"

/* An open file; its fields are for reading. */
struct hd_torch {
    char *path;
    struct hd_tensors tensors; /* in the order of the dict */
    struct hd_map map;         /* {0} when over memory of the caller */
    struct hd_arena arena;     /* names and pickled values */
    void **memory;             /* members that had to be unpacked */
    size_t n_memory;
};

/* Open a file, to be given to hd_torch_close(). NULL with the reason in `err`: HEED_BAD_FILE,
 * HEED_BAD_MODEL, HEED_NO_MEMORY. */
struct hd_torch *hd_torch_open(const char *path, heed_error *err);

/* The same over bytes in memory, which must stay until close. `name` is for sentences. */
struct hd_torch *hd_torch_open_memory(const char *name, const void *data, size_t size,
                                      heed_error *err);

/* NULL is fine. */
void hd_torch_close(struct hd_torch *file);

#endif
