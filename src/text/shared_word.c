/* shared_word.c -- names and numbers that both sides of a pair have. */
#include "text/shared_word.h"

#include "base/utf8.h"
#include "text/character.h"
#include "text/final_mark.h"

#include <string.h>

enum { MOST_WORDS = 64 }; /* of a side that are looked at */

struct word {
    size_t at, n; /* without the punctuation around it */
};

/* ---- words ------------------------------------------------------------------------------------- */

/* "Tom's" is Tom and an ending. */
static size_t without_ending(const char *word, size_t n)
{
    static const char *const endings[] = {"'s", "’s", "'", "’"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (n > length && memcmp(word + n - length, endings[i], length) == 0)
            return n - length;
    }
    return n;
}

/* word[0..n) without punctuation at its ends. */
static struct word core_of(const char *text, size_t at, size_t n)
{
    uint32_t cp;
    while (n > 0) {
        const size_t length = (size_t)hd_utf8_decode(text + at, n, &cp);
        if (!hd_char_is_punctuation(cp))
            break;
        at += length;
        n -= length;
    }
    for (size_t length; n > 0; n -= length)
        if (!hd_char_is_punctuation(hd_char_before(text + at, n, &length)))
            break;
    return (struct word){at, without_ending(text + at, n)};
}

static int words_of(struct hd_text text, struct word words[MOST_WORDS])
{
    int n_words = 0;
    uint32_t cp;
    for (size_t i = 0, from = 0; i <= text.n && n_words < MOST_WORDS;) {
        const size_t n = i < text.n ? (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp) : 1;
        if (i == text.n || hd_char_is_space(cp)) {
            const struct word word = core_of(text.at, from, i - from);
            if (word.n > 0)
                words[n_words++] = word;
            from = i + n;
        }
        i += n;
    }
    return n_words;
}

/* ---- finding ----------------------------------------------------------------------------------- */

/* Is it a name or a number? What has brackets for placeholders in it is neither. "1" decides about the words beside it, and
 * capitals of one or two letters are words as well: "I", "In". */
static bool can_be_carried(const char *word, size_t n, bool *is_number)
{
    enum { SHORTEST_NAME = 3, OPENING = 0x27E8, CLOSING = 0x27E9 };
    uint32_t cp;
    size_t n_chars = 0;
    bool begins_upper = false, has_digit = false;
    for (size_t i = 0; i < n; n_chars++) {
        i += (size_t)hd_utf8_decode(word + i, n - i, &cp);
        if (cp == OPENING || cp == CLOSING)
            return false;
        begins_upper = begins_upper || (n_chars == 0 && hd_char_is_upper(cp));
        has_digit = has_digit || (cp >= '0' && cp <= '9');
    }
    *is_number = has_digit;
    return has_digit ? !(n == 1 && word[0] == '1') : begins_upper && n_chars >= SHORTEST_NAME;
}

/* The number of the only word that is word[0..n), -1 when there is none or more than one. */
static int find_once(const char *text, const struct word *words, int n_words, const char *word,
                     size_t n)
{
    int found = -1;
    for (int i = 0; i < n_words; i++)
        if (words[i].n == n && memcmp(text + words[i].at, word, n) == 0) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

/* In a placeholder such as ⟨1⟩ the digit is no number of the sentence. */
static bool is_inside_brackets(struct hd_text text, struct word word)
{
    static const char opening[] = "⟨";
    const size_t n = sizeof opening - 1;
    return word.at >= n && memcmp(text.at + word.at - n, opening, n) == 0;
}

bool hd_find_shared_word(struct hd_shared_word *word, struct hd_text source, struct hd_text target,
                         struct hd_rng *rng)
{
    struct word in_source[MOST_WORDS], in_target[MOST_WORDS];
    struct hd_shared_word found[MOST_WORDS];
    const int n_source = words_of(source, in_source), n_target = words_of(target, in_target);
    uint32_t n_found = 0;
    for (int i = 0; i < n_source; i++) {
        const char *at = source.at + in_source[i].at;
        const size_t n = in_source[i].n;
        bool is_number;
        if (!can_be_carried(at, n, &is_number) || is_inside_brackets(source, in_source[i]) ||
            find_once(source.at, in_source, n_source, at, n) != i)
            continue;
        const int j = find_once(target.at, in_target, n_target, at, n);
        if (j >= 0)
            found[n_found++] =
                (struct hd_shared_word){in_source[i].at, in_target[j].at, n, is_number};
    }
    if (n_found == 0)
        return false;
    *word = found[hd_rng_below(rng, n_found)];
    return true;
}

/* ---- changing ---------------------------------------------------------------------------------- */

bool hd_replace_shared_word(struct hd_buffer *source, struct hd_buffer *target,
                            const struct hd_shared_word *word, struct hd_text text, heed_error *err)
{
    return hd_buffer_replace(source, word->source, word->n, text.at, text.n, err) &&
           hd_buffer_replace(target, word->target, word->n, text.at, text.n, err);
}

static bool insert(struct hd_buffer *side, size_t at, const char *before, struct hd_text text,
                   const char *behind, heed_error *err)
{
    const size_t n = strlen(before);
    return hd_buffer_replace(side, at, 0, before, n, err) &&
           hd_buffer_replace(side, at + n, 0, text.at, text.n, err) &&
           hd_buffer_replace(side, at + n + text.n, 0, behind, strlen(behind), err);
}

bool hd_insert_shared_word(struct hd_buffer *source, struct hd_buffer *target, struct hd_text text,
                           struct hd_rng *rng, heed_error *err)
{
    static const struct {
        const char *before, *behind;
        enum { FIRST, LAST, BEFORE_MARK } place;
    } ways[] = {{"", " ", FIRST},         {"(", ") ", FIRST},         {"[", "] ", FIRST},
                {"", ", ", FIRST},        {"", " - ", FIRST},         {" ", "", LAST},
                {" (", ")", LAST},        {" - ", "", LAST},          {" ", "", BEFORE_MARK},
                {" (", ")", BEFORE_MARK}, {" \"", "\"", BEFORE_MARK}, {", ", "", BEFORE_MARK}};
    const size_t way = hd_rng_below(rng, sizeof ways / sizeof *ways);
    struct hd_buffer *sides[2] = {source, target};
    for (int i = 0; i < 2; i++) {
        const size_t at = ways[way].place == FIRST ? 0
                          : ways[way].place == LAST
                              ? sides[i]->n
                              : hd_before_final_mark(hd_buffer_text(sides[i]));
        if (!insert(sides[i], at, ways[way].before, text, ways[way].behind, err))
            return false;
    }
    return true;
}
