/* foreign.h -- another toolkit's tensors on their way into a net of heed.
 *
 * Every tensor must find its place: what is left over would be a part of the model that was not understood. Of a configuration that asks
 * for more than the file holds no memory is taken. */
#ifndef HD_MODEL_FOREIGN_H
#define HD_MODEL_FOREIGN_H

#include "model/model_file.h"

struct hd_foreign {
    const char *path; /* for sentences */
    const struct hd_tensors *tensors;
    bool *is_used; /* by number of tensor */
    int n_copies;  /* how many times over its tensors may be asked for; 0: once */
    struct hd_net *net;
    heed_error *err;
};

/* To be given to hd_foreign_release(), also after a failure. */
bool hd_foreign_init(struct hd_foreign *foreign, const char *path, const struct hd_tensors *tensors,
                     heed_error *err);
void hd_foreign_release(struct hd_foreign *foreign);

/* Check the configuration and make its net. */
bool hd_foreign_make(struct hd_foreign *foreign, struct hd_config *config);

/* The tensor of that name, or NULL. */
const struct hd_tensor *hd_foreign_find(const struct hd_foreign *foreign, const char *name);

/* A tensor that is known and not needed; one that is not there is fine. */
void hd_foreign_skip(struct hd_foreign *foreign, const char *name);

/* Where a tensor goes: to the columns [at, at+columns) of rows that are `width` wide. */
struct hd_foreign_place {
    float *to;
    int rows, columns, at, width;
    bool is_turned; /* it is [columns, rows] in the file */
    bool is_added;  /* to what is there */
    int part,
        n_parts; /* it is one of several such tensors, one below the other; 0 parts: it alone */
};

/* Read a tensor of such a shape; of one row it may be a vector. False with a sentence that names it. */
bool hd_foreign_read(struct hd_foreign *foreign, const char *name,
                     const struct hd_foreign_place *place);

/* The whole of one of our parameters, as it is or turned. */
bool hd_foreign_take(struct hd_foreign *foreign, const char *theirs, bool is_turned,
                     const char *ours);

/* Is a table [n,dim] that of the sinusoids of a configuration, sin before cos, in f16 perhaps? False where that cannot be told, with the
 * reason. */
bool hd_foreign_is_sinusoid(const struct hd_foreign *foreign, const struct hd_config *config,
                            const struct hd_tensor *table, bool *is);

/* Has each tensor found its place? */
bool hd_foreign_is_done(const struct hd_foreign *foreign);

/* The model of it all. Takes the net, the vocabularies and the record, also when it fails. `source`, `target` or `record` may be NULL when
 * making them failed: then this does. */
heed_model *hd_foreign_model(struct hd_foreign *foreign, struct hd_vocab *source,
                             struct hd_vocab *target, json_t *record);

#endif
