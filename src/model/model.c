/* model.c -- a net of any architecture: source, architecture and head put together. */
#include "model/model.h"

#include "base/memory.h"
#include "graph/tape.h"
#include "model/architecture.h"
#include "model/output.h"
#include "model/param.h"

/* ---- parameters ------------------------------------------------------------------------------------------------------------ */

static const struct hd_architecture *architecture_of(const struct hd_config *config)
{
    return config->arch == HD_TRANSFORMER ? &hd_transformer : &hd_recurrent;
}

static const struct hd_source_kind *source_of(const struct hd_config *config)
{
    return !hd_config_has_encoder(config)        ? &hd_source_none
           : config->task == HD_TASK_SPAN        ? &hd_source_question
           : config->source == HD_SOURCE_VECTORS ? &hd_source_vectors
                                                 : &hd_source_text;
}

static const struct hd_output *output_of(const struct hd_config *config)
{
    return config->task == HD_TASK_LABEL  ? &hd_output_label
           : config->task == HD_TASK_SPAN ? &hd_output_span
                                          : &hd_output_words;
}

struct hd_net *hd_net_declare(const struct hd_config *c, heed_error *err)
{
    struct hd_net *net = hd_new(struct hd_net, err);
    if (!net)
        return NULL;
    net->config = *c;
    net->architecture = architecture_of(c);
    net->source.kind = source_of(c);
    net->output = output_of(c);
    net->params = hd_params_new(err);
    if (!net->params) {
        hd_net_free(net);
        return NULL;
    }
    net->source.kind->declare(net);
    if (net->output->declare(net, err) && net->architecture->declare(net, err)) {
        hd_ctc_declare(&net->ctc, c, net->params);
        return net;
    }
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
    net->architecture->free(net->parts);
    net->output->free(net->output_parts);
    hd_head_release(&net->head);
    hd_params_free(net->params);
    hd_free(net);
}

/* ---- precision ------------------------------------------------------------------------------------------------------------- */

enum hd_held hd_held_for(enum hd_compute compute, enum hd_held stored)
{
    switch (compute) {
    case HD_COMPUTE_STORED:
        return stored;
    case HD_COMPUTE_F32:
        return HD_HELD_PACKED;
    case HD_COMPUTE_BF16:
        return HD_HELD_BF16;
    case HD_COMPUTE_INT8:
        return HD_HELD_INT8;
    case HD_COMPUTE_TO_TRAIN:
        return HD_HELD_PLAIN;
    }
    return stored;
}

bool hd_net_is_int8(const struct hd_net *net)
{
    for (int i = 0; i < hd_params_number(net->params); i++)
        if (hd_is_int8(hd_params_at(net->params, i)))
            return true;
    return false;
}

bool hd_net_computes(const struct hd_net *net, enum hd_compute compute)
{
    for (int i = 0; compute != HD_COMPUTE_STORED && i < hd_params_number(net->params); i++) {
        const hd_node *p = hd_params_at(net->params, i);
        if (p->param->use != HD_PARAM_OTHER &&
            (hd_is_int8(p) != (compute == HD_COMPUTE_INT8) ||
             (p->param->held == HD_HELD_BF16) != (compute == HD_COMPUTE_BF16)))
            return false;
    }
    return true;
}

/* One parameter, through floats where it is not held alike. */
static bool copy_param(hd_node *to, const hd_node *from, heed_error *err)
{
    if (from->x)
        return hd_param_write(to, from->x, err);
    if (to->x) {
        hd_param_read(from, to->x);
        return true;
    }
    if (!hd_is_int8(from) || !hd_is_int8(to)) {
        float *x = hd_alloc(from->count, sizeof *x, err);
        if (x)
            hd_param_read(from, x);
        const bool ok = x && hd_param_write(to, x, err);
        hd_free(x);
        return ok;
    }
    int8_t *q = hd_alloc(from->count, sizeof *q, err);
    if (q) {
        hd_param_read_int8(from, q);
        hd_param_write_int8(to, q, from->param->int8.scale);
    }
    hd_free(q);
    return q != NULL;
}

struct hd_net *hd_net_as(const struct hd_net *net, enum hd_compute compute, heed_error *err)
{
    struct hd_net *copy = hd_net_declare(&net->config, err);
    const int n = copy ? hd_params_number(copy->params) : 0;
    for (int i = 0; i < n; i++) {
        const enum hd_held stored = hd_params_at(net->params, i)->param->held;
        hd_param_hold(hd_params_at(copy->params, i), hd_held_for(compute, stored));
    }
    bool ok = copy && hd_params_make(copy->params, err);
    for (int i = 0; ok && i < n; i++) {
        hd_node *to = hd_params_at(copy->params, i);
        ok = copy_param(to, hd_params_at(net->params, i), err);
    }
    if (ok && hd_net_pack(copy, err))
        return copy;
    hd_net_free(copy);
    return NULL;
}

void hd_net_init(struct hd_net *net, uint64_t seed)
{
    net->source.kind->init(net, seed);
    net->output->init(net, seed);
    net->architecture->init(net, seed);
    hd_ctc_init(&net->ctc, seed);
}

bool hd_net_pack(struct hd_net *net, heed_error *err)
{
    return hd_params_pack(net->params, err);
}

int hd_net_max_target(const struct hd_net *net)
{
    return net->architecture->max_target(&net->config);
}

/* ---- the two ways to run it -------------------------------------------------------------------------------------------------- */

static const struct hd_dropouts nothing_dropped;

struct hd_memory *hd_encode(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                            const struct hd_dropouts *dropouts)
{
    struct hd_memory *memory = hd_tape_take(tape, "hd_encode", 1, sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct hd_memory){0};
    hd_node *x = net->source.kind->read(net, tape, batch, memory);
    dropouts = dropouts ? dropouts : &nothing_dropped;
    return net->architecture->encode(net, tape, x, dropouts, memory) ? memory : NULL;
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
    return net->output->teacher_force(net, tape, memory, batch, dropouts, forced) ? forced : NULL;
}

hd_node *hd_forced_loss(const struct hd_net *net, const struct hd_forced *forced, float smoothing)
{
    return net->output->loss(net, forced, smoothing);
}

hd_node *hd_forced_loss_pair(const struct hd_net *net, const struct hd_forced *first,
                             const struct hd_forced *second, float smoothing,
                             const hd_consistency *consistency)
{
    return net->output->loss_pair(net, first, second, smoothing, consistency);
}
