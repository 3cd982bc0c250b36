/* ragged.h -- keys of sentences: S rows each in a block [B,S,A], or rows that know their spans (hd_ragged). */
#ifndef HD_GRAPH_RAGGED_H
#define HD_GRAPH_RAGGED_H

#include "graph/tape.h"

/* Where the keys of each sentence are. */
struct hd_key_rows {
    hd_node *rows;         /* the operand itself, or what hd_ragged() was given */
    const hd_spans *spans; /* NULL: a block */
    int n, S;              /* sentences; the width of their scores */
};

static inline long hd_key_start(const struct hd_key_rows *k, int b)
{
    return k->spans ? k->spans->start[b] : (long)b * k->S;
}

static inline int hd_key_length(const struct hd_key_rows *k, int b)
{
    return k->spans ? k->spans->length[b] : k->S;
}

/* The keys of a node. False, and the reason on the tape, when it is neither a block nor ragged. */
bool hd_find_keys(hd_tape *t, const char *op, const char *name, hd_node *k,
                  struct hd_key_rows *keys);

#endif
