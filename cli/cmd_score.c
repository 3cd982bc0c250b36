/* cmd_score.c -- `heed score`: how likely a model finds given translations. */
#include "command.h"
#include "models.h"
#include "terminal.h"
#include "print_result.h"

#include <heed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct score {
    const char *model, *n_best;
    bool has_words, has_subwords, is_json, is_quiet;
};

static const heed_option options[] = {
    {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct score, model),
     .value = "MODEL[,MODEL...]", .default_help = "the model inside heed",
     .help = "model to score with; of several it is the mean"},
    {"words", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct score, has_words),
     .help = "print the log-probability of each word as well, separated by tabs"},
    {"n-best", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct score, n_best), .value = "FILE",
     .help = "instead of TGT: an n-best list, 'line ||| text ||| features...', lines from 0; each "
             "line gets the feature heed="},
    {"subwords", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct score, has_subwords),
     .help = "one file instead of SRC and TGT: lines of source subwords, TAB, target subwords, as "
             "heed translate --subwords prints them"},
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct score, is_json),
     .help = "print one JSON object a line, as heed translate does"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct score, is_quiet),
     .group = "Running", .help = "print neither warnings, progress nor perplexity"},
    {0},
};

static const heed_option *library_option(int i)
{
    static const char *const names[] = {"to", "from", "batch", "threads", "compute", NULL};
    return translator_option(options, names, i);
}

/* A line of an n-best list: "3 ||| text ||| features ||| score". Or of subwords: "source TAB target". */
struct entry {
    size_t line;
    char *source;     /* of subwords: its own */
    char *text;       /* its own */
    const char *rest; /* what follows the features; NULL when nothing does */
    size_t n_before;  /* bytes before that */
};

static const char bar[] = " ||| ";

/* False, with the complaint printed. */
static bool read_entry(struct entry *e, const char *line, const char *path, size_t number,
                       size_t n_sources)
{
    char *end;
    e->line = strtoul(line, &end, 10);
    const char *text = end != line && strncmp(end, bar, 5) == 0 ? end + 5 : NULL;
    const char *text_end = text ? strstr(text, bar) : NULL;
    if (!text || e->line >= n_sources) {
        complain("%s:%zu: an n-best list has lines 'number ||| text ||| features ||| score', "
                 "and numbers from 0 to %zu, one for each line of the source",
                 path, number, n_sources - 1);
        return false;
    }
    const size_t n = text_end ? (size_t)(text_end - text) : strlen(text);
    e->text = need_memory(n + 1, 1);
    memcpy(e->text, text, n);
    e->rest = text_end ? strstr(text_end + 5, bar) : NULL;
    e->n_before = e->rest ? (size_t)(e->rest - line) : strlen(line);
    e->rest = e->rest ? e->rest : text_end ? "" : NULL;
    return true;
}

/* False, with the complaint printed. */
static bool read_subwords(struct entry *e, const char *line, const char *path, size_t number)
{
    const char *tab = strchr(line, '\t');
    if (!tab || strchr(tab + 1, '\t')) {
        complain("%s:%zu: this line is not source subwords, TAB, target subwords, as heed "
                 "translate --subwords prints them",
                 path, number);
        return false;
    }
    e->source = need_memory((size_t)(tab - line) + 1, 1);
    memcpy(e->source, line, (size_t)(tab - line));
    e->text = need_memory(strlen(tab), 1);
    strcpy(e->text, tab + 1);
    return true;
}

struct running {
    const struct score *s;
    const char *name;
    struct models models;
    heed_translator *translator;
    struct progress progress;
    heed_lines source, target; /* the target may be an n-best list */
    struct entry *entries;
    double sum;
    size_t n_subwords;
    bool is_misused; /* the files do not suit the model */
};

static bool print_score(struct running *run, const heed_result *r, size_t i)
{
    const struct score *s = run->s;
    const heed_translation *t = r->translations[0];
    if (!s->is_quiet)
        print_warnings(r, run->name, i + 1);
    if (isfinite(t->logprob)) {
        run->sum += t->logprob;
        run->n_subwords += t->n_subwords;
    }
    if (s->n_best) {
        const struct entry *e = &run->entries[i];
        printf("%.*s%sheed= %.6f%s\n", (int)e->n_before, run->target.at[i], e->rest ? " " : " ||| ",
               t->logprob, e->rest ? e->rest : "");
        return true;
    }
    if (s->is_json)
        return print_result_json(r);
    printf("%.6f", t->logprob);
    for (size_t w = 0; s->has_words && w < t->n_words; w++)
        printf("\t%.6f", t->words[w].logprob);
    putchar('\n');
    return true;
}

static bool score_some(struct running *run, size_t from, size_t n)
{
    heed_error err = {0};
    heed_text_pair *pairs = need_memory(n, sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        pairs[i] = run->entries
                       ? (heed_text_pair){run->s->has_subwords
                                              ? run->entries[from + i].source
                                              : run->source.at[run->entries[from + i].line],
                                          run->entries[from + i].text}
                       : (heed_text_pair){run->source.n > 0 ? run->source.at[from + i] : "",
                                          run->target.at[from + i]};
    run->progress.n_before = from;
    heed_results *results = heed_translator_score(run->translator, pairs, n, &err);
    progress_clear(&run->progress);
    if (!results)
        complain("%s", err.message);
    bool ok = results != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = print_score(run, results->at[i], from + i);
    heed_results_free(results);
    free(pairs);
    return ok;
}

static bool read_texts(struct running *run, const char *source, const char *target)
{
    heed_error err = {0};
    const bool has_subwords = run->s->has_subwords;
    if ((source && !has_subwords && !read_sources(&run->source, source, &err)) ||
        !heed_lines_read(&run->target, target, &err)) {
        complain("%s", err.message);
        return false;
    }
    if (!source)
        return true;
    if (!run->s->n_best && !has_subwords)
        return same_lines(source, &run->source, target, &run->target);
    run->entries = need_memory(run->target.n, sizeof *run->entries);
    for (size_t i = 0; i < run->target.n; i++)
        if (has_subwords
                ? !read_subwords(&run->entries[i], run->target.at[i], target, i + 1)
                : !read_entry(&run->entries[i], run->target.at[i], target, i + 1, run->source.n))
            return false;
    return true;
}

/* A language model has no source, and all others have. */
static bool check_task(struct running *run, bool is_alone)
{
    const bool is_lm = strcmp(heed_model_task(run->models.at[0]), "language-model") == 0;
    if (is_alone && !is_lm)
        complain(
            "score needs two files, SRC and TGT; one file alone is scored by a language model");
    if (is_lm && !is_alone)
        complain("the model is a language model, which has no source; give score the text alone");
    run->is_misused = is_alone != is_lm;
    return !run->is_misused;
}

static bool score_all(struct running *run, const struct invocation *invocation, const char *model)
{
    enum { AT_A_TIME = 4096 };
    const struct score *s = run->s;
    const char *const *files = invocation->arguments.items;
    const bool is_alone = invocation->arguments.n == 1 && !s->n_best && !s->has_subwords;
    const char *target = s->n_best ? s->n_best : files[is_alone || s->has_subwords ? 0 : 1];
    if (!models_load(&run->models, model, invocation) || !check_task(run, is_alone) ||
        !read_texts(run, is_alone ? NULL : files[0], target) ||
        !(run->translator = models_translator(&run->models)) ||
        !set_translator(run->translator, invocation) ||
        !set_option_of(run->translator, "subwords", s->has_subwords ? "yes" : "no"))
        return false;
    heed_translator_watch(run->translator, progress_show, &run->progress);
    for (size_t from = 0; from < run->target.n; from += AT_A_TIME) {
        const size_t left = run->target.n - from;
        if (!score_some(run, from, left < AT_A_TIME ? left : AT_A_TIME))
            return false;
    }
    if (!s->is_quiet && !s->n_best && run->n_subwords > 0)
        complain("perplexity %.4f per subword (%zu subwords, end markers included)",
                 exp(-run->sum / (double)run->n_subwords), run->n_subwords);
    return true;
}

static enum status run(const struct invocation *invocation)
{
    const struct score *s = invocation->values;
    const struct text_list *files = &invocation->arguments;
    if (s->n_best && s->has_subwords) {
        complain("--n-best and --subwords do not go together; choose one");
        return STATUS_USAGE;
    }
    if (files->n < 1 || (files->n != 1 && (s->n_best || s->has_subwords))) {
        complain(s->has_subwords
                     ? "with --subwords score needs one file, as heed translate --subwords prints "
                       "it; see heed score --help"
                     : "score needs two files, SRC and TGT, or SRC and --n-best FILE, or the text "
                       "alone for a language model; see heed score --help");
        return STATUS_USAGE;
    }
    const char *model = model_or_default(s->model);
    if (!model || !check_settings(invocation))
        return STATUS_USAGE;
    struct running run = {.s = s, .name = files->items[0]};
    progress_begin(&run.progress, s->is_quiet);
    const bool ok = score_all(&run, invocation, model);
    for (size_t i = 0; run.entries && i < run.target.n; i++) {
        free(run.entries[i].source);
        free(run.entries[i].text);
    }
    free(run.entries);
    heed_translator_free(run.translator);
    models_free(&run.models);
    heed_lines_release(&run.source);
    heed_lines_release(&run.target);
    return ok ? STATUS_FINE : run.is_misused ? STATUS_USAGE : STATUS_FAILED;
}

const struct command command_score = {
    .name = "score",
    .summary = "compute how likely given translations are",
    .usage = "[-m MODEL] [OPTIONS] SRC TGT\n       heed score -m MODEL [OPTIONS] FILE",
    .description =
        "Prints for every line the sum of the natural log-probabilities of the target's subwords "
        "and end marker, and at the end, on standard error, the perplexity of all lines. Text is "
        "cut "
        "into the model's subwords anew, so a translation by heed may get another number than it "
        "was found with: it was made of other subwords, of several sentences with an end marker "
        "each, or with placeholders. The very subwords, from 'heed translate --subwords', get the "
        "very number with --subwords, sentence by sentence; only an output that was cut, and has "
        "no end, does not. A language model scores the lines of one FILE. Files are UTF-8, plain "
        "or compressed by gzip; - is standard input.",
    .examples = {{"heed score -m en-fr.safetensors text.en text.fr", "score two files"},
                 {"heed score -m en-fr.safetensors --n-best text.nbest text.en",
                  "add a feature to an n-best list"},
                 {"heed translate --subwords text.en | heed score --subwords -",
                  "score translations as they were found"},
                 {"heed score -m lm.safetensors text.en", "the perplexity of a language model"}},
    .most_arguments = 2,
    .options = options,
    .library_option = library_option,
    .values_size = sizeof(struct score),
    .run = run,
};
