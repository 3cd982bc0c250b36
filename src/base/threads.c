/* threads.c -- the thread pool, and counting cores.
 *
 * Workers sleep until the run number changes, take indices from one atomic counter until there
 * are none, and report back; the run is over when every worker has. Invariant: task, context and
 * n_tasks change only while all workers sleep. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/threads.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 4096 };

struct worker {
    struct hd_pool *pool;
    int number;
    pthread_t thread;
};

struct hd_pool {
    int n_threads;
    int n_started; /* threads that exist: workers 1 .. n_started */
    struct worker *workers;

    pthread_mutex_t lock; /* guards all below but `next` */
    pthread_cond_t begin; /* the run number changed, or it is time to end */
    pthread_cond_t done;  /* n_busy became 0 */
    unsigned long run;
    int n_busy; /* workers that have not finished the current run */
    bool is_ending;
    void (*task)(void *context, int index, int worker);
    void *context;
    int n_tasks;
    atomic_int next;             /* the index to hand out next; may run past n_tasks */
    void (*idle)(void *context); /* of the caller while it waits, or NULL */
    void *idle_context;
};

static void *work(void *argument);
static void take_tasks(struct hd_pool *pool, int worker);
static void wait_for_others(struct hd_pool *pool);

struct hd_pool *hd_pool_new(int n_threads, heed_error *err)
{
    if (n_threads < 1 || n_threads > MOST_THREADS) {
        hd_fail(err, HEED_BAD_OPTION, "%d threads were asked for; choose from 1 to %d", n_threads,
                MOST_THREADS);
        return NULL;
    }
    struct hd_pool *pool = hd_new(struct hd_pool, err);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->n_threads = n_threads;
    pool->workers = hd_alloc((size_t)n_threads, sizeof *pool->workers, err);
    if (!pool->workers)
        goto fail;
    for (int i = 1; i < n_threads; i++) {
        struct worker *w = &pool->workers[i];
        *w = (struct worker){.pool = pool, .number = i};
        const int failure = pthread_create(&w->thread, NULL, work, w);
        if (failure) {
            hd_fail(err, HEED_NO_MEMORY,
                    "thread %d of %d could not be started (%s); use fewer threads", i + 1,
                    n_threads, strerror(failure));
            goto fail;
        }
        pool->n_started = i;
    }
    return pool;
fail:
    hd_pool_free(pool);
    return NULL;
}

void hd_pool_free(struct hd_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i <= pool->n_started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    hd_free(pool->workers);
    hd_free(pool);
}

int hd_pool_size(const struct hd_pool *pool)
{
    return pool->n_threads;
}

void hd_pool_run(struct hd_pool *pool, void (*task)(void *context, int index, int worker),
                 void *context, int n_tasks)
{
    if (pool->n_threads == 1 || n_tasks <= 1) { /* nobody else is needed */
        for (int i = 0; i < n_tasks; i++)
            task(context, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    assert(pool->n_busy == 0); /* else: a run inside a run, or two at a time */
    pool->task = task;
    pool->context = context;
    pool->n_tasks = n_tasks;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->n_busy = pool->n_started;
    pool->run++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);

    take_tasks(pool, 0);

    pthread_mutex_lock(&pool->lock);
    while (pool->n_busy > 0)
        wait_for_others(pool);
    pthread_mutex_unlock(&pool->lock);
}

static void wait_for_others(struct hd_pool *pool)
{
    enum { IDLE_NS = 100000000, SECOND_NS = 1000000000 };
    if (!pool->idle) {
        pthread_cond_wait(&pool->done, &pool->lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += IDLE_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    if (pthread_cond_timedwait(&pool->done, &pool->lock, &until) != ETIMEDOUT)
        return;
    pthread_mutex_unlock(&pool->lock);
    pool->idle(pool->idle_context);
    pthread_mutex_lock(&pool->lock);
}

void hd_pool_set_idle(struct hd_pool *pool, void (*idle)(void *context), void *context)
{
    pool->idle = idle;
    pool->idle_context = context;
}

static void *work(void *argument)
{
    const struct worker *w = argument;
    struct hd_pool *pool = w->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->run == seen && !pool->is_ending)
            pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->is_ending)
            break;
        seen = pool->run;
        pthread_mutex_unlock(&pool->lock);
        take_tasks(pool, w->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->n_busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The counter only shares out the work; what tasks read and write is ordered by the lock before
 * and after. */
static void take_tasks(struct hd_pool *pool, int worker)
{
    for (;;) {
        const int index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index < 0 || index >= pool->n_tasks)
            return;
        pool->task(pool->context, index, worker);
    }
}

/* ---- cores ----------------------------------------------------------------------------------- */

static int cores_by_affinity(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    const long n = sysconf(_SC_NPROCESSORS_ONLN); /* also for machines of more than 1024 CPUs */
    return n > 0 ? (int)n : 1;
}

int heed_cores(void)
{
    const int n = cores_by_affinity();
    const int quota = hd_cores_of_quota("");
    return quota > 0 && quota < n ? quota : n;
}

/* The text of a small file, or false if there is none. */
static bool read_small(char *text, size_t size, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const size_t n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);
    return n > 0;
}

/* `quota` of every `period` microseconds, as whole cores; 0 for no limit. */
static int whole_cores(long quota, long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    const long cores = quota / period + (quota % period != 0);
    return cores < MOST_THREADS ? (int)cores : MOST_THREADS;
}

/* cpu.max of version 2, "max 100000" or "150000 100000", or version 1's two files, in one
 * folder. */
static int quota_in(const char *folder)
{
    char path[4096 + 64], text[64];
    long quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_small(text, sizeof text, path))
        return sscanf(text, "%ld %ld", &quota, &period) == 2 ? whole_cores(quota, period) : 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!read_small(text, sizeof text, path))
        return 0;
    quota = strtol(text, NULL, 10);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!read_small(text, sizeof text, path))
        return 0;
    period = strtol(text, NULL, 10);
    return whole_cores(quota, period);
}

/* The smallest quota on the way from group `group` (such as "/user.slice/app") up to the top of
 * `mount`. Inside a container the group may be named as the host sees it and not exist below the
 * mount: then only the top counts. */
static int smallest_quota(const char *mount, const char *group)
{
    char folder[4096];
    const int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    int smallest = 0;
    for (;;) {
        const int quota = quota_in(folder);
        if (quota > 0 && (smallest == 0 || quota < smallest))
            smallest = quota;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(mount) || !slash)
            return smallest;
        *slash = '\0';
    }
}

/* A line of /proc/self/cgroup is "0::/group" for version 2 and "4:cpu,cpuacct:/group" for
 * version 1. */
int hd_cores_of_quota(const char *root)
{
    char path[4096], mount[4096], text[8192];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_small(text, sizeof text, path))
        return 0;
    int smallest = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (strcmp(controllers, "") == 0)
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        else if (strcmp(controllers, "cpu") == 0 || strcmp(controllers, "cpu,cpuacct") == 0)
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, controllers);
        else
            continue;
        const int quota = smallest_quota(mount, strcmp(group, "/") == 0 ? "" : group);
        if (quota > 0 && (smallest == 0 || quota < smallest))
            smallest = quota;
    }
    return smallest;
}
