/* sentence_dot.c -- full stops: the word before one (abbreviation, initial, number) and what follows (a capital letter, a word
 * that sentences begin with) decide. */
#include "text/character.h"
#include "text/sentence_end.h"
#include "text/sentence_words.h"

#include <string.h>

static uint32_t at(const struct hd_sentences *s, size_t i)
{
    size_t length;
    return hd_char_at(s->text, s->n, i, &length);
}

static bool is_word_char(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp);
}

static bool is_space_or_end(const struct hd_sentences *s, size_t i)
{
    return i >= s->n || hd_char_is_space(at(s, i));
}

/* ---- the word before a full stop ----------------------------------------------------------------- */

struct word {
    size_t begin, end;
    char key[HD_WORD_KEY];
    uint32_t first;
    int n_letters, n_digits,
        n_others; /* letters without marks; others are neither, dots left out */
    int n_inner_dots;
    bool has_vowel, has_lower;
};

static void read_word(const struct hd_sentences *s, size_t end, struct word *w)
{
    *w = (struct word){.begin = hd_word_begin(s, end), .end = end};
    while (w->begin < end && (s->text[w->begin] == '-' || s->text[w->begin] == '\''))
        w->begin++;
    if (!hd_lower_key(w->key, HD_WORD_KEY, s->text, w->begin, end))
        w->key[0] = '\0';
    w->first = w->begin < end ? at(s, w->begin) : 0;
    for (size_t i = w->begin, length; i < end; i += length) {
        const uint32_t cp = hd_char_at(s->text, end, i, &length);
        if (hd_char_is_mark(cp))
            continue;
        w->n_letters += hd_char_is_letter(cp);
        w->n_digits += hd_char_is_digit(cp);
        w->n_inner_dots += cp == '.';
        w->n_others += cp != '.' && !is_word_char(cp);
        w->has_lower |= hd_char_is_lower(cp);
        w->has_vowel |= cp >= 0x80 || (cp > 0 && strchr("aeiouyAEIOUY", (int)cp));
    }
}

static bool is_number(const struct word *w)
{
    return w->n_digits > 0 && w->n_letters == 0;
}

/* Letters with full stops, "U.S", "J.-P", and a letter alone; of scripts whose letters stand for words, but not of those
 * whose characters are words. */
static bool is_initials(const struct word *w)
{
    const bool has_letters = w->n_letters > 0 && w->n_digits == 0 && w->n_others <= 1;
    const bool is_alphabet = w->first < 0x900 || (w->first >= 0x1E00 && w->first < 0x2000);
    return has_letters && is_alphabet && w->n_letters == w->n_inner_dots + 1;
}

/* "z. B.", "i. d. R.", "v. Chr.": abbreviations of several words with spaces between them. */
static enum hd_abbreviation abbreviation_of(const struct hd_sentences *s, const struct word *w)
{
    char keys[3][HD_WORD_KEY];
    size_t begin = w->begin;
    int n = 0;
    strcpy(keys[0], w->key);
    while (n < 2) {
        const size_t end = hd_skip_space_back(s, begin);
        if (end == begin || end == s->begin || s->text[end - 1] != '.')
            break;
        struct word before;
        read_word(s, end - 1, &before);
        if (before.n_letters < 1 || before.n_letters > 2 || before.n_digits + before.n_others > 0 ||
            strlen(before.key) + 1 + strlen(keys[n]) >= HD_WORD_KEY)
            break;
        strcpy(keys[n + 1], before.key);
        strcat(keys[n + 1], ".");
        strcat(keys[n + 1], keys[n]);
        begin = before.begin;
        n++;
    }
    for (; n > 0; n--) {
        const enum hd_abbreviation kind = hd_abbreviation_find(keys[n], s->languages);
        if (kind != HD_ABBREVIATION_NONE)
            return kind;
    }
    if (w->n_letters == 1 && hd_char_is_upper(w->first))
        return HD_ABBREVIATION_NONE;
    const char *elided = strchr(w->key, '\''); /* "l'on. Rossi" */
    return hd_abbreviation_find(elided ? elided + 1 : w->key, s->languages);
}

static bool is_behind_number(const struct hd_sentences *s, const struct word *w)
{
    size_t length;
    return hd_char_is_digit(hd_char_before(s->text, hd_skip_space_back(s, w->begin), &length));
}

/* "At 7 a.m.": the sentence has only told when. */
static bool is_time_so_far(const struct hd_sentences *s)
{
    char key[HD_WORD_KEY];
    hd_word_at(s, hd_skip_space(s->text, s->n, s->begin), key);
    return s->n_words <= 4 && hd_word_is_time_preposition(key);
}

/* ---- full stops ---------------------------------------------------------------------------------- */

/* "so do I.", "vitamin C." */
static bool is_letter_word(const struct hd_sentences *s, const struct word *w)
{
    char key[HD_WORD_KEY];
    if (w->n_letters != 1 || w->n_inner_dots > 0)
        return false;
    hd_word_before(s, w->begin, key);
    const size_t end = hd_skip_space_back(s, w->begin);
    const size_t begin = hd_word_begin(s, end);
    return (w->first == 'I' && begin < end && hd_char_is_lower(at(s, begin))) ||
           hd_word_before_letter(key);
}

/* A full stop behind a number: an ordinal, a date, the number of a list's item? */
static bool ends_after_number(const struct hd_sentences *s, const struct hd_ending *e,
                              const struct word *w)
{
    char before[HD_WORD_KEY], after[HD_WORD_KEY];
    hd_word_before(s, w->begin, before);
    hd_word_at(s, e->word, after);
    const size_t n_before = strlen(before);
    if (w->n_inner_dots == 0 && n_before > 1 && before[n_before - 1] == '.' &&
        hd_char_is_digit((unsigned char)before[0]))
        return false; /* 2024. 5. 12. */
    if (e->follower == HD_NEXT_DIGIT) {
        size_t i = e->word;
        while (i < s->n && hd_char_is_digit((unsigned char)s->text[i]))
            i++;
        return !(i < s->n && s->text[i] == '.' && is_space_or_end(s, i + 1));
    }
    if (w->n_inner_dots > 0 || w->n_digits > 3 || w->n_others > 0)
        return true;
    if (hd_word_after_ordinal(after, s->languages))
        return false;
    return !hd_word_before_ordinal(before, s->languages) || hd_is_starter(s, e);
}

/* "He said no. I asked why.": a pronoun, not the numeral of "no. I". */
static bool is_answer(const struct hd_sentences *s, const struct hd_ending *e, const struct word *w,
                      const char *after)
{
    const size_t next = hd_skip_space(s->text, s->n, e->word + 1);
    return strcmp(w->key, "no") == 0 && w->first == 'n' && strcmp(after, "i") == 0 &&
           hd_char_is_lower(at(s, next));
}

static bool ends_after_abbreviation(const struct hd_sentences *s, const struct hd_ending *e,
                                    const struct word *w, enum hd_abbreviation kind)
{
    char key[HD_WORD_KEY];
    switch (kind) {
    case HD_ABBREVIATION_INSIDE: /* but "5 mm. Then" */
        return w->n_letters <= 2 && w->has_lower && is_behind_number(s, w) && hd_is_starter(s, e);
    case HD_ABBREVIATION_UNIT:
        return is_behind_number(s, w) && hd_is_starter(s, e);
    case HD_ABBREVIATION_NUMBER:
        hd_word_at(s, e->word, key);
        return e->follower != HD_NEXT_DIGIT &&
               (key[strspn(key, "ivxlc")] != '\0' || is_answer(s, e, w, key));
    case HD_ABBREVIATION_OFTEN:
        return e->follower != HD_NEXT_SYMBOL || e->is_opened;
    default:
        break;
    }
    if (hd_is_starter(s, e))
        return !is_time_so_far(s);
    if (e->follower != HD_NEXT_UPPER || (strcmp(w->key, "a.m") != 0 && strcmp(w->key, "p.m") != 0))
        return false;
    hd_word_at(s, e->word, key); /* 6 p.m. Mrs. Price */
    return hd_abbreviation_find(key, s->languages) == HD_ABBREVIATION_INSIDE && !is_time_so_far(s);
}

bool hd_ends_after_dot(const struct hd_sentences *s, const struct hd_ending *e)
{
    struct word w;
    read_word(s, e->begin, &w);
    if (w.begin == w.end)
        return e->follower != HD_NEXT_LOWER;
    if (w.first >= 0x0E00 && w.first < 0x0F00) /* Thai and Lao have it for abbreviations alone */
        return false;
    enum hd_abbreviation kind = abbreviation_of(s, &w);
    if (e->follower == HD_NEXT_LOWER) /* the end only if the writer has no use for capitals */
        return kind == HD_ABBREVIATION_NONE && s->n_capitals == 0 && !e->has_closing &&
               !is_number(&w) && w.n_letters > 1 && w.has_vowel && !is_initials(&w);
    if (is_number(&w))
        return ends_after_number(s, e, &w);
    if (kind == HD_ABBREVIATION_NONE) {
        const bool is_short = w.n_letters < 5 && w.n_letters > 1 && w.has_lower && !w.has_vowel &&
                              w.n_others + w.n_digits == 0 && !is_behind_number(s, &w);
        if ((is_initials(&w) && !is_letter_word(s, &w)) || is_short)
            kind = HD_ABBREVIATION_MAYBE;
    }
    return kind == HD_ABBREVIATION_NONE || ends_after_abbreviation(s, e, &w, kind);
}

/* ---- missing spaces ------------------------------------------------------------------------------ */

/* Not in names of files and sites. */
bool hd_is_space_missing(const struct hd_sentences *s, const struct hd_ending *e)
{
    char key[HD_WORD_KEY];
    struct word w;
    read_word(s, e->begin, &w);
    if (e->has_closing || e->follower != HD_NEXT_UPPER || w.n_letters < 2 || !w.has_lower ||
        w.n_inner_dots + w.n_digits + w.n_others > 0 ||
        !hd_char_is_lower(hd_char_before(s->text, e->begin, &(size_t){0})))
        return false;
    hd_word_at(s, e->word, key);
    const size_t n = strlen(key);
    return n > 0 && is_space_or_end(s, e->word + n) &&
           (e->has_strong || n > 3 || hd_word_begins_sentence(key, s->languages)) &&
           (n == 1 || hd_char_is_lower(at(s, e->word + 1)));
}
