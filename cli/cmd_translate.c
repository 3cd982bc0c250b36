/* translate.c -- `heed translate`: lines in, lines out. */
#include "command.h"
#include "models.h"
#include "terminal.h"
#include "plot.h"
#include "reader.h"
#include "result.h"

#include <heed.h>

#include <stdlib.h>
#include <string.h>

enum alignment { ALIGN_NONE, ALIGN_HARD, ALIGN_SOFT };

struct translate {
    const char *model, *length_norm, *sample, *prefix, *head, *plot;
    int beam, n_best, no_repeat, batch, threads, seed, align, layer, shift;
    float coverage_penalty, temperature, max_length;
    bool replace_unknown, is_json, has_confidence, is_shown, is_quiet;
};

static const heed_option options[] = {
    {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, model),
     .value = "MODEL[,MODEL...]",
     .help =
         "the model; several translate together; without it, or as default, the one inside heed"},
    {"beam", 'b', .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, beam),
     .initial = "5", .value = "N", .least = 1, .most = 10000,
     .help = "sentences kept while searching; 1 is greedy", .group = "Search"},
    {"n-best", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, n_best), .initial = "1",
     .value = "N", .least = 1, .most = 10000,
     .help = "print the best N as 'line ||| text ||| logprob= X ||| score', lines from 0"},
    {"length-norm", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, length_norm),
     .initial = "power:1", .value = "none|power:X|gnmt:X",
     .help = "divide log-probabilities by length^X, or by ((5 + length) / 6)^X"},
    {"coverage-penalty", .kind = HEED_OPTION_FLOAT,
     HEED_OPTION_FIELD(struct translate, coverage_penalty), .initial = "0", .value = "X",
     .least = 0, .most = 1e6, .help = "how much it counts that source words were not looked at"},
    {"sample", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, sample),
     .value = "all|topk=N|topp=X", .help = "draw words instead of searching"},
    {"temperature", .kind = HEED_OPTION_FLOAT, HEED_OPTION_FIELD(struct translate, temperature),
     .initial = "1", .value = "X", .least = 1e-3, .most = 1e3,
     .help = "of drawing: above 1 bolder, below 1 more careful"},
    {"seed", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, seed), .initial = "1",
     .value = "N", .least = 0, .most = 2147483647, .help = "of drawing"},
    {"prefix", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, prefix),
     .value = "FILE",
     .help = "how each translation must begin, line by line; empty lines ask for nothing"},
    {"no-repeat", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, no_repeat),
     .initial = "0", .value = "N", .least = 0, .most = 1000,
     .help = "no run of N subwords twice; 0 allows all"},
    {"replace-unknown", .kind = HEED_OPTION_FLAG,
     HEED_OPTION_FIELD(struct translate, replace_unknown),
     .help = "where the model has no word, put the source word it looked at"},
    {"max-length", .kind = HEED_OPTION_FLOAT, HEED_OPTION_FIELD(struct translate, max_length),
     .initial = "3", .value = "X", .least = 0.01, .most = 1000,
     .help = "subwords of an output per subword of its source, and 50 more"},
    {"align", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct translate, align),
     .initial = "none", .choices = "none|hard|soft",
     .help = "after ' ||| ': links 'source-target' of words from 0, or weights in Marian's format",
     .group = "Output"},
    {"confidence", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, has_confidence),
     .help = "after ' ||| ': how likely the sentence and each of its words are right, 0 to 1"},
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_json),
     .help = "one JSON object a line: words, links, attention, confidence, warnings"},
    {"show", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_shown),
     .help = "below each translation its attention as a matrix of characters"},
    {"plot", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, plot),
     .value = "FILE.svg|png|pdf",
     .help = "draw the attention into a file; several lines have their number in its name"},
    {"layer", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, layer), .initial = "0",
     .value = "N", .least = 0, .most = 64,
     .help = "whose attention is told, from 1; 0 is the model's own choice"},
    {"head", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, head), .initial = "mean",
     .value = "N|mean|all",
     .help = "which head of it, from 0; all layers and heads on a page of --plot"},
    {"shift", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, shift),
     .flags = HEED_OPTION_AUTO, .value = "0|1", .least = 0, .most = 1,
     .help = "tell the attention of the step that makes a word (0) or reads it (1); without it as "
             "suits the model"},
    {"batch", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, batch), .initial = "24",
     .value = "N", .least = 1, .most = 100000,
     .help = "sentences under way at a time; changes no result", .group = "Running"},
    {"threads", 'j', .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct translate, threads),
     .initial = "0", .value = "N", .least = 0, .most = 4096,
     .help = "0 is all cores; changes no result"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_quiet),
     .help = "neither warnings nor progress"},
    {0},
};

/* ---- options that are small languages ------------------------------------------------------------- */

static bool read_sample(const char *text, heed_options *o)
{
    o->is_sampled = text != NULL;
    if (!text || strcmp(text, "all") == 0)
        return true;
    char *end;
    if (strncmp(text, "topk=", 5) == 0) {
        const long k = strtol(text + 5, &end, 10);
        o->top_k = (int)k;
        if (end != text + 5 && *end == '\0' && k >= 1 && k <= 1000000)
            return true;
    } else if (strncmp(text, "topp=", 5) == 0 && read_float(text + 5, &o->top_p) && o->top_p > 0 &&
               o->top_p <= 1)
        return true;
    complain(
        "--sample takes all, topk=N (from the likeliest N words) or topp=X (from those that are "
        "X likely together, 0 to 1), not '%s'",
        text);
    return false;
}

bool read_head(const char *text, int *head)
{
    char *end;
    const long n = strtol(text, &end, 10);
    *head = strcmp(text, "mean") == 0 ? -1 : (int)n;
    if (*head < 0 || (end != text && *end == '\0' && n >= 0 && n < 64))
        return strcmp(text, "mean") == 0 || *head >= 0;
    complain("--head takes a number from 0, or mean, not '%s'", text);
    return false;
}

static bool read_options(const struct translate *t, heed_options *o)
{
    *o = heed_options_default();
    o->beam = t->beam;
    o->n_best = t->n_best;
    o->coverage_penalty = t->coverage_penalty;
    o->no_repeat = t->no_repeat;
    o->temperature = t->temperature;
    o->seed = (uint64_t)t->seed;
    o->max_length = t->max_length;
    o->replace_unknown = t->replace_unknown;
    o->layer = t->layer;
    o->shift = t->shift;
    o->n_threads = t->threads;
    o->batch = t->batch;
    o->wants_attention = t->is_json || t->align != ALIGN_NONE || t->replace_unknown ||
                         t->coverage_penalty > 0 || t->is_shown || t->plot;
    o->wants_scores = t->is_json || t->has_confidence || t->is_shown || t->plot;
    const bool is_all = t->plot && strcmp(t->head, "all") == 0;
    if (!read_length_norm(t->length_norm, o) || !read_sample(t->sample, o) ||
        !plot_has_kind(t->plot) || !(is_all || read_head(t->head, &o->head)))
        return false;
    if (t->is_json && t->is_shown) {
        complain(
            "--json and --show do not go together: what reads the one is confused by the other");
        return false;
    }
    if (o->beam < o->n_best && !o->is_sampled)
        o->beam = o->n_best;
    return true;
}

/* ---- output ------------------------------------------------------------------------------------------ */

static void print_rest(const struct translate *t, const heed_result *r, const heed_translation *one)
{
    if (t->align != ALIGN_NONE)
        fputs(" ||| ", stdout);
    if (t->align == ALIGN_HARD)
        print_links(stdout, one->links, one->n_links);
    else if (t->align == ALIGN_SOFT)
        print_soft(stdout, r, one, false);
    if (t->has_confidence) {
        printf(" ||| %.3f", one->confidence);
        for (size_t i = 0; i < one->n_words; i++)
            printf(" %.3f", one->words[i].confidence);
    }
    fputc('\n', stdout);
}

static void print_result(const struct translate *t, const heed_result *r, size_t number,
                         bool is_n_best)
{
    if (t->is_json) {
        print_result_json(stdout, r);
        return;
    }
    for (size_t k = 0; k < r->n_translations; k++) {
        const heed_translation *one = &r->translations[k];
        if (is_n_best)
            printf("%zu ||| ", number);
        fputs(one->text, stdout);
        if (is_n_best)
            printf(" ||| logprob= %.6f ||| %.6f", one->logprob, one->score);
        print_rest(t, r, one);
    }
}

/* ---- running ----------------------------------------------------------------------------------------- */

struct running {
    const struct translate *t;
    const struct models *models;
    heed_options options;
    struct progress progress;
    heed_lines prefixes;
    size_t n_before; /* lines of all files so far */
    struct plots plots;
    bool is_n_best;
};

/* The best one's attention. */
static bool draw_result(struct running *run, const heed_result *r, size_t number, bool is_one)
{
    const heed_translation *t = &r->translations[0];
    if (run->t->is_shown && !show_attention(r, t))
        return false;
    if (!run->t->plot)
        return true;
    if (strcmp(run->t->head, "all") == 0)
        return plot_heads(&run->plots, models_list(run->models), run->models->n, r,
                          run->options.shift, number, is_one);
    return plot_attention(&run->plots, r, t, t->links, t->n_links, number, is_one);
}

static bool translate_lines(struct running *run, const char *const *lines, size_t n,
                            const char *name, size_t first)
{
    heed_error err = {0};
    const size_t n_prefixes = run->prefixes.n;
    if (n_prefixes > 0 && run->n_before + n > n_prefixes) {
        complain("%s has %zu lines, but there are more to translate; every line must have its own",
                 run->t->prefix, n_prefixes);
        return false;
    }
    run->options.prefixes = n_prefixes > 0 ? run->prefixes.at + run->n_before : NULL;
    run->options.first_number = run->n_before;
    run->progress.n_before = run->n_before;
    heed_results *results =
        heed_translate(models_list(run->models), run->models->n, lines, n, &run->options, &err);
    progress_clear(&run->progress);
    if (!results) {
        complain("%s", err.message);
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        if (!run->t->is_quiet)
            print_warnings(&results->at[i], name, first + i + 1);
        print_result(run->t, &results->at[i], run->n_before + i, run->is_n_best);
        ok = draw_result(run, &results->at[i], run->n_before + i + 1, run->n_before + n == 1);
    }
    run->n_before += n;
    heed_results_free(results);
    return fflush(stdout) == 0 && ok;
}

static bool translate_file(struct running *run, const char *path)
{
    struct reader reader;
    if (!reader_open(&reader, path))
        return false;
    const char *const *lines = NULL;
    size_t n = 0, first = 0;
    bool ok;
    while ((ok = reader_next(&reader, &lines, &n)) && n > 0) {
        ok = translate_lines(run, lines, n, reader.name, first);
        first += n;
        if (!ok)
            break;
    }
    reader_close(&reader);
    return ok;
}

static enum status run(const struct invocation *invocation)
{
    const struct translate *t = invocation->values;
    struct running running = {
        .t = t, .plots = {.path = t->plot}, .is_n_best = was_given(invocation, "n-best")};
    const char *model = model_or_default(t->model);
    if (!model)
        return STATUS_USAGE;
    if (!read_options(t, &running.options))
        return STATUS_USAGE;
    running.options.wants_scores = running.options.wants_scores || running.is_n_best;
    heed_error err = {0};
    if (t->prefix && !heed_lines_read(&running.prefixes, t->prefix, &err)) {
        complain("%s", err.message);
        return STATUS_FAILED;
    }
    struct models models;
    bool ok = models_load(&models, model);
    running.models = &models;
    progress_begin(&running.progress, t->is_quiet);
    running.options.progress = progress_show;
    running.options.progress_data = &running.progress;
    if (ok && invocation->arguments.n == 0)
        ok = translate_file(&running, "-");
    for (int i = 0; ok && i < invocation->arguments.n; i++)
        ok = translate_file(&running, invocation->arguments.items[i]);
    models_free(&models);
    heed_lines_release(&running.prefixes);
    return ok ? STATUS_FINE : STATUS_FAILED;
}

const struct command command_translate = {
    .name = "translate",
    .summary = "translate lines of text, and say what the model looked at",
    .usage = "[-m MODEL] [OPTIONS] [FILE...]",
    .description =
        "Translates standard input or files line by line: as many lines come out as go in, in the "
        "same order; empty lines stay empty, white space around a line is kept. The output is the "
        "same for any batch, any number of threads and any CPU. A line that is longer than the "
        "model was trained for is cut into sentences. What is odd about a line (bytes that are not "
        "UTF-8, an output that was cut or went round in circles) is said on standard error.",
    .most_arguments = -1,
    .options = options,
    .values_size = sizeof(struct translate),
    .run = run,
};
