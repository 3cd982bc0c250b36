/* protect_symbol.c -- protected pieces as symbols, and back. */
#include "text/protect.h"

#include <string.h>

const char *const hd_symbols[HD_N_SYMBOLS] = {"⟨1⟩", "⟨2⟩", "⟨3⟩", "⟨4⟩", "⟨5⟩",
                                              "⟨6⟩", "⟨7⟩", "⟨8⟩", "⟨9⟩"};

enum { SYMBOL_SIZE = 7 };

void hd_protect_replace(struct hd_bytes *out, const char *text, size_t n,
                        const struct hd_protected_list *list)
{
    size_t at = 0;
    for (size_t k = 0; k < list->n && k < HD_N_SYMBOLS; k++) {
        hd_bytes_add(out, text + at, list->at[k].span.begin - at);
        hd_bytes_text(out, hd_symbols[k]);
        at = list->at[k].span.end;
    }
    hd_bytes_add(out, text + at, n - at);
}

/* Which symbol begins at text[i], -1 for none. */
static int symbol_at(const char *text, size_t n, size_t i)
{
    for (int k = 0; n - i >= SYMBOL_SIZE && k < HD_N_SYMBOLS; k++)
        if (memcmp(text + i, hd_symbols[k], SYMBOL_SIZE) == 0)
            return k;
    return -1;
}

void hd_protect_restore(struct hd_bytes *out, struct hd_restored *report, const char *translation,
                        size_t n, const char *source, const struct hd_protected_list *list)
{
    const unsigned n_symbols = list->n < HD_N_SYMBOLS ? (unsigned)list->n : HD_N_SYMBOLS;
    unsigned seen = 0;
    size_t at = 0;
    *report = (struct hd_restored){0};
    for (size_t i = 0; i < n;) {
        const char *found = memchr(translation + i, '\xE2', n - i);
        if (!found)
            break;
        i = (size_t)(found - translation);
        const int k = symbol_at(translation, n, i);
        if (k < 0) {
            i++;
            continue;
        }
        const unsigned bit = 1U << k;
        hd_bytes_add(out, translation + at, i - at);
        if ((unsigned)k < n_symbols) {
            const struct hd_span span = list->at[k].span;
            hd_bytes_add(out, source + span.begin, span.end - span.begin);
            report->doubled |= seen & bit;
        } else
            report->unknown |= bit;
        seen |= bit;
        i += SYMBOL_SIZE;
        at = i;
    }
    hd_bytes_add(out, translation + at, n - at);
    report->lost = ((1U << n_symbols) - 1) & ~seen;
}
