/* guide.c -- guided attention: a loss that is small where attention looks where it should.
 *
 * L = -Σ share · ln(α + ε) and ∂L/∂α = -share / (α + ε); through the softmax that is at most the share, however small α is. */
#include "graph/guide.h"

static const float EPSILON = 1e-8F;

struct guiding {
    int n;
    const size_t *places;
    const float *shares;
    bool is_attention; /* the weights are inside the node */
};

static const float *weights_of(const struct guiding *g, const hd_node *x)
{
    return g->is_attention ? hd_attention_all_weights(x) : x->x;
}

static void guide_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct guiding *g = y->extra;
    const float *weights = weights_of(g, y->in[0]);
    float *d = g->is_attention ? hd_attention_guided(t, y->in[0]) : hd_gradient_of(t, y->in[0]);
    for (int i = 0; d && i < g->n; i++)
        d[g->places[i]] -= *y->g * g->shares[i] / (weights[g->places[i]] + EPSILON);
}

/* The loss of weights at these places. */
static hd_node *guide(const char *op, hd_node *x, const hd_guide *guides, int n, bool is_attention,
                      size_t *places)
{
    hd_tape *t = x->tape;
    hd_node *y = hd_make(t, op, hd_shape1(1), guide_back, x, NULL, NULL, sizeof(struct guiding));
    float *shares = y ? hd_tape_take(t, op, 2 * (size_t)n + 1, sizeof *shares) : NULL;
    if (!shares)
        return &t->nil;
    struct guiding *g = y->extra;
    *g = (struct guiding){n, places, shares, is_attention};
    const float *weights = weights_of(g, x);
    float *logs = shares + n;
    for (int i = 0; i < n; i++) {
        shares[i] = guides[i].share;
        logs[i] = weights[places[i]] + EPSILON;
    }
    t->k->log(logs, logs, n);
    t->k->mul(logs, logs, shares, n);
    *y->x = -t->k->sum(logs, n);
    return y;
}

hd_node *hd_guide_weights(hd_node *alpha, const hd_guide *guides, int n)
{
    const char *op = "hd_guide_weights";
    hd_tape *t = hd_home1(op, alpha);
    size_t *places = hd_has_failed(t) ? NULL : hd_tape_take(t, op, (size_t)n, sizeof *places);
    if (hd_has_failed(t))
        return &t->nil;
    const int rows = hd_n_rows(alpha), width = hd_last_dim(alpha);
    for (int i = 0; i < n; i++) {
        if (guides[i].row < 0 || guides[i].row >= rows || guides[i].key < 0 ||
            guides[i].key >= width)
            return hd_tape_fail(t, HEED_BAD_SHAPE, "%s: guide %d means weight %d of row %d of %s",
                                op, i, guides[i].key, guides[i].row, hd_text(alpha).s);
        places[i] = (size_t)guides[i].row * (size_t)width + (size_t)guides[i].key;
    }
    return guide(op, alpha, guides, n, false, places);
}

hd_node *hd_guide_attention(hd_node *attention, int head, const hd_guide *guides, int n)
{
    const char *op = "hd_guide_attention";
    hd_tape *t = hd_home1(op, attention);
    size_t *places = hd_has_failed(t) ? NULL : hd_tape_take(t, op, (size_t)n, sizeof *places);
    if (hd_has_failed(t))
        return &t->nil;
    if (!hd_attention_places(attention, head, guides, n, places))
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "%s: a guide means a weight that head %d does not have, or rows do "
                            "not ascend",
                            op, head);
    return guide(op, attention, guides, n, true, places);
}
