/* presets.h -- a table of papers: what each model is made of, where it differs from the others. */
#ifndef HD_MODEL_PRESETS_H
#define HD_MODEL_PRESETS_H

#include "model/config.h"

struct hd_preset {
    const char *paper;
    int cell, layers; /* of encoder and decoder each */
    bool is_bidirectional;
    int score, attend, readout, start;
    bool has_input_feeding;
};

extern const struct hd_preset hd_presets[]; /* by enum hd_arch */

/* Which preset and size, as options: --arch and --size. Open until they are chosen. */
struct hd_preset_choice {
    int arch, size; /* enum hd_arch, enum hd_size or -1 */
};
extern const heed_option hd_preset_options[];

#endif
