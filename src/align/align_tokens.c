/* align_tokens.c -- lines cut into numbered tokens. */
#include "align/align_tokens.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/word_links.h"

#include <string.h>
#include <utf8proc.h>

void hd_align_tokens_release(struct hd_align_tokens *tokens)
{
    hd_free(tokens->at);
    *tokens = (struct hd_align_tokens){0};
}

/* ---- numbers ------------------------------------------------------------------------------------- */

void hd_token_ids_release(struct hd_token_ids *ids)
{
    hd_free(ids->text);
    hd_free(ids->start);
    hd_free(ids->slots);
    *ids = (struct hd_token_ids){0};
}

const char *hd_token_text(const struct hd_token_ids *ids, uint32_t id)
{
    return ids->text + ids->start[id];
}

static size_t hash_of(const char *text, size_t n)
{
    uint64_t hash = 0xCBF29CE484222325U;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3U;
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of a token: its own, or the empty one where it belongs. */
static uint32_t *slot_of(const struct hd_token_ids *ids, const char *text, size_t n)
{
    size_t i = hash_of(text, n) & (ids->n_slots - 1);
    while (ids->slots[i]) {
        const char *other = hd_token_text(ids, ids->slots[i] - 1);
        if (strncmp(other, text, n) == 0 && other[n] == 0)
            break;
        i = (i + 1) & (ids->n_slots - 1);
    }
    return &ids->slots[i];
}

static bool grow_slots(struct hd_token_ids *ids, heed_error *err)
{
    const size_t n_slots = ids->n_slots ? 2 * ids->n_slots : 1024;
    uint32_t *slots = hd_alloc(n_slots, sizeof *slots, err);
    if (!slots)
        return false;
    hd_free(ids->slots);
    ids->slots = slots;
    ids->n_slots = n_slots;
    for (uint32_t i = 0; i < ids->n; i++) {
        const char *text = hd_token_text(ids, i);
        *slot_of(ids, text, strlen(text)) = i + 1;
    }
    return true;
}

static bool add_id(struct hd_token_ids *ids, const char *text, size_t n, heed_error *err)
{
    char *spelled = hd_grow(ids->text, &ids->text_capacity, ids->n_text + n + 1, 1, err);
    if (!spelled)
        return false;
    ids->text = spelled;
    size_t *start = hd_grow(ids->start, &ids->capacity, ids->n + 1, sizeof *start, err);
    if (!start)
        return false;
    ids->start = start;
    memcpy(spelled + ids->n_text, text, n);
    spelled[ids->n_text + n] = 0;
    start[ids->n++] = ids->n_text;
    ids->n_text += n + 1;
    return true;
}

bool hd_token_number(struct hd_token_ids *ids, const char *text, size_t n, bool may_add,
                     uint32_t *id, heed_error *err)
{
    if (may_add && 2 * (ids->n + 1) > ids->n_slots && !grow_slots(ids, err))
        return false;
    uint32_t *slot = ids->n_slots ? slot_of(ids, text, n) : NULL;
    if (may_add && slot && !*slot) {
        if (!add_id(ids, text, n, err))
            return false;
        *slot = (uint32_t)ids->n;
    }
    *id = slot && *slot ? *slot - 1 : HD_UNKNOWN_TOKEN;
    return true;
}

/* ---- cutting --------------------------------------------------------------------------------------- */

enum { LONGEST = 64 }; /* bytes of a token that count; the rest of a longer one does not */

/* A token while it is read. */
struct reading {
    struct hd_align_tokens *tokens;
    struct hd_token_ids *ids;
    bool may_add;
    char text[LONGEST + 8];
    size_t n;
    bool is_mark;
    size_t begin, end, at; /* of the token; of the character in work */
    size_t length;
};

static bool end_token(struct reading *r, heed_error *err)
{
    if (r->n == 0)
        return true;
    struct hd_align_tokens *t = r->tokens;
    struct hd_align_token *grown = hd_grow(t->at, &t->capacity, t->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    t->at = grown;
    struct hd_align_token *token = &grown[t->n++];
    *token = (struct hd_align_token){
        .word = t->n_words - 1, .is_mark = r->is_mark, .begin = r->begin, .end = r->end};
    const bool ok = hd_token_number(r->ids, r->text, r->n, r->may_add, &token->id, err);
    r->n = 0;
    return ok;
}

/* The character in lower case, as it is compared: curly quotes are straight. */
static void add_char(struct reading *r, uint32_t cp, bool is_mark)
{
    cp = cp == 0x2019 || cp == 0x2018 ? '\'' : cp == 0x201C || cp == 0x201D ? '"' : cp;
    utf8proc_int32_t folded[8];
    int last_class = UTF8PROC_BOUNDCLASS_START;
    const utf8proc_ssize_t n =
        utf8proc_decompose_char((utf8proc_int32_t)cp, folded, 8, UTF8PROC_CASEFOLD, &last_class);
    r->is_mark = is_mark;
    r->begin = r->n == 0 ? r->at : r->begin;
    r->end = r->at + r->length;
    for (utf8proc_ssize_t k = 0; k < n && k < 8 && r->n < LONGEST; k++)
        r->n += (size_t)utf8proc_encode_char(folded[k], (utf8proc_uint8_t *)r->text + r->n);
}

static bool is_part_of_word(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp) || hd_char_is_mark(cp);
}

/* Does a mark only part letters ("J'aime"), or belong to a number ("3.5")? */
enum inner { INNER_NOT, INNER_PARTS, INNER_OF_NUMBER };

static enum inner inner_mark(uint32_t before, uint32_t cp, uint32_t after)
{
    if ((cp == '.' || cp == ',' || cp == ':' || cp == '/') && hd_char_is_digit(before) &&
        hd_char_is_digit(after))
        return INNER_OF_NUMBER;
    const bool parts = cp == '\'' || cp == 0x2019 || cp == '-' || cp == 0x2010 || cp == 0x2011;
    return parts && is_part_of_word(before) && is_part_of_word(after) ? INNER_PARTS : INNER_NOT;
}

/* One character of a line; `before` and `after` are its neighbours, a space at the ends. */
static bool read_char(struct reading *r, uint32_t before, uint32_t cp, uint32_t after,
                      heed_error *err)
{
    if (hd_char_is_space(cp))
        return end_token(r, err);
    if (hd_word_begins(before, cp, true)) {
        if (!end_token(r, err))
            return false;
        r->tokens->n_words++;
    }
    if (is_part_of_word(cp)) {
        if (r->is_mark && !end_token(r, err))
            return false;
        add_char(r, cp, false);
        return true;
    }
    const enum inner inner = inner_mark(before, cp, after);
    if (inner == INNER_OF_NUMBER) {
        add_char(r, cp, false);
        return true;
    }
    if ((cp != before || inner == INNER_PARTS) && !end_token(r, err))
        return false;
    if (inner == INNER_NOT && cp != before) /* "..." is one mark */
        add_char(r, cp, true);
    return true;
}

bool hd_align_tokens_cut(struct hd_align_tokens *tokens, struct hd_text line,
                         struct hd_token_ids *ids, bool may_add, heed_error *err)
{
    struct reading r = {.tokens = tokens, .ids = ids, .may_add = may_add};
    uint32_t before = ' ', cp = 0, after = 0;
    tokens->n = 0;
    tokens->n_words = 0;
    size_t at = 0, length = 0, next_length = 0;
    cp = hd_char_at(line.at, line.n, 0, &length);
    for (; at < line.n; at += length, length = next_length, before = cp, cp = after) {
        const size_t next = at + length;
        after = next < line.n ? hd_char_at(line.at, line.n, next, &next_length) : ' ';
        r.at = at;
        r.length = length;
        if (!read_char(&r, before, cp, after, err))
            return false;
    }
    return end_token(&r, err);
}
