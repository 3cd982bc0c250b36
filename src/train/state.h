/* state.h -- all that a run needs to go on as if nothing had happened, in memory and in one file beside the model.
 *
 * The file is written whole or not at all, with a checksum of everything in it; the one it replaces stays beside it as
 * MODEL.state.safetensors.previous. It holds the state as it is now and, when that is not the last good one (at a validation or
 * at save-every: moments that the number of updates decides, not the clock), the last good one as well: that is where a run goes
 * back to when its numbers stop being finite, with or without a kill in between. */
#ifndef HD_TRAIN_STATE_H
#define HD_TRAIN_STATE_H

#include "base/file.h"
#include "model/model_file.h"
#include "train/feed.h"
#include "train/update.h"

enum { HD_MOST_KEPT = 64 };

/* Where a run is. Everything but the weights. */
struct hd_progress {
    long update;                   /* done */
    struct hd_feed_position place; /* of the next batch */
    long n_tokens;                 /* target tokens learned from */
    double factor;                 /* what is left of the rate */
    int n_bad;                     /* updates in a row that were not finite */
    long n_skipped, n_returns;     /* of them all; and how often the run went back */
    bool has_best;
    double best, best_ce; /* the greatest score so far, its cross entropy, and where it was */
    long best_update;
    double lowest_ce;    /* the cross entropy that patience measures by */
    int n_stale;         /* validations since score or cross entropy was better */
    int n_stale_plateau; /* since the score was, or the rate was last lowered */
    long looked_update;  /* the last update whose weights were validated */
    /* The run ended between two validations, at closed_update, with a closing validation, after which closed_best was the best. If the
     * run goes on, the next regular validation discards it. */
    bool is_closed;
    long closed_update;
    double closed_best;
    long closed_best_update;
    int n_kept;         /* weights kept for averaging, */
    long n_validations; /* of so many validations */
    double kept_score[HD_MOST_KEPT];
};

struct hd_run_state {
    struct hd_progress progress;
    float *kept[HD_MOST_KEPT]; /* weights of some validations */
    struct hd_map
        before;      /* contents of the model's file before the closing validation; may be {0} */
    bool has_before; /* it is in the state's file, and stays in it when that is written again */
};

/* By which a state is recognised as that of this run. */
struct hd_identity {
    const char *config;   /* JSON of the model's configuration */
    const char *recipe;   /* JSON of the recipe */
    uint64_t fingerprint; /* of the text */
    const struct hd_vocab *source, *target;
    const json_t *shift; /* alignment_shift of the model's record; NULL where it has none */
};

/* The name of the state before this one. False when it is too long for a name. */
enum { HD_STATE_PATH = 4096 };
bool hd_state_previous(char previous[HD_STATE_PATH], const char *path);

/* Write the state; `is_good` at the moments named above. */
bool hd_state_save(const char *path, const struct hd_learner *learner,
                   const struct hd_run_state *state, const struct hd_identity *identity,
                   bool is_good, heed_error *err);

/* A state file that is open: what it belongs to. */
struct hd_saved_state {
    struct hd_safetensors *file;
    json_t *config, *recipe;
    json_t *shift; /* of the model's record, which the model it began with may have had; or NULL */
    uint64_t fingerprint;
    struct hd_vocab *source, *target; /* owned until taken; the same when shared */
};

/* NULL with HEED_OK in err when there is none; NULL with the reason when it cannot be read or is damaged: by name, with what to type. */
struct hd_saved_state *hd_state_open(const char *path, heed_error *err);
void hd_state_close(struct hd_saved_state *saved);

/* Contents of the model's file before the closing validation; NULL for none. */
const struct hd_tensor *hd_state_before(const struct hd_saved_state *saved);

/* Bring learner and state to what was saved: to the last good one, or to where it was. */
bool hd_state_restore(const struct hd_saved_state *saved, bool to_good, struct hd_learner *learner,
                      struct hd_run_state *state, heed_error *err);

void hd_run_state_release(struct hd_run_state *state);

#endif
