/* recurrence.c -- a whole recurrence over ragged sentences as one op, forward and back.
 *
 * Sentences are taken longest first, so that at every time step those still running are the first
 * rows: a step is one product of their states with U, and those that have ended cost nothing.
 * Inside, rows stand time by time; outside, in the rows of x. Going back, U's gradient is one
 * product over many steps (hd_defer_product), not one per step.
 *
 * Invariant: the first n_running[t] rows of step t-1 are the previous states of step t. */
#include "graph/linear.h"
#include "graph/spans.h"

#include <string.h>

struct recurrence {
    enum hd_cell cell;
    int D, C, k;             /* width of the state s; of the cell c (D for LSTM, else 0); gates */
    int n, n_steps, total;   /* sentences, length of the longest, rows of all steps */
    const int *order;        /* [n] sentences, longest first */
    const int *n_running;    /* [n_steps] */
    const int *row;          /* [total] the row of x where each row of each step stands */
    float *start, *start_c;  /* [n,D] and [n,C]: before the first step, in `order` */
    float *s, *c;            /* [total,D] and [total,C] */
    float *u, *gates;        /* [total,kD] what the cell was given and made; no gates for RNN */
    struct hd_operand *prev; /* [n_steps] the states before each step, as U takes them */
    hd_node *bias;           /* the operand that has no place in node->in, or NULL */
};

static int gates_of(enum hd_cell cell)
{
    return cell == HD_LSTM ? 4 : cell == HD_GRU ? 3 : 1;
}

/* ---- who runs when --------------------------------------------------------------------------- */

static bool make_plan(hd_tape *t, struct recurrence *r, const hd_spans *spans, bool is_reversed)
{
    const char *op = "hd_recurrence";
    const size_t n_lengths = (size_t)spans->longest + 1;
    int *order = hd_tape_take(t, op, (size_t)spans->n, sizeof *order);
    int *longer =
        hd_tape_take(t, op, n_lengths, sizeof *longer); /* longer[l]: how many are longer than l */
    int *next = hd_tape_take(t, op, n_lengths, sizeof *next);
    int *row = hd_tape_take(t, op, (size_t)spans->total, sizeof *row);
    if (!order || !longer || !next || !row)
        return false;
    memset(next, 0, n_lengths * sizeof *next);
    for (int i = 0; i < spans->n; i++)
        next[spans->length[i]]++;
    for (int l = spans->longest, n = 0; l >= 0; l--) {
        longer[l] = n;
        n += next[l];
    }
    memcpy(next, longer, n_lengths * sizeof *next);
    for (int i = 0; i < spans->n; i++) /* equal ones in their own order */
        order[next[spans->length[i]]++] = i;
    int total = 0;
    for (int step = 0; step < spans->longest; step++)
        for (int i = 0; i < longer[step]; i++) {
            const int last = spans->length[order[i]] - 1;
            row[total++] = spans->start[order[i]] + (is_reversed ? last - step : step);
        }
    r->n = spans->n;
    r->n_steps = spans->longest;
    r->total = total;
    r->order = order;
    r->n_running = longer;
    r->row = row;
    return true;
}

/* ---- forward --------------------------------------------------------------------------------- */

static bool make_room(hd_tape *t, struct recurrence *r)
{
    const char *op = "hd_recurrence";
    const size_t D = (size_t)r->D, C = (size_t)r->C, G = D * (size_t)r->k;
    const size_t total = (size_t)r->total, n = (size_t)r->n;
    r->start = hd_tape_take(t, op, n * D, sizeof *r->start);
    r->start_c = hd_tape_take(t, op, n * C, sizeof *r->start_c);
    r->s = hd_tape_take(t, op, total * D, sizeof *r->s);
    r->c = hd_tape_take(t, op, total * C, sizeof *r->c);
    r->u = hd_tape_take(t, op, total * G, sizeof *r->u);
    r->gates = hd_tape_take(t, op, r->k > 1 ? total * G : 0, sizeof *r->gates);
    r->prev = hd_tape_take(t, op, (size_t)r->n_steps, sizeof *r->prev);
    return r->start && r->start_c && r->s && r->c && r->u && r->gates && r->prev;
}

/* The states before the first step, sorted as the sentences are. */
static void set_start(const struct recurrence *r, const hd_node *start)
{
    const size_t D = (size_t)r->D, C = (size_t)r->C, n = (size_t)r->n;
    if (!start) {
        memset(r->start, 0, n * D * sizeof *r->start);
        memset(r->start_c, 0, n * C * sizeof *r->start_c);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const float *from = start->x + (size_t)r->order[i] * (D + C);
        memcpy(r->start + i * D, from, D * sizeof *from);
        memcpy(r->start_c + i * C, from + D, C * sizeof *from);
    }
}

/* Row `at` of all steps, which comes after the states prev and prev_c. */
static void run_cell(hd_tape *t, const struct recurrence *r, const float *x, size_t at,
                     const float *prev, const float *prev_c)
{
    const size_t D = (size_t)r->D, G = D * (size_t)r->k;
    const float *in = x + (size_t)r->row[at] * G, *u = r->u + at * G;
    float *s = r->s + at * D, *gates = r->gates + (r->k > 1 ? at * G : 0);
    switch (r->cell) {
    case HD_RNN:
        t->k->rnn_cell(s, in, u, r->D);
        break;
    case HD_GRU:
        t->k->gru_cell(s, gates, in, u, prev, r->D);
        break;
    case HD_LSTM:
        t->k->lstm_cell(s, r->c + at * D, gates, in, u, prev_c, r->D);
        break;
    }
}

static void run_forward(hd_tape *t, const struct recurrence *r, const hd_node *x, const hd_node *U,
                        const hd_node *b)
{
    const size_t D = (size_t)r->D, C = (size_t)r->C, G = D * (size_t)r->k;
    const float *prev = r->start, *prev_c = r->start_c;
    size_t at = 0;
    for (int step = 0; step < r->n_steps; step++) {
        const size_t n = (size_t)r->n_running[step];
        r->prev[step] = hd_operand_of(t, U, prev, r->D, (int)n, r->D);
        hd_product(t, r->u + at * G, (long)G, r->prev[step], (int)n, U, b ? b->x : NULL, false,
                   HD_NONE);
        for (size_t i = 0; i < n; i++)
            run_cell(t, r, x->x, at + i, prev + i * D, prev_c + i * C);
        prev = r->s + at * D;
        prev_c = r->c + at * C;
        at += n;
    }
}

/* The states from time by time to the rows of x, s beside c. */
static void set_result(const struct recurrence *r, hd_node *y)
{
    const size_t D = (size_t)r->D, C = (size_t)r->C;
    if (r->total < hd_n_rows(y)) /* rows that belong to no sentence */
        memset(y->x, 0, y->count * sizeof *y->x);
    for (size_t i = 0; i < (size_t)r->total; i++) {
        float *to = y->x + (size_t)r->row[i] * (D + C);
        memcpy(to, r->s + i * D, D * sizeof *to);
        memcpy(to + D, r->c + i * C, C * sizeof *to);
    }
}

/* ---- back ------------------------------------------------------------------------------------ */

struct recurrence_back {
    float *dx, *du; /* [total,kD] of the gates by input and by state; one array but for a GRU */
    float *ds, *dc; /* [n,D], [n,C] what flows into the states of the step in work */
    float *carry, *carry_c; /* and from it into the states before; 0 for those not yet running */
};

static bool make_back_room(hd_tape *t, const struct recurrence *r, struct recurrence_back *b)
{
    const char *op = "hd_backward";
    const size_t nD = (size_t)r->n * (size_t)r->D, nC = (size_t)r->n * (size_t)r->C;
    const size_t all = (size_t)r->total * (size_t)r->D * (size_t)r->k;
    b->dx = hd_tape_take(t, op, all, sizeof(float));
    b->du = r->cell == HD_GRU ? hd_tape_take(t, op, all, sizeof(float)) : b->dx;
    b->ds = hd_tape_take(t, op, nD, sizeof(float));
    b->carry = hd_tape_take(t, op, nD, sizeof(float));
    b->dc = hd_tape_take(t, op, nC, sizeof(float));
    b->carry_c = hd_tape_take(t, op, nC, sizeof(float));
    if (!b->dx || !b->du || !b->ds || !b->carry || !b->dc || !b->carry_c)
        return false;
    memset(b->carry, 0, nD * sizeof(float));
    memset(b->carry_c, 0, nC * sizeof(float));
    return true;
}

/* What comes from outside (dy) and from the step after (carry), for the n rows of a step; then
 * carry is empty again. carry_c need not be: the cell's way back sets it. */
static void collect(const hd_node *y, const struct recurrence *r, const struct recurrence_back *b,
                    size_t at, size_t n)
{
    const struct hd_kernels *k = y->tape->k;
    const size_t D = (size_t)r->D, C = (size_t)r->C;
    for (size_t i = 0; i < n; i++) {
        const float *dy = y->g + (size_t)r->row[at + i] * (D + C);
        k->add(b->ds + i * D, dy, b->carry + i * D, r->D);
        k->add(b->dc + i * C, dy + D, b->carry_c + i * C, r->C);
    }
    memset(b->carry, 0, n * D * sizeof *b->carry);
}

/* Row `at` of all steps, which is row i of its own. */
static void back_cell(hd_tape *t, const struct recurrence *r, const struct recurrence_back *b,
                      size_t at, size_t i, const float *prev, const float *prev_c)
{
    const size_t D = (size_t)r->D, G = D * (size_t)r->k;
    const float *u = r->u + at * G, *gates = r->gates + (r->k > 1 ? at * G : 0);
    float *dx = b->dx + at * G, *du = b->du + at * G, *ds = b->ds + i * D;
    switch (r->cell) {
    case HD_RNN:
        t->k->rnn_cell_back(dx, ds, r->s + at * D, r->D);
        break;
    case HD_GRU:
        t->k->gru_cell_back(dx, du, b->carry + i * D, ds, gates, u, prev, r->D);
        break;
    case HD_LSTM:
        t->k->lstm_cell_back(dx, b->carry_c + i * D, ds, b->dc + i * D, gates, r->c + at * D,
                             prev_c, r->D);
        break;
    }
}

/* What is left in carry after the first step belongs to the states before it. */
static void give_start(hd_tape *t, const struct recurrence *r, const struct recurrence_back *b,
                       hd_node *start)
{
    float *to = start ? hd_gradient_of(t, start) : NULL;
    const size_t D = (size_t)r->D, C = (size_t)r->C;
    for (size_t i = 0; to && i < (size_t)r->n; i++) {
        float *row = to + (size_t)r->order[i] * (D + C);
        t->k->add(row, row, b->carry + i * D, r->D);
        t->k->add(row + D, row + D, b->carry_c + i * C, r->C);
    }
}

static void recurrence_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct recurrence *r = y->extra;
    hd_node *U = y->in[1];
    const size_t D = (size_t)r->D, C = (size_t)r->C, G = D * (size_t)r->k;
    float *dx = hd_gradient_of(t, y->in[0]);
    struct recurrence_back b;
    if (!make_back_room(t, r, &b))
        return;
    size_t at = (size_t)r->total;
    for (int step = r->n_steps - 1; step >= 0; step--) {
        const size_t n = (size_t)r->n_running[step];
        at -= n;
        const size_t before = step > 0 ? at - (size_t)r->n_running[step - 1] : 0;
        const float *prev = step > 0 ? r->s + before * D : r->start;
        const float *prev_c = step > 0 ? r->c + before * C : r->start_c;
        collect(y, r, &b, at, n);
        for (size_t i = 0; i < n; i++) {
            back_cell(t, r, &b, at + i, i, prev + i * D, prev_c + i * C);
            float *to = dx ? dx + (size_t)r->row[at + i] * G : NULL;
            if (to)
                t->k->add(to, to, b.dx + (at + i) * G, (long)G);
        }
        hd_add_bias_gradient(t, r->bias, b.du + at * G, (long)G, (int)n);
        const struct hd_operand du = hd_operand_of(t, U, b.du + at * G, (long)G, (int)n, (int)G);
        hd_product_crossed(t, b.carry, r->D, du, (int)n, U, NULL, true, HD_NONE);
        hd_defer_product(t, U, r->prev[step], du, (int)n);
    }
    give_start(t, r, &b, y->in[2]);
}

/* ---- the op ---------------------------------------------------------------------------------- */

static bool check_recurrence(hd_tape *t, const hd_node *x, const hd_node *U, const hd_node *b,
                             const hd_node *start, const hd_recurrence_options *o)
{
    const char *op = "hd_recurrence";
    const int k = gates_of(o->cell);
    const long D = U->dim[0], width = o->cell == HD_LSTM ? 2 * D : D;
    if ((unsigned)o->cell > HD_LSTM)
        hd_tape_fail(t, HEED_BAD_OPTION, "%s: there is no cell %d", op, (int)o->cell);
    else if (U->n_dims != 2 || U->dim[1] != k * D)
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: U %s should be [D,%d·D]", op, hd_text(U).s, k);
    else if (hd_last_dim(x) != U->dim[1])
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: U %s does not take x %s", op, hd_text(U).s,
                     hd_text(x).s);
    else if (b && (b->n_dims != 1 || b->dim[0] != U->dim[1]))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: b %s does not fit U %s, it must be [%d]", op,
                     hd_text(b).s, hd_text(U).s, U->dim[1]);
    else if (start &&
             (start->n_dims != 2 || start->dim[0] != o->spans->n || start->dim[1] != width))
        hd_tape_fail(t, HEED_BAD_SHAPE,
                     "%s: start %s should be [%d,%ld], a state for each sentence", op,
                     hd_text(start).s, o->spans->n, width);
    else if (o->spans->rows > hd_n_rows(x))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the sentences end at row %d, but x is %s", op,
                     o->spans->rows, hd_text(x).s);
    else if (hd_spans_share(t, op, o->spans))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: two sentences share a row of x %s", op, hd_text(x).s);
    return !hd_has_failed(t);
}

hd_node *hd_recurrence(hd_node *x, hd_node *U, hd_node *b, hd_node *start,
                       const hd_recurrence_options *options)
{
    const char *op = "hd_recurrence";
    hd_node *W = hd_with_values(U, HD_PARAM_MAP, x);
    hd_tape *t = hd_home_of(op, (hd_node *[]){x, W, b ? b : x, start ? start : x}, 4);
    if (hd_has_failed(t) || !check_recurrence(t, x, U, b, start, options))
        return &t->nil;
    const int D = U->dim[0], C = options->cell == HD_LSTM ? D : 0;
    hd_node *y = hd_make_of(t, op, hd_shape_width(x, D + C), recurrence_back,
                            (hd_node *[]){x, U, start, b}, 4, sizeof(struct recurrence));
    if (!y)
        return &t->nil;
    struct recurrence *r = y->extra;
    *r = (struct recurrence){
        .cell = options->cell, .D = D, .C = C, .k = gates_of(options->cell), .bias = b};
    if (!make_plan(t, r, options->spans, options->is_reversed) || !make_room(t, r))
        return &t->nil;
    set_start(r, start);
    run_forward(t, r, x, U, b);
    set_result(r, y);
    return y;
}
