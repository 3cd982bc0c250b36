/* model.c -- a net of any architecture: its tables and output layer, and the way to the architecture's own files. */
#include "model/model.h"

#include "base/memory.h"
#include "graph/tape.h"
#include "model/readout.h"
#include "model/rnn.h"
#include "model/screen.h"
#include "model/transformer.h"

/* ---- parameters ------------------------------------------------------------------------------------------------------------ */

static void declare_tables(struct hd_net *net)
{
    const struct hd_config *c = &net->config;
    const bool is_transformer = c->arch == HD_TRANSFORMER;
    const int R = is_transformer ? c->dim : hd_readout_width(c);
    if (c->tie == HD_TIE_SOURCE_TARGET || c->tie == HD_TIE_ALL)
        net->source_table = net->target_table =
            hd_param(net->params, "embed", c->target_vocab, c->embed);
    else {
        net->source_table = hd_param(net->params, "source.embed", c->source_vocab, c->embed);
        net->target_table = hd_param(net->params, "target.embed", c->target_vocab, c->embed);
    }
    net->is_output_tied = c->tie == HD_TIE_OUTPUT || c->tie == HD_TIE_ALL;
    net->output = net->is_output_tied ? net->target_table
                                      : hd_param(net->params, "output.W", R, c->target_vocab);
    net->output_bias = hd_param(net->params, "output.b", c->target_vocab);
}

struct hd_net *hd_net_declare(const struct hd_config *config, heed_error *err)
{
    struct hd_net *net = hd_new(struct hd_net, err);
    if (!net)
        return NULL;
    net->config = *config;
    net->params = hd_params_new(err);
    if (!net->params) {
        hd_net_free(net);
        return NULL;
    }
    declare_tables(net);
    const bool is_declared = config->arch == HD_TRANSFORMER ? hd_transformer_declare(net, err)
                                                            : hd_rnn_declare(net, err);
    if (is_declared)
        return net;
    hd_net_free(net);
    return NULL;
}

struct hd_net *hd_net_new(const struct hd_config *config, heed_error *err)
{
    struct hd_net *net = hd_net_declare(config, err);
    if (net && hd_params_make(net->params, err))
        return net;
    hd_net_free(net);
    return NULL;
}

void hd_net_free(struct hd_net *net)
{
    if (!net)
        return;
    hd_rnn_free(net->rnn);
    hd_transformer_free(net->transformer);
    hd_screen_free(net->screen);
    hd_params_free(net->params);
    hd_free(net);
}

void hd_net_init(struct hd_net *net, uint64_t seed)
{
    const float deviation = 1 / __builtin_sqrtf((float)net->config.embed);
    hd_init_normal(net->source_table, deviation, seed);
    if (net->target_table != net->source_table)
        hd_init_normal(net->target_table, deviation, seed);
    if (!net->is_output_tied)
        hd_init_glorot(net->output, seed);
    hd_init_fill(net->output_bias, 0);
    if (net->rnn)
        hd_rnn_init(net, seed);
    else
        hd_transformer_init(net, seed);
}

/* ---- the two ways to run it -------------------------------------------------------------------------------------------------- */

static const struct hd_dropouts nothing_dropped;

struct hd_memory *hd_encode(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                            const struct hd_dropouts *dropouts)
{
    struct hd_memory *memory = hd_tape_take(tape, "hd_encode", 1, sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct hd_memory){.spans = hd_spans_of(tape, batch->source_length, batch->n)};
    dropouts = dropouts ? dropouts : &nothing_dropped;
    const bool is_done = net->rnn ? hd_rnn_encode(net, tape, batch, dropouts, memory)
                                  : hd_transformer_encode(net, tape, batch, dropouts, memory);
    return is_done ? memory : NULL;
}

struct hd_forced *hd_teacher_force(const struct hd_net *net, hd_tape *tape,
                                   const struct hd_memory *memory, const struct hd_batch *batch,
                                   const struct hd_dropouts *dropouts)
{
    struct hd_forced *forced =
        memory ? hd_tape_take(tape, "hd_teacher_force", 1, sizeof *forced) : NULL;
    if (!forced)
        return NULL;
    *forced = (struct hd_forced){0};
    dropouts = dropouts ? dropouts : &nothing_dropped;
    const bool is_done =
        net->rnn ? hd_rnn_teacher_force(net, tape, memory, batch, dropouts, forced)
                 : hd_transformer_teacher_force(net, tape, memory, batch, dropouts, forced);
    if (!is_done)
        return NULL;
    if (!forced->out) /* no words at all */
        forced->out = hd_input(tape, NULL, 0,
                               net->is_output_tied ? net->output->dim[1] : net->output->dim[0]);
    return forced;
}

hd_node *hd_forced_loss(const struct hd_net *net, const struct hd_forced *forced, float smoothing)
{
    return hd_output_loss(
        net->output, net->output_bias, forced->out, forced->target,
        &(hd_output_options){.is_transposed = net->is_output_tied, .smoothing = smoothing});
}

hd_node *hd_forced_loss_pair(const struct hd_net *net, const struct hd_forced *first,
                             const struct hd_forced *second, float smoothing,
                             const hd_consistency *consistency)
{
    return hd_output_loss_pair(
        net->output, net->output_bias, first->out, second->out, first->target,
        &(hd_output_options){.is_transposed = net->is_output_tied, .smoothing = smoothing},
        consistency);
}

hd_node *hd_logits(const struct hd_net *net, hd_node *out)
{
    return net->is_output_tied ? hd_affine_transposed(net->output, net->output_bias, out)
                               : hd_affine(net->output, net->output_bias, out);
}
