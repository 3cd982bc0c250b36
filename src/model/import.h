/* import.h -- other toolkits' models as models of heed. The kind is recognised from the file or folder itself. */
#ifndef HD_MODEL_IMPORT_H
#define HD_MODEL_IMPORT_H

#include "model/model_file.h"

/* heed_model_import() of a Marian model, with one or two vocabularies. */
heed_model *hd_import_marian(const char *path, const char *const *vocabs, int n_vocabs,
                             heed_error *err);

/* The same from bytes that are only read during the call; `name` is for sentences. */
heed_model *hd_import_memory(const char *name, const void *data, size_t size,
                             const char *const *vocabs, int n_vocabs, heed_error *err);

/* heed_model_import() of a folder of Hugging Face's transformers: MarianMT (OPUS-MT), and Pegasus with the files of MarianMT's tokenizer. */
heed_model *hd_import_hf(const char *folder, heed_error *err);

/* heed_model_import() of a folder of CTranslate2 with a Transformer. Its vocabularies are lists; those that are given are SentencePiece models
 * that cut text into their tokens. */
heed_model *hd_import_ct2(const char *folder, const char *const *vocabs, int n_vocabs,
                          heed_error *err);

#endif
