/* answer.c -- answers as places in documents, from text to tokens and back. */
#include "text/answer.h"

#include "text/character.h"

#include <string.h>

int hd_question_cut(struct hd_text line, struct hd_question *q)
{
    enum { MOST = 4 };
    struct hd_text column[MOST] = {{0}};
    int n = 0;
    for (bool has_more = true; has_more && n < MOST; n++) {
        const char *tab = line.n > 0 ? memchr(line.at, '\t', line.n) : NULL;
        column[n] = (struct hd_text){line.at, tab ? (size_t)(tab - line.at) : line.n};
        has_more = tab != NULL;
        if (tab)
            line = (struct hd_text){tab + 1, line.n - column[n].n - 1};
    }
    *q = (struct hd_question){column[0], column[1], column[2], column[3]};
    return n;
}

/* ---- where it stands --------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct hd_text trimmed(struct hd_text text)
{
    while (text.n > 0 && is_space(text.at[0]))
        text = (struct hd_text){text.at + 1, text.n - 1};
    while (text.n > 0 && is_space(text.at[text.n - 1]))
        text.n--;
    return text;
}

/* The token of this number; false where there is none. */
static bool find_token(struct hd_text document, size_t number, struct hd_span *token)
{
    for (size_t i = 0, n = 0; i < document.n;) {
        const size_t length = hd_vocab_word_length(document.at + i, document.n - i);
        if (length > 0 && n++ == number) {
            *token = (struct hd_span){i, i + length};
            return true;
        }
        i += length > 0 ? length : 1;
    }
    return false;
}

/* Digits alone, few enough to be a number; an empty column is none. */
static bool read_number(struct hd_text text, size_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || i > 8)
            return false;
        *number = 10 * *number + (size_t)(text.at[i] - '0');
    }
    return text.n > 0;
}

/* The first place from `from` to before `to` where the answer begins; as whole tokens only, if so wanted. */
static bool find_text(struct hd_text document, struct hd_text answer, struct hd_span within,
                      bool is_whole, struct hd_span *place)
{
    for (size_t i = within.begin; i < within.end && answer.n <= document.n - i; i++) {
        const size_t end = i + answer.n;
        if (memcmp(document.at + i, answer.at, answer.n) == 0 &&
            (!is_whole || ((i == 0 || is_space(document.at[i - 1])) &&
                           (end == document.n || is_space(document.at[end]))))) {
            *place = (struct hd_span){i, end};
            return true;
        }
    }
    return false;
}

enum hd_answer_state hd_answer_find(const struct hd_question *q, struct hd_span *place)
{
    const struct hd_text document = q->document, answer = trimmed(q->answer),
                         number = trimmed(q->number);
    const struct hd_span all = {0, document.n};
    struct hd_span token;
    size_t at;
    if (answer.n == 0)
        return HD_ANSWER_MISSING;
    if (number.n > 0) {
        if (!read_number(number, &at) || !find_token(document, at, &token))
            return HD_ANSWER_OUTSIDE;
        return find_text(document, answer, token, false, place) ? HD_ANSWER_FOUND
                                                                : HD_ANSWER_MISSING;
    }
    return find_text(document, answer, all, true, place) ||
                   find_text(document, answer, all, false, place)
               ? HD_ANSWER_FOUND
               : HD_ANSWER_MISSING;
}

/* ---- tokens ------------------------------------------------------------------------------------ */

bool hd_answer_tokens(const struct hd_span *places, size_t n, struct hd_span part, int tokens[2])
{
    tokens[0] = tokens[1] = -1;
    for (size_t i = 0; i < n; i++) {
        const bool touches = places[i].begin < places[i].end && places[i].begin < part.end &&
                             places[i].end > part.begin;
        if (touches && tokens[0] < 0)
            tokens[0] = (int)i;
        if (touches)
            tokens[1] = (int)i;
    }
    return tokens[0] >= 0;
}

static bool is_of_word(uint32_t cp)
{
    return (hd_char_is_letter(cp) || hd_char_is_digit(cp)) && !hd_char_is_unspaced(cp);
}

/* Is the place i inside a word? */
static bool cuts_word(struct hd_text text, size_t i)
{
    size_t before, behind;
    const uint32_t left = hd_char_before(text.at, i, &before),
                   right = hd_char_at(text.at, text.n, i, &behind);
    return before > 0 && behind > 0 && is_of_word(left) && is_of_word(right);
}

struct hd_span hd_answer_part(struct hd_text document, const struct hd_span *places, int first,
                              int last)
{
    size_t begin = places[first].begin, end = places[last].end, length;
    while (begin < end && hd_char_is_space(hd_char_at(document.at, document.n, begin, &length)))
        begin += length;
    while (end > begin && hd_char_is_space(hd_char_before(document.at, end, &length)))
        end -= length;
    while (begin < end && cuts_word(document, begin)) {
        hd_char_before(document.at, begin, &length);
        begin -= length;
    }
    while (begin < end && cuts_word(document, end)) {
        hd_char_at(document.at, document.n, end, &length);
        end += length;
    }
    return (struct hd_span){begin, end};
}
