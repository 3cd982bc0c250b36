/* head.h -- what an output is: a word of the target vocabulary, from what the decoder gives the output layer. */
#ifndef HD_MODEL_HEAD_H
#define HD_MODEL_HEAD_H

#include "model/config.h"
#include <heed_graph.h>

struct hd_screen; /* screen.h */
struct hd_sieve;  /* sieve.h */

struct hd_head {
    hd_node *W, *b; /* W [R,V], or the target table [V,E] when is_tied; b [V] */
    bool is_tied;
    _Atomic(struct hd_screen *) screen; /* made by hd_screen_make(); may be NULL */
    _Atomic(struct hd_sieve *) sieve;   /* in the same way */
};

/* `width` is R; `target_table` is used where the configuration ties the output to it. */
void hd_head_declare(struct hd_head *head, const struct hd_config *config, hd_params *params,
                     int width, hd_node *target_table);
void hd_head_init(const struct hd_head *head, uint64_t seed);
void hd_head_release(struct hd_head *head);

/* R */
int hd_head_width(const struct hd_head *head);

/* Logits [n,V] of rows x [n,R]. */
hd_node *hd_logits(const struct hd_head *head, hd_node *x);

/* The loss Σ over rows against these words, fused with the output layer. */
hd_node *hd_head_loss(const struct hd_head *head, hd_node *x, const int *words, float smoothing);

/* The same of two runs that should agree (R-Drop, SimCut). */
hd_node *hd_head_loss_pair(const struct hd_head *head, hd_node *x1, hd_node *x2, const int *words,
                           float smoothing, const hd_consistency *consistency);

#endif
