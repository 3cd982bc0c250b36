/* loss.c -- cross entropy and Kullback-Leibler divergence of logits that exist.
 *
 * Their gradients are made on the way back from the logits, rather than kept. For an output
 * layer over a large vocabulary see output.c, where the logits never exist whole. */
#include "graph/tape.h"

#include <string.h>

struct cross_entropy {
    const int *targets;
    float smoothing;
};

static void cross_entropy_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *logits = y->in[0];
    const struct cross_entropy *c = y->extra;
    const int N = logits->dim[0], V = logits->dim[1];
    float *d = hd_gradient_of(t, y->in[0]);
    const struct hd_arena_mark mark = hd_arena_mark(&t->arena);
    float *row = d ? hd_tape_take(t, "hd_backward", (size_t)V, sizeof *row) : NULL;
    for (long i = 0; row && i < N; i++)
        if (c->targets[i] >= 0) {
            t->k->xent(row, NULL, logits->x + i * V, c->targets[i], c->smoothing, *y->g, V);
            t->k->add(d + i * V, d + i * V, row, V);
        }
    hd_arena_rewind(&t->arena, mark);
}

hd_node *hd_cross_entropy(hd_node *logits, const int *targets, float smoothing)
{
    hd_tape *t = hd_home1("hd_cross_entropy", logits);
    if (hd_has_failed(t))
        return &t->nil;
    if (logits->n_dims != 2)
        return hd_tape_fail(t, HEED_BAD_SHAPE, "hd_cross_entropy: the logits %s are not a matrix",
                            hd_text(logits).s);
    if (!(smoothing >= 0 && smoothing <= 1))
        return hd_tape_fail(t, HEED_BAD_OPTION,
                            "hd_cross_entropy: the smoothing is %g, it must be from 0 to 1",
                            (double)smoothing);
    const int N = logits->dim[0], V = logits->dim[1];
    for (int i = 0; i < N; i++)
        if (targets[i] < -1 || targets[i] >= V)
            return hd_tape_fail(
                t, HEED_BAD_SHAPE,
                "hd_cross_entropy: targets[%d] = %d, but the logits %s have %d columns", i,
                targets[i], hd_text(logits).s, V);
    hd_node *y = hd_make(t, "hd_cross_entropy", hd_shape1(1), cross_entropy_back, logits, NULL,
                         NULL, sizeof(struct cross_entropy));
    int *kept = y ? hd_tape_take(t, "hd_cross_entropy", (size_t)N, sizeof *kept) : NULL;
    float *loss = kept ? hd_tape_take(t, "hd_cross_entropy", (size_t)N, sizeof *loss) : NULL;
    if (!loss)
        return &t->nil;
    *(struct cross_entropy *)y->extra = (struct cross_entropy){kept, smoothing};
    for (long i = 0; i < N; i++) {
        kept[i] = targets[i];
        loss[i] = targets[i] < 0
                      ? 0
                      : t->k->xent(NULL, NULL, logits->x + i * V, targets[i], smoothing, 1, V);
    }
    *y->x = t->k->sum(loss, N);
    return y;
}

static void kl_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const hd_node *p1 = y->in[0], *p2 = y->in[1];
    const int N = p1->dim[0], V = p1->dim[1];
    float *d1 = hd_gradient_of(t, y->in[0]), *d2 = hd_gradient_of(t, y->in[1]);
    for (long i = 0; i < N; i++) {
        const float *x1 = p1->x + i * V, *x2 = p2->x + i * V;
        if (!d1 || d1 != d2) {
            t->k->kl(d1 ? d1 + i * V : NULL, d2 ? d2 + i * V : NULL, x1, x2, *y->g, V);
        } else { /* one gradient for both */
            t->k->kl(d1 + i * V, NULL, x1, x2, *y->g, V);
            t->k->kl(NULL, d2 + i * V, x1, x2, *y->g, V);
        }
    }
}

hd_node *hd_kl(hd_node *logits1, hd_node *logits2)
{
    hd_tape *t = hd_home2("hd_kl", logits1, logits2);
    if (hd_has_failed(t))
        return &t->nil;
    if (logits1->n_dims != 2 || !hd_same_shape(logits1, logits2))
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_kl: the logits %s and %s are not two matrices of one shape",
                            hd_text(logits1).s, hd_text(logits2).s);
    const int N = logits1->dim[0], V = logits1->dim[1];
    hd_node *y = hd_make(t, "hd_kl", hd_shape1(1), kl_back, logits1, logits2, NULL, 0);
    float *loss = y ? hd_tape_take(t, "hd_kl", (size_t)N, sizeof *loss) : NULL;
    if (!loss)
        return &t->nil;
    for (long i = 0; i < N; i++)
        loss[i] = t->k->kl(NULL, NULL, logits1->x + i * V, logits2->x + i * V, 1, V);
    *y->x = t->k->sum(loss, N);
    return y;
}
