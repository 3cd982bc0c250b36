/* http.c -- requests come in pieces, are looked at, and are answered. */
#include "serve/http.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "serve/form.h"
#include "serve/service.h"
#include "serve/stream.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEND_SECONDS = 120 }; /* in which an answer must have been read */

const char *hd_http_header(const struct hd_http *http, const char *name)
{
    return MHD_lookup_connection_value(http->connection, MHD_HEADER_KIND, name);
}

/* ---- answers ------------------------------------------------------------------------------------------ */

void hd_http_say(struct hd_http *http, unsigned status, const char *type, const char *text)
{
    http->status = status;
    http->type = type;
    http->answer.n = 0;
    hd_bytes_text(&http->answer, text);
}

void hd_http_say_json(struct hd_http *http, unsigned status, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    json_decref(json);
    if (text)
        hd_http_say(http, status, "application/json", text);
    else
        hd_http_say(http, MHD_HTTP_INTERNAL_SERVER_ERROR, "application/json",
                    "{\"error\": \"there is not enough memory\"}");
    free(text);
}

/* The sentence without texts of the client. */
static void note_reason(struct hd_http *http, const char *format, va_list args)
{
    size_t n = 0;
    for (const char *c = format; *c && n < sizeof http->reason; c++) {
        char *to = http->reason + n;
        const size_t room = sizeof http->reason - n;
        int written = 1;
        if (*c != '%')
            written = snprintf(to, room, "%c", *c);
        else if (*++c == 's')
            written = snprintf(to, room, "%s", va_arg(args, const char *));
        else if (*c == 'd')
            written = snprintf(to, room, "%d", va_arg(args, int));
        else if (*c == 'z') {
            written = snprintf(to, room, "%zu", va_arg(args, size_t));
            c++;
        } else if (*c == '.') {
            c += strspn(c, ".0123456789");
            (void)va_arg(args, const char *);
            written = snprintf(to, room, "...");
        }
        n += (size_t)written;
    }
}

void hd_http_refuse(struct hd_http *http, unsigned status, const char *format, ...)
{
    char sentence[700];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    vsnprintf(sentence, sizeof sentence, format, args);
    note_reason(http, format, again);
    va_end(again);
    va_end(args);
    size_t bad = 0;
    if (!hd_utf8_valid(sentence, strlen(sentence), &bad))
        sentence[bad] = '\0'; /* cut inside a character */
    const bool is_deepl = http->route && http->route->flags & HD_ROUTE_DEEPL;
    hd_http_say_json(http, status, json_pack("{s: s}", is_deepl ? "message" : "error", sentence));
}

void hd_http_refuse_for(struct hd_http *http, const heed_error *err)
{
    const bool is_theirs =
        err->code == HEED_BAD_OPTION || err->code == HEED_BAD_TEXT || err->code == HEED_BAD_MODEL;
    hd_http_refuse(http, is_theirs ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_INTERNAL_SERVER_ERROR, "%s",
                   err->message[0] ? err->message : "there is not enough memory");
    if (is_theirs) /* the sentence may quote what they sent */
        snprintf(http->reason, sizeof http->reason, "%s",
                 err->code == HEED_BAD_OPTION ? "an option is not as it must be"
                 : err->code == HEED_BAD_TEXT ? "a text is not as it must be"
                                              : "the model cannot do that");
}

static void add_page_headers(struct MHD_Response *r)
{
    MHD_add_response_header(
        r, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    MHD_add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
}

static void add_headers(const struct hd_http *http, struct MHD_Response *r)
{
    char text[200];
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, http->type);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, http->etag ? "no-cache" : "no-store");
    if (http->is_page)
        add_page_headers(r);
    if (http->etag)
        MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, http->etag);
    if (http->encoding)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, http->encoding);
    if (http->is_page || http->etag)
        MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
    if (http->retry_after > 0) {
        snprintf(text, sizeof text, "%d", http->retry_after);
        MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, text);
    }
    if (http->file_name) {
        snprintf(text, sizeof text, "attachment; filename=\"%.150s\"", http->file_name);
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_DISPOSITION, text);
    }
    if (http->status == MHD_HTTP_METHOD_NOT_ALLOWED && http->route) {
        const unsigned flags = http->route->flags;
        snprintf(text, sizeof text, "%s%s%sOPTIONS", flags & HD_ROUTE_GET ? "GET, HEAD, " : "",
                 flags & HD_ROUTE_POST ? "POST, " : "", flags & HD_ROUTE_DELETE ? "DELETE, " : "");
        MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, text);
    }
    hd_guard_add_cors(&http->service->guard, http, r);
}

static enum MHD_Result queue_answer(struct hd_http *http)
{
    struct MHD_Response *r = http->response;
    if (!r) {
        r = MHD_create_response_from_buffer(http->answer.n, http->answer.at, MHD_RESPMEM_MUST_COPY);
        if (!r || http->answer.has_failed)
            return MHD_NO;
        add_headers(http, r);
    } else
        add_headers(http, r);
    http->response = NULL;
    if (hd_links_is_last(&http->service->links))
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
    const enum MHD_Result queued = MHD_queue_response(http->connection, http->status, r);
    MHD_destroy_response(r);
    return queued;
}

/* ---- a request ------------------------------------------------------------------------------------------- */

static enum MHD_Result add_argument(void *form, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    (void)kind;
    value = value ? value : "";
    return hd_form_add(form, name, strlen(name), value, strlen(value)) ? MHD_YES : MHD_NO;
}

/* The fields of the query string and of the body; of a JSON body, these alone. */
static bool read_form(struct hd_http *http)
{
    const char *type = hd_http_header(http, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (hd_form_kind(type) == HD_FORM_JSON && http->body.n > 0) {
        if (!hd_form_read(http->form, type, http->body.at, http->body.n)) {
            hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid JSON format");
            return false;
        }
        return true;
    }
    MHD_get_connection_values(http->connection, MHD_GET_ARGUMENT_KIND, add_argument, http->form);
    if (http->body.n > 0 && !hd_form_read(http->form, type, http->body.at, http->body.n)) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: the form cannot be read");
        return false;
    }
    return true;
}

static bool is_method(const struct hd_http *http, const char *method)
{
    return strcmp(http->method, method) == 0;
}

static bool allows_method(const struct hd_http *http)
{
    const unsigned flags = http->route->flags;
    return (flags & HD_ROUTE_GET && (is_method(http, "GET") || is_method(http, "HEAD"))) ||
           (flags & HD_ROUTE_POST && is_method(http, "POST")) ||
           (flags & HD_ROUTE_DELETE && is_method(http, "DELETE"));
}

/* All of it has come. */
static void run_request(struct hd_http *http)
{
    if (http->is_too_long)
        hd_http_refuse(http, MHD_HTTP_CONTENT_TOO_LARGE,
                       "Invalid request: the body is longer than %d bytes",
                       http->service->settings->max_body);
    else if (!hd_guard_admits(&http->service->guard, http))
        ;
    else if (is_method(http, "OPTIONS"))
        hd_http_say(http, MHD_HTTP_NO_CONTENT, "text/plain", "");
    else if (!http->route)
        hd_http_refuse(http, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
    else if (!allows_method(http))
        hd_http_refuse(http, MHD_HTTP_METHOD_NOT_ALLOWED, "%s does not take %s", http->route->path,
                       http->method);
    else if (read_form(http) && hd_guard_has_key(&http->service->guard, http))
        http->route->run(http);
}

static void note_client(struct hd_http *http)
{
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(http->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *link =
        MHD_get_connection_info(http->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const union MHD_ConnectionInfo *address =
        MHD_get_connection_info(http->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    http->fd = fd ? fd->connect_fd : -1;
    http->link = link ? link->socket_context : NULL;
    const struct sockaddr *a = address ? address->client_addr : NULL;
    snprintf(http->address, sizeof http->address, "local");
    if (a && a->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, http->address,
                  sizeof http->address);
    else if (a && a->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, http->address,
                  sizeof http->address);
    hd_guard_note_proxy(&http->service->guard, http);
}

static struct hd_http *new_http(struct hd_service *service, struct MHD_Connection *connection,
                                const char *url, const char *method)
{
    struct hd_http *http = hd_new(struct hd_http, NULL);
    if (!http)
        return NULL;
    *http = (struct hd_http){.service = service,
                             .connection = connection,
                             .begin = hd_seconds(),
                             .route = hd_route_find(url),
                             .path = hd_copy_string(url, NULL),
                             .form = json_object(),
                             .method = hd_guard_method(method)};
    if (!http->path || !http->form) {
        hd_free(http->path);
        json_decref(http->form);
        hd_free(http);
        return NULL;
    }
    note_client(http);
    hd_links_set(&service->links, http->link, HD_LINK_RECEIVES, service->settings->body_time);
    return http;
}

/* A body that is announced to be too long is not asked for. */
static bool is_announced_too_long(const struct hd_http *http)
{
    const char *length = hd_http_header(http, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length &&
           strtoull(length, NULL, 10) > (unsigned long long)http->service->settings->max_body;
}

static void add_to_body(struct hd_http *http, const char *data, size_t n)
{
    if (http->body.n + n > (size_t)http->service->settings->max_body) {
        http->is_too_long = true;
        hd_free(http->body.at);
        http->body = (struct hd_bytes){0};
    }
    if (!http->is_too_long)
        hd_bytes_add(&http->body, data, n);
}

enum MHD_Result hd_http_send(struct hd_http *http)
{
    if (http->status == 0 || http->body.has_failed)
        hd_http_refuse(http, MHD_HTTP_INTERNAL_SERVER_ERROR, "there is not enough memory");
    hd_links_set(&http->service->links, http->link, HD_LINK_SENDS, http->stream ? 0 : SEND_SECONDS);
    return queue_answer(http);
}

enum MHD_Result hd_http_handle(void *service, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **context)
{
    struct hd_http *http = *context;
    if (!http) {
        *context = http = new_http(service, connection, url, method);
        if (!http)
            return MHD_NO;
        http->passes_over = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
        if (is_announced_too_long(http)) {
            http->is_too_long = http->is_started = true;
            run_request(http);
            return hd_http_send(http);
        }
        return MHD_YES;
    }
    if (*size > 0) {
        add_to_body(http, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (!http->is_started) {
        http->is_started = true;
        hd_links_set(&http->service->links, http->link, HD_LINK_WORKS, 0);
        run_request(http);
        if (http->is_waiting)
            return MHD_YES;
    }
    return hd_http_send(http);
}

/* ---- the end -------------------------------------------------------------------------------------------- */

static void log_request(const struct hd_http *http, unsigned status, double seconds)
{
    const struct hd_serve_settings *s = http->service->settings;
    const bool is_short = http->n_texts == 0;
    if (s->is_quiet)
        return;
    char texts[80] = "";
    if (!is_short)
        snprintf(texts, sizeof texts, ", %zu text%s of %zu characters", http->n_texts,
                 http->n_texts == 1 ? "" : "s", http->n_characters);
    hd_service_say(http->service, HEED_SERVER_ANSWERED, "%s %s %s %u%s, %.1f ms", http->address,
                   http->method, http->route ? http->route->path : "(unknown)", status, texts,
                   1e3 * seconds);
    if (s->is_verbose && status >= 400)
        hd_service_say(http->service, HEED_SERVER_ANSWERED, "  %s",
                       s->logs_text && http->answer.n > 0 ? http->answer.at : http->reason);
    const json_t *q = s->logs_text ? json_object_get(http->form, "q") : NULL;
    char *text = q ? json_dumps(q, JSON_ENCODE_ANY) : NULL; /* so that it is one line */
    if (text)
        hd_service_say(http->service, HEED_SERVER_ANSWERED, "  %s", text);
    free(text);
}

void hd_http_free(struct hd_http *http)
{
    hd_stream_free(http->stream);
    json_decref(http->form);
    hd_free(http->body.at);
    hd_free(http->answer.at);
    hd_free(http->path);
    hd_free(http);
}

void hd_http_complete(void *service, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode why)
{
    (void)connection;
    (void)why;
    struct hd_service *s = service;
    struct hd_http *http = *context;
    if (!http)
        return;
    *context = NULL;
    hd_links_set(&s->links, http->link, HD_LINK_RESTS,
                 s->settings->idle_time + s->settings->header_time);
    const double seconds = hd_seconds() - http->begin;
    const unsigned status = http->stream        ? MHD_HTTP_OK /* its head was sent long ago */
                            : http->status == 0 ? 499         /* gone before its request was here */
                                                : http->status;
    hd_metrics_count(&s->metrics, http->route ? http->route->path : "other", status, seconds);
    log_request(http, status, seconds);
    if (hd_desk_abandon(&s->desk, http->work))
        hd_http_free(http);
}
