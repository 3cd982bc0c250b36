/* desk.h -- texts under way. A piece of work is all texts of one request; each is submitted to its model's translator, where it
 * joins the texts of others, and the thread that takes the results brings them back. Whoever brings the last one finishes the work
 * and resumes the connection; where its answer takes long to make, a clerk does (clerk.h), and the others' results need not wait.
 *
 * A client that has gone, or waits too long, is found by a look at all work under way, and its texts are dropped. */
#ifndef HD_SERVE_DESK_H
#define HD_SERVE_DESK_H

#include "serve/clerk.h"
#include "serve/fleet.h"

#include <pthread.h>

struct hd_http;
struct hd_work;
struct hd_service;
struct hd_stream;

struct hd_unit {
    struct hd_work *work;
    uint64_t id;
    heed_result *result; /* NULL when it failed or was dropped */
    struct hd_unit *next;
    bool is_under_way;
    struct hd_stream *stream; /* that wants to know how far it is; NULL: none does */
};

enum hd_work_end { HD_WORK_DONE, HD_WORK_GONE, HD_WORK_LATE, HD_WORK_STOPPED };

struct hd_work {
    struct hd_http *http;
    struct hd_fleets *fleets;
    struct hd_fleet *fleet;
    struct hd_served *direction;
    struct hd_unit *units;
    size_t n_units, n_left, n_told; /* n_told: that a stream knows */
    size_t n_numbers;               /* of the results that are there */
    double deadline;
    enum hd_work_end end;
    heed_error err; /* the first of its texts */
    /* All results are there: makes the answer. Not called when it ended otherwise. */
    void (*finish)(struct hd_http *http, struct hd_work *work);
    void *data; /* of the route; freed by free_data */
    void (*free_data)(void *data);
    size_t
        most_quick; /* characters of texts of which an answer is made at once; of more a clerk makes it */
    struct hd_work *next, *previous; /* under way */
    struct hd_work *after;           /* before a clerk */
    bool is_out, is_completing;      /* texts are under way; their answer is being made */
    bool is_in_hand;                 /* of a clerk, or of the thread that answers */
    bool is_orphan;                  /* its request is over */
    bool is_probed; /* its client says nothing more, and was asked whether it listens */
    bool has_http;  /* which it has to free, then */
};

enum { HD_DESK_SLOTS = 4096 };

struct hd_desk {
    struct hd_service *service;
    pthread_mutex_t lock; /* of all below, and of what is under way */
    struct hd_unit *slots[HD_DESK_SLOTS];
    struct hd_work *first;
    size_t n_under_way;      /* texts */
    struct hd_clerk answers; /* makes those that take long */
};

void hd_desk_init(struct hd_desk *desk, struct hd_service *service);
void hd_desk_release(struct hd_desk *desk);

/* New work of a request, which owns it from now on; the fleet is left when it is freed. NULL without memory. */
struct hd_work *hd_work_new(struct hd_http *http, struct hd_fleet *fleet,
                            struct hd_served *direction, size_t n_units);
void hd_work_free(struct hd_work *work);

/* The request is over: nothing more is done for it, and its work is freed as soon as nobody has it in hand. NULL is fine. False: the
 * answer is being made this moment, and the request is freed with the work. */
bool hd_desk_abandon(struct hd_desk *desk, struct hd_work *work);

/* Submit the work's texts and suspend the request, or refuse it: when there is too much to do, or the options are wrong. options[i]
 * is of texts[i]; with one_option the first is of all. */
void hd_desk_submit(struct hd_desk *desk, struct hd_work *work, const char *const *texts,
                    heed_options *const *options, bool one_option);

/* Work without texts, which a clerk does: suspend the request, or refuse it when too much waits. */
void hd_desk_give(struct hd_desk *desk, struct hd_clerk *clerk, struct hd_work *work);

/* What a clerk does with work: tells a stream what has come, makes the answer when all has. */
void hd_desk_make(struct hd_work *work, bool is_too_late);

/* The thread of an engine. */
void *hd_desk_take(void *engine);

/* Drop work whose client has gone or whose time is over; with `all`, everything. */
void hd_desk_look(struct hd_desk *desk, bool all);

size_t hd_desk_size(struct hd_desk *desk);

#endif
