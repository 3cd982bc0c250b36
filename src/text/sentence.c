/* sentence.c -- runs over a text and asks at every mark whether a sentence ends there (sentence_end.c).
 *
 * What needs memory is here: brackets and quotations inside which nothing ends, as the sentence goes on behind them, and
 * lists, whose items may have no full stops. Invariant: s->begin is where the last sentence ended. */
#include "text/sentence.h"

#include "text/character.h"
#include "text/sentence_end.h"
#include "text/sentence_words.h"

#include <string.h>

enum { LONGEST_QUOTE = 300 }; /* bytes: what is longer may be cut inside */

void hd_sentences_begin(struct hd_sentences *s, const char *text, size_t n, const char *language)
{
    *s = (struct hd_sentences){.text = text, .n = n, .languages = hd_sentence_language(language)};
}

static bool ends_line(uint32_t cp)
{
    return (cp >= '\n' && cp <= '\r') || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

/* ---- lists --------------------------------------------------------------------------------------- */

/* How an item is marked: "1.", "1)", "1.)", "(1)"; the same with letters. 0 is no list. */
enum { LIST_DOT = 1, LIST_BRACKET, LIST_DOT_BRACKET, LIST_BRACKETS, LIST_LETTERS = 8 };

struct item {
    int style;
    uint32_t number;
    size_t end;
};

/* The number of an item at text[i], with white space behind it. */
static bool read_item(const struct hd_sentences *s, size_t i, struct item *item)
{
    *item = (struct item){0};
    const bool has_bracket = i < s->n && s->text[i] == '(';
    i += has_bracket;
    const size_t begin = i;
    for (; i < s->n && i - begin < 3 && s->text[i] >= '0' && s->text[i] <= '9'; i++)
        item->number = item->number * 10 + (uint32_t)(s->text[i] - '0');
    if (i == begin && i < s->n && hd_char_is_letter((unsigned char)s->text[i])) {
        item->number = (unsigned char)s->text[i++];
        item->style = LIST_LETTERS;
    }
    if (i == begin || i + 1 >= s->n)
        return false;
    const bool is_dot = s->text[i] == '.', is_bracket = s->text[i + is_dot] == ')';
    item->style += has_bracket            ? LIST_BRACKETS
                   : is_dot && is_bracket ? LIST_DOT_BRACKET
                   : is_bracket           ? LIST_BRACKET
                                          : LIST_DOT;
    i += (size_t)is_dot + is_bracket;
    item->end = i;
    size_t length;
    /* "A. Smith" is a name. */
    return (is_dot || is_bracket) && (!has_bracket || (is_bracket && !is_dot)) &&
           !(item->style == LIST_LETTERS + LIST_DOT && item->number < 'a') && i < s->n &&
           hd_char_is_space(hd_char_at(s->text, s->n, i, &length));
}

/* "3. Oktober" and "am 3." are no items. */
static bool is_ordinal(const struct hd_sentences *s, size_t begin, const struct item *item)
{
    char key[HD_WORD_KEY];
    if (item->style != LIST_DOT)
        return false;
    hd_word_at(s, hd_skip_space(s->text, s->n, item->end), key);
    if (hd_word_after_ordinal(key, s->languages))
        return true;
    hd_word_before(s, begin, key);
    return hd_word_before_ordinal(key, s->languages);
}

static bool is_bullet(uint32_t cp)
{
    return cp == 0x2022 || cp == 0x2023 || cp == 0x2043 || cp == 0x25E6 || cp == 0x25AA ||
           cp == 0x25CF || cp == 0x25CB || cp == 0x25A0 || cp == 0xB7 || cp == 0x30FB ||
           (hd_char_is_emoji(cp) && cp != 0xFE0F && cp != 0x200D);
}

/* Note the item that begins at text[i]; where its number ends, or i. */
static size_t begin_item(struct hd_sentences *s, size_t i)
{
    struct item item;
    if (!read_item(s, i, &item) || is_ordinal(s, i, &item))
        return i;
    s->list_style = item.style;
    s->list_next = item.number + 1;
    return item.end;
}

/* Does the next item of the list under way begin at text[i], behind white space? */
static bool begins_item(const struct hd_sentences *s, size_t i, uint32_t cp)
{
    struct item item;
    size_t length;
    if (s->bullet && cp == s->bullet)
        return true;
    if (s->list_style == 0 || !read_item(s, i, &item) || item.style != s->list_style ||
        item.number != s->list_next || is_ordinal(s, i, &item))
        return false;
    cp = hd_char_at(s->text, s->n, hd_skip_space(s->text, s->n, item.end), &length);
    return hd_char_is_letter(cp) && (item.style != LIST_DOT || !hd_char_is_lower(cp));
}

/* ---- brackets and quotations --------------------------------------------------------------------- */

static uint32_t closing_of(const struct hd_sentences *s, size_t i, uint32_t cp, uint32_t before)
{
    static const uint32_t pairs[][2] = {
        {'(', ')'},       {'[', ']'},       {0xFF08, 0xFF09}, {0x300C, 0x300D}, {0x300E, 0x300F},
        {0x3010, 0x3011}, {0x201C, 0x201D}, {0x201E, 0x201C}, {0xAB, 0xBB},     {0xBB, 0xAB},
    };
    size_t length;
    if (cp == '"') {
        const uint32_t behind = hd_char_at(s->text, s->n, i + 1, &length);
        return hd_char_is_letter(before) || hd_char_is_digit(before) || hd_char_is_space(behind)
                   ? 0
                   : '"';
    }
    if (cp == '(' && (before == ':' || before == ';' || before == '-' || before == '='))
        return 0; /* :-( */
    if (cp == 0x201C && hd_char_is_letter(before))
        return 0; /* it closes „ */
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k][0] == cp)
            return pairs[k][1];
    return 0;
}

static bool is_bracket(uint32_t cp)
{
    return cp == '(' || cp == '[' || cp == 0xFF08 || cp == 0x3010;
}

/* A bracket or quotation opens at text[i]. Where it closes, if nothing may end inside: a bracket within a sentence, or what
 * the sentence goes on behind; else 0. */
static size_t hold_until(const struct hd_sentences *s, size_t i, uint32_t cp, uint32_t before)
{
    const uint32_t closing = closing_of(s, i, cp, before);
    if (!closing)
        return 0;
    const size_t most = s->n - i < LONGEST_QUOTE ? s->n : i + LONGEST_QUOTE;
    size_t length, depth = 1, j = i, last = i; /* `last`: what is no white space */
    hd_char_at(s->text, s->n, i, &length);
    for (j += length; j < most; j += length) {
        const uint32_t c = hd_char_at(s->text, s->n, j, &length);
        const bool is_inner =
            c == '"' && j + 1 < s->n && hd_char_is_letter((unsigned char)s->text[j + 1]);
        if (ends_line(c))
            return 0;
        depth += c == cp && c != closing;
        if (c == closing && !is_inner && --depth == 0)
            break;
        if (!hd_char_is_space(c))
            last = j;
    }
    if (j >= most)
        return 0;
    const bool is_whole = hd_ends_sentence(s, last, hd_char_at(s->text, s->n, last, &(size_t){0}));
    if (is_bracket(cp))
        return i > hd_skip_space(s->text, s->n, s->begin) || hd_sentence_goes_on(s, j + length) ? j
                                                                                                : 0;
    return !is_whole || hd_sentence_goes_on(s, j + length) ? j : 0;
}

/* ---- sentences ----------------------------------------------------------------------------------- */

/* Forget the last sentence; where the text of the next one begins, behind bullets and numbers. */
static size_t begin_sentence(struct hd_sentences *s)
{
    size_t length, i = hd_skip_space(s->text, s->n, s->begin);
    const uint32_t cp = hd_char_at(s->text, s->n, i, &length);
    s->n_capitals = s->n_words = 0;
    s->hold = 0;
    if (is_bullet(cp)) {
        s->bullet = cp;
        i = hd_skip_space(s->text, s->n, i + length);
    }
    return begin_item(s, i);
}

/* Count the word that begins at text[i], and see whether it is a number that a list begins with: "do this: 1. Open it". */
static size_t begin_word(struct hd_sentences *s, size_t i, uint32_t cp)
{
    size_t length;
    if (!hd_char_is_letter(cp) && !hd_char_is_digit(cp))
        return i;
    const uint32_t behind = hd_char_at(s->text, s->n, i + 1, &length);
    s->n_words++;
    s->n_capitals += hd_char_is_upper(cp) &&
                     !(cp == 'I' && !hd_char_is_letter(behind) && !hd_char_is_digit(behind));
    if (cp != '1' && cp != 'a')
        return i;
    size_t before = i;
    while (before > s->begin && s->text[before - 1] == ' ')
        before--;
    return before > s->begin && s->text[before - 1] == ':' ? begin_item(s, i) : i;
}

static size_t next_after_emoticon(const struct hd_sentences *s, size_t i, uint32_t cp)
{
    const bool may_be = cp == ':' || cp == ';' || cp == '=' || hd_char_is_emoji(cp);
    return may_be ? hd_emoticon_end(s, i) : 0;
}

/* Where the sentence that begins at s->begin ends. */
static size_t end_of_sentence(struct hd_sentences *s)
{
    uint32_t before = ' ', cp;
    const size_t first = begin_sentence(s);
    for (size_t i = first, length; i < s->n; i += length, before = cp) {
        cp = hd_char_at(s->text, s->n, i, &length);
        if (ends_line(cp))
            return hd_skip_space(s->text, s->n, i);
        if (hd_char_is_space(before) && i > first + 1 && i >= s->hold) {
            const size_t next = begins_item(s, i, cp) ? i : next_after_emoticon(s, i, cp);
            if (next > 0)
                return next;
        }
        if (!hd_char_is_letter(before) && !hd_char_is_digit(before) && before != '\'') {
            const size_t behind = begin_word(s, i, cp);
            if (behind > i) {
                length = behind - i;
                continue;
            }
        }
        if (i < s->hold)
            continue;
        if (hd_ends_sentence(s, i, cp)) {
            size_t behind;
            const size_t next = hd_sentence_end(s, i, &behind);
            if (next > 0)
                return next;
            length = behind - i;
        } else {
            const size_t hold = hold_until(s, i, cp, before);
            s->hold = hold > s->hold ? hold : s->hold;
        }
    }
    return s->n;
}

bool hd_sentences_next(struct hd_sentences *s, struct hd_span *sentence)
{
    if (s->begin >= s->n)
        return false;
    const size_t end = end_of_sentence(s);
    *sentence = (struct hd_span){s->begin, end};
    s->begin = end;
    return true;
}
