/* head.c -- the output layer over words, with weights of its own or those of the target's embeddings. */
#include "model/head.h"

#include "graph/tape.h"
#include "model/param.h"
#include "model/screen.h"
#include "model/sieve.h"

void hd_head_declare(struct hd_head *head, const struct hd_config *c, hd_params *params, int width,
                     hd_node *target_table)
{
    head->is_tied = c->tie == HD_TIE_OUTPUT || c->tie == HD_TIE_ALL;
    head->W =
        head->is_tied ? target_table : hd_map_param(params, "output", "W", width, c->target_vocab);
    if (head->is_tied)
        hd_param_want_packed(head->W, true);
    head->b = hd_param(params, "output.b", c->target_vocab);
}

void hd_head_init(const struct hd_head *head, uint64_t seed)
{
    if (!head->is_tied)
        hd_init_glorot(head->W, seed);
    hd_init_fill(head->b, 0);
}

void hd_head_release(struct hd_head *head)
{
    hd_screen_free(head->screen);
    hd_sieve_free(head->sieve);
}

int hd_head_width(const struct hd_head *head)
{
    return head->is_tied ? head->W->dim[1] : head->W->dim[0];
}

hd_node *hd_logits(const struct hd_head *head, hd_node *x)
{
    return head->is_tied ? hd_affine_transposed(head->W, head->b, x)
                         : hd_affine(head->W, head->b, x);
}

hd_node *hd_head_loss(const struct hd_head *head, hd_node *x, const int *words, float smoothing)
{
    return hd_output_loss(
        head->W, head->b, x, words,
        &(hd_output_options){.is_transposed = head->is_tied, .smoothing = smoothing});
}

hd_node *hd_head_loss_pair(const struct hd_head *head, hd_node *x1, hd_node *x2, const int *words,
                           float smoothing, const hd_consistency *consistency)
{
    return hd_output_loss_pair(
        head->W, head->b, x1, x2, words,
        &(hd_output_options){.is_transposed = head->is_tied, .smoothing = smoothing}, consistency);
}
