/* labels.h -- the labels that the targets of a corpus are, each once. */
#ifndef HD_TEXT_LABELS_H
#define HD_TEXT_LABELS_H

#include "text/corpus.h"
#include "text/vocab.h"

/* A vocabulary of labels, in the order of their bytes; to be given to hd_vocab_free(). NULL with the reason in `err`: HEED_BAD_TEXT
 * (there is but one, or nearly every target is another, so that they are no labels), HEED_NO_MEMORY. */
struct hd_vocab *hd_labels_learn(const struct hd_corpus *corpus, heed_error *err);

#endif
