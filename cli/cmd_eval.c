/* eval.c -- `heed eval`: how near a text is to its reference. */
#include "eval.h"

#include "models.h"
#include "terminal.h"
#include "plot.h"

#include <heed.h>

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, model),
     .value = "MODEL[,MODEL...]",
     .help = "translate SRC with it and score that; several are compared with the first"},
    {"ensemble", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_ensemble),
     .help = "instead of being compared, the models translate together"},
    {"tsv", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, tsv), .value = "FILE",
     .help = "instead of SRC and REF: source, tab, reference; rows of the same source are "
             "alternatives, and the nearest counts"},
    {"hyp", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, hyp), .value = "FILE",
     .help = "the text to score, one sentence a line; - is standard input"},
    {"ref", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, ref), .value = "FILE",
     .help = "what it should be, line by line"},
    {"metrics", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, metrics),
     .initial = "bleu,chrf,exact,wer", .value = "LIST",
     .help = "what to print, separated by commas: bleu, chrf, chrf++, exact, wer"},
    {"tok", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct eval, tok), .initial = "13a",
     .choices = "13a|none|char|intl|zh", .help = "how BLEU cuts sentences into words"},
    {"lowercase", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_lowercase),
     .help = "capital and small letters are the same"},
    {"by-length", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, by_length),
     .help = "a table by words of the source as well"},
    {"plot", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct eval, plot),
     .value = "FILE.svg|png|pdf", .help = "draw the first of the metrics by words of the source"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_quiet),
     .help = "no progress"},
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct eval, is_json),
     .help = "one JSON object instead of lines"},
    {0},
};

static const heed_option *library_option(int i)
{
    static const char *const names[] = {"beam", "length-norm", "batch", "threads", NULL};
    return translator_option(options, names, i);
}

/* "bleu,chrf" as bits of enum heed_metric; 0, with the complaint printed, when it is something else. */
static unsigned read_metrics(const char *list)
{
    static const char *const names[] = {"bleu", "chrf", "chrf++", "exact", "wer"};
    static const unsigned bits[] = {HEED_METRIC_BLEU, HEED_METRIC_CHRF, HEED_METRIC_CHRFPP,
                                    HEED_METRIC_EXACT, HEED_METRIC_WER};
    enum { N_NAMES = sizeof names / sizeof *names };
    char *copy = need_memory(strlen(list) + 1, 1), *rest = copy;
    strcpy(copy, list);
    unsigned metrics = 0;
    for (const char *name; (name = strsep(&rest, ",")) != NULL;) {
        int i = 0;
        while (i < N_NAMES && strcmp(name, names[i]) != 0)
            i++;
        if (i == N_NAMES) {
            const char *nearest = heed_nearest(name, names, N_NAMES);
            complain("--metrics takes bleu, chrf, chrf++, exact, wer, separated by commas, not "
                     "'%s'%s%s%s",
                     name, nearest ? "; did you mean " : "", nearest ? nearest : "",
                     nearest ? "?" : "");
            metrics = 0;
            break;
        }
        metrics |= bits[i];
    }
    free(copy);
    return metrics;
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
            "eval wants --hyp FILE and --ref FILE, or -m MODEL with SRC and REF or --tsv FILE; "
            "see heed eval --help");
        return STATUS_USAGE;
    }
    const char *models = is_ready ? NULL : model_or_default(eval->model);
    if (!is_ready && !models)
        return STATUS_USAGE;
    heed_eval_options asked = heed_eval_options_default();
    asked.metrics = read_metrics(eval->metrics);
    if (asked.metrics == 0 || !plot_has_kind(eval->plot) || !check_settings(invocation))
        return STATUS_USAGE;
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
    .summary = "how near a text is to its reference: BLEU, chrF, exact match, word error rate",
    .usage =
        "--hyp FILE --ref FILE [OPTIONS]\n       heed eval [-m MODEL[,MODEL...]] [OPTIONS] SRC REF",
    .description =
        "Compares a text with its reference, line by line; the text is --hyp, or a model's "
        "translation of SRC. Several models are compared with the first on 1000 samples of the "
        "sentences (paired "
        "bootstrap): p is how often a sample turns the difference round. BLEU and chrF are "
        "sacreBLEU's to the "
        "last digit; each comes with its signature, which says what it was computed with. exact is "
        "the share of lines whose words are all right, WER the number of wrong, missing and added "
        "words per 100 words of the reference; their words are what stands between spaces. Files "
        "are UTF-8, plain or compressed by gzip.",
    .most_arguments = 2,
    .options = options,
    .library_option = library_option,
    .values_size = sizeof(struct eval),
    .run = run,
};
