/* suggestions.h -- the translation memory of a server: better translations that people suggest, one a line of a plain file.
 *
 * A suggestion is there for good, on the disk, before it is answered, and all requests that come after the answer use it; those under
 * way keep the memory that they began with. The file is read anew for each, which takes a second where it is long, so requests about the
 * memory are done by a clerk of their own. */
#ifndef HD_SERVE_SUGGESTIONS_H
#define HD_SERVE_SUGGESTIONS_H

#include "serve/fleet.h"

#include <pthread.h>

struct hd_suggestions {
    const char *path; /* NULL: there is no memory */
    pthread_mutex_t lock;
};

/* The file is made if it is not there. False with the reason in `err`: it cannot be written to. */
bool hd_suggestions_init(struct hd_suggestions *suggestions, const char *path, heed_error *err);
void hd_suggestions_release(struct hd_suggestions *suggestions);

/* A pair that is remembered, with the languages; white space is one space. */
struct hd_suggestion {
    const char *source, *target, *from, *to;
};

/* A fleet gets the memory and becomes the current one, with nothing suggested in between. False with the reason in `err`, the fleet
 * freed, and all as it was. */
bool hd_suggestions_put_fleet(struct hd_suggestions *suggestions, struct hd_fleets *fleets,
                              struct hd_fleet *fleet, heed_error *err);

/* One more. False with the reason in `err`; the file is then as it was. */
bool hd_suggestions_add(struct hd_suggestions *suggestions, struct hd_fleets *fleets,
                        const struct hd_suggestion *one, heed_error *err);

/* What became of a line that should be forgotten. */
enum hd_forgotten { HD_FORGOTTEN, HD_NOT_THERE, HD_NOT_THE_SAME, HD_NOT_WRITTEN };

/* Forget a line, from 1, if its source is this text; NULL: whatever it is. The lines behind it move up. */
enum hd_forgotten hd_suggestions_remove(struct hd_suggestions *suggestions,
                                        struct hd_fleets *fleets, size_t line, const char *source,
                                        heed_error *err);

#endif
