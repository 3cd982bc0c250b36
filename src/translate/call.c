/* call.c -- many texts at once: they are prepared, their segments are searched, and each is put together when its last segment
 * has been found. Threads share the work; the calling thread is one of them.
 *
 * Each thread has a searcher, which it fills from one list of segments, longest first: those that are left in the end are short, so
 * all threads end at about the same time. Invariant: neither threads nor neighbours change a result: a segment is searched for itself, and a
 * line is put together from its own segments. */
#include "translate/translator.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES_AT_A_TIME = 32, /* that a thread prepares */
    ENCODED_AHEAD =
        32, /* sentences that wait in a searcher, so that groups of them are encoded together */
    SENTENCE = 500, /* bytes; what is shorter is the work of one thread */
};

/* One call. */
struct call {
    heed_translator *translator;
    struct hd_job job;
    const char *const *texts;
    const heed_text_pair *pairs; /* instead of texts */
    struct hd_line *lines;
    size_t n_lines;
    struct hd_segment **segments; /* to search, longest first */
    size_t n_segments, n_group;
    int n_threads;
    heed_error *thread_err;

    pthread_mutex_t lock; /* one at a time takes segments, */
    size_t n_taken;
    pthread_mutex_t watch_lock; /* and one asks the caller */
    atomic_size_t n_done;       /* segments */
    atomic_bool is_stopped;
};

/* ---- what calls keep --------------------------------------------------------------------------------- */

void hd_calls_init(struct hd_calls *calls)
{
    pthread_mutex_init(&calls->lock, NULL);
}

static void release_pool(struct hd_calls *calls)
{
    hd_pool_free(calls->pool);
    calls->pool = NULL;
}

void hd_calls_release(struct hd_calls *calls)
{
    release_pool(calls);
    for (int i = 0; i < calls->n_workers; i++)
        hd_search_worker_release(&calls->workers[i]);
    hd_free(calls->workers);
    heed_results_free(calls->last);
    pthread_mutex_destroy(&calls->lock);
}

static bool make_workers(struct hd_calls *calls, int n, heed_error *err)
{
    if (n > calls->n_workers) {
        struct hd_search_worker *grown = hd_alloc((size_t)n, sizeof *grown, err);
        if (!grown)
            return false;
        if (calls->n_workers > 0)
            memcpy(grown, calls->workers, (size_t)calls->n_workers * sizeof *grown);
        hd_free(calls->workers);
        calls->workers = grown;
        calls->n_workers = n;
    }
    if (n == 1 || (calls->pool && hd_pool_size(calls->pool) == n))
        return true;
    release_pool(calls);
    calls->pool = hd_pool_new(n, err);
    return calls->pool != NULL;
}

static void run_tasks(const struct call *c, void (*task)(void *context, int index, int worker),
                      int n_tasks)
{
    if (c->n_threads > 1)
        hd_pool_run(c->translator->calls.pool, task, (void *)c, n_tasks);
    for (int i = 0; c->n_threads == 1 && i < n_tasks; i++)
        task((void *)c, i, 0);
}

/* ---- going on, or not ---------------------------------------------------------------------------------- */

static bool is_stopped(struct call *c)
{
    return atomic_load_explicit(&c->is_stopped, memory_order_relaxed);
}

static bool stop(struct call *c)
{
    atomic_store_explicit(&c->is_stopped, true, memory_order_relaxed);
    return false;
}

/* Asked before every step of every thread. */
static bool keep_on(void *data)
{
    struct call *c = data;
    const struct hd_calls *calls = &c->translator->calls;
    if (!is_stopped(c) && calls->watch && pthread_mutex_trylock(&c->watch_lock) == 0) {
        if (!calls->watch(calls->context, atomic_load(&c->n_done), c->n_segments))
            stop(c);
        pthread_mutex_unlock(&c->watch_lock);
    }
    return !is_stopped(c);
}

/* ---- prepare --------------------------------------------------------------------------------------------- */

static void prepare_lines(void *context, int index, int worker)
{
    (void)worker;
    struct call *c = context;
    const size_t from = (size_t)index * LINES_AT_A_TIME;
    for (size_t i = from; i < c->n_lines && i < from + LINES_AT_A_TIME; i++) {
        struct hd_line *line = &c->lines[i];
        const char *text = c->pairs ? c->pairs[i].source : c->texts[i];
        const char *other = c->pairs ? c->pairs[i].target : c->job.options.prefix;
        line->job = &c->job;
        line->number = c->job.options.number + i;
        if (!hd_line_prepare(line, text, other))
            break;
    }
}

static int longer(const void *a, const void *b)
{
    const struct hd_segment *p = *(struct hd_segment *const *)a,
                            *q = *(struct hd_segment *const *)b;
    const int n_p = p->n_ids + (int)p->prefix.n, n_q = q->n_ids + (int)q->prefix.n;
    if (n_p != n_q)
        return n_q - n_p;
    return p->line != q->line ? (p->line > q->line) - (p->line < q->line) : (p > q) - (p < q);
}

static bool order_segments(struct call *c, heed_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < c->n_lines; i++)
        most += c->lines[i].n_segments;
    c->segments = hd_alloc(most, sizeof *c->segments, err);
    if (!c->segments)
        return false;
    for (size_t i = 0; i < c->n_lines; i++)
        for (size_t j = 0; c->lines[i].n_searching > 0 && j < c->lines[i].n_segments; j++)
            if (!c->lines[i].segments[j].passes)
                c->segments[c->n_segments++] = &c->lines[i].segments[j];
    if (c->n_segments > 1)
        qsort(c->segments, c->n_segments, sizeof *c->segments, longer);
    return true;
}

/* ---- search ---------------------------------------------------------------------------------------------- */

/* Segments for a thread that has `n` under way: enough to fill its rows, but no more than its share of what is left. */
static size_t take_segments(struct call *c, size_t n, struct hd_segment ***from)
{
    const size_t wanted = (size_t)c->job.options.batch + ENCODED_AHEAD;
    pthread_mutex_lock(&c->lock);
    const size_t left = c->n_segments - c->n_taken;
    const size_t share = c->n_threads == 1
                             ? left
                             : (left + 2 * (size_t)c->n_threads - 1) / (2 * (size_t)c->n_threads);
    size_t taken = n < wanted ? wanted - n : 0;
    taken = taken < share ? taken : share;
    *from = c->segments + c->n_taken;
    c->n_taken += taken;
    pthread_mutex_unlock(&c->lock);
    return taken;
}

/* A segment has been found: the last one of a line completes it. */
static bool finish_segment(struct call *c, struct hd_segment *segment, heed_error *err)
{
    struct hd_line *line = segment->line;
    atomic_fetch_add(&c->n_done, 1);
    if (atomic_fetch_sub(&line->n_searching, 1) > 1 || hd_line_assemble(line))
        return true;
    return hd_fail(err, line->err.code, "%s", line->err.message);
}

static bool search_segments(struct call *c, struct hd_search_worker *w, heed_error *err)
{
    for (;;) {
        struct hd_segment **more, *found;
        const size_t n = take_segments(c, hd_search_worker_size(w), &more);
        for (size_t i = 0; i < n; i++)
            if (!hd_search_worker_add(w, more[i], err))
                return false;
        if (hd_search_worker_size(w) == 0)
            return true;
        if (!keep_on(c))
            return hd_fail(err, HEED_CANCELLED, "stopped before everything was translated");
        if (!hd_search_worker_step(w, err))
            return false;
        while ((found = hd_search_worker_take(w, err)))
            if (found->found.n == 0 || !finish_segment(c, found, err))
                return false;
    }
}

static void search_by_thread(void *context, int index, int worker)
{
    struct call *c = context;
    struct hd_search_worker *w = &c->translator->calls.workers[worker];
    w->gathers_loops = true;
    if (search_segments(c, w, &c->thread_err[index]))
        return;
    stop(c);
    hd_search_worker_clear(w);
}

/* ---- force ----------------------------------------------------------------------------------------------- */

static bool force_group(struct call *c, size_t from, size_t n, heed_error *err)
{
    struct hd_search_options options = c->job.search[HD_SEARCH_FIRST];
    options.keep_on = keep_on;
    options.keep_on_data = c;
    bool ok = hd_segments_force(c->job.ensemble, &options, c->segments + from, n, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = finish_segment(c, c->segments[from + i], err);
    return ok;
}

static void force_by_thread(void *context, int index, int worker)
{
    (void)worker;
    struct call *c = context;
    const size_t from = (size_t)index * c->n_group, left = c->n_segments - from;
    if (is_stopped(c))
        return;
    if (!force_group(c, from, left < c->n_group ? left : c->n_group, &c->thread_err[index]))
        stop(c);
}

/* ---- a call ------------------------------------------------------------------------------------------------ */

/* Of several failures the first that is not the echo of another. */
static bool threads_are_well(const struct call *c, size_t n, heed_error *err)
{
    const heed_error *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (hd_failed(&c->thread_err[i]) && (!first || first->code == HEED_CANCELLED))
            first = &c->thread_err[i];
    return !first || hd_fail(err, first->code, "%s", first->message);
}

static bool search_or_force(struct call *c, heed_error *err)
{
    const size_t n_threads = (size_t)c->n_threads,
                 share = (c->n_segments + 2 * n_threads - 1) / (2 * n_threads),
                 most = 4 * (size_t)c->job.options.batch;
    c->n_group = n_threads == 1 || share > most ? most : share;
    c->n_group = c->n_group > 0 ? c->n_group : 1;
    const size_t n_tasks =
        c->job.is_forced ? (c->n_segments + c->n_group - 1) / c->n_group : n_threads;
    c->thread_err = hd_alloc(n_tasks, sizeof *c->thread_err, err);
    if (!c->thread_err)
        return false;
    run_tasks(c, c->job.is_forced ? force_by_thread : search_by_thread, (int)n_tasks);
    return threads_are_well(c, n_tasks, err);
}

/* Lines in which nothing is searched are put together here. */
static bool finish_lines(struct call *c, heed_error *err)
{
    for (size_t i = 0; i < c->n_lines; i++)
        if (c->lines[i].result->n_translations == 0 && !hd_line_assemble(&c->lines[i]))
            return hd_fail(err, c->lines[i].err.code, "%s", c->lines[i].err.message);
    return true;
}

static bool lines_are_well(const struct call *c, heed_error *err)
{
    for (size_t i = 0; i < c->n_lines; i++)
        if (hd_failed(&c->lines[i].err))
            return hd_fail(err, c->lines[i].err.code, "%s", c->lines[i].err.message);
    return true;
}

/* One sentence is the work of one thread: waking another would only take time. */
static int threads_for(const struct call *c)
{
    const bool is_one =
        c->n_lines == 0 ||
        (c->n_lines == 1 && (c->job.is_forced || c->pairs || strlen(c->texts[0]) < SENTENCE));
    return is_one ? 1 : hd_translator_threads(&c->job.options);
}

static bool run(struct call *c, heed_error *err)
{
    c->n_threads = threads_for(c);
    if (!make_workers(&c->translator->calls, c->n_threads, err))
        return false;
    run_tasks(c, prepare_lines, (int)((c->n_lines + LINES_AT_A_TIME - 1) / LINES_AT_A_TIME));
    return lines_are_well(c, err) && order_segments(c, err) &&
           hd_translator_allow_words_alone(c->translator, &c->job, c->n_segments, err) &&
           search_or_force(c, err) && finish_lines(c, err);
}

static heed_results *results_of(struct call *c, heed_error *err)
{
    heed_results *results = hd_results_new(c->n_lines, err);
    c->lines = hd_alloc(c->n_lines, sizeof *c->lines, err);
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->watch_lock, NULL);
    const bool ok = results && c->lines && run(c, err);
    for (size_t i = 0; c->lines && results && i < c->n_lines; i++)
        results->at[i] = c->lines[i].result;
    for (size_t i = 0; c->lines && i < c->n_lines; i++)
        hd_line_release(&c->lines[i]);
    pthread_mutex_destroy(&c->watch_lock);
    pthread_mutex_destroy(&c->lock);
    hd_free(c->lines);
    hd_free(c->segments);
    hd_free(c->thread_err);
    if (ok)
        return results;
    heed_results_free(results);
    return NULL;
}

/* ---- from outside ------------------------------------------------------------------------------------------ */

static bool check_texts(const struct call *c, bool needs_target, heed_error *err)
{
    if (!hd_is_given(c->translator, "translator", err))
        return false;
    if (c->n_lines > 0 && !c->texts && !c->pairs)
        return hd_fail(err, HEED_BAD_OPTION, "there is no list of texts; it is NULL");
    for (size_t i = 0; i < c->n_lines; i++)
        if (c->pairs ? !c->pairs[i].source || (needs_target && !c->pairs[i].target) : !c->texts[i])
            return hd_fail(err, HEED_BAD_OPTION, "text %zu is NULL", i + 1);
    return true;
}

enum changes { AS_SET = 0, FORCED = 1, NO_ATTENTION = 2, NO_SCORES = 4 };

/* A single text may come while another thread's call is under way: it goes with the requests, so that both are translated. */
static heed_results *join_requests(struct call *c, const heed_options *o, heed_error *err)
{
    heed_results *results = hd_results_new(1, err);
    if (results && !(results->at[0] = hd_request_wait(c->translator, c->texts[0], o, err))) {
        heed_results_free(results);
        return NULL;
    }
    return results;
}

static heed_results *call(struct call *c, unsigned changes, heed_error *err)
{
    heed_options o = {0};
    heed_results *results = NULL;
    if (!check_texts(c, changes & FORCED, err) || !hd_translator_options(c->translator, &o, err))
        return NULL;
    hd_free(o.target); /* of texts that are submitted */
    o.target = NULL;
    if (changes & NO_ATTENTION)
        o.attention = HEED_ATTENTION_NONE;
    if (changes & NO_SCORES)
        o.has_scores = false;
    hd_choose_markup(&o, c->texts, c->texts ? c->n_lines : 0);
    const bool is_one = c->texts && c->n_lines == 1;
    pthread_mutex_t *lock = &c->translator->calls.lock;
    bool is_mine = pthread_mutex_trylock(lock) == 0;
    if (!is_mine && is_one)
        results = join_requests(c, &o, err);
    else {
        if (!is_mine)
            pthread_mutex_lock(lock);
        if (hd_translator_begin(c->translator, &o, err) &&
            hd_job_init(&c->job, &c->translator->ensemble, &o, changes & FORCED, err))
            results = results_of(c, err);
        hd_job_release(&c->job);
        pthread_mutex_unlock(lock);
    }
    hd_translate_options_release(&o);
    return results;
}

heed_results *heed_translator_translate(heed_translator *t, const char *const *texts, size_t n,
                                        heed_error *err)
{
    return call(&(struct call){.translator = t, .texts = texts, .n_lines = n}, AS_SET, err);
}

heed_results *heed_translator_complete(heed_translator *t, const heed_text_pair *pairs, size_t n,
                                       heed_error *err)
{
    return call(&(struct call){.translator = t, .pairs = pairs, .n_lines = n}, AS_SET, err);
}

heed_results *heed_translator_align(heed_translator *t, const heed_text_pair *pairs, size_t n,
                                    heed_error *err)
{
    return call(&(struct call){.translator = t, .pairs = pairs, .n_lines = n}, FORCED, err);
}

heed_results *heed_translator_score(heed_translator *t, const heed_text_pair *pairs, size_t n,
                                    heed_error *err)
{
    return call(&(struct call){.translator = t, .pairs = pairs, .n_lines = n},
                FORCED | NO_ATTENTION, err);
}

const char *heed_translator_text(heed_translator *t, const char *text, heed_error *err)
{
    heed_results *r = call(&(struct call){.translator = t, .texts = &text, .n_lines = 1},
                           NO_ATTENTION | NO_SCORES, err);
    if (!r)
        return NULL;
    pthread_mutex_lock(&t->calls.lock);
    heed_results_free(t->calls.last);
    t->calls.last = r;
    pthread_mutex_unlock(&t->calls.lock);
    return r->at[0]->translations[0]->text;
}

void heed_translator_watch(heed_translator *t,
                           bool (*watch)(void *context, size_t n_done, size_t n), void *context)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->calls.lock);
    t->calls.watch = watch;
    t->calls.context = context;
    pthread_mutex_unlock(&t->calls.lock);
}
