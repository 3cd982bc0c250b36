/* sample.h -- text cut into subwords at random, so that a model sees many spellings of one
 * sentence.
 *
 * Kudo (2018), "Subword regularization": a unigram model draws a segmentation x of the sentence
 * with probability ∝ P(x)^α. Provilkov, Emelianenko & Voita (2020), "BPE-dropout": a merge is left
 * out with some probability. */
#ifndef HD_TEXT_SAMPLE_H
#define HD_TEXT_SAMPLE_H

#include "base/rng.h"
#include "text/vocab.h"

/* As hd_vocab_encode(), but cut at random; `rate` in [0, 1] says how much: 0 is hd_vocab_encode()
 * itself, more is more varied and more pieces.
 *
 *     bpe        each merge is left out with probability `rate` when its turn comes; 1 leaves
 *                single characters
 *     unigram    α = (1 - rate) / (50 rate): 0.02 is about 1, the model's own distribution; 0.1 is
 *                0.18 and gives a third more pieces, as it does with BPE; 0.2 is 0.08; 1 takes all
 *                segmentations for equally likely
 *     words, chars: as hd_vocab_encode(), whatever the rate
 *
 * The numbers come from `rng` alone, so the same place in the same stream gives the same ids on
 * every machine. HEED_BAD_OPTION for a rate outside. */
bool hd_vocab_encode_sampled(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                             bool with_end, float rate, struct hd_rng *rng, struct hd_ids *ids,
                             heed_error *err);

#endif
