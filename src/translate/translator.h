/* translator.h -- what a translator keeps: models, options, and two ways to work with them.
 *
 * A call (call.c) brings its texts and waits; the calling thread does its share. A request (request.c) is one text that worker
 * threads translate while the caller goes on. Both keep their searchers warm. */
#ifndef HD_TRANSLATE_TRANSLATOR_H
#define HD_TRANSLATE_TRANSLATOR_H

#include "base/threads.h"
#include "translate/job.h"
#include "translate/search_worker.h"

#include <pthread.h>

/* What calls keep. One call at a time has it: `lock` is held. */
struct hd_calls {
    pthread_mutex_t lock;
    struct hd_pool *pool; /* NULL until several threads are wanted */
    struct hd_search_worker *workers;
    int n_workers;      /* threads of the pool, the caller's included */
    heed_results *last; /* of heed_translator_text() */
    bool (*watch)(void *context, size_t n_done, size_t n);
    void *context;
};

struct hd_request;

/* Requests in order. {0} is none. */
struct hd_request_list {
    struct hd_request *first, *last;
};

/* Requests: each is in one list, and moves on. */
struct hd_requests {
    pthread_mutex_t lock;    /* of all below, the workers' lists included */
    pthread_cond_t arrived;  /* a request waits, or it is time to end */
    pthread_cond_t finished; /* a request has been finished */
    struct hd_request_list waiting,
        done; /* those that wait are in order: who is due first is first */
    size_t n_waiting;
    long long n_steps; /* that workers have made */
    size_t n_pending;  /* submitted, and neither taken nor cancelled */
    uint64_t last_id;
    struct hd_request_worker *workers; /* the one started last; each knows the one before */
    int n_workers, n_idle;
    bool is_ending;
};

/* The public heed_translator. */
struct heed_translator {
    struct hd_ensemble ensemble;
    heed_model *own;             /* of heed_translator_open(); else NULL */
    pthread_mutex_t set_lock;    /* of whoever changes the options: a file may be read for that */
    pthread_mutex_t option_lock; /* of the options themselves, never for long */
    heed_options options;
    bool has_begun;       /* a text has come: how to compute is settled */
    atomic_long n_greedy; /* segments for which words alone were enough */
    struct hd_calls calls;
    struct hd_requests requests;
};

/* A copy of the options as they are now. */
bool hd_translator_options(heed_translator *translator, heed_options *copy, heed_error *err);

/* Before a text is translated with these options: they must want to compute as the translator does. */
bool hd_translator_begin(heed_translator *translator, const heed_options *options, heed_error *err);

/* As many threads as the options say. */
int hd_translator_threads(const heed_options *options);

/* May a job of so many segments be searched for words alone, and so faster? Makes what is needed for it, once. */
bool hd_translator_allow_words_alone(heed_translator *translator, struct hd_job *job,
                                     size_t n_segments, heed_error *err);

/* What calls and requests keep. */
void hd_calls_init(struct hd_calls *calls);
void hd_calls_release(struct hd_calls *calls);
void hd_requests_init(struct hd_requests *q);
void hd_requests_release(struct hd_requests *q);

/* Translate one text as a request and wait for it; NULL with the reason in `err`. */
heed_result *hd_request_wait(heed_translator *translator, const char *text,
                             const heed_options *options, heed_error *err);
#endif
