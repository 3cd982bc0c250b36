/* ctranslate2.h -- reading model.bin of CTranslate2: named variables, one after the other, and other names for some of them.
 *
 *     version (4 bytes); from version 2 on the name of a kind of model and its revision
 *     a number of variables: name, dimensions, type (before version 4 the size of an element), bytes
 *     from version 3 on a number of aliases: another name, name
 *
 * Read: versions 1 to 6. What is stored in 8 or 16 bits beside a scale is given out as floats. Files are not trusted, as elsewhere in
 * this room. */
#ifndef HD_FORMAT_CTRANSLATE2_H
#define HD_FORMAT_CTRANSLATE2_H

#include "base/arena.h"
#include "base/file.h"
#include "format/tensor.h"

/* An open file; its fields are for reading. */
struct hd_ct2 {
    char *path;
    unsigned version;
    const char *kind;          /* "TransformerSpec"; "" in files of version 1 */
    struct hd_tensors tensors; /* aliases included; scales that have been used are left out */
    struct hd_map map;         /* {0} when over memory of the caller */
    struct hd_arena arena;     /* names, and numbers that were scaled */
};

/* Open a file, to be given to hd_ct2_close(). NULL with the reason in `err`: HEED_BAD_FILE, HEED_BAD_MODEL, HEED_NO_MEMORY. */
struct hd_ct2 *hd_ct2_open(const char *path, heed_error *err);

/* The same over bytes in memory, which must stay until close. `name` is for sentences. */
struct hd_ct2 *hd_ct2_open_memory(const char *name, const void *data, size_t size, heed_error *err);

/* NULL is fine. */
void hd_ct2_close(struct hd_ct2 *file);

#endif
