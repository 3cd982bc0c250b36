/* clerk.c -- work stands in a line, and one thread makes it. */
#include "serve/clerk.h"

#include "base/error.h"
#include "serve/desk.h"

#include <string.h>

void hd_clerk_init(struct hd_clerk *c, void (*make)(struct hd_work *work, bool is_too_late))
{
    *c = (struct hd_clerk){.make = make};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->given, NULL);
}

static void *run(void *clerk)
{
    struct hd_clerk *c = clerk;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->first && !c->is_ending)
            pthread_cond_wait(&c->given, &c->lock);
        struct hd_work *w = c->first;
        if (!w)
            break;
        c->first = w->after;
        c->n_waiting--;
        w->after = NULL;
        const bool is_too_late = c->is_ending;
        pthread_mutex_unlock(&c->lock);
        c->make(w, is_too_late);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

bool hd_clerk_start(struct hd_clerk *c, heed_error *err)
{
    const int failure = pthread_create(&c->thread, NULL, run, c);
    c->is_running = failure == 0;
    return failure == 0 ||
           hd_fail(err, HEED_NO_MEMORY, "a thread could not be started (%s)", strerror(failure));
}

bool hd_clerk_give(struct hd_clerk *c, struct hd_work *w, size_t most)
{
    pthread_mutex_lock(&c->lock);
    const bool is_taken = !c->is_ending && c->n_waiting < most;
    if (is_taken) {
        w->after = NULL;
        *(c->first ? &c->last->after : &c->first) = w;
        c->last = w;
        c->n_waiting++;
        pthread_cond_signal(&c->given);
    }
    pthread_mutex_unlock(&c->lock);
    return is_taken;
}

void hd_clerk_hurry(struct hd_clerk *c)
{
    pthread_mutex_lock(&c->lock);
    c->is_ending = true;
    pthread_cond_signal(&c->given);
    pthread_mutex_unlock(&c->lock);
}

void hd_clerk_end(struct hd_clerk *c)
{
    hd_clerk_hurry(c);
    if (c->is_running)
        pthread_join(c->thread, NULL);
    c->is_running = false; /* which nobody reads who may give: it has been ending for long */
}

void hd_clerk_release(struct hd_clerk *c)
{
    hd_clerk_end(c);
    pthread_cond_destroy(&c->given);
    pthread_mutex_destroy(&c->lock);
}
