/* http.h -- one HTTP request and its answer.
 *
 * The daemon's thread makes it, collects its body and calls its route. A route answers at once, or leaves the answer to a piece of
 * work (desk.h): the connection is then suspended, another thread says the answer, and the connection is resumed. So one thread at
 * a time has it. */
#ifndef HD_SERVE_HTTP_H
#define HD_SERVE_HTTP_H

#include "base/bytes.h"

#include <heed.h>
#include <jansson.h>
#include <microhttpd.h>

struct hd_service;
struct hd_work;
struct hd_stream;
struct hd_http;

enum hd_route_flag {
    HD_ROUTE_GET = 1,
    HD_ROUTE_POST = 2,
    HD_ROUTE_KEY = 4,    /* where there are keys, one is needed */
    HD_ROUTE_DEEPL = 8,  /* errors look as DeepL's do */
    HD_ROUTE_BELOW = 16, /* everything below the path */
    HD_ROUTE_DELETE = 32,
};

struct hd_route {
    const char *path;
    unsigned flags;
    void (*run)(struct hd_http *http);
};

struct hd_http {
    struct hd_service *service;
    struct MHD_Connection *connection;
    struct hd_link *link; /* the connection's deadlines */
    const struct hd_route *route;
    const char *method;
    char *path;
    double begin;
    int fd;
    bool
        passes_over; /* its client speaks HTTP/1.1, and so knows of answers that are only on the way */
    char address[64]; /* the client's */
    bool has_key;
    int key_rate; /* texts a minute that its key may send; 0: as all */
    struct hd_bytes body;
    bool is_too_long; /* the body is, and is not kept */
    bool is_started, is_waiting;
    json_t *form;
    struct hd_work *work;
    struct hd_stream *stream;
    /* the answer */
    unsigned status;
    struct hd_bytes answer;
    const char *type, *file_name; /* Content-Type; of an attachment */
    const char *etag, *encoding;
    bool is_page; /* for a browser: it gets rules for what it may load */
    int retry_after;
    char reason[200]; /* why it was refused, without what the client wrote: for the log */
    struct MHD_Response *response; /* instead of bytes */
    size_t n_texts, n_characters;
};

/* The handler of the daemon, and what it calls when a request is over. */
enum MHD_Result hd_http_handle(void *service, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **context);
void hd_http_complete(void *service, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode why);
void hd_http_free(struct hd_http *http);

/* Send the answer, or begin to; in the daemon's thread. */
enum MHD_Result hd_http_send(struct hd_http *http);

/* A header of the request, or NULL. */
const char *hd_http_header(const struct hd_http *http, const char *name);

/* Answers. JSON is given away; NULL is an answer without memory. A refusal is a sentence in the manner of the route; it may have %s, %d and
 * %zu, and what the client wrote is a %s with a precision (%.100s): that is not logged. */
void hd_http_say(struct hd_http *http, unsigned status, const char *type, const char *text);
void hd_http_say_json(struct hd_http *http, unsigned status, json_t *json);
void hd_http_refuse(struct hd_http *http, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void hd_http_refuse_for(struct hd_http *http, const heed_error *err);

#endif
