/* stream.h -- an answer that is sent while it is made, as server-sent events.
 *
 *     event: sentence    data: {"text": 0, "part": 2, "result": {...}}     a part of a text, in the order of the texts
 *     event: done        data: {...}                                        the whole answer, as without a stream
 *     event: error       data: {"error": "..."} */
#ifndef HD_SERVE_STREAM_H
#define HD_SERVE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

struct hd_http;
struct hd_work;
struct hd_unit;
struct hd_stream;

/* The request's answer is a stream from now on. False without memory. */
bool hd_stream_begin(struct hd_http *http);

/* A text has been translated; the desk's lock is held. */
void hd_stream_unit(struct hd_stream *stream, struct hd_work *work, struct hd_unit *unit);

/* The answer is there: it is sent, and the stream ends. */
void hd_stream_end(struct hd_stream *stream);
void hd_stream_free(struct hd_stream *stream);

#endif
