/* protect_symbol.c -- protected pieces as symbols. */
#include "text/protect.h"

const char *const hd_symbols[HD_N_SYMBOLS] = {"⟨1⟩", "⟨2⟩", "⟨3⟩", "⟨4⟩", "⟨5⟩",
                                              "⟨6⟩", "⟨7⟩", "⟨8⟩", "⟨9⟩"};

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
