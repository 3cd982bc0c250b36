/* training.h -- a run in the making: what the user has said, and running it. */
#ifndef HD_TRAIN_TRAINING_H
#define HD_TRAIN_TRAINING_H

#include "train/recipe.h"

/* A field of the model that was named. */
struct hd_model_setting {
    char *name, *value;
};

struct heed_training {
    struct hd_recipe recipe;
    bool *is_given; /* [hd_n_recipe_fields] */
    char *arch, *size;
    struct hd_model_setting *settings;
    size_t n_settings, settings_capacity;
};

heed_training *hd_training_new(heed_error *err);
void hd_training_free(heed_training *training);
bool hd_training_set(heed_training *training, const char *name, const char *value, heed_error *err);
bool hd_training_read(heed_training *training, const char *path, heed_error *err);
bool hd_training_is_yes(const heed_training *training, const char *name);
bool hd_training_option_at(int i, heed_training_option *option);

/* Was this field of the model, arch and size included, named? */
bool hd_training_has_setting(const heed_training *training, const char *name);

#endif
