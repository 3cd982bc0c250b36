/* protect_unseen.c -- words in letters that a vocabulary's own text did not have.
 *
 * A vocabulary with bytes spells such letters in them, so nothing is lost; but of bytes that it has hardly seen a model makes things up: such words are kept as
 * they are. A name with one such letter is a name still. */
#include "text/protect.h"

#include "text/character.h"

#include <string.h>

/* Letters without white space or an apostrophe between them, whatever else is; in scripts without spaces a single one, since there a rare
 * character is no reason to keep all of a sentence. */
struct word {
    struct hd_span span; /* from the first letter to the last */
    bool has_letter, is_unseen, is_unspaced;
};

static bool is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019;
}

static bool is_only_space(const char *text, size_t from, size_t to)
{
    return hd_skip_space(text, to, from) == to;
}

/* Does the vocabulary have the small form of the letter text[begin..end)? Then text of its size teaches the model what the letter is. */
static bool has_small_form(const struct hd_vocab *vocab, const char *text, size_t begin, size_t end)
{
    char small[32];
    return hd_lower_key(small, sizeof small, text, begin, end) > 0 &&
           hd_vocab_find(vocab, small) >= 0;
}

/* A word is over: it counts where a letter of it is unseen, and goes on with the one before it. */
static bool end_word(struct hd_protected_list *list, size_t first, struct word *word,
                     const char *text, heed_error *err)
{
    const struct hd_span span = word->span;
    const bool is_unseen = word->is_unseen;
    *word = (struct word){0};
    if (!is_unseen)
        return true;
    struct hd_protected *last = list->n > first ? &list->at[list->n - 1] : NULL;
    if (last && is_only_space(text, last->span.end, span.begin)) {
        last->span.end = span.end;
        return true;
    }
    return hd_protected_add(list, (struct hd_protected){span, HD_PROTECTED_UNSEEN}, err);
}

bool hd_protect_unseen(struct hd_protected_list *list, const struct hd_vocab *vocab,
                       const char *text, struct hd_span part, const struct hd_encoding *encoding,
                       heed_error *err)
{
    const size_t first = list->n;
    struct word word = {0};
    bool ok = true;
    for (size_t i = part.begin, t = 0, length; ok && i < part.end; i += length) {
        const uint32_t cp = hd_char_at(text, part.end, i, &length);
        while (t < encoding->n && encoding->spans[t].end <= i)
            t++;
        if (hd_char_is_letter(cp)) {
            const bool is_unspaced = hd_char_is_unspaced(cp);
            if (is_unspaced || word.is_unspaced)
                ok = end_word(list, first, &word, text, err);
            word.is_unspaced = is_unspaced;
            const bool is_spelled = t < encoding->n && encoding->spans[t].begin <= i &&
                                    strncmp(hd_vocab_piece(vocab, encoding->ids[t]), "<0x", 3) == 0;
            if (is_spelled && !has_small_form(vocab, text, i, i + length))
                word.is_unseen = true;
            if (!word.has_letter)
                word.span.begin = i;
            word.span.end = i + length;
            word.has_letter = true;
        } else if (hd_char_is_space(cp) || is_apostrophe(cp))
            ok = end_word(list, first, &word, text, err);
    }
    ok = ok && end_word(list, first, &word, text, err);
    hd_protected_sort(list);
    return ok;
}
