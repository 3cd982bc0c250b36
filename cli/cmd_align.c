/* cmd_align.c -- `heed align`: which words of two texts belong together. */
#include "align.h"
#include "gold.h"
#include "models.h"
#include "terminal.h"
#include "plot.h"
#include "print_result.h"

#include <heed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"method", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct align, method),
     .initial = "attention", .choices = "attention|hmm",
     .help =
         "by a model's attention, or, without a model, by how often words of the two files meet "
         "and in which order"},
    {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct align, model),
     .value = "MODEL[,MODEL...]", .default_help = "the model inside heed",
     .help = "model to align with; several work together as an ensemble"},
    {"reverse", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct align, reverse),
     .value = "MODEL[,MODEL...]",
     .help = "model for the other direction, whose links are joined with those of the first"},
    {"symmetrize", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct align, symmetrize),
     .initial = "grow-diag-final", .choices = "none|intersect|union|grow-diag-final",
     .help = "how links of the two directions are joined"},
    {"tsv", .kind = HEED_OPTION_LIST, HEED_OPTION_FIELD(struct align, tsv), .value = "FILE...",
     .help = "--method hmm: more pairs to learn from, source TAB target, which are not aligned"},
    {"lexicon", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct align, lexicon),
     .value = "FILE.tsv",
     .help = "--method hmm: write single words that are each other's translation instead of links, "
             "most frequent first: source, target, count, and the shares of the source's and the "
             "target's occurrences"},
    {"gold", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct align, gold), .value = "FILE",
     .help = "reference links, from 1: 'i-j' sure, 'ipj' possible; prints precision, recall and "
             "AER instead of links"},
    {"soft", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct align, is_soft),
     .help = "print attention in Marian's format instead of links", .group = "Output"},
    {"subwords", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct align, has_subwords),
     .help = "align subwords instead of words"},
    {"plot", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct align, plot),
     .value = "FILE.svg|png|pdf|tex",
     .help = "draw attention and links into a file; several lines are numbered"},
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct align, is_json),
     .help = "print one JSON object a line, as heed translate does"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct align, is_quiet),
     .group = "Running", .help = "print neither warnings nor progress"},
    {0},
};

static const heed_option *library_option(int i)
{
    static const char *const names[] = {"to",    "from",  "attention", "layer",   "head",
                                        "shift", "batch", "threads",   "compute", NULL};
    return translator_option(options, names, i);
}

/* ---- running ------------------------------------------------------------------------------------------ */

struct running {
    const struct align *a;
    const char *name; /* of the source file */
    struct models forward_models, backward_models;
    heed_translator *forward, *backward; /* the second may be NULL */
    struct progress progress;
    struct align_texts texts;
    heed_alignment_quality quality;
    struct plots plots;
};

/* The source subword looked at most by each target subword, unless it is the end marker. */
static void print_subword_links(const heed_result *r, const heed_translation *t)
{
    bool is_first = true;
    for (size_t i = 0; t->attention_kind == HEED_ATTENTION_CROSS && i < t->n_subwords; i++) {
        const float *row = t->subword_attention + i * t->n_subword_columns;
        size_t best = 0;
        for (size_t j = 1; j < r->n_subwords; j++)
            best = row[j] > row[best] ? j : best;
        if (t->subwords[i].word < 0 || r->n_subwords == 0 || r->subwords[best].word < 0)
            continue;
        printf("%s%zu-%zu", is_first ? "" : " ", best, i);
        is_first = false;
    }
}

enum heed_symmetry symmetry_of(const struct align *align)
{
    static const enum heed_symmetry how[] = {[SYMMETRIZE_NONE] = HEED_SYMMETRY_NONE,
                                             [SYMMETRIZE_INTERSECT] = HEED_SYMMETRY_INTERSECT,
                                             [SYMMETRIZE_UNION] = HEED_SYMMETRY_UNION,
                                             [SYMMETRIZE_GROW_DIAG_FINAL] =
                                                 HEED_SYMMETRY_GROW_DIAG_FINAL};
    return how[align->symmetrize];
}

/* Links of both directions as one list, to be given to free(). */
static heed_link *join(const struct running *run, const heed_result *forward,
                       const heed_result *backward, size_t *n, size_t number)
{
    const heed_translation *one = forward->translations[0];
    const heed_translation *other = backward ? backward->translations[0] : NULL;
    const size_t n_other = other ? other->n_links : 0;
    heed_link *links = need_memory(one->n_links + n_other + 1, sizeof *links);
    const bool fits =
        !other || (backward->n_words == one->n_words && other->n_words == forward->n_words);
    if (!fits && !run->a->is_quiet)
        complain("%s:%zu: the two models cut the text into different words, so their links "
                 "are not joined",
                 run->name, number);
    if (!other || !fits || run->a->symmetrize == SYMMETRIZE_NONE) {
        *n = one->n_links;
        if (one->n_links > 0)
            memcpy(links, one->links, one->n_links * sizeof *links);
        return links;
    }
    heed_link *turned = need_memory(n_other + 1, sizeof *turned);
    for (size_t i = 0; i < n_other; i++)
        turned[i] = (heed_link){other->links[i].target, other->links[i].source};
    *n = heed_symmetrize(symmetry_of(run->a), one->links, one->n_links, turned, n_other, links);
    free(turned);
    return links;
}

static bool print_pair(struct running *run, const heed_result *forward, const heed_result *backward,
                       size_t i)
{
    const struct align *a = run->a;
    const heed_translation *t = forward->translations[0];
    if (!a->is_quiet)
        print_warnings(forward, run->name, i + 1);
    size_t n;
    heed_link *links = join(run, forward, backward, &n, i + 1);
    bool ok = !a->plot ||
              plot_attention(&run->plots, forward, t, links, n, i + 1, run->texts.source.n == 1);
    if (ok && a->gold)
        ok = judge_links(&run->quality, links, n, run->texts.gold.at[i], a->gold, i + 1);
    else if (ok && a->is_json)
        ok = print_result_json(forward);
    else if (ok) {
        if (a->is_soft)
            print_soft(stdout, forward, t, a->has_subwords);
        else if (a->has_subwords)
            print_subword_links(forward, t);
        else
            print_links(stdout, links, n);
        putchar('\n');
    }
    free(links);
    return ok;
}

static bool align_some(struct running *run, size_t from, size_t n)
{
    heed_error err = {0};
    heed_text_pair *pairs = need_memory(n, sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (heed_text_pair){run->texts.source.at[from + i], run->texts.target.at[from + i]};
    run->progress.n_before = from;
    heed_results *forward = heed_translator_align(run->forward, pairs, n, &err), *backward = NULL;
    if (forward && run->backward) {
        for (size_t i = 0; i < n; i++)
            pairs[i] =
                (heed_text_pair){run->texts.target.at[from + i], run->texts.source.at[from + i]};
        backward = heed_translator_align(run->backward, pairs, n, &err);
    }
    progress_clear(&run->progress);
    bool ok = forward && (backward || !run->backward);
    if (!ok)
        complain("%s", err.message);
    for (size_t i = 0; ok && i < n; i++)
        ok = print_pair(run, forward->at[i], backward ? backward->at[i] : NULL, from + i);
    heed_results_free(forward);
    heed_results_free(backward);
    free(pairs);
    return ok;
}

bool align_read(struct align_texts *texts, const struct invocation *invocation)
{
    heed_error err = {0};
    const char *const *paths = invocation->arguments.items;
    const char *gold = ((const struct align *)invocation->values)->gold;
    if (!read_sources(&texts->source, paths[0], &err) ||
        !heed_lines_read(&texts->target, paths[1], &err) ||
        (gold && !heed_lines_read(&texts->gold, gold, &err))) {
        complain("%s", err.message);
        return false;
    }
    return same_lines(paths[0], &texts->source, paths[1], &texts->target) &&
           (!gold || same_lines(paths[0], &texts->source, gold, &texts->gold));
}

void align_release(struct align_texts *texts)
{
    heed_lines_release(&texts->source);
    heed_lines_release(&texts->target);
    heed_lines_release(&texts->gold);
}

/* Models of a list as a translator that is told what was typed; NULL, with the complaint printed. The reverse translates from what
 * the other translates to. */
static heed_translator *open_models(struct running *run, struct models *models, const char *list,
                                    const struct invocation *invocation)
{
    const bool is_reverse = models == &run->backward_models;
    const char *from = setting_of(invocation, "from"), *to = setting_of(invocation, "to");

    if (!models_load(models, list, invocation) || !models_attend(models, list))
        return NULL;
    heed_translator *t = models_translator(models);
    if (t)
        heed_translator_watch(t, progress_show, &run->progress);
    bool ok = t != NULL;
    for (int i = 0; ok && i < invocation->n_settings; i++) {
        const char *name = invocation->settings[i].option->name;
        if (!is_reverse || (strcmp(name, "from") != 0 && strcmp(name, "to") != 0))
            ok = set_option_of(t, name, invocation->settings[i].text);
    }
    if (ok && is_reverse)
        ok = set_option_of(t, "from", to) &&
             set_option_of(t, "to", from && strcmp(from, "auto") != 0 ? from : NULL);
    if (ok)
        return t;
    heed_translator_free(t);
    return NULL;
}

static bool align_all(struct running *run, const struct invocation *invocation, const char *model)
{
    enum { AT_A_TIME = 4096 };
    const char *reverse = run->a->reverse;
    if (!align_read(&run->texts, invocation) ||
        !(run->forward = open_models(run, &run->forward_models, model, invocation)) ||
        (reverse &&
         !(run->backward = open_models(run, &run->backward_models, reverse, invocation))))
        return false;
    for (size_t from = 0; from < run->texts.source.n; from += AT_A_TIME) {
        const size_t left = run->texts.source.n - from;
        if (!align_some(run, from, left < AT_A_TIME ? left : AT_A_TIME))
            return false;
    }
    if (run->a->gold)
        print_quality(&run->quality, run->a->is_json);
    return true;
}

static enum status run(const struct invocation *invocation)
{
    const struct align *a = invocation->values;
    if (invocation->arguments.n != 2) {
        complain("align needs two files, SRC and TGT; see heed align --help");
        return STATUS_USAGE;
    }
    if (a->method == METHOD_HMM)
        return align_by_text(invocation);
    if (a->tsv.n > 0) {
        complain("--tsv is text to learn from; it goes with --method hmm");
        return STATUS_USAGE;
    }
    if (a->lexicon) {
        complain("--lexicon is learned from text; it goes with --method hmm");
        return STATUS_USAGE;
    }
    const char *model = model_or_default(a->model);
    if (!model || !check_settings(invocation) || !plot_has_kind(a->plot))
        return STATUS_USAGE;
    if (a->reverse && (a->is_soft || a->has_subwords || a->is_json)) {
        complain(
            "--reverse joins links of words; it does not go with --soft, --subwords or --json");
        return STATUS_USAGE;
    }
    if (!plot_may_write(a->plot))
        return STATUS_FAILED;
    struct running run = {
        .a = a, .name = invocation->arguments.items[0], .plots = {.path = a->plot}};
    progress_begin(&run.progress, a->is_quiet);
    const bool ok = align_all(&run, invocation, model);
    heed_translator_free(run.forward);
    heed_translator_free(run.backward);
    models_free(&run.forward_models);
    models_free(&run.backward_models);
    align_release(&run.texts);
    return ok ? STATUS_FINE : STATUS_FAILED;
}

const struct command command_align = {
    .name = "align",
    .summary = "align the words of a text with those of its translation",
    .usage = "[-m MODEL] [OPTIONS] SRC TGT",
    .description =
        "Reads a text and its translation, line by line, and prints which words belong together by "
        "the model's attention: links 'i-j' of source word i and target word j, counted from 0, as "
        "other tools print them. Words are separated by spaces; text without spaces is cut by the "
        "model's vocabulary. With a model for the other direction the links of both are joined. "
        "--method hmm needs no model: it learns from the two files (and from --tsv), in both "
        "directions, and wants some thousands of lines or more. "
        "Files are UTF-8, plain or compressed by gzip; - is standard input.",
    .examples = {{"heed align -m en-fr.safetensors text.en text.fr >text.links", "align two files"},
                 {"heed align -m en-fr.safetensors --reverse fr-en.safetensors text.en text.fr",
                  "join the links of both directions"},
                 {"heed align --method hmm text.en text.fr --tsv corpus.tsv",
                  "without a model, learning from a larger text as well"},
                 {"heed align --method hmm text.en text.fr --lexicon words.tsv",
                  "words that are each other's translation"}},
    .most_arguments = 2,
    .options = options,
    .library_option = library_option,
    .values_size = sizeof(struct align),
    .run = run,
};
