/* valid.h -- how good a model is on sentences it does not learn from. */
#ifndef HD_TRAIN_VALID_H
#define HD_TRAIN_VALID_H

#include "text/corpus.h"
#include "text/vocab.h"
#include "train/update.h"

/* The sentences: pairs first, first + step, … of a corpus, as text and as ids, of which `longest` at most. `source` is NULL where the model
 * has none. With questions the sources are documents that have them, and the references are answers. */
struct hd_dev;
struct hd_dev *hd_dev_new(const struct hd_corpus *corpus, size_t first, size_t step,
                          const struct hd_vocab *source, const struct hd_vocab *target, int longest,
                          bool has_questions, heed_error *err);
void hd_dev_free(struct hd_dev *dev);
int hd_dev_size(const struct hd_dev *dev);

/* The same sentences with vectors as their sources, `frames` of which are a position. */
void hd_dev_set_vectors(struct hd_dev *dev, const struct hd_vectors *vectors, int frames,
                        const struct hd_corpus *corpus, size_t first, size_t step);

struct hd_validated {
    double ce, perplexity;         /* of a target token, without smoothing */
    double bleu, chrf, exact, wer; /* of greedy or beam search; 0 when only ce was wanted */
    bool has_text;
    double accuracy, f1; /* of labels: the share that is right, macro F1 */
    bool has_labels;
    bool has_answers; /* exact and f1 are known, as SQuAD's script counts them */
};

/* Validate the learner's current weights. */
bool hd_validate(struct hd_learner *learner, const struct hd_dev *dev, struct hd_validated *result,
                 heed_error *err);

/* The chosen figure, turned so that more is better, and its name. */
double hd_score_of(const struct hd_recipe *recipe, const struct hd_validated *v);
const char *hd_metric_name(const struct hd_recipe *recipe);

#endif
