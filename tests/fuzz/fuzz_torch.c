/* fuzz_torch.c -- any bytes at all as a file of torch.save(): tensors that lie inside it, or a sentence. What does not begin as one is
 * the pickle of a zip with one storage, so that pickles are reached without checksums. */
#include "fuzz/fuzz.h"

#include "format/archive.h"
#include "format/torch.h"

#include <stdio.h>

static void look(const void *data, size_t size)
{
    heed_error err = {0};
    struct hd_torch *file = hd_torch_open_memory("fuzz", data, size, &err);
    must((file != NULL) == (err.code == HEED_OK) && (file != NULL) == (err.message[0] == '\0'));
    for (size_t i = 0; file && i < file->tensors.n; i++)
        use_tensor(&file->tensors, i);
    hd_torch_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct archive a;
    static const unsigned char storage[64];
    if (size > 4096)
        return 0;
    look(data, size);
    a = (struct archive){0};
    add_stored(&a, "archive/data.pkl", data, size);
    add_stored(&a, "archive/data/0", storage, sizeof storage);
    finish_archive(&a);
    look(a.bytes, a.n);
    return 0;
}
