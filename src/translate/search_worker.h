/* search_worker.h -- one thread's searcher, fed with segments.
 *
 * A worker belongs to one thread at a time and stays warm between calls. */
#ifndef HD_TRANSLATE_SEARCH_WORKER_H
#define HD_TRANSLATE_SEARCH_WORKER_H

#include "translate/job.h"

/* {0} has not been used yet. */
struct hd_search_worker {
    struct hd_searcher *searcher;
    bool
        gathers_loops; /* what is searched again waits until all else is found: faster for many texts */
    struct hd_segment *loops;
    struct hd_segment **decided; /* of models that decide at once: those that are done, n_done of */
    size_t n_done, n_decided, capacity; /* n_decided; the others wait */
};

void hd_search_worker_release(struct hd_search_worker *worker);

/* Add a segment that does not pass. False with the reason in `err`. */
bool hd_search_worker_add(struct hd_search_worker *worker, struct hd_segment *segment,
                          heed_error *err);

/* Segments that are not finished. */
size_t hd_search_worker_size(const struct hd_search_worker *worker);

/* One word for all. False with the reason in `err`: then the worker is empty, and nothing has been found for its segments. */
bool hd_search_worker_step(struct hd_search_worker *worker, heed_error *err);

/* A segment that is finished; NULL: none. Where its search failed nothing is found (found.n is 0), and the reason is in `err`. */
struct hd_segment *hd_search_worker_take(struct hd_search_worker *worker, heed_error *err);

/* Drop a line's segments, or all. */
void hd_search_worker_cancel(struct hd_search_worker *worker, struct hd_line *line);
void hd_search_worker_clear(struct hd_search_worker *worker);
#endif
