/* order.h -- texts that a client wants to have translated, in pieces, and the translations put together again. */
#ifndef HD_SERVE_ORDER_H
#define HD_SERVE_ORDER_H

#include "serve/desk.h"
#include "serve/language_codes.h"
#include "serve/pieces.h"

#include <jansson.h>

struct hd_order {
    size_t n;
    bool is_list;            /* the texts came as a list, and go as one */
    struct hd_pieces *texts; /* [n] */
    size_t *first;           /* [n]: its first unit in the work */
    bool is_detected;        /* the client does not know the language */
    struct hd_detected detected;
    int alternatives;
    const char *markup; /* "html" or "xml"; NULL: plain text */
    heed_file *
        file; /* the texts are those of this file, and their translations go into it; NULL: they are the client's own */
    char *extra; /* of the route */
};

/* Are there texts, as below? Refuses the request if not, and counts them for the log. */
bool hd_order_check(struct hd_http *http, const json_t *field, const char *name);

/* The texts of a field, a string or a list of strings. NULL with the request refused: there is none, one is no string, there are too
 * many, one is too long, or it is sent too often. */
struct hd_order *hd_order_new(struct hd_http *http, const json_t *field, const char *name,
                              const char *markup);

/* The texts of a file that has more than text in it, such as subtitles: `field` is all of it, `format` as heed_file_read() takes it. NULL
 * with the request refused, also where it is no such file. */
struct hd_order *hd_order_new_file(struct hd_http *http, const json_t *field, const char *name,
                                   const char *format);
void hd_order_free(void *order);

/* Which direction is asked for: NULL with the request refused, or with *is_same when both languages are one. `source` may be NULL or
 * "auto": then the texts tell, all of them together. */
struct hd_served *hd_order_direction(struct hd_http *http, struct hd_order *order,
                                     const struct hd_fleet *fleet, const char *source,
                                     const char *target, bool *is_same);

/* Translate them. The order and the use of the fleet are the work's from now on. A direction of NULL leaves the texts as they are. */
void hd_order_submit(struct hd_http *http, struct hd_order *order, struct hd_fleet *fleet,
                     struct hd_served *direction,
                     void (*finish)(struct hd_http *http, struct hd_work *work));

/* The i-th text as its `rank`-th best translation; to be given to json_decref(). */
json_t *hd_order_text(const struct hd_order *order, const struct hd_work *work, size_t i,
                      size_t rank);

/* The same as bytes. */
void hd_order_write(struct hd_bytes *out, const struct hd_order *order, const struct hd_work *work,
                    size_t i, size_t rank);

/* The file with its translations in it, as bytes; false with the reason in `err`. */
bool hd_order_write_file(struct hd_bytes *out, const struct hd_order *order,
                         const struct hd_work *work, heed_error *err);

#endif
