/* head_words.c -- words as the output, one after the other: an architecture's decoder, and the output layer over the vocabulary. */
#include "graph/tape.h"
#include "model/architecture.h"
#include "model/output.h"
#include "model/param.h"

static bool declare_words(struct hd_net *net, heed_error *err)
{
    const struct hd_config *c = &net->config;
    const bool is_shared = c->tie == HD_TIE_SOURCE_TARGET || c->tie == HD_TIE_ALL;
    (void)err;
    net->target_table =
        is_shared ? net->source.table
                  : hd_table_param(net->params, "target.embed", c->target_vocab, c->embed);
    hd_head_declare(&net->head, c, net->params, net->architecture->output_width(c),
                    net->target_table);
    return true;
}

static void free_words(void *parts)
{
    (void)parts;
}

static void init_words(const struct hd_net *net, uint64_t seed)
{
    if (net->target_table != net->source.table)
        hd_init_normal(net->target_table, 1 / __builtin_sqrtf((float)net->config.embed), seed);
    hd_head_init(&net->head, seed);
}

static bool force_words(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                        const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                        struct hd_forced *forced)
{
    if (!net->architecture->teacher_force(net, tape, memory, batch, dropouts, forced))
        return false;
    if (!forced->out) /* no words at all */
        forced->out = hd_input(tape, NULL, 0, hd_head_width(&net->head));
    return true;
}

static hd_node *loss_of_words(const struct hd_net *net, const struct hd_forced *forced,
                              float smoothing)
{
    return hd_head_loss(&net->head, forced->out, forced->target, smoothing);
}

static hd_node *loss_of_word_pair(const struct hd_net *net, const struct hd_forced *first,
                                  const struct hd_forced *second, float smoothing,
                                  const hd_consistency *consistency)
{
    return hd_head_loss_pair(&net->head, first->out, second->out, first->target, smoothing,
                             consistency);
}

const struct hd_output hd_output_words = {.declare = declare_words,
                                          .free = free_words,
                                          .init = init_words,
                                          .teacher_force = force_words,
                                          .loss = loss_of_words,
                                          .loss_pair = loss_of_word_pair};
