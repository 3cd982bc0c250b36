/* pieces.h -- protected pieces as text, for tests. */
#ifndef HD_TEST_PIECES_H
#define HD_TEST_PIECES_H

#include "text/protect.h"

#include <stdio.h>

/* "kind:piece kind:piece", good until the next call. */
static inline const char *pieces_of(const struct hd_protected_list *list, const char *text)
{
    static char out[4096];
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->n; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s:%.*s", i > 0 ? " " : "",
                              hd_protected_kind_name(list->at[i].kind),
                              (int)(list->at[i].span.end - list->at[i].span.begin),
                              text + list->at[i].span.begin);
    return out;
}

#endif
