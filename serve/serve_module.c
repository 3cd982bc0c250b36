/* serve_module.c -- what libheed calls: a server starts, looks after itself, and ends.
 *
 * The daemon's thread reads requests and sends answers; the calling thread waits for what it is told and, a few times a second,
 * closes connections whose time is over and drops work for clients that have gone. */
#include "serve/serve.h"

#include "base/clock.h"
#include "base/error.h"
#include "serve/service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOOK_MS = 50 };

void hd_service_say(struct hd_service *s, enum heed_server_news news, const char *format, ...)
{
    char text[2000];
    if (!s->settings->say)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&s->say_lock);
    s->settings->say(s->settings->context, news, text);
    pthread_mutex_unlock(&s->say_lock);
}

/* ---- the socket ----------------------------------------------------------------------------------------------- */

/* Where a socket listens: an address and a port, or the path of a socket of files. */
static bool note_place(struct hd_service *s, int fd, bool is_given, heed_error *err)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
        struct sockaddr_un path;
        struct sockaddr_storage all;
    } a = {0};
    socklen_t n = sizeof a;
    if (getsockname(fd, &a.any, &n) != 0)
        return hd_fail(err, HEED_BAD_FILE, "the socket that was given is none (%s)",
                       strerror(errno));
    const int family = a.any.sa_family;
    s->port = family == AF_INET    ? ntohs(a.four.sin_port)
              : family == AF_INET6 ? ntohs(a.six.sin6_port)
                                   : 0;
    if (is_given && family == AF_INET)
        inet_ntop(AF_INET, &a.four.sin_addr, s->host, sizeof s->host);
    else if (is_given && family == AF_INET6)
        inet_ntop(AF_INET6, &a.six.sin6_addr, s->host, sizeof s->host);
    else if (is_given)
        snprintf(s->host, sizeof s->host, "/%.100s", a.path.sun_path + (a.path.sun_path[0] == '/'));
    return true;
}

/* The socket that systemd has opened for us, if it has: where that listens counts, and not what --host says. */
static bool take_given_socket(struct hd_service *s, heed_error *err)
{
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    s->socket = -1;
    snprintf(s->host, sizeof s->host, "%s", s->settings->host);
    if (!pid || !n || atol(pid) != (long)getpid() || atoi(n) < 1)
        return true;
    if (atoi(n) > 1)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%.20s sockets are given, but the server listens at one; leave one "
                       "ListenStream= in heed.socket",
                       n);
    s->socket = 3;
    return note_place(s, s->socket, true, err);
}

static bool fail_to_listen(const struct hd_serve_settings *s, int error, heed_error *err)
{
    return hd_fail(err, HEED_BAD_FILE, "the server cannot listen at %s port %d: %s%s", s->host,
                   s->port, strerror(error),
                   error == EADDRINUSE ? "; stop what uses it, or choose another --port"
                   : error == EACCES   ? "; choose a --port from 1024"
                                       : "");
}

static int open_socket(const struct hd_serve_settings *s, heed_error *err)
{
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found = NULL;
    snprintf(port, sizeof port, "%d", s->port);
    const int failure = getaddrinfo(s->host, port, &hints, &found);
    if (failure) {
        hd_fail(err, HEED_BAD_OPTION, "host must be an address of this machine, not '%s' (%s)",
                s->host, gai_strerror(failure));
        return -1;
    }
    const int fd = socket(found->ai_family, SOCK_STREAM, 0), yes = 1;
    const bool ok = fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
                    fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
                    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                    bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 1024) == 0;
    const int error = errno;
    freeaddrinfo(found);
    if (ok)
        return fd;
    if (fd >= 0)
        close(fd);
    fail_to_listen(s, error, err);
    return -1;
}

/* As a browser writes it. */
static void note_address(struct hd_service *s)
{
    const bool is_six = strchr(s->host, ':') != NULL;
    if (s->port == 0)
        snprintf(s->address, sizeof s->address, "unix:%s", s->host);
    else
        snprintf(s->address, sizeof s->address, "http://%s%.60s%s:%d", is_six ? "[" : "", s->host,
                 is_six ? "]" : "", s->port);
}

static bool start_daemon(struct hd_service *s, int fd, heed_error *err)
{
    const struct hd_serve_settings *set = s->settings;
    s->daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0,
        NULL, NULL, hd_http_handle, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED,
        hd_http_complete, s, MHD_OPTION_NOTIFY_CONNECTION, hd_links_note, &s->links,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)set->idle_time, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)set->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)set->max_connections_each, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)131072,
        MHD_OPTION_END);
    return s->daemon ||
           hd_fail(err, HEED_BAD_FILE, "the server could not be started (%s)", strerror(errno));
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static bool load_fleet(struct hd_service *s, heed_error *err)
{
    struct hd_fleet *f = hd_fleet_load(s->settings, &s->desk, err);
    return f && hd_suggestions_put_fleet(&s->suggestions, &s->fleets, f, err);
}

static void reload(struct hd_service *s)
{
    heed_error err = {0};
    if (hd_guard_reload(&s->guard, &err) && load_fleet(s, &err))
        hd_service_say(s, HEED_SERVER_SAYS, "models have been read again");
    else
        hd_service_say(s, HEED_SERVER_SAYS, "models are used as they were: %s", err.message);
}

/* What it is told: 's', 'r', or 0 for nothing in `ms` milliseconds. */
static char told(const struct hd_service *s, int ms)
{
    struct pollfd p = {.fd = s->settings->control, .events = POLLIN};
    char what = 0;
    if (poll(&p, 1, ms) <= 0 || read(s->settings->control, &what, 1) != 1)
        return 0;
    return what;
}

static void look_around(struct hd_service *s)
{
    hd_links_close_late(&s->links);
    hd_desk_look(&s->desk, false);
    hd_fleets_tidy(&s->fleets);
}

/* Nothing more is accepted; what is under way is answered, if that does not take too long and nobody is in a hurry. */
static void drain(struct hd_service *s, MHD_socket listener)
{
    const double deadline = hd_seconds() + s->settings->drain_time;
    atomic_store(&s->is_draining, true);
    (void)MHD_quiesce_daemon(s->daemon);
    hd_links_end(&s->links);
    hd_service_say(s, HEED_SERVER_SAYS, "stopping: %zu texts are under way",
                   hd_desk_size(&s->desk));
    bool in_a_hurry = false;
    while (hd_links_size(&s->links) > 0 && !in_a_hurry && hd_seconds() < deadline) {
        in_a_hurry = told(s, LOOK_MS / 5) == 's';
        look_around(s);
    }
    hd_clerk_hurry(&s->archivist);
    hd_clerk_hurry(&s->desk.answers);
    const double last = hd_seconds() + 1; /* for those that are told that there will be no answer */
    for (bool is_first = true; hd_links_size(&s->links) > 0 && (is_first || hd_seconds() < last);
         is_first = false) {
        hd_desk_look(&s->desk, true);
        told(s, 5);
    }
    hd_clerk_end(&s->archivist);
    hd_clerk_end(&s->desk.answers);
    hd_links_shut(&s->links);
    MHD_stop_daemon(s->daemon);
    close(listener);
}

static void serve(struct hd_service *s, MHD_socket listener)
{
    for (char what; (what = told(s, LOOK_MS)) != 's';) {
        if (what == 'r')
            reload(s);
        look_around(s);
    }
    drain(s, listener);
}

static void say_start(struct hd_service *s)
{
    struct hd_fleet *f = hd_fleets_use(&s->fleets);
    char directions[256] = "";
    for (size_t i = 0, n = 0; i < f->n && n < sizeof directions - 40; i++)
        n += (size_t)snprintf(directions + n, sizeof directions - n, "%s%.12s-%.12s",
                              i > 0 ? ", " : "", f->at[i].from, f->at[i].to);
    hd_fleets_leave(&s->fleets, f);
    hd_service_say(s, HEED_SERVER_LISTENS, "%s/", s->address);
    hd_service_say(s, HEED_SERVER_SAYS, "serving %s", directions);
    if (!s->guard.is_local && !s->settings->api_keys)
        hd_service_say(s, HEED_SERVER_SAYS, "everybody who reaches %s can use it", s->address);
}

static bool start(struct hd_service *s, heed_error *err)
{
    if (!load_fleet(s, err))
        return false;
    if (s->socket < 0)
        s->socket = open_socket(s->settings, err);
    const int fd = s->socket;
    if (fd < 0 || !note_place(s, fd, false, err))
        return false;
    note_address(s);
    if (!hd_clerk_start(&s->desk.answers, err) || !hd_clerk_start(&s->archivist, err) ||
        !start_daemon(s, fd, err)) {
        close(fd);
        return false;
    }
    say_start(s);
    serve(s, fd);
    return true;
}

static bool run(const struct hd_serve_settings *settings, heed_error *err)
{
    static struct hd_service service; /* the desk is large */
    struct hd_service *s = &service;
    memset(s, 0, sizeof *s);
    s->settings = settings;
    pthread_mutex_init(&s->say_lock, NULL);
    hd_fleets_init(&s->fleets);
    hd_desk_init(&s->desk, s);
    hd_clerk_init(&s->archivist, hd_desk_make);
    hd_links_init(&s->links, settings->header_time);
    hd_metrics_init(&s->metrics);
    hd_page_init(&s->page);
    hd_downloads_init(&s->downloads);
    const bool can_remember = hd_suggestions_init(&s->suggestions, settings->memory, err);
    const bool ok = can_remember && take_given_socket(s, err) &&
                    hd_guard_init(&s->guard, settings, s->host, err) && start(s, err);
    hd_fleets_release(&s->fleets);
    hd_downloads_release(&s->downloads);
    hd_page_release(&s->page);
    hd_metrics_release(&s->metrics);
    hd_links_release(&s->links);
    hd_clerk_release(&s->archivist);
    hd_desk_release(&s->desk);
    hd_guard_release(&s->guard);
    hd_suggestions_release(&s->suggestions);
    pthread_mutex_destroy(&s->say_lock);
    return ok;
}

const struct hd_serve_module hd_serve_module = {HEED_VERSION, run};
