/* cell.h -- recurrent cells s_t = f(s_{t-1}, x_t): one step, and a whole ragged sequence. */
#ifndef HD_MODEL_CELL_H
#define HD_MODEL_CELL_H

#include "model/config.h"
#include "model/param.h"

enum { HD_MAX_TRANSITIONS = 7 };

/* One more step of the state that reads no input (deep transition): the cell's own equations with x = b. */
struct hd_transition {
    hd_node *U, *c, *N, *b;
    struct hd_map_norm u[2];
};

/* A cell's own parameters. Its input's share x = W x_t + b is made by the caller, for all steps at once where it can be; where there are
 * norms, the cell normalises it. */
struct hd_cell_parts {
    enum hd_cell kind;
    bool resets_before; /* gru: the papers' own form */
    int D;
    hd_node *U; /* [D,kD]; [D,2D] when resetting before */
    hd_node *c; /* gru, reset after: [3D], added to U s' */
    hd_node *N; /* gru, reset before: [D,D] */
    struct hd_map_norm x[2],
        u[2]; /* of the input's share and of U s'; split: of the gates, of the candidate */
    int n_transitions;
    struct hd_transition transition[HD_MAX_TRANSITIONS];
};

/* How many gates a cell has: the input's share is [.., k·D]. */
int hd_cell_gates(enum hd_cell kind);

/* What a cell is; U and the others are hd_cell_declare()'s. */
struct hd_cell_kind {
    enum hd_cell kind;
    bool resets_before;
    int D, n_transitions;
    enum hd_recurrent_norm norm;
    float eps;
};

/* Declare "prefix.U" and what else the kind needs, and "prefix.deep.1.U" and so on for its transitions. */
void hd_cell_declare(struct hd_cell_parts *cell, hd_params *params, const char *prefix,
                     struct hd_cell_kind kind);
void hd_cell_init(const struct hd_cell_parts *cell, uint64_t seed);

/* The bias of the input's share: an LSTM's forget gates begin at 1, all else at 0. */
void hd_cell_init_bias(const struct hd_cell_parts *cell, hd_node *b);

/* A state is [B,D], an LSTM's [B,2D]: s beside its cell. hd_cell_output is s. */
hd_node *hd_cell_output(const struct hd_cell_parts *cell, hd_node *state);

/* One step for all rows: x [B,kD], state as above; the new state. */
hd_node *hd_cell_step(const struct hd_cell_parts *cell, hd_node *x, hd_node *state);

/* All steps of ragged sentences: x [Σ T, kD]; start may be NULL for zeros. The state at every position, in the rows of x. */
hd_node *hd_cell_run(const struct hd_cell_parts *cell, hd_node *x, hd_node *start,
                     const hd_spans *spans, bool is_reversed);
#endif
