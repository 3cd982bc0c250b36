/* fuzz_safetensors.c -- any bytes at all as a safetensors file: tensors inside the bytes, or a
 * sentence. */
#include "fuzz/fuzz.h"

#include "format/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    struct hd_safetensors *file = hd_safetensors_open_memory("fuzz", data, size, &err);
    must((file != NULL) == (err.code == HEED_OK) && (file != NULL) == (err.message[0] == '\0'));
    if (!file)
        return 0;
    for (size_t i = 0; i < file->tensors.n; i++)
        use_tensor(&file->tensors, i);
    for (size_t i = 0; i < file->n_metadata; i++)
        must(hd_safetensors_metadata(file, file->metadata_keys[i]));
    hd_safetensors_close(file);
    return 0;
}
