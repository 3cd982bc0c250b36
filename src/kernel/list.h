/* list.h -- every kernel there is: one line each, X(returns, name, arguments).
 *
 * The struct of function pointers, the reference table and the tables of the instruction sets are all made from
 * this one list, so none of them can forget a kernel. Outputs come first, sizes last. Lengths may be zero.
 *
 * Two kinds of sums exist (one arithmetic for all CPUs):
 *   chain    acc = fma(a_k, b_k, acc) for k = 0, 1, 2 … : every output of a matrix product, every column sum;
 *   lanes    16 partial chains, element i in lane i % 16 (missing elements of the last 16 count as +0),
 *            then one tree: lanes l and l+8, l and l+4, l and l+2, l and l+1.
 * "+=" below means the chain starts from what stands in the output. The last bit of everything else, which operations are
 * fused and in which order they go, is what ref.c says.
 *
 * Outputs do not overlap inputs, except that what works element by element (the functions of one number, add … add_product,
 * dropout, softmax, the norms, the cells' states) may write over an input of the same shape, exactly in place.
 * Pointers may be NULL only where it is said. */

/* clang-format off: a table */

/* ---- matrix products: gemm.inc ---------------------------------------------------------------------------- */
#define HD_KERNEL_LIST_GEMM(X)                                                                                                \
    /* Panels of 16 columns: packed[n/16][k][n%16] = w[k*k_stride + n*n_stride]; missing columns are 0.        \
     * hd_packed_size(K, N) floats. Strides say whether w stands as [K,N] (N, 1) or as [N,K] (1, K). */              \
    X(void, pack, (float *packed, const float *w, long k_stride, long n_stride, int K, int N))                                \
    /* y[M,N] = act(start + x[M,K]·W), a chain over k; start is y itself (accumulate), bias [N], or 0. */                    \
    X(void, gemm,                                                                                                             \
      (float *y, long ldy, const float *x, long ldx, const float *packed, const float *bias,                                  \
       bool accumulate, enum hd_function act, int M, int K, int N))                                                           \
    /* y[M,N] (+)= a[M,K]·b[K,N], nothing packed beforehand: a(m,k) = a[m*a_row + k*a_k],                      \
     * b(k,n) = b[k*b_k + n*b_col]; one of each pair of strides is 1. scratch: HD_GEMM_SCRATCH floats. */             \
    X(void, gemm_free,                                                                                                        \
      (float *y, long ldy, const float *a, long a_row, long a_k, const float *b, long b_k,                                    \
       long b_col, bool accumulate, int M, int K, int N, float *scratch))                                                     \
    /* e[T,S] (+)= scale · q_t·k_j, lanes over the D numbers of both rows: scores of attention.                 \
     * The product with scale is rounded, then added when accumulating. */           \
    X(void, dots,                                                                                                             \
      (float *e, long lde, const float *q, long ldq, const float *k, long ldk, float scale,                                   \
       bool accumulate, int T, int S, int D))                                                                                 \
    /* One query of attention, all its heads side by side: w[h,·] = softmax(scale · q_h·k_jh), y_h = Σ_j w[h,j] v_jh,   \
     * a chain over j. Key and value j stand in row rows[j] of k and v, or in row j when that is NULL. d and e are the  \
     * widths of one head; w is [heads, S]. The bits are those of dots, softmax and gemm, head by head. */ \
    X(void, attend,                                                                                                           \
      (float *y, float *w, const float *q, const float *k, long ldk, const float *v, long ldv,                                \
       const int *rows, float scale, int heads, int S, int d, int e))

/* ---- 8-bit products: int8.inc ------------------------------------------------------------------------------ */
#define HD_KERNEL_LIST_INT8(X)                                                                                                \
    /* One row: scale = max|x| / 127, q = nearest (ties to even) of x / scale in [-127, 127]; the row of q is  \
     * filled with 0 up to a multiple of 4. NaN counts as 0, infinities as the largest finite float. */              \
    X(void, quantise, (int8_t * q, float *scale, const float *x, int n))                                                      \
    /* Packed: [n/16][k/4][n%16][k%4] of w + 128; hd_packed_size_int8(K, N) bytes. w in [-127, 127]. */                       \
    X(void, pack_int8,                                                                                                        \
      (uint8_t * packed, const int8_t *w, long k_stride, long n_stride, int K, int N))                                        \
    /* y[M,N] = x[M,K]·W exactly, in 32 bits (K ≤ HD_INT8_MAX_K). Rows of x are padded as by quantise. */                  \
    X(void, gemm_int8_sums,                                                                                                   \
      (int32_t * y, long ldy, const int8_t *x, long ldx, const uint8_t *packed, int M, int K,                                 \
       int N))                                                                                                                \
    /* y[m,n] = act(fma(sum, x_scale[m] · w_scale[n], bias[n])), sum as above made float; bias may be NULL. */               \
    X(void, gemm_int8,                                                                                                        \
      (float *y, long ldy, const int8_t *x, long ldx, const float *x_scale, const uint8_t *packed,                            \
       const float *w_scale, const float *bias, enum hd_function act, int M, int K, int N))                                   \
    /* Codes c of 4 bits, code[n*n_stride + k]. Packed: [n/16][k/8][n%16][k%4], k in the low half of a byte and k + 4 in   \
     * the high one; hd_packed_size_int4(K, N) bytes. What is missing is 0. */  \
    X(void, pack_int4, (uint8_t * packed, const uint8_t *code, long n_stride, int K, int N))                                  \
    /* How much a row x can give at most: above[n/16] = the largest of fma(reach, radius[n], fma(Σ_k (2c_kn - 15) x_k,     \
     * x_scale · scale[n], bias[n])) of a panel's columns. x is padded as by quantise; K ≤ HD_INT8_MAX_K; no NaN. */ \
    X(void, bounds_int4,                                                                                                      \
      (float *above, const int8_t *x, float x_scale, float reach, const uint8_t *packed,                                      \
       const float *scale, const float *radius, const float *bias, int K, int N))

/* ---- products of bf16: bf16.inc, bf16_blocks.inc ----------------------------------------------------------------------------- */
/* One chain over pairs i of k: acc = fma(a_2i+1, b_2i+1, acc), then acc = fma(a_2i, b_2i, acc); an odd K is filled up by a zero. Denormal
 * operands and results are zeros: bf16.h. */
#define HD_KERNEL_LIST_BF16(X)                                                                                     \
    /* x[rows,n], rounded (bf16.h). A row of y is filled with 0 up to hd_bf16_stride(n); so is every row below. */ \
    X(void, to_bf16, (uint16_t * y, long ldy, const float *x, long ldx, int rows, int n))                          \
    /* Rounded and packed: [n/16][k/2][n%16], the even k in the low half; hd_packed_size_bf16(K, N) pairs. */      \
    X(void, pack_bf16,                                                                                             \
      (uint32_t * packed, const float *w, long k_stride, long n_stride, int K, int N))                             \
    /* gemm for x and W in bf16; y, bias and what is added are floats. ldx is even. */                             \
    X(void, gemm_bf16,                                                                                             \
      (float *y, long ldy, const uint16_t *x, long ldx, const uint32_t *packed, const float *bias,                 \
       bool accumulate, enum hd_function act, int M, int K, int N))                                                \
    /* y[M,N] (+)= aᵀ·b for rows a[K,M] and b[K,N]: gradients of weights. scratch: HD_GEMM_SCRATCH floats. */   \
    X(void, gemm_bf16_free,                                                                                        \
      (float *y, long ldy, const uint16_t *a, long lda, const uint16_t *b, long ldb,                               \
       bool accumulate, int M, int K, int N, float *scratch))                                                      \
    /* The two with sums in blocks of 32 of k: hd_bf16_sum_add() of bf16.h. */                                     \
    X(void, gemm_bf16_blocks,                                                                                      \
      (float *y, long ldy, const uint16_t *x, long ldx, const uint32_t *packed, const float *bias,                 \
       bool accumulate, enum hd_function act, int M, int K, int N))                                                \
    X(void, gemm_bf16_blocks_free,                                                                                 \
      (float *y, long ldy, const uint16_t *a, long lda, const uint16_t *b, long ldb,                               \
       bool accumulate, int M, int K, int N, float *scratch))

/* ---- functions of one number, and their derivatives: math.inc ---------------------------------------------- */
/* The largest errors over all floats: ref_math.h. Infinities, NaN, denormals, overflow and underflow as libm has them. */
#define HD_KERNEL_LIST_MATH(X)                                                                                              \
    X(void, exp, (float *y, const float *x, long n))                                                                        \
    X(void, log, (float *y, const float *x, long n))                                                                        \
    X(void, tanh, (float *y, const float *x, long n))                                                                       \
    X(void, sigmoid, (float *y, const float *x, long n))                                                                    \
    X(void, sin, (float *y, const float *x, long n))                                                                        \
    X(void, cos, (float *y, const float *x, long n))                                                                        \
    X(void, erf, (float *y, const float *x, long n))                                                                        \
    X(void, relu, (float *y, const float *x, long n))  /* max(x, 0); NaN stays NaN */                                       \
    X(void, gelu, (float *y, const float *x, long n))  /* x/2 · (1 + erf(x/√2)) */                                       \
    X(void, swish, (float *y, const float *x, long n)) /* x · σ(x) */                                                     \
    /* dx = dy · f', where dx may be dy, or dx += (add). tanh, sigmoid, relu and exp know f' from y, the others from x. */ \
    X(void, tanh_back, (float *dx, const float *dy, const float *y, bool add, long n))                                      \
    X(void, sigmoid_back, (float *dx, const float *dy, const float *y, bool add, long n))                                   \
    X(void, relu_back, (float *dx, const float *dy, const float *y, bool add, long n))                                      \
    X(void, gelu_back, (float *dx, const float *dy, const float *x, bool add, long n))                                      \
    X(void, swish_back, (float *dx, const float *dy, const float *x, bool add, long n))                                     \
    X(void, exp_back, (float *dx, const float *dy, const float *y, bool add, long n))                                       \
    X(void, log_back, (float *dx, const float *dy, const float *x, bool add, long n))

/* ---- long vectors: vector.inc ------------------------------------------------------------------------------ */
#define HD_KERNEL_LIST_VECTOR(X)                                                                                 \
    X(void, add, (float *y, const float *a, const float *b, long n))                                             \
    X(void, sub, (float *y, const float *a, const float *b, long n))                                             \
    X(void, mul, (float *y, const float *a, const float *b, long n))                                             \
    X(void, scale, (float *y, float s, const float *x, long n))                                                  \
    X(void, add_scaled, (float *y, float s, const float *x, long n)) /* y = fma(s, x, y) */                      \
    X(void, add_product,                                                                                         \
      (float *y, const float *a, const float *b, long n))   /* y = fma(a, b, y) */                               \
    X(float, sum, (const float *x, long n))                 /* lanes */                                          \
    X(float, dot, (const float *a, const float *b, long n)) /* lanes */                                          \
    /* -inf when empty; NaN is passed over; a zero is +0, whichever it was */                                    \
    X(float, max, (const float *x, long n))                                                                      \
    /* lanes in blocks of HD_SQUARES_BLOCK, whose sums are added as doubles, first to last */                    \
    X(double, sum_squares, (const float *x, long n))                                                             \
    X(bool, all_finite, (const float *x, long n))                                                                \
    /* y[n] += Σ_r x[r,n], a chain over r */                                                                    \
    X(void, sum_rows, (float *y, const float *x, long ldx, int rows, int n))                                     \
    /* table[ids[r]] to y[r]; and back: dtable[ids[r]] += dy[r] for r = 0, 1, 2 … */                           \
    X(void, gather_rows, (float *y, const float *table, const int *ids, int rows, int n))                        \
    X(void, scatter_add_rows, (float *dtable, const float *dy, const int *ids, int rows, int n))                 \
    /* y = x / (1 - rate) where kept, else 0; add: y += instead of y =. Element i is dropped when its 16 bits  \
     * are below rate · 65536, rounded: those of word i/16 % 4 of hd_philox(key, 16 (i/128) + i % 16, stream), \
     * the low ones where i/64 is even, the high ones where it is odd. 0 ≤ rate ≤ 1. */ \
    X(void, dropout,                                                                                             \
      (float *y, const float *x, float rate, uint64_t key, uint64_t stream, bool add, long n))                   \
    /* The k largest of x, largest first, ties (+0 and -0 are one) by the lower index; NaN is never taken      \
     * before a number. Where k > n the rest has index -1 and value -inf. Made for small k: k is sorted by     \
     * insertion. */ \
    X(void, top_k, (int *index, float *value, const float *x, int n, int k))

/* ---- rows: softmax, losses, norms: row.inc ----------------------------------------------------------------- */
#define HD_KERNEL_LIST_ROW(X)                                                                                           \
    /* keep: NULL, or n bytes, 0 where an element takes no part: there softmax gives 0, log_softmax -inf.      \
     * A row of which nothing is kept gives all 0, or all -inf. With m the largest kept element, softmax is    \
     * exp(x - m) · (1/Σ), log_softmax (x - m) - log Σ; a kept NaN or +inf, or -inf alone, gives NaN. */        \
    X(void, softmax, (float *y, const float *x, const uint8_t *keep, int n))                                            \
    X(void, softmax_back,                                                                                               \
      (float *dx, const float *dy, const float *y, int n)) /* dx += y·(dy - Σ y·dy) */                               \
    X(void, log_softmax, (float *y, const float *x, const uint8_t *keep, int n))                                        \
    /* log Σ exp(x - m), m the largest element, which goes to *largest: log_softmax is (x - *largest) - that. In the \
     * same go, the k largest as top_k finds them; k may be 0. */ \
    X(float, log_sum, (float *largest, int *index, float *value, const float *x, int n, int k))                         \
    /* dx += dy - exp(y)·Σ dy; dy of elements that took no part must be 0 */                                          \
    X(void, log_softmax_back, (float *dx, const float *dy, const float *y, int n))                                      \
    /* Returns (1-ε)·(-log p_target) + ε·mean_v(-log p_v). When d is not NULL, d = scale · its gradient by the  \
     * logits x (d may be x itself), and when db is not NULL either, db += d. */  \
    X(float, xent,                                                                                                      \
      (float *d, float *db, const float *x, int target, float smoothing, float scale, int n))                           \
    /* Returns KL(p1‖p2) = Σ_v p1 (log p1 - log p2) of two rows of logits; d1 and d2, when not NULL, get        \
     * += scale · its gradient by x1 and by x2. Where p1 is 0 because x1 is -inf, nothing is added. */    \
    X(float, kl, (float *d1, float *d2, const float *x1, const float *x2, float scale, int n))                          \
    /* y = gain · (x - mean)/√(var + eps) + bias; stats = {mean, 1/√(var + eps)}; var is the mean of           \
     * (x - mean)², lanes as the mean. */   \
    X(void, layer_norm,                                                                                                 \
      (float *y, float *stats, const float *x, const float *gain, const float *bias, float eps,                         \
       int n))                                                                                                          \
    /* dx =, where it may be dy, or += (add); the others +=; any of them NULL */                                        \
    X(void, layer_norm_back,                                                                                            \
      (float *dx, float *dgain, float *dbias, const float *dy, const float *x, const float *gain,                       \
       const float *stats, bool add, int n))                                                                            \
    /* y = gain · x/√(mean(x²) + eps); stats = {1/√(…)} */                                                      \
    X(void, rms_norm,                                                                                                   \
      (float *y, float *stats, const float *x, const float *gain, float eps, int n))                                    \
    /* in the same way */                                                                                               \
    X(void, rms_norm_back,                                                                                              \
      (float *dx, float *dgain, const float *dy, const float *x, const float *gain,                                     \
       const float *stats, bool add, int n))                                                                            \
    /* Additive attention, one query against S keys: e_j = Σ_a v_a tanh(q_a + k_ja [+ cover_j · w_a]), lanes.  \
     * cover [S] and w [A] are both NULL or both given. Backward makes the tanh again instead of reading it;   \
     * any of its outputs may be NULL. All of them are "+=", key after key. */      \
    X(void, additive,                                                                                                   \
      (float *e, const float *v, const float *q, const float *k, long ldk, const float *cover,                          \
       const float *w, int S, int A))                                                                                   \
    X(void, additive_back,                                                                                              \
      (float *dv, float *dq, float *dk, long lddk, float *dcover, float *dw, const float *de,                           \
       const float *v, const float *q, const float *k, long ldk, const float *cover,                                    \
       const float *w, int S, int A))

/* ---- one step of a recurrent cell, one row: cell.inc ------------------------------------------------------- */
#define HD_KERNEL_LIST_CELL(X)                                                                                         \
    /* s = tanh(x + u), x from the input, u from the previous state */                                                 \
    X(void, rnn_cell, (float *s, const float *x, const float *u, int D))                                               \
    X(void, rnn_cell_back,                                                                                             \
      (float *dg, const float *ds, const float *s, int D)) /* dg =, by x and u alike */                                \
    /* x, u: r, z, n side by side [3D]. r = σ(x_r+u_r), z = σ(x_z+u_z), n = tanh(x_n + r∘u_n),                 \
     * s = (1-z)∘n + z∘prev = n + z∘(prev-n). gates [3D] keeps r, z, n for the way back. s may be prev. */   \
    X(void, gru_cell,                                                                                                  \
      (float *s, float *gates, const float *x, const float *u, const float *prev, int D))                              \
    /* dx = and du = (they differ in the n part: du_n = r∘dx_n); dprev += z∘ds */                                  \
    X(void, gru_cell_back,                                                                                             \
      (float *dx, float *du, float *dprev, const float *ds, const float *gates, const float *u,                        \
       const float *prev, int D))                                                                                      \
    /* x, u: i, f, g, o side by side [4D] (PyTorch's order). c = f∘c_prev + i∘g, s = o∘tanh(c). gates [4D].    \
     * c may be c_prev. */ \
    X(void, lstm_cell,                                                                                                 \
      (float *s, float *c, float *gates, const float *x, const float *u, const float *c_prev,                          \
       int D))                                                                                                         \
    /* dg =, by x and u alike [4D]; dc_prev = f∘dc_all, where dc_all = dc + ds∘o∘(1-tanh²c); dc may be NULL */  \
    X(void, lstm_cell_back,                                                                                            \
      (float *dg, float *dc_prev, const float *ds, const float *dc, const float *gates,                                \
       const float *c, const float *c_prev, int D))

/* ---- learning: optim.inc ------------------------------------------------------------------------------------ */
#define HD_KERNEL_LIST_OPTIM(X)                                                                                         \
    /* g' = grad_scale·g + l2·w; m = β1 m + (1-β1) g'; v = β2 v + (1-β2) g'²;                                  \
     * w -= rate·( (m/correct1) / (√(v/correct2) + eps) + decay·w ); correct = 1-βᵗ comes from the caller.     \
     * l2 is Adam's weight decay, decay AdamW's; with l2 0 nothing is added to the gradient.                   \
     * (The divisions by correct are products with 1/correct.) */ \
    X(void, adam,                                                                                                       \
      (float *w, float *m, float *v, const float *g, float rate, float beta1, float beta2,                              \
       float eps, float correct1, float correct2, float l2, float decay, float grad_scale,                              \
       long n))                                                                                                         \
    /* m = momentum·m + (grad_scale·g + decay·w); w -= rate·m. m may be NULL: no momentum. */                       \
    X(void, sgd,                                                                                                        \
      (float *w, float *m, const float *g, float rate, float momentum, float decay,                                     \
       float grad_scale, long n))

#define HD_KERNEL_LIST(X)    \
    HD_KERNEL_LIST_GEMM(X)   \
    HD_KERNEL_LIST_INT8(X)   \
    HD_KERNEL_LIST_BF16(X)   \
    HD_KERNEL_LIST_MATH(X)   \
    HD_KERNEL_LIST_VECTOR(X) \
    HD_KERNEL_LIST_ROW(X)    \
    HD_KERNEL_LIST_CELL(X)   \
    HD_KERNEL_LIST_OPTIM(X)
/* clang-format on */
