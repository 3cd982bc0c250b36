/* workspace.h -- what an update is made with, for the files that make one: shard.c, parts.c, update.c.
 *
 * Invariant: shards, tapes and chunks are cut by the batch, the recipe and the net alone; sums over them go in one order. */
#ifndef HD_TRAIN_WORKSPACE_H
#define HD_TRAIN_WORKSPACE_H

#include "kernel/kernel.h"
#include "train/update.h"

/* A run of parameters that the rule treats alike. */
struct chunk {
    size_t at;
    int n;
    bool is_decayed; /* matrices alone */
};

/* Some rows of a parameter: what a thread steps and lays out anew while it is in its cache. */
struct slice {
    int param, from, to;
};

struct shard {
    int from, to; /* pairs */
    double loss;
    heed_error err;
};

struct hd_workspace {
    const struct hd_kernels *k;
    int n_workers, n_blocks;
    hd_tape **tapes;                   /* [n_workers] */
    struct hd_batch_builder *builders; /* [n_workers] */
    float **blocks;                    /* [n_blocks] gradients of shards; made when first used */
    int n_params;
    bool *
        is_written; /* [n_workers][n_params]: which parameters have a gradient of the shard in work */
    struct chunk *chunks;
    int n_chunks;
    double *squares; /* [n_chunks] */
    struct slice *slices;
    int n_slices;
    struct shard *shards; /* [n_blocks] */

    /* several ranks: slab s of rank r's part is chunks [slab(r,s), slab(r,s+1)) */
    int *slabs;      /* [n_ranks][SLABS+1] */
    float *received; /* sums of all ranks for our part, slab after slab, rank after rank */
    size_t *sizes;   /* [SLABS][4][n_ranks]: at, n, to_at, to_n of a message, in bytes */
    double *losses;  /* [n_blocks] of all shards */

    /* the update in work */
    const struct hd_pair_ids *pairs;
    int n_shards, first, n_mine; /* of all ranks; of this one: [first, first + n_mine) */
    int per_rank, n_present;     /* shards of a rank, and ranks that have any */
    int first_chunk;             /* of the chunks that are stepped now */
    long number;
    float rate, scale, ema;
};

/* ---- shard.c: the gradient of a batch ---------------------------------------------------------- */

/* Shards of about the same cost, at most as many as the recipe has; which of them are ours. */
bool hd_shards_cut(struct hd_learner *l, const struct hd_pair_ids *pairs, int n, long n_tokens,
                   heed_error *err);

/* Shard `index` of ours, by a worker of the learner that is the context: its gradient is added to its block, its loss and error are in it. */
void hd_shard_run(void *context, int index, int worker);

/* ---- parts.c: several ranks, each with a part of the parameters -------------------------------- */

/* Cut the chunks into parts for the ranks, and parts into slabs, all of about the same size. */
bool hd_parts_make(struct hd_learner *l, heed_error *err);

/* Send everybody our sum for their part, and finish the tree for ours, slab by slab as they come. */
bool hd_parts_exchange(struct hd_learner *l, heed_error *err);

/* Each rank's numbers about its own chunks, or shards, to all. */
bool hd_parts_share_numbers(struct hd_learner *l, double *numbers, bool of_chunks, heed_error *err);

/* Step our part by `step_chunk`, slab by slab; each is on its way to the others while the next one is stepped. */
bool hd_parts_step(struct hd_learner *l, void (*step_chunk)(void *, int, int), heed_error *err);

/* The gradient of a chunk of ours, ready for the step. */
float *hd_parts_gradient(const struct hd_learner *l, int chunk);

#endif
