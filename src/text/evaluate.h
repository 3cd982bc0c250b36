/* evaluate.h -- several scores of a text at once; heed.h says what they are. */
#ifndef HD_TEXT_EVALUATE_H
#define HD_TEXT_EVALUATE_H

#include <heed.h>

heed_eval_options hd_eval_options_default(void);

/* To be given to hd_free(). */
heed_evaluation *hd_evaluate(const heed_pair *pairs, size_t n, const heed_eval_options *options,
                             heed_error *err);
heed_evaluation *hd_evaluate_files(const heed_pair *paths, const heed_eval_options *options,
                                   heed_error *err);

#endif
