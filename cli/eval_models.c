/* eval_models.c -- `heed eval -m MODEL`: translate and score in one go, by length if so wanted, several models side by side.
 *
 * Rows of a .tsv that have the same source are one sentence with several right answers; the nearest one is its reference. */
#include "eval.h"
#include "models.h"
#include "terminal.h"
#include "plot.h"
#include "print_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_SAMPLES = 1000, SEED = 1 };

static const struct {
    enum heed_metric metric;
    const char *name, *key;
} shown[] = {{HEED_METRIC_BLEU, "BLEU", "bleu"},
             {HEED_METRIC_CHRF, "chrF2", "chrf"},
             {HEED_METRIC_CHRFPP, "chrF2++", "chrf++"},
             {HEED_METRIC_EXACT, "exact", "exact"},
             {HEED_METRIC_WER, "WER", "wer"}};
enum { N_SHOWN = sizeof shown / sizeof *shown };

/* What is translated, and what is right. */
struct test {
    heed_lines source_lines, ref_lines; /* memory */
    char *tsv;                          /* fields of a .tsv, cut apart */
    size_t n;
    const char **source;
    const char **refs; /* those of sentence i are refs[first[i]] to before refs[first[i + 1]] */
    size_t *first;
};

struct system {
    const char *name;
    heed_results *results;
    heed_pair *pairs;
    heed_evaluation *evaluation;
    heed_confusion *confusion; /* of a model of labels, instead of an evaluation */
    bool has_answers;          /* so of one that answers questions: */
    heed_answer_scores answers;
};

static void release_test(struct test *t)
{
    heed_lines_release(&t->source_lines);
    heed_lines_release(&t->ref_lines);
    free(t->tsv);
    free(t->source);
    free(t->refs);
    free(t->first);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static bool read_two_files(struct test *t, const struct text_list *files)
{
    heed_error err = {0};
    if (!read_sources(&t->source_lines, files->items[0], &err) ||
        !heed_lines_read(&t->ref_lines, files->items[1], &err)) {
        complain("%s", err.message);
        return false;
    }
    if (!same_lines(files->items[0], &t->source_lines, files->items[1], &t->ref_lines))
        return false;
    t->n = t->source_lines.n;
    t->source = need_memory(t->n, sizeof *t->source);
    t->refs = need_memory(t->n, sizeof *t->refs);
    t->first = need_memory(t->n + 1, sizeof *t->first);
    for (size_t i = 0; i < t->n; i++) {
        t->source[i] = t->source_lines.at[i];
        t->refs[i] = t->ref_lines.at[i];
        t->first[i + 1] = i + 1;
    }
    return true;
}

/* A row of a .tsv; rows with the same source are brought together, in the order of the first. */
struct row {
    const char *source, *ref;
    size_t number, group;
};

static int by_source(const void *a, const void *b)
{
    const struct row *p = a, *q = b;
    const int order = strcmp(p->source, q->source);
    return order != 0 ? order : (p->number > q->number) - (p->number < q->number);
}

static int by_group(const void *a, const void *b)
{
    const struct row *p = a, *q = b;
    return p->group != q->group ? (p->group > q->group) - (p->group < q->group)
                                : (p->number > q->number) - (p->number < q->number);
}

/* The TAB behind the source: of questions it is the second, as the source is document, TAB, question. */
static char *end_of_source(char *line, bool has_questions)
{
    char *tab = strchr(line, '\t');
    return tab && has_questions ? strchr(tab + 1, '\t') : tab;
}

static bool cut_rows(struct test *t, struct row *rows, const char *path, bool has_questions)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < t->source_lines.n; i++)
        n_bytes += strlen(t->source_lines.at[i]) + 1;
    char *at = t->tsv = need_memory(n_bytes, 1);
    for (size_t i = 0; i < t->source_lines.n; i++) {
        strcpy(at, t->source_lines.at[i]);
        char *tab = end_of_source(at, has_questions);
        if (!tab) {
            complain(has_questions
                         ? "%s:%zu: a row is a document, a tab, a question, a tab and the answer"
                         : "%s:%zu: there is no tab in it; a row is a source, a tab and its "
                           "translation",
                     path, i + 1);
            return false;
        }
        *tab = '\0';
        tab[1 + strcspn(tab + 1, "\t")] = '\0'; /* further columns are not looked at */
        rows[i] = (struct row){.source = at, .ref = tab + 1, .number = i};
        at += strlen(t->source_lines.at[i]) + 1;
    }
    return true;
}

/* Does the first of the models answer questions? Only rows of three columns are asked for it. */
static bool are_questions(const struct test *t, const char *models,
                          const struct invocation *invocation)
{
    const struct eval *eval = invocation->values;
    const char *tab = t->source_lines.n > 0 ? strchr(t->source_lines.at[0], '\t') : NULL;
    if (!tab || !strchr(tab + 1, '\t'))
        return false;
    char *name = need_memory(strlen(models) + 1, 1);
    strcpy(name, models);
    if (!eval->is_ensemble && !is_one_file(models))
        name[strcspn(name, ",")] = '\0';
    struct models first;
    const bool are =
        models_load(&first, name, invocation) && strcmp(heed_model_task(first.at[0]), "span") == 0;
    models_free(&first);
    free(name);
    return are;
}

static bool read_tsv(struct test *t, const char *path, const char *models,
                     const struct invocation *invocation)
{
    heed_error err = {0};
    const char *format = heed_file_format(path);
    if (format &&
        (strcmp(format, "tmx") == 0 || strcmp(format, "csv") == 0 || strcmp(format, "po") == 0)) {
        complain("%s: heed train learns from such files, but eval reads TSV alone: source, TAB, "
                 "translation in each line",
                 path);
        return false;
    }
    if (!heed_lines_read(&t->source_lines, path, &err)) {
        complain("%s", err.message);
        return false;
    }
    const size_t n_rows = t->source_lines.n;
    struct row *rows = need_memory(n_rows, sizeof *rows);
    const bool ok = cut_rows(t, rows, path, are_questions(t, models, invocation));
    if (ok) {
        qsort(rows, n_rows, sizeof *rows, by_source);
        for (size_t i = 0; i < n_rows; i++)
            rows[i].group = i > 0 && strcmp(rows[i - 1].source, rows[i].source) == 0
                                ? rows[i - 1].group
                                : rows[i].number;
        qsort(rows, n_rows, sizeof *rows, by_group);
        t->source = need_memory(n_rows, sizeof *t->source);
        t->refs = need_memory(n_rows, sizeof *t->refs);
        t->first = need_memory(n_rows + 1, sizeof *t->first);
        for (size_t i = 0; i < n_rows; i++) {
            if (i == 0 || rows[i].group != rows[i - 1].group)
                t->source[t->n++] = rows[i].source;
            t->refs[i] = rows[i].ref;
            t->first[t->n] = i + 1;
        }
    }
    free(rows);
    return ok;
}

/* ---- translating and scoring --------------------------------------------------------------------------- */

/* Which of its references a translation is nearest to: the one with the fewest wrong words. */
static const char *nearest_ref(const struct test *t, size_t i, const char *hyp,
                               const heed_eval_options *asked)
{
    heed_eval_options by_errors = *asked;
    by_errors.metrics = HEED_METRIC_WER;
    const char *best = t->refs[t->first[i]];
    size_t fewest = (size_t)-1;
    for (size_t k = t->first[i]; t->first[i + 1] - t->first[i] > 1 && k < t->first[i + 1]; k++) {
        heed_evaluation *e = heed_evaluate(&(heed_pair){hyp, t->refs[k]}, 1, &by_errors, NULL);
        if (e && e->n_word_errors < fewest) {
            fewest = e->n_word_errors;
            best = t->refs[k];
        }
        heed_evaluation_free(e);
    }
    return best;
}

/* Texts alone are wanted. */
static heed_results *translate_test(const char *name, const struct invocation *invocation,
                                    const struct test *t)
{
    const struct eval *eval = invocation->values;
    heed_error err = {0};
    heed_results *results = NULL;
    heed_translator *translator = NULL;
    struct progress progress;
    struct models models;
    if (models_load(&models, name, invocation) && (translator = models_translator(&models)) &&
        set_translator(translator, invocation) && set_option_of(translator, "attention", "none") &&
        set_option_of(translator, "scores", "no")) {
        progress_begin(&progress, eval->is_quiet);
        heed_translator_watch(translator, progress_show, &progress);
        results = heed_translator_translate(translator, t->source, t->n, &err);
        progress_clear(&progress);
        if (!results)
            complain("%s", err.message);
    }
    heed_translator_free(translator);
    models_free(&models);
    return results;
}

/* Every row is a label of its own, also where texts are the same. */
static bool score_labels(struct system *s, const struct test *t, heed_error *err)
{
    const size_t n = t->first[t->n];
    heed_pair *pairs = need_memory(n, sizeof *pairs);
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = t->first[i]; k < t->first[i + 1]; k++)
            pairs[k] = (heed_pair){s->results->at[i]->translations[0]->text, t->refs[k]};
    s->confusion = heed_confusion_new(pairs, n, err);
    free(pairs);
    return s->confusion != NULL;
}

/* Of several right answers the one counts that is best met, as in SQuAD. */
static bool score_answers(struct system *s, const struct test *t, heed_error *err)
{
    heed_answer_scores *sum = &s->answers, one;
    *sum = (heed_answer_scores){.n = t->n};
    s->has_answers = true;
    double f1 = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool is_exact = false;
        double best = 0;
        for (size_t k = t->first[i]; k < t->first[i + 1]; k++) {
            const char *hyp = s->results->at[i]->translations[0]->text;
            if (!heed_score_answers(&(heed_pair){hyp, t->refs[k]}, 1, &one, err))
                return false;
            is_exact = is_exact || one.n_exact > 0;
            best = one.f1 > best ? one.f1 : best;
        }
        sum->n_exact += is_exact;
        f1 += best;
    }
    sum->exact = 100 * (double)sum->n_exact / (double)t->n;
    sum->f1 = f1 / (double)t->n;
    return true;
}

static bool is_of_labels(const struct system *s)
{
    return s->results->n > 0 && s->results->at[0]->n_labels > 0;
}

static bool run_system(struct system *s, const struct invocation *invocation, const struct test *t,
                       const heed_eval_options *asked)
{
    heed_error err = {0};
    s->results = translate_test(s->name, invocation, t);
    const bool has_answers = s->results && s->results->n > 0 && s->results->at[0]->question;
    if (has_answers || (s->results && is_of_labels(s))) {
        const bool ok = (has_answers ? score_answers : score_labels)(s, t, &err);
        if (!ok)
            complain("%s", err.message);
        return ok;
    }
    if (s->results) {
        s->pairs = need_memory(t->n, sizeof *s->pairs);
        for (size_t i = 0; i < t->n; i++) {
            const char *hyp = s->results->at[i]->translations[0]->text;
            s->pairs[i] = (heed_pair){hyp, nearest_ref(t, i, hyp, asked)};
        }
        s->evaluation = heed_evaluate(s->pairs, t->n, asked, &err);
    }
    if (s->results && !s->evaluation)
        complain("%s", err.message);
    return s->evaluation != NULL;
}

static void release_system(struct system *s)
{
    heed_results_free(s->results);
    heed_evaluation_free(s->evaluation);
    heed_confusion_free(s->confusion);
    free(s->pairs);
}

static double score_of(const heed_evaluation *e, enum heed_metric metric)
{
    return metric == HEED_METRIC_BLEU     ? e->bleu
           : metric == HEED_METRIC_CHRF   ? e->chrf
           : metric == HEED_METRIC_CHRFPP ? e->chrfpp
           : metric == HEED_METRIC_EXACT  ? e->exact
                                          : e->wer;
}

/* ---- by length ------------------------------------------------------------------------------------------- */

static const size_t bins[] = {1, 6, 11, 16, 21, 31, 41, 51, (size_t)-1}; /* words of the source */
enum { N_BINS = sizeof bins / sizeof *bins - 1 };

/* Scores of the sentences of a bin; NULL when there are none. */
static heed_evaluation *evaluate_bin(const struct system *s, size_t n, int bin,
                                     const heed_eval_options *asked)
{
    heed_pair *pairs = need_memory(n, sizeof *pairs);
    size_t n_pairs = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t words = s->results->at[i]->n_words;
        if (words >= (bin == 0 ? 0 : bins[bin]) && words < bins[bin + 1])
            pairs[n_pairs++] = s->pairs[i];
    }
    heed_evaluation *e = n_pairs > 0 ? heed_evaluate(pairs, n_pairs, asked, NULL) : NULL;
    free(pairs);
    return e;
}

static void name_bin(char text[32], int bin)
{
    if (bin == N_BINS - 1)
        snprintf(text, 32, "%zu+", bins[bin]);
    else
        snprintf(text, 32, "%zu-%zu", bins[bin], bins[bin + 1] - 1);
}

static void print_by_length(const struct system *systems, int n_systems, size_t n,
                            const heed_eval_options *asked)
{
    printf("\n%-8s %9s", "words", "sentences");
    for (int s = 0; s < n_systems; s++)
        for (int m = 0; m < N_SHOWN; m++)
            if (asked->metrics & shown[m].metric) {
                char name[32];
                snprintf(name, sizeof name, n_systems > 1 ? "%s (%d)" : "%s", shown[m].name, s + 1);
                printf(" %12s", name);
            }
    putchar('\n');
    for (int bin = 0; bin < N_BINS; bin++) {
        heed_evaluation *first = evaluate_bin(&systems[0], n, bin, asked);
        if (!first)
            continue;
        char name[32];
        name_bin(name, bin);
        printf("%-8s %9zu", name, first->n_sentences);
        heed_evaluation_free(first);
        for (int s = 0; s < n_systems; s++) {
            heed_evaluation *e = evaluate_bin(&systems[s], n, bin, asked);
            for (int m = 0; m < N_SHOWN; m++)
                if (asked->metrics & shown[m].metric)
                    printf(" %12.2f", e ? score_of(e, shown[m].metric) : NAN);
            heed_evaluation_free(e);
        }
        putchar('\n');
    }
}

static void print_by_length_json(const struct system *s, size_t n, const heed_eval_options *asked)
{
    bool is_first = true;
    printf(", \"by_length\": [");
    for (int bin = 0; bin < N_BINS; bin++) {
        heed_evaluation *e = evaluate_bin(s, n, bin, asked);
        char name[32];
        name_bin(name, bin);
        if (e) {
            printf("%s{\"words\": \"%s\", ", is_first ? "" : ", ", name);
            print_evaluation_json(e, asked->metrics);
            putchar('}');
            is_first = false;
        }
        heed_evaluation_free(e);
    }
    putchar(']');
}

/* Bars by length, a colour per model, of the first metric that is asked for. */
static bool plot_by_length(const struct eval *eval, const struct system *systems, int n_systems,
                           size_t n, const heed_eval_options *asked)
{
    int m = 0, n_groups = 1, counts[N_BINS] = {0};
    while (!(asked->metrics & shown[m].metric))
        m++;
    char names[N_BINS][32];
    const char *groups[N_BINS], **series = need_memory((size_t)n_systems, sizeof *series);
    double *values = need_memory((size_t)n_systems * N_BINS, sizeof *values);
    for (int bin = 0; bin < N_BINS; bin++) {
        name_bin(names[bin], bin);
        groups[bin] = names[bin];
        for (int s = 0; s < n_systems; s++) {
            heed_evaluation *e = evaluate_bin(&systems[s], n, bin, asked);
            series[s] = systems[s].name;
            if (e) {
                n_groups = bin + 1;
                counts[bin] = (int)e->n_sentences;
                values[s * N_BINS + bin] = score_of(e, shown[m].metric);
            }
            heed_evaluation_free(e);
        }
    }
    for (int s = 1; s < n_systems; s++) /* close up: there may be fewer groups than bins */
        memmove(values + s * n_groups, values + s * N_BINS, (size_t)n_groups * sizeof *values);
    const heed_picture_bars bars = {.x_label = "words of the source",
                                    .y_label = shown[m].name,
                                    .groups = groups,
                                    .n_groups = n_groups,
                                    .counts = counts,
                                    .series = series,
                                    .n_series = n_systems,
                                    .values = values};
    heed_error err = {0};
    const bool ok = heed_draw(&(heed_picture){.bars = &bars}, eval->plot, &err);
    if (!ok)
        complain("%s", err.message);
    free(series);
    free(values);
    return ok;
}

/* ---- several side by side ---------------------------------------------------------------------------------- */

static int count_metrics(unsigned metrics)
{
    int n = 0;
    for (int m = 0; m < N_SHOWN; m++)
        n += (metrics & shown[m].metric) != 0;
    return n;
}

static int index_of(enum heed_metric metric)
{
    int m = 0;
    while (shown[m].metric != metric)
        m++;
    return m;
}

/* A table: score, its 95 % interval, the difference to the first model and how often chance turns it round. */
static void print_comparisons(const struct system *systems, int n_systems,
                              const heed_comparison *comparisons, int n_metrics)
{
    for (int m = 0; m < n_metrics; m++) {
        printf("%s%-8s %8s %17s %11s %17s %7s\n", m > 0 ? "\n" : "",
               shown[index_of(comparisons[m].metric)].name, "score", "95 % of samples",
               "difference", "95 % of samples", "p");
        for (int s = 0; s < n_systems; s++) {
            const heed_comparison *c = &comparisons[s * n_metrics + m];
            char own[32], difference[32];
            snprintf(own, sizeof own, "%.2f to %.2f", c->low, c->high);
            snprintf(difference, sizeof difference, "%+.2f to %+.2f", c->difference_low,
                     c->difference_high);
            printf("(%d)      %8.2f %17s", s + 1, c->score, own);
            if (s > 0)
                printf(" %+11.2f %17s %7.3f", c->difference, difference, c->p);
            putchar('\n');
        }
    }
    putchar('\n');
    for (int s = 0; s < n_systems; s++)
        printf("(%d) %s\n", s + 1, systems[s].name);
}

static void print_comparisons_json(const heed_comparison *c, int n_metrics)
{
    printf(", \"comparison\": {");
    for (int m = 0; m < n_metrics; m++)
        printf("%s\"%s\": {\"low\": %.12g, \"high\": %.12g, \"difference\": %.12g, "
               "\"difference_low\": %.12g, \"difference_high\": %.12g, \"p\": %.12g}",
               m > 0 ? ", " : "", shown[index_of(c[m].metric)].key, c[m].low, c[m].high,
               c[m].difference, c[m].difference_low, c[m].difference_high, c[m].p);
    putchar('}');
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static bool print_systems(const struct eval *eval, const struct system *systems, int n_systems,
                          size_t n, const heed_eval_options *asked)
{
    const int n_metrics = count_metrics(asked->metrics);
    heed_comparison *comparisons =
        need_memory((size_t)n_systems * (size_t)n_metrics, sizeof *comparisons);
    const heed_pair **pairs = need_memory((size_t)n_systems, sizeof *pairs);
    heed_error err = {0};
    bool ok = true;
    for (int s = 0; s < n_systems; s++)
        pairs[s] = systems[s].pairs;
    if (n_systems > 1)
        ok = heed_compare(comparisons, pairs, n_systems, n, asked, N_SAMPLES, SEED, &err);
    if (!ok)
        complain("%s", err.message);
    for (int s = 0; ok && eval->is_json && s < n_systems; s++) {
        printf("{\"model\": ");
        print_json_string(stdout, systems[s].name);
        printf(", ");
        print_evaluation_json(systems[s].evaluation, asked->metrics);
        if (n_systems > 1)
            print_comparisons_json(&comparisons[s * n_metrics], n_metrics);
        if (eval->by_length)
            print_by_length_json(&systems[s], n, asked);
        printf("}\n");
    }
    if (ok && !eval->is_json) {
        if (n_systems > 1)
            print_comparisons(systems, n_systems, comparisons, n_metrics);
        else
            print_evaluation(systems[0].evaluation, asked->metrics);
        if (eval->by_length)
            print_by_length(systems, n_systems, n, asked);
    }
    free(comparisons);
    free(pairs);
    return ok;
}

/* Models of labels, and of answers, are printed one after the other. */
static bool print_decided(const struct eval *eval, const struct system *systems, int n_systems)
{
    const bool has_answers = systems[0].has_answers;
    const char *what = has_answers ? "answers" : "labels";
    if (eval->by_length || eval->plot) {
        complain("--by-length and --plot are for translations, and the model gives %s", what);
        return false;
    }
    for (int s = 0; s < n_systems; s++) {
        if (has_answers ? !systems[s].has_answers : !systems[s].confusion) {
            complain("%s gives no %s, as the first model does", systems[s].name, what);
            return false;
        }
        if (eval->is_json) {
            printf("{\"model\": ");
            print_json_string(stdout, systems[s].name);
            printf(", ");
            if (has_answers)
                print_answer_scores_json(&systems[s].answers);
            else
                print_confusion_json(systems[s].confusion);
            printf("}\n");
            continue;
        }
        if (n_systems > 1)
            printf("%s%s\n", s > 0 ? "\n" : "", systems[s].name);
        if (has_answers)
            print_answer_scores(&systems[s].answers);
        else
            print_confusion(systems[s].confusion);
    }
    return true;
}

enum status eval_models(const char *models, const struct invocation *invocation,
                        const heed_eval_options *asked)
{
    const struct eval *eval = invocation->values;
    struct test test = {0};
    int n_systems = 0, most = 1;
    for (const char *c = models; *c; c++)
        most += *c == ',';
    struct system *systems = need_memory((size_t)most, sizeof *systems);
    char *names = need_memory(strlen(models) + 1, 1), *rest = names;
    strcpy(names, models);
    bool ok = eval->tsv ? read_tsv(&test, eval->tsv, models, invocation)
                        : read_two_files(&test, &invocation->arguments);
    const char *between = eval->is_ensemble || is_one_file(models) ? "" : ",";
    for (const char *name; ok && (name = strsep(&rest, between)) != NULL; n_systems++) {
        systems[n_systems].name = name;
        ok = run_system(&systems[n_systems], invocation, &test, asked);
    }
    if (ok && (systems[0].confusion || systems[0].has_answers))
        ok = print_decided(eval, systems, n_systems);
    else {
        ok = ok && print_systems(eval, systems, n_systems, test.n, asked);
        ok = ok && (!eval->plot || plot_by_length(eval, systems, n_systems, test.n, asked));
    }
    for (int s = 0; s < most; s++)
        release_system(&systems[s]);
    free(systems);
    free(names);
    release_test(&test);
    return ok ? STATUS_FINE : STATUS_FAILED;
}
