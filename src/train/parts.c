/* parts.c -- several ranks: each adds up the gradients of its own shards, sends every other rank that one's part of the sum,
 * finishes the tree for its own part, steps that part of the parameters, and shares it. */
#include "base/error.h"
#include "base/memory.h"
#include "train/workspace.h"

enum { SLABS = 4 }; /* messages that a rank's part travels in, so that adding and sending overlap */

/* Where slab `slab` of rank `rank`'s part begins in the flat block, and how many floats it spans. */
static size_t slab_start(const struct hd_workspace *w, int rank, int slab, size_t *n)
{
    const int first = w->slabs[rank * (SLABS + 1) + slab],
              end = w->slabs[rank * (SLABS + 1) + slab + 1];
    if (first == end) {
        *n = 0;
        return 0;
    }
    *n = w->chunks[end - 1].at + (size_t)w->chunks[end - 1].n - w->chunks[first].at;
    return w->chunks[first].at;
}

/* The sums of all ranks for one chunk of ours, where they were received: rank 0's becomes the whole. */
static float *received_chunk(const struct hd_learner *l, int slab, int chunk, size_t *stride)
{
    const struct hd_workspace *w = l->workspace;
    size_t before = 0, n = 0, at = 0;
    for (int s = 0; s <= slab; s++) {
        before += n * (size_t)l->ranks->n;
        at = slab_start(w, l->ranks->rank, s, &n);
    }
    *stride = n;
    return w->received + before + (w->chunks[chunk].at - at);
}

static int slab_of(const struct hd_learner *l, int chunk)
{
    const int *mine = l->workspace->slabs + l->ranks->rank * (SLABS + 1);
    int slab = 0;
    while (mine[slab + 1] <= chunk)
        slab++;
    return slab;
}

bool hd_parts_make(struct hd_learner *l, heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    const size_t n_ranks = (size_t)l->ranks->n;
    w->slabs = hd_alloc(n_ranks * (SLABS + 1), sizeof *w->slabs, err);
    w->sizes = hd_alloc(n_ranks * SLABS * 4, sizeof *w->sizes, err);
    if (!w->slabs || !w->sizes)
        return false;
    size_t total = 0, done = 0;
    for (int i = 0; i < w->n_chunks; i++)
        total += (size_t)w->chunks[i].n;
    const size_t n_slabs = n_ranks * SLABS;
    size_t slab = 0;
    for (int i = 0; i < w->n_chunks; i++) {
        for (; slab < n_slabs && done * n_slabs >= total * slab; slab++)
            w->slabs[slab / SLABS * (SLABS + 1) + slab % SLABS] = i;
        done += (size_t)w->chunks[i].n;
    }
    for (; slab < n_slabs; slab++)
        w->slabs[slab / SLABS * (SLABS + 1) + slab % SLABS] = w->n_chunks;
    for (size_t r = 0; r < n_ranks; r++)
        w->slabs[r * (SLABS + 1) + SLABS] =
            r + 1 < n_ranks ? w->slabs[(r + 1) * (SLABS + 1)] : w->n_chunks;
    size_t mine = 0;
    for (int s = 0; s < SLABS; s++) {
        size_t n;
        (void)slab_start(w, l->ranks->rank, s, &n);
        mine += n;
    }
    w->received = hd_alloc(mine * n_ranks, sizeof *w->received, err);
    return w->received != NULL;
}

/* The upper levels of the tree, over ranks, for one chunk of ours. */
static void finish_chunk(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    struct hd_workspace *w = l->workspace;
    const int chunk = w->first_chunk + index, n = w->chunks[chunk].n;
    size_t apart;
    float *sums = received_chunk(l, slab_of(l, chunk), chunk, &apart);
    (void)worker;
    for (int stride = 1; stride < w->n_present; stride *= 2)
        for (int i = 0; i + stride < w->n_present; i += 2 * stride)
            w->k->add(sums + (size_t)i * apart, sums + (size_t)i * apart,
                      sums + (size_t)(i + stride) * apart, n);
    w->squares[chunk] = w->k->sum_squares(sums, n);
}

bool hd_parts_exchange(struct hd_learner *l, heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    struct hd_ranks *r = l->ranks;
    const size_t n_ranks = (size_t)r->n;
    size_t before = 0, mine;
    for (int s = 0; s < SLABS; s++) {
        size_t *at = w->sizes + (size_t)s * 4 * n_ranks, *n = at + n_ranks, *to_at = n + n_ranks,
               *to_n = to_at + n_ranks;
        (void)slab_start(w, r->rank, s, &mine);
        for (int i = 0; i < r->n; i++) {
            size_t count;
            at[i] = slab_start(w, i, s, &count) * sizeof(float);
            n[i] = w->n_mine > 0 ? count * sizeof(float) : 0;
            to_at[i] = (before + (size_t)i * mine) * sizeof(float);
            to_n[i] = i < w->n_present ? mine * sizeof(float) : 0;
        }
        if (!r->module->scatter(s, w->n_mine > 0 ? w->blocks[0] : NULL, at, n, w->received, to_at,
                                to_n, err))
            return false;
        before += mine * n_ranks;
    }
    for (int s = 0; s < SLABS; s++) {
        const int *slabs = w->slabs + r->rank * (SLABS + 1);
        if (!hd_ranks_wait(r, s, err))
            return false;
        w->first_chunk = slabs[s];
        hd_pool_run(l->threads, finish_chunk, l, slabs[s + 1] - slabs[s]);
    }
    return true;
}

bool hd_parts_share_numbers(struct hd_learner *l, double *numbers, bool of_chunks, heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    size_t *at = w->sizes, *n = at + l->ranks->n;
    for (int i = 0; i < l->ranks->n; i++) {
        const int first = of_chunks ? w->slabs[i * (SLABS + 1)] : i * w->per_rank;
        const int end = of_chunks ? w->slabs[i * (SLABS + 1) + SLABS] : first + w->per_rank;
        const int most = of_chunks ? end : end < w->n_shards ? end : w->n_shards;
        at[i] = (size_t)first * sizeof(double);
        n[i] = most > first ? (size_t)(most - first) * sizeof(double) : 0;
        at[i] = n[i] ? at[i] : 0;
    }
    return hd_ranks_gather(l->ranks, numbers, at, n, err);
}

/* Start sharing slab s of everybody's part of a block. */
static bool share_slab(struct hd_learner *l, float *block, int s, heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    const size_t n_ranks = (size_t)l->ranks->n;
    size_t *at = w->sizes + (size_t)s * 4 * n_ranks, *n = at + n_ranks;
    for (int i = 0; i < l->ranks->n; i++) {
        at[i] = slab_start(w, i, s, &n[i]) * sizeof(float);
        n[i] *= sizeof(float);
    }
    return l->ranks->module->gather(s, block, at, n, err);
}

static bool share_block(struct hd_learner *l, float *block, heed_error *err)
{
    bool ok = true;
    for (int s = 0; ok && block && s < SLABS; s++)
        ok = share_slab(l, block, s, err) && hd_ranks_wait(l->ranks, s, err);
    return ok;
}

bool hd_learner_share(struct hd_learner *l, bool ema_alone, heed_error *err)
{
    return !l->ranks->module ||
           (share_block(l, l->ema, err) &&
            (ema_alone || (share_block(l, l->m, err) && share_block(l, l->v, err))));
}

bool hd_parts_step(struct hd_learner *l, void (*step_chunk)(void *, int, int), heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    float *values = hd_params_values(l->net->params);
    const int *slabs = w->slabs + l->ranks->rank * (SLABS + 1);
    bool ok = true;
    for (int s = 0; ok && s < SLABS; s++) {
        w->first_chunk = slabs[s];
        hd_pool_run(l->threads, step_chunk, l, slabs[s + 1] - slabs[s]);
        ok = share_slab(l, values, s, err);
    }
    for (int s = 0; ok && s < SLABS; s++)
        ok = hd_ranks_wait(l->ranks, s, err);
    w->first_chunk = 0;
    return ok;
}

float *hd_parts_gradient(const struct hd_learner *l, int chunk)
{
    size_t stride;
    return received_chunk(l, slab_of(l, chunk), chunk, &stride);
}
