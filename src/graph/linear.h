/* linear.h -- products with a weight, for every op that has one.
 *
 * A weight W [in,out] is any node, most often a parameter. Rows of x are examples. Whether a
 * packed copy of the weight is there changes the speed and not one bit. */
#ifndef HD_GRAPH_LINEAR_H
#define HD_GRAPH_LINEAR_H

#include "graph/operand.h"

/* What an op that multiplies x with W asks for its home: x instead of a W that is held for products and used as it was declared,
 * which has no values and needs none. */
hd_node *hd_with_values(hd_node *W, enum hd_param_use use, hd_node *x);

/* y[rows,out] = act(start + x[rows,in]·W); start is y itself (accumulate), bias [out], or 0
 * (bias NULL). Not both accumulate and bias; no accumulating where W is in 8 bits. ldy: floats from one row to the next. */
void hd_product(hd_tape *t, float *y, long ldy, struct hd_operand x, int rows, const hd_node *W,
                const float *bias, bool accumulate, enum hd_function act);

/* y[rows,in] = act(start + x[rows,out]·Wᵀ): tied weights, and the way back of the above, dx +=
 * dy·Wᵀ. */
void hd_product_crossed(hd_tape *t, float *y, long ldy, struct hd_operand x, int rows,
                        const hd_node *W, const float *bias, bool accumulate, enum hd_function act);

/* dW[in,out] = aᵀ·b, or += (adds), at once, for a[rows,in] and b[rows,out]. */
void hd_weight_product(hd_tape *t, float *dW, const hd_node *W, struct hd_operand a,
                       struct hd_operand b, bool adds, int rows);

/* Going back: dW[in,out] += aᵀ·b for a[rows,in] and b[rows,out]. After y = x·W that is (x, dy);
 * after y = x·Wᵀ it is (dy, x). Does nothing when W wants no gradient.
 *
 * For a parameter the product may be put off and done together with later ones, at the latest
 * when hd_backward() ends: `a` and `b` must stay as they are until then (values and gradients of
 * nodes do; so does what is taken from the tape). The order of rows is the order of the calls,
 * one chain of additions however it is cut; of bf16, whose chain goes by pairs of rows, where it is cut follows from the calls alone.
 * HD_LARGE_PIECE rows and more are never put off, and nothing is taken from the tape for them. */
enum { HD_LARGE_PIECE = 64 };
void hd_defer_product(hd_tape *t, hd_node *W, struct hd_operand a, struct hd_operand b, int rows);

/* Going back: db[n] += Σ_r dy[r]. b may be NULL. */
void hd_add_bias_gradient(hd_tape *t, hd_node *b, const float *dy, long ldy, int rows);

/* All that was put off; called by hd_backward(). */
void hd_finish_products(hd_tape *t);

#endif
