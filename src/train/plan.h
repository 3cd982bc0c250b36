/* plan.h -- what nobody has chosen is chosen here, to fit the text, and told with its reason. */
#ifndef HD_TRAIN_PLAN_H
#define HD_TRAIN_PLAN_H

#include "model/config.h"
#include "text/corpus.h"
#include "text/vary_plan.h"
#include "train/training.h"

/* What the choices rest on. */
struct hd_text_facts {
    size_t n_pairs, n_source_words, n_target_words; /* between spaces */
    bool is_of_documents;                           /* most lines have several sentences */
    struct hd_vary_facts vary;
};
struct hd_text_facts hd_text_facts_of(const struct hd_corpus *corpus);

/* Sizes of the vocabularies and the like: before they are learned. */
void hd_plan_text(struct hd_recipe *recipe, enum hd_task task, const struct hd_text_facts *facts);

/* The preset and size where none was given. */
void hd_plan_preset(struct hd_preset_choice *preset, const struct hd_text_facts *facts);

/* Room for sentences of the recipe's max-length, where a model has places for so many and nobody said how many. */
void hd_plan_positions(struct hd_config *config, const heed_training *said);

/* What a preset leaves open but a small corpus decides (norm, tied tables), where nothing was said; then the check. */
bool hd_plan_model(struct hd_config *config, bool is_joint, const heed_training *said,
                   heed_error *err);

/* The longest sentence, end marker included, that a model has places for: learned positions, or a score by place. */
int hd_plan_room(const struct hd_config *config);

/* Do fields contradict each other that nothing else decides? Asked before minutes go into a vocabulary. */
bool hd_plan_check(const heed_training *said, heed_error *err);

/* Everything else of the recipe. False when its fields contradict each other. */
bool hd_plan_recipe(struct hd_recipe *recipe, const struct hd_config *config,
                    const struct hd_text_facts *facts, heed_error *err);

/* With guided-alignment: the one head that is taught is the model's alignment head. False where there is no attention to teach, or more
 * than one head is named. */
bool hd_plan_guidance(struct hd_config *config, const struct hd_recipe *recipe, heed_error *err);

#endif
