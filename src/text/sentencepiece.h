/* sentencepiece.h -- SentencePiece's C++ library as a few C functions: the one door to it.
 *
 * No exception passes, nothing is printed. Read-only once made: threads may share it. */
#ifndef HD_TEXT_SENTENCEPIECE_H
#define HD_TEXT_SENTENCEPIECE_H

#include "text/lines.h"

#include <heed.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_spm;

/* A model from its serialized bytes, which are not kept; give it to hd_spm_free(). NULL with the
 * reason in `err` (HEED_BAD_MODEL, HEED_NO_MEMORY). */
struct hd_spm *hd_spm_from_memory(const void *data, size_t size, heed_error *err);

/* NULL is fine. */
void hd_spm_free(struct hd_spm *spm);

int hd_spm_size(const struct hd_spm *spm);

/* Ids of the special pieces, -1 for what the model does not have. */
int hd_spm_unknown(const struct hd_spm *spm);
int hd_spm_begin(const struct hd_spm *spm);
int hd_spm_end(const struct hd_spm *spm);
int hd_spm_padding(const struct hd_spm *spm);

/* The piece of an id in [0, size). Lives as long as the model. */
const char *hd_spm_piece(const struct hd_spm *spm, int id);

/* The id of a piece, -1 when there is none such. */
int hd_spm_find(const struct hd_spm *spm, const char *piece);

/* The ids of text[0..n), *n_ids of them, to be given to hd_free(); NULL with the reason in
 * `err`. */
int *hd_spm_encode(const struct hd_spm *spm, const char *text, size_t n, size_t *n_ids,
                   heed_error *err);

/* text[0..n) as the model sees it before it cuts, "▁the▁small▁cat"; *n_out bytes, to be given to
 * hd_free(). NULL with the reason in `err`. */
char *hd_spm_normalise(const struct hd_spm *spm, const char *text, size_t n, size_t *n_out,
                       heed_error *err);
/* The same with the bytes of the text that each id stands for, *spans[2 i] to before *spans[2 i + 1];
 * both lists are to be given to hd_free(). False with the reason in `err`, and neither made. */
bool hd_spm_encode_spans(const struct hd_spm *spm, const char *text, size_t n, int **ids,
                         size_t **spans, size_t *n_ids, heed_error *err);

/* A piece of a text that was cut: how it is spelled, which is as in the text (normalised) where the
 * model has no piece for it, and the bytes of the text that it stands for. */
struct hd_spm_piece {
    const char *text;
    size_t n;
    size_t begin, end;
};

/* Give each piece of text[0..n) to `take`, until it returns false. False with the reason in `err`, unless
 * that was it. */
bool hd_spm_cut(const struct hd_spm *spm, const char *text, size_t n,
                bool (*take)(void *context, const struct hd_spm_piece *piece), void *context,
                heed_error *err);

/* The text of pieces by their spelling, to be given to hd_free(); those that the model does not know
 * are text themselves. The bytes that each became in spans[0..2 n), where that is not NULL. */
char *hd_spm_join(const struct hd_spm *spm, const char *const *pieces, size_t n, size_t *spans,
                  heed_error *err);

/* The text of ids, each in [0, size), to be given to hd_free(); NULL with the reason in `err`. */
char *hd_spm_decode(const struct hd_spm *spm, const int *ids, size_t n, heed_error *err);

/* The same with the bytes of that text which each id became, spans[0..2 n). */
char *hd_spm_decode_spans(const struct hd_spm *spm, const int *ids, size_t n, size_t *spans,
                          heed_error *err);

struct hd_spm_plan {
    int size;
    bool is_bpe; /* else a unigram model */
    float character_coverage;
    const char *normalise; /* nmt_nfkc... */
    bool has_bytes;        /* a piece for each byte, which spell characters that have no piece */
    const char *controls;  /* names between commas: pieces that no text becomes; NULL is none */
    const char *symbols;   /* names between commas: pieces that are never cut; NULL is none */
};

/* A word, without a space or TAB in it, and how often it is there. */
struct hd_counted_word {
    const char *text;
    uint64_t count;
};

/* Learn a model, `size` pieces or fewer when the text does not have so many; </s> is 0, <unk> is 1.
 * Returns its bytes, *n_out of them, to be given to hd_free(); NULL with the reason in `err`. */
char *hd_spm_learn(const struct hd_spm_plan *plan, const struct hd_counted_word *words,
                   size_t n_words, size_t *n_out, heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
