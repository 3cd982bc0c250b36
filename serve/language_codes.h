/* language_codes.h -- codes and names of languages, and which one a text is in. */
#ifndef HD_SERVE_LANGUAGE_CODES_H
#define HD_SERVE_LANGUAGE_CODES_H

#include "serve/fleet.h"

/* A code as models and answers have it, to be given to hd_free(): "pt_br" and "pb" are "pt-BR", "EN" is "en". NULL without
 * memory. */
char *hd_language_code(const char *text, heed_error *err);

/* What a model's record says of its languages, "en-fr", to be given to hd_free(); NULL where it does not say. */
char *hd_languages_of(const heed_model *model);

/* "French"; the code itself where the name is not known. */
const char *hd_language_name(const char *code);

/* The code that the fleet knows for what was asked for, the region left out where it must be; NULL: none. */
const char *hd_language_known(const struct hd_fleet *f, const char *text);

struct hd_detected {
    const char *code;
    int confidence; /* percent */
};

/* The language of a text, among those that the fleet translates from. */
struct hd_detected hd_language_detect(const struct hd_fleet *fleet, const char *text);

#endif
