/* connections.c -- a list of sockets and deadlines. A socket is shut down, not closed: the daemon notices, and tidies up as ever. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "serve/connections.h"

#include "base/clock.h"
#include "base/memory.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifndef POLLRDHUP
#define POLLRDHUP 0 /* such a system tells of it by POLLHUP */
#endif

enum {
    LAST_SECONDS = 3
}; /* for requests that are still coming, and answers still going, when the server ends */

struct hd_link {
    struct hd_link *next, *previous;
    int fd;
    double deadline; /* 0: none */
    enum hd_link_state state;
};

void hd_links_init(struct hd_links *l, int head_seconds)
{
    *l = (struct hd_links){.head_seconds = head_seconds};
    pthread_mutex_init(&l->lock, NULL);
}

void hd_links_release(struct hd_links *l)
{
    while (l->first) {
        struct hd_link *next = l->first->next;
        hd_free(l->first);
        l->first = next;
    }
    pthread_mutex_destroy(&l->lock);
}

static void begin(struct hd_links *l, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct hd_link *link = hd_new(struct hd_link, NULL);
    *context = link;
    if (!link)
        return;
    *link = (struct hd_link){.fd = info ? info->connect_fd : -1,
                             .deadline = hd_seconds() + l->head_seconds};
    pthread_mutex_lock(&l->lock);
    link->next = l->first;
    if (l->first)
        l->first->previous = link;
    l->first = link;
    l->n++;
    pthread_mutex_unlock(&l->lock);
}

static void end(struct hd_links *l, struct hd_link *link)
{
    pthread_mutex_lock(&l->lock);
    *(link->previous ? &link->previous->next : &l->first) = link->next;
    if (link->next)
        link->next->previous = link->previous;
    l->n--;
    pthread_mutex_unlock(&l->lock);
    hd_free(link);
}

void hd_links_note(void *links, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        begin(links, connection, context);
    else if (*context) {
        end(links, *context);
        *context = NULL;
    }
}

void hd_links_set(struct hd_links *l, struct hd_link *link, enum hd_link_state state, int seconds)
{
    if (!link)
        return;
    pthread_mutex_lock(&l->lock);
    link->deadline = seconds > 0 ? hd_seconds() + seconds : 0;
    link->state = state;
    if (state == HD_LINK_RESTS && l->is_last)
        shutdown(link->fd, SHUT_RD); /* what is still to be sent is sent */
    pthread_mutex_unlock(&l->lock);
}

static bool is_all_read(const struct hd_link *link)
{
    int n_unread = 0;
    return ioctl(link->fd, FIONREAD, &n_unread) == 0 && n_unread == 0;
}

/* The client will send nothing more, and all that it sent has been read. */
static bool has_gone(const struct hd_link *link)
{
    struct pollfd p = {.fd = link->fd, .events = POLLRDHUP};
    return link->state <= HD_LINK_RECEIVES && poll(&p, 1, 0) > 0 && is_all_read(link);
}

void hd_links_close_late(struct hd_links *l)
{
    const double now = hd_seconds();
    pthread_mutex_lock(&l->lock);
    for (struct hd_link *link = l->first; link; link = link->next)
        if ((link->deadline > 0 && now > link->deadline) || has_gone(link)) {
            shutdown(link->fd, SHUT_RDWR);
            link->deadline = 0;
            link->state = HD_LINK_WORKS; /* nothing more is expected */
            l->n_closed++;
        }
    pthread_mutex_unlock(&l->lock);
}

void hd_links_end(struct hd_links *l)
{
    pthread_mutex_lock(&l->lock);
    l->is_last = true;
    const double soon = hd_seconds() + LAST_SECONDS;
    for (struct hd_link *link = l->first; link; link = link->next)
        if (link->state == HD_LINK_RESTS && is_all_read(link))
            shutdown(link->fd, SHUT_RDWR);
        else if (link->deadline > soon)
            link->deadline = soon;
    pthread_mutex_unlock(&l->lock);
}

bool hd_links_is_last(struct hd_links *l)
{
    pthread_mutex_lock(&l->lock);
    const bool is_last = l->is_last;
    pthread_mutex_unlock(&l->lock);
    return is_last;
}

size_t hd_links_size(struct hd_links *l)
{
    pthread_mutex_lock(&l->lock);
    const size_t n = l->n;
    pthread_mutex_unlock(&l->lock);
    return n;
}

void hd_links_shut(struct hd_links *l)
{
    pthread_mutex_lock(&l->lock);
    for (struct hd_link *link = l->first; link; link = link->next)
        shutdown(link->fd, SHUT_RDWR);
    pthread_mutex_unlock(&l->lock);
}
