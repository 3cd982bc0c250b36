/* spans.h -- what ops ask about sentences in rows. */
#ifndef HD_GRAPH_SPANS_H
#define HD_GRAPH_SPANS_H

#include "graph/tape.h"

#include <string.h>

/* Does a row belong to two sentences? Ops that write a result for every row of a sentence cannot
 * have that. True also, with the error noted, when there is no memory to find out. */
static inline bool hd_spans_share(hd_tape *t, const char *op, const hd_spans *spans)
{
    bool is_ascending = true; /* as most are: one look at each sentence is enough */
    for (int i = 0, end = 0; i < spans->n; i++) {
        is_ascending &= spans->length[i] == 0 || spans->start[i] >= end;
        end = spans->length[i] > 0 ? spans->start[i] + spans->length[i] : end;
    }
    if (is_ascending)
        return false;
    const struct hd_arena_mark before = hd_arena_mark(&t->arena);
    bool *is_taken = hd_tape_take(t, op, (size_t)spans->rows, sizeof *is_taken);
    if (!is_taken)
        return true;
    memset(is_taken, 0, (size_t)spans->rows * sizeof *is_taken);
    bool is_shared = false;
    for (int i = 0; i < spans->n; i++)
        for (int j = 0; j < spans->length[i]; j++) {
            bool *row = &is_taken[spans->start[i] + j];
            is_shared |= *row;
            *row = true;
        }
    hd_arena_rewind(&t->arena, before);
    return is_shared;
}

#endif
