/* import.h -- other toolkits' models as models of heed. The kind is recognised from the file itself. */
#ifndef HD_MODEL_IMPORT_H
#define HD_MODEL_IMPORT_H

#include "model/model_file.h"

/* heed_model_import() of a Marian model, from bytes that are only read during the call, with one or two vocabularies; `name` is for sentences. */
heed_model *hd_import_memory(const char *name, const void *data, size_t size,
                             const char *const *vocabs, int n_vocabs, heed_error *err);
#endif
