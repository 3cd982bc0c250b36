/* guard.h -- who may ask: names under which the server is called, pages of other origins, keys, and how much of each.
 *
 * A page of a stranger can reach a server of this machine by a name that is pointed at it, so a name must be one that was
 * configured. Keys are compared in a time that says nothing about them, and are in no log. */
#ifndef HD_SERVE_GUARD_H
#define HD_SERVE_GUARD_H

#include "serve/serve.h"

#include <microhttpd.h>
#include <pthread.h>

struct hd_http;
struct hd_bucket;
struct hd_key;

struct hd_guard {
    const struct hd_serve_settings *settings;
    const char *host;     /* where the server listens */
    bool is_local;        /* nobody else can connect */
    pthread_mutex_t lock; /* of all below */
    struct hd_key *keys;
    size_t n_keys;
    struct hd_bucket *buckets;
    size_t n_buckets, bucket_room;
};

/* `host` is where the server listens. False with the reason in `err`: the keys cannot be read; the address is not for this machine
 * alone, and nobody said that it may be. */
bool hd_guard_init(struct hd_guard *guard, const struct hd_serve_settings *settings,
                   const char *host, heed_error *err);
void hd_guard_release(struct hd_guard *guard);

/* Read the keys again. */
bool hd_guard_reload(struct hd_guard *guard, heed_error *err);

/* Is this address of this machine alone? A path is: it is that of a socket of files. */
bool hd_guard_is_local(const char *host);

/* A method's name that stays; "OTHER" for what nobody sends. */
const char *hd_guard_method(const char *method);

/* The client behind a proxy, where that is believed. */
void hd_guard_note_proxy(const struct hd_guard *guard, struct hd_http *http);

/* Is the request for this server, and not of a stranger's page? Refuses it if not. */
bool hd_guard_admits(struct hd_guard *guard, struct hd_http *http);

/* Does it have a key, where one is needed? Refuses it if not. */
bool hd_guard_has_key(struct hd_guard *guard, struct hd_http *http);

/* So many texts now; refuses them if that is too often. */
bool hd_guard_spend(struct hd_guard *guard, struct hd_http *http, size_t n_texts);

/* What a browser wants to know of a page that may ask. */
void hd_guard_add_cors(struct hd_guard *guard, const struct hd_http *http,
                       struct MHD_Response *response);

#endif
