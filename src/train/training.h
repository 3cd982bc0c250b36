/* training.h -- a run in the making: what the user has said. heed.h has the functions. */
#ifndef HD_TRAIN_TRAINING_H
#define HD_TRAIN_TRAINING_H

#include "exchange/pairs.h"
#include "model/presets.h"
#include "train/recipe.h"

/* One thing that was said. Fields of the model wait here until its preset is known. */
struct hd_setting {
    const heed_option *option;
    char *text;
};

struct heed_training {
    struct hd_recipe recipe;
    struct hd_preset_choice preset;
    struct hd_setting *settings; /* in the order in which they were said */
    size_t n_settings, capacity;
    struct hd_paths read; /* files of settings */
};

/* Was the option of this name given? */
bool hd_training_is_given(const heed_training *training, const char *name);

/* Set the fields of a model that were given. */
bool hd_training_configure(const heed_training *training, struct hd_config *config,
                           heed_error *err);

/* What the model is to give, as it was said. */
enum hd_task hd_training_task(const heed_training *training);

/* What it is to read, as it was said. */
enum hd_source_type hd_training_source(const heed_training *training);

#endif
