/* run_text.h -- the text of a run: to learn from, and to validate on. */
#ifndef HD_TRAIN_RUN_TEXT_H
#define HD_TRAIN_RUN_TEXT_H

#include "train/run.h"

/* Without dev text every so-manyth pair is for validation. */
enum { HD_HOLD_OUT = 200 };

/* Read what the recipe names into run->text and run->dev_text, with facts and fingerprint. */
bool hd_run_read_text(struct hd_run *run, heed_error *err);

/* Do the text's languages and the symbols of the source's vocabulary go together? */
bool hd_run_check_languages(const struct hd_run *run, const struct hd_vocab *source,
                            heed_error *err);

/* The file of "en-fr=FILE"; the text itself where there is no '='. */
const char *hd_pair_path(const char *pair);

#endif
