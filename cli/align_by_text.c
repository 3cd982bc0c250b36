/* align_by_text.c -- `heed align --method hmm`: links that are learned from the text itself. */
#include "align.h"
#include "gold.h"
#include "models.h"
#include "print_result.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct text_run {
    const struct align *a;
    struct align_texts texts;
    heed_lines *more;      /* of --tsv */
    heed_text_pair *pairs; /* those of the two files first */
    size_t n_pairs;
    struct progress progress;
    const char *what; /* is being done */
};

static bool show(void *data, size_t n_done, size_t n)
{
    struct text_run *run = data;
    return progress_share(&run->progress, run->what, n_done, n);
}

/* Lines "source TAB target" become pairs; the TAB is written over. */
static bool add_tsv(struct text_run *run, const heed_lines *lines, const char *path)
{
    for (size_t i = 0; i < lines->n; i++) {
        char *tab = strchr((char *)lines->at[i], '\t');
        if (!tab) {
            complain("%s:%zu: there is no TAB between source and target", path, i + 1);
            return false;
        }
        *tab = 0;
        run->pairs[run->n_pairs++] = (heed_text_pair){lines->at[i], tab + 1};
    }
    return true;
}

static bool read_pairs(struct text_run *run, const struct invocation *invocation)
{
    const heed_option_list *tsv = &run->a->tsv;
    heed_error err = {0};
    if (!align_read(&run->texts, invocation))
        return false;
    size_t n = run->texts.source.n;
    run->more = need_memory(tsv->n + 1, sizeof *run->more);
    for (size_t i = 0; i < tsv->n; i++) {
        if (!heed_lines_read(&run->more[i], tsv->at[i], &err)) {
            complain("%s", err.message);
            return false;
        }
        n += run->more[i].n;
    }
    run->pairs = need_memory(n + 1, sizeof *run->pairs);
    for (size_t i = 0; i < run->texts.source.n; i++)
        run->pairs[run->n_pairs++] =
            (heed_text_pair){run->texts.source.at[i], run->texts.target.at[i]};
    for (size_t i = 0; i < tsv->n; i++)
        if (!add_tsv(run, &run->more[i], tsv->at[i]))
            return false;
    return true;
}

static void print_pair_json(const heed_text_pair *pair, const heed_link *links, size_t n)
{
    fputs("{\"source\": ", stdout);
    print_json_string(stdout, pair->source);
    fputs(", \"target\": ", stdout);
    print_json_string(stdout, pair->target);
    fputs(", \"links\": [", stdout);
    for (size_t i = 0; i < n; i++)
        printf("%s[%d, %d]", i ? ", " : "", links[i].source, links[i].target);
    puts("]}");
}

static bool print_found(struct text_run *run, const heed_alignments *found)
{
    const struct align *a = run->a;
    heed_alignment_quality quality = {0};
    for (size_t i = 0; i < found->n; i++) {
        const heed_link *links = found->links[i];
        const size_t n = found->n_links[i];
        if (a->gold) {
            if (!judge_links(&quality, links, n, run->texts.gold.at[i], a->gold, i + 1))
                return false;
        } else if (a->is_json)
            print_pair_json(&run->pairs[i], links, n);
        else {
            print_links(stdout, links, n);
            putchar('\n');
        }
    }
    if (a->gold)
        print_quality(&quality, a->is_json);
    return true;
}

/* Into the file, or to stdout for "-". */
static bool write_lexicon(struct text_run *run, heed_aligner *aligner, heed_error *err)
{
    const char *path = run->a->lexicon;
    heed_lexicon *lexicon = heed_aligner_lexicon(aligner, run->pairs, run->n_pairs, err);
    progress_clear(&run->progress);
    if (!lexicon) {
        complain("%s", err->message);
        return false;
    }
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    for (size_t i = 0; out && i < lexicon->n; i++) {
        const heed_lexicon_entry *e = &lexicon->at[i];
        fprintf(out, "%s\t%s\t%zu\t%.3f\t%.3f\n", e->source, e->target, e->count, e->p_target,
                e->p_source);
    }
    const bool is_written = out && !ferror(out);
    const bool ok = is_written && (out == stdout || fclose(out) == 0);
    if (!ok)
        complain("%s cannot be written: %s", path, strerror(errno));
    heed_lexicon_free(lexicon);
    return ok;
}

static bool learn_and_print(struct text_run *run, const struct invocation *invocation)
{
    const char *threads = setting_of(invocation, "threads");
    heed_error err = {0};
    heed_aligner_options options = {.size = sizeof options, .watch = show, .context = run};
    options.n_threads = threads ? atoi(threads) : 0;
    progress_begin(&run->progress, run->a->is_quiet);
    if (!read_pairs(run, invocation))
        return false;
    run->what = "learning";
    heed_aligner *aligner = heed_aligner_new(run->pairs, run->n_pairs, &options, &err);
    run->what = "aligning";
    if (aligner && run->a->lexicon) {
        const bool is_written = write_lexicon(run, aligner, &err);
        heed_aligner_free(aligner);
        return is_written;
    }
    heed_alignments *found = aligner ? heed_aligner_align(aligner, run->pairs, run->texts.source.n,
                                                          symmetry_of(run->a), &err)
                                     : NULL;
    progress_clear(&run->progress);
    if (!found)
        complain("%s", err.message);
    const bool ok = found && print_found(run, found);
    heed_alignments_free(found);
    heed_aligner_free(aligner);
    return ok;
}

enum status align_by_text(const struct invocation *invocation)
{
    const struct align *a = invocation->values;
    static const char *const not_here[] = {"model", "reverse", "soft", "subwords", "plot"};
    for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
        if (was_given(invocation, not_here[i])) {
            complain("--method hmm aligns words of text without a model; it does not go with --%s",
                     not_here[i]);
            return STATUS_USAGE;
        }
    if (a->lexicon && (a->gold || a->is_json)) {
        complain("--lexicon writes words instead of links; it does not go with --%s",
                 a->gold ? "gold" : "json");
        return STATUS_USAGE;
    }
    if (!check_settings(invocation))
        return STATUS_USAGE;
    struct text_run run = {.a = a};
    const bool ok = learn_and_print(&run, invocation);
    for (size_t i = 0; run.more && i < a->tsv.n; i++)
        heed_lines_release(&run.more[i]);
    free(run.more);
    free(run.pairs);
    align_release(&run.texts);
    return ok ? STATUS_FINE : STATUS_FAILED;
}
