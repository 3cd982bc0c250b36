/* run_text.c -- from the files that the user named to the text of a run. */
#include "train/run_text.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "exchange/pairs.h"
#include "text/clean.h"
#include "train/run_vectors.h"

#include <stdio.h>
#include <string.h>

/* ---- files --------------------------------------------------------------------------------------- */

const char *hd_pair_path(const char *pair)
{
    const char *equals = strchr(pair, '=');
    return equals ? equals + 1 : pair;
}

/* What a text is made of: one of the three ways has files. */
struct named {
    const char *what; /* for people */
    const heed_option_list *src, *tgt, *tsv, *pair;
    const struct hd_line_set *exclude;
};

/* The files of both sides: paths, folders as what is in them, and the two parts of "en-fr=FILE". */
struct pair_files {
    struct hd_paths paths;
    const char **directions; /* [paths]; NULL: they are not named */
    char *memory;            /* of the directions */
};

static void release_pair_files(struct pair_files *files)
{
    hd_paths_release(&files->paths);
    hd_free(files->directions);
    hd_free(files->memory);
}

/* A file or a folder, of these languages. */
static bool add_files(struct pair_files *files, const char *path, const char *direction,
                      heed_error *err)
{
    const size_t before = files->paths.n;
    size_t capacity = before;
    if (!hd_paths_add(&files->paths, path, err))
        return false;
    const char **grown = hd_grow(files->directions, &capacity, files->paths.n, sizeof *grown, err);
    if (!grown)
        return false;
    files->directions = grown;
    for (size_t i = before; i < files->paths.n; i++)
        grown[i] = direction;
    return true;
}

static bool split_pairs(struct pair_files *files, const heed_option_list *pairs, heed_error *err)
{
    size_t size = 1;
    for (size_t i = 0; i < pairs->n; i++)
        size += strlen(pairs->at[i]) + 1;
    char *at = files->memory = hd_alloc(size, 1, err);
    if (!at)
        return false;
    for (size_t i = 0; i < pairs->n; i++) {
        const char *path = hd_pair_path(pairs->at[i]);
        if (path == pairs->at[i] || !*path)
            return hd_fail(err, HEED_BAD_OPTION,
                           "a pair is two languages and a file, en-fr=FILE.tsv, not %s",
                           hd_quote(pairs->at[i]).text);
        const size_t n = (size_t)(path - pairs->at[i]) - 1;
        memcpy(at, pairs->at[i], n);
        if (!add_files(files, path, at, err))
            return false;
        at += n + 1;
    }
    return true;
}

/* Files without languages, or of those that --languages names. */
static bool list_files(struct pair_files *files, const heed_option_list *paths, heed_error *err)
{
    for (size_t i = 0; i < paths->n; i++)
        if (!add_files(files, paths->at[i], NULL, err))
            return false;
    return true;
}

/* ---- files of other kinds ------------------------------------------------------------------------ */

static bool is_other(void *context, const char *path)
{
    const struct hd_recipe *r = context;
    return hd_pairs_format((enum hd_pair_format)r->format, path) != HD_PAIRS_TSV;
}

static bool convert(void *context, const char *path, const struct hd_direction *direction, int fd,
                    size_t *n_unpaired, heed_error *err)
{
    const struct hd_recipe *r = context;
    struct hd_pair_counts counts = {0};
    struct hd_direction named;
    if (!direction && r->languages &&
        hd_direction_read(&named, (struct hd_text){r->languages, strlen(r->languages)}))
        direction = &named;
    const bool ok = hd_pairs_convert(hd_pairs_format((enum hd_pair_format)r->format, path), path,
                                     direction, fd, &counts, err);
    *n_unpaired = counts.n_unpaired;
    return ok;
}

struct reading {
    struct hd_journal *journal;
    const char *what;
};

static bool show_reading(void *context, double share)
{
    const struct reading *r = context;
    heed_training_event event = {.news = HEED_TRAINING_PREPARES, .text = r->what, .share = share};
    return hd_journal_tell(r->journal, &event, NULL);
}

static void tell_left_out(struct hd_run *run, const char *what, const struct hd_corpus *corpus)
{
    const struct hd_corpus_counts *counts = hd_corpus_counts(corpus);
    char *left_out = hd_corpus_left_out(corpus, NULL);
    if (left_out && *left_out)
        hd_journal_say(&run->journal, "%s: %s", what, left_out);
    hd_free(left_out);
    if (counts->n_unpaired > 0)
        hd_journal_say(&run->journal,
                       "%s: %zu entries have no translation, a fuzzy one or none in these "
                       "languages, and are left out",
                       what, counts->n_unpaired);
    if (run->recipe->exclude.n > 0 && corpus == run->text)
        hd_journal_say(&run->journal,
                       "%s: %zu of %zu pairs are left out, since a side of them is in the excluded "
                       "files",
                       what, counts->n_excluded, counts->n_lines);
}

static struct hd_corpus *open_text(struct hd_run *run, const struct named *named, heed_error *err)
{
    struct reading reading = {&run->journal, named->what};
    const bool is_pairs = named->pair->n > 0, is_tsv = is_pairs || named->tsv->n > 0,
               is_alone = hd_training_task(run->said) == HD_TASK_LANGUAGE_MODEL;
    /* A language model's lines are both sides of their pairs; the source is not looked at. */
    const heed_option_list *source = is_alone ? named->tgt : named->src;
    struct pair_files both = {0};
    char spool[4096];
    snprintf(spool, sizeof spool, run->ranks.n > 1 ? "%s.rank-%d" : "%s", run->recipe->out,
             run->ranks.rank);
    const struct hd_corpus_converter converter = {is_other, convert, run->recipe};
    const struct hd_corpus_options options = {.spool = spool,
                                              .converter = &converter,
                                              .skip_bad = run->recipe->skip_bad,
                                              .exclude = named->exclude,
                                              .progress = show_reading,
                                              .context = &reading};
    struct hd_corpus *corpus = NULL;
    if (!is_tsv ||
        (is_pairs ? split_pairs(&both, named->pair, err) : list_files(&both, named->tsv, err))) {
        const struct hd_corpus_files files = {
            .source = (const char *const *)(is_tsv ? both.paths.at : source->at),
            .target = is_tsv ? NULL : (const char *const *)named->tgt->at,
            .n_source = (int)(is_tsv ? both.paths.n : source->n),
            .n_target = is_tsv ? 0 : (int)named->tgt->n,
            .is_tsv = is_tsv,
            .has_questions = hd_training_task(run->said) == HD_TASK_SPAN,
            .directions = is_pairs ? both.directions : NULL};
        corpus = hd_corpus_open(&files, &options, err);
    }
    release_pair_files(&both);
    return corpus;
}

/* ---- checks -------------------------------------------------------------------------------------- */

/* How often standard input is named. */
static int count_stdin(const struct hd_recipe *r)
{
    int n_named = 0;
    const heed_option_list *lists[] = {&r->src,     &r->tgt,      &r->tsv,
                                       &r->dev_src, &r->dev_tgt,  &r->dev_tsv,
                                       &r->pair,    &r->dev_pair, &r->exclude};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < lists[i]->n; k++) {
            const bool is_pair = lists[i] == &r->pair || lists[i] == &r->dev_pair;
            n_named += strcmp(is_pair ? hd_pair_path(lists[i]->at[k]) : lists[i]->at[k], "-") == 0;
        }
    return n_named;
}

/* A language model reads text of one side. */
static bool check_text_alone(const struct hd_recipe *r, heed_error *err)
{
    if (r->src.n + r->tsv.n + r->pair.n + r->dev_src.n + r->dev_tsv.n + r->dev_pair.n > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a language model has no source: name its text with --tgt, and that for "
                       "validation with --dev-tgt");
    if (r->tgt.n == 0)
        return hd_fail(err, HEED_BAD_OPTION, "there is no text: name it with --tgt");
    if (count_stdin(r) > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a language model does not learn from standard input (-); put the text "
                       "into a file");
    return true;
}

static bool is_of_spans(const struct hd_run *run)
{
    return hd_training_task(run->said) == HD_TASK_SPAN;
}

static bool check_files(const struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    if (count_stdin(r) > 1)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "standard input (-) can be read only once; put one of the texts into a file");
    if (run->ranks.n > 1 && count_stdin(r) > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "standard input reaches one of the %d ranks only; put the text into a file",
                       run->ranks.n);
    if (hd_training_task(run->said) == HD_TASK_LANGUAGE_MODEL)
        return check_text_alone(r, err);
    if (hd_training_task(run->said) != HD_TASK_TRANSLATE && r->tsv.n + r->src.n + r->tgt.n == 0)
        return hd_fail(err, HEED_BAD_OPTION, "there is no text: name it with --tsv, lines of %s",
                       is_of_spans(run) ? "document, TAB, question, TAB, answer"
                                        : "text, TAB, label");
    if (is_of_spans(run) && r->src.n + r->tgt.n + r->dev_src.n + r->dev_tgt.n > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "task span reads document, question and answer from one file: name it with "
                       "--tsv, and that for validation with --dev-tsv");
    if (r->tsv.n + r->pair.n == 0 && (r->src.n == 0 || r->tgt.n == 0))
        return hd_fail(err, HEED_BAD_OPTION,
                       "there is no text: name it with --src and --tgt, or with --tsv");
    if (r->pair.n > 0 && r->tsv.n + r->src.n + r->tgt.n > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "pair is given and tsv, src or tgt as well; choose one way");
    if (r->tsv.n > 0 && r->src.n + r->tgt.n > 0)
        return hd_fail(err, HEED_BAD_OPTION, "tsv is given and src or tgt as well; choose one way");
    if ((r->dev_src.n > 0) != (r->dev_tgt.n > 0))
        return hd_fail(err, HEED_BAD_OPTION, "dev-src and dev-tgt go together; one is missing");
    if ((r->dev_tsv.n > 0) + (r->dev_src.n > 0) + (r->dev_pair.n > 0) > 1)
        return hd_fail(err, HEED_BAD_OPTION, "%s is given and %s as well; choose one way",
                       r->dev_tsv.n > 0 ? "dev-tsv" : "dev-pair",
                       r->dev_src.n > 0 ? "dev-src" : "dev-pair");
    return true;
}

/* Without dev text some pairs are held out: there must be enough, and no direction may learn what another is asked. */
static bool can_hold_out(const struct hd_run *run, heed_error *err)
{
    if (hd_corpus_n_directions(run->text) > 1)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "with several languages validation text must be named, with --dev-pair or "
            "--dev-tsv, since a pair that is held out may be there in another direction");
    return run->facts.n_pairs >= HD_HOLD_OUT ||
           hd_fail(err, HEED_BAD_OPTION,
                   "there are only %zu pairs, too few to hold some out for validation; give "
                   "--dev-src and --dev-tgt, or --dev-tsv",
                   run->facts.n_pairs);
}

/* Validation asks only for what can be learned here, or could before. */
static bool check_dev_languages(const struct hd_run *run, heed_error *err)
{
    const int n = hd_corpus_n_directions(run->text), n_dev = hd_corpus_n_directions(run->dev_text);
    if (n > 1 && n_dev == 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "the text is of several languages, and those of the dev text are not named; "
                       "name them with --dev-pair en-fr=FILE.tsv");
    for (int i = 0; n > 1 && !run->recipe->from && i < n_dev; i++) {
        const struct hd_direction *d = hd_corpus_direction(run->dev_text, i);
        int k = 0;
        while (k < n && strcmp(hd_corpus_direction(run->text, k)->to, d->to) != 0)
            k++;
        if (k == n)
            return hd_fail(err, HEED_BAD_OPTION,
                           "dev text of %s-%s cannot be validated on: no text becomes %s", d->from,
                           d->to, d->to);
    }
    return true;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void tell_directions(struct hd_run *run)
{
    enum { MOST_TOLD = 20 };
    const int n = hd_corpus_n_directions(run->text);
    char text[1024] = "";
    size_t counts[MOST_TOLD] = {0}, at = 0;
    if (n < 2 || n > MOST_TOLD)
        return;
    for (size_t i = 0; i < run->facts.n_pairs; i++)
        counts[hd_corpus_pair(run->text, i).direction]++;
    for (int i = 0; i < n; i++) {
        const struct hd_direction *d = hd_corpus_direction(run->text, i);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s-%s %zu", i ? ", " : "", d->from,
                               d->to, counts[i]);
    }
    hd_journal_say(&run->journal, "languages: %s pairs; sampled at temperature %g", text,
                   (double)run->recipe->pair_temperature);
}

/* Leave out what teaches little, as was asked for. */
static bool clean_text(struct hd_run *run, heed_error *err)
{
    const heed_option_list *clean = &run->recipe->clean;
    bool rules[HD_N_CLEAN_RULES] = {0};
    size_t counts[HD_N_CLEAN_RULES], before = hd_corpus_size(run->text);
    char told[300];
    for (size_t i = 0; i < clean->n; i++) {
        const int rule = hd_clean_rule_named(clean->at[i]);
        for (int r = 0; r < HD_N_CLEAN_RULES; r++)
            rules[r] = rules[r] || rule == r || rule == HD_N_CLEAN_RULES;
    }
    if (clean->n == 0)
        return true;
    if (!hd_clean_corpus(run->text, rules, counts, err))
        return false;
    hd_clean_tell(counts, told, sizeof told);
    hd_journal_say(&run->journal, "cleaning: %zu of %zu pairs are left out%s%s",
                   before - hd_corpus_size(run->text), before, told[0] ? ": " : "", told);
    return true;
}

static bool check_clean(const struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    if (r->clean.n > 0 &&
        (hd_run_has_vectors(run) || hd_training_task(run->said) != HD_TASK_TRANSLATE))
        return hd_fail(err, HEED_BAD_OPTION,
                       "clean looks at sentences and their translations, and cannot be used with "
                       "this task");
    for (size_t i = 0; i < r->clean.n; i++)
        if (hd_clean_rule_named(r->clean.at[i]) < 0)
            return hd_fail(err, HEED_BAD_OPTION,
                           "clean must be some of duplicates, length, language, same, numbers, or "
                           "all, not %s",
                           hd_quote(r->clean.at[i]).text);
    return true;
}

bool hd_run_read_text(struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    struct hd_line_set *exclude = NULL;
    if (!check_files(run, err) || !check_clean(run, err) ||
        (hd_run_has_vectors(run) && !hd_run_open_vectors(run, err)))
        return false;
    if (r->exclude.n > 0 &&
        !(exclude = hd_line_set_read((const char *const *)r->exclude.at, r->exclude.n, err)))
        return false;
    /* Vectors are beside the text, and both sides of it their targets. */
    const bool has_vectors = hd_run_has_vectors(run);
    const heed_option_list *src = has_vectors ? &r->tgt : &r->src,
                           *dev_src = has_vectors ? &r->dev_tgt : &r->dev_src;
    const struct named text = {"reading the text", src, &r->tgt, &r->tsv, &r->pair, exclude};
    run->text = open_text(run, &text, err);
    hd_line_set_free(exclude);
    if (!run->text)
        return false;
    tell_left_out(run, text.what, run->text);
    if (!clean_text(run, err))
        return false;
    run->facts = hd_text_facts_of(run->text);
    run->fingerprint = hd_corpus_fingerprint(run->text);
    tell_directions(run);
    if (has_vectors)
        run->fingerprint = run->fingerprint * 31 + hd_vectors_fingerprint(&run->vectors);
    if (r->dev_src.n + r->dev_tgt.n + r->dev_tsv.n + r->dev_pair.n == 0)
        return can_hold_out(run, err) && (!has_vectors || hd_run_check_vectors(run, err));
    const struct named dev = {"reading the dev text", dev_src, &r->dev_tgt, &r->dev_tsv,
                              &r->dev_pair,           NULL};
    run->dev_text = open_text(run, &dev, err);
    if (!run->dev_text)
        return false;
    tell_left_out(run, dev.what, run->dev_text);
    run->fingerprint = run->fingerprint * 31 + hd_corpus_fingerprint(run->dev_text);
    return check_dev_languages(run, err) && (!has_vectors || hd_run_check_vectors(run, err));
}

/* ---- languages ----------------------------------------------------------------------------------- */

/* Every target language of a text has its symbol. */
static bool has_symbols(const struct hd_vocab *vocab, const struct hd_corpus *text, heed_error *err)
{
    for (int i = 0; i < hd_corpus_n_directions(text); i++) {
        const struct hd_direction *d = hd_corpus_direction(text, i);
        if (hd_vocab_language(vocab, d->to) < 0)
            return hd_fail(err, HEED_BAD_OPTION,
                           "the vocabulary has no symbol <2%s>, which sources that are to become "
                           "%s begin with; it was not made for %s-%s",
                           d->to, d->to, d->from, d->to);
    }
    return true;
}

bool hd_run_check_languages(const struct hd_run *run, const struct hd_vocab *source,
                            heed_error *err)
{
    bool is_multilingual = hd_corpus_n_directions(run->text) > 1;
    size_t n;
    for (int i = 0; !is_multilingual && i < hd_vocab_size(source); i++)
        is_multilingual = hd_vocab_language_of(source, i, &n) != NULL;
    if (!is_multilingual)
        return true;
    if (hd_corpus_n_directions(run->text) == 0 ||
        (run->dev_text && hd_corpus_n_directions(run->dev_text) == 0))
        return hd_fail(err, HEED_BAD_OPTION,
                       "the model is one of several languages, and those of the %stext are not "
                       "named; name them with --%spair en-fr=FILE.tsv",
                       hd_corpus_n_directions(run->text) == 0 ? "" : "dev ",
                       hd_corpus_n_directions(run->text) == 0 ? "" : "dev-");
    return has_symbols(source, run->text, err) &&
           (!run->dev_text || has_symbols(source, run->dev_text, err));
}
