/* insight.h -- how a translation came about: what else each step could have said, and all that the beam tried. */
#ifndef HD_TRANSLATE_INSIGHT_H
#define HD_TRANSLATE_INSIGHT_H

#include "translate/job.h"

/* The likeliest subwords of each step of the k-th translation, as many as the options say. */
bool hd_describe_steps(struct hd_line *line, heed_translation *translation, size_t k);

/* The beams of the line's segments. */
bool hd_describe_beam(struct hd_line *line);

#endif
