/* schedule.h -- the learning rate of an update. */
#ifndef HD_TRAIN_SCHEDULE_H
#define HD_TRAIN_SCHEDULE_H

#include "train/recipe.h"

/* Of update `number`, from 1, by the recipe's schedule. `factor` is what plateaus and accidents have left of it. */
float hd_rate(const struct hd_recipe *recipe, long number, double factor);

#endif
