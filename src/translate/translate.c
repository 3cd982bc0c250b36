/* translate.c -- texts in, results out, in three rounds that threads share: lines are cut into segments, segments of like length
 * are searched in groups, and what was found is put together line by line.
 *
 * Invariant: neither groups nor threads change a result: a segment is searched for itself, and a line is put together from its
 * own segments. */
#include "translate/translate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "translate/job.h"
#include "translate/loop.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRAINED_LENGTH = 200, /* where a model does not say */
    LINES_AT_A_TIME = 32, /* of a thread that prepares or assembles */
    LOOP_NGRAM = 3,       /* what is forbidden to repeat when a search went round in circles */
    WORTH_A_SCREEN = 8,   /* segments whose words alone are wanted */
};

heed_options hd_options_default(void)
{
    return (heed_options){.beam = 5,
                          .n_best = 1,
                          .norm = HEED_LENGTH_POWER,
                          .alpha = 1,
                          .top_p = 1,
                          .temperature = 1,
                          .seed = 1,
                          .max_length = 3,
                          .wants_attention = true,
                          .wants_scores = true,
                          .head = -1,
                          .shift = -1,
                          .batch = 24};
}

struct work {
    struct hd_job job;
    heed_options standard; /* where nothing is asked for */
    struct hd_line *lines;
    size_t n_lines;
    const char *const *texts;     /* searched */
    const heed_text_pair *pairs;  /* forced */
    struct hd_segment **segments; /* to search, longest first */
    uint64_t *numbers;            /* which random numbers belong to a segment */
    size_t n_segments, n_group;
    heed_error *group_err;
    const struct hd_net **nets;

    pthread_mutex_t lock; /* one at a time asks the caller */
    size_t n_done;        /* segments */
    atomic_bool is_cancelled;
};

/* ---- what the models allow ----------------------------------------------------------------------- */

bool hd_has_attention(const heed_model *model)
{
    const struct hd_config *c = &model->net->config;
    return c->arch == HD_TRANSFORMER || c->score != HD_SCORE_NONE;
}

static bool same_vocab(const struct hd_vocab *a, const struct hd_vocab *b)
{
    size_t n_a, n_b;
    const void *bytes_a = hd_vocab_bytes(a, &n_a), *bytes_b = hd_vocab_bytes(b, &n_b);
    return a == b || (hd_vocab_kind(a) == hd_vocab_kind(b) && n_a == n_b &&
                      memcmp(bytes_a, bytes_b, n_a) == 0);
}

/* The longest source a model was trained for, in subwords. */
static size_t trained_length(const heed_model *m)
{
    const struct hd_config *c = &m->net->config;
    const json_t *told = json_object_get(json_object_get(m->record, "recipe"), "max-length");
    long most = json_is_string(told) ? strtol(json_string_value(told), NULL, 10) : TRAINED_LENGTH;
    if (c->arch == HD_TRANSFORMER && c->positions == HD_POSITIONS_LEARNED &&
        c->max_positions - 1 < most)
        most = c->max_positions - 1; /* the end marker wants one */
    if (c->arch != HD_TRANSFORMER && c->score == HD_SCORE_LOCATION && c->max_source - 1 < most)
        most = c->max_source - 1;
    return most > 1 ? (size_t)most : 1;
}

/* The record may say; else attention is read at the step that makes a word (AER of two models that Marian trained, by links
 * that people made: 67.9 and 72.6 %, against 87.7 and 92.3 % at the next step). */
static int own_shift(const heed_model *m)
{
    const json_t *told = json_object_get(m->record, "alignment_shift");
    if (json_is_integer(told))
        return json_integer_value(told) != 0;
    return 0;
}

/* Fitted by tools/fit_confidence.py to translations of 1,000 held-out sentences by two models that Marian trained (English to
 * German): on 1,000 others of the same two, confidence was off by 2.5 % on average. A model's record may have its own. */
static void set_confidence(double constants[2], const heed_model *m)
{
    constants[0] = 0.279;
    constants[1] = 0.664;
    const json_t *told = json_object_get(m->record, "confidence");
    for (size_t i = 0; i < 2 && json_array_size(told) == 2; i++)
        if (json_is_number(json_array_get(told, i)))
            constants[i] = json_number_value(json_array_get(told, i));
}

static bool begin_job(struct work *w, const heed_model *const *models, int n_models,
                      const heed_options *options, heed_error *err)
{
    struct hd_job *job = &w->job;
    if (n_models < 1)
        return hd_fail(err, HEED_BAD_OPTION, "there is no model to translate with; name one");
    job->models = models;
    job->n_models = n_models;
    job->options = options;
    job->source = models[0]->source;
    job->target = models[0]->target;
    job->has_attention = options->wants_attention;
    job->has_scores =
        options->wants_scores || job->is_forced || options->is_sampled || options->beam > 1;
    job->most = SIZE_MAX;
    job->shift = options->shift >= 0 ? options->shift != 0 : own_shift(models[0]);
    set_confidence(job->confidence, models[0]);
    w->nets = hd_alloc((size_t)n_models, sizeof *w->nets, err);
    if (!w->nets)
        return false;
    for (int i = 0; i < n_models; i++) {
        if (!same_vocab(models[i]->source, job->source) ||
            !same_vocab(models[i]->target, job->target))
            return hd_fail(err, HEED_BAD_OPTION,
                           "model %d has another vocabulary than the first; models that translate "
                           "together share theirs",
                           i + 1);
        const size_t most = trained_length(models[i]);
        w->nets[i] = models[i]->net;
        job->most = most < job->most ? most : job->most;
        job->has_attention = job->has_attention && hd_has_attention(models[i]);
    }
    if (options->max_source > 0)
        job->most = (size_t)options->max_source;
    if (hd_vocab_end(job->target) < 0)
        return hd_fail(err, HEED_BAD_MODEL,
                       "the model's target vocabulary has no end marker, so no output would end");
    if (options->batch < 1)
        return hd_fail(err, HEED_BAD_OPTION, "a batch of %d sentences: it must be 1 or more",
                       options->batch);
    if (!(options->max_length > 0 && options->max_length <= 1000))
        return hd_fail(
            err, HEED_BAD_OPTION,
            "a longest output of %g subwords per subword of its source: it must be above "
            "0 and at most 1000",
            (double)options->max_length);
    if ((options->replace_unknown || options->coverage_penalty > 0) && !job->has_attention)
        return hd_fail(
            err, HEED_BAD_OPTION,
            options->wants_attention
                ? "the model has no attention, so neither unknown words nor coverage can "
                  "be told from it"
                : "unknown words are replaced and coverage is told by attention, which "
                  "is not wanted");
    return true;
}

/* Words alone are found by a screen of the output layer, which takes as long to make as a few sentences. */
static bool wants_words_alone(const struct work *w)
{
    return !w->job.has_scores && w->job.n_models == 1 && w->n_segments >= WORTH_A_SCREEN;
}

/* ---- searching a group ----------------------------------------------------------------------------- */

static struct hd_search_options search_options(struct work *w)
{
    const heed_options *o = w->job.options;
    struct hd_search_options s = hd_search_options_default();
    s.beam = o->beam;
    s.n_best = o->n_best;
    s.norm = (enum hd_length_norm)o->norm;
    s.alpha = o->alpha;
    s.coverage_penalty = o->coverage_penalty;
    s.no_repeat = o->no_repeat;
    s.is_sampled = o->is_sampled;
    s.top_k = o->top_k;
    s.top_p = o->top_p;
    s.temperature = o->temperature;
    s.seed = o->seed;
    const long rows = (long)o->batch * (o->is_sampled ? o->n_best : o->beam);
    s.n_rows = rows < 1 << 20 ? (int)rows : 1 << 20;
    s.words_alone = wants_words_alone(w);
    s.wants_attention = w->job.has_attention;
    s.layer = o->layer;
    s.head = o->head;
    return s;
}

/* Asked before every step of every thread. */
static bool keep_on(void *data)
{
    struct work *w = data;
    const heed_options *o = w->job.options;
    if (atomic_load_explicit(&w->is_cancelled, memory_order_relaxed))
        return false;
    if (o->progress && pthread_mutex_trylock(&w->lock) == 0) {
        if (!o->progress(o->progress_data, w->n_done, w->n_segments))
            atomic_store_explicit(&w->is_cancelled, true, memory_order_relaxed);
        pthread_mutex_unlock(&w->lock);
    }
    return !atomic_load_explicit(&w->is_cancelled, memory_order_relaxed);
}

/* What is searched: segments of a group, or some of them. */
struct asked {
    struct hd_segment **segments;
    struct hd_search_input *input;
    struct hd_nbest *found;
    size_t n;
};

static bool search_asked(const struct work *w, const struct asked *a,
                         const struct hd_search_options *options, heed_error *err)
{
    return (w->job.is_forced ? hd_force_decode : hd_search)(
        (const struct hd_net *const *)w->nets, w->job.n_models, hd_vocab_end(w->job.target),
        a->input, a->n, options, a->found, err);
}

/* Only those whose output goes round in circles. */
static void keep_loops(struct asked *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct hd_hypothesis *best = &a->segments[i]->found.best[0];
        const int given = a->input[i].prefix.n;
        if (hd_is_loop(best->ids + given, best->n - given, best->is_cut)) {
            a->segments[n] = a->segments[i];
            a->input[n++] = a->input[i];
        }
    }
    a->n = n;
}

static void exchange(struct hd_segment *segment, struct hd_nbest *found)
{
    hd_nbest_release(&segment->found);
    segment->found = *found;
}

/* Loops once more, with repetition forbidden. Which of the two is better is told by how likely they are. */
static bool search_again(struct work *w, struct asked *a, struct hd_search_options options,
                         heed_error *err)
{
    keep_loops(a);
    if (a->n == 0)
        return true;
    if (options.words_alone) {
        options.words_alone = false;
        if (!search_asked(w, a, &options, err))
            return false;
        for (size_t i = 0; i < a->n; i++)
            exchange(a->segments[i], &a->found[i]);
    }
    options.no_repeat = LOOP_NGRAM;
    if (!search_asked(w, a, &options, err))
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (hd_is_better_than_loop(&a->found[i].best[0], &a->segments[i]->found.best[0])) {
            exchange(a->segments[i], &a->found[i]);
            a->segments[i]->is_searched_again = true;
        } else
            hd_nbest_release(&a->found[i]);
    return true;
}

static bool search_group(struct work *w, size_t from, size_t n, heed_error *err)
{
    struct hd_search_options options = search_options(w);
    options.keep_on = keep_on;
    options.keep_on_data = w;
    struct hd_search_input *input = hd_alloc(n, sizeof *input, err);
    struct asked a = {w->segments + from, input, hd_alloc(n, sizeof *a.found, err), n};
    bool ok = input && a.found;
    for (size_t i = 0; ok && i < n; i++)
        input[i] = (struct hd_search_input){
            .source = {a.segments[i]->ids, a.segments[i]->n_ids},
            .prefix = {a.segments[i]->prefix.at, (int)a.segments[i]->prefix.n},
            .max_length = hd_longest_output(a.segments[i]->n_ids, w->job.options->max_length),
            .number = w->numbers[from + i]};
    ok = ok && search_asked(w, &a, &options, err);
    for (size_t i = 0; ok && i < n; i++)
        a.segments[i]->found = a.found[i];
    ok = ok && (w->job.is_forced || options.is_sampled || options.no_repeat > 0 ||
                search_again(w, &a, options, err));
    hd_free(input);
    hd_free(a.found);
    return ok;
}

/* ---- the three rounds ------------------------------------------------------------------------------- */

static void prepare_lines(void *context, int index, int worker)
{
    (void)worker;
    struct work *w = context;
    const size_t from = (size_t)index * LINES_AT_A_TIME;
    for (size_t i = from; i < w->n_lines && i < from + LINES_AT_A_TIME; i++) {
        const char *const *prefixes = w->job.options->prefixes;
        const char *text = w->job.is_forced ? w->pairs[i].source : w->texts[i];
        const char *other = w->job.is_forced ? w->pairs[i].target : prefixes ? prefixes[i] : NULL;
        if (!hd_line_prepare(&w->job, &w->lines[i], text, other))
            break;
    }
}

static void search_one_group(void *context, int index, int worker)
{
    (void)worker;
    struct work *w = context;
    const size_t from = (size_t)index * w->n_group, left = w->n_segments - from,
                 n = left < w->n_group ? left : w->n_group;
    if (atomic_load_explicit(&w->is_cancelled, memory_order_relaxed))
        hd_fail(&w->group_err[index], HEED_CANCELLED, "stopped before all was translated");
    else if (!search_group(w, from, n, &w->group_err[index]))
        atomic_store_explicit(&w->is_cancelled, true, memory_order_relaxed); /* no need to go on */
    pthread_mutex_lock(&w->lock);
    w->n_done += n;
    pthread_mutex_unlock(&w->lock);
}

static void assemble_lines(void *context, int index, int worker)
{
    (void)worker;
    struct work *w = context;
    const size_t from = (size_t)index * LINES_AT_A_TIME;
    for (size_t i = from; i < w->n_lines && i < from + LINES_AT_A_TIME; i++)
        if (!hd_line_assemble(&w->job, &w->lines[i]))
            break;
}

/* The first line's failure, if there is one. */
static bool lines_are_well(const struct work *w, heed_error *err)
{
    for (size_t i = 0; i < w->n_lines; i++)
        if (hd_failed(&w->lines[i].err))
            return hd_fail(err, w->lines[i].err.code, "%s", w->lines[i].err.message);
    return true;
}

/* Of failures the first that is no echo of another's. */
static bool groups_are_well(const struct work *w, size_t n_groups, heed_error *err)
{
    const heed_error *first = NULL;
    for (size_t i = 0; i < n_groups; i++)
        if (hd_failed(&w->group_err[i]) && (!first || first->code == HEED_CANCELLED))
            first = &w->group_err[i];
    return !first || hd_fail(err, first->code, "%s", first->message);
}

struct numbered {
    struct hd_segment *segment;
    uint64_t number;
};

static int longer(const void *a, const void *b)
{
    const struct numbered *p = a, *q = b;
    const int n_p = p->segment->n_ids + (int)p->segment->prefix.n,
              n_q = q->segment->n_ids + (int)q->segment->prefix.n;
    return n_p != n_q ? n_q - n_p : (p->number > q->number) - (p->number < q->number);
}

static bool order_segments(struct work *w, heed_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < w->n_lines; i++)
        most += w->lines[i].n_segments;
    struct numbered *all = hd_alloc(most, sizeof *all, err);
    w->segments = hd_alloc(most, sizeof *w->segments, err);
    w->numbers = hd_alloc(most, sizeof *w->numbers, err);
    const bool ok = all && w->segments && w->numbers;
    for (size_t i = 0; ok && i < w->n_lines; i++)
        for (size_t j = 0; j < w->lines[i].n_segments; j++)
            if (!w->lines[i].segments[j].passes)
                all[w->n_segments++] =
                    (struct numbered){&w->lines[i].segments[j],
                                      (w->job.options->first_number + i) << 20 | (j & 0xFFFFF)};
    if (ok && w->n_segments > 0)
        qsort(all, w->n_segments, sizeof *all, longer);
    for (size_t i = 0; ok && i < w->n_segments; i++) {
        w->segments[i] = all[i].segment;
        w->numbers[i] = all[i].number;
    }
    hd_free(all);
    return ok;
}

/* Several batches, so that a finished sentence's place can be taken by another, but enough groups for all threads. */
static void size_groups(struct work *w, int n_threads)
{
    const size_t share = (w->n_segments + 2 * (size_t)n_threads - 1) / (2 * (size_t)n_threads),
                 most = 4 * (size_t)w->job.options->batch;
    w->n_group = n_threads == 1 || share > most ? most : share;
    w->n_group = w->n_group > 0 ? w->n_group : 1;
}

/* One sentence is the work of one thread: starting another would only take time. */
static int threads_for(const struct work *w)
{
    enum { SENTENCE = 500 }; /* bytes */
    const int n_threads = w->job.options->n_threads > 0 ? w->job.options->n_threads : hd_cores();
    const bool is_one = w->n_lines == 0 ||
                        (w->n_lines == 1 && (w->job.is_forced || strlen(w->texts[0]) < SENTENCE));
    return is_one ? 1 : n_threads;
}

static bool run(struct work *w, heed_error *err)
{
    const int n_blocks = (int)((w->n_lines + LINES_AT_A_TIME - 1) / LINES_AT_A_TIME);
    const int n_threads = threads_for(w);
    struct hd_pool *pool = hd_pool_new(n_threads, err);
    if (!pool)
        return false;
    hd_pool_run(pool, prepare_lines, w, n_blocks);
    bool ok = lines_are_well(w, err) && order_segments(w, err);
    if (ok) {
        size_groups(w, n_threads);
        ok = !wants_words_alone(w) || hd_screen_make(&w->job.models[0]->net->head, err);
    }
    if (ok) {
        const size_t n_groups = (w->n_segments + w->n_group - 1) / w->n_group;
        w->group_err = hd_alloc(n_groups, sizeof *w->group_err, err);
        ok = w->group_err != NULL;
        if (ok)
            hd_pool_run(pool, search_one_group, w, (int)n_groups);
        ok = ok && groups_are_well(w, n_groups, err);
    }
    if (ok) {
        hd_pool_run(pool, assemble_lines, w, n_blocks);
        ok = lines_are_well(w, err);
    }
    hd_pool_free(pool);
    return ok;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static heed_results *run_all(struct work *w, size_t n, heed_error *err)
{
    heed_results *results = hd_new(heed_results, err);
    w->n_lines = n;
    w->lines = hd_alloc(n, sizeof *w->lines, err);
    if (results)
        results->at = hd_alloc(n, sizeof *results->at, err);
    bool ok = results && results->at && w->lines;
    if (ok) {
        results->n = n;
        for (size_t i = 0; i < n; i++)
            w->lines[i].result = &results->at[i];
        pthread_mutex_init(&w->lock, NULL);
        ok = run(w, err);
        pthread_mutex_destroy(&w->lock);
    }
    for (size_t i = 0; w->lines && i < n; i++)
        hd_line_release(&w->lines[i]);
    hd_free(w->lines);
    hd_free(w->segments);
    hd_free(w->numbers);
    hd_free(w->group_err);
    if (!ok) {
        hd_results_free(results);
        return NULL;
    }
    return results;
}

static heed_results *work_on(struct work *w, const heed_model *const *models, int n_models,
                             size_t n, const heed_options *options, heed_error *err)
{
    w->standard = hd_options_default();
    heed_results *results = NULL;
    if (begin_job(w, models, n_models, options ? options : &w->standard, err))
        results = run_all(w, n, err);
    hd_free(w->nets);
    return results;
}

heed_results *hd_translate(const heed_model *const *models, int n_models, const char *const *texts,
                           size_t n, const heed_options *options, heed_error *err)
{
    struct work w = {.texts = texts};
    return work_on(&w, models, n_models, n, options, err);
}

heed_results *hd_align(const heed_model *const *models, int n_models, const heed_text_pair *pairs,
                       size_t n, const heed_options *options, heed_error *err)
{
    struct work w = {.pairs = pairs, .job.is_forced = true};
    return work_on(&w, models, n_models, n, options, err);
}

void hd_results_free(heed_results *results)
{
    if (!results)
        return;
    for (size_t i = 0; i < results->n; i++)
        hd_result_release(&results->at[i]);
    hd_free(results->at);
    hd_free(results);
}
