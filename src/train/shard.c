/* shard.c -- a batch is cut into shards, and a shard's gradient is computed on tapes of bounded size. */
#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/tape.h"
#include "model/guidance.h"
#include "train/mask.h"
#include "train/workspace.h"

#include <string.h>

enum {
    LEAST_TOKENS = 256, /* of a shard: below it, products lose their speed */
    LEAST_OF_TWO = 64,  /* but a second thread is worth more than that */
    TAPE_TOKENS = 1024, /* target tokens that one tape holds: bounds its memory */
    TAPE_SOURCE = 2048, /* source tokens */
};

/* What the numbers of one tape are drawn for. */
enum draw { DRAW_DROPOUT, DRAW_HIDE, DRAW_CUT, DRAW_MASK };

static uint64_t key_of(const struct hd_learner *l, int shard, int tape, enum draw draw)
{
    uint32_t words[4];
    const uint64_t tape_number = (uint64_t)shard << 32 | (uint64_t)tape << 8 | (uint64_t)draw;
    hd_philox(words, (uint64_t)l->recipe->seed, (uint64_t)l->workspace->number, tape_number);
    return (uint64_t)words[0] << 32 | words[1];
}

/* Copy ids, each hidden with probability `share`. */
static void copy_hiding(int *to, const int *from, size_t n, float share, uint64_t key)
{
    struct hd_rng rng = {.key = key};
    for (size_t i = 0; i < n; i++)
        to[i] = hd_rng_uniform(&rng) < share ? HD_HIDDEN : from[i];
}

/* Pairs [from, to) side by side. */
static bool build(struct hd_batch_builder *builder, const struct hd_pair_ids *pairs, int from,
                  int to, heed_error *err)
{
    hd_batch_begin(builder);
    for (int i = from; i < to; i++)
        if (!hd_batch_add(builder, pairs[i].source, pairs[i].target, -1, err))
            return false;
    return true;
}

/* The batch with some words hidden, on the tape. */
static struct hd_batch hide(const struct hd_batch_builder *built, hd_tape *tape, float share,
                            uint64_t key)
{
    struct hd_batch hidden = hd_batch_of(built);
    const size_t n_source = built->n_source, n_target = built->n_target,
                 n_question = hidden.question ? built->n_question : 0;
    int *ids = share > 0 ? hd_tape_take(tape, "hide", n_source + n_target + n_question, sizeof *ids)
                         : NULL;
    if (!ids)
        return hidden;
    if (!hidden.frames)
        copy_hiding(ids, hidden.source, n_source, share, key);
    copy_hiding(ids + n_source, hidden.target, n_target, share, key + 1);
    if (n_question > 0) {
        copy_hiding(ids + n_source + n_target, hidden.question, n_question, share, key + 2);
        hidden.question = ids + n_source + n_target;
    }
    hidden.source = ids;
    hidden.target_seen = ids + n_source;
    return hidden;
}

/* Vectors are masked where they stand, once for all that is computed of them. */
static void mask(const struct hd_learner *l, struct hd_batch_builder *built, uint64_t key)
{
    const struct hd_batch batch = hd_batch_of(built);
    if (batch.frames && hd_masks_vectors(l->recipe))
        hd_mask_vectors(built->frames, &batch, l->net, l->recipe, key);
}

/* The decoder's own words: none at first, then ever more, up to the share that was asked for. */
static float own_share(const struct hd_recipe *r, long number)
{
    if (r->scheduled_from == 0 || number >= 2L * r->scheduled_from)
        return r->scheduled_sampling;
    const long since = number - r->scheduled_from;
    return since <= 0 ? 0 : r->scheduled_sampling * (float)since / (float)r->scheduled_from;
}

static struct hd_dropouts dropouts_of(const struct hd_learner *l)
{
    const struct hd_recipe *r = l->recipe;
    return (struct hd_dropouts){.own = own_share(r, l->workspace->number),
                                .embed = r->dropout_embed,
                                .state = r->dropout_state,
                                .attention = r->dropout_attention,
                                .ffn = r->dropout_ffn,
                                .output = r->dropout_output};
}

/* A pass over the targets of a batch, with what the encoder made of its sources. */
struct pass {
    struct hd_batch batch;
    const struct hd_memory *memory;
    const struct hd_forced *forced;
};

static struct pass run(const struct hd_learner *l, hd_tape *tape, struct hd_batch batch)
{
    const struct hd_dropouts drop = dropouts_of(l);
    struct pass p = {.batch = batch, .memory = hd_encode(l->net, tape, &batch, &drop)};
    p.forced = hd_teacher_force(l->net, tape, p.memory, &batch, &drop);
    return p;
}

/* The loss, and what CTC says of the first pass. */
static hd_node *joined(const struct hd_learner *l, const struct pass *p, hd_node *loss)
{
    const struct hd_dropouts drop = dropouts_of(l);
    return hd_with_ctc(l->net, p->memory, &p->batch, &drop, loss, NULL);
}

/* The loss, and what pulls attention to the links of pairs from `pairs` on. */
static hd_node *guided(const struct hd_learner *l, hd_tape *tape, const struct hd_forced *forced,
                       const struct hd_pair_ids *pairs, int n, hd_node *loss)
{
    const float weight = l->recipe->guided_alignment.n > 0 ? l->recipe->guided_weight : 0;
    struct hd_token_links *links =
        weight > 0 ? hd_tape_take(tape, "guided", (size_t)n, sizeof *links) : NULL;
    if (!links)
        return loss;
    for (int i = 0; i < n; i++)
        links[i] = pairs[i].links;
    hd_node *guide = hd_forced_guidance(l->net, tape, forced, links, n, weight);
    return guide ? hd_add(loss, guide) : loss;
}

/* One pass, or two that must agree: Liang et al. (2021), "R-Drop"; Gao et al. (2022), "Bi-SimCut". */
static hd_node *loss_of(const struct hd_learner *l, hd_tape *tape,
                        const struct hd_batch_builder *built, const struct hd_pair_ids *pairs,
                        const uint64_t keys[2])
{
    const struct hd_recipe *r = l->recipe;
    const struct pass first = run(l, tape, hide(built, tape, r->word_dropout, keys[0]));
    const struct hd_forced *one = first.forced;
    if (!one)
        return NULL;
    if (r->rdrop <= 0 && r->simcut <= 0) {
        hd_node *loss = hd_forced_loss(l->net, one, r->label_smoothing);
        return joined(l, &first, guided(l, tape, one, pairs, built->n, loss));
    }
    const float share = r->simcut > 0 ? r->simcut_share : r->word_dropout;
    const struct pass second = run(l, tape, hide(built, tape, share, keys[1]));
    const struct hd_forced *two = second.forced;
    const hd_consistency agree = r->simcut > 0
                                     ? (hd_consistency){.weight1 = 1, .forward = r->simcut}
                                     : (hd_consistency){0.5F, 0.5F, r->rdrop / 2, r->rdrop / 2};
    if (!two)
        return NULL;
    hd_node *loss = hd_forced_loss_pair(l->net, one, two, r->label_smoothing, &agree);
    return joined(l, &first, guided(l, tape, one, pairs, built->n, loss));
}

static bool run_tape(const struct hd_learner *l, int worker, int shard, int number, int from,
                     int to)
{
    struct hd_workspace *w = l->workspace;
    struct shard *s = &w->shards[shard];
    float *block = w->blocks[shard - w->first];
    hd_tape *tape = w->tapes[worker];
    struct hd_batch_builder *builder = &w->builders[worker];
    if (!build(builder, w->pairs, from, to, &s->err))
        return false;
    mask(l, builder, key_of(l, shard, number, DRAW_MASK));
    hd_tape_reset(tape);
    hd_tape_record(tape, true);
    hd_tape_train(tape, key_of(l, shard, number, DRAW_DROPOUT));
    hd_tape_set_gradients(tape, block, w->is_written + (size_t)worker * (size_t)w->n_params);
    const uint64_t keys[2] = {key_of(l, shard, number, DRAW_HIDE),
                              key_of(l, shard, number, DRAW_CUT)};
    hd_node *loss = loss_of(l, tape, builder, w->pairs + from, keys);
    if (!loss || !hd_backward(loss, block))
        return hd_tape_check(tape, &s->err);
    s->loss += (double)loss->x[0];
    return true;
}

void hd_shard_run(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    struct hd_workspace *w = l->workspace;
    const int shard = w->first + index;
    struct shard *s = &w->shards[shard];
    bool *is_written = w->is_written + (size_t)worker * (size_t)w->n_params;
    int n_tapes = 0;
    memset(is_written, 0, (size_t)w->n_params * sizeof *is_written);
    for (int from = s->from, to; from < s->to; from = to) {
        int n_source = 0, n_target = 0;
        for (to = from; to < s->to; to++) {
            n_source += hd_sequence_size(w->pairs[to].source);
            n_target += w->pairs[to].target.n;
            if (to > from && (n_source > TAPE_SOURCE || n_target > TAPE_TOKENS))
                break;
        }
        if (!run_tape(l, worker, shard, n_tapes++, from, to))
            return;
    }
    /* What no sentence needed. */
    for (int i = 0; i < w->n_params; i++) {
        const hd_node *p = hd_params_at(l->net->params, i);
        if (p->wants_gradient && !is_written[i])
            memset(w->blocks[index] + hd_param_offset(p), 0, hd_count(p) * sizeof(float));
    }
}

/* Which shards are ours: whole subtrees of the tree over all of them, the same number of leaves for each rank. */
static void share_out(struct hd_workspace *w, const struct hd_ranks *ranks)
{
    int leaves = 1, n_groups = 1;
    while (leaves < w->n_shards)
        leaves *= 2;
    while (2 * n_groups <= ranks->n)
        n_groups *= 2; /* ranks beyond a power of two have no shards */
    w->per_rank = leaves > n_groups ? leaves / n_groups : 1;
    w->n_present = (w->n_shards + w->per_rank - 1) / w->per_rank;
    const int from = ranks->rank * w->per_rank, left = w->n_shards - from;
    w->first = left > 0 ? from : 0;
    w->n_mine = left <= 0 ? 0 : left < w->per_rank ? left : w->per_rank;
}

/* What a pair costs, about: output layer and decoder weigh more than the encoder. */
static long cost_of(const struct hd_pair_ids *pair)
{
    return hd_sequence_size(pair->source) + 2L * pair->target.n;
}

bool hd_shards_cut(struct hd_learner *l, const struct hd_pair_ids *pairs, int n, long n_tokens,
                   heed_error *err)
{
    struct hd_workspace *w = l->workspace;
    for (int i = 0; !hd_config_has_decoder(&l->net->config) && i < n; i++)
        n_tokens += hd_sequence_size(pairs[i].source);
    long most = n_tokens / LEAST_TOKENS, wanted = 1, done = 0, all = 0;
    most = most < 2 && n_tokens >= 2 * LEAST_OF_TWO ? 2 : most;
    most = most > w->n_blocks ? w->n_blocks : most;
    while (2 * wanted <= most)
        wanted *= 2; /* three shards take two threads as long as four */
    for (int i = 0; i < n; i++)
        all += cost_of(&pairs[i]);
    w->n_shards = 0;
    for (int i = 0; i < n; i++) {
        const long cost = cost_of(&pairs[i]);
        const bool is_beyond = (2 * done + cost) * wanted >= 2 * all * w->n_shards; /* its middle */
        if (i == 0 || (is_beyond && w->n_shards < wanted))
            w->shards[w->n_shards++] = (struct shard){.from = i};
        w->shards[w->n_shards - 1].to = i + 1;
        done += cost;
    }
    share_out(w, l->ranks);
    for (int i = 0; i < w->n_mine; i++)
        if (!w->blocks[i] && !(w->blocks[i] = hd_alloc(l->size, sizeof(float), err)))
            return false;
    return true;
}
