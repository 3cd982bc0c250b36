/* form.h -- what a request says, as one JSON object, however it was sent.
 *
 * A JSON body is the object itself, also behind a byte order mark. Of a form, of a multipart body and of a query string every field becomes a string, and a field
 * that comes several times an array of strings. A field of a multipart body that is a file has its name beside it, as NAME.filename.
 * What is no character becomes U+FFFD: bytes of a form that are no UTF-8, half a surrogate pair in JSON, a NUL. */
#ifndef HD_SERVE_FORM_H
#define HD_SERVE_FORM_H

#include <jansson.h>
#include <stdbool.h>

enum hd_form_kind { HD_FORM_NONE, HD_FORM_JSON, HD_FORM_URLENCODED, HD_FORM_MULTIPART };

/* By the Content-Type header, which may be NULL. */
enum hd_form_kind hd_form_kind(const char *content_type);

/* Add the fields of a body to an object. False when it is not what the header says, or without memory. */
bool hd_form_read(json_t *form, const char *content_type, const char *body, size_t n);

/* One more value of a field; bytes of any kind. */
bool hd_form_add(json_t *form, const char *name, size_t n_name, const char *value, size_t n);

/* Is a field yes or no, as JSON or in words (true, yes, on, 1)? -1: it is not there, or neither. */
int hd_form_truth(const json_t *form, const char *name);
int hd_form_truth_of(const json_t *value);

/* A field that is a string, or NULL. */
const char *hd_form_text(const json_t *form, const char *name);

#endif
