/* ctc.c -- connectionist temporal classification: the loss of labels of which nobody says where they are.
 *
 * Graves et al. (2006), section 4. Labels l_1 … l_U get a blank (·) before, between and behind: l' = · l_1 · l_2 · … l_U ·, a line of 2U+1
 * places. At every position the path stays at its place, goes to the next, or leaps over a blank between two different labels; p is the
 * sum over all paths from the first two places to the last two. In logarithms, y_s(k) being log softmax of the logits at position s:
 *
 *     a_s(i) = y_s(l'_i) + log Σ_{i'} exp a_{s-1}(i')          i' = i, i-1, and i-2 where l'_i is a label other than l'_{i-2}
 *     b_s(i) = log Σ_{i'} exp(b_{s+1}(i') + y_{s+1}(l'_{i'}))    i' = i, i+1, and i+2 likewise
 *     L = -log p = -log(exp a_S(2U+1) + exp a_S(2U))
 *     ∂L/∂x_s(k) = softmax_s(k) - Σ_{i: l'_i = k} exp(a_s(i) + b_s(i) - log p)
 *
 * All in doubles, place by place. Invariant: a place is only visited where both ends can be reached from it, so all others are -∞. */
#include "base/real.h"
#include "graph/tape.h"

#include <math.h>
#include <string.h>

/* What is remembered of a sentence. */
struct sentence {
    int start, n_positions, n_labels; /* rows of the logits */
    const int *labels;
    double *a; /* [n_positions, 2 n_labels + 1]; NULL: skipped */
    double log_p;
};

struct ctc {
    int n;
    struct sentence *at;
    const double *log_sum; /* of each row: what is taken from a logit to make it y_s(k) */
};

/* l'_i, i from 0 */
static int label_at(const struct sentence *s, int i, int blank)
{
    return i % 2 == 0 ? blank : s->labels[i / 2];
}

/* May a path leap from i-2 to i? */
static bool may_leap(const struct sentence *s, int i)
{
    return i % 2 == 1 && i >= 3 && s->labels[i / 2] != s->labels[i / 2 - 1];
}

/* The places at position t that a path can be at: [*from, *to). */
static void reach(const struct sentence *s, int t, int *from, int *to)
{
    const int n_places = 2 * s->n_labels + 1, first = n_places - 2 * (s->n_positions - t),
              last = 2 * (t + 1);
    *from = first > 0 ? first : 0;
    *to = last < n_places ? last : n_places;
}

static double log_of_sum(double a, double b, double c)
{
    double m = a > b ? a : b;
    m = m > c ? m : c;
    if (m == -INFINITY)
        return m;
    double sum = hd_real_exp(a - m);
    sum += hd_real_exp(b - m);
    sum += hd_real_exp(c - m);
    return m + hd_real_log(sum);
}

/* y_s(k) of row r */
static double log_y(const hd_node *logits, const struct ctc *c, int r, int k)
{
    const int K = logits->dim[1];
    return (double)logits->x[(size_t)r * (size_t)K + (size_t)k] - c->log_sum[r];
}

/* ---- there ------------------------------------------------------------------------------------- */

/* a_t from a_{t-1}, which is NULL at the first position. */
static void one_on(const hd_node *logits, const struct ctc *c, const struct sentence *s, int t,
                   const double *before, double *a)
{
    const int n_places = 2 * s->n_labels + 1, blank = logits->dim[1] - 1;
    int from, to;
    reach(s, t, &from, &to);
    for (int i = 0; i < n_places; i++)
        a[i] = -INFINITY;
    for (int i = from; i < to; i++) {
        const double stays = !before ? (i < 2 ? 0 : -INFINITY) : before[i],
                     comes = before && i > 0 ? before[i - 1] : -INFINITY,
                     leaps = before && may_leap(s, i) ? before[i - 2] : -INFINITY;
        a[i] =
            log_of_sum(stays, comes, leaps) + log_y(logits, c, s->start + t, label_at(s, i, blank));
    }
}

static void sum_paths(const hd_node *logits, const struct ctc *c, struct sentence *s)
{
    const size_t n_places = 2 * (size_t)s->n_labels + 1;
    for (int t = 0; t < s->n_positions; t++) {
        double *a = s->a + (size_t)t * n_places;
        one_on(logits, c, s, t, t > 0 ? a - n_places : NULL, a);
    }
    const double *last = s->a + (size_t)(s->n_positions - 1) * n_places;
    s->log_p =
        log_of_sum(last[n_places - 1], n_places > 1 ? last[n_places - 2] : -INFINITY, -INFINITY);
}

/* ---- and back ---------------------------------------------------------------------------------- */

/* b_t from b_{t+1}, which is NULL at the last position. */
static void one_back(const hd_node *logits, const struct ctc *c, const struct sentence *s, int t,
                     const double *after, double *b)
{
    const int n_places = 2 * s->n_labels + 1, blank = logits->dim[1] - 1, next = s->start + t + 1;
    int from, to;
    reach(s, t, &from, &to);
    for (int i = 0; i < n_places; i++)
        b[i] = -INFINITY;
    for (int i = from; i < to; i++) {
        if (!after) {
            b[i] = i >= n_places - 2 ? 0 : -INFINITY;
            continue;
        }
        double way[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int j = i; j < n_places && j <= i + 2; j++)
            if (after[j] > -INFINITY && (j < i + 2 || may_leap(s, j)))
                way[j - i] = after[j] + log_y(logits, c, next, label_at(s, j, blank));
        b[i] = log_of_sum(way[0], way[1], way[2]);
    }
}

/* The gradient of one position, times `scale`, is added to its row d. */
static void add_gradient(hd_tape *t, const float *x, const struct sentence *s, const double *a,
                         const double *b, float scale, float *softmax, float *d, int K)
{
    t->k->softmax(softmax, x, NULL, K);
    t->k->add_scaled(d, scale, softmax, K);
    for (int i = 0; i < 2 * s->n_labels + 1; i++)
        if (a[i] > -INFINITY && b[i] > -INFINITY) {
            const double share = hd_real_exp(a[i] + b[i] - s->log_p);
            d[label_at(s, i, K - 1)] -= scale * (float)share;
        }
}

static void ctc_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *logits = y->in[0];
    const struct ctc *c = y->extra;
    const int K = logits->dim[1];
    int longest = 0;
    for (int i = 0; i < c->n; i++)
        longest = c->at[i].n_labels > longest ? c->at[i].n_labels : longest;
    const size_t room = 2 * (size_t)longest + 1;
    float *d = hd_gradient_of(t, y->in[0]);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *softmax = d ? hd_tape_take(t, "hd_backward", (size_t)K, sizeof *softmax) : NULL;
    double *b = softmax ? hd_tape_take(t, "hd_backward", 2 * room, sizeof *b) : NULL;
    for (int n = 0; b && n < c->n; n++) {
        const struct sentence *s = &c->at[n];
        const size_t n_places = 2 * (size_t)s->n_labels + 1;
        double *after = NULL;
        for (int p = s->a ? s->n_positions - 1 : -1; p >= 0; p--) {
            double *now = b + (size_t)(p % 2) * room;
            const size_t row = (size_t)(s->start + p) * (size_t)K;
            one_back(logits, c, s, p, after, now);
            add_gradient(t, logits->x + row, s, s->a + (size_t)p * n_places, now, *y->g, softmax,
                         d + row, K);
            after = now;
        }
    }
    hd_arena_rewind(&t->arena, mark);
}

/* ---- the op ------------------------------------------------------------------------------------ */

int hd_ctc_least(const int *labels, int n)
{
    int least = n;
    for (int i = 1; i < n; i++)
        least += labels[i] == labels[i - 1]; /* a blank must stand between them */
    return least;
}

/* Room for what is remembered, the labels copied. */
static bool make_sentences(hd_tape *t, struct ctc *c, const hd_spans *spans, const int *labels,
                           const int *n_labels)
{
    const char *op = "hd_ctc";
    size_t total = 0;
    for (int i = 0; i < spans->n; i++)
        total += (size_t)n_labels[i];
    int *kept = hd_tape_take(t, op, total, sizeof *kept);
    c->at = hd_tape_take(t, op, (size_t)spans->n, sizeof *c->at);
    c->n = spans->n;
    if (!kept || !c->at)
        return false;
    if (total > 0)
        memcpy(kept, labels, total * sizeof *kept);
    for (int i = 0; i < spans->n; i++) {
        struct sentence *s = &c->at[i];
        *s = (struct sentence){spans->start[i], spans->length[i], n_labels[i], kept, NULL, 0};
        kept += n_labels[i];
        const size_t n = (size_t)s->n_positions * (2 * (size_t)s->n_labels + 1);
        const bool fits = n > 0 && hd_ctc_least(s->labels, s->n_labels) <= s->n_positions;
        if (fits && !(s->a = hd_tape_take(t, op, n, sizeof *s->a)))
            return false;
    }
    return true;
}

hd_node *hd_ctc(hd_node *logits, const hd_spans *spans, const int *labels, const int *n_labels,
                int *n_skipped)
{
    const char *op = "hd_ctc";
    hd_tape *t = hd_home1(op, logits);
    if (hd_has_failed(t))
        return &t->nil;
    if (logits->n_dims != 2 || logits->dim[0] != spans->total)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "%s: the logits %s must have a row for each of %d "
                            "positions",
                            op, hd_text(logits).s, spans->total);
    const int K = logits->dim[1], N = logits->dim[0];
    size_t total = 0;
    for (int i = 0; i < spans->n; i++)
        total += (size_t)n_labels[i];
    for (size_t i = 0; i < total; i++)
        if (labels[i] < 0 || labels[i] >= K - 1)
            return hd_tape_fail(
                t, HEED_BAD_SHAPE,
                "%s: labels[%zu] = %d, but the logits %s have %d labels and a blank", op, i,
                labels[i], hd_text(logits).s, K - 1);
    hd_node *y = hd_make(t, op, hd_shape1(1), ctc_back, logits, NULL, NULL, sizeof(struct ctc));
    struct ctc *c = y ? y->extra : NULL;
    double *log_sum = c ? hd_tape_take(t, op, (size_t)N, sizeof *log_sum) : NULL;
    if (!log_sum || !make_sentences(t, c, spans, labels, n_labels))
        return &t->nil;
    c->log_sum = log_sum;
    for (int r = 0; r < N; r++) {
        float largest;
        const float rest =
            t->k->log_sum(&largest, NULL, NULL, logits->x + (size_t)r * (size_t)K, K, 0);
        log_sum[r] = (double)largest + (double)rest;
    }
    double loss = 0;
    int skipped = 0;
    for (int i = 0; i < c->n; i++) {
        if (!c->at[i].a) {
            skipped++;
            continue;
        }
        sum_paths(logits, c, &c->at[i]);
        loss -= c->at[i].log_p;
    }
    *y->x = (float)loss;
    if (n_skipped)
        *n_skipped = skipped;
    return y;
}
