/* print_result.c -- results printed. */
#include "print_result.h"

#include "terminal.h"

#include <stdlib.h>
#include <string.h>

void print_links(FILE *out, const heed_link *links, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%d-%d", i > 0 ? " " : "", links[i].source, links[i].target);
}

void print_warnings_but(const heed_result *r, const char *but, const char *name, size_t line)
{
    for (size_t i = 0; i < r->n_warnings; i++)
        if (!but || strncmp(r->warnings[i], but, strlen(but)) != 0)
            complain("%s:%zu: %s", name, line, r->warnings[i]);
}

void print_warnings(const heed_result *r, const char *name, size_t line)
{
    print_warnings_but(r, NULL, name, line);
}

/* ---- soft weights ------------------------------------------------------------------------------- */

static void print_row(FILE *out, const float *row, size_t n, const float *end, bool is_first)
{
    fputs(is_first ? "" : " ", out);
    for (size_t j = 0; j < n; j++)
        fprintf(out, "%s%.6g", j > 0 ? "," : "", (double)row[j]);
    if (end)
        fprintf(out, "%s%.6g", n > 0 ? "," : "", (double)*end);
}

/* The end marker's row on source words, from the subwords. */
static void print_end_row(FILE *out, const heed_result *r, const heed_translation *t, size_t i)
{
    float *row = need_memory(r->n_words + 1, sizeof *row);
    for (size_t j = 0; j < r->n_subwords; j++)
        row[r->subwords[j].word >= 0 ? (size_t)r->subwords[j].word : r->n_words] +=
            t->subword_attention[i * r->n_subwords + j];
    print_row(out, row, r->n_words, &row[r->n_words], t->n_words == 0);
    free(row);
}

void print_soft(FILE *out, const heed_result *r, const heed_translation *t, bool has_subwords)
{
    if (!t->attention)
        return;
    if (has_subwords) {
        for (size_t i = 0; i < t->n_subword_rows; i++)
            print_row(out, t->subword_attention + i * t->n_subword_columns, t->n_subword_columns,
                      NULL, i == 0);
        return;
    }
    for (size_t i = 0; i < t->n_attention_rows; i++)
        print_row(out, t->attention + i * t->n_attention_columns, t->n_attention_columns,
                  &t->attention_end[i], i == 0);
    if (t->attention_kind == HEED_ATTENTION_CROSS && t->n_subwords > 0 &&
        t->subwords[t->n_subwords - 1].word < 0)
        print_end_row(out, r, t, t->n_subwords - 1);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

bool print_result_json(const heed_result *r)
{
    heed_error err = {0};
    char *line = heed_result_json(r, &err);
    if (line)
        puts(line);
    else
        complain("%s", err.message);
    heed_free(line);
    return line != NULL;
}
