/* seen.h -- vectors as something to look at again: a spectrogram, or a picture. */
#ifndef HD_VECTOR_SEEN_H
#define HD_VECTOR_SEEN_H

#include "vector/feature.h"

/* Sound: [rows] frames of [columns] bands. Pictures: [rows][columns] pixels, red, green and blue from 0 to 1. {0} is nothing; `x` is to be
 * given to hd_free(). */
struct hd_seen {
    int rows, columns;
    bool is_picture;
    float *x;
};

/* Undo what makes vectors, as far as it can be undone: cepstra become bands, principal components pixels. What cannot be told is shown as
 * it is; patches of an unknown shape leave `seen` empty. False without memory. */
bool hd_feature_see(struct hd_seen *seen, const struct hd_feature *feature,
                    const struct hd_featured *item, heed_error *err);

#endif
