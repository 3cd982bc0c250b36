/* desk.c -- work goes out and comes back.
 *
 * Submitting holds the lock, so no result can come back before it is known whose it is. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "serve/desk.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "serve/service.h"
#include "serve/stream.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#ifndef POLLRDHUP
#define POLLRDHUP 0 /* such a system tells of it by POLLHUP */
#endif

void hd_desk_init(struct hd_desk *desk, struct hd_service *service)
{
    *desk = (struct hd_desk){.service = service};
    pthread_mutex_init(&desk->lock, NULL);
    hd_clerk_init(&desk->answers, hd_desk_make);
}

void hd_desk_release(struct hd_desk *desk)
{
    hd_clerk_release(&desk->answers);
    pthread_mutex_destroy(&desk->lock);
}

size_t hd_desk_size(struct hd_desk *desk)
{
    pthread_mutex_lock(&desk->lock);
    const size_t n = desk->n_under_way;
    pthread_mutex_unlock(&desk->lock);
    return n;
}

/* ---- work -------------------------------------------------------------------------------------------------- */

struct hd_work *hd_work_new(struct hd_http *http, struct hd_fleet *fleet,
                            struct hd_served *direction, size_t n_units)
{
    struct hd_work *w = hd_new(struct hd_work, NULL);
    if (!w)
        return NULL;
    *w = (struct hd_work){.http = http,
                          .fleets = &http->service->fleets,
                          .fleet = fleet,
                          .direction = direction,
                          .n_units = n_units,
                          .units = hd_alloc(n_units, sizeof *w->units, NULL)};
    if (!w->units) {
        hd_free(w);
        return NULL;
    }
    http->work = w;
    return w;
}

void hd_work_free(struct hd_work *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_units; i++)
        heed_result_free(w->units[i].result);
    if (w->free_data)
        w->free_data(w->data);
    hd_fleets_leave(w->fleets, w->fleet);
    if (w->has_http)
        hd_http_free(w->http);
    hd_free(w->units);
    hd_free(w);
}

/* ---- units by id: the lock is held ---------------------------------------------------------------------------- */

static size_t slot_of(const struct hd_engine *e, uint64_t id)
{
    return (size_t)(id + ((uintptr_t)e >> 6) * 31) % HD_DESK_SLOTS;
}

static void put_unit(struct hd_desk *desk, struct hd_unit *u, uint64_t id)
{
    struct hd_unit **slot = &desk->slots[slot_of(u->work->direction->engine, id)];
    u->id = id;
    u->is_under_way = true;
    u->next = *slot;
    *slot = u;
    desk->n_under_way++;
    u->work->n_left++;
}

static struct hd_unit *take_unit(struct hd_desk *desk, const struct hd_engine *e, uint64_t id)
{
    struct hd_unit **at = &desk->slots[slot_of(e, id)];
    while (*at && ((*at)->id != id || (*at)->work->direction->engine != e))
        at = &(*at)->next;
    struct hd_unit *u = *at;
    if (u) {
        *at = u->next;
        u->is_under_way = false;
        desk->n_under_way--;
        u->work->n_left--;
    }
    return u;
}

static void join(struct hd_desk *desk, struct hd_work *w)
{
    w->next = desk->first;
    if (desk->first)
        desk->first->previous = w;
    desk->first = w;
    w->is_out = true;
}

/* Whoever makes it leave completes it. */
static void leave(struct hd_desk *desk, struct hd_work *w)
{
    w->is_out = false;
    w->is_completing = true;
    *(w->previous ? &w->previous->next : &desk->first) = w->next;
    if (w->next)
        w->next->previous = w->previous;
    w->next = w->previous = NULL;
}

/* Drop the texts that are still under way. Those that are being brought back this moment are not. */
static void drop_units(struct hd_desk *desk, struct hd_work *w)
{
    for (size_t i = 0; i < w->n_units; i++) {
        struct hd_unit *u = &w->units[i];
        struct hd_engine *e = w->direction ? w->direction->engine : NULL;
        if (u->is_under_way && e && heed_translator_cancel(e->translator, u->id))
            take_unit(desk, e, u->id);
    }
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

static void tell_stream(void *context, const heed_progress *progress)
{
    const struct hd_unit *u = context;
    hd_stream_progress(u->stream, (size_t)(u - u->work->units), progress);
}

static bool submit_all(struct hd_desk *desk, struct hd_work *w, const char *const *texts,
                       heed_options *const *options, bool one_option)
{
    for (size_t i = 0; i < w->n_units; i++) {
        struct hd_unit *u = &w->units[i];
        u->work = w;
        u->stream = w->http->stream;
        if (u->stream)
            heed_options_watch(options[one_option ? 0 : i], tell_stream, u);
        const uint64_t id = heed_translator_submit(w->direction->engine->translator, texts[i],
                                                   options[one_option ? 0 : i], &w->err);
        if (!id)
            return false;
        put_unit(desk, u, id);
    }
    return true;
}

static void refuse_full(struct hd_http *http)
{
    hd_metrics_reject(&http->service->metrics, HD_REJECTED_QUEUE);
    http->retry_after = 1;
    hd_http_refuse(http, MHD_HTTP_SERVICE_UNAVAILABLE,
                   "too many texts are waiting; come again in a moment");
}

void hd_desk_submit(struct hd_desk *desk, struct hd_work *w, const char *const *texts,
                    heed_options *const *options, bool one_option)
{
    struct hd_http *http = w->http;
    const struct hd_serve_settings *s = desk->service->settings;
    if (w->n_units == 0) {
        w->finish(http, w);
        return;
    }
    pthread_mutex_lock(&desk->lock);
    const bool has_room =
        desk->n_under_way == 0 || desk->n_under_way + w->n_units <= (size_t)s->max_queue;
    w->deadline = hd_seconds() + s->answer_time;
    const bool is_out = has_room && submit_all(desk, w, texts, options, one_option);
    if (is_out) {
        join(desk, w);
        http->is_waiting = true;
        if (http->stream)
            hd_http_send(http); /* now: once the lock is open the answer may be another thread's */
        else
            MHD_suspend_connection(http->connection);
    } else
        drop_units(desk, w);
    pthread_mutex_unlock(&desk->lock);
    if (is_out)
        return;
    hd_stream_free(http->stream); /* a refusal is an answer like any other */
    http->stream = NULL;
    if (!has_room)
        refuse_full(http);
    else
        hd_http_refuse_for(http, &w->err);
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

static void answer_unfinished(struct hd_http *http, enum hd_work_end end)
{
    hd_metrics_reject(&http->service->metrics,
                      end == HD_WORK_GONE ? HD_REJECTED_GONE : HD_REJECTED_LATE);
    http->retry_after = end == HD_WORK_LATE ? 5 : 1;
    hd_http_refuse(http, MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
                   end == HD_WORK_LATE ? "the translation took too long; send less text at a time"
                                       : "the server is stopping; come again in a moment");
    if (end == HD_WORK_GONE)
        http->status = 499; /* nobody reads it; the log says so */
}

/* All of its texts are back or dropped. Afterwards the work is the request's again, if that is still there. */
static void answer(struct hd_desk *desk, struct hd_work *w)
{
    struct hd_http *http = w->http;
    if (w->end != HD_WORK_DONE)
        answer_unfinished(http, w->end);
    else if (w->err.code != HEED_OK)
        hd_http_refuse_for(http, &w->err);
    else
        w->finish(http, w);
    const bool is_stream = http->stream != NULL;
    if (is_stream)
        hd_stream_end(http->stream);
    pthread_mutex_lock(&desk->lock);
    w->is_in_hand = false;
    const bool is_orphan = w->is_orphan;
    pthread_mutex_unlock(&desk->lock);
    if (is_orphan)
        hd_work_free(w);
    else if (!is_stream)
        MHD_resume_connection(http->connection); /* from here on it is the daemon's */
}

enum next { NEXT_TELL, NEXT_ANSWER, NEXT_FREE, NEXT_NOTHING };

/* What is to be done for work that is in hand; the lock is held. */
static enum next next_of(struct hd_work *w)
{
    if (w->is_orphan) {
        w->is_in_hand = false;
        return w->is_out ? NEXT_NOTHING
                         : NEXT_FREE; /* the thread that brings its last text frees it */
    }
    if (w->http->stream && w->end == HD_WORK_DONE && w->err.code == HEED_OK &&
        w->n_told < w->n_units && w->units[w->n_told].result)
        return NEXT_TELL;
    w->is_in_hand = w->is_completing;
    return w->is_completing ? NEXT_ANSWER : NEXT_NOTHING;
}

void hd_desk_make(struct hd_work *w, bool is_too_late)
{
    struct hd_desk *desk = &w->http->service->desk;
    enum next next;
    do {
        pthread_mutex_lock(&desk->lock);
        if (is_too_late && w->is_completing && w->end == HD_WORK_DONE)
            w->end = HD_WORK_STOPPED;
        next = next_of(w);
        pthread_mutex_unlock(&desk->lock);
        if (next == NEXT_TELL) {
            hd_stream_unit(w->http->stream, w->n_told, w->units[w->n_told].result);
            w->n_told++;
        }
    } while (next == NEXT_TELL);
    if (next == NEXT_ANSWER)
        answer(desk, w);
    else if (next == NEXT_FREE)
        hd_work_free(w);
}

/* It is in hand: ours, or the clerk's where it takes long and not too much waits there, since results take memory. */
static void make_or_give(struct hd_desk *desk, struct hd_work *w, bool is_quick)
{
    enum { MOST_WAITING = 32 };
    if (is_quick || !hd_clerk_give(&desk->answers, w, MOST_WAITING))
        hd_desk_make(w, false);
}

void hd_desk_give(struct hd_desk *desk, struct hd_clerk *clerk, struct hd_work *w)
{
    pthread_mutex_lock(&desk->lock); /* so that the clerk does not answer before it is suspended */
    w->is_completing = w->is_in_hand = w->http->is_waiting =
        hd_clerk_give(clerk, w, (size_t)desk->service->settings->max_queue);
    if (w->http->is_waiting)
        MHD_suspend_connection(w->http->connection);
    pthread_mutex_unlock(&desk->lock);
    if (!w->http->is_waiting)
        refuse_full(w->http);
}

bool hd_desk_abandon(struct hd_desk *desk, struct hd_work *w)
{
    if (!w)
        return true;
    pthread_mutex_lock(&desk->lock);
    if (w->is_out) {
        drop_units(desk, w);
        if (w->n_left == 0)
            leave(desk, w);
    }
    const bool is_in_hand = w->is_in_hand, is_orphan = w->is_out || is_in_hand;
    w->is_orphan = is_orphan;
    w->has_http = is_in_hand;
    pthread_mutex_unlock(&desk->lock);
    if (!is_orphan)
        hd_work_free(w);
    return !is_in_hand;
}

/* How many numbers a result has that grow faster than its text, or are many for each word. */
static size_t numbers_of(const heed_result *r)
{
    size_t n = r->n_beam;
    for (size_t i = 0; i < r->n_translations; i++) {
        const heed_translation *t = r->translations[i];
        const size_t n_subword_weights = t->n_subword_rows * t->n_subword_columns;
        n += (t->attention ? t->n_attention_rows * t->n_attention_columns : 0) +
             (t->subword_attention ? n_subword_weights : 0) +
             (t->subword_scores ? n_subword_weights : 0) + t->n_choices * t->n_subwords;
    }
    return n;
}

/* A result, or why there is none, is one of this work's. Where there can be no answer, the rest is dropped. The lock is held. */
static void note_result(struct hd_desk *desk, struct hd_unit *u, heed_result *r,
                        const heed_error *err)
{
    struct hd_work *w = u->work;
    const size_t most = (size_t)desk->service->settings->max_numbers;
    u->result = r;
    w->n_numbers += r ? numbers_of(r) : 0;
    if (!r)
        hd_fail(&w->err, err->code, "%s", err->message);
    else if (w->n_numbers > most)
        hd_fail(&w->err, HEED_BAD_OPTION,
                "the answer would have more than %zu numbers (weights of attention, steps, tree); "
                "send less text at a time, or ask with attention none",
                most);
    if (w->err.code != HEED_OK)
        drop_units(desk, w);
}

static void bring(struct hd_desk *desk, const struct hd_engine *e, uint64_t id, heed_result *r,
                  const heed_error *err)
{
    enum { NOTHING, MAKE, FREE } what = NOTHING;
    bool is_quick = false;
    pthread_mutex_lock(&desk->lock);
    struct hd_unit *u = take_unit(desk, e, id);
    struct hd_work *w = u ? u->work : NULL;
    if (r)
        hd_metrics_text(&desk->service->metrics, hd_utf8_count(r->source, strlen(r->source)),
                        r->n_words, r->translations[0]->n_words);
    if (u)
        note_result(desk, u, r, err);
    if (w && w->n_left == 0)
        leave(desk, w);
    if (w && !w->is_in_hand && w->is_orphan)
        what = w->is_out ? NOTHING : FREE;
    else if (w && !w->is_in_hand && (w->is_completing || w->http->stream)) {
        what = MAKE;
        w->is_in_hand = true;
        is_quick = w->http->n_characters <= w->most_quick;
    }
    pthread_mutex_unlock(&desk->lock);
    if (!u)
        heed_result_free(r);
    if (what == MAKE)
        make_or_give(desk, w, is_quick);
    else if (what == FREE)
        hd_work_free(w);
}

void *hd_desk_take(void *engine)
{
    struct hd_engine *e = engine;
    while (!atomic_load(&e->is_ending)) {
        uint64_t id = 0;
        heed_error err = {0};
        heed_result *r = heed_translator_take(e->translator, 100, &id, &err);
        if (id != 0)
            bring(e->desk, e, id, r, &err);
    }
    return NULL;
}

/* ---- a look at all ------------------------------------------------------------------------------------------------ */

/* A client that will send nothing more has gone, or waits for its answer all the same. To tell which, it is sent what every client of HTTP/1.1
 * passes over: if nobody is there, the next look finds the connection broken. The lock is held. */
static bool has_gone(struct hd_work *w)
{
    static const char probe[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct hd_http *http = w->http;
    struct pollfd p = {.fd = http->fd, .events = POLLRDHUP};
    if (http->fd < 0 || poll(&p, 1, 0) <= 0)
        return false;
    if (p.revents & (POLLHUP | POLLERR) || http->stream || !http->passes_over)
        return p.revents & (POLLRDHUP | POLLHUP | POLLERR);
    if (p.revents & POLLRDHUP && !w->is_probed) {
        w->is_probed = true;
        return send(http->fd, probe, sizeof probe - 1, MSG_NOSIGNAL | MSG_DONTWAIT) <
               (ssize_t)sizeof probe - 1;
    }
    return false;
}

void hd_desk_look(struct hd_desk *desk, bool all)
{
    const double now = hd_seconds();
    struct hd_work *ended = NULL;
    pthread_mutex_lock(&desk->lock);
    for (struct hd_work *w = desk->first, *next; w; w = next) {
        next = w->next;
        if (w->is_orphan)
            continue;
        const enum hd_work_end end = all                 ? HD_WORK_STOPPED
                                     : now > w->deadline ? HD_WORK_LATE
                                     : has_gone(w)       ? HD_WORK_GONE
                                                         : HD_WORK_DONE;
        if (end == HD_WORK_DONE)
            continue;
        w->end = end;
        drop_units(desk, w);
        if (w->n_left > 0)
            continue;
        leave(desk, w);
        if (w->is_in_hand)
            continue; /* whoever has it sees it */
        w->is_in_hand = true;
        w->after = ended;
        ended = w;
    }
    pthread_mutex_unlock(&desk->lock);
    for (struct hd_work *next; ended; ended = next) {
        next = ended->after;
        ended->after = NULL;
        hd_desk_make(ended, false);
    }
}
