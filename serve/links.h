/* links.h -- the connections that are open, and until when each may do what it does.
 *
 * libmicrohttpd ends connections on which nothing happens, but a client that sends a byte a second would keep one for good. So each
 * has a moment at which it is closed, whatever happens on it: the head of a request must have come by then, or its body, or its
 * answer have been read. */
#ifndef HD_SERVE_LINKS_H
#define HD_SERVE_LINKS_H

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

/* What it does next may take so many seconds from now; 0: as long as it likes. And a request is over: the next may come. */
void hd_links_set(struct hd_links *links, struct hd_link *link, int seconds);
void hd_links_rest(struct hd_links *links, struct hd_link *link, int seconds);

/* Close those whose time is over. */
void hd_links_close_late(struct hd_links *links);

/* No connection is kept after its request; those between requests are closed. */
void hd_links_end(struct hd_links *links);
bool hd_links_is_last(struct hd_links *links);

size_t hd_links_size(struct hd_links *links);

/* Close all that are left. */
void hd_links_shut(struct hd_links *links);

#endif
