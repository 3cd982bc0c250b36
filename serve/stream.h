/* stream.h -- an answer that is sent while it is made, as server-sent events.
 *
 *     event: words       data: {"part": 0, "sentence": 2, "text": "..."}    greedy search: a sentence of a text so far
 *     event: replace     data: {"part": 0, "sentence": 2}                   it is given up, and written again
 *     event: written     data: {"part": 0, "sentence": 2, "text": "..."}    a sentence is whole
 *     event: sentence    data: {"part": 0, "result": {...}}                 a text is done, in the order of the texts
 *     event: done        data: {...}                                        the whole answer, as without a stream
 *     event: error       data: {"error": "..."} */
#ifndef HD_SERVE_STREAM_H
#define HD_SERVE_STREAM_H

#include <heed.h>
#include <stdbool.h>
#include <stddef.h>

struct hd_http;
struct hd_stream;

/* The request's answer is a stream from now on. False without memory. */
bool hd_stream_begin(struct hd_http *http);

/* A sentence of text `part` has grown; called by a translator's thread. */
void hd_stream_progress(struct hd_stream *stream, size_t part, const heed_progress *progress);

/* Text `part` has been translated, as all before it have. */
void hd_stream_unit(struct hd_stream *stream, size_t part, const heed_result *result);

/* The answer is there: it is sent, and the stream ends. */
void hd_stream_end(struct hd_stream *stream);
void hd_stream_free(struct hd_stream *stream);

#endif
