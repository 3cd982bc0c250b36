/* service.h -- all that a running server has. */
#ifndef HD_SERVE_SERVICE_H
#define HD_SERVE_SERVICE_H

#include "serve/clerk.h"
#include "serve/desk.h"
#include "serve/downloads.h"
#include "serve/fleet.h"
#include "serve/guard.h"
#include "serve/http.h"
#include "serve/connections.h"
#include "serve/metrics.h"
#include "serve/page.h"
#include "serve/serve.h"
#include "serve/suggestions.h"

#include <pthread.h>
#include <stdatomic.h>

struct hd_service {
    const struct hd_serve_settings *settings;
    struct MHD_Daemon *daemon;
    int socket;        /* that listens; -1: none yet */
    char host[128];    /* where: 127.0.0.1, or the path of a socket of files */
    int port;          /* 0: of such a socket */
    char address[160]; /* http://127.0.0.1:5000 */
    struct hd_fleets fleets;
    struct hd_guard guard;
    struct hd_desk desk;
    struct hd_links links;
    struct hd_metrics metrics;
    struct hd_page page;
    struct hd_downloads downloads;
    struct hd_suggestions suggestions;
    struct hd_clerk archivist; /* reads and changes the memory */
    pthread_mutex_t say_lock;
    atomic_bool is_draining;
};

/* Tell whoever started the server. */
void hd_service_say(struct hd_service *service, enum heed_server_news news, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The route of a path, or NULL. */
const struct hd_route *hd_route_find(const char *path);

#endif
