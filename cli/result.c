/* result.c -- results printed. */
#include "result.h"

#include "terminal.h"

#include <math.h>
#include <stdlib.h>

void print_links(FILE *out, const heed_link *links, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%d-%d", i > 0 ? " " : "", links[i].source, links[i].target);
}

void print_warnings(const heed_result *r, const char *name, size_t line)
{
    for (size_t i = 0; i < r->n_warnings; i++)
        complain("%s:%zu: %s", name, line, r->warnings[i]);
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
        for (size_t i = 0; i < t->n_subwords; i++)
            print_row(out, t->subword_attention + i * r->n_subwords, r->n_subwords, NULL, i == 0);
        return;
    }
    for (size_t i = 0; i < t->n_words; i++)
        print_row(out, t->attention + i * r->n_words, r->n_words, &t->attention_end[i], i == 0);
    if (t->n_subwords > 0 && t->subwords[t->n_subwords - 1].word < 0)
        print_end_row(out, r, t, t->n_subwords - 1);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void print_number(FILE *out, const char *before, double x)
{
    if (isfinite(x))
        fprintf(out, "%s%.6g", before, x);
    else
        fprintf(out, "%snull", before);
}

static void print_words(FILE *out, const char *name, const heed_word *words, size_t n,
                        bool is_target)
{
    fprintf(out, ", \"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s{\"text\": ", i > 0 ? ", " : "");
        print_json_string(out, words[i].text);
        fprintf(out, ", \"start\": %zu, \"end\": %zu", words[i].start, words[i].end);
        if (is_target) {
            print_number(out, ", \"logprob\": ", words[i].logprob);
            print_number(out, ", \"confidence\": ", words[i].confidence);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_subwords(FILE *out, const char *name, const heed_subword *subwords, size_t n)
{
    fprintf(out, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_json_string(out, subwords[i].text);
    }
    fputs("], ", out);
}

static void print_matrix(FILE *out, const char *name, const float *x, size_t rows, size_t columns)
{
    fprintf(out, "\"%s\": ", name);
    if (!x) {
        fputs("null", out);
        return;
    }
    fputc('[', out);
    for (size_t i = 0; i < rows; i++) {
        fputs(i > 0 ? ", [" : "[", out);
        for (size_t j = 0; j < columns; j++)
            fprintf(out, "%s%.6g", j > 0 ? ", " : "", (double)x[i * columns + j]);
        fputc(']', out);
    }
    fputc(']', out);
}

static void print_translation(FILE *out, const heed_result *r, const heed_translation *t)
{
    fputs("{\"text\": ", out);
    print_json_string(out, t->text);
    print_number(out, ", \"score\": ", t->score);
    print_number(out, ", \"logprob\": ", t->logprob);
    print_number(out, ", \"confidence\": ", t->confidence);
    print_words(out, "source_words", r->words, r->n_words, false);
    print_words(out, "target_words", t->words, t->n_words, true);
    fputs(", \"links\": [", out);
    for (size_t i = 0; i < t->n_links; i++)
        fprintf(out, "%s[%d, %d]", i > 0 ? ", " : "", t->links[i].source, t->links[i].target);
    fputs("], ", out);
    print_matrix(out, "attention", t->attention, t->n_words, r->n_words);
    fputs(", \"attention_end\": ", out);
    if (t->attention_end) {
        fputc('[', out);
        for (size_t i = 0; i < t->n_words; i++)
            fprintf(out, "%s%.6g", i > 0 ? ", " : "", (double)t->attention_end[i]);
        fputc(']', out);
    } else
        fputs("null", out);
    fputs(", \"subwords\": {", out);
    print_subwords(out, "source", r->subwords, r->n_subwords);
    print_subwords(out, "target", t->subwords, t->n_subwords);
    print_matrix(out, "attention", t->subword_attention, t->n_subwords, r->n_subwords);
    fputs("}}", out);
}

void print_result_json(FILE *out, const heed_result *r)
{
    fputs("{\"source\": ", out);
    print_json_string(out, r->source);
    fputs(", \"warnings\": [", out);
    for (size_t i = 0; i < r->n_warnings; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_json_string(out, r->warnings[i]);
    }
    fputs("], \"translations\": [", out);
    for (size_t i = 0; i < r->n_translations; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_translation(out, r, &r->translations[i]);
    }
    fputs("]}\n", out);
}
