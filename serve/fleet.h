/* fleet.h -- the models that are served, each for one direction: a translator and the thread that takes its results.
 *
 * When models are read again, a new fleet takes the place of the old one, which stays until its last request is answered. */
#ifndef HD_SERVE_FLEET_H
#define HD_SERVE_FLEET_H

#include "serve/serve.h"

#include <pthread.h>
#include <stdatomic.h>

struct hd_desk;

struct hd_served {
    char *name;      /* of the model's file */
    char *from, *to; /* codes: "en", "fr" */
    heed_model **models;
    int n_models;
    heed_translator *translator;
    struct hd_desk *desk;
    pthread_t taker;
    bool has_taker;
    atomic_bool is_ending;
};

struct hd_fleet {
    struct hd_served *at;
    size_t n;
    size_t n_users; /* fleets->lock is held */
    struct hd_fleet *next;
};

struct hd_fleets {
    pthread_mutex_t lock;
    struct hd_fleet *current, *retired;
};

void hd_fleets_init(struct hd_fleets *fleets);
void hd_fleets_release(struct hd_fleets *fleets);

/* Read the models; the new fleet is the current one from now on. False with the reason in `err`, and all is as it was. */
bool hd_fleets_load(struct hd_fleets *fleets, const struct hd_serve_settings *settings,
                    struct hd_desk *desk, heed_error *err);

/* Free those that nobody uses any more. */
void hd_fleets_tidy(struct hd_fleets *fleets);

/* The current fleet, until it is left. */
struct hd_fleet *hd_fleets_use(struct hd_fleets *fleets);
void hd_fleets_leave(struct hd_fleets *fleets, struct hd_fleet *fleet);

/* The first that translates from one language to another, NULL where none does. */
struct hd_served *hd_fleet_find(const struct hd_fleet *fleet, const char *from, const char *to);

/* Does one of them translate from this language, or to it? */
bool hd_fleet_knows(const struct hd_fleet *fleet, const char *code);

#endif
