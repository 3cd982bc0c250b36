/* bf16_check.c -- does a CPU's unit for bf16 do what bf16.h says? Asked once, before it is used.
 *
 * The manuals say so, AMD's and Intel's units do so; but a result that depended on the CPU would be found by nobody. */
#include "kernel/bf16_check.h"
#include <string.h>

enum { ROWS = 3, COLUMNS = HD_LANES, DEPTH = 39, N_X = ROWS * DEPTH, N_W = DEPTH * COLUMNS };

/* Bits of every kind: any number, numbers of like size, and what is about to become a denormal. */
static float number(uint32_t *state, int round)
{
    *state = *state * 1664525U + 1013904223U;
    const uint32_t bits = *state >> 3,
                   exponents[] = {bits >> 23 & 255, 120 + (bits >> 23) % 14, 60 + (bits >> 23) % 9};
    const uint32_t all = (*state & 0x80000000U) | exponents[round % 3] << 23 | (bits & 0x7fffff);
    float x;
    memcpy(&x, &all, sizeof x);
    return x;
}

static bool is_same(const float *a, const float *b, int n)
{
    bool same = true;
    for (int i = 0; i < n; i++) {
        uint32_t p, q;
        memcpy(&p, &a[i], sizeof p);
        memcpy(&q, &b[i], sizeof q);
        same = same && (p == q || (a[i] != a[i] && b[i] != b[i]));
    }
    return same;
}

static bool agrees_on(const struct hd_kernels *k, const float *x, const float *w, const float *bias)
{
    const struct hd_kernels *tables[2] = {k, &hd_kernels_ref};
    uint16_t rounded[2][ROWS * (DEPTH + 1)];
    uint32_t packed[2][(DEPTH + 1) / 2 * COLUMNS];
    float y[2][ROWS * COLUMNS], blocks[2][ROWS * COLUMNS];
    for (int i = 0; i < 2; i++) {
        tables[i]->to_bf16(rounded[i], DEPTH + 1, x, DEPTH, ROWS, DEPTH);
        tables[i]->pack_bf16(packed[i], w, COLUMNS, 1, DEPTH, COLUMNS);
        tables[i]->gemm_bf16(y[i], COLUMNS, rounded[i], DEPTH + 1, packed[i], bias, false, HD_NONE,
                             ROWS, DEPTH, COLUMNS);
        tables[i]->gemm_bf16_blocks(blocks[i], COLUMNS, rounded[i], DEPTH + 1, packed[i], bias,
                                    false, HD_NONE, ROWS, DEPTH, COLUMNS);
    }
    return memcmp(rounded[0], rounded[1], sizeof rounded[0]) == 0 &&
           memcmp(packed[0], packed[1], sizeof packed[0]) == 0 &&
           is_same(y[0], y[1], ROWS * COLUMNS) && is_same(blocks[0], blocks[1], ROWS * COLUMNS);
}

/* Just below the smallest normal number: what rounds up to it stays, what does not becomes a zero. */
static bool agrees_at_the_edge(const struct hd_kernels *k)
{
    static const float products[COLUMNS] = {-0x1p-75F,    -0x1p-76F,    -0x1p-77F, -0x1.8p-76F,
                                            -0x1.02p-76F, -0x1.fep-77F, 0x1p-76F,  -0x1p-74F};
    float x[N_X] = {0}, w[N_W] = {0}, bias[COLUMNS];
    for (int m = 0; m < ROWS; m++)
        x[m * DEPTH + m] = m % 2 ? -0x1p-75F : 0x1p-75F;
    for (int i = 0; i < N_W; i++)
        w[i] = products[i % COLUMNS];
    for (int n = 0; n < COLUMNS; n++)
        bias[n] = n < 8 ? 0x1p-126F : -0.0F;
    return agrees_on(k, x, w, bias);
}

bool hd_bf16_agrees(const struct hd_kernels *k)
{
    uint32_t state = 1;
    bool agrees = agrees_at_the_edge(k);
    for (int round = 0; agrees && round < 6; round++) {
        float x[N_X], w[N_W], bias[COLUMNS];
        for (int i = 0; i < N_X; i++)
            x[i] = number(&state, round);
        for (int i = 0; i < N_W; i++)
            w[i] = number(&state, round);
        for (int i = 0; i < COLUMNS; i++)
            bias[i] = number(&state, round);
        agrees = agrees_on(k, x, w, bias);
    }
    return agrees;
}
