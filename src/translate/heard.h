/* heard.h -- where CTC hears the words of a translation. */
#ifndef HD_TRANSLATE_HEARD_H
#define HD_TRANSLATE_HEARD_H

#include "translate/job.h"
#include "translate/word_weights.h"

/* Of models that have CTC: the source words of each word of the k-th translation, on the likeliest path that says it. `from` are the
 * translation's tokens, `to` the source's. */
bool hd_describe_heard(struct hd_line *line, heed_translation *translation, size_t k,
                       const struct hd_token_side *from, const struct hd_token_side *to);

#endif
