/* mask.h -- vectors of a batch with parts of them masked, and noise: what a model that has seen few recordings learns from. */
#ifndef HD_TRAIN_MASK_H
#define HD_TRAIN_MASK_H

#include "model/model.h"
#include "train/recipe.h"

/* Is anything to be changed? */
bool hd_masks_vectors(const struct hd_recipe *recipe);

/* Change frames[0..], those of `batch`, as the recipe says; what is drawn follows from the key and the item's place in the batch.
 *
 * Park et al. (2019), "SpecAugment", sections 2.2 and 2.3: a run of t vectors, t from 0 to time_mask and at most a fifth of the item,
 * and a band of f numbers, f from 0 to band_mask, become their means. Noise is x + noise · σ · ε. */
void hd_mask_vectors(float *frames, const struct hd_batch *batch, const struct hd_net *net,
                     const struct hd_recipe *recipe, uint64_t key);

#endif
