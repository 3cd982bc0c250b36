/* update.c -- shards, their tree, and the step.
 *
 * Invariant: shards, tapes and pieces are cut by the batch, the recipe and the net alone; sums over them go in one order. */
#include "train/update.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "kernel/kernel.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_TOKENS = 256, /* of a shard: below it, products lose their speed */
    TAPE_TOKENS = 1024, /* target pieces that one tape holds: bounds its memory */
    TAPE_SOURCE = 2048, /* source pieces */
    PIECE = 1 << 15,    /* floats of the flat block that a thread updates at a time */
    SLABS = 4, /* messages that a rank's part travels in, so that adding and sending overlap */
};

/* A run of parameters that the rule treats alike. */
struct piece {
    size_t at;
    int n;
    bool is_decayed; /* matrices alone */
};

/* Batches as a model wants them: one sentence after the other. Grows, is kept. */
struct desk {
    int *numbers;
    size_t capacity;
};

struct shard {
    int from, to; /* pairs */
    double loss;
    heed_error err;
};

struct hd_workshop {
    const struct hd_kernels *k;
    int n_workers, n_blocks;
    hd_tape **tapes;    /* [n_workers] */
    struct desk *desks; /* [n_workers] */
    float **blocks;     /* [n_blocks] gradients, zero between two updates; made when first used */
    struct piece *pieces;
    int n_pieces;
    double *squares;      /* [n_pieces] */
    struct shard *shards; /* [n_blocks] */

    /* several ranks: slab s of rank r's part is pieces [slab(r,s), slab(r,s+1)) */
    int *slabs;      /* [n_ranks][SLABS+1] */
    float *received; /* sums of all ranks for our part, slab after slab, rank after rank */
    size_t *sizes;   /* [SLABS][4][n_ranks]: at, n, to_at, to_n of a message, in bytes */
    double *talk;    /* [n_blocks] losses of all shards */

    /* the update in work */
    const struct hd_pair_ids *pairs;
    int n_shards, first, n_mine; /* of all ranks; of this one: [first, first + n_mine) */
    int per_rank, n_present;     /* shards of a rank, and ranks that have any */
    int first_piece;             /* of the pieces that are stepped now */
    long number;
    float rate, scale, ema;
};

static size_t slab_start(const struct hd_workshop *w, int rank, int slab, size_t *n);

/* ---- making ------------------------------------------------------------------------------------ */

/* Does a parameter's name fit a pattern, or begin with it up to a dot? */
static bool is_frozen(const struct hd_recipe *recipe, const char *name)
{
    for (size_t i = 0; i < recipe->freeze.n; i++) {
        const char *pattern = recipe->freeze.at[i];
        const size_t n = strlen(pattern);
        if (fnmatch(pattern, name, 0) == 0 || (strncmp(pattern, name, n) == 0 && name[n] == '.'))
            return true;
    }
    return false;
}

static bool freeze(const struct hd_recipe *recipe, hd_params *params, heed_error *err)
{
    int n_learning = 0;
    for (int i = 0; i < hd_params_number(params); i++) {
        hd_node *p = hd_params_at(params, i);
        p->wants_gradient = !is_frozen(recipe, hd_param_name(p));
        n_learning += p->wants_gradient;
    }
    for (size_t j = 0; j < recipe->freeze.n; j++) {
        const struct hd_recipe one = {.freeze = {&recipe->freeze.at[j], 1, 1}};
        bool is_there = false;
        for (int i = 0; i < hd_params_number(params) && !is_there; i++)
            is_there = is_frozen(&one, hd_param_name(hd_params_at(params, i)));
        if (!is_there)
            return hd_fail(err, HEED_BAD_OPTION,
                           "freeze: no parameter is called '%s'; heed info --json lists them",
                           recipe->freeze.at[j]);
    }
    return n_learning > 0 ||
           hd_fail(err, HEED_BAD_OPTION, "freeze leaves nothing that could learn");
}

static bool make_pieces(struct hd_workshop *w, const hd_params *params, heed_error *err)
{
    size_t most = 0;
    for (int i = 0; i < hd_params_number(params); i++)
        most += hd_count(hd_params_at(params, i)) / PIECE + 1;
    w->pieces = hd_alloc(most, sizeof *w->pieces, err);
    w->squares = hd_alloc(most, sizeof *w->squares, err);
    if (!w->pieces || !w->squares)
        return false;
    for (int i = 0; i < hd_params_number(params); i++) {
        const hd_node *p = hd_params_at(params, i);
        const size_t count = p->wants_gradient ? hd_count(p) : 0;
        for (size_t at = 0; at < count; at += PIECE)
            w->pieces[w->n_pieces++] =
                (struct piece){hd_param_offset(p) + at,
                               (int)(count - at < PIECE ? count - at : PIECE), p->n_dims == 2};
    }
    return true;
}

/* Cut the pieces into parts for the ranks, and parts into slabs, all of about the same size. */
static bool make_parts(struct hd_learner *l, heed_error *err)
{
    struct hd_workshop *w = l->workshop;
    const size_t n_ranks = (size_t)l->ranks->n;
    w->slabs = hd_alloc(n_ranks * (SLABS + 1), sizeof *w->slabs, err);
    w->sizes = hd_alloc(n_ranks * SLABS * 4, sizeof *w->sizes, err);
    if (!w->slabs || !w->sizes)
        return false;
    size_t total = 0, done = 0;
    for (int i = 0; i < w->n_pieces; i++)
        total += (size_t)w->pieces[i].n;
    const size_t n_slabs = n_ranks * SLABS;
    size_t slab = 0;
    for (int i = 0; i < w->n_pieces; i++) {
        for (; slab < n_slabs && done * n_slabs >= total * slab; slab++)
            w->slabs[slab / SLABS * (SLABS + 1) + slab % SLABS] = i;
        done += (size_t)w->pieces[i].n;
    }
    for (; slab < n_slabs; slab++)
        w->slabs[slab / SLABS * (SLABS + 1) + slab % SLABS] = w->n_pieces;
    for (size_t r = 0; r < n_ranks; r++)
        w->slabs[r * (SLABS + 1) + SLABS] =
            r + 1 < n_ranks ? w->slabs[(r + 1) * (SLABS + 1)] : w->n_pieces;
    size_t mine = 0;
    for (int s = 0; s < SLABS; s++) {
        size_t n;
        (void)slab_start(w, l->ranks->rank, s, &n);
        mine += n;
    }
    w->received = hd_alloc(mine * n_ranks, sizeof *w->received, err);
    return w->received != NULL;
}

static bool make_workshop(struct hd_learner *l, heed_error *err)
{
    struct hd_workshop *w = l->workshop = hd_new(struct hd_workshop, err);
    if (!w)
        return false;
    w->k = hd_kernels_chosen(err);
    w->n_workers = hd_pool_size(l->threads);
    w->n_blocks = l->recipe->shards;
    w->tapes = hd_alloc((size_t)w->n_workers, sizeof(hd_tape *), err);
    w->desks = hd_alloc((size_t)w->n_workers, sizeof *w->desks, err);
    w->blocks = hd_alloc((size_t)w->n_blocks, sizeof *w->blocks, err);
    w->shards = hd_alloc((size_t)w->n_blocks, sizeof *w->shards, err);
    if (!w->k || !w->tapes || !w->desks || !w->blocks || !w->shards)
        return false;
    for (int i = 0; i < w->n_workers; i++)
        if (!(w->tapes[i] = hd_tape_new(err)))
            return false;
    w->talk = hd_alloc((size_t)w->n_blocks, sizeof *w->talk, err);
    return w->talk && freeze(l->recipe, l->net->params, err) &&
           make_pieces(w, l->net->params, err) && (!l->ranks->module || make_parts(l, err));
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
    return make_workshop(l, err) && hd_learner_repack(l, err);
}

void hd_learner_release(struct hd_learner *l)
{
    struct hd_workshop *w = l->workshop;
    for (int i = 0; w && w->tapes && w->desks && i < w->n_workers; i++) {
        hd_tape_free(w->tapes[i]);
        hd_free(w->desks[i].numbers);
    }
    for (int i = 0; w && w->blocks && i < w->n_blocks; i++)
        hd_free(w->blocks[i]);
    if (w) {
        hd_free(w->tapes);
        hd_free(w->desks);
        hd_free(w->blocks);
        hd_free(w->shards);
        hd_free(w->pieces);
        hd_free(w->squares);
        hd_free(w->slabs);
        hd_free(w->sizes);
        hd_free(w->received);
        hd_free(w->talk);
    }
    hd_free(w);
    hd_free(l->m);
    hd_free(l->v);
    hd_free(l->ema);
    *l = (struct hd_learner){0};
}

hd_tape *hd_learner_tape(struct hd_learner *l, int worker)
{
    return l->workshop->tapes[worker];
}

/* ---- the gradient of a shard ------------------------------------------------------------------- */

/* What the numbers of one tape are drawn for. */
enum draw { DRAW_DROPOUT, DRAW_HIDE, DRAW_CUT };

static uint64_t key_of(const struct hd_learner *l, int shard, int tape, enum draw draw)
{
    uint32_t words[4];
    const uint64_t place = (uint64_t)shard << 32 | (uint64_t)tape << 8 | (uint64_t)draw;
    hd_philox(words, (uint64_t)l->recipe->seed, (uint64_t)l->workshop->number, place);
    return (uint64_t)words[0] << 32 | words[1];
}

/* Copy ids, each hidden with probability `share`. */
static void copy_hiding(int *to, const int *from, size_t n, float share, uint64_t key)
{
    memcpy(to, from, n * sizeof *to);
    if (share <= 0)
        return;
    struct hd_rng rng = {.key = key};
    for (size_t i = 0; i < n; i++)
        if (hd_rng_uniform(&rng) < share)
            to[i] = HD_HIDDEN;
}

/* Pairs [from, to) side by side on the desk; hidden words are another pair of rows. */
static bool lay_out(struct desk *desk, const struct hd_pair_ids *pairs, int from, int to,
                    struct hd_batch *batch, size_t *n_source, size_t *n_target, heed_error *err)
{
    const size_t n = (size_t)(to - from);
    *n_source = *n_target = 0;
    for (int i = from; i < to; i++) {
        *n_source += (size_t)pairs[i].n_source;
        *n_target += (size_t)pairs[i].n_target;
    }
    const size_t wanted = 2 * n + 3 * (*n_source + *n_target);
    int *grown = hd_grow(desk->numbers, &desk->capacity, wanted, sizeof *grown, err);
    if (!grown)
        return false;
    desk->numbers = grown;
    int *source_length = grown, *target_length = grown + n, *source = grown + 2 * n,
        *target = source + *n_source;
    *batch = (struct hd_batch){.n = (int)n,
                               .source = source,
                               .source_length = source_length,
                               .target = target,
                               .target_length = target_length};
    for (int i = from; i < to; i++) {
        const struct hd_pair_ids *p = &pairs[i];
        *source_length++ = p->n_source;
        *target_length++ = p->n_target;
        memcpy(source, p->source, (size_t)p->n_source * sizeof *source);
        memcpy(target, p->target, (size_t)p->n_target * sizeof *target);
        source += p->n_source;
        target += p->n_target;
    }
    return true;
}

/* The same batch with other words hidden, in the room behind `at`. */
static struct hd_batch hide(const struct hd_batch *batch, int *at, size_t n_source, size_t n_target,
                            float share, uint64_t key)
{
    struct hd_batch hidden = *batch;
    if (share <= 0)
        return hidden;
    copy_hiding(at, batch->source, n_source, share, key);
    copy_hiding(at + n_source, batch->target, n_target, share, key + 1);
    hidden.source = at;
    hidden.target_seen = at + n_source;
    return hidden;
}

static struct hd_dropouts dropouts_of(const struct hd_recipe *r)
{
    return (struct hd_dropouts){.embed = r->dropout_embed,
                                .state = r->dropout_state,
                                .attention = r->dropout_attention,
                                .ffn = r->dropout_ffn,
                                .output = r->dropout_output};
}

static const struct hd_taught *run(const struct hd_learner *l, hd_tape *tape,
                                   const struct hd_batch *batch)
{
    const struct hd_dropouts drop = dropouts_of(l->recipe);
    const struct hd_memory *memory = hd_encode(l->net, tape, batch, &drop);
    return hd_teach(l->net, tape, memory, batch, &drop);
}

/* One pass, or two that must agree: Liang et al. (2021), "R-Drop"; Gao et al. (2022), "Bi-SimCut". */
static hd_node *loss_of(const struct hd_learner *l, hd_tape *tape, const struct hd_batch *batch,
                        int *room, size_t n_source, size_t n_target, const uint64_t keys[2])
{
    const struct hd_recipe *r = l->recipe;
    const struct hd_batch first = hide(batch, room, n_source, n_target, r->word_dropout, keys[0]);
    const struct hd_taught *one = run(l, tape, &first);
    if (!one || (r->rdrop <= 0 && r->simcut <= 0))
        return one ? hd_taught_loss(l->net, one, r->label_smoothing) : NULL;
    const float share = r->simcut > 0 ? r->simcut_share : r->word_dropout;
    const struct hd_batch second =
        hide(batch, room + n_source + n_target, n_source, n_target, share, keys[1]);
    const struct hd_taught *two = run(l, tape, &second);
    const hd_consistency agree = r->simcut > 0
                                     ? (hd_consistency){.weight1 = 1, .forward = r->simcut}
                                     : (hd_consistency){0.5F, 0.5F, r->rdrop / 2, r->rdrop / 2};
    return two ? hd_taught_loss_pair(l->net, one, two, r->label_smoothing, &agree) : NULL;
}

static bool run_tape(const struct hd_learner *l, int worker, int shard, int number, int from,
                     int to)
{
    struct hd_workshop *w = l->workshop;
    struct shard *s = &w->shards[shard];
    float *block = w->blocks[shard - w->first];
    hd_tape *tape = w->tapes[worker];
    struct hd_batch batch;
    size_t n_source, n_target;
    if (!lay_out(&w->desks[worker], w->pairs, from, to, &batch, &n_source, &n_target, &s->err))
        return false;
    hd_tape_reset(tape);
    hd_tape_record(tape, true);
    hd_tape_train(tape, key_of(l, shard, number, DRAW_DROPOUT));
    const uint64_t keys[2] = {key_of(l, shard, number, DRAW_HIDE),
                              key_of(l, shard, number, DRAW_CUT)};
    int *room = w->desks[worker].numbers + 2 * batch.n + n_source + n_target;
    hd_node *loss = loss_of(l, tape, &batch, room, n_source, n_target, keys);
    if (!loss || !hd_backward(loss, block))
        return hd_fail(&s->err, hd_tape_error(tape)->code, "%s", hd_tape_error(tape)->message);
    s->loss += (double)loss->x[0];
    return true;
}

static void run_shard(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    struct hd_workshop *w = l->workshop;
    const int shard = w->first + index;
    struct shard *s = &w->shards[shard];
    int n_tapes = 0;
    for (int from = s->from, to; from < s->to; from = to) {
        int n_source = 0, n_target = 0;
        for (to = from; to < s->to; to++) {
            n_source += w->pairs[to].n_source;
            n_target += w->pairs[to].n_target;
            if (to > from && (n_source > TAPE_SOURCE || n_target > TAPE_TOKENS))
                break;
        }
        if (!run_tape(l, worker, shard, n_tapes++, from, to))
            return;
    }
}

/* Which shards are ours: whole subtrees of the tree over all of them, the same number of leaves for each rank. */
static void share_out(struct hd_workshop *w, const struct hd_ranks *ranks)
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

/* Shards of even numbers of target pieces, at most as many as the recipe has. */
static bool cut_shards(struct hd_learner *l, const struct hd_pair_ids *pairs, int n, long n_tokens,
                       heed_error *err)
{
    struct hd_workshop *w = l->workshop;
    long wanted = n_tokens / LEAST_TOKENS, done = 0;
    wanted = wanted < 1 ? 1 : wanted > w->n_blocks ? w->n_blocks : wanted;
    w->n_shards = 0;
    for (int i = 0; i < n; i++) {
        if (w->n_shards < wanted && done * wanted >= n_tokens * w->n_shards)
            w->shards[w->n_shards++] = (struct shard){.from = i};
        w->shards[w->n_shards - 1].to = i + 1;
        done += pairs[i].n_target;
    }
    share_out(w, l->ranks);
    for (int i = 0; i < w->n_mine; i++)
        if (!w->blocks[i] && !(w->blocks[i] = hd_alloc(l->size, sizeof(float), err)))
            return false;
    return true;
}

/* ---- the step ---------------------------------------------------------------------------------- */

/* Our shards' gradients of one piece into the first block, by the tree; the others are zero again. */
static void add_piece(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    struct hd_workshop *w = l->workshop;
    const struct piece p = w->pieces[index];
    (void)worker;
    for (int stride = 1; stride < w->n_mine; stride *= 2)
        for (int i = 0; i + stride < w->n_mine; i += 2 * stride) {
            float *left = w->blocks[i] + p.at, *right = w->blocks[i + stride] + p.at;
            w->k->add(left, left, right, p.n);
            memset(right, 0, (size_t)p.n * sizeof *right);
        }
    if (!l->ranks->module)
        w->squares[index] = w->k->sum_squares(w->blocks[0] + p.at, p.n);
}

/* Where slab `slab` of rank `rank`'s part begins in the flat block, and how many floats it spans. */
static size_t slab_start(const struct hd_workshop *w, int rank, int slab, size_t *n)
{
    const int first = w->slabs[rank * (SLABS + 1) + slab],
              end = w->slabs[rank * (SLABS + 1) + slab + 1];
    if (first == end) {
        *n = 0;
        return 0;
    }
    *n = w->pieces[end - 1].at + (size_t)w->pieces[end - 1].n - w->pieces[first].at;
    return w->pieces[first].at;
}

/* The sums of all ranks for one piece of ours, where they were received: rank 0's becomes the whole. */
static float *received_piece(const struct hd_learner *l, int slab, int piece, size_t *stride)
{
    const struct hd_workshop *w = l->workshop;
    size_t before = 0, n = 0, at = 0;
    for (int s = 0; s <= slab; s++) {
        before += n * (size_t)l->ranks->n;
        at = slab_start(w, l->ranks->rank, s, &n);
    }
    *stride = n;
    return w->received + before + (w->pieces[piece].at - at);
}

static int slab_of(const struct hd_learner *l, int piece)
{
    const int *mine = l->workshop->slabs + l->ranks->rank * (SLABS + 1);
    int slab = 0;
    while (mine[slab + 1] <= piece)
        slab++;
    return slab;
}

/* The gradient of a piece, ready for the step. */
static float *gradient_of(const struct hd_learner *l, int piece)
{
    size_t stride;
    if (!l->ranks->module)
        return l->workshop->blocks[0] + l->workshop->pieces[piece].at;
    return received_piece(l, slab_of(l, piece), piece, &stride);
}

/* The upper levels of the tree, over ranks, for one piece of ours. */
static void finish_piece(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    struct hd_workshop *w = l->workshop;
    const int piece = w->first_piece + index, n = w->pieces[piece].n;
    size_t apart;
    float *sums = received_piece(l, slab_of(l, piece), piece, &apart);
    (void)worker;
    for (int stride = 1; stride < w->n_present; stride *= 2)
        for (int i = 0; i + stride < w->n_present; i += 2 * stride)
            w->k->add(sums + (size_t)i * apart, sums + (size_t)i * apart,
                      sums + (size_t)(i + stride) * apart, n);
    w->squares[piece] = w->k->sum_squares(sums, n);
}

static void step_piece(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    const struct hd_recipe *r = l->recipe;
    struct hd_workshop *w = l->workshop;
    const struct piece p = w->pieces[w->first_piece + index];
    float *x = hd_params_values(l->net->params) + p.at, *g = gradient_of(l, w->first_piece + index);
    const float decay = p.is_decayed ? r->weight_decay : 0;
    (void)worker;
    if (r->optimizer == HD_SGD)
        w->k->sgd(x, l->m + p.at, g, w->rate, r->momentum, decay, w->scale, p.n);
    else
        w->k->adam(x, l->m + p.at, l->v + p.at, g, w->rate, r->beta1, r->beta2, r->eps,
                   (float)(1 - l->power1), (float)(1 - l->power2), decay, w->scale, p.n);
    if (l->ema) {
        w->k->scale(l->ema + p.at, w->ema, l->ema + p.at, p.n);
        w->k->add_scaled(l->ema + p.at, 1 - w->ema, x, p.n);
    }
    if (!l->ranks->module)
        memset(g, 0, (size_t)p.n * sizeof *g);
}

/* Our blocks are zeros again. */
static void clear_piece(void *context, int index, int worker)
{
    const struct hd_learner *l = context;
    const struct piece p = l->workshop->pieces[index];
    (void)worker;
    for (int i = 0; i < l->workshop->n_mine; i++)
        memset(l->workshop->blocks[i] + p.at, 0, (size_t)p.n * sizeof(float));
}

static void pack_one(void *context, int index, int worker)
{
    struct hd_learner *l = context;
    (void)worker;
    /* Without memory for a packed copy products are right but slower. */
    (void)hd_params_pack_one(l->net->params, index, NULL);
}

bool hd_learner_repack(struct hd_learner *l, heed_error *err)
{
    hd_params_changed(l->net->params);
    hd_pool_run(l->threads, pack_one, l, hd_params_number(l->net->params));
    return hd_kernels_chosen(err) != NULL;
}

/* ---- talking to other ranks -------------------------------------------------------------------- */

/* Send everybody our sum for their part, and finish the tree for ours, slab by slab as they come. */
static bool exchange_gradients(struct hd_learner *l, heed_error *err)
{
    struct hd_workshop *w = l->workshop;
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
        w->first_piece = slabs[s];
        hd_pool_run(l->threads, finish_piece, l, slabs[s + 1] - slabs[s]);
    }
    return true;
}

/* Each rank's numbers about its own pieces, or shards, to all. */
static bool share_numbers(struct hd_learner *l, double *numbers, bool of_pieces, heed_error *err)
{
    struct hd_workshop *w = l->workshop;
    size_t *at = w->sizes, *n = at + l->ranks->n;
    for (int i = 0; i < l->ranks->n; i++) {
        const int first = of_pieces ? w->slabs[i * (SLABS + 1)] : i * w->per_rank;
        const int end = of_pieces ? w->slabs[i * (SLABS + 1) + SLABS] : first + w->per_rank;
        const int most = of_pieces ? end : end < w->n_shards ? end : w->n_shards;
        at[i] = (size_t)first * sizeof(double);
        n[i] = most > first ? (size_t)(most - first) * sizeof(double) : 0;
        at[i] = n[i] ? at[i] : 0;
    }
    return hd_ranks_gather(l->ranks, numbers, at, n, err);
}

/* Start sharing slab s of everybody's part of a block. */
static bool share_slab(struct hd_learner *l, float *block, int s, heed_error *err)
{
    struct hd_workshop *w = l->workshop;
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

/* Step our part, slab by slab; each is on its way to the others while the next one is stepped. */
static bool step_parts(struct hd_learner *l, heed_error *err)
{
    struct hd_workshop *w = l->workshop;
    float *values = hd_params_values(l->net->params);
    const int *slabs = w->slabs + l->ranks->rank * (SLABS + 1);
    bool ok = true;
    for (int s = 0; ok && s < SLABS; s++) {
        w->first_piece = slabs[s];
        hd_pool_run(l->threads, step_piece, l, slabs[s + 1] - slabs[s]);
        ok = share_slab(l, values, s, err);
    }
    for (int s = 0; ok && s < SLABS; s++)
        ok = hd_ranks_wait(l->ranks, s, err);
    w->first_piece = 0;
    return ok;
}

/* ---- an update --------------------------------------------------------------------------------- */

/* The moving average looks back less far while there is little to look back on. */
static float ema_of(const struct hd_recipe *r, long number)
{
    const float young = (1 + (float)number) / (10 + (float)number);
    return young < r->ema ? young : r->ema;
}

/* The gradient of the batch, added up; its loss and length. */
static bool add_gradients(struct hd_learner *l, struct hd_updated *updated, heed_error *err)
{
    struct hd_workshop *w = l->workshop;
    const bool is_alone = !l->ranks->module;
    hd_pool_run(l->threads, run_shard, l, w->n_mine);
    for (int i = w->first; i < w->first + w->n_mine; i++) {
        w->talk[i] = w->shards[i].loss;
        if (hd_failed(&w->shards[i].err)) {
            hd_pool_run(l->threads, clear_piece, l, w->n_pieces);
            return hd_fail(err, w->shards[i].err.code, "%s", w->shards[i].err.message);
        }
    }
    hd_pool_run(l->threads, add_piece, l, w->n_pieces);
    if (!is_alone && (!share_numbers(l, w->talk, false, err) || !exchange_gradients(l, err) ||
                      !share_numbers(l, w->squares, true, err)))
        return false;
    if (!is_alone)
        hd_pool_run(l->threads, clear_piece, l, w->n_pieces);
    double squares = 0;
    for (int i = 0; i < w->n_pieces; i++)
        squares += w->squares[i];
    for (int i = 0; i < w->n_shards; i++)
        updated->loss += w->talk[i] / (double)updated->n_tokens;
    updated->norm = __builtin_sqrt(squares) / (double)updated->n_tokens;
    updated->is_finite = updated->norm - updated->norm == 0 && updated->loss - updated->loss == 0;
    return true;
}

bool hd_learn(struct hd_learner *l, const struct hd_pair_ids *pairs, int n, long number, float rate,
              struct hd_updated *updated, heed_error *err)
{
    const struct hd_recipe *r = l->recipe;
    struct hd_workshop *w = l->workshop;
    *updated = (struct hd_updated){0};
    for (int i = 0; i < n; i++)
        updated->n_tokens += pairs[i].n_target;
    w->pairs = pairs;
    w->number = number;
    w->first_piece = 0;
    if (!cut_shards(l, pairs, n, updated->n_tokens, err))
        return false;
    updated->n_shards = w->n_shards;
    if (!add_gradients(l, updated, err))
        return false;
    if (!updated->is_finite) {
        hd_pool_run(l->threads, clear_piece, l, w->n_pieces);
        return true;
    }
    const double clip =
        r->clip > 0 && updated->norm > (double)r->clip ? (double)r->clip / updated->norm : 1;
    w->rate = rate;
    w->scale = (float)(clip / (double)updated->n_tokens);
    w->ema = ema_of(r, number);
    l->power1 *= (double)r->beta1;
    l->power2 *= (double)r->beta2;
    if (l->ranks->module) {
        if (!step_parts(l, err))
            return false;
    } else
        hd_pool_run(l->threads, step_piece, l, w->n_pieces);
    return hd_learner_repack(l, err);
}
