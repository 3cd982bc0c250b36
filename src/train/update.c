/* update.c -- one update: shards' gradients are added by their tree, and the rule steps every chunk. */
#include "train/update.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "train/freeze.h"
#include "train/workspace.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1 << 15 }; /* floats of the flat block that a thread updates at a time */

/* ---- making ------------------------------------------------------------------------------------ */

static bool make_chunks(struct hd_workspace *w, const hd_params *params, heed_error *err)
{
    size_t most = 0;
    for (int i = 0; i < hd_params_number(params); i++)
        most += hd_count(hd_params_at(params, i)) / CHUNK + 1;
    w->chunks = hd_alloc(most, sizeof *w->chunks, err);
    w->squares = hd_alloc(most, sizeof *w->squares, err);
    if (!w->chunks || !w->squares)
        return false;
    for (int i = 0; i < hd_params_number(params); i++) {
        const hd_node *p = hd_params_at(params, i);
        const size_t count = p->wants_gradient ? hd_count(p) : 0;
        for (size_t at = 0; at < count; at += CHUNK)
            w->chunks[w->n_chunks++] =
                (struct chunk){hd_param_offset(p) + at,
                               (int)(count - at < CHUNK ? count - at : CHUNK), p->n_dims == 2};
    }
    return true;
}

/* Rows of a parameter's slices: whole panels of the packed copies, about a chunk. */
static int rows_of_slice(const hd_node *p)
{
    const size_t panel = hd_count(p) / (size_t)p->dim[0] * HD_LANES;
    return panel < CHUNK ? CHUNK / (int)panel * HD_LANES : HD_LANES;
}

static bool make_slices(struct hd_workspace *w, const hd_params *params, heed_error *err)
{
    size_t most = 0;
    for (int i = 0; i < hd_params_number(params); i++) {
        const hd_node *p = hd_params_at(params, i);
        most += (size_t)(p->dim[0] / rows_of_slice(p)) + 1;
    }
    if (!(w->slices = hd_alloc(most, sizeof *w->slices, err)))
        return false;
    for (int i = 0; i < hd_params_number(params); i++) {
        const hd_node *p = hd_params_at(params, i);
        const int step = rows_of_slice(p);
        for (int from = 0; from < p->dim[0]; from += step)
            w->slices[w->n_slices++] =
                (struct slice){i, from, p->dim[0] - from < step ? p->dim[0] : from + step};
    }
    return true;
}

static bool make_workspace(struct hd_learner *l, heed_error *err)
{
    struct hd_workspace *w = l->workspace = hd_new(struct hd_workspace, err);
    if (!w)
        return false;
    w->k = hd_kernels_chosen(err);
    w->n_workers = hd_pool_size(l->threads);
    w->n_blocks = l->recipe->shards;
    w->tapes = hd_alloc((size_t)w->n_workers, sizeof(hd_tape *), err);
    w->builders = hd_alloc((size_t)w->n_workers, sizeof *w->builders, err);
    w->blocks = hd_alloc((size_t)w->n_blocks, sizeof *w->blocks, err);
    w->shards = hd_alloc((size_t)w->n_blocks, sizeof *w->shards, err);
    w->n_params = hd_params_number(l->net->params);
    w->is_written =
        hd_alloc((size_t)w->n_workers * (size_t)w->n_params, sizeof *w->is_written, err);
    if (!w->k || !w->tapes || !w->builders || !w->blocks || !w->shards || !w->is_written)
        return false;
    for (int i = 0; i < w->n_workers; i++)
        if (!(w->tapes[i] = hd_tape_new(err)))
            return false;
    w->losses = hd_alloc((size_t)w->n_blocks, sizeof *w->losses, err);
    return w->losses && hd_freeze(l->recipe, l->net->params, err) &&
           make_chunks(w, l->net->params, err) && make_slices(w, l->net->params, err) &&
           (!l->ranks->module || hd_parts_make(l, err));
}

bool hd_learner_init(struct hd_learner *l, struct hd_net *net, const struct hd_recipe *recipe,
                     struct hd_pool *threads, struct hd_ranks *ranks, heed_error *err)
{
    *l = (struct hd_learner){.net = net,
                             .recipe = recipe,
                             .threads = threads,
                             .ranks = ranks,
                             .size = hd_params_size(net->params),
                             .power1 = 1,
                             .power2 = 1};
    if (!(l->m = hd_alloc(l->size, sizeof *l->m,
                          err))) /* also without momentum, which may be asked for later */
        return false;
    if (recipe->optimizer != HD_SGD && !(l->v = hd_alloc(l->size, sizeof *l->v, err)))
        return false;
    if (recipe->ema > 0) {
        if (!(l->ema = hd_alloc(l->size, sizeof *l->ema, err)))
            return false;
        memcpy(l->ema, hd_params_values(net->params), l->size * sizeof *l->ema);
    }
    if (recipe->precision != HD_PRECISION_F32)
        hd_params_multiply_bf16(net->params, recipe->precision == HD_PRECISION_BF16_BLOCKS);
    if (!make_workspace(l, err) || (recipe->quantize && !hd_params_multiply_int8(net->params, err)))
        return false;
    hd_learner_repack(l);
    return true;
}

void hd_learner_release(struct hd_learner *l)
{
    struct hd_workspace *w = l->workspace;
    for (int i = 0; w && w->tapes && w->builders && i < w->n_workers; i++) {
        hd_tape_free(w->tapes[i]);
        hd_batch_builder_release(&w->builders[i]);
    }
    for (int i = 0; w && w->blocks && i < w->n_blocks; i++)
        hd_free(w->blocks[i]);
    if (w) {
        hd_free(w->tapes);
        hd_free(w->builders);
        hd_free(w->blocks);
        hd_free(w->shards);
        hd_free(w->is_written);
        hd_free(w->chunks);
        hd_free(w->squares);
        hd_free(w->slices);
        hd_free(w->slabs);
        hd_free(w->sizes);
        hd_free(w->received);
        hd_free(w->losses);
    }
    hd_free(w);
    hd_free(l->m);
    hd_free(l->v);
    hd_free(l->ema);
    *l = (struct hd_learner){0};
}

void hd_learner_set_stop(struct hd_learner *l, struct hd_stop *stop)
{
    l->stop = stop;
    hd_pool_set_idle(l->threads, stop ? hd_stop_ask_now : NULL, stop);
    for (int i = 0; i < l->workspace->n_workers; i++)
        hd_tape_set_stop(l->workspace->tapes[i],
                         !stop    ? NULL
                         : i == 0 ? hd_stop_ask
                                  : hd_stop_is_set,
                         stop);
}

hd_tape *hd_learner_tape(struct hd_learner *l, int worker)
{
    return l->workspace->tapes[worker];
}

struct hd_batch_builder *hd_learner_builder(struct hd_learner *l, int worker)
{
    return &l->workspace->builders[worker];
}

/* ---- the step ---------------------------------------------------------------------------------- */

/* Our shards' gradients of one chunk into the first block, by the tree. */
static void add_chunk(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    struct hd_workspace *w = l->workspace;
    const struct chunk p = w->chunks[index];
    (void)worker;
    for (int stride = 1; stride < w->n_mine; stride *= 2)
        for (int i = 0; i + stride < w->n_mine; i += 2 * stride) {
            float *left = w->blocks[i] + p.at, *right = w->blocks[i + stride] + p.at;
            w->k->add(left, left, right, p.n);
        }
    if (!l->ranks->module)
        w->squares[index] = w->k->sum_squares(w->blocks[0] + p.at, p.n);
}

/* The rule, for n parameters from `at` on whose gradient is g. */
static void step(const struct hd_learner *l, size_t at, int n, float *g, bool is_decayed)
{
    const struct hd_recipe *r = l->recipe;
    const struct hd_workspace *w = l->workspace;
    float *x = hd_params_values(l->net->params) + at;
    const float decay = is_decayed ? r->weight_decay : 0;
    const float l2 = r->optimizer == HD_ADAM ? decay : 0;
    if (r->optimizer == HD_SGD)
        w->k->sgd(x, l->m + at, g, w->rate, r->momentum, decay, w->scale, n);
    else
        w->k->adam(x, l->m + at, l->v + at, g, w->rate, r->beta1, r->beta2, r->eps,
                   (float)(1 - l->power1), (float)(1 - l->power2), l2, decay - l2, w->scale, n);
    if (l->ema) {
        w->k->scale(l->ema + at, w->ema, l->ema + at, n);
        w->k->add_scaled(l->ema + at, 1 - w->ema, x, n);
    }
}

/* One rank's chunk; the others' come over the wire, so laying out waits. */
static void step_chunk(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    const int i = l->workspace->first_chunk + index;
    const struct chunk p = l->workspace->chunks[i];
    (void)worker;
    step(l, p.at, p.n, hd_parts_gradient(l, i), p.is_decayed);
}

static void pack_slice(void *context, int index, int worker)
{
    struct hd_learner *l = context;
    const struct slice s = l->workspace->slices[index];
    (void)worker;
    hd_params_pack_rows(l->net->params, s.param, s.from, s.to);
}

static void step_slice(void *context, int index, int worker)
{
    struct hd_learner *l = context;
    const struct slice s = l->workspace->slices[index];
    const hd_node *p = hd_params_at(l->net->params, s.param);
    const size_t row = hd_count(p) / (size_t)p->dim[0],
                 at = hd_param_offset(p) + (size_t)s.from * row;
    if (p->wants_gradient)
        step(l, at, (int)((size_t)(s.to - s.from) * row), l->workspace->blocks[0] + at,
             p->n_dims == 2);
    pack_slice(context, index, worker);
}

static void requantise_param(void *context, int index, int worker)
{
    struct hd_learner *l = context;
    (void)worker;
    hd_params_requantise(l->net->params, index);
}

/* Do `work` to every slice, after which packed copies hold the present values. */
static void run_slices(struct hd_learner *l, void (*work)(void *, int, int))
{
    hd_params_changed(l->net->params);
    /* Without memory for a packed copy products are right but slower. */
    (void)hd_params_pack_begin(l->net->params, NULL);
    hd_pool_run(l->threads, work, l, l->workspace->n_slices);
    hd_params_pack_end(l->net->params);
    if (l->recipe->quantize)
        hd_pool_run(l->threads, requantise_param, l, l->workspace->n_params);
}

void hd_learner_repack(struct hd_learner *l)
{
    run_slices(l, pack_slice);
}

/* ---- an update --------------------------------------------------------------------------------- */

/* The moving average is shorter at the beginning, when there are few updates to average over. */
static float ema_of(const struct hd_recipe *r, long number)
{
    const float young = (1 + (float)number) / (10 + (float)number);
    return young < r->ema ? young : r->ema;
}

/* The gradient of the batch, added up; its loss and length. */
static bool add_gradients(struct hd_learner *l, struct hd_updated *updated, heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    const bool is_alone = !l->ranks->module;
    hd_pool_run(l->threads, hd_shard_run, l, w->n_mine);
    for (int i = w->first; i < w->first + w->n_mine; i++) {
        w->losses[i] = w->shards[i].loss;
        if (hd_failed(&w->shards[i].err))
            return hd_fail(err, w->shards[i].err.code, "%s", w->shards[i].err.message);
    }
    hd_pool_run(l->threads, add_chunk, l, w->n_chunks);
    if (!is_alone &&
        (!hd_parts_share_numbers(l, w->losses, false, err) || !hd_parts_exchange(l, err) ||
         !hd_parts_share_numbers(l, w->squares, true, err)))
        return false;
    double squares = 0;
    for (int i = 0; i < w->n_chunks; i++)
        squares += w->squares[i];
    for (int i = 0; i < w->n_shards; i++)
        updated->loss += w->losses[i] / (double)updated->n_tokens;
    updated->norm = __builtin_sqrt(squares) / (double)updated->n_tokens;
    updated->is_finite = isfinite(updated->norm) && isfinite(updated->loss);
    return true;
}

bool hd_learn(struct hd_learner *l, const struct hd_pair_ids *pairs, int n, long number, float rate,
              struct hd_updated *updated, heed_error *err)
{
    const struct hd_recipe *r = l->recipe;
    struct hd_workspace *w = l->workspace;
    *updated = (struct hd_updated){0};
    for (int i = 0; i < n; i++)
        updated->n_tokens += pairs[i].target.n;
    w->pairs = pairs;
    w->number = number;
    w->first_chunk = 0;
    if (!hd_shards_cut(l, pairs, n, updated->n_tokens, err))
        return false;
    updated->n_shards = w->n_shards;
    if (!add_gradients(l, updated, err))
        return false;
    if (!updated->is_finite)
        return true;
    const double clip =
        r->clip > 0 && updated->norm > (double)r->clip ? (double)r->clip / updated->norm : 1;
    w->rate = rate;
    w->scale = (float)(clip / (double)updated->n_tokens);
    w->ema = ema_of(r, number);
    l->power1 *= (double)r->beta1;
    l->power2 *= (double)r->beta2;
    if (!l->ranks->module)
        run_slices(l, step_slice);
    else if (hd_parts_step(l, step_chunk, err))
        hd_learner_repack(l);
    else
        return false;
    return true;
}
