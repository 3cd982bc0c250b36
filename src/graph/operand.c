/* operand.c -- rounding the rows of products. */
#include "graph/operand.h"

static uint16_t *rounded(hd_tape *t, const float *x, long ld, int rows, int n)
{
    const long stride = hd_bf16_stride(n);
    uint16_t *y = hd_tape_take(t, "hd_lin", (size_t)rows * (size_t)stride, sizeof *y);
    if (y)
        t->k->to_bf16(y, stride, x, ld, rows, n);
    return y;
}

struct hd_operand hd_operand_of(hd_tape *t, const hd_node *W, const float *x, long ld, int rows,
                                int n)
{
    struct hd_operand o = {.x = x, .ld = ld, .ld_bf16 = hd_bf16_stride(n)};
    o.bf16 = hd_multiplies_bf16(W) ? rounded(t, x, ld, rows, n) : NULL;
    return o;
}

struct hd_operand hd_operand_of_node(hd_tape *t, hd_node *x, const hd_node *W)
{
    const int n = hd_last_dim(x);
    if (!x->tape) /* a parameter, which threads share */
        return hd_operand_of(t, W, x->x, n, hd_n_rows(x), n);
    if (hd_multiplies_bf16(W) && !x->bf16_rows)
        x->bf16_rows = rounded(t, x->x, n, hd_n_rows(x), n);
    return (struct hd_operand){x->x, n, hd_multiplies_bf16(W) ? x->bf16_rows : NULL,
                               hd_bf16_stride(n)};
}
