/* request.c -- texts that worker threads translate while the caller goes on.
 *
 * A request waits until a worker takes it, is the worker's while it is searched, and is done until it is taken. Workers look for
 * new requests between two steps of their searchers, so a text joins those under way at once; one that could be the work of an
 * idle worker is left to that. Workers are started one by one, when a request comes and none is idle.
 *
 * What many clients see is how long the slowest of them waits. So where requests wait, one begins as if it had come as many steps
 * earlier as it will take, and does not have its own time on top of its time in line; none is overtaken by what comes HEAD_START steps
 * later, however much that is. And while an output is longer than most are, fewer sentences than there is room for go beside it.
 *
 * Invariant: what is in a list, and in which, changes under the lock; all else of a request belongs to the worker that has it. */
#include "translate/translator.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>
#include <time.h>

#ifdef __APPLE__
#define CLOCK CLOCK_REALTIME
#else
#define CLOCK CLOCK_MONOTONIC
#endif

enum {
    BYTES_A_STEP = 4, /* of text, as subwords of natural languages go */
    HEAD_START = 100, /* steps at most */
    USUAL_WORDS = 16, /* of an output, until some have been seen, */
    SEEN = 64,        /* the last of which count */
    NARROW = 3,       /* beside an output that is long it is one sentence in so many */
};

struct hd_request {
    struct hd_request *next, *previous;
    struct hd_request_list *list; /* that it is in */
    uint64_t id;
    long long due; /* the step at which it should begin: the lowest is next */
    char *text;
    heed_options options;
    struct hd_job job;
    struct hd_line line;
    bool is_begun, is_over;    /* for its worker: it has segments; it has a result or an error */
    size_t n_fed, n_searching; /* segments that were given to the searcher; that are in it */
    bool is_cancelled;
    bool is_waited_for, is_done; /* by the thread that made it, and not to be taken by others */
    struct told *told;           /* [segments]: what whoever watches knows; NULL: nothing yet */
};

/* Of a segment. */
struct told {
    int n_words;
    enum hd_search_round round;
    bool is_final;
};

struct hd_request_worker {
    heed_translator *translator;
    struct hd_request_worker *before;
    pthread_t thread;
    struct hd_search_worker search;
    struct hd_request_list taken;
    float usual; /* words of an output */
};

/* ---- lists ------------------------------------------------------------------------------------------- */

static void leave(struct hd_request *r)
{
    struct hd_request_list *list = r->list;
    if (!list)
        return;
    *(r->previous ? &r->previous->next : &list->first) = r->next;
    *(r->next ? &r->next->previous : &list->last) = r->previous;
    r->next = r->previous = NULL;
    r->list = NULL;
}

/* Behind `before`; NULL: first. */
static void put_behind(struct hd_request_list *list, struct hd_request *before,
                       struct hd_request *r)
{
    r->previous = before;
    r->next = before ? before->next : list->first;
    *(before ? &before->next : &list->first) = r;
    *(r->next ? &r->next->previous : &list->last) = r;
    r->list = list;
}

static void move_to(struct hd_request_list *list, struct hd_request *r)
{
    leave(r);
    put_behind(list, list->last, r);
}

/* Where it is due; of those that are due together the first one stays first. */
static void put_in_line(struct hd_request_list *waiting, struct hd_request *r)
{
    struct hd_request *before = waiting->last;
    while (before && before->due > r->due)
        before = before->previous;
    put_behind(waiting, before, r);
}

static struct hd_request *find_in(const struct hd_request_list *list, uint64_t id)
{
    struct hd_request *r = list->first;
    while (r && (r->id != id || r->is_cancelled || r->is_waited_for))
        r = r->next;
    return r;
}

static void free_request(struct hd_request *r)
{
    if (!r)
        return;
    hd_line_release(&r->line);
    hd_job_release(&r->job);
    heed_result_free(r->line.result);
    hd_translate_options_release(&r->options);
    hd_free(r->told);
    hd_free(r->text);
    hd_free(r);
}

static void free_list(struct hd_request_list *list)
{
    for (struct hd_request *r; (r = list->first);) {
        leave(r);
        free_request(r);
    }
}

/* ---- a worker ------------------------------------------------------------------------------------------ */

static void end_request(struct hd_request *r, const heed_error *err)
{
    if (err)
        hd_fail(&r->line.err, err->code, "%s", err->message);
    r->is_over = true;
}

/* All of its segments have been found. */
static void complete_request(struct hd_request *r)
{
    hd_line_assemble(&r->line);
    r->is_over = true;
}

/* An output that is given is looked at here and now: that is as much work as a step or two. */
static void force_request(struct hd_request *r)
{
    const struct hd_job *job = &r->job;
    for (size_t i = 0; i < r->line.n_segments && !r->line.is_skipped; i++) {
        struct hd_segment *segment = &r->line.segments[i];
        if (!segment->passes && !hd_segments_force(job->ensemble, &job->search[HD_SEARCH_FIRST],
                                                   &segment, 1, &r->line.err)) {
            r->is_over = true;
            return;
        }
    }
    complete_request(r);
}

static void begin_request(struct hd_request *r)
{
    struct hd_line *line = &r->line;
    r->is_begun = true;
    if (!hd_line_prepare(line, r->text, r->job.is_forced ? r->options.target : r->options.prefix))
        r->is_over = true;
    else if (r->job.is_forced)
        force_request(r);
    else if (line->n_searching == 0)
        complete_request(r);
}

/* How many sentences are searched at a time. Every row makes a step longer, and an output of many words has many steps: of 16 clients
 * that share a core the slowest in a hundred waited 53 ms without this and 38 ms with it, and as many sentences a second were done. */
static size_t places_of(const struct hd_request_worker *w, const struct hd_request *r)
{
    const size_t most = (size_t)r->options.batch;
    const int longest = w->search.searcher ? hd_searcher_longest(w->search.searcher) : 0;
    return (float)longest > w->usual * 4 / 3 ? (most + NARROW - 1) / NARROW : most;
}

/* The segment that is searched next: of the request that has the fewest in the searcher, so that a long text does not keep short
 * ones waiting; of those, of the one that is due first. NULL: there is none. */
static struct hd_segment *next_segment(const struct hd_request_worker *w)
{
    struct hd_request *next = NULL;
    for (struct hd_request *r = w->taken.first; r; r = r->next) {
        while (!r->is_over && r->n_fed < r->line.n_segments && r->line.segments[r->n_fed].passes)
            r->n_fed++;
        if (!r->is_over && r->n_fed < r->line.n_segments &&
            (!next || r->n_searching < next->n_searching ||
             (r->n_searching == next->n_searching && r->due < next->due)))
            next = r;
    }
    return next ? &next->line.segments[next->n_fed] : NULL;
}

static struct hd_request *request_of(struct hd_line *line);

static void feed(struct hd_request_worker *w)
{
    for (struct hd_segment *s; (s = next_segment(w));) {
        struct hd_request *r = request_of(s->line);
        if (hd_search_worker_size(&w->search) >= places_of(w, r))
            return;
        r->n_fed++;
        r->n_searching++;
        if (!hd_search_worker_add(&w->search, s, &r->line.err)) {
            hd_search_worker_cancel(&w->search, &r->line);
            r->is_over = true;
        }
    }
}

static struct hd_request *request_of(struct hd_line *line)
{
    return (struct hd_request *)((char *)line - offsetof(struct hd_request, line));
}

static void step(struct hd_request_worker *w)
{
    heed_error err = {0};
    struct hd_segment *segment;
    if (hd_search_worker_size(&w->search) > 0 && !hd_search_worker_step(&w->search, &err))
        for (struct hd_request *r = w->taken.first; r; r = r->next)
            if (!r->is_over)
                end_request(r, &err);
    while ((segment = hd_search_worker_take(&w->search, &err))) {
        struct hd_request *r = request_of(segment->line);
        r->n_searching--;
        segment->is_found = segment->found.n > 0;
        if (segment->is_found)
            w->usual += ((float)segment->found.best[0].n - w->usual) / SEEN;
        if (segment->found.n == 0) {
            end_request(r, &err);
            hd_search_worker_cancel(&w->search, &r->line);
            err = (heed_error){0};
        } else if (--r->line.n_searching == 0)
            complete_request(r);
    }
}

/* ---- telling: the lock is held ------------------------------------------------------------------------- */

static void tell(const struct hd_request *r, size_t i, const int *ids, int n, bool is_final,
                 bool is_again)
{
    char *text = hd_vocab_decode(r->job.ensemble->target, ids, (size_t)n, NULL);
    if (text)
        r->options.tell(r->options.tell_context, &(heed_progress){.sentence = i,
                                                                  .n_sentences = r->line.n_segments,
                                                                  .text = text,
                                                                  .is_final = is_final,
                                                                  .is_again = is_again});
    hd_free(text);
}

static void tell_segment(const struct hd_request_worker *w, struct hd_request *r, size_t i)
{
    const struct hd_segment *segment = &r->line.segments[i];
    struct told *told = &r->told[i];
    const bool is_again = segment->round != told->round;
    told->round = segment->round;
    if (is_again) {
        told->n_words = 0;
        tell(r, i, NULL, 0, false, true);
    }
    int n = 0;
    int *ids = w->search.searcher ? hd_searcher_peek(w->search.searcher, segment, &n) : NULL;
    const bool is_greedy = r->job.search[segment->round].beam == 1 && !r->options.is_sampled;
    if (ids && is_greedy && n > told->n_words) {
        told->n_words = n;
        tell(r, i, ids, n, false, false);
    }
    hd_free(ids);
}

/* Segments of which something is new. One that is found and in no searcher any more is whole. */
static void tell_request(const struct hd_request_worker *w, struct hd_request *r)
{
    const struct hd_line *line = &r->line;
    if (!r->told && !(r->told = hd_alloc(line->n_segments, sizeof *r->told, NULL)))
        return;
    for (size_t i = 0; i < line->n_segments; i++) {
        const struct hd_segment *segment = &line->segments[i];
        if (r->told[i].is_final || segment->passes)
            continue;
        if (!segment->is_found) {
            tell_segment(w, r, i);
            continue;
        }
        r->told[i].is_final = true;
        tell(r, i, segment->found.best[0].ids, segment->found.best[0].n, true, false);
    }
}

static void tell_all(const struct hd_request_worker *w)
{
    for (struct hd_request *r = w->taken.first; r; r = r->next)
        if (r->options.tell && r->is_begun && !r->is_cancelled && !hd_failed(&r->line.err) &&
            !r->job.is_forced)
            tell_request(w, r);
}

/* ---- its thread: the lock is held wherever nothing else is said ------------------------------------------ */

static bool may_take(const struct hd_request_worker *w)
{
    const struct hd_requests *q = &w->translator->requests;
    const struct hd_request *next = q->waiting.first;
    return next && (!w->taken.first || (q->n_waiting > (size_t)q->n_idle &&
                                        hd_search_worker_size(&w->search) < places_of(w, next)));
}

/* As many as find a place. Others stay in line, where one that is due earlier may still come before them. */
static void take_requests(struct hd_request_worker *w)
{
    struct hd_requests *q = &w->translator->requests;
    const size_t n_used = hd_search_worker_size(&w->search);
    for (size_t n = 0; may_take(w) && (n == 0 || n_used + n < places_of(w, q->waiting.first));
         n++) {
        struct hd_request *r = q->waiting.first;
        move_to(&w->taken, r);
        q->n_waiting--;
    }
}

static void put_away(struct hd_request_worker *w)
{
    struct hd_requests *q = &w->translator->requests;
    bool is_news = false;
    for (struct hd_request *r = w->taken.first, *next; r; r = next) {
        next = r->next;
        if (r->is_cancelled) {
            if (!r->is_over)
                hd_search_worker_cancel(&w->search, &r->line);
            leave(r);
            free_request(r);
        } else if (r->is_over) {
            leave(r);
            if (!r->is_waited_for)
                move_to(&q->done, r);
            r->is_done = is_news = true;
        }
    }
    if (is_news)
        pthread_cond_broadcast(&q->finished);
}

static void *work(void *argument)
{
    struct hd_request_worker *w = argument;
    struct hd_requests *q = &w->translator->requests;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->is_ending && !w->taken.first && !may_take(w)) {
            q->n_idle++;
            pthread_cond_wait(&q->arrived, &q->lock);
            q->n_idle--;
        }
        if (q->is_ending)
            break;
        take_requests(w);
        pthread_mutex_unlock(&q->lock);
        for (struct hd_request *r = w->taken.first; r; r = r->next)
            if (!r->is_begun)
                begin_request(r);
        feed(w);
        step(w);
        pthread_mutex_lock(&q->lock);
        q->n_steps++;
        tell_all(w);
        put_away(w);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static bool start_worker(heed_translator *t, heed_error *err)
{
    struct hd_requests *q = &t->requests;
    struct hd_request_worker *w = hd_new(struct hd_request_worker, err);
    if (!w)
        return false;
    w->translator = t;
    w->usual = USUAL_WORDS;
    w->before = q->workers;
    const int failure = pthread_create(&w->thread, NULL, work, w);
    if (failure) {
        hd_free(w);
        return hd_fail(err, HEED_NO_MEMORY, "a thread could not be started (%s)",
                       strerror(failure));
    }
    q->workers = w;
    q->n_workers++;
    return true;
}

/* ---- requests come ----------------------------------------------------------------------------------------- */

void hd_requests_init(struct hd_requests *q)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
#ifndef __APPLE__
    pthread_condattr_setclock(&attributes, CLOCK);
#endif
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->arrived, NULL);
    pthread_cond_init(&q->finished, &attributes);
    pthread_condattr_destroy(&attributes);
}

void hd_requests_release(struct hd_requests *q)
{
    pthread_mutex_lock(&q->lock);
    q->is_ending = true;
    pthread_cond_broadcast(&q->arrived);
    pthread_mutex_unlock(&q->lock);
    for (struct hd_request_worker *w = q->workers, *before; w; w = before) {
        before = w->before;
        pthread_join(w->thread, NULL);
        free_list(&w->taken);
        hd_search_worker_release(&w->search);
        hd_free(w);
    }
    free_list(&q->waiting);
    free_list(&q->done);
    pthread_cond_destroy(&q->finished);
    pthread_cond_destroy(&q->arrived);
    pthread_mutex_destroy(&q->lock);
}

static struct hd_request *new_request(heed_translator *t, const char *text,
                                      const heed_options *options, heed_error *err)
{
    struct hd_request *r = hd_new(struct hd_request, err);
    const bool is_told = r && (r->text = hd_copy_string(text, err)) &&
                         (options ? hd_translate_options_copy(&r->options, options, err)
                                  : hd_translator_options(t, &r->options, err));
    if (is_told)
        hd_choose_markup(&r->options, &text, 1);
    if (is_told && hd_translator_begin(t, &r->options, err) &&
        hd_job_init(&r->job, &t->ensemble, &r->options, r->options.target != NULL, err) &&
        hd_translator_allow_words_alone(t, &r->job, 1, err)) {
        r->line.job = &r->job;
        r->line.number = r->options.number;
        return r;
    }
    free_request(r);
    return NULL;
}

/* When it is due. Steps of several workers go on side by side. */
static long long due_of(const struct hd_requests *q, const struct hd_request *r)
{
    const size_t steps = strlen(r->text) / BYTES_A_STEP;
    return q->n_steps - (long long)(steps < HEAD_START ? steps : HEAD_START) * q->n_workers;
}

/* The lock is held. Without a thread the request is not there. */
static bool add_request(heed_translator *t, struct hd_request *r, heed_error *err)
{
    struct hd_requests *q = &t->requests;
    const bool wants_worker =
        q->n_waiting >= (size_t)q->n_idle && q->n_workers < hd_translator_threads(&r->options);
    heed_error why = {0};
    if (wants_worker && !start_worker(t, &why) && q->n_workers == 0)
        return hd_fail(err, why.code, "%s", why.message);
    r->id = ++q->last_id;
    r->due = due_of(q, r);
    put_in_line(&q->waiting, r);
    q->n_waiting++;
    pthread_cond_signal(&q->arrived);
    return true;
}

uint64_t heed_translator_submit(heed_translator *t, const char *text, const heed_options *options,
                                heed_error *err)
{
    if (!hd_is_given(t, "translator", err) || !hd_is_given(text, "text", err))
        return 0;
    struct hd_request *r = new_request(t, text, options, err);
    if (!r)
        return 0;
    pthread_mutex_lock(&t->requests.lock);
    const bool is_added = add_request(t, r, err);
    const uint64_t id = is_added ? r->id : 0;
    t->requests.n_pending += is_added;
    pthread_mutex_unlock(&t->requests.lock);
    if (!is_added)
        free_request(r);
    return id;
}

/* The request's result or error; the request is gone. */
static heed_result *give(struct hd_request *r, heed_error *err)
{
    heed_result *result = r->line.result;
    if (hd_failed(&r->line.err)) {
        hd_fail(err, r->line.err.code, "%s", r->line.err.message);
        result = NULL;
    } else
        r->line.result = NULL;
    free_request(r);
    return result;
}

heed_result *hd_request_wait(heed_translator *t, const char *text, const heed_options *options,
                             heed_error *err)
{
    struct hd_request *r = new_request(t, text, options, err);
    if (!r)
        return NULL;
    r->is_waited_for = true;
    pthread_mutex_lock(&t->requests.lock);
    const bool is_added = add_request(t, r, err);
    while (is_added && !r->is_done)
        pthread_cond_wait(&t->requests.finished, &t->requests.lock);
    pthread_mutex_unlock(&t->requests.lock);
    if (is_added)
        return give(r, err);
    free_request(r);
    return NULL;
}

/* ---- and go ------------------------------------------------------------------------------------------------ */

/* Waits for a request that is done; the lock is held. */
static void wait_for_one(struct hd_requests *q, int timeout_ms)
{
    struct timespec end;
    clock_gettime(CLOCK, &end);
    end.tv_sec += timeout_ms / 1000;
    end.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    int failure = 0;
    if (timeout_ms < 0)
        while (!q->done.first && q->n_pending > 0)
            pthread_cond_wait(&q->finished, &q->lock);
    else
        while (!q->done.first && timeout_ms > 0 && failure == 0)
            failure = pthread_cond_timedwait(&q->finished, &q->lock, &end);
}

heed_result *heed_translator_take(heed_translator *t, int timeout_ms, uint64_t *id, heed_error *err)
{
    if (id)
        *id = 0;
    if (!hd_is_given(t, "translator", err))
        return NULL;
    struct hd_requests *q = &t->requests;
    pthread_mutex_lock(&q->lock);
    wait_for_one(q, timeout_ms);
    struct hd_request *r = q->done.first;
    if (r) {
        leave(r);
        q->n_pending--;
        if (id)
            *id = r->id;
    }
    pthread_mutex_unlock(&q->lock);
    return r ? give(r, err) : NULL;
}

/* The lock is held. */
static struct hd_request *find(const struct hd_requests *q, uint64_t id)
{
    struct hd_request *r = find_in(&q->waiting, id);
    r = r ? r : find_in(&q->done, id);
    for (const struct hd_request_worker *w = q->workers; w && !r; w = w->before)
        r = find_in(&w->taken, id);
    return r;
}

bool heed_translator_cancel(heed_translator *t, uint64_t id)
{
    if (!t)
        return false;
    struct hd_requests *q = &t->requests;
    pthread_mutex_lock(&q->lock);
    struct hd_request *r = find(q, id);
    if (r) {
        q->n_pending--;
        q->n_waiting -= r->list == &q->waiting;
        if (r->list == &q->waiting || r->list == &q->done)
            leave(r);
        else { /* its worker drops it after this step */
            r->is_cancelled = true;
            r = NULL;
        }
        pthread_cond_broadcast(&q->finished); /* whoever waits for the last one need not */
        free_request(r);
        pthread_mutex_unlock(&q->lock);
        return true;
    }
    pthread_mutex_unlock(&q->lock);
    return false;
}

size_t heed_translator_pending(heed_translator *t)
{
    if (!t)
        return 0;
    pthread_mutex_lock(&t->requests.lock);
    const size_t n = t->requests.n_pending;
    pthread_mutex_unlock(&t->requests.lock);
    return n;
}
