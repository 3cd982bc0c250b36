/* vocab_file.h -- vocabularies as other toolkits keep them: SentencePiece models, plain lists of
 * tokens, Marian's vocab.yml, vocab.json. */
#ifndef HD_TEXT_VOCAB_FILE_H
#define HD_TEXT_VOCAB_FILE_H

#include "text/vocab.h"

/* Tokens with their ids, in the order of the ids. {0} is none. */
struct hd_tokens {
    char **text; /* text[0..n), no NUL or line end in it */
    int *ids;    /* ascending, none twice */
    size_t n;
    char *memory; /* where the texts are */
};

/* Read a plain list from memory: one token a line, the line's number is the id. Line ends of any
 * system; a byte order mark is passed over. Refused with a sentence (HEED_BAD_MODEL): an empty
 * line, a token that is there twice, bytes that are not UTF-8. `name` is for sentences. */
bool hd_tokens_from_list(struct hd_tokens *tokens, const char *name, const char *data, size_t size,
                         heed_error *err);

/* Read Marian's vocab.yml from memory: `token: id` a line, tokens plain, 'quoted' or "quoted", or
 * `? token` and `: id` on two lines. Ids need not be all there. */
bool hd_tokens_from_yaml(struct hd_tokens *tokens, const char *name, const char *data, size_t size,
                         heed_error *err);

/* Read a vocab.json from memory: an object whose keys are tokens and whose values are ids. */
bool hd_tokens_from_json(struct hd_tokens *tokens, const char *name, const char *data, size_t size,
                         heed_error *err);

/* Leaves {0}. */
void hd_tokens_release(struct hd_tokens *tokens);

/* Read a vocabulary from a file; give it to hd_vocab_free(). By its ending: .spm and .model are
 * SentencePiece models, .yml and .yaml Marian's, .json objects of tokens and ids, everything else a
 * plain list; `kind` says what the tokens of the last three are, words or chars. Marian's names of old are understood: ids 0 and 1 are
 * `</s>` and `<unk>` when they are called "eos" and "UNK" or left out. */
struct hd_vocab *hd_vocab_open(const char *path, enum hd_vocab_kind kind, heed_error *err);

#endif
