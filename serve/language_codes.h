/* language_codes.h -- codes of languages, and which one a text is in. */
#ifndef HD_SERVE_LANGUAGE_CODES_H
#define HD_SERVE_LANGUAGE_CODES_H

#include "serve/fleet.h"

/* A code as models and answers have it, to be given to hd_free(): "pt_br" and "pb" are "pt-BR", "EN" is "en". NULL without
 * memory. */
char *hd_language_code(const char *text, heed_error *err);

/* The code that the fleet knows for what was asked for, the region left out where it must be; NULL: none. */
const char *hd_language_known(const struct hd_fleet *f, const char *text);

struct hd_detected {
    const char *code; /* the fleet's own */
    int confidence;   /* percent */
};

/* The languages that a text may be in, among those that the fleet knows, likeliest first: `most` at most, and one at least. */
int hd_language_guess(const struct hd_fleet *fleet, const char *text, struct hd_detected *guesses,
                      int most);

/* The likeliest; where it is not sure, the likeliest of those that are translated to `to`. NULL: to any. */
struct hd_detected hd_language_detect(const struct hd_fleet *fleet, const char *text,
                                      const char *to);

#endif
