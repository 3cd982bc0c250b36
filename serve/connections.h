/* connections.h -- the connections that are open, and until when each may do what it does.
 *
 * libmicrohttpd ends connections on which nothing happens, but a client that sends a byte a second would keep one for good. So each
 * has a moment at which it is closed, whatever happens on it: the head of a request must have come by then, or its body, or its
 * answer have been read. */
#ifndef HD_SERVE_CONNECTIONS_H
#define HD_SERVE_CONNECTIONS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct hd_link;

struct hd_links {
    pthread_mutex_t lock;
    struct hd_link *first;
    size_t n;
    size_t n_closed; /* because their time was over */
    int head_seconds;
    bool is_last; /* the server ends: no connection is kept */
};

void hd_links_init(struct hd_links *links, int head_seconds);
void hd_links_release(struct hd_links *links);

/* Called by the daemon when a connection begins or ends. */
void hd_links_note(void *links, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode what);

/* What a connection does. */
enum hd_link_state {
    HD_LINK_RESTS,    /* no request has begun */
    HD_LINK_RECEIVES, /* one is coming */
    HD_LINK_WORKS,    /* it is here, and is answered */
    HD_LINK_SENDS,    /* the answer goes */
};

/* What it does from now on, for so many seconds at most; 0: as long as it likes. NULL is fine. */
void hd_links_set(struct hd_links *links, struct hd_link *link, enum hd_link_state state,
                  int seconds);

/* Close those whose time is over, and those whose client has gone before its request was here. */
void hd_links_close_late(struct hd_links *links);

/* No connection is kept after its request; those between requests are closed. */
void hd_links_end(struct hd_links *links);
bool hd_links_is_last(struct hd_links *links);

size_t hd_links_size(struct hd_links *links);

/* Close all that are left. */
void hd_links_shut(struct hd_links *links);

#endif
