/* fuzz_remembered.c -- any bytes at all as a translation memory, and then as a text that is looked for in it: a sentence, or pairs of
 * texts, each of which is found as itself. */
#include "fuzz/fuzz.h"

#include "base/utf8.h"
#include "text/remembered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    heed_error err = {0};
    struct hd_remembered *m = hd_remembered_from_memory("fuzz", text, size, &err);
    must((m != NULL) == (err.message[0] == '\0'));
    if (!m)
        return 0;
    struct hd_likeness likes[3];
    const struct hd_remembered_query all = {text, size, NULL, NULL};
    const int n = hd_remembered_find(m, &all, likes, 3, &err);
    must(n >= 0 && n <= 3);
    for (int i = 0; i < n; i++)
        must(likes[i].pair < hd_remembered_size(m) && likes[i].similarity > 0 &&
             (i == 0 || likes[i].similarity <= likes[i - 1].similarity));
    for (size_t i = 0; i < hd_remembered_size(m); i++) {
        const struct hd_remembered_pair *p = hd_remembered_at(m, i);
        const size_t n_source = strlen(p->source);
        must(hd_utf8_valid(p->source, n_source, NULL) && p->target[0] && n_source > 0);
        const struct hd_remembered_query q = {p->source, n_source, p->from, p->to};
        const struct hd_remembered_pair *same = hd_remembered_same(m, &q);
        must(same && same->line >= p->line);
    }
    hd_remembered_free(m);
    return 0;
}
