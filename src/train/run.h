/* run.h -- a run and everything it holds, and running it: run_prepare.h makes it, start.h finds its model. */
#ifndef HD_TRAIN_RUN_H
#define HD_TRAIN_RUN_H

#include "align/link_lists.h"
#include "model/model_file.h"
#include "train/curves.h"
#include "train/journal.h"
#include "train/plan.h"
#include "train/ranks.h"
#include "train/state.h"
#include "train/training.h"
#include "train/valid.h"
#include "vector/vectors.h"

struct hd_run {
    heed_training *said;
    struct hd_recipe *recipe; /* of `said`, completed */
    struct hd_journal journal;
    struct hd_curves curves;
    char *stem, *state_path; /* MODEL, MODEL.state.safetensors */
    struct hd_ranks ranks;
    struct hd_pool *threads;
    struct hd_corpus *text, *dev_text; /* dev_text NULL: held out */
    struct hd_vectors vectors,
        dev_vectors; /* the source, where it is vectors; the text has their targets on both sides */
    struct hd_text_facts facts;
    uint64_t fingerprint;
    struct hd_link_lists links; /* of every pair of the text, with guided-alignment */
    bool links_by_character;
    heed_model *model; /* net and vocabularies */
    struct hd_learner learner;
    struct hd_run_state state;
    struct hd_feed *feed;
    struct hd_dev *dev;
    char *config_json, *recipe_json;
    bool is_resumed;
    bool has_grown; /* the model is larger than the one it began as */
};

/* Train as `training` says. `watch` and the answer are those of heed_training_run(). */
bool hd_training_run(heed_training *training,
                     bool (*watch)(void *context, const heed_training_event *event), void *context,
                     heed_error *err);

#endif
