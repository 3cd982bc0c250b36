/* fuzz_npz.c -- any bytes at all as one of numpy's archives: tensors, or a sentence. */
#include "fuzz/fuzz.h"

#include "format/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    struct hd_npz *file = hd_npz_open_memory("fuzz", data, size, &err);
    must((file != NULL) == (err.code == HEED_OK) && (file != NULL) == (err.message[0] == '\0'));
    if (!file)
        return 0;
    for (size_t i = 0; i < file->tensors.n; i++)
        use_tensor(&file->tensors, i);
    hd_npz_close(file);
    return 0;
}
