/* presets.h -- a table of papers: what each model is made of, where it differs from the others. */
#ifndef HD_MODEL_PRESETS_H
#define HD_MODEL_PRESETS_H

#include "model/config.h"

struct hd_preset {
    const char *name, *paper;
    int cell, layers; /* of encoder and decoder each */
    bool is_bidirectional;
    int score, attend, readout, start;
    bool has_input_feeding;
};

extern const struct hd_preset hd_presets[]; /* by enum hd_arch; the Transformer's has a name only */

/* Fields that no paper decides, and what stands in them. A field that has no meaning without another one (the window of
 * local attention) must have this value when the other is not there. */
extern const struct hd_config hd_config_default;

#endif
