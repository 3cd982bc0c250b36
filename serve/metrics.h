/* metrics.h -- what a server counts, and how Prometheus reads it. No label has a text, a key or an address in it. */
#ifndef HD_SERVE_METRICS_H
#define HD_SERVE_METRICS_H

#include "base/bytes.h"

#include <pthread.h>

enum { HD_METRIC_ROUTES = 64, HD_METRIC_TIMES = 10 };

enum hd_rejection {
    HD_REJECTED_RATE,
    HD_REJECTED_QUEUE,
    HD_REJECTED_LATE, /* not translated in time */
    HD_REJECTED_GONE, /* the client has gone */
    HD_REJECTED_HOST,
    HD_REJECTED_ORIGIN,
    HD_REJECTED_KEY,
    HD_REJECTIONS,
};

struct hd_metrics {
    pthread_mutex_t lock;
    struct {
        const char *path;
        unsigned status;
        unsigned long long n;
    } requests[HD_METRIC_ROUTES];
    size_t n_requests;
    unsigned long long times[HD_METRIC_TIMES + 1]; /* requests that took at most so long; all */
    double seconds;
    unsigned long long rejected[HD_REJECTIONS], n_texts, n_characters, n_words[2];
};

void hd_metrics_init(struct hd_metrics *metrics);
void hd_metrics_release(struct hd_metrics *metrics);

/* A request to a route, whose path stays. */
void hd_metrics_count(struct hd_metrics *metrics, const char *path, unsigned status,
                      double seconds);
void hd_metrics_reject(struct hd_metrics *metrics, enum hd_rejection why);
/* A text has been translated: its characters, and words of source and target. */
void hd_metrics_text(struct hd_metrics *metrics, size_t n_characters, size_t n_source,
                     size_t n_target);
unsigned long long hd_metrics_characters(struct hd_metrics *metrics);

/* Numbers of this moment that others know. */
struct hd_metrics_now {
    size_t n_waiting, n_connections, n_directions;
    bool is_draining;
};
void hd_metrics_write(struct hd_metrics *metrics, const struct hd_metrics_now *now,
                      struct hd_bytes *out);

#endif
