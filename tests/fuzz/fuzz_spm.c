/* fuzz_spm.c -- any bytes at all as a SentencePiece model, and then text for it: ids in range, or a
 * sentence. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "text/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] =
        "the small cat ﬁnds Ａ É 猫\tﬁﬁ. <unk> aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    heed_error err = {0};
    struct hd_ids ids = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(HD_VOCAB_SPM, data, size, &err);
    must((vocab != NULL) == (err.code == HEED_OK));
    if (!vocab)
        return 0;
    const int n = hd_vocab_size(vocab);
    if (hd_vocab_encode(vocab, text, sizeof text, hd_vocab_end(vocab) >= 0, &ids, &err)) {
        for (size_t i = 0; i < ids.n; i++)
            must(hd_vocab_piece(vocab, ids.at[i]));
        hd_free(hd_vocab_decode(vocab, ids.at, ids.n, &err));
    }
    for (int i = 0; i < 3; i++) {
        struct hd_rng rng = {.key = (uint64_t)i};
        ids.n = 0;
        if (hd_vocab_encode_sampled(vocab, text, sizeof text, false, (float)(i + 1) / 3, &rng, &ids,
                                    &err))
            for (size_t k = 0; k < ids.n; k++)
                must(hd_vocab_piece(vocab, ids.at[k]));
    }
    ids.n = 0;
    for (int id = 0; id < n; id++) {
        must(hd_vocab_find(vocab, hd_vocab_piece(vocab, id)) < n);
        must(hd_ids_add(&ids, id, NULL));
    }
    hd_free(hd_vocab_decode(vocab, ids.at, ids.n, &err));
    hd_ids_release(&ids);
    hd_vocab_free(vocab);
    return 0;
}
