/* fuzz_import.c -- any bytes at all as the configuration of a Marian model, whose tensors are those
 * of a small one: a model, or a sentence. (Archives of any bytes are fuzz_npz's.) */
#include "fuzz/fuzz.h"

#include "model/import.h"
#include "model/marian.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct marian m;
    static const char *const vocabs[] = {MARIAN_VOCAB};
    heed_error err = {0};
    if (size > 4096)
        return 0;
    m = (struct marian){0};
    marian_add_yaml(&m, data, size);
    if (size > 10 && memcmp(data, "type: amun", 10) == 0)
        marian_add_amun(&m);
    else
        marian_add_transformer(&m);
    finish_archive(&m.archive);
    heed_model *model = hd_import_memory("fuzz", m.archive.bytes, m.archive.n, vocabs, 1, &err);
    must((model != NULL) == (err.code == HEED_OK) && (model != NULL) == (err.message[0] == '\0'));
    heed_model_free(model);
    return 0;
}
