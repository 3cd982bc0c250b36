/* operand.h -- rows as the left operand of products with a weight: floats, or what the weight wants them to be.
 *
 * A weight whose products are of bf16 takes rows that were rounded. They are rounded once, where they are first multiplied, and shared by
 * all products that they are in, on the way back too. So a formula does not know its precision. */
#ifndef HD_GRAPH_OPERAND_H
#define HD_GRAPH_OPERAND_H

#include "graph/tape.h"

struct hd_operand {
    const float *x;
    long ld;              /* floats from one row to the next */
    const uint16_t *bf16; /* the same rows rounded, or NULL where the weight takes floats */
    long ld_bf16;
};

/* All rows of a node; what is rounded is kept with it. Whoever asks must not rewind the tape's arena to a moment between the making of x
 * and now. */
struct hd_operand hd_operand_of_node(hd_tape *t, hd_node *x, const hd_node *W);

/* Rows x[rows,n]; what is rounded is in memory of the tape. */
struct hd_operand hd_operand_of(hd_tape *t, const hd_node *W, const float *x, long ld, int rows,
                                int n);

/* The rows from `row` on. */
static inline struct hd_operand hd_operand_from(struct hd_operand o, long row)
{
    o.x += row * o.ld;
    o.bf16 = o.bf16 ? o.bf16 + row * o.ld_bf16 : NULL;
    return o;
}

#endif
