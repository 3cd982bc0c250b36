/* translate_options.c -- the options of translating, as rows of the option engine. */
#include "translate/translate_options.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "option/option.h"
#include "search/search.h"
#include "text/protect.h"
#include "translate/recall.h"
#include "translate/required.h"

#include <stdio.h>
#include <string.h>

/* ---- options that are small languages ---------------------------------------------------------- */

static heed_options *of(void *values)
{
    return values;
}

static const heed_options *in(const void *values)
{
    return values;
}

/* What follows `before` in `text`, as a number. */
static bool number_after(const char *text, const char *before, double *x)
{
    const size_t n = strlen(before);
    return strncmp(text, before, n) == 0 && hd_option_read_number(text + n, x);
}

static bool set_length_norm(const heed_option *option, void *values, const char *text,
                            heed_error *err)
{
    double alpha = 1;
    const int norm = strcmp(text, "none") == 0              ? HD_LENGTH_NONE
                     : number_after(text, "power:", &alpha) ? HD_LENGTH_POWER
                     : number_after(text, "gnmt:", &alpha)  ? HD_LENGTH_GNMT
                                                            : -1;
    if (norm < 0 || !(alpha >= -100 && alpha <= 100))
        return heed_option_refuse(option, text, err);
    of(values)->norm = norm;
    of(values)->alpha = (float)alpha;
    return true;
}

static void print_length_norm(const heed_option *option, const void *values, char *text,
                              size_t size)
{
    (void)option;
    char alpha[32];
    if (in(values)->norm == HD_LENGTH_NONE)
        snprintf(text, size, "none");
    else
        snprintf(text, size, "%s:%s", in(values)->norm == HD_LENGTH_GNMT ? "gnmt" : "power",
                 hd_real_text(alpha, in(values)->alpha));
}

static bool set_sample(const heed_option *option, void *values, const char *text, heed_error *err)
{
    enum { MOST_WORDS = 1000000 };
    heed_options *o = of(values);
    double x = 0;
    const bool is_none = strcmp(text, "none") == 0, is_all = strcmp(text, "all") == 0,
               is_k = number_after(text, "topk=", &x) && x >= 1 && x <= MOST_WORDS &&
                      x == (double)(int)x,
               is_p = !is_k && number_after(text, "topp=", &x) && (float)x > 0 && x <= 1;
    if (!is_none && !is_all && !is_k && !is_p)
        return heed_option_refuse(option, text, err);
    o->is_sampled = !is_none;
    o->top_k = is_k ? (int)x : 0;
    o->top_p = is_p ? (float)x : 1;
    return true;
}

static void print_sample(const heed_option *option, const void *values, char *text, size_t size)
{
    (void)option;
    const heed_options *o = in(values);
    char p[32];
    if (o->top_k > 0)
        snprintf(text, size, "topk=%d", o->top_k);
    else if (o->top_p < 1)
        snprintf(text, size, "topp=%s", hd_real_text(p, o->top_p));
    else
        snprintf(text, size, "%s", o->is_sampled ? "all" : "none");
}

static bool set_head(const heed_option *option, void *values, const char *text, heed_error *err)
{
    double x = -1;
    const bool is_mean = strcmp(text, "mean") == 0;
    enum { MOST = 1 << 20 }; /* how many there are the model knows */
    if (!is_mean && !(hd_option_read_number(text, &x) && x >= 0 && x < MOST && x == (double)(int)x))
        return heed_option_refuse(option, text, err);
    of(values)->head = (int)x;
    return true;
}

static void print_head(const heed_option *option, const void *values, char *text, size_t size)
{
    (void)option;
    if (in(values)->head < 0)
        snprintf(text, size, "mean");
    else
        snprintf(text, size, "%d", in(values)->head);
}

static bool set_number(const heed_option *option, void *values, const char *text, heed_error *err)
{
    uint64_t n = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && n <= (UINT64_MAX >> 20) / 10; c++)
        n = 10 * n + (uint64_t)(*c - '0');
    if (c == text || *c)
        return heed_option_refuse(option, text, err);
    of(values)->number = n;
    return true;
}

static void print_number(const heed_option *option, const void *values, char *text, size_t size)
{
    (void)option;
    snprintf(text, size, "%llu", (unsigned long long)in(values)->number);
}

/* One more expression, if it is one. */
static bool add_keep(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_keep *keep = hd_keep_new(&text, 1, NULL, 0, err);
    if (!keep)
        return false;
    hd_keep_free(keep);
    return heed_option_set_by_kind(option, values, text, err);
}

/* A glossary is read when it is named, so that its faults are told then. */
static bool set_glossary(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_shared_glossary *read = NULL;
    if (strcmp(text, "none") != 0 && !(read = hd_shared_glossary_read(text, err)))
        return false;
    if (!heed_option_set_by_kind(option, values, text, err)) {
        hd_shared_glossary_leave(read);
        return false;
    }
    hd_shared_glossary_leave(of(values)->terms);
    of(values)->terms = read;
    return true;
}

/* So is a translation memory. */
static bool set_memory(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_shared_memory *read = NULL;
    if (strcmp(text, "none") != 0 && !(read = hd_shared_memory_read(text, err)))
        return false;
    if (!heed_option_set_by_kind(option, values, text, err)) {
        hd_shared_memory_leave(read);
        return false;
    }
    hd_shared_memory_leave(of(values)->memory);
    of(values)->memory = read;
    return true;
}

/* ---- the rows ------------------------------------------------------------------------------------ */

#define FIELD(member) HEED_OPTION_FIELD(heed_options, member)

static const heed_option rows[] = {
    {"to", .kind = HEED_OPTION_TEXT, FIELD(to), .value = "LANG", .group = "Languages",
     .default_help = "the first that the model translates the source's language to",
     .help = "language to translate to, of a model of several; heed info lists them"},
    {"from", .kind = HEED_OPTION_TEXT, FIELD(from), .initial = "auto", .value = "LANG|auto",
     .help = "language of the text; auto tells it line by line, among those of the model"},
    {"beam", 'b', .kind = HEED_OPTION_INT, FIELD(beam), .initial = "5", .value = "N", .least = 1,
     .most = 1000, .group = "Search",
     .help = "beam size: hypotheses kept while searching, up to 1000; 1 is greedy search"},
    {"n-best", .kind = HEED_OPTION_INT, FIELD(n_best), .initial = "1", .value = "N", .least = 1,
     .most = 1000, .help = "translations per text, best first; the beam is at least as large"},
    {"length-norm", .kind = HEED_OPTION_TEXT, FIELD(norm), .initial = "power:1",
     .value = "none|power:X|gnmt:X",
     .takes = "none, power:X or gnmt:X, such as power:1 or gnmt:0.6",
     .help = "divide log-probabilities by length^X, or by ((5 + length) / 6)^X",
     .set = set_length_norm, .print = print_length_norm},
    {"coverage-penalty", .kind = HEED_OPTION_FLOAT, FIELD(coverage_penalty), .initial = "0",
     .value = "X", .least = 0, .most = 1e6,
     .help = "weight of the penalty for source words that get no attention"},
    {"ctc-weight", .kind = HEED_OPTION_FLOAT, FIELD(ctc_weight), .initial = "0", .value = "X",
     .least = 0, .most = 1,
     .help = "share of CTC in the search, the rest being the attention's; for models trained with "
             "--ctc"},
    {"sample", .kind = HEED_OPTION_TEXT, FIELD(is_sampled), .initial = "none",
     .value = "none|all|topk=N|topp=X",
     .takes = "none, all, topk=N (from the likeliest N words) or topp=X (from the likeliest words "
              "of total probability X, 0 to 1)",
     .help = "sample words instead of searching: from all, from the likeliest N, or from the "
             "likeliest of total probability X",
     .set = set_sample, .print = print_sample},
    {"temperature", .kind = HEED_OPTION_FLOAT, FIELD(temperature), .initial = "1", .value = "X",
     .least = 1e-3, .most = 1e3, .help = "sampling temperature"},
    {"seed", .kind = HEED_OPTION_INT, FIELD(seed), .initial = "1", .value = "N", .least = 0,
     .most = 2147483647, .help = "seed of sampling"},
    {"number", .kind = HEED_OPTION_TEXT, FIELD(number), .initial = "0", .value = "N",
     .flags = HEED_OPTION_PROGRAM, .takes = "a whole number from 0",
     .help = "number of the first text, which decides with the seed what is sampled",
     .set = set_number, .print = print_number},
    {"prefix", .kind = HEED_OPTION_TEXT, FIELD(prefix), .value = "TEXT",
     .flags = HEED_OPTION_PROGRAM, .help = "how the translation must begin"},
    {"target", .kind = HEED_OPTION_TEXT, FIELD(target), .value = "TEXT",
     .flags = HEED_OPTION_PROGRAM,
     .help = "the translation itself, which is then looked at and not searched; of a text that is "
             "submitted"},
    {"force", .kind = HEED_OPTION_TEXT, FIELD(force), .value = "STEP:SUBWORD[:WEIGHT],...",
     .flags = HEED_OPTION_PROGRAM,
     .help = "what the attention looks at when the subword STEP is written, numbers from 0: the "
             "attention of a recurrent model, the alignment layer's heads of a Transformer"},
    {"subwords", .kind = HEED_OPTION_YES_NO, FIELD(is_of_subwords), .initial = "no",
     .flags = HEED_OPTION_PROGRAM,
     .help = "texts whose translations are given, and these, are subwords of the model between "
             "spaces, to be looked at as they are"},
    {"steps", .kind = HEED_OPTION_INT, FIELD(n_steps), .initial = "0", .value = "N", .least = 0,
     .most = 100, .flags = HEED_OPTION_PROGRAM,
     .help = "tell the likeliest N subwords of each step, and the raw scores of the attention"},
    {"tree", .kind = HEED_OPTION_YES_NO, FIELD(has_tree), .initial = "no",
     .flags = HEED_OPTION_PROGRAM, .help = "tell all hypotheses of the search, as a tree"},
    {"no-repeat", .kind = HEED_OPTION_INT, FIELD(no_repeat), .initial = "0", .value = "N",
     .least = 0, .most = 1000,
     .help = "forbid repeating a sequence of N subwords; 0 allows everything"},
    {"loops", .kind = HEED_OPTION_CHOICE, FIELD(loops), .initial = "retry", .choices = "retry|keep",
     .help = "search an output that goes round in circles again with repetition forbidden, or keep "
             "it, as other programs do"},
    {"replace-unknown", .kind = HEED_OPTION_FLAG, FIELD(replaces_unknown),
     .help = "replace unknown words by the source words they attend to"},
    {"protect", .kind = HEED_OPTION_YES_NO, FIELD(protects), .initial = "yes",
     .help = "keep links, e-mail addresses, file names, codes and placeholders such as %s as they "
             "are, and warn where one of them or a number is lost"},
    {"restore-case", .kind = HEED_OPTION_YES_NO, FIELD(restores_case), .initial = "yes",
     .help =
         "translate a sentence in capitals or small letters alone as an ordinary one, and print it "
         "in such letters again"},
    {"keep", .kind = HEED_OPTION_LIST, FIELD(keep), .value = "REGEX",
     .help = "also keep what this regular expression matches (POSIX, extended); may be repeated",
     .set = add_keep},
    {"glossary", .kind = HEED_OPTION_TEXT, FIELD(glossary), .value = "FILE.tsv",
     .help = "terms and their translations, which must be used: a term a line, TAB, translation; - "
             "keeps the term, and further translations may follow further TABs",
     .set = set_glossary},
    {"memory", .kind = HEED_OPTION_TEXT, FIELD(memory_file), .value = "FILE.tsv",
     .help = "translation memory: a source a line, TAB, its translation. A text that is in it is "
             "answered by it, and others are translated in its words where they are like it",
     .set = set_memory},
    {"memory-cache", .kind = HEED_OPTION_YES_NO, FIELD(memory_is_kept), .initial = "yes",
     .help =
         "keep what remembered sentences make of the model in a file beside the memory, "
         "FILE.tsv.NUMBER.steps, so that the next run is faster; it may be deleted at any time"},
    {"memory-sentences", .kind = HEED_OPTION_INT, FIELD(memory_sentences), .initial = "16",
     .value = "N", .least = 1, .most = 64,
     .help = "remembered sentences most like a sentence that are looked at"},
    {"memory-neighbours", .kind = HEED_OPTION_INT, FIELD(memory_neighbours), .initial = "8",
     .value = "N", .least = 1, .most = 64,
     .help = "nearest remembered steps that have a say in the next word"},
    {"memory-share", .kind = HEED_OPTION_FLOAT, FIELD(memory_share), .initial = "0.9", .value = "X",
     .least = 0, .most = 0.999,
     .help = "how much they say where one of them is the very same step, 0 to 1"},
    {"memory-temperature", .kind = HEED_OPTION_FLOAT, FIELD(memory_temperature), .initial = "0.2",
     .value = "X", .least = 1e-4, .most = 1e3,
     .help = "how much less those count that are further away: the higher, the more alike"},
    {"memory-reach", .kind = HEED_OPTION_FLOAT, FIELD(memory_reach), .initial = "2", .value = "X",
     .least = 1e-4, .most = 1e3,
     .help = "distance of the nearest from which on they say nothing; 1 is how far remembered "
             "steps are from their middle"},
    {"memory-from", .kind = HEED_OPTION_TEXT, FIELD(memory_from), .value = "LANG",
     .flags = HEED_OPTION_PROGRAM,
     .help = "language that the memory is asked for, of a model that does not say its own"},
    {"memory-to", .kind = HEED_OPTION_TEXT, FIELD(memory_to), .value = "LANG",
     .flags = HEED_OPTION_PROGRAM, .help = "and the language that it is translated to"},
    {"markup", .kind = HEED_OPTION_CHOICE, FIELD(markup), .initial = "none",
     .choices = "none|html|xml|auto",
     .help = "a text has tags: what is between them is translated, and they are put back where "
             "their words are; auto, which heed translate takes by itself: HTML where a line has "
             "tags of HTML and all their ends"},
    {"min-confidence", .kind = HEED_OPTION_FLOAT, FIELD(min_confidence), .initial = "0",
     .value = "X", .least = 0, .most = 1,
     .help = "leave a text as it is where its translation's confidence is less than X, 0 to 1"},
    {"max-length", .kind = HEED_OPTION_FLOAT, FIELD(max_length), .initial = "3", .value = "X",
     .least = 0.01, .most = 1000, .help = "longest output: X subwords per source subword, plus 50"},
    {"max-source", .kind = HEED_OPTION_INT, FIELD(max_source), .initial = "0", .value = "N",
     .least = 0, .most = 1 << 24, .default_help = "what the model was trained for",
     .help = "longest source in subwords; a longer sentence is cut into parts"},
    {"split", .kind = HEED_OPTION_CHOICE, FIELD(split), .initial = "auto", .choices = "auto|never",
     .default_help = "auto: yes, unless the model was trained on whole documents",
     .help = "translate a text sentence by sentence; never cuts only what is longer than "
             "max-source"},
    {"attention", .kind = HEED_OPTION_CHOICE, FIELD(attention), .initial = "cross",
     .choices = "none|cross|encoder|decoder", .group = "Attention",
     .help = "which attention to report: of the decoder on the source, or self-attention of a "
             "Transformer"},
    {"scores", .kind = HEED_OPTION_YES_NO, FIELD(has_scores), .initial = "yes",
     .flags = HEED_OPTION_PROGRAM,
     .help = "log-probabilities, scores and confidence; greedy search is faster without"},
    {"layer", .kind = HEED_OPTION_INT, FIELD(layer), .initial = "0", .value = "N", .least = 0,
     .most = 1 << 20, .default_help = "the model's alignment layer",
     .help = "layer whose attention is reported, from 1"},
    {"head", .kind = HEED_OPTION_TEXT, FIELD(head), .initial = "mean", .value = "N|mean",
     .takes = "a whole number from 0, or mean", .help = "attention head to report, from 0",
     .set = set_head, .print = print_head},
    {"shift", .kind = HEED_OPTION_CHOICE, FIELD(shift), .initial = "auto", .choices = "auto|0|1",
     .default_help = "as suits the model",
     .help = "report the attention of the step that produces a word (0) or of the next one, which "
             "reads it (1)"},
    {"batch", .kind = HEED_OPTION_INT, FIELD(batch), .initial = "24", .value = "N", .least = 1,
     .most = 100000, .group = "Running",
     .help = "sentences that a thread translates at a time; does not change results"},
    {"threads", 'j', .kind = HEED_OPTION_INT, FIELD(n_threads), .initial = "0", .value = "N",
     .least = 0, .most = 4096, .default_help = "all cores",
     .help = "number of threads; does not change results"},
    {"compute", .kind = HEED_OPTION_CHOICE, FIELD(compute), .initial = "stored",
     .choices = HD_COMPUTE_NAMES,
     .help = "matrix products in the precision of the model file, in 32-bit floats, in bf16, which "
             "needs less memory, or in 8 bits, which is faster"},
    {0},
};

const heed_option *heed_translator_option_at(int i)
{
    enum { N = sizeof rows / sizeof *rows - 1 };
    return i >= 0 && i < N ? &rows[i] : NULL;
}

/* ---- options --------------------------------------------------------------------------------------- */

bool hd_translate_options_init(heed_options *o, heed_error *err)
{
    *o = (heed_options){0};
    return heed_option_defaults(rows, o, err);
}

bool hd_translate_options_copy(heed_options *copy, const heed_options *o, heed_error *err)
{
    *copy = *o;
    copy->terms = hd_shared_glossary_join(o->terms);
    copy->memory = hd_shared_memory_join(o->memory);
    copy->memory_file = o->memory_file ? hd_copy_string(o->memory_file, err) : NULL;
    copy->memory_from = o->memory_from ? hd_copy_string(o->memory_from, err) : NULL;
    copy->memory_to = o->memory_to ? hd_copy_string(o->memory_to, err) : NULL;
    copy->prefix = o->prefix ? hd_copy_string(o->prefix, err) : NULL;
    copy->from = o->from ? hd_copy_string(o->from, err) : NULL;
    copy->to = o->to ? hd_copy_string(o->to, err) : NULL;
    copy->force = o->force ? hd_copy_string(o->force, err) : NULL;
    copy->target = o->target ? hd_copy_string(o->target, err) : NULL;
    copy->glossary = o->glossary ? hd_copy_string(o->glossary, err) : NULL;
    copy->keep = (heed_option_list){0};
    bool ok = (!o->prefix || copy->prefix) && (!o->from || copy->from) && (!o->to || copy->to) &&
              (!o->target || copy->target) && (!o->glossary || copy->glossary) &&
              (!o->memory_file || copy->memory_file) && (!o->memory_from || copy->memory_from) &&
              (!o->memory_to || copy->memory_to) && (!o->force || copy->force);
    for (size_t i = 0; ok && i < o->keep.n; i++)
        ok = heed_option_set_by_kind(heed_option_find(rows, "keep"), copy, o->keep.at[i], err);
    if (!ok)
        hd_translate_options_release(copy);
    return ok;
}

void hd_translate_options_release(heed_options *o)
{
    heed_option_release(rows, o);
    hd_shared_glossary_leave(o->terms);
    hd_shared_memory_leave(o->memory);
    o->terms = NULL;
    o->memory = NULL;
}

bool hd_translate_options_set(heed_options *o, const char *name, const char *value, heed_error *err)
{
    if (!hd_is_given(name, "name of an option", err) || !hd_is_given(value, "value", err))
        return false;
    return heed_option_set_named(rows, o, name, value, err);
}

bool heed_options_set(heed_options *options, const char *name, const char *value, heed_error *err)
{
    if (!hd_is_given(options, "set of options", err))
        return false;
    return hd_translate_options_set(options, name, value, err);
}

void heed_options_watch(heed_options *options,
                        void (*tell)(void *context, const heed_progress *progress), void *context)
{
    if (!options)
        return;
    options->tell = tell;
    options->tell_context = context;
}

void heed_options_free(heed_options *options)
{
    if (options)
        hd_translate_options_release(options);
    hd_free(options);
}
