/* word_keys.c -- words are found around their tokens; letters are compared as small ones.
 *
 * Invariant: the keys of a token depend on its word and its id alone. */
#include "text/word_keys.h"

#include "text/character.h"

#include <utf8proc.h>

enum { BEGINNING = 5, LEAST_LETTERS = 4 };

/* FNV-1a, 30 bits of it. */
#define HASH_START 2166136261U
static uint32_t hash_on(uint32_t hash, uint32_t value)
{
    return (hash ^ value) * 16777619U;
}

static int hash_of(const char *text, size_t n)
{
    uint32_t hash = HASH_START;
    for (size_t i = 0; i < n; i++)
        hash = hash_on(hash, (unsigned char)text[i]);
    return (int)(hash & 0x3FFFFFFFU);
}

/* ---- the word of a token --------------------------------------------------------------------------- */

static bool is_of_word(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp) || hd_char_is_mark(cp);
}

/* What stands between spaces around a token, without the signs around it unless there are only such. */
static struct hd_span word_around(const char *text, size_t n, struct hd_span token)
{
    struct hd_span w = token;
    size_t length;
    while (w.begin < token.end && hd_char_is_space(hd_char_at(text, n, w.begin, &length)))
        w.begin += length;
    for (size_t at = w.begin; at > 0; w.begin = at) {
        const bool is_space = hd_char_is_space(hd_char_before(text, at, &length));
        if (is_space)
            break;
        at -= length;
    }
    w.end = token.end > w.begin ? token.end : w.begin;
    while (w.end < n && !hd_char_is_space(hd_char_at(text, n, w.end, &length)))
        w.end += length;
    struct hd_span core = w;
    while (core.begin < core.end && !is_of_word(hd_char_at(text, n, core.begin, &length)))
        core.begin += length;
    while (core.end > core.begin && !is_of_word(hd_char_before(text, core.end, &length)))
        core.end -= length;
    return core.begin < core.end ? core : w;
}

/* How many characters of each kind a word has. */
struct letters {
    int n, n_capitals, n_digits, n_signs;
    bool begins_with_capital;
};

static enum hd_word_shape shape_of(const struct letters *l)
{
    if (l->n > 0 && l->n_digits > 0)
        return HD_SHAPE_CODE;
    if (l->n_digits > 0)
        return l->n_digits == 4 && l->n_signs == 0 ? HD_SHAPE_YEAR : HD_SHAPE_NUMBER;
    if (l->n == 0)
        return HD_SHAPE_SIGN;
    if (l->n_capitals == 0)
        return HD_SHAPE_SMALL;
    if (l->n_capitals == l->n && l->n > 1)
        return HD_SHAPE_CAPITALS;
    return l->begins_with_capital && l->n_capitals == 1 ? HD_SHAPE_CAPITAL : HD_SHAPE_MIXED;
}

static void describe(const char *text, size_t n, struct hd_span word, int *keys)
{
    struct letters l = {0};
    uint32_t whole = HASH_START, beginning = HASH_START;
    size_t length;
    for (size_t at = word.begin; at < word.end; at += length) {
        const uint32_t cp = hd_char_at(text, n, at, &length),
                       small = (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
        const bool is_letter = hd_char_is_letter(cp), is_capital = hd_char_is_upper(cp);
        whole = hash_on(whole, small);
        if (is_letter && l.n < BEGINNING)
            beginning = hash_on(beginning, small);
        l.begins_with_capital = l.begins_with_capital || (is_capital && l.n == 0);
        l.n += is_letter;
        l.n_capitals += is_capital;
        l.n_digits += hd_char_is_digit(cp);
        l.n_signs += !is_of_word(cp);
    }
    const bool has_beginning = l.n >= LEAST_LETTERS && l.n_digits == 0;
    keys[HD_KEY_WORD] = word.begin < word.end ? (int)(whole & 0x3FFFFFFFU) + 1 : 0;
    keys[HD_KEY_BEGINNING] = has_beginning ? (int)(beginning & 0x3FFFFFFFU) + 1 : 0;
    keys[HD_KEY_SHAPE] = shape_of(&l);
}

void hd_word_keys(const struct hd_vocab *vocab, struct hd_text text, const struct hd_encoding *e,
                  int *keys)
{
    const int unknown = hd_vocab_unknown(vocab);
    for (size_t i = 0; i < e->n; i++, keys += HD_N_KEYS) {
        const struct hd_span at = e->spans[i];
        keys[HD_KEY_ID] =
            e->ids[i] == unknown ? -2 - hash_of(text.at + at.begin, at.end - at.begin) : e->ids[i];
        describe(text.at, text.n, word_around(text.at, text.n, at), keys);
    }
}
