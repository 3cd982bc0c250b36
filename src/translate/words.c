/* words.c -- words of a text, by white space and, where scripts have none, by subwords.
 *
 * Invariant: words ascend, and together they are all of the text that is not white space. */
#include "translate/words.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <utf8proc.h>

/* ---- characters ------------------------------------------------------------------------------- */

/* Marks, joiners and variation selectors sit on the character before them. */
static bool is_mark(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ME ||
           cp == 0x200D || (cp >= 0x1F3FB && cp <= 0x1F3FF);
}

size_t hd_space_before(const char *text, size_t n)
{
    size_t i = 0;
    uint32_t cp;
    for (int length; (length = hd_utf8_decode(text + i, n - i, &cp)) > 0 && hd_char_is_space(cp);)
        i += (size_t)length;
    return i;
}

size_t hd_last_char(const char *text, size_t n, uint32_t *cp)
{
    size_t begin = n;
    while (begin > 0 && n - begin < 4 && ((unsigned char)text[begin - 1] & 0xC0) == 0x80)
        begin--;
    begin -= begin > 0;
    return n > 0 && hd_utf8_decode(text + begin, n - begin, cp) == (int)(n - begin) ? n - begin : 0;
}

size_t hd_space_after(const char *text, size_t n)
{
    size_t left = n, length;
    uint32_t cp;
    while ((length = hd_last_char(text, left, &cp)) > 0 && hd_char_is_space(cp))
        left -= length;
    return n - left;
}

/* ---- words ------------------------------------------------------------------------------------ */

void hd_word_map_release(struct hd_word_map *wording)
{
    hd_free(wording->words);
    hd_free(wording->of_token);
    *wording = (struct hd_word_map){0};
}

/* Finds the words; with `words` NULL only counts them. */
static size_t cut(struct hd_span *words, const char *text, size_t n_bytes,
                  const struct hd_span *tokens, size_t n_tokens)
{
    size_t n = 0, t = 0;
    uint32_t before = ' ', cp = 0;
    for (size_t i = 0, length; i < n_bytes; i += length, before = cp) {
        const int decoded = hd_utf8_decode(text + i, n_bytes - i, &cp);
        length = decoded > 0 ? (size_t)decoded : 1;
        if (decoded == 0)
            cp = 0xFFFD;
        while (t < n_tokens && (tokens[t].begin < i || tokens[t].begin == SIZE_MAX))
            t++;
        if (hd_char_is_space(cp))
            continue;
        const bool is_first = hd_char_is_space(before);
        const bool may_part = t < n_tokens && tokens[t].begin == i &&
                              (hd_char_is_unspaced(before) || hd_char_is_unspaced(cp)) &&
                              before != 0x200D;
        n += is_first || (may_part && !is_mark(cp));
        if (words) {
            if (is_first || (may_part && !is_mark(cp)))
                words[n - 1].begin = i;
            words[n - 1].end = i + length;
        }
    }
    return n;
}

/* The first word that ends behind the token's beginning, or the last word. */
static void assign(struct hd_word_map *w, const struct hd_span *tokens, size_t n_tokens)
{
    size_t word = 0;
    for (size_t t = 0; t < n_tokens; t++) {
        if (tokens[t].begin == SIZE_MAX || w->n == 0) {
            w->of_token[t] = -1;
            continue;
        }
        while (word + 1 < w->n && w->words[word].end <= tokens[t].begin)
            word++;
        w->of_token[t] = (int)word;
    }
}

bool hd_word_map_make(struct hd_word_map *w, const char *text, size_t n_bytes,
                      const struct hd_span *tokens, size_t n_tokens, heed_error *err)
{
    *w = (struct hd_word_map){.n = cut(NULL, text, n_bytes, tokens, n_tokens)};
    w->words = hd_alloc(w->n, sizeof *w->words, err);
    w->of_token = hd_alloc(n_tokens, sizeof *w->of_token, err);
    if (!w->words || !w->of_token) {
        hd_word_map_release(w);
        return false;
    }
    cut(w->words, text, n_bytes, tokens, n_tokens);
    assign(w, tokens, n_tokens);
    return true;
}
