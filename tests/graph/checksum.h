/* checksum.h -- a model with every op in it trained for some updates, and one checksum of all that
 * came out, forward and back: equal for all instruction sets, CPUs and compilers, or a test fails.
 *
 * Plain C without the test library, so that it also runs on another CPU. When an op or a kernel is
 * meant to change its bits, run the test and put the checksum that it prints here. */
#ifndef HD_GRAPH_CHECKSUM_H
#define HD_GRAPH_CHECKSUM_H

#include "graph/formula.h"
#include "kernel/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH_CHECKSUM UINT64_C(0x58f061a3d262f75f)

/* FNV-1a over the bits of n numbers, four bytes at a time. */
static inline void graph_checksum_add(uint64_t *sum, const float *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        *sum = (*sum ^ bits) * UINT64_C(0x100000001b3);
        *sum ^= *sum >> 29;
    }
}

/* One update: the loss and its gradients go into the checksum, and a little of them off the
 * parameters. False when that failed, or the loss is no number. */
static inline bool graph_update(uint64_t *sum, const struct formula *f, hd_tape *t,
                                float *gradients, uint64_t key, heed_error *err)
{
    const size_t n = hd_params_size(f->params);
    const struct hd_kernels *k = hd_kernels_chosen(err);
    memset(gradients, 0, n * sizeof *gradients);
    hd_tape_reset(t);
    hd_tape_record(t, true);
    hd_tape_train(t, key);
    hd_node *loss = formula_loss(t, f);
    if (!hd_backward(loss, gradients)) {
        *err = *hd_tape_error(t);
        return false;
    }
    graph_checksum_add(sum, loss->x, 1);
    graph_checksum_add(sum, gradients, n);
    k->sgd(hd_params_values(f->params), NULL, gradients, 0.01F, 0, 0.1F, 1, (long)n);
    hd_params_changed(f->params);
    return isfinite(loss->x[0]) && hd_params_pack(f->params, err);
}

/* The checksum of three updates that begin with this dropout key and of a last look without
 * training, by the kernels that were chosen. False, with the reason in `err`, when it cannot
 * be had. */
static inline bool graph_checksum(uint64_t *sum, uint64_t key, heed_error *err)
{
    static const int lengths[] = {3, 0, 19, 1, 7};
    struct formula f = {0};
    hd_tape *t = hd_tape_new(err);
    bool is_fine = t && formula_make(&f, 5, lengths, 22, err);
    float *gradients = is_fine ? malloc(hd_params_size(f.params) * sizeof *gradients) : NULL;
    is_fine = gradients != NULL;
    *sum = UINT64_C(0xcbf29ce484222325);
    if (is_fine) {
        hd_init_normal(f.table, 0.3F, 2);
        hd_init_glorot(f.W, 3);
        hd_init_orthogonal(f.U3, 0.9F, 4);
    }
    for (uint64_t update = 0; is_fine && update < 3; update++)
        is_fine = graph_update(sum, &f, t, gradients, key + update, err);
    if (is_fine) {
        hd_tape_reset(t);
        hd_tape_record(t, false);
        hd_tape_infer(t);
        graph_checksum_add(sum, formula_loss(t, &f)->x, 1);
        graph_checksum_add(sum, hd_params_values(f.params), hd_params_size(f.params));
        is_fine = hd_tape_error(t)->code == HEED_OK;
    }
    free(gradients);
    hd_tape_free(t);
    formula_free(&f);
    return is_fine;
}

#endif
