/* freeze.h -- which parameters do not learn, by their names. */
#ifndef HD_TRAIN_FREEZE_H
#define HD_TRAIN_FREEZE_H

#include "graph/tape.h"
#include "train/recipe.h"

/* Let all parameters learn but those that the recipe freezes. A pattern that fits none is refused. */
bool hd_freeze(const struct hd_recipe *recipe, hd_params *params, heed_error *err);

#endif
