/* translate.h -- from text to text; heed.h says what is asked and what comes back. */
#ifndef HD_TRANSLATE_TRANSLATE_H
#define HD_TRANSLATE_TRANSLATE_H

#include "model/model_file.h"

heed_options hd_options_default(void);
heed_results *hd_translate(const heed_model *const *models, int n_models, const char *const *texts,
                           size_t n, const heed_options *options, heed_error *err);
heed_results *hd_align(const heed_model *const *models, int n_models, const heed_text_pair *pairs,
                       size_t n, const heed_options *options, heed_error *err);
/* Does the model look at its source? */
bool hd_has_attention(const heed_model *model);

void hd_results_free(heed_results *results);
#endif
