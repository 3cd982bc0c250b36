/* option_json.h -- options from JSON and to JSON: numbers are numbers, yes and no are booleans, lists are lists. */
#ifndef HD_OPTION_OPTION_JSON_H
#define HD_OPTION_OPTION_JSON_H

#include "option/option.h"

typedef struct json_t json_t; /* of jansson.h */

/* Set one field. Types are strict: "5" is no number. */
bool hd_option_from_json(const heed_option *option, void *values, const json_t *json,
                         heed_error *err);

/* Set the fields that a JSON object names, with dashes or underscores. `may_set`, unless it is NULL, may refuse a row. What
 * stands before the first wrong one has been set. */
bool hd_options_from_json(const heed_option *options, void *values, const json_t *object,
                          bool (*may_set)(const heed_option *option, const void *values,
                                          heed_error *err),
                          heed_error *err);

/* The field as JSON; to be given to json_decref(), NULL without memory. */
json_t *hd_option_to_json(const heed_option *option, const void *values);

#endif
