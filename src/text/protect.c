/* protect.c -- protected pieces, found from left to right: at every place where one may begin, the longest kind counts. */
#include "text/protect.h"

#include "base/memory.h"
#include "text/character.h"

#include <stdlib.h>

const char *hd_protected_kind_name(enum hd_protected_kind kind)
{
    static const char *const names[] = {"url",      "mail",  "path",   "code",
                                        "variable", "emoji", "unseen", "kept"};
    return names[kind];
}

void hd_protected_release(struct hd_protected_list *list)
{
    hd_free(list->at);
    *list = (struct hd_protected_list){0};
}

bool hd_protected_add(struct hd_protected_list *list, struct hd_protected one, heed_error *err)
{
    struct hd_protected *grown =
        hd_grow(list->at, &list->capacity, list->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    list->at = grown;
    grown[list->n++] = one;
    return true;
}

static int compare_spans(const void *a, const void *b)
{
    const struct hd_span *x = &((const struct hd_protected *)a)->span,
                         *y = &((const struct hd_protected *)b)->span;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

void hd_protected_sort(struct hd_protected_list *list)
{
    size_t n = 0;
    if (list->n > 1)
        qsort(list->at, list->n, sizeof *list->at, compare_spans);
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || list->at[i].span.begin >= list->at[n - 1].span.end)
            list->at[n++] = list->at[i];
    list->n = n;
}

bool hd_protect_find(struct hd_protected_list *list, const struct hd_keep *keep, const char *text,
                     size_t n, heed_error *err)
{
    struct hd_protected_list kept = {0};
    bool ok = !keep || hd_keep_find(keep, &kept, text, n, err);
    size_t k = 0;
    hd_protected_sort(&kept);
    for (size_t i = 0, length; ok && i < n; i += length) {
        hd_char_at(text, n, i, &length);
        while (k < kept.n && kept.at[k].span.begin < i)
            k++; /* inside another, which is longer */
        struct hd_protected one = {.span = {i, i}};
        one.span.end += hd_protected_at(text, n, i, &one.kind);
        const struct hd_protected *user = k < kept.n ? &kept.at[k] : NULL;
        const bool is_cut =
            user && user->span.begin < one.span.end && user->span.end > one.span.end;
        if (user && user->span.begin == i && user->span.end >= one.span.end)
            one = *user;
        else if (one.span.end == i || is_cut)
            continue;
        ok = hd_protected_add(list, one, err);
        length = one.span.end - i;
    }
    hd_protected_release(&kept);
    return ok;
}

void hd_protect_replace(struct hd_bytes *out, const char *text, size_t n,
                        const struct hd_protected_list *list)
{
    size_t at = 0;
    for (size_t k = 0; k < list->n && k < HD_N_PLACEHOLDERS; k++) {
        hd_bytes_add(out, text + at, list->at[k].span.begin - at);
        hd_bytes_text(out, hd_placeholder((int)k));
        at = list->at[k].span.end;
    }
    hd_bytes_add(out, text + at, n - at);
}
