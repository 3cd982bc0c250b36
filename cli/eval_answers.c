/* eval_answers.c -- how well answers were found: exact match and F1, as the script of SQuAD counts them. */
#include "eval.h"

#include <stdio.h>

void print_answer_scores(const heed_answer_scores *a)
{
    printf("exact = %.2f %% (%zu of %zu)\nF1 = %.2f\n", a->exact, a->n_exact, a->n, a->f1);
}

void print_answer_scores_json(const heed_answer_scores *a)
{
    printf("\"questions\": %zu, \"exact\": %.12g, \"f1\": %.12g", a->n, a->exact, a->f1);
}
