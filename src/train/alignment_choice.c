/* alignment_choice.c -- every layer, head and step is tried on some pairs, their words given, against links of our own aligner.
 *
 * The aligner learns from the text that the model has learned from. Text, model and file decide alone, so that a run which was stopped and one
 * which was not make the same choice. */
#include "train/alignment_choice.h"

#include "align/aligner.h"
#include "base/error.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum {
    N_TRIED = 200,     /* pairs to look at, */
    LEAST_TRIED = 20,  /* at least, */
    LEAST_WORDS = 2,   /* of so many words on each side, */
    MOST_WORDS = 50,   /* and at most */
    N_LEARNED = 20000, /* pairs that the aligner learns from */
};

static const char CHOICE[] = "alignment_choice"; /* in the record */

/* Pairs of a corpus, the first direction's, spread evenly. */
struct sample {
    const struct hd_corpus *text;
    size_t *at;
    size_t n;
};

static size_t n_words(const char *text, size_t n)
{
    return hd_count_words((struct hd_text){text, n}, n, true);
}

static bool is_usable(const struct hd_text_pair *pair)
{
    const size_t n = n_words(pair->source, pair->n_source),
                 m = n_words(pair->target, pair->n_target);
    return pair->direction == 0 && n >= LEAST_WORDS && n <= MOST_WORDS && m >= LEAST_WORDS &&
           m <= MOST_WORDS;
}

static bool take_sample(struct sample *s, const struct hd_corpus *text, size_t most,
                        heed_error *err)
{
    const size_t size = hd_corpus_size(text), step = size / most + 1;
    s->text = text;
    if (!(s->at = hd_alloc(most, sizeof *s->at, err)))
        return false;
    for (size_t first = 0; first < step && s->n < most; first++)
        for (size_t i = first; i < size && s->n < most; i += step) {
            const struct hd_text_pair pair = hd_corpus_pair(text, i);
            if (is_usable(&pair))
                s->at[s->n++] = i;
        }
    return true;
}

/* Of both samples, those that are tried behind those that are learned from. */
struct samples {
    struct sample learned, tried;
};

static void sampled_at(const void *context, size_t i, struct hd_text sides[2])
{
    const struct samples *s = context;
    const bool is_tried = i >= s->learned.n;
    const struct sample *from = is_tried ? &s->tried : &s->learned;
    const struct hd_text_pair pair =
        hd_corpus_pair(from->text, from->at[is_tried ? i - s->learned.n : i]);
    sides[0] = (struct hd_text){pair.source, pair.n_source};
    sides[1] = (struct hd_text){pair.target, pair.n_target};
}

static void tried_at(const void *context, size_t i, struct hd_text sides[2])
{
    const struct samples *s = context;
    sampled_at(s, s->learned.n + i, sides);
}

/* ---- links ------------------------------------------------------------------------------------------ */

/* What the aligner finds in both directions is sure, what joining them adds is possible: as people mark links. */
struct own_links {
    struct hd_link_lists sure, possible;
};

static bool show(void *journal, size_t n_done, size_t n)
{
    heed_training_event event = {.news = HEED_TRAINING_PREPARES,
                                 .text = "finding out how links are read",
                                 .share = n > 0 ? (double)n_done / (double)n : 0};
    return hd_journal_tell(journal, &event, NULL);
}

static bool find_links(struct hd_run *run, const struct samples *s, struct own_links *links,
                       heed_error *err)
{
    const struct hd_align_work work = {run->threads, show, &run->journal};
    const struct hd_pair_source all = {s->learned.n + s->tried.n, sampled_at, s},
                                tried = {s->tried.n, tried_at, s};
    struct hd_aligner *aligner = hd_aligner_learn(&all, &work, err);
    const bool ok =
        aligner &&
        hd_aligner_links(aligner, &tried, HEED_SYMMETRY_INTERSECT, &work, &links->sure, err) &&
        hd_aligner_links(aligner, &tried, HEED_SYMMETRY_GROW_DIAG_FINAL, &work, &links->possible,
                         err);
    hd_aligner_free(aligner);
    return ok;
}

/* A way of reading links off the model. head -1: the mean of all. */
struct way {
    int layer, head, shift;
};

static bool set_number(heed_translator *t, const char *name, int number, heed_error *err)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return heed_translator_set(t, name, text, err);
}

static bool has_link(const struct hd_link_lists *lists, size_t i, heed_link link)
{
    size_t n;
    const struct hd_word_link *links = hd_link_list(lists, i, &n);
    for (size_t k = 0; k < n; k++)
        if (links[k].source == link.source && links[k].target == link.target)
            return true;
    return false;
}

/* 1 - AER, as if the aligner's links were people's. */
static double agreement(const heed_results *results, const struct samples *s,
                        const struct own_links *links)
{
    size_t n_both = 0, n_all = 0;
    for (size_t i = 0; i < results->n; i++) {
        const heed_result *r = results->at[i];
        const heed_translation *t = r->n_translations > 0 ? r->translations[0] : NULL;
        struct hd_text sides[2];
        size_t n;
        (void)hd_link_list(&links->sure, i, &n);
        tried_at(s, i, sides);
        /* text without spaces is cut in other ways */
        if (!t || r->n_words != n_words(sides[0].at, sides[0].n) ||
            t->n_words != n_words(sides[1].at, sides[1].n))
            continue;
        for (size_t k = 0; k < t->n_links; k++)
            n_both += (size_t)has_link(&links->sure, i, t->links[k]) +
                      (size_t)has_link(&links->possible, i, t->links[k]);
        n_all += n + t->n_links;
    }
    return n_all > 0 ? (double)n_both / (double)n_all : 0;
}

static bool try_way(heed_translator *t, const struct way *way, const heed_text_pair *pairs,
                    const struct samples *s, const struct own_links *links, double *agrees,
                    heed_error *err)
{
    if (!set_number(t, "layer", way->layer, err) || !set_number(t, "shift", way->shift, err) ||
        !(way->head < 0 ? heed_translator_set(t, "head", "mean", err)
                        : set_number(t, "head", way->head, err)))
        return false;
    heed_results *results = heed_translator_align(t, pairs, s->tried.n, err);
    *agrees = results ? agreement(results, s, links) : 0;
    heed_results_free(results);
    return results != NULL;
}

/* The best of all ways; of equal ones the first, and the model's own before them. */
static bool find_way(struct hd_run *run, const heed_model *model, const heed_text_pair *pairs,
                     const struct samples *s, const struct own_links *links, struct way *best,
                     double *agrees, heed_error *err)
{
    const struct hd_config *c = &model->net->config;
    heed_translator *t = heed_translator_new(&model, 1, err);
    bool ok = t && set_number(t, "threads", hd_pool_size(run->threads), err);
    const size_t n_ways = (size_t)c->decoder_layers * (size_t)(c->heads + 1) * 2;
    size_t n_tried = 0;
    *best = (struct way){c->alignment_layer, -1, 1};
    ok = ok && try_way(t, best, pairs, s, links, agrees, err);
    for (int layer = 1; ok && layer <= c->decoder_layers; layer++)
        for (int head = -1; ok && head < c->heads; head++)
            for (int shift = 1; ok && shift >= 0; shift--) {
                const struct way way = {layer, head, shift};
                double x;
                ok = (show(&run->journal, n_tried++, n_ways) ||
                      hd_fail(err, HEED_CANCELLED, "stopped on request")) &&
                     try_way(t, &way, pairs, s, links, &x, err);
                if (ok && x > *agrees) {
                    *best = way;
                    *agrees = x;
                }
            }
    heed_translator_free(t);
    return ok;
}

/* ---- the file --------------------------------------------------------------------------------------- */

static bool write_choice(struct hd_run *run, heed_model *model, const struct way *way,
                         double agrees, heed_error *err)
{
    static const enum hd_dtype stores[] = {HD_F32, HD_F16, HD_BF16, HD_I8};
    struct hd_config *c = &model->net->config;
    c->alignment_layer = way->layer;
    c->n_alignment_heads = way->head >= 0;
    c->alignment_heads[0] = way->head >= 0 ? way->head : 0;
    if (json_object_set_new(model->record, "alignment_shift", json_integer(way->shift)) < 0 ||
        json_object_set_new(model->record, CHOICE, json_pack("{sf}", "agreement", agrees)) < 0)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory left");
    char head[32] = "the mean of its heads";
    if (way->head >= 0)
        snprintf(head, sizeof head, "head %d", way->head);
    hd_journal_say(&run->journal,
                   "links are read from layer %d, %s, of the step that %s a word; they agree with "
                   "those of heed's own aligner to %.0f %%",
                   way->layer, head, way->shift ? "reads" : "makes", 100 * agrees);
    return hd_model_save(model, run->recipe->out, stores[run->recipe->store], err);
}

static char *copy_of(struct hd_text text, heed_error *err)
{
    char *copy = hd_alloc(text.n + 1, 1, err);
    if (copy)
        memcpy(copy, text.at, text.n);
    return copy;
}

static bool choose(struct hd_run *run, heed_model *model, const struct samples *s, heed_error *err)
{
    struct own_links links = {0};
    heed_text_pair *pairs = hd_alloc(s->tried.n, sizeof *pairs, err);
    struct way best;
    double agrees = 0;
    bool ok = pairs && find_links(run, s, &links, err);
    for (size_t i = 0; ok && i < s->tried.n; i++) {
        struct hd_text sides[2];
        tried_at(s, i, sides);
        char *source = copy_of(sides[0], err), *target = copy_of(sides[1], err);
        pairs[i] = (heed_text_pair){source, target};
        ok = source && target;
    }
    ok = ok && find_way(run, model, pairs, s, &links, &best, &agrees, err) &&
         write_choice(run, model, &best, agrees, err);
    for (size_t i = 0; pairs && i < s->tried.n; i++) {
        hd_free((char *)pairs[i].source);
        hd_free((char *)pairs[i].target);
    }
    hd_free(pairs);
    hd_link_lists_release(&links.sure);
    hd_link_lists_release(&links.possible);
    return ok;
}

static bool has_choice(const struct hd_run *run)
{
    const struct hd_config *c = &run->model->net->config;
    return run->ranks.rank == 0 && c->arch == HD_TRANSFORMER && c->task == HD_TASK_TRANSLATE &&
           c->source == HD_SOURCE_TEXT && run->recipe->guided_alignment.n == 0 &&
           !json_object_get(run->model->record, "alignment_shift") && /* taken over with --from */
           !hd_training_is_given(run->said, "alignment-layer") &&
           !hd_training_is_given(run->said, "alignment-heads");
}

bool hd_run_choose_alignment(struct hd_run *run, heed_error *err)
{
    struct samples s = {0};
    if (!has_choice(run))
        return true;
    heed_model *model = heed_model_load_as(run->recipe->out, "f32", err);
    if (!model)
        return false;
    bool ok = json_object_get(model->record, CHOICE) != NULL;
    if (!ok) {
        ok = take_sample(&s.tried, run->dev_text ? run->dev_text : run->text, N_TRIED, err) &&
             take_sample(&s.learned, run->text, N_LEARNED, err) &&
             (s.tried.n < LEAST_TRIED || choose(run, model, &s, err));
        hd_free(s.tried.at);
        hd_free(s.learned.at);
    }
    heed_model_free(model);
    return ok;
}
