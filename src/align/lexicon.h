/* lexicon.h -- words that are each other's translation, found by counting links.
 *
 * A pair of words is in it where each is the other's most frequent counterpart, often enough and in a large enough share of its
 * occurrences in both directions. Words have the case that they have inside sentences. */
#ifndef HD_ALIGN_LEXICON_H
#define HD_ALIGN_LEXICON_H

#include "align/aligner.h"

/* Make one of these pairs and their links, one list for each; to be given to heed_lexicon_free(). NULL without memory. */
heed_lexicon *hd_lexicon_new(const struct hd_aligner *aligner, const struct hd_pair_source *pairs,
                             const struct hd_link_lists *links, heed_error *err);

#endif
