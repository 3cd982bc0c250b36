/* cmd_eval.c -- `heed eval`: how near a text is to its reference. */
#include "eval.h"

#include "models.h"
#include "terminal.h"
#include "plot.h"

#include <heed.h>

#include <stdlib.h>
#include <string.h>

/* Names of metrics, in the order of the bits of enum heed_metric. */
static const char *const metric_names[] = {"bleu", "chrf", "chrf++", "exact", "wer"};
enum { N_METRICS = sizeof metric_names / sizeof *metric_names };

/* "bleu,chrf" becomes bits. */
static bool set_metrics(const heed_option *option, void *values, const char *text, heed_error *err)
{
    unsigned metrics = 0;
    char *copy = need_memory(strlen(text) + 1, 1), *rest = copy;
    bool ok = true;
    strcpy(copy, text);
    for (const char *name; ok && (name = strsep(&rest, ",")) != NULL;) {
        unsigned i = 0;
        while (i < N_METRICS && strcmp(name, metric_names[i]) != 0)
            i++;
        metrics |= 1U << i;
        ok = i < N_METRICS || heed_option_refuse(option, name, err);
    }
    free(copy);
    if (ok)
        ((struct eval *)values)->metrics = metrics;
    return ok;
}

static void print_metrics(const heed_option *option, const void *values, char *text, size_t size)
{
    size_t used = 0;
    (void)option;
    for (unsigned i = 0; i < N_METRICS && used < size; i++)
        if (((const struct eval *)values)->metrics & 1U << i)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
                                     metric_names[i]);
}

static const heed_option options[] = {
    {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, model),
     .value = "MODEL[,MODEL...]",
     .help =
         "translate SRC with this model and score the output; several are compared with the first"},
    {"ensemble", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_ensemble),
     .help = "use the models as an ensemble instead of comparing them"},
    {"tsv", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, tsv), .value = "FILE",
     .help = "instead of SRC and REF: lines of source, TAB, reference; lines with the same source "
             "are alternative references, of which the nearest counts"},
    {"hyp", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, hyp), .value = "FILE",
     .help = "text to score, one sentence per line; -: standard input"},
    {"ref", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, ref), .value = "FILE",
     .help = "reference, line by line"},
    {"metrics", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, metrics),
     .initial = "bleu,chrf,exact,wer", .value = "LIST", .choices = "bleu|chrf|chrf++|exact|wer",
     .set = set_metrics, .print = print_metrics,
     .takes = "some of bleu, chrf, chrf++, exact and wer, separated by commas",
     .help = "metrics to print, separated by commas: bleu, chrf, chrf++, exact, wer"},
    {"tok", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct eval, tok), .initial = "13a",
     .choices = "13a|none|char|intl|zh", .help = "tokenization for BLEU"},
    {"lowercase", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_lowercase),
     .help = "ignore case"},
    {"by-length", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, by_length),
     .help = "also print scores by length of the source"},
    {"plot", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, plot),
     .value = "FILE.svg|png|pdf|tex", .help = "draw the first metric by length of the source"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_quiet),
     .help = "print no progress"},
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_json),
     .help = "print one JSON object"},
    {0},
};

static const heed_option *library_option(int i)
{
    static const char *const names[] = {"to",    "from",    "beam",    "length-norm", "ctc-weight",
                                        "batch", "threads", "compute", NULL};
    return translator_option(options, names, i);
}

/* The line of sacreBLEU, so that whoever reads that reads this. */
void print_evaluation(const heed_evaluation *e, unsigned metrics)
{
    const double *p = e->bleu_precisions;
    if (metrics & HEED_METRIC_BLEU)
        printf("BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %zu ref_len = "
               "%zu)\n",
               e->bleu, p[0], p[1], p[2], p[3], e->bleu_brevity_penalty, e->bleu_ratio, e->hyp_len,
               e->ref_len);
    if (metrics & HEED_METRIC_CHRF)
        printf("chrF2 = %.2f\n", e->chrf);
    if (metrics & HEED_METRIC_CHRFPP)
        printf("chrF2++ = %.2f\n", e->chrfpp);
    if (metrics & HEED_METRIC_EXACT)
        printf("exact = %.2f %% (%zu of %zu)\n", e->exact, e->n_exact, e->n_sentences);
    if (metrics & HEED_METRIC_WER)
        printf("WER = %.2f %% (errors = %zu words = %zu)\n", e->wer, e->n_word_errors, e->n_words);
    if (metrics & HEED_METRIC_BLEU)
        printf("BLEU signature: %s\n", e->bleu_signature);
    if (metrics & HEED_METRIC_CHRF)
        printf("chrF2 signature: %s\n", e->chrf_signature);
    if (metrics & HEED_METRIC_CHRFPP)
        printf("chrF2++ signature: %s\n", e->chrfpp_signature);
}

void print_evaluation_json(const heed_evaluation *e, unsigned metrics)
{
    const double *p = e->bleu_precisions;
    printf("\"sentences\": %zu", e->n_sentences);
    if (metrics & HEED_METRIC_BLEU)
        printf(", \"bleu\": {\"score\": %.12g, \"precisions\": [%.12g, %.12g, %.12g, %.12g], "
               "\"brevity_penalty\": %.12g, \"ratio\": %.12g, \"hyp_len\": %zu, \"ref_len\": %zu, "
               "\"signature\": \"%s\"}",
               e->bleu, p[0], p[1], p[2], p[3], e->bleu_brevity_penalty, e->bleu_ratio, e->hyp_len,
               e->ref_len, e->bleu_signature);
    if (metrics & HEED_METRIC_CHRF)
        printf(", \"chrf\": {\"score\": %.12g, \"signature\": \"%s\"}", e->chrf, e->chrf_signature);
    if (metrics & HEED_METRIC_CHRFPP)
        printf(", \"chrf++\": {\"score\": %.12g, \"signature\": \"%s\"}", e->chrfpp,
               e->chrfpp_signature);
    if (metrics & HEED_METRIC_EXACT)
        printf(", \"exact\": {\"score\": %.12g, \"exact\": %zu}", e->exact, e->n_exact);
    if (metrics & HEED_METRIC_WER)
        printf(", \"wer\": {\"score\": %.12g, \"errors\": %zu, \"words\": %zu}", e->wer,
               e->n_word_errors, e->n_words);
}

static enum status run(const struct invocation *invocation)
{
    const struct eval *eval = invocation->values;
    const int n_files = invocation->arguments.n;
    const bool is_ready = eval->hyp || eval->ref; /* no model has to make it */
    if (is_ready ? !eval->hyp || !eval->ref || n_files > 0 || eval->tsv || eval->by_length ||
                       eval->plot || eval->model || eval->is_ensemble
                 : n_files != (eval->tsv ? 0 : 2)) {
        complain(
            "eval needs --hyp FILE and --ref FILE, or -m MODEL with SRC and REF or --tsv FILE; "
            "see heed eval --help");
        return STATUS_USAGE;
    }
    const char *models = is_ready ? NULL : model_or_default(eval->model);
    if (!is_ready && !models)
        return STATUS_USAGE;
    heed_eval_options asked = {.size = sizeof asked};
    asked.metrics = eval->metrics;
    if (!plot_has_kind(eval->plot) || !check_settings(invocation))
        return STATUS_USAGE;
    if (!plot_may_write(eval->plot))
        return STATUS_FAILED;
    asked.tok = (enum heed_tokeniser)eval->tok;
    asked.is_lowercase = eval->is_lowercase;
    if (!is_ready)
        return eval_models(models, invocation, &asked);
    heed_error err = {0};
    heed_evaluation *e =
        heed_evaluate_files(&(heed_pair){.hyp = eval->hyp, .ref = eval->ref}, &asked, &err);
    if (!e) {
        complain("%s", err.message);
        return STATUS_FAILED;
    }
    if (eval->is_json) {
        putchar('{');
        print_evaluation_json(e, asked.metrics);
        printf("}\n");
    } else
        print_evaluation(e, asked.metrics);
    heed_evaluation_free(e);
    return STATUS_FINE;
}

const struct command command_eval = {
    .name = "eval",
    .summary =
        "score translations: BLEU, chrF, exact match, word error rate; or labels, or answers",
    .usage =
        "--hyp FILE --ref FILE [OPTIONS]\n       heed eval [-m MODEL[,MODEL...]] [OPTIONS] SRC REF",
    .description =
        "Scores a text against its reference, line by line. The text is --hyp, or the translation "
        "of SRC by a model. Several models are compared with the first by paired bootstrap on 1000 "
        "samples of the sentences; p is the share of samples in which the difference has the "
        "opposite sign. BLEU and chrF are the same as sacreBLEU's, and are printed with their "
        "signatures. exact is the share of lines without an error, WER the number of wrong, "
        "missing "
        "and extra words per 100 words of the reference; both split words at spaces. Of a model of "
        "labels the accuracy, the mean F1 of the labels and the table of which was taken for which "
        "are printed; of one that answers questions (--tsv: document, TAB, question, TAB, answer) "
        "exact match and F1 as SQuAD's script counts them. Files are "
        "UTF-8, plain or gzip.",
    .examples = {{"heed eval --hyp output.fr --ref test.fr", "score a text"},
                 {"heed eval -m en-fr.safetensors test.en test.fr", "translate and score"},
                 {"heed eval -m a.safetensors,b.safetensors test.en test.fr --json",
                  "compare two models"}},
    .most_arguments = 2,
    .options = options,
    .library_option = library_option,
    .values_size = sizeof(struct eval),
    .run = run,
};
