/* record.h -- what a model's file says about how it was made. */
#ifndef HD_MODEL_RECORD_H
#define HD_MODEL_RECORD_H

#include "model/model_file.h"

/* Lines "name = value" for --config: the recipe of the training run, then the configuration. To be given to hd_free(); NULL with the
 * reason in `err` (HEED_BAD_MODEL: nothing is recorded). */
char *hd_model_recipe(const heed_model *model, heed_error *err);
#endif
