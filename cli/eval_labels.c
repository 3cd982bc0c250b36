/* eval_labels.c -- how well labels were found: accuracy, F1, and which label was taken for which. */
#include "eval.h"
#include "models.h"
#include "print_result.h"
#include "terminal.h"

#include <string.h>

static int width_of(const heed_confusion *c)
{
    int width = 5;
    for (size_t i = 0; i < c->n_labels; i++)
        width = (int)strlen(c->labels[i]) > width ? (int)strlen(c->labels[i]) : width;
    return width < 24 ? width : 24;
}

void print_confusion(const heed_confusion *c)
{
    enum { MOST = 20 }; /* columns that a terminal has room for */
    size_t n_right = 0;
    for (size_t i = 0; i < c->n_labels; i++)
        n_right += c->counts[i * c->n_labels + i];
    printf("accuracy = %.2f %% (%zu of %zu)\nmacro F1 = %.2f\n", c->accuracy, n_right, c->n,
           c->macro_f1);
    if (c->n_labels > MOST)
        return;
    const int width = width_of(c);
    printf("\n%-*s  found as\n%-*s", width, "label", width, "");
    for (size_t k = 0; k < c->n_labels; k++)
        printf("  %*.*s", width, width, c->labels[k]);
    putchar('\n');
    for (size_t i = 0; i < c->n_labels; i++) {
        printf("%-*.*s", width, width, c->labels[i]);
        for (size_t k = 0; k < c->n_labels; k++)
            printf("  %*zu", width, c->counts[i * c->n_labels + k]);
        putchar('\n');
    }
}

void print_confusion_json(const heed_confusion *c)
{
    printf("\"sentences\": %zu, \"accuracy\": %.12g, \"f1\": %.12g, \"labels\": [", c->n,
           c->accuracy, c->macro_f1);
    for (size_t i = 0; i < c->n_labels; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        print_json_string(stdout, c->labels[i]);
    }
    printf("], \"confusion\": [");
    for (size_t i = 0; i < c->n_labels; i++) {
        fputs(i > 0 ? ", [" : "[", stdout);
        for (size_t k = 0; k < c->n_labels; k++)
            printf("%s%zu", k > 0 ? ", " : "", c->counts[i * c->n_labels + k]);
        putchar(']');
    }
    putchar(']');
}
