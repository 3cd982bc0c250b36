/* update.h -- one update of the weights: the gradient of a batch, by shards, and the rule that follows it.
 *
 * A batch is cut into shards by its content and the recipe alone. Each shard's gradient is a block of its own; blocks are
 * added by one binary tree over the shards' numbers, so that neither threads nor machines change a bit. Several ranks own
 * subtrees: each adds up its own, sends every other rank that one's part of the sum, finishes the tree for its own part, updates
 * that part of the parameters, and shares it. */
#ifndef HD_TRAIN_UPDATE_H
#define HD_TRAIN_UPDATE_H

#include "base/threads.h"
#include "model/model.h"
#include "train/feed.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/stop.h"

/* What learns: the net, and what the rule remembers. */
struct hd_learner {
    struct hd_net *net;
    const struct hd_recipe *recipe;
    struct hd_pool *threads;
    struct hd_ranks *ranks;
    size_t size;                    /* floats of a block */
    float *m, *v;                   /* adam; m alone for momentum */
    float *ema;                     /* NULL without */
    double power1, power2;          /* β₁ᵗ, β₂ᵗ */
    struct hd_workspace *workspace; /* tapes, blocks, chunks */
    struct hd_stop *stop;           /* NULL: updates and validations are not left in the middle */
};

/* The recipe must be complete. The learner's moments are zeros. */
bool hd_learner_init(struct hd_learner *learner, struct hd_net *net, const struct hd_recipe *recipe,
                     struct hd_pool *threads, struct hd_ranks *ranks, heed_error *err);
void hd_learner_release(struct hd_learner *learner);

/* Leave updates and validations with HEED_CANCELLED as soon as `stop` is set; they have then changed nothing. NULL: never. */
void hd_learner_set_stop(struct hd_learner *learner, struct hd_stop *stop);

struct hd_updated {
    double loss;   /* mean of a target token, with smoothing and consistency */
    double norm;   /* length of the gradient before clipping */
    long n_tokens; /* target tokens */
    int n_shards;
    bool is_finite; /* false: nothing was changed */
};

/* Learn from a batch: update number `number` (from 1), at this rate. False when it cannot be computed (memory), or when
 * it was stopped. */
bool hd_learn(struct hd_learner *learner, const struct hd_pair_ids *pairs, int n, long number,
              float rate, struct hd_updated *updated, heed_error *err);

/* With several ranks each updates its part of what the rule remembers: bring all parts of m, v and the moving average (or of the moving
 * average alone) together. All ranks call it. */
bool hd_learner_share(struct hd_learner *learner, bool ema_alone, heed_error *err);

/* Make the packed copies of the weights anew, after they were changed from outside. */
void hd_learner_repack(struct hd_learner *learner);

/* The tape and the batch builder of a worker, for validation. */
hd_tape *hd_learner_tape(struct hd_learner *learner, int worker);
struct hd_batch_builder *hd_learner_builder(struct hd_learner *learner, int worker);

#endif
