/* run_links.c -- links of the training text.
 *
 * Of files each text has its own, in the same order; a text that is named again for the other direction has the same links, turned
 * round. Our own aligner learns two languages at once, whichever is the source, and finds the same links at every start of a run, so they
 * are not kept. */
#include "train/run_links.h"

#include "align/aligner.h"
#include "base/error.h"
#include "base/memory.h"
#include "train/run_text.h"

#include <string.h>

/* ---- from files ------------------------------------------------------------------------------------ */

/* The files of the text: of --pair, --tsv, or --src. */
static const heed_option_list *text_files(const struct hd_recipe *r)
{
    return r->pair.n > 0 ? &r->pair : r->tsv.n > 0 ? &r->tsv : &r->src;
}

/* The first file of the same name: pairs of a text that is named twice have the same links. */
static size_t first_same(const heed_option_list *files, size_t i)
{
    size_t first = 0;
    while (strcmp(hd_pair_path(files->at[first]), hd_pair_path(files->at[i])) != 0)
        first++;
    return first;
}

/* Is pair i of a text that is named with its languages turned round? */
static bool is_turned(const struct hd_run *run, const heed_option_list *files, size_t file)
{
    const size_t first = first_same(files, file);
    if (run->recipe->pair.n == 0 || first == file)
        return false;
    const char *a = files->at[first], *b = files->at[file];
    const size_t n_a = strcspn(a, "-="), n_b = strcspn(b, "-=");
    return n_a != n_b || memcmp(a, b, n_a) != 0;
}

struct links_files {
    const heed_option_list *texts, *paths;
    struct hd_link_lists *lists; /* [paths->n] */
    size_t *of_text;             /* [texts->n]: which of the lists */
};

static bool read_files(const struct hd_run *run, struct links_files *f, heed_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < f->texts->n; i++)
        f->of_text[i] = first_same(f->texts, i) == i ? n++ : f->of_text[first_same(f->texts, i)];
    if (n != f->paths->n)
        return hd_fail(err, HEED_BAD_OPTION,
                       "there are %zu different files of text and %zu of links; guided-alignment "
                       "wants one for each, in the same order",
                       n, f->paths->n);
    for (size_t i = 0; i < n; i++)
        if (!hd_link_lists_read(&f->lists[i], f->paths->at[i], err))
            return false;
    for (size_t i = 0; i < f->texts->n; i++) {
        const size_t has = f->lists[f->of_text[i]].n,
                     wants = hd_corpus_file_lines(run->text, (int)i);
        if (has != wants)
            return hd_fail(
                err, HEED_BAD_TEXT,
                "%s has %zu line%s, but the text %s has %zu; links are told line by line",
                f->paths->at[f->of_text[i]], has, has == 1 ? "" : "s",
                hd_pair_path(f->texts->at[i]), wants);
    }
    return true;
}

/* The links of pair i, checked. */
static bool take_links(struct hd_run *run, const struct links_files *f, size_t i, heed_error *err)
{
    const struct hd_text_pair pair = hd_corpus_pair(run->text, i);
    int file;
    size_t n;
    const size_t line = hd_corpus_line(run->text, i, &file), list = f->of_text[file];
    const struct hd_word_link *links = hd_link_list(&f->lists[list], line, &n);
    const bool turned = is_turned(run, f->texts, (size_t)file);
    const size_t n_source = hd_count_words((struct hd_text){pair.source, pair.n_source},
                                           pair.n_source, false),
                 n_target = hd_count_words((struct hd_text){pair.target, pair.n_target},
                                           pair.n_target, false);
    if (!hd_link_lists_next(&run->links, err))
        return false;
    for (size_t k = 0; k < n; k++) {
        const struct hd_word_link link =
            turned ? (struct hd_word_link){links[k].target, links[k].source} : links[k];
        if (link.source >= n_source || link.target >= n_target)
            return hd_fail(err, HEED_BAD_TEXT,
                           "%s:%zu: link %d-%d, but the pair has %zu and %zu words, counted from 0",
                           f->paths->at[list], line + 1, links[k].source, links[k].target,
                           turned ? n_target : n_source, turned ? n_source : n_target);
        if (!hd_link_lists_add(&run->links, link, err))
            return false;
    }
    return true;
}

static bool links_from_files(struct hd_run *run, heed_error *err)
{
    struct links_files f = {.texts = text_files(run->recipe),
                            .paths = &run->recipe->guided_alignment};
    f.lists = hd_alloc(f.paths->n, sizeof *f.lists, err);
    f.of_text = hd_alloc(f.texts->n, sizeof *f.of_text, err);
    bool ok = f.lists && f.of_text && read_files(run, &f, err);
    for (size_t i = 0; ok && i < hd_corpus_size(run->text); i++)
        ok = take_links(run, &f, i, err);
    for (size_t i = 0; f.lists && i < f.paths->n; i++)
        hd_link_lists_release(&f.lists[i]);
    hd_free(f.lists);
    hd_free(f.of_text);
    return ok;
}

/* ---- by our own aligner ------------------------------------------------------------------------------ */

/* Pairs of two languages, the first of which is always the source. */
struct members {
    const struct hd_corpus *text;
    size_t *at; /* pairs */
    bool *is_turned;
    size_t n;
};

static void member_at(const void *context, size_t i, struct hd_text sides[2])
{
    const struct members *m = context;
    const struct hd_text_pair pair = hd_corpus_pair(m->text, m->at[i]);
    sides[m->is_turned[i]] = (struct hd_text){pair.source, pair.n_source};
    sides[!m->is_turned[i]] = (struct hd_text){pair.target, pair.n_target};
}

/* The direction whose languages are these, in either order: the first such. */
static int first_direction(const struct hd_corpus *text, int direction, bool *turned)
{
    const struct hd_direction *d = hd_corpus_direction(text, direction);
    *turned = false;
    for (int i = 0; d && i < direction; i++) {
        const struct hd_direction *other = hd_corpus_direction(text, i);
        *turned = strcmp(other->from, d->to) == 0 && strcmp(other->to, d->from) == 0;
        if (*turned || (strcmp(other->from, d->from) == 0 && strcmp(other->to, d->to) == 0))
            return i;
    }
    return direction;
}

static bool show_aligning(void *context, size_t n_done, size_t n)
{
    struct hd_journal *journal = context;
    heed_training_event event = {.news = HEED_TRAINING_PREPARES,
                                 .text = "aligning the text",
                                 .share = n > 0 ? (double)n_done / (double)n : 0};
    return hd_journal_tell(journal, &event, NULL);
}

/* Does the text have every pair in both directions, one after the other? Then one of them is enough to learn from. */
static size_t n_to_learn(const struct members *m)
{
    const size_t half = m->n / 2;
    if (m->n % 2 != 0 || half == 0)
        return m->n;
    for (size_t i = 0; i < half; i += half / 64 + 1) {
        struct hd_text a[2], b[2];
        member_at(m, i, a);
        member_at(m, half + i, b);
        for (int k = 0; k < 2; k++)
            if (m->is_turned[i] == m->is_turned[half + i] || a[k].n != b[k].n ||
                memcmp(a[k].at, b[k].at, a[k].n) != 0)
                return m->n;
    }
    return half;
}

/* Align the pairs of one pair of languages; *found has them in the order of the members. */
static bool align_members(struct hd_run *run, const struct members *m, struct hd_link_lists *found,
                          heed_error *err)
{
    const struct hd_align_work work = {run->threads, show_aligning, &run->journal};
    const struct hd_pair_source all = {m->n, member_at, m}, learned = {n_to_learn(m), member_at, m};
    struct hd_aligner *aligner = hd_aligner_learn(&learned, &work, err);
    const bool ok = aligner && hd_aligner_links(aligner, &all, HEED_SYMMETRY_GROW_DIAG_FINAL, &work,
                                                found, err);
    hd_aligner_free(aligner);
    return ok;
}

/* Links of all directions, by the pair's number: where they are in `found` of its languages. */
struct own_links {
    struct hd_link_lists *found; /* [directions] */
    size_t *number;              /* [pairs] */
    struct members members;
};

static bool find_own(struct hd_run *run, struct own_links *own, heed_error *err)
{
    const size_t n = hd_corpus_size(run->text);
    const int n_named = hd_corpus_n_directions(run->text), n_directions = n_named > 0 ? n_named : 1;
    for (int d = 0; d < n_directions; d++) {
        struct members *m = &own->members;
        bool turned;
        m->n = 0;
        if (first_direction(run->text, d, &turned) != d)
            continue;
        for (size_t i = 0; i < n; i++) {
            const int direction = hd_corpus_pair(run->text, i).direction;
            if (first_direction(run->text, direction, &turned) != d)
                continue;
            own->number[i] = m->n;
            m->is_turned[m->n] = turned;
            m->at[m->n++] = i;
        }
        if (m->n > 0 && !align_members(run, m, &own->found[d], err))
            return false;
    }
    return true;
}

static bool collect_own(struct hd_run *run, const struct own_links *own, heed_error *err)
{
    for (size_t i = 0; i < hd_corpus_size(run->text); i++) {
        bool turned;
        size_t n;
        const int d = first_direction(run->text, hd_corpus_pair(run->text, i).direction, &turned);
        const struct hd_word_link *links = hd_link_list(&own->found[d], own->number[i], &n);
        if (!hd_link_lists_next(&run->links, err))
            return false;
        for (size_t k = 0; k < n; k++) {
            const struct hd_word_link link =
                turned ? (struct hd_word_link){links[k].target, links[k].source} : links[k];
            if (!hd_link_lists_add(&run->links, link, err))
                return false;
        }
    }
    return true;
}

static bool links_by_aligner(struct hd_run *run, heed_error *err)
{
    const size_t n = hd_corpus_size(run->text);
    const int n_named = hd_corpus_n_directions(run->text), n_directions = n_named > 0 ? n_named : 1;
    struct own_links own = {.members = {.text = run->text}};
    own.found = hd_alloc((size_t)n_directions, sizeof *own.found, err);
    own.number = hd_alloc(n, sizeof *own.number, err);
    own.members.at = hd_alloc(n, sizeof *own.members.at, err);
    own.members.is_turned = hd_alloc(n, sizeof *own.members.is_turned, err);
    const bool ok = own.found && own.number && own.members.at && own.members.is_turned &&
                    find_own(run, &own, err) && collect_own(run, &own, err);
    for (int i = 0; own.found && i < n_directions; i++)
        hd_link_lists_release(&own.found[i]);
    hd_free(own.found);
    hd_free(own.number);
    hd_free(own.members.at);
    hd_free(own.members.is_turned);
    run->links_by_character = true;
    return ok;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

bool hd_run_read_links(struct hd_run *run, heed_error *err)
{
    const heed_option_list *asked = &run->recipe->guided_alignment;
    if (asked->n == 0)
        return true;
    const bool by_aligner = asked->n == 1 && strcmp(asked->at[0], "self") == 0;
    if (!(by_aligner ? links_by_aligner(run, err) : links_from_files(run, err)))
        return false;
    uint64_t hash = run->links.n;
    for (size_t i = 0; i < run->links.n_links; i++)
        hash = (hash ^ (uint64_t)run->links.at[i].source << 16 ^ run->links.at[i].target) *
               0x9E3779B97F4A7C15U;
    run->fingerprint = run->fingerprint * 31 + (hash ^ hash >> 32);
    hd_journal_say(&run->journal, "guided alignment: %.1f links a pair, %s; weight %g",
                   (double)run->links.n_links / (double)run->links.n,
                   by_aligner ? "found by heed's aligner" : "read from files",
                   (double)run->recipe->guided_weight);
    return true;
}
