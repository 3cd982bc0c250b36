/* fuzz_glossary.c -- any bytes at all as a glossary, and then as a text that its terms are looked for in: a sentence, or matches
 * inside the text, one behind the other. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/glossary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    heed_error err = {0};
    struct hd_glossary *g = hd_glossary_from_memory("fuzz", text, size, &err);
    must((g != NULL) == (err.message[0] == '\0'));
    if (!g)
        return 0;
    must(hd_glossary_size(g) > 0);
    struct hd_term_match m;
    for (size_t i = 0, end = 0; hd_glossary_next(g, text, size, &i, &m); end = i) {
        must(m.span.begin >= end && m.span.end > m.span.begin && m.span.end <= size &&
             i == m.span.end);
        must(m.term < hd_glossary_size(g) && hd_glossary_n_translations(g, m.term) > 0);
        struct hd_bytes form = {0};
        hd_glossary_form(&form, g, &m, hd_glossary_n_translations(g, m.term) - 1, text);
        must(form.n > 0 && hd_utf8_valid(form.at, form.n, NULL));
        hd_free(form.at);
    }
    hd_glossary_free(g);
    return 0;
}
