/* fuzz_protect.c -- any bytes at all as a text: protected pieces lie inside it, one behind the other, and become one
 * placeholder each; numbers are found and end. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "text/protect.h"

static size_t count_placeholders(const struct hd_bytes *text)
{
    size_t n = 0;
    for (size_t i = 0; i + 7 <= text->n; i++)
        for (int k = 0; k < HD_N_PLACEHOLDERS; k++)
            n += memcmp(text->at + i, hd_placeholder(k), 7) == 0;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct hd_protected_list list = {0};
    struct hd_bytes out = {0};
    must(hd_protect_find(&list, NULL, text, size, NULL));
    for (size_t i = 0; i < list.n; i++) {
        const struct hd_span span = list.at[i].span;
        must(span.begin < span.end && span.end <= size);
        must(i == 0 || span.begin >= list.at[i - 1].span.end);
        must(hd_protected_kind_name(list.at[i].kind)[0]);
    }
    hd_protect_replace(&out, text, size, &list);
    must(list.n > HD_N_PLACEHOLDERS || count_placeholders(&out) == list.n);
    struct hd_number number;
    for (size_t i = 0, before = 0; hd_number_next(text, size, &i, &number); before = i)
        must(number.span.begin >= before && number.span.end == i && i > before && i <= size &&
             number.value[0]);
    must(hd_numbers_compare(text, size, text, size).n_missing == 0);
    hd_free(out.at);
    hd_protected_release(&list);
    return 0;
}
