/* protect_keep.c -- what a user names: regular expressions by the C library, and words. */
#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "text/character.h"
#include "text/protect.h"

#include <regex.h>
#include <string.h>

struct hd_keep {
    regex_t *patterns;
    size_t n_patterns;
    char **words;
    size_t n_words;
};

static bool add_pattern(struct hd_keep *keep, const char *pattern, heed_error *err)
{
    regex_t *regex = &keep->patterns[keep->n_patterns];
    const int code = regcomp(regex, pattern, REG_EXTENDED);
    if (code == REG_ESPACE)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory for the expression %s",
                       hd_quote(pattern).text);
    if (code != 0) {
        char reason[128];
        regerror(code, regex, reason, sizeof reason);
        return hd_fail(err, HEED_BAD_OPTION,
                       "keep: %s is not a regular expression: %s; put a backslash before a "
                       "character that stands for itself",
                       hd_quote(pattern).text, reason);
    }
    keep->n_patterns++;
    return pattern[0] != '\0' ||
           hd_fail(err, HEED_BAD_OPTION,
                   "keep: the regular expression is empty; name what is to be kept");
}

static bool add_word(struct hd_keep *keep, const char *word, heed_error *err)
{
    if (word[0] == '\0')
        return hd_fail(err, HEED_BAD_OPTION, "keep: a word is empty; name what is to be kept");
    keep->words[keep->n_words] = hd_copy_string(word, err);
    return keep->words[keep->n_words] && ++keep->n_words > 0;
}

struct hd_keep *hd_keep_new(const char *const *patterns, size_t n_patterns,
                            const char *const *words, size_t n_words, heed_error *err)
{
    struct hd_keep *keep = hd_new(struct hd_keep, err);
    if (!keep)
        return NULL;
    keep->patterns = hd_alloc(n_patterns, sizeof *keep->patterns, err);
    keep->words = hd_alloc(n_words, sizeof *keep->words, err);
    bool ok = keep->patterns && keep->words;
    for (size_t i = 0; ok && i < n_patterns; i++)
        ok = add_pattern(keep, patterns[i], err);
    for (size_t i = 0; ok && i < n_words; i++)
        ok = add_word(keep, words[i], err);
    if (!ok) {
        hd_keep_free(keep);
        return NULL;
    }
    return keep;
}

void hd_keep_free(struct hd_keep *keep)
{
    if (!keep)
        return;
    for (size_t i = 0; keep->patterns && i < keep->n_patterns; i++)
        regfree(&keep->patterns[i]);
    for (size_t i = 0; keep->words && i < keep->n_words; i++)
        hd_free(keep->words[i]);
    hd_free(keep->patterns);
    hd_free(keep->words);
    hd_free(keep);
}

/* Expressions may match bytes; characters stay whole. */
static bool add_match(struct hd_protected_list *list, const char *text, size_t n, size_t begin,
                      size_t end, heed_error *err)
{
    while (begin > 0 && ((unsigned char)text[begin] & 0xC0) == 0x80)
        begin--;
    while (end < n && ((unsigned char)text[end] & 0xC0) == 0x80)
        end++;
    struct hd_protected *grown =
        hd_grow(list->at, &list->capacity, list->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    list->at = grown;
    grown[list->n++] = (struct hd_protected){{begin, end}, HD_PROTECTED_USER};
    return true;
}

static bool find_pattern(const regex_t *regex, struct hd_protected_list *list, const char *text,
                         size_t n, heed_error *err)
{
    regmatch_t match;
    for (size_t i = 0; i < n && regexec(regex, text + i, 1, &match, i > 0 ? REG_NOTBOL : 0) == 0;) {
        const size_t begin = i + (size_t)match.rm_so, end = i + (size_t)match.rm_eo;
        if (end > begin && !add_match(list, text, n, begin, end, err))
            return false;
        i = end > begin ? end : end + 1;
    }
    return true;
}

static bool is_letter_at(const char *text, size_t n, size_t i, bool is_before)
{
    size_t length;
    const uint32_t cp =
        is_before ? hd_char_before(text, i, &length) : hd_char_at(text, n, i, &length);
    return length > 0 && (hd_char_is_letter(cp) || hd_char_is_digit(cp) || cp == '_') &&
           !hd_char_is_east_asian(cp);
}

static bool find_word(const char *word, struct hd_protected_list *list, const char *text, size_t n,
                      heed_error *err)
{
    const size_t length = strlen(word);
    for (const char *found = text; (found = strstr(found, word)) != NULL; found++) {
        const size_t begin = (size_t)(found - text), end = begin + length;
        const bool is_inside =
            (is_letter_at(text, n, begin, true) && is_letter_at(word, length, 0, false)) ||
            (is_letter_at(text, n, end, false) && is_letter_at(word, length, length, true));
        if (!is_inside && !add_match(list, text, n, begin, end, err))
            return false;
    }
    return true;
}

bool hd_keep_find(const struct hd_keep *keep, struct hd_protected_list *list, const char *text,
                  size_t n, heed_error *err)
{
    char *copy = hd_alloc(n + 1, 1, err); /* the C library wants a NUL at the end */
    if (!copy)
        return false;
    memcpy(copy, text, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = copy[i] ? copy[i] : ' '; /* and none before it */
    bool ok = true;
    for (size_t i = 0; ok && i < keep->n_patterns; i++)
        ok = find_pattern(&keep->patterns[i], list, copy, n, err);
    for (size_t i = 0; ok && i < keep->n_words; i++)
        ok = find_word(keep->words[i], list, copy, n, err);
    hd_free(copy);
    return ok;
}
