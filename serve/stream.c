/* stream.c -- events wait here until the daemon asks for them; when there are none it is suspended. */
#include "serve/stream.h"

#include "base/memory.h"
#include "serve/http.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hd_stream {
    struct hd_http *http;
    pthread_mutex_t lock;
    struct hd_bytes bytes;
    size_t n_sent;
    bool is_over, is_suspended;
};

static void event(struct hd_stream *s, const char *name, const char *data)
{
    hd_bytes_text(&s->bytes, "event: ");
    hd_bytes_text(&s->bytes, name);
    hd_bytes_text(&s->bytes, "\ndata: ");
    hd_bytes_text(&s->bytes, data); /* JSON of one line */
    hd_bytes_text(&s->bytes, "\n\n");
}

/* The lock is held. */
static void wake(struct hd_stream *s)
{
    if (s->is_suspended)
        MHD_resume_connection(s->http->connection);
    s->is_suspended = false;
}

static ssize_t read_stream(void *context, uint64_t at, char *to, size_t size)
{
    (void)at;
    struct hd_stream *s = context;
    pthread_mutex_lock(&s->lock);
    const size_t left = s->bytes.n - s->n_sent, n = left < size ? left : size;
    ssize_t result = (ssize_t)n;
    if (n > 0) {
        memcpy(to, s->bytes.at + s->n_sent, n);
        s->n_sent += n;
        if (s->n_sent == s->bytes.n)
            s->n_sent = s->bytes.n = 0;
    } else if (s->is_over)
        result = MHD_CONTENT_READER_END_OF_STREAM;
    else {
        s->is_suspended = true;
        MHD_suspend_connection(s->http->connection);
    }
    pthread_mutex_unlock(&s->lock);
    return result;
}

bool hd_stream_begin(struct hd_http *http)
{
    struct hd_stream *s = hd_new(struct hd_stream, NULL);
    if (!s)
        return false;
    s->http = http;
    pthread_mutex_init(&s->lock, NULL);
    http->response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_stream, s, NULL);
    http->stream = s;
    http->status = MHD_HTTP_OK;
    http->type = "text/event-stream";
    return http->response != NULL;
}

void hd_stream_progress(struct hd_stream *s, size_t part, const heed_progress *p)
{
    json_t *said = json_pack("{s: I, s: I, s: I}", "part", (json_int_t)part, "sentence",
                             (json_int_t)p->sentence, "sentences", (json_int_t)p->n_sentences);
    if (said && !p->is_again)
        json_object_set_new(said, "text", json_string(p->text));
    char *data = said ? json_dumps(said, 0) : NULL;
    pthread_mutex_lock(&s->lock);
    if (data && !s->is_over) {
        event(s, p->is_again ? "replace" : p->is_final ? "written" : "words", data);
        wake(s);
    }
    pthread_mutex_unlock(&s->lock);
    free(data);
    json_decref(said);
}

void hd_stream_unit(struct hd_stream *s, size_t part, const heed_result *result)
{
    char *json = heed_result_json(result, NULL);
    char head[64];
    struct hd_bytes data = {0};
    snprintf(head, sizeof head, "{\"part\": %zu, \"result\": ", part);
    hd_bytes_text(&data, head);
    hd_bytes_text(&data, json ? json : "null");
    hd_bytes_text(&data, "}");
    heed_free(json);
    pthread_mutex_lock(&s->lock);
    if (!data.has_failed)
        event(s, "sentence", data.at);
    wake(s);
    pthread_mutex_unlock(&s->lock);
    hd_free(data.at);
}

void hd_stream_end(struct hd_stream *s)
{
    struct hd_http *http = s->http;
    pthread_mutex_lock(&s->lock);
    event(s, http->status == MHD_HTTP_OK ? "done" : "error",
          http->answer.at ? http->answer.at : "{}");
    http->status = MHD_HTTP_OK;
    s->is_over = true;
    wake(s);
    pthread_mutex_unlock(&s->lock);
}

void hd_stream_free(struct hd_stream *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    hd_free(s->bytes.at);
    if (s->http->response) { /* it was never sent */
        MHD_destroy_response(s->http->response);
        s->http->response = NULL;
    }
    hd_free(s);
}
