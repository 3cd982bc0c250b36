/* cmd_translate.c -- `heed translate`: lines in, lines out. */
#include "command.h"
#include "models.h"
#include "plot.h"
#include "reader.h"
#include "translate_file.h"
#include "print_result.h"
#include "terminal.h"

#include <heed.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "\xEF\xBB\xBF" /* of the order of bytes, which stays */

enum alignment { ALIGN_NONE, ALIGN_HARD, ALIGN_SOFT };

struct translate {
    const char *model, *prefix, *head, *plot, *lm;
    float lm_weight;
    int align, format;
    bool is_json, has_confidence, is_shown, has_subwords, is_quiet, is_verbose;
};

static const heed_option options[] = {
    {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, model),
     .value = "MODEL[,MODEL...]", .default_help = "the model inside heed",
     .help = "model to translate with; several translate together as an ensemble"},
    {"format", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct translate, format),
     .initial = "auto", .choices = FORMAT_NAMES,
     .default_help = "auto: by the ending of the file's name, else lines",
     .help = "what the files are: lines; PO files, whose empty messages are filled and marked "
             "fuzzy; subtitles; text in paragraphs that are broken into lines"},
    {"prefix", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, prefix),
     .value = "FILE", .group = "Search",
     .help = "how each translation must begin, line by line; an empty line leaves it open"},
    {"lm", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, lm), .value = "MODEL",
     .help = "language model of the same target vocabulary to search with (shallow fusion)"},
    {"lm-weight", .kind = HEED_OPTION_FLOAT, HEED_OPTION_FIELD(struct translate, lm_weight),
     .initial = "0.2", .value = "X", .least = -100, .most = 100,
     .help = "what a log-probability by the language model counts beside the model's own"},
    {"align", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct translate, align),
     .initial = "none", .choices = "none|hard|soft", .group = "Output",
     .help = "print after ' ||| ' links 'source-target' between words, from 0, or attention in "
             "Marian's format"},
    {"confidence", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, has_confidence),
     .help = "print after ' ||| ' the confidence of the sentence and of each word, 0 to 1; of a "
             "label the "
             "probabilities of all labels, of an answer its probability"},
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_json),
     .help = "print one JSON object a line: words, links, attention, confidence, warnings"},
    {"subwords", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, has_subwords),
     .help = "print subwords instead of text, a sentence a line: what the model read, TAB, what it "
             "wrote; heed score --subwords takes them"},
    {"show", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_shown),
     .help = "print below each translation its attention as a matrix of characters"},
    {"plot", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, plot),
     .value = "FILE.svg|png|pdf|tex",
     .help = "draw the attention into a file; several lines are numbered"},
    {"head", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct translate, head), .initial = "mean",
     .value = "N|mean|all", .group = "Attention",
     .help = "attention head to report, from 0; all draws every layer and head (with --plot)"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_quiet),
     .group = "Running", .help = "print neither warnings nor progress"},
    {"verbose", 'v', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct translate, is_verbose),
     .help = "warn of translations that are unsure as well"},
    {0},
};

/* The library's, but those that are for programs or that this command has itself. */
static const heed_option *library_option(int i)
{
    return translator_option(options, NULL, i);
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
    for (size_t i = 0; t->has_confidence && i < r->n_labels; i++)
        printf(" ||| %s %.3f", r->labels[i].text, r->labels[i].probability);
    if (t->has_confidence && r->n_labels == 0) {
        printf(" ||| %.3f", one->confidence);
        for (size_t i = 0; i < one->n_words; i++)
            printf(" %.3f", one->words[i].confidence);
    }
    fputc('\n', stdout);
}

static bool is_end(const heed_subword *subword)
{
    return subword->word < 0 && strcmp(subword->text, "</s>") == 0;
}

/* The sentence that each subword belongs to, ascending: by the place of its word, or as the next one; of end markers -1. To be given to free(). */
static int *sentences_of(const heed_subword *subwords, size_t n, const heed_word *words,
                         const heed_translation *t, bool is_target)
{
    int *sentence = need_memory(n + 1, sizeof *sentence), s = 0;
    for (size_t i = 0; i < n; i++) {
        while (subwords[i].word >= 0 && s + 1 < (int)t->n_sentences &&
               words[subwords[i].word].start >=
                   (is_target ? t->sentences[s].target_end : t->sentences[s].source_end))
            s++;
        sentence[i] = is_end(&subwords[i]) ? -1 : s;
    }
    for (size_t i = n; i-- > 1;)
        if (subwords[i - 1].word < 0 && sentence[i - 1] >= 0 && sentence[i] >= 0)
            sentence[i - 1] = sentence[i];
    return sentence;
}

/* Those of a sentence, from *i on; how many they are. */
static size_t print_subwords_of(const heed_subword *subwords, const int *sentences, size_t n,
                                int sentence, size_t *i)
{
    size_t n_printed = 0;
    for (; *i < n && sentences[*i] <= sentence; ++*i)
        if (sentences[*i] == sentence)
            printf("%s%s", n_printed++ > 0 ? " " : "", subwords[*i].text);
    return n_printed;
}

static bool print_subwords(const heed_result *r)
{
    const heed_translation *t = r->translations[0];
    int *source = sentences_of(r->subwords, r->n_subwords, r->words, t, false),
        *target = sentences_of(t->subwords, t->n_subwords, t->words, t, true);
    size_t i = 0, j = 0;
    for (int s = 0; s < (int)t->n_sentences; s++)
        if (print_subwords_of(r->subwords, source, r->n_subwords, s, &i) > 0) {
            putchar('\t');
            print_subwords_of(t->subwords, target, t->n_subwords, s, &j);
            putchar('\n');
        }
    free(source);
    free(target);
    return true;
}

static bool print_result(const struct translate *t, const heed_result *r, size_t number,
                         bool is_n_best, bool has_markup)
{
    if (t->is_json)
        return print_result_json(r);
    if (t->has_subwords)
        return print_subwords(r);
    if (has_markup)
        return fputs(r->translations[0]->text, stdout) >= 0;
    for (size_t k = 0; k < r->n_translations; k++) {
        const heed_translation *one = r->translations[k];
        if (is_n_best)
            printf("%zu ||| ", number);
        fputs(one->text, stdout);
        if (is_n_best)
            printf(" ||| logprob= %.6f ||| %.6f", one->logprob, one->score);
        print_rest(t, r, one);
    }
    return true;
}

/* ---- running ----------------------------------------------------------------------------------------- */

struct running {
    const struct translate *t;
    struct models models, lm;
    heed_translator *translator;
    struct progress progress;
    heed_lines prefixes;
    size_t n_before; /* lines of all files so far */
    struct plots plots;
    const char *shift, *to;
    const char *beginnings; /* --prefix of a language model: the lines themselves */
    bool is_n_best;
    bool has_markup;    /* files are documents, not lines */
    bool reads_vectors; /* files are sound, pictures or vectors */
    bool is_one;        /* and there is but one item */
    int n_files;
};

static bool draws_all_heads(const struct translate *t)
{
    return t->plot && strcmp(t->head, "all") == 0;
}

/* What the output needs of the search. */
static bool set_options(struct running *run, const struct invocation *invocation)
{
    const struct translate *t = run->t;
    const bool draws = t->is_json || t->is_shown || t->plot,
               is_attention_given = setting_of(invocation, "attention") != NULL;
    run->is_n_best = setting_of(invocation, "n-best") != NULL;
    const char *attention = is_attention_given                ? NULL
                            : draws || t->align != ALIGN_NONE ? "cross"
                                                              : "none";
    const char *scores =
        draws || t->has_confidence || t->is_verbose || run->is_n_best ? "yes" : "no";
    const bool is_about_words = t->has_subwords || t->is_shown || t->plot ||
                                t->align != ALIGN_NONE || t->has_confidence ||
                                setting_of(invocation, "markup");
    return set_translator(run->translator, invocation) &&
           set_option_of(run->translator, "markup", is_about_words ? NULL : "auto") &&
           set_option_of(run->translator, "attention", attention) &&
           set_option_of(run->translator, "scores", scores) &&
           set_option_of(run->translator, "head", draws_all_heads(t) ? NULL : t->head);
}

static bool set_lm(struct running *run, const struct invocation *invocation)
{
    heed_error err = {0};
    if (!run->t->lm)
        return true;
    if (!models_load(&run->lm, run->t->lm, invocation))
        return false;
    const bool ok =
        heed_translator_fuse(run->translator, run->lm.at[0], (double)run->t->lm_weight, &err);
    if (!ok)
        complain("%s: %s", run->t->lm, err.message);
    return ok;
}

/* The best one's attention. */
static bool draw_result(struct running *run, const heed_result *r, size_t number, bool is_one)
{
    const heed_translation *t = r->translations[0];
    if (run->t->is_shown && !show_attention(r, t))
        return false;
    if (!run->t->plot)
        return true;
    if (draws_all_heads(run->t))
        return plot_heads(&run->plots, &run->models, run->shift, r, number, is_one);
    return plot_attention(&run->plots, r, t, t->links, t->n_links, number, is_one);
}

static heed_results *translate_some(struct running *run, const char *const *lines, size_t n,
                                    heed_error *err)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", run->n_before);
    if (!heed_translator_set(run->translator, "number", number, err))
        return NULL;
    if (run->prefixes.n == 0)
        return heed_translator_translate(run->translator, lines, n, err);
    heed_text_pair *pairs = need_memory(n, sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (heed_text_pair){lines[i], run->prefixes.at[run->n_before + i]};
    heed_results *results = heed_translator_complete(run->translator, pairs, n, err);
    free(pairs);
    return results;
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
    run->progress.n_before = run->n_before;
    heed_results *results = translate_some(run, lines, n, &err);
    progress_clear(&run->progress);
    if (!results) {
        complain("%s", err.message);
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        if (!run->t->is_quiet)
            print_warnings_but(results->at[i], run->t->is_verbose ? NULL : "unsure:", name,
                               first + i + 1);
        ok = print_result(run->t, results->at[i], run->n_before + i, run->is_n_best,
                          run->has_markup) &&
             draw_result(run, results->at[i], run->n_before + i + 1,
                         run->reads_vectors && run->n_files > 0 ? run->is_one
                                                                : run->n_before + n == 1);
    }
    run->n_before += n;
    heed_results_free(results);
    return fflush(stdout) == 0 && ok;
}

/* A file comes out as a file, and has room for nothing else. */
static bool check_format(const struct translate *t, bool is_n_best)
{
    const char *other = t->prefix                ? "prefix"
                        : t->is_json             ? "json"
                        : t->align != ALIGN_NONE ? "align"
                        : t->has_confidence      ? "confidence"
                        : t->has_subwords        ? "subwords"
                        : t->is_shown            ? "show"
                        : t->plot                ? "plot"
                        : is_n_best              ? "n-best"
                                                 : NULL;
    if (other)
        complain("--%s is for lines of text; to translate this file line by line, say --format "
                 "lines",
                 other);
    return !other;
}

/* A file of which some is text; all of it comes out. */
static bool translate_whole(struct running *run, struct reader *reader, const char *format)
{
    const char *text = reader_whole(reader);
    char *translated = NULL;
    const struct file_job job = {.translator = run->translator,
                                 .model = run->models.at[0],
                                 .to = run->to,
                                 .progress = &run->progress,
                                 .name = reader->name,
                                 .format = format,
                                 .is_quiet = run->t->is_quiet,
                                 .is_verbose = run->t->is_verbose};
    bool ok = text && file_translate(&job, text, &translated);
    if (ok)
        ok = fputs(translated, stdout) >= 0 && fflush(stdout) == 0;
    heed_free(translated);
    return ok;
}

/* The items of a file of vectors, some thousand at a time; or a sound or a picture. */
static bool translate_vectors(struct running *run, const char *path)
{
    enum { AT_A_TIME = 4096 };
    heed_lines names = {0};
    heed_error err = {0};
    if (!heed_vector_names(&names, path, &err)) {
        complain("%s", err.message);
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < names.n; i += AT_A_TIME) {
        const size_t left = names.n - i, n = left < AT_A_TIME ? left : AT_A_TIME;
        run->is_one = names.n == 1 && run->n_files == 1;
        ok = translate_lines(run, names.at + i, n, path, i);
    }
    heed_lines_release(&names);
    return ok;
}

static bool translate_file(struct running *run, const char *path)
{
    if (run->reads_vectors && strcmp(path, "-") != 0)
        return translate_vectors(run, path);
    struct reader reader;
    const char *format = file_format((enum format)run->t->format, run->has_markup, path);
    if (!reader_open(&reader, path))
        return false;
    if (format) {
        const bool is_done =
            check_format(run->t, run->is_n_best) && translate_whole(run, &reader, format);
        reader_close(&reader);
        return is_done;
    }
    const char *const *lines = NULL;
    size_t n = 0, first = 0;
    bool ok;
    if (run->has_markup) {
        const char *text = reader_whole(&reader);
        const size_t mark = text && strncmp(text, MARK, strlen(MARK)) == 0 ? strlen(MARK) : 0;
        const char *document = text ? text + mark : NULL;
        ok = text && fwrite(MARK, 1, mark, stdout) == mark &&
             translate_lines(run, &document, 1, reader.name, 0);
        reader_close(&reader);
        return ok;
    }
    while ((ok = reader_next(&reader, &lines, &n)) && n > 0) {
        ok = translate_lines(run, lines, n, reader.name, first);
        first += n;
        if (!ok)
            break;
    }
    reader_close(&reader);
    return ok;
}

/* Words instead of the name of a file: what to type. False if there are files. */
static bool are_words(const struct text_list *files)
{
    for (int i = 0; i < files->n; i++)
        if (strcmp(files->items[i], "-") == 0 || access(files->items[i], F_OK) == 0 ||
            errno != ENOENT)
            return false;
    return files->n > 0;
}

static void advise(const struct text_list *words)
{
    char text[200] = "";
    for (int i = 0, n = 0; i < words->n && n < (int)sizeof text; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", i > 0 ? " " : "", words->items[i]);
    const char *quote = strchr(text, '\'') ? "\"" : "'";
    complain("%s: there is no such file; to translate words, give them on standard input: "
             "echo %s%s%s | heed translate",
             words->items[0], quote, text, quote);
}

static bool translate_all(struct running *run, const struct text_list *files)
{
    bool ok = true;
    run->n_files = files->n;
    run->reads_vectors = strcmp(heed_model_source(run->models.at[0]), "vectors") == 0;
    if (are_words(files)) {
        advise(files);
        return false;
    }
    if (files->n == 0 && !run->t->is_quiet && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        fputs("Type a line and press Enter to have it translated; Ctrl-D ends.\n", stderr);
    progress_begin(&run->progress, run->t->is_quiet);
    heed_translator_watch(run->translator, progress_show, &run->progress);
    if (files->n == 0)
        ok = translate_file(run, run->beginnings ? run->beginnings : "-");
    for (int i = 0; ok && i < files->n; i++)
        ok = translate_file(run, files->items[i]);
    return ok;
}

/* Subwords are a kind of output of their own. */
static bool check_subwords(const struct translate *t, const struct invocation *invocation)
{
    const char *other = t->is_json                           ? "json"
                        : t->align != ALIGN_NONE             ? "align"
                        : t->has_confidence                  ? "confidence"
                        : setting_of(invocation, "n-best")   ? "n-best"
                        : setting_of(invocation, "markup")   ? "markup"
                        : setting_of(invocation, "glossary") ? "glossary"
                                                             : NULL;
    if (t->has_subwords && other)
        complain("--subwords and --%s do not go together; --json tells all there is to tell",
                 other);
    return !t->has_subwords || !other;
}

/* With markup the output is a document, and has room for nothing else. */
static bool check_markup(const struct translate *t, const struct invocation *invocation)
{
    const bool is_n_best = setting_of(invocation, "n-best") != NULL;
    const char *other = t->prefix                ? "prefix"
                        : t->is_json             ? NULL
                        : t->align != ALIGN_NONE ? "align"
                        : t->has_confidence      ? "confidence"
                        : is_n_best              ? "n-best"
                                                 : NULL;
    if (other)
        complain("--markup and --%s do not go together%s", other,
                 t->prefix ? "; choose one" : "; --json tells all there is to tell");
    return !other;
}

static enum status run(const struct invocation *invocation)
{
    const struct translate *t = invocation->values;
    struct running run = {.t = t,
                          .plots = {.path = t->plot},
                          .shift = setting_of(invocation, "shift"),
                          .to = setting_of(invocation, "to")};
    const char *model = model_or_default(t->model), *markup = setting_of(invocation, "markup");
    run.has_markup = markup && (strcmp(markup, "html") == 0 || strcmp(markup, "xml") == 0);
    if (!model || !check_settings(invocation) || !plot_has_kind(t->plot) ||
        !(draws_all_heads(t) || check_setting("head", t->head)))
        return STATUS_USAGE;
    if (t->is_json && t->is_shown) {
        complain("--json and --show do not go together; choose one");
        return STATUS_USAGE;
    }
    if (!check_subwords(t, invocation) || (run.has_markup && !check_markup(t, invocation)))
        return STATUS_USAGE;
    heed_error err = {0};
    bool ok = plot_may_write(t->plot) && models_load(&run.models, model, invocation);
    if (ok && t->prefix && invocation->arguments.n == 0 &&
        strcmp(heed_model_task(run.models.at[0]), "language-model") == 0)
        run.beginnings = t->prefix;
    else if (ok && t->prefix && !heed_lines_read(&run.prefixes, t->prefix, &err)) {
        complain("%s", err.message);
        ok = false;
    }
    ok = ok && (run.translator = models_translator(&run.models)) && set_options(&run, invocation) &&
         set_lm(&run, invocation) && translate_all(&run, &invocation->arguments);
    heed_translator_free(run.translator);
    models_free(&run.models);
    models_free(&run.lm);
    heed_lines_release(&run.prefixes);
    return ok ? STATUS_FINE : STATUS_FAILED;
}

const struct command command_translate = {
    .name = "translate",
    .summary = "translate lines of text, and report what the model attends to",
    .usage = "[-m MODEL] [OPTIONS] [FILE...]",
    .description =
        "Translates standard input or files line by line: as many lines come out as go in, in the "
        "same order; empty lines stay empty, white space around a line is kept. The output is the "
        "same for any batch size, any number of threads and any CPU. A line is "
        "translated sentence by sentence. With --markup a file is one document instead: tags stay "
        "whole and go with their words, and what is not text comes out as it went in. So do PO "
        "files (.po) and subtitles (.srt, .vtt), whose text alone is translated, and with --format "
        "text paragraphs that are broken into lines. With "
        "--n-best a line is 'number ||| text "
        "||| logprob= X ||| score', numbered from 0. Warnings (bytes that are not UTF-8, an output "
        "that was cut or repeated itself) go to standard error; with --verbose also where a "
        "translation "
        "is unsure, its confidence being less than 0.6. A model of labels prints the label of each "
        "line; one that answers questions takes lines of document, TAB, question and prints the "
        "answers; a language model goes on from what each line says, or the lines of --prefix.",
    .examples = {{"heed translate -m en-fr.safetensors <text.en >text.fr", "translate a file"},
                 {"echo 'The red house.' | heed translate --show", "see what the model attends to"},
                 {"heed translate --attention encoder --head all --plot heads.svg text.en",
                  "draw the self-attention of every layer and head"},
                 {"heed translate --markup html page.html >page.fr.html", "translate a web page"},
                 {"heed translate film.en.srt >film.fr.srt", "translate subtitles"},
                 {"heed translate fr.po >filled.po", "fill what a PO file lacks"},
                 {"echo 'Once upon' | heed translate -m lm.safetensors --sample topp=0.9",
                  "let a language model go on"}},
    .most_arguments = -1,
    .options = options,
    .library_option = library_option,
    .values_size = sizeof(struct translate),
    .run = run,
};
