/* languages.h -- which languages a model translates: from its record and its vocabulary.
 *
 * A model of one direction says "languages": ["en", "fr"] in its record. A model of several says "directions":
 * ["en-fr", "fr-en"], and its sources begin with a symbol for the target's language, hd_vocab_language(). */
#ifndef HD_MODEL_LANGUAGES_H
#define HD_MODEL_LANGUAGES_H

#include "model/model_file.h"
#include "text/columns.h"

/* Direction i of a model, in the order of its record; false from their number on, which is 0 where the record says nothing. */
bool hd_model_direction(const heed_model *model, int i, struct hd_direction *direction);

/* The id that a source must begin with to become this language; -1 where the model knows no such symbol, as one of a single
 * direction does not. */
int hd_model_language_symbol(const heed_model *model, const char *to);

/* Write "en-fr", or "en-fr,fr-en", into a record. */
void hd_languages_to_record(json_t *record, const char *languages);

#endif
