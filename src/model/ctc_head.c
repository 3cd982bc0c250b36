/* ctc_head.c -- CTC over the encoder's states, beside whatever decodes them.
 *
 * The end marker is no sound: it ends the decoder's words, and here the source's end does that. */
#include "model/ctc_head.h"

#include "graph/tape.h"
#include "model/model.h"
#include "model/param.h"

#include <string.h>

void hd_ctc_declare(struct hd_ctc_head *head, const struct hd_config *c, hd_params *params)
{
    if (!(c->ctc > 0))
        return;
    head->W = hd_param(params, "ctc.W", hd_encoder_width(c), c->target_vocab + 1);
    hd_param_set_use(head->W,
                     HD_PARAM_MAP); /* laid out for speed once somebody multiplies with it */
    head->b = hd_vector_param(params, "ctc", "b", c->target_vocab + 1);
}

void hd_ctc_init(const struct hd_ctc_head *head, uint64_t seed)
{
    if (!head->W)
        return;
    hd_init_glorot(head->W, seed);
    hd_init_fill(head->b, 0);
}

hd_node *hd_ctc_logits(const struct hd_ctc_head *head, hd_node *h)
{
    return hd_affine(head->W, head->b, h);
}

hd_node *hd_with_ctc(const struct hd_net *net, const struct hd_memory *memory,
                     const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                     hd_node *loss, int *n_skipped)
{
    if (n_skipped)
        *n_skipped = 0;
    if (!net->ctc.W || !memory)
        return loss;
    hd_tape *tape = loss->tape;
    const size_t n = (size_t)batch->n;
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += (size_t)batch->target_length[i];
    int *lengths = hd_tape_take(tape, "hd_with_ctc", n, sizeof *lengths);
    int *labels = hd_tape_take(tape, "hd_with_ctc", total, sizeof *labels);
    if (!lengths || !labels)
        return &tape->nil;
    const int *from = batch->target;
    int *to = labels;
    for (size_t i = 0; i < n; i++) {
        const int length = batch->target_length[i];
        lengths[i] = length > 0 ? length - 1 : 0;
        memcpy(to, from, (size_t)lengths[i] * sizeof *to);
        to += lengths[i];
        from += length;
    }
    hd_node *h = hd_dropout(hd_on(tape, memory->h), dropouts ? dropouts->state : 0);
    hd_node *logits = hd_ctc_logits(&net->ctc, h);
    hd_node *ctc = hd_ctc(logits, memory->spans, labels, lengths, n_skipped);
    return hd_add(loss, hd_scale(ctc, net->config.ctc));
}
