/* evaluate.h -- what is asked of an evaluation. */
#ifndef HD_TEXT_EVALUATE_H
#define HD_TEXT_EVALUATE_H

#include <heed.h>

/* The options that a caller gave, whatever the version of the struct; NULL is all defaults. False with the reason in `err`. */
bool hd_eval_options_read(heed_eval_options *read, const heed_eval_options *given, heed_error *err);
#endif
