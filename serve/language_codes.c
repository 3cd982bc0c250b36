/* language_codes.c -- what clients call languages, and what models do. */
#include "serve/language_codes.h"

#include "base/language.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

char *hd_language_code(const char *text, heed_error *err)
{
    static const char *const other[][2] = {
        {"pb", "pt-BR"}, {"zt", "zh-Hant"}, {"zh-TW", "zh-Hant"}, {"zh-CN", "zh-Hans"}};
    char *code = hd_copy_string(text, err);
    for (char *c = code; c && *c; c++)
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    for (size_t i = 0; code && i < sizeof other / sizeof *other; i++)
        if (strcasecmp(code, other[i][0]) == 0) {
            hd_free(code);
            return hd_copy_string(other[i][1], err);
        }
    const char *dash = code ? strchr(code, '-') : NULL;
    if (dash && strlen(dash) == 3) /* a region: pt-BR */
        for (char *c = code + (dash - code); *c; c++)
            *c = (char)toupper((unsigned char)*c);
    else if (dash && strlen(dash) == 5) /* a script: zh-Hant */
        code[dash - code + 1] = (char)toupper((unsigned char)dash[1]);
    return code;
}

/* The fleet's own text of a code. */
static const char *code_in(const struct hd_fleet *f, const char *code, size_t n)
{
    for (size_t i = 0; i < 2 * f->n; i++) {
        const char *own = i % 2 ? f->at[i / 2].to : f->at[i / 2].from;
        if (strlen(own) == n && strncasecmp(own, code, n) == 0)
            return own;
    }
    return NULL;
}

const char *hd_language_known(const struct hd_fleet *f, const char *text)
{
    char *code = hd_language_code(text, NULL);
    const char *known = code ? code_in(f, code, strlen(code)) : NULL;
    const size_t n = code ? strcspn(code, "-") : 0;
    if (!known && code) /* pt-BR is pt where nothing nearer is there, */
        known = code_in(f, code, n);
    for (size_t i = 0; code && !known && i < 2 * f->n; i++) { /* and zh is zh-Hans */
        const char *own = i % 2 ? f->at[i / 2].to : f->at[i / 2].from;
        if (strncasecmp(own, code, n) == 0 && own[n] == '-' && !code[n])
            known = own;
    }
    hd_free(code);
    return known;
}

int hd_language_guess(const struct hd_fleet *f, const char *text, struct hd_detected *guesses,
                      int most)
{
    enum { MOST_TOLD = 64 };
    heed_guess told[MOST_TOLD];
    int n = f->detector ? heed_model_detect(f->detector, text, told, MOST_TOLD) : 0, n_known = 0;
    n = n < MOST_TOLD ? n : MOST_TOLD;
    const bool is_tie = n > 1 && told[0].probability <= told[1].probability; /* it has no letters */
    for (int i = 0; !is_tie && i < n && n_known < most; i++) {
        const char *code = hd_language_known(f, told[i].language);
        if (code)
            guesses[n_known++] = (struct hd_detected){code, (int)(100 * told[i].probability + 0.5)};
    }
    if (n_known == 0) /* of one language there is no choice */
        guesses[n_known++] = (struct hd_detected){.code = f->at[0].from, .confidence = 0};
    return n_known;
}

struct hd_detected hd_language_detect(const struct hd_fleet *f, const char *text, const char *to)
{
    enum { MOST = 64, SURE = 90 };
    struct hd_detected guesses[MOST];
    const int n = hd_language_guess(f, text, guesses, MOST);
    for (int i = 0; to && guesses[0].confidence < SURE && i < n; i++)
        if (hd_fleet_find(f, guesses[i].code, to))
            return guesses[i];
    for (size_t i = 0; to && guesses[0].confidence == 0 && i < f->n; i++)
        if (strcmp(f->at[i].to, to) == 0)
            return (struct hd_detected){.code = f->at[i].from, .confidence = 0};
    return guesses[0];
}
