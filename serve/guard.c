/* guard.c -- names, origins, keys and rates. */
#include "serve/guard.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "serve/form.h"
#include "serve/service.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct hd_key {
    char *text;
    size_t n;
    int rate; /* texts a minute; 0: as all */
};

/* What is left for a key or an address: texts come back at the rate at which they may be sent. */
struct hd_bucket {
    char name[72];
    double left, last;
};

enum { MOST_BUCKETS = 10000 };

/* ---- keys ----------------------------------------------------------------------------------------------- */

static void free_keys(struct hd_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hd_free(keys[i].text);
    hd_free(keys);
}

/* KEY [TEXTS A MINUTE] */
static bool read_key(struct hd_key *key, const char *path, size_t line, const char *text,
                     heed_error *err)
{
    const size_t n = strcspn(text, " \t\r");
    char *end = NULL;
    const char *rate = text + n + strspn(text + n, " \t\r");
    const long value = strtol(rate, &end, 10);
    if (*rate && (end[strspn(end, " \t\r")] || value < 1 || value > 1000000000))
        return hd_fail(err, HEED_BAD_FILE,
                       "%s:%zu: behind a key there may be how many texts a minute it may send, a "
                       "whole number from 1, and nothing else",
                       path, line);
    *key =
        (struct hd_key){.text = hd_copy_string(text, err), .n = n, .rate = *rate ? (int)value : 0};
    if (key->text)
        key->text[n] = '\0';
    return key->text != NULL;
}

static bool read_keys(const char *path, struct hd_key **keys, size_t *n, heed_error *err)
{
    heed_lines lines = {0};
    *keys = NULL;
    *n = 0;
    if (!path)
        return true;
    if (!heed_lines_read(&lines, path, err))
        return false;
    *keys = hd_alloc(lines.n, sizeof **keys, err);
    bool ok = *keys != NULL;
    for (size_t i = 0; ok && i < lines.n; i++) {
        const char *text = lines.at[i] + strspn(lines.at[i], " \t\r");
        if (*text && *text != '#') {
            ok = read_key(&(*keys)[*n], path, i + 1, text, err);
            *n += ok;
        }
    }
    heed_lines_release(&lines);
    if (ok && *n == 0)
        ok = hd_fail(err, HEED_BAD_FILE, "%s: there is no key in it; write one a line", path);
    if (!ok) {
        free_keys(*keys, *n);
        *keys = NULL;
        *n = 0;
    }
    return ok;
}

bool hd_guard_is_local(const char *host)
{
    unsigned char bytes[16];
    const bool is_mapped = strncasecmp(host, "::ffff:", 7) == 0;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 || host[0] == '/' ||
           (inet_pton(AF_INET, is_mapped ? host + 7 : host, bytes) == 1 && bytes[0] == 127);
}

bool hd_guard_init(struct hd_guard *g, const struct hd_serve_settings *s, const char *host,
                   heed_error *err)
{
    *g = (struct hd_guard){.settings = s, .host = host, .is_local = hd_guard_is_local(host)};
    pthread_mutex_init(&g->lock, NULL);
    if (!g->is_local && !s->api_keys && !s->is_insecure)
        return hd_fail(err, HEED_BAD_OPTION,
                       "at %s everybody who reaches this machine could use the server; give "
                       "--api-keys FILE, or --insecure if that is wanted",
                       host);
    return read_keys(s->api_keys, &g->keys, &g->n_keys, err);
}

void hd_guard_release(struct hd_guard *g)
{
    free_keys(g->keys, g->n_keys);
    hd_free(g->buckets);
    pthread_mutex_destroy(&g->lock);
}

bool hd_guard_reload(struct hd_guard *g, heed_error *err)
{
    struct hd_key *keys, *before;
    size_t n, n_before;
    if (!read_keys(g->settings->api_keys, &keys, &n, err))
        return false;
    pthread_mutex_lock(&g->lock);
    before = g->keys;
    n_before = g->n_keys;
    g->keys = keys;
    g->n_keys = n;
    pthread_mutex_unlock(&g->lock);
    free_keys(before, n_before);
    return true;
}

/* In a time that depends on what was sent alone. */
static bool is_same_key(const struct hd_key *key, const char *sent, size_t n)
{
    volatile unsigned char different = key->n != n;
    for (size_t i = 0; i < n; i++)
        different |= (unsigned char)(sent[i] ^ key->text[key->n > 0 ? i % key->n : 0]);
    return !different;
}

/* As a field, or in the header of one of two kinds. */
static const char *sent_key(const struct hd_http *http)
{
    static const char *const kinds[] = {"Bearer ", "DeepL-Auth-Key "};
    const char *header = hd_http_header(http, MHD_HTTP_HEADER_AUTHORIZATION),
               *field = hd_form_text(http->form, "api_key");
    if (!field)
        field = hd_form_text(http->form, "auth_key");
    for (int i = 0; header && i < 2; i++)
        if (strncasecmp(header, kinds[i], strlen(kinds[i])) == 0)
            return header + strlen(kinds[i]);
    return field && *field ? field : NULL;
}

static void count_refusal(struct hd_http *http, enum hd_rejection why)
{
    hd_metrics_reject(&http->service->metrics, why);
}

bool hd_guard_has_key(struct hd_guard *g, struct hd_http *http)
{
    if (!g->settings->api_keys)
        return true;
    const char *sent = sent_key(http);
    const struct hd_key *found = NULL;
    int rate = 0;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; sent && i < g->n_keys; i++)
        if (is_same_key(&g->keys[i], sent, strlen(sent))) {
            found = &g->keys[i];
            rate = found->rate;
        }
    pthread_mutex_unlock(&g->lock);
    http->has_key = found != NULL;
    http->key_rate = rate;
    if (found || !(http->route->flags & HD_ROUTE_KEY))
        return true;
    count_refusal(http, HD_REJECTED_KEY);
    if (sent || http->route->flags & HD_ROUTE_DEEPL)
        hd_http_refuse(http, MHD_HTTP_FORBIDDEN, "Invalid API key");
    else
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "Please contact the server operator to get an API key");
    return false;
}

/* ---- rates ------------------------------------------------------------------------------------------------ */

/* FNV-1a: a bucket is called by a number, so that no key stands in memory twice. */
static unsigned long long number_of(const char *text)
{
    unsigned long long h = 14695981039346656037ull;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211ull;
    return h;
}

/* The lock is held. Where there are too many, the one that was asked for longest ago makes room. */
static struct hd_bucket *bucket_of(struct hd_guard *g, const char *name, double full)
{
    struct hd_bucket *oldest = NULL;
    for (size_t i = 0; i < g->n_buckets; i++) {
        if (strcmp(g->buckets[i].name, name) == 0)
            return &g->buckets[i];
        if (!oldest || g->buckets[i].last < oldest->last)
            oldest = &g->buckets[i];
    }
    if (g->n_buckets < MOST_BUCKETS) {
        struct hd_bucket *grown =
            hd_grow(g->buckets, &g->bucket_room, g->n_buckets + 1, sizeof *grown, NULL);
        if (grown) {
            g->buckets = grown;
            oldest = &grown[g->n_buckets++];
        }
    }
    if (oldest) {
        *oldest = (struct hd_bucket){.left = full, .last = hd_seconds()};
        snprintf(oldest->name, sizeof oldest->name, "%s", name);
    }
    return oldest;
}

bool hd_guard_spend(struct hd_guard *g, struct hd_http *http, size_t n)
{
    const int rate = http->key_rate > 0 ? http->key_rate : g->settings->rate;
    char name[72];
    if (rate == 0)
        return true;
    if (http->has_key)
        snprintf(name, sizeof name, "%016llx", number_of(sent_key(http)));
    else
        snprintf(name, sizeof name, "%s", http->address);
    pthread_mutex_lock(&g->lock);
    struct hd_bucket *b = bucket_of(g, name, rate);
    double wait = 0;
    if (b) {
        const double now = hd_seconds(), grown = b->left + (now - b->last) * rate / 60.0;
        b->left = grown < rate ? grown : rate;
        b->last = now;
        /* a request of more texts than a minute has is served when the minute is full */
        const double needed = (double)n < rate ? (double)n : rate;
        if (b->left >= needed)
            b->left -= (double)n;
        else
            wait = (needed - b->left) * 60.0 / rate;
    }
    pthread_mutex_unlock(&g->lock);
    if (wait <= 0)
        return true;
    count_refusal(http, HD_REJECTED_RATE);
    http->retry_after = (int)wait + 1;
    hd_http_refuse(http, MHD_HTTP_TOO_MANY_REQUESTS, "Slowdown: %d per 1 minute", rate);
    return false;
}

/* ---- names -------------------------------------------------------------------------------------------------- */

const char *hd_guard_method(const char *method)
{
    static const char *const names[] = {"GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(method, names[i]) == 0)
            return names[i];
    return "OTHER";
}

void hd_guard_note_proxy(const struct hd_guard *g, struct hd_http *http)
{
    const char *header = g->settings->trusts_proxy ? hd_http_header(http, "X-Forwarded-For") : NULL;
    if (!header)
        return;
    /* the last is what the proxy itself saw; those before it are what it was told */
    const char *comma = strrchr(header, ',');
    header = comma ? comma + 1 : header;
    header += strspn(header, " ");
    char address[64];
    unsigned char bytes[16];
    snprintf(address, sizeof address, "%.*s", (int)strcspn(header, " "), header);
    if (inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1)
        memcpy(http->address, address, sizeof address);
}

/* The name in "name:port" or "[::1]:port", without its port and brackets. */
static bool host_of(char *name, size_t size, const char *text)
{
    const bool is_bracketed = text[0] == '[';
    const size_t n = is_bracketed ? strcspn(text + 1, "]") : strcspn(text, ":");
    const char *rest = is_bracketed ? text + 1 + n + (text[1 + n] == ']') : text + n;
    if ((is_bracketed && text[1 + n] != ']') || n >= size ||
        (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")])))
        return false;
    snprintf(name, size, "%.*s", (int)n, text + is_bracketed);
    return true;
}

static bool is_local_name(const char *name)
{
    return strcasecmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
           strcmp(name, "::1") == 0;
}

/* A number cannot be pointed elsewhere, as a name can. */
static bool is_number(const char *name)
{
    unsigned char bytes[16];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_our_name(const struct hd_guard *g, const char *header)
{
    char name[256];
    if (!header)
        return true; /* HTTP/1.0 has none */
    for (size_t i = 0; i < g->settings->host_names.n; i++)
        if (strcmp(g->settings->host_names.at[i], "*") == 0)
            return true;
    if (!host_of(name, sizeof name, header))
        return false;
    if (is_local_name(name) || strcasecmp(name, g->host) == 0 || (!g->is_local && is_number(name)))
        return true;
    for (size_t i = 0; i < g->settings->host_names.n; i++)
        if (strcasecmp(g->settings->host_names.at[i], name) == 0)
            return true;
    return false;
}

/* ---- origins ------------------------------------------------------------------------------------------------ */

static bool may_origin_ask(const struct hd_guard *g, const struct hd_http *http, const char *origin)
{
    char name[256];
    const char *host = hd_http_header(http, MHD_HTTP_HEADER_HOST), *rest = strstr(origin, "://");
    for (size_t i = 0; i < g->settings->origins.n; i++)
        if (strcmp(g->settings->origins.at[i], "*") == 0 ||
            strcasecmp(g->settings->origins.at[i], origin) == 0)
            return true;
    if (!rest)
        return false;
    rest += 3;
    const bool is_web = strncmp(origin, "http://", 7) == 0 || strncmp(origin, "https://", 8) == 0;
    return is_web && ((host && strcasecmp(rest, host) == 0) ||
                      (host_of(name, sizeof name, rest) && is_local_name(name)));
}

enum { LONGEST_NAME = 200 };

/* What is told of a name, also to the log: it is of the server, or of a page, and no text. */
static const char *cut(const char *name, char shorter[LONGEST_NAME])
{
    snprintf(shorter, LONGEST_NAME, "%s", name);
    return shorter;
}

bool hd_guard_admits(struct hd_guard *g, struct hd_http *http)
{
    char name[LONGEST_NAME];
    const char *host = hd_http_header(http, MHD_HTTP_HEADER_HOST),
               *origin = hd_http_header(http, MHD_HTTP_HEADER_ORIGIN);
    if (!is_our_name(g, host)) {
        count_refusal(http, HD_REJECTED_HOST);
        hd_http_refuse(http, MHD_HTTP_MISDIRECTED_REQUEST,
                       "this server is not called %s; start it with --host-name to allow that "
                       "name",
                       cut(host, name));
        return false;
    }
    if (origin && !may_origin_ask(g, http, origin)) {
        count_refusal(http, HD_REJECTED_ORIGIN);
        hd_http_refuse(http, MHD_HTTP_FORBIDDEN,
                       "pages of %s may not use this server; start it with --cors to allow "
                       "them",
                       cut(origin, name));
        return false;
    }
    return true;
}

void hd_guard_add_cors(struct hd_guard *g, const struct hd_http *http, struct MHD_Response *r)
{
    const char *origin = hd_http_header(http, MHD_HTTP_HEADER_ORIGIN);
    if (!origin || !may_origin_ask(g, http, origin))
        return;
    MHD_add_response_header(r, "Access-Control-Allow-Origin", origin);
    MHD_add_response_header(r, "Access-Control-Allow-Headers", "Authorization, Content-Type");
    MHD_add_response_header(r, "Access-Control-Allow-Methods", "GET, POST, DELETE");
    MHD_add_response_header(r, "Access-Control-Expose-Headers", "Authorization, Retry-After");
    MHD_add_response_header(r, "Access-Control-Max-Age", "86400");
    MHD_add_response_header(r, "Vary", "Origin");
}
