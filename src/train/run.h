/* run.h -- a run and everything it holds, from preparing it (prepare.c, start.c) to its end (run.c). */
#ifndef HD_TRAIN_RUN_H
#define HD_TRAIN_RUN_H

#include "model/model_file.h"
#include "train/curves.h"
#include "train/journal.h"
#include "train/plan.h"
#include "train/ranks.h"
#include "train/state.h"
#include "train/training.h"
#include "train/valid.h"

struct hd_run {
    heed_training *said;
    struct hd_recipe *recipe; /* of `said`, completed */
    struct hd_journal journal;
    struct hd_curves curves;
    char *stem, *state_path; /* MODEL, MODEL.state.safetensors */
    struct hd_ranks ranks;
    struct hd_pool *threads;
    struct hd_corpus *text, *dev_text; /* dev_text NULL: held out */
    struct hd_text_facts facts;
    uint64_t fingerprint;
    heed_model *model; /* net and vocabularies */
    struct hd_learner learner;
    struct hd_run_state state;
    struct hd_feed *feed;
    struct hd_dev *dev;
    char *config_json, *recipe_json;
    bool is_resumed;
};

/* Read the text, choose what was left open, make or find the model and its state. False with the reason in `err`. */
bool hd_run_prepare(struct hd_run *run, heed_error *err);
void hd_run_release(struct hd_run *run);

/* The state to its file; all ranks call it, the first one writes. */
bool hd_run_save(struct hd_run *run, bool is_good, heed_error *err);

#endif
