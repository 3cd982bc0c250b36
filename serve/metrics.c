/* metrics.c -- counters under one lock, written in Prometheus' text format. */
#include "serve/metrics.h"

#include <stdio.h>
#include <string.h>

static const double limits[HD_METRIC_TIMES] = {0.001, 0.0025, 0.005, 0.01, 0.025,
                                               0.05,  0.1,    0.5,   1,    10};

void hd_metrics_init(struct hd_metrics *m)
{
    *m = (struct hd_metrics){0};
    pthread_mutex_init(&m->lock, NULL);
}

void hd_metrics_release(struct hd_metrics *m)
{
    pthread_mutex_destroy(&m->lock);
}

void hd_metrics_count(struct hd_metrics *m, const char *path, unsigned status, double seconds)
{
    pthread_mutex_lock(&m->lock);
    size_t i = 0;
    while (i < m->n_requests &&
           (m->requests[i].status != status || strcmp(m->requests[i].path, path) != 0))
        i++;
    if (i == m->n_requests && i < HD_METRIC_ROUTES) {
        m->requests[i].path = path;
        m->requests[i].status = status;
        m->n_requests++;
    }
    if (i < HD_METRIC_ROUTES)
        m->requests[i].n++;
    for (int k = 0; k < HD_METRIC_TIMES; k++)
        m->times[k] += seconds <= limits[k];
    m->times[HD_METRIC_TIMES]++;
    m->seconds += seconds;
    pthread_mutex_unlock(&m->lock);
}

void hd_metrics_reject(struct hd_metrics *m, enum hd_rejection why)
{
    pthread_mutex_lock(&m->lock);
    m->rejected[why]++;
    pthread_mutex_unlock(&m->lock);
}

void hd_metrics_text(struct hd_metrics *m, size_t n_characters, size_t n_source, size_t n_target)
{
    pthread_mutex_lock(&m->lock);
    m->n_texts++;
    m->n_characters += n_characters;
    m->n_words[0] += n_source;
    m->n_words[1] += n_target;
    pthread_mutex_unlock(&m->lock);
}

unsigned long long hd_metrics_characters(struct hd_metrics *m)
{
    pthread_mutex_lock(&m->lock);
    const unsigned long long n = m->n_characters;
    pthread_mutex_unlock(&m->lock);
    return n;
}

/* ---- text ------------------------------------------------------------------------------------------- */

static void head(struct hd_bytes *out, const char *name, const char *kind, const char *help)
{
    char line[256];
    snprintf(line, sizeof line, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
    hd_bytes_text(out, line);
}

static void value(struct hd_bytes *out, const char *name, const char *labels, double x)
{
    char line[256];
    snprintf(line, sizeof line, "%s%s %.17g\n", name, labels, x);
    hd_bytes_text(out, line);
}

static void one(struct hd_bytes *out, const char *name, const char *kind, const char *help,
                double x)
{
    head(out, name, kind, help);
    value(out, name, "", x);
}

static void write_requests(const struct hd_metrics *m, struct hd_bytes *out)
{
    char labels[128];
    head(out, "heed_requests_total", "counter", "Requests answered.");
    for (size_t i = 0; i < m->n_requests; i++) {
        snprintf(labels, sizeof labels, "{endpoint=\"%s\",code=\"%u\"}", m->requests[i].path,
                 m->requests[i].status);
        value(out, "heed_requests_total", labels, (double)m->requests[i].n);
    }
    head(out, "heed_request_seconds", "histogram", "Time from the head of a request to its end.");
    for (int k = 0; k <= HD_METRIC_TIMES; k++) {
        if (k < HD_METRIC_TIMES)
            snprintf(labels, sizeof labels, "{le=\"%g\"}", limits[k]);
        else
            snprintf(labels, sizeof labels, "{le=\"+Inf\"}");
        value(out, "heed_request_seconds_bucket", labels, (double)m->times[k]);
    }
    value(out, "heed_request_seconds_sum", "", m->seconds);
    value(out, "heed_request_seconds_count", "", (double)m->times[HD_METRIC_TIMES]);
}

static void write_rejections(const struct hd_metrics *m, struct hd_bytes *out)
{
    static const char *const names[HD_REJECTIONS] = {"rate", "queue",  "late", "gone",
                                                     "host", "origin", "key"};
    char labels[64];
    head(out, "heed_rejected_total", "counter", "Requests that were refused or given up.");
    for (int i = 0; i < HD_REJECTIONS; i++) {
        snprintf(labels, sizeof labels, "{reason=\"%s\"}", names[i]);
        value(out, "heed_rejected_total", labels, (double)m->rejected[i]);
    }
}

void hd_metrics_write(struct hd_metrics *m, const struct hd_metrics_now *now, struct hd_bytes *out)
{
    pthread_mutex_lock(&m->lock);
    write_requests(m, out);
    write_rejections(m, out);
    one(out, "heed_texts_total", "counter", "Texts translated.", (double)m->n_texts);
    one(out, "heed_characters_total", "counter", "Characters of these.", (double)m->n_characters);
    head(out, "heed_words_total", "counter", "Words read and written.");
    value(out, "heed_words_total", "{side=\"source\"}", (double)m->n_words[0]);
    value(out, "heed_words_total", "{side=\"target\"}", (double)m->n_words[1]);
    pthread_mutex_unlock(&m->lock);
    one(out, "heed_queue_length", "gauge", "Texts waiting or being translated.",
        (double)now->n_waiting);
    one(out, "heed_connections", "gauge", "Connections that are open.", (double)now->n_connections);
    one(out, "heed_directions", "gauge", "Directions that models translate.",
        (double)now->n_directions);
    one(out, "heed_draining", "gauge", "1 when the server is ending.", now->is_draining);
}
