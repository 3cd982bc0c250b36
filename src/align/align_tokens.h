/* align_tokens.h -- a line as an aligner counts it: tokens with numbers, each part of a word that a reader sees.
 *
 * A word is a run of characters between white space; a character of a script without spaces is one by itself. Tokens are
 * the runs of letters and digits in it, folded in case, and its marks: "J'aime" is j, aime; "me." is me and a full stop. An
 * apostrophe or a hyphen between letters only parts them. */
#ifndef HD_ALIGN_ALIGN_TOKENS_H
#define HD_ALIGN_ALIGN_TOKENS_H

#include "text/lines.h"

#include <stdint.h>

struct hd_align_token {
    uint32_t id;
    int word; /* from 0 */
    bool is_mark;
    size_t begin, end; /* bytes of the line */
};

/* {0} is none. */
struct hd_align_tokens {
    struct hd_align_token *at;
    size_t n, capacity;
    int n_words;
};

/* Leaves {0}. To empty them and keep their memory, set n to 0. */
void hd_align_tokens_release(struct hd_align_tokens *tokens);

/* Numbers of different tokens, from 0 in order of appearance. {0} is none. */
struct hd_token_ids {
    char *text; /* spelled one after the other, each with a NUL */
    size_t n_text, text_capacity;
    size_t *start; /* [n] in the text */
    size_t n, capacity;
    uint32_t *slots; /* hash table: a number and 1, 0 for an empty slot; a power of two of them */
    size_t n_slots;
};

void hd_token_ids_release(struct hd_token_ids *ids);

/* How it is spelled. */
const char *hd_token_text(const struct hd_token_ids *ids, uint32_t id);

enum { HD_UNKNOWN_TOKEN = UINT32_MAX };

/* The number of a token, a new one if there is none yet and `may_add`; else HD_UNKNOWN_TOKEN. False without memory. */
bool hd_token_number(struct hd_token_ids *ids, const char *text, size_t n, bool may_add,
                     uint32_t *id, heed_error *err);

/* Cut a line, valid UTF-8, into tokens[0..n). With `may_add` new ones get numbers; without, they are HD_UNKNOWN_TOKEN. False
 * without memory. */
bool hd_align_tokens_cut(struct hd_align_tokens *tokens, struct hd_text line,
                         struct hd_token_ids *ids, bool may_add, heed_error *err);

#endif
