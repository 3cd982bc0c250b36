/* languages.h -- which languages a model translates: from its record and its vocabulary.
 *
 * A model of one direction says "languages": ["en", "fr"] in its record. A model of several says "directions":
 * ["en-fr", "fr-en"], and its sources begin with a symbol for the target's language, hd_vocab_language(). Where they come from
 * several languages, a detector in its file tells which one a text is in. */
#ifndef HD_MODEL_LANGUAGES_H
#define HD_MODEL_LANGUAGES_H

#include "model/model_file.h"
#include "text/columns.h"
#include "text/corpus.h"

/* What a model keeps of them. {0} is none. */
struct hd_model_languages {
    struct hd_direction *directions; /* in the order of the record; none where it says nothing */
    int n;
    char *text; /* "en-fr,fr-en"; NULL for none */
};

/* Read the record. False with HEED_NO_MEMORY. */
bool hd_model_languages_init(struct hd_model_languages *languages, const json_t *record,
                             heed_error *err);
void hd_model_languages_release(struct hd_model_languages *languages);

/* Direction i of a model; NULL from their number on, which is 0 where the record says nothing. */
const struct hd_direction *hd_model_direction(const heed_model *model, int i);

/* Which language a text is in, among those that the model translates from, to `to` where that is not NULL. The first of them, unless
 * the detector says otherwise and is rather sure. *is_target says that the text is of the language `to` already. NULL where the record
 * says nothing. */
const char *hd_model_detect_source(const heed_model *model, const char *text, size_t n,
                                   const char *to, bool *is_target);

/* And the other way round: the language of a target, among those that `from` becomes. */
const char *hd_model_detect_target(const heed_model *model, const char *text, size_t n,
                                   const char *from);

/* The id that a source must begin with to become this language; -1 where the model knows no such symbol, as one of a single
 * direction does not. */
int hd_model_language_symbol(const heed_model *model, const char *to);

/* Learn to tell the languages of a training text, where it translates from several. True where there is nothing to learn. */
bool hd_model_learn_from_corpus(heed_model *model, const struct hd_corpus *corpus, heed_error *err);

/* Write "en-fr", or "en-fr,fr-en", into a record. */
void hd_languages_to_record(json_t *record, const char *languages);

#endif
