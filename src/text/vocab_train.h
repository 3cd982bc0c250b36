/* vocab_train.h -- vocabularies learned from a corpus.
 *
 * The same text and plan give the same bytes, run after run, whatever the number of threads; and
 * nothing else goes into them: no path, no time. */
#ifndef HD_TEXT_VOCAB_TRAIN_H
#define HD_TEXT_VOCAB_TRAIN_H

#include "text/corpus.h"
#include "text/vary.h"
#include "text/vocab.h"

struct hd_vocab_plan {
    enum hd_vocab_kind kind;
    int size;      /* of the vocabulary, special symbols included; 0: words and chars take all there
                      are, spm what hd_vocab_size_for() says */
    bool is_bpe;   /* spm: byte-pair encoding rather than a unigram model */
    uint64_t seed; /* of the sentences that are looked at, if not all are */
    float character_coverage; /* spm: the share of the text's characters that get a piece, at most
                                 1; 0 is 1 for text of few different characters (up to 1000), and
                                 0.9995 for more, as in Chinese or Japanese */
    size_t most_sentences;    /* to look at, evenly drawn from all; 0 is all for words and chars, a
                                 million for spm */
    const char *normalise;    /* spm: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, identity; NULL is
                                 nmt_nfkc */
    bool
        spells_bytes; /* spm: characters without a piece are spelled in bytes rather than lost, where
                                 there is room for 256 more pieces */
    const char *const
        *languages; /* of targets that a source may be translated to, n_languages of them: a
                                     symbol for each, hd_vocab_language() */
    int n_languages;
    bool has_placeholders; /* spm: hd_placeholder() are pieces that are never cut */
    const struct hd_vary_rates
        *vary; /* spm: the text is looked at as it is varied in case and quotes;
                                         NULL: as it is */
};

enum { HD_VOCAB_SOURCE = 1, HD_VOCAB_TARGET = 2, HD_VOCAB_BOTH = 3 };

/* Learn a vocabulary from one side of the corpus or from both; to be given to hd_vocab_free(). NULL
 * with the reason in `err`: HEED_BAD_OPTION (a plan that cannot be, such as a size that has no room
 * for the text's characters), HEED_BAD_TEXT (nothing to learn from), HEED_CANCELLED,
 * HEED_NO_MEMORY. It is smaller than wanted when the text does not have so many pieces.
 *
 *     spm      </s> is 0, <unk> is 1, as Marian has it; no <s>, no <pad>
 *     words    <unk> is 0, </s> is 1, then by frequency, equals by their bytes; text in NFC
 *     chars    likewise
 *
 * keep_on(context), which may be NULL, is asked now and then while the text is read, and cancels
 * by false; SentencePiece itself cannot be interrupted once it has the text. */
struct hd_vocab *hd_vocab_learn(const struct hd_corpus *corpus, unsigned sides,
                                const struct hd_vocab_plan *plan, bool (*keep_on)(void *context),
                                void *context, heed_error *err);

/* A size of subword vocabulary that suits a corpus of n_pairs and n_words (between spaces, of the
 * sides it is for together), in steps of 500 or more. */
int hd_vocab_size_for(size_t n_pairs, size_t n_words);

#endif
