/* resample.h -- sound at another number of samples a second. */
#ifndef HD_VECTOR_RESAMPLE_H
#define HD_VECTOR_RESAMPLE_H

#include "features/features.h"

/* A copy of the samples at `rate`, to be given to hd_free(). */
bool hd_resample(double **out, size_t *n, const struct hd_sound *sound, int rate, heed_error *err);

#endif
