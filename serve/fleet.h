/* fleet.h -- the models that are served, and the directions in which they translate: one each, or several.
 *
 * When models are read again, a new fleet takes the place of the old one, which stays until its last request is answered. */
#ifndef HD_SERVE_FLEET_H
#define HD_SERVE_FLEET_H

#include "serve/serve.h"

#include <pthread.h>
#include <stdatomic.h>

struct hd_desk;

/* A model, or several that translate together: a translator and the thread that takes its results. */
struct hd_engine {
    char *name; /* of the model's file */
    heed_model **models;
    int n_models;
    heed_translator *translator;
    struct hd_desk *desk;
    pthread_t taker;
    bool has_taker;
    atomic_bool is_ending;
};

/* A direction that an engine translates in. */
struct hd_served {
    char *from, *to; /* codes: "en", "fr" */
    const char *own_from,
        *own_to; /* the model's names of them, where it has several directions; else NULL */
    struct hd_engine *engine;
};

struct hd_fleet {
    struct hd_engine *engines;
    size_t n_engines;
    struct hd_served *at;
    size_t n, capacity;
    const heed_model *detector; /* tells languages; NULL: there is none, or nothing to tell */
    heed_model *lent;           /* the model inside, where only it can */
    size_t n_users;             /* fleets->lock is held */
    struct hd_fleet *next;
};

struct hd_fleets {
    pthread_mutex_t lock;
    struct hd_fleet *current, *retired;
};

void hd_fleets_init(struct hd_fleets *fleets);
void hd_fleets_release(struct hd_fleets *fleets);

/* Read the models. NULL with the reason in `err`. */
struct hd_fleet *hd_fleet_load(const struct hd_serve_settings *settings, struct hd_desk *desk,
                               heed_error *err);
void hd_fleet_free(struct hd_fleet *fleet); /* NULL is fine */

/* It is the current fleet from now on, and theirs. */
void hd_fleets_put(struct hd_fleets *fleets, struct hd_fleet *fleet);

/* Free those that nobody uses any more. */
void hd_fleets_tidy(struct hd_fleets *fleets);

/* The current fleet, until it is left. */
struct hd_fleet *hd_fleets_use(struct hd_fleets *fleets);
void hd_fleets_leave(struct hd_fleets *fleets, struct hd_fleet *fleet);

/* The first that translates from one language to another, NULL where none does. */
struct hd_served *hd_fleet_find(const struct hd_fleet *fleet, const char *from, const char *to);

/* What a translator must be told to translate in a direction: of a model of several, which one. */
bool hd_served_choose(const struct hd_served *direction, heed_options *options, heed_error *err);

#endif
