/* model_file.h -- a model as one file: configuration and record as JSON in the metadata, parameters and vocabularies as tensors.
 *
 * Any reader of safetensors opens it. Reading believes nothing: tensors that are missing, too many, of another shape or type, or
 * not finite are refused, each with its sentence. Writing the same model gives the same bytes. */
#ifndef HD_MODEL_MODEL_FILE_H
#define HD_MODEL_MODEL_FILE_H

#include "format/tensor.h"
#include "model/model.h"
#include "text/vocab.h"
#include "vector/feature.h"

#include <jansson.h>

/* The public heed_model. */
struct heed_model {
    struct hd_net *net;
    struct hd_vocab *source, *target; /* one and the same when the languages share it */
    json_t *record; /* what made it: an object, "languages" and the like; never NULL */
    struct hd_model_languages *languages; /* as the record has them (languages.h); never NULL */
    struct hd_detector *detector;         /* tells them apart; NULL: there is none */
    struct hd_feature *feature; /* how its vectors are made; NULL: nobody knows, or it reads text */
    size_t
        stored[HD_N_DTYPES]; /* how many numbers its file had of each type; zeros without a file */
};

/* A model of these parts, which it owns from now on (also when this fails). target may be source. record may be NULL. The
 * vocabularies' sizes must be those of the net. */
heed_model *hd_model_of(struct hd_net *net, struct hd_vocab *source, struct hd_vocab *target,
                        json_t *record, heed_error *err);

/* Note how vectors are made, where that is known; a copy is kept. */
bool hd_model_set_feature(heed_model *model, const struct hd_feature *feature, heed_error *err);

/* Parameters as `store`: HD_F32, HD_F16, HD_BF16, or HD_I8, which means matrices in 8 bits (X as I8, X.scale as F32) and the rest as
 * F32. */
bool hd_model_save(const heed_model *model, const char *path, enum hd_dtype store, heed_error *err);

/* heed_model_load() for a way to compute. */
heed_model *hd_model_load_as(const char *path, enum hd_compute compute, heed_error *err);
#endif
