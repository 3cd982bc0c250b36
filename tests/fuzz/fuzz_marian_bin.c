/* fuzz_marian_bin.c -- any bytes at all as a model.bin of Marian: tensors, or a sentence. */
#include "fuzz/fuzz.h"

#include "format/marian_bin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    struct hd_marian_bin *file = hd_marian_bin_open_memory("fuzz", data, size, &err);
    must((file != NULL) == (err.code == HEED_OK) && (file != NULL) == (err.message[0] == '\0'));
    for (size_t i = 0; file && i < file->tensors.n; i++)
        use_tensor(&file->tensors, i);
    hd_marian_bin_close(file);
    return 0;
}
