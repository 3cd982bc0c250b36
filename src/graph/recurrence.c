/* recurrence.c -- a whole recurrence over ragged sentences as one op, forward and back.
 *
 * Sentences are taken longest first, so that at every time step those still running are the first rows: a step is one product
 * of their states with U, and those that have ended cost nothing. Inside, rows stand time by time; outside, in the rows of x.
 * Going back, U's gradient is one product over all steps (hd_defer_product), not one per step.
 *
 * Invariant: states of step t-1, first n_running[t] rows, are the previous states of step t. */
#include "graph/linear.h"

#include <string.h>

struct recurrence {
    enum hd_cell cell;
    int D, k;               /* width of the state; k·D numbers of gates */
    int n, n_steps, total;  /* sentences, length of the longest, rows of all steps */
    const int *order;       /* [n] sentences, longest first */
    const int *n_running;   /* [n_steps] */
    const int *row;         /* [total] the row of x where each row of each step stands */
    float *start, *start_c; /* [n,D] the states before the first step, in `order` */
    float *s, *c;           /* [total,D] states; c for LSTM */
    float *u, *gates;       /* [total,kD] what the cell was given and made */
    hd_node *bias;          /* the operand that has no place in node->in, or NULL */
};

static int gates_of(enum hd_cell cell)
{
    return cell == HD_LSTM ? 4 : cell == HD_GRU ? 3 : 1;
}

/* ---- who runs when ---------------------------------------------------------------------------------------------- */

static bool make_plan(hd_tape *t, struct recurrence *r, const hd_spans *spans, bool is_reversed)
{
    const char *op = "hd_recurrence";
    const size_t n_lengths = (size_t)spans->longest + 1;
    int *order = hd_tape_take(t, op, (size_t)spans->n, sizeof *order);
    int *longer = hd_tape_take(t, op, n_lengths, sizeof *longer); /* longer[l]: how many are longer than l */
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

/* ---- forward ---------------------------------------------------------------------------------------------------- */

static bool make_room(hd_tape *t, struct recurrence *r)
{
    const char *op = "hd_recurrence";
    const size_t D = (size_t)r->D, total = (size_t)r->total, n = (size_t)r->n;
    const bool has_c = r->cell == HD_LSTM;
    r->start = hd_tape_take(t, op, n * D, sizeof *r->start);
    r->start_c = hd_tape_take(t, op, has_c ? n * D : 0, sizeof *r->start_c);
    r->s = hd_tape_take(t, op, total * D, sizeof *r->s);
    r->c = hd_tape_take(t, op, has_c ? total * D : 0, sizeof *r->c);
    r->u = hd_tape_take(t, op, total * D * (size_t)r->k, sizeof *r->u);
    r->gates = hd_tape_take(t, op, r->k > 1 ? total * D * (size_t)r->k : 0, sizeof *r->gates);
    return r->start && r->start_c && r->s && r->c && r->u && r->gates;
}

/* The states before the first step, sorted as the sentences are. */
static void set_start(const struct recurrence *r, const hd_node *start)
{
    const size_t D = (size_t)r->D, width = r->cell == HD_LSTM ? 2 * D : D;
    for (int i = 0; i < r->n; i++) {
        float *s = r->start + (size_t)i * D, *c = r->start_c + (size_t)i * D;
        if (start)
            memcpy(s, start->x + (size_t)r->order[i] * width, D * sizeof *s);
        else
            memset(s, 0, D * sizeof *s);
        if (r->cell != HD_LSTM)
            continue;
        if (start)
            memcpy(c, start->x + (size_t)r->order[i] * width + D, D * sizeof *c);
        else
            memset(c, 0, D * sizeof *c);
    }
}

/* Row i of a step that begins at row `at` of the inner arrays. */
static void run_cell(hd_tape *t, const struct recurrence *r, const float *x, const float *prev, const float *prev_c,
                     size_t at)
{
    const size_t D = (size_t)r->D, G = D * (size_t)r->k;
    const float *in = x + (size_t)r->row[at] * G, *u = r->u + at * G;
    switch (r->cell) {
    case HD_RNN: t->k->rnn_cell(r->s + at * D, in, u, r->D); break;
    case HD_GRU: t->k->gru_cell(r->s + at * D, r->gates + at * G, in, u, prev, r->D); break;
    case HD_LSTM: t->k->lstm_cell(r->s + at * D, r->c + at * D, r->gates + at * G, in, u, prev_c, r->D); break;
    }
}

static void run_forward(hd_tape *t, const struct recurrence *r, const hd_node *x, const hd_node *U, const hd_node *b)
{
    const size_t D = (size_t)r->D, G = D * (size_t)r->k;
    const float *prev = r->start, *prev_c = r->start_c;
    size_t at = 0;
    for (int step = 0; step < r->n_steps; step++) {
        const int n = r->n_running[step];
        hd_product(t, r->u + at * G, (long)G, prev, r->D, n, U, b ? b->x : NULL, false, HD_ACT_NONE);
        for (size_t i = 0; i < (size_t)n; i++)
            run_cell(t, r, x->x, prev + i * D, prev_c + i * D, at + i);
        prev = r->s + at * D;
        if (r->cell == HD_LSTM)
            prev_c = r->c + at * D;
        at += (size_t)n;
    }
}

/* The states from time by time to the rows of x; s beside c for an LSTM. */
static void set_result(const struct recurrence *r, hd_node *y)
{
    const size_t D = (size_t)r->D, width = (size_t)hd_last_dim(y);
    if (r->total < hd_n_rows(y)) /* rows that belong to no sentence */
        memset(y->x, 0, y->count * sizeof *y->x);
    for (size_t i = 0; i < (size_t)r->total; i++) {
        float *to = y->x + (size_t)r->row[i] * width;
        memcpy(to, r->s + i * D, D * sizeof *to);
        if (r->cell == HD_LSTM)
            memcpy(to + D, r->c + i * D, D * sizeof *to);
    }
}

/* ---- back ------------------------------------------------------------------------------------------------------- */

struct recurrence_back {
    float *dx, *du;       /* [total,kD] gradients of the gates by input and by state; the same array but for a GRU */
    float *ds, *dc;       /* [n,D] what flows into the states of the step in work */
    float *carry, *carry_c; /* [n,D] what flows from it into the states before; 0 for those not running yet */
};

static void back_cell(hd_tape *t, const struct recurrence *r, const struct recurrence_back *b, size_t i, size_t at,
                      const float *prev, const float *prev_c)
{
    const size_t D = (size_t)r->D, G = D * (size_t)r->k;
    float *dx = b->dx + at * G, *du = b->du + at * G, *ds = b->ds + i * D;
    switch (r->cell) {
    case HD_RNN: t->k->rnn_cell_back(dx, ds, r->s + at * D, r->D); break;
    case HD_GRU:
        t->k->gru_cell_back(dx, du, b->carry + i * D, ds, r->gates + at * G, r->u + at * G, prev, r->D);
        break;
    case HD_LSTM:
        t->k->lstm_cell_back(dx, b->carry_c + i * D, ds, b->dc + i * D, r->gates + at * G, r->c + at * D, prev_c, r->D);
        break;
    }
}

/* What comes from outside (dy) and from the step after (carry), for the n rows of a step; then carry is empty again. */
static void collect(const hd_node *y, hd_tape *t, const struct recurrence *r, const struct recurrence_back *b,
                    size_t at, size_t n)
{
    const size_t D = (size_t)r->D, width = (size_t)hd_last_dim(y);
    for (size_t i = 0; i < n; i++) {
        const float *dy = y->g + (size_t)r->row[at + i] * width;
        t->k->add(b->ds + i * D, dy, b->carry + i * D, r->D);
        if (r->cell == HD_LSTM)
            t->k->add(b->dc + i * D, dy + D, b->carry_c + i * D, r->D);
    }
    memset(b->carry, 0, n * D * sizeof *b->carry);
}

static void give_start(hd_tape *t, const struct recurrence *r, const struct recurrence_back *b, hd_node *start)
{
    float *to = start ? hd_gradient_of(t, start) : NULL;
    if (!to)
        return;
    const size_t D = (size_t)r->D, width = r->cell == HD_LSTM ? 2 * D : D;
    for (size_t i = 0; i < (size_t)r->n; i++) {
        float *row = to + (size_t)r->order[i] * width;
        t->k->add(row, row, b->carry + i * D, r->D);
        if (r->cell == HD_LSTM)
            t->k->add(row + D, row + D, b->carry_c + i * D, r->D);
    }
}

static bool make_back_room(hd_tape *t, const struct recurrence *r, struct recurrence_back *b)
{
    const char *op = "hd_recurrence";
    const size_t nD = (size_t)r->n * (size_t)r->D, all = (size_t)r->total * (size_t)r->D * (size_t)r->k;
    const size_t nC = r->cell == HD_LSTM ? nD : 0;
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

static void recurrence_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct recurrence *r = y->extra;
    hd_node *x = y->in[0], *U = y->in[1], *start = y->in[2];
    const size_t D = (size_t)r->D, G = D * (size_t)r->k;
    float *dx = hd_gradient_of(t, x);
    struct recurrence_back b;
    if (!make_back_room(t, r, &b))
        return;
    size_t at = (size_t)r->total;
    for (int step = r->n_steps - 1; step >= 0; step--) {
        const size_t n = (size_t)r->n_running[step];
        const size_t before = step > 0 ? at - n - (size_t)r->n_running[step - 1] : 0; /* where the step before begins */
        const float *prev = step > 0 ? r->s + before * D : r->start;
        const float *prev_c = step > 0 ? r->c + (r->cell == HD_LSTM ? before * D : 0) : r->start_c;
        at -= n;
        collect(y, t, r, &b, at, n);
        for (size_t i = 0; i < n; i++) {
            back_cell(t, r, &b, i, at + i, prev + i * D, prev_c + i * D);
            float *to = dx ? dx + (size_t)r->row[at + i] * G : NULL;
            if (to)
                t->k->add(to, to, b.dx + (at + i) * G, (long)G);
        }
        hd_product_crossed(t, b.carry, r->D, b.du + at * G, (long)G, (int)n, U, NULL, true, HD_ACT_NONE);
        hd_defer_product(t, U, prev, r->D, b.du + at * G, (long)G, (int)n);
        hd_add_bias_gradient(t, r->bias, b.du + at * G, (long)G, (int)n);
    }
    give_start(t, r, &b, start);
}

/* ---- the op ----------------------------------------------------------------------------------------------------- */

/* Sentences that share rows would write one state over another. */
static bool shares_rows(hd_tape *t, const hd_spans *spans)
{
    const struct hd_arena_mark before = hd_arena_mark(&t->arena);
    unsigned char *taken = hd_tape_take(t, "hd_recurrence", (size_t)spans->rows, 1);
    if (!taken)
        return true;
    memset(taken, 0, (size_t)spans->rows);
    bool shared = false;
    for (int i = 0; i < spans->n; i++)
        for (int j = 0; j < spans->length[i]; j++) {
            shared |= taken[spans->start[i] + j];
            taken[spans->start[i] + j] = 1;
        }
    hd_arena_rewind(&t->arena, before);
    return shared;
}

static bool check_recurrence(hd_tape *t, const hd_node *x, const hd_node *U, const hd_node *b, const hd_node *start,
                             const hd_recurrence_options *o)
{
    const char *op = "hd_recurrence";
    const int k = gates_of(o->cell), D = U->dim[0], width = o->cell == HD_LSTM ? 2 * D : D;
    if ((unsigned)o->cell > HD_LSTM)
        hd_tape_fail(t, HEED_BAD_OPTION, "%s: there is no cell %d", op, (int)o->cell);
    else if (U->n_dims != 2 || (long)U->dim[1] != (long)k * D)
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: U %s should be [D,%d·D]", op, hd_text(U).s, k);
    else if (hd_last_dim(x) != U->dim[1])
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: U %s does not take x %s", op, hd_text(U).s, hd_text(x).s);
    else if (b && (b->n_dims != 1 || b->dim[0] != U->dim[1]))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: b %s does not fit U %s", op, hd_text(b).s, hd_text(U).s);
    else if (start && (start->n_dims != 2 || start->dim[0] != o->spans->n || start->dim[1] != width))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: start %s should be [%d,%d], a state for each sentence", op,
                     hd_text(start).s, o->spans->n, width);
    else if (o->spans->rows > hd_n_rows(x))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the sentences end at row %d, but x is %s", op, o->spans->rows,
                     hd_text(x).s);
    else if (shares_rows(t, o->spans))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: two sentences share a row of x %s", op, hd_text(x).s);
    return !hd_has_failed(t);
}

hd_node *hd_recurrence(hd_node *x, hd_node *U, hd_node *b, hd_node *start, const hd_recurrence_options *options)
{
    const char *op = "hd_recurrence";
    hd_node *operands[4] = {x, U, start ? start : x, b ? b : x};
    hd_tape *t = hd_home3(op, x, U, operands[2]);
    if (!hd_has_failed(t))
        t = hd_home2(op, x, operands[3]);
    if (hd_has_failed(t) || !check_recurrence(t, x, U, b, start, options))
        return &t->nil;
    struct recurrence plan = {.cell = options->cell, .D = U->dim[0], .k = gates_of(options->cell), .bias = b};
    operands[2] = start;
    operands[3] = b;
    hd_node *y = hd_make_of(t, op, hd_shape_width(x, options->cell == HD_LSTM ? 2 * plan.D : plan.D), recurrence_back,
                            operands, 4, sizeof(struct recurrence));
    if (!y || !make_plan(t, &plan, options->spans, options->is_reversed) || !make_room(t, &plan))
        return &t->nil;
    struct recurrence *r = y->extra;
    *r = plan;
    set_start(r, start);
    run_forward(t, r, x, U, b);
    set_result(r, y);
    return y;
}
