/* eval.h -- what the two halves of `heed eval` share: scoring ready text, and text that models are asked for. */
#ifndef HEED_CLI_EVAL_H
#define HEED_CLI_EVAL_H

#include "command.h"

#include <heed.h>

struct eval {
    const char *hyp, *ref, *model, *tsv, *plot;
    unsigned metrics; /* of enum heed_metric */
    int tok;
    bool is_ensemble, is_lowercase, is_json, by_length, is_quiet;
};

void print_evaluation(const heed_evaluation *e, unsigned metrics);

/* The object without its braces and line end: "sentences": 4, ... */
void print_evaluation_json(const heed_evaluation *e, unsigned metrics);

/* Labels that were found: accuracy, F1 and the table of both; as the inside of an object. */
void print_confusion(const heed_confusion *c);
void print_confusion_json(const heed_confusion *c);

/* Answers that were found: exact match and F1; as the inside of an object. */
void print_answer_scores(const heed_answer_scores *a);
void print_answer_scores_json(const heed_answer_scores *a);

/* Translate with each model of a list with commas, or with all together, and score what comes out. */
enum status eval_models(const char *models, const struct invocation *invocation,
                        const heed_eval_options *asked);

#endif
