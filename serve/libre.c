/* libre.c -- LibreTranslate's interface: the same fields, status codes and sentences, so that its clients need not know. */
#include "base/language.h"
#include "base/memory.h"
#include "serve/form.h"
#include "serve/order.h"
#include "serve/routes.h"
#include "serve/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- /translate ------------------------------------------------------------------------------------------------ */

static json_t *detected(struct hd_detected d)
{
    return json_pack("{s: f, s: s}", "confidence", (double)d.confidence, "language", d.code);
}

/* Other translations than the first, each once. */
static json_t *alternatives_of(const struct hd_order *o, const struct hd_work *w, size_t i)
{
    json_t *list = json_array(), *first = hd_order_text(o, w, i, 0);
    for (int rank = 1; !o->markup && list && first && rank <= o->alternatives; rank++) {
        json_t *text = hd_order_text(o, w, i, (size_t)rank);
        bool is_new = text && !json_equal(text, first);
        for (size_t k = 0; is_new && k < json_array_size(list); k++)
            is_new = !json_equal(text, json_array_get(list, k));
        if (is_new)
            json_array_append(list, text);
        json_decref(text);
    }
    json_decref(first);
    return list;
}

static void finish_translate(struct hd_http *http, struct hd_work *w)
{
    const struct hd_order *o = w->data;
    json_t *answer = json_object(), *texts = json_array(), *others = json_array(),
           *languages = json_array();
    for (size_t i = 0; i < o->n; i++) {
        json_array_append_new(texts, hd_order_text(o, w, i, 0));
        if (o->alternatives > 0)
            json_array_append_new(others, alternatives_of(o, w, i));
        if (o->is_detected)
            json_array_append_new(languages, detected(o->detected));
    }
    const bool is_whole = json_array_size(texts) == o->n;
    json_object_set(answer, "translatedText", o->is_list ? texts : json_array_get(texts, 0));
    if (o->alternatives > 0)
        json_object_set(answer, "alternatives", o->is_list ? others : json_array_get(others, 0));
    if (o->is_detected)
        json_object_set(answer, "detectedLanguage",
                        o->is_list ? languages : json_array_get(languages, 0));
    json_decref(texts);
    json_decref(others);
    json_decref(languages);
    if (!is_whole) {
        json_decref(answer);
        answer = NULL;
    }
    hd_http_say_json(http, MHD_HTTP_OK, answer);
}

/* A whole number, of a JSON field or a form's; false when it is none. */
static bool read_number(const json_t *field, long *n)
{
    const char *text = json_string_value(field);
    *n = (long)json_integer_value(field); /* 0 of anything else */
    if (!text)
        return !field || json_is_null(field) || json_is_integer(field);
    char *end = NULL;
    *n = strtol(text, &end, 10);
    return (end != text && *end == '\0') || *text == '\0';
}

/* The parameters in the order in which LibreTranslate looks at them. */
static bool read_alternatives(struct hd_http *http, int *alternatives)
{
    long n;
    const int most = http->service->settings->max_alternatives;
    if (!read_number(json_object_get(http->form, "alternatives"), &n)) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "Invalid request: alternatives parameter is not a number");
        return false;
    }
    if (n > most) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "Invalid request: alternatives parameter must be <= %d", most);
        return false;
    }
    *alternatives = n > 0 ? (int)n : 0;
    return true;
}

static bool is_missing(struct hd_http *http, const char *name)
{
    const json_t *field = json_object_get(http->form, name);
    const bool is_list = json_is_array(field) && json_array_size(field) > 0,
               is_text = json_is_string(field) && json_string_length(field) > 0;
    if (is_text || (is_list && strcmp(name, "q") == 0))
        return false;
    hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: missing %s parameter", name);
    return true;
}

/* Forms send lines with two characters at their ends. */
static void mend_line_ends(struct hd_http *http)
{
    const char *type = hd_http_header(http, MHD_HTTP_HEADER_CONTENT_TYPE),
               *q = hd_form_text(http->form, "q");
    if (!q || hd_form_kind(type) == HD_FORM_JSON || !strstr(q, "\r\n"))
        return;
    char *copy = hd_copy_string(q, NULL), *to = copy;
    for (const char *from = copy; from && *from; from++)
        if (from[0] != '\r' || from[1] != '\n')
            *to++ = *from;
    if (copy) {
        *to = '\0';
        json_object_set_new(http->form, "q", json_string(copy));
    }
    hd_free(copy);
}

void hd_libre_translate(struct hd_http *http)
{
    int alternatives;
    if (is_missing(http, "q") || is_missing(http, "source") || is_missing(http, "target") ||
        !read_alternatives(http, &alternatives))
        return;
    const char *format = hd_form_text(http->form, "format");
    const bool is_markup = format && strcasecmp(format, "html") == 0;
    mend_line_ends(http);
    struct hd_order *o =
        hd_order_new(http, json_object_get(http->form, "q"), "q", is_markup ? "html" : NULL);
    if (!o)
        return;
    o->alternatives = alternatives;
    struct hd_fleet *fleet = hd_fleets_use(&http->service->fleets);
    bool is_same;
    struct hd_served *d = hd_order_direction(http, o, fleet, hd_form_text(http->form, "source"),
                                             hd_form_text(http->form, "target"), &is_same);
    const bool is_known_format =
        !format || !*format || is_markup || strcasecmp(format, "text") == 0;
    if (http->status == 0 && !is_known_format)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%.100s format is not supported", format);
    if (http->status == 0)
        hd_order_submit(http, o, fleet, d, finish_translate);
    else {
        hd_fleets_leave(&http->service->fleets, fleet);
        hd_order_free(o);
    }
}

/* ---- /detect, /languages ------------------------------------------------------------------------------------------ */

void hd_libre_detect(struct hd_http *http)
{
    if (is_missing(http, "q"))
        return;
    enum { MOST = 3, LEAST_PERCENT = 5 };
    const json_t *q = json_object_get(http->form, "q");
    const size_t n_texts = json_is_array(q) ? json_array_size(q) : 1;
    if (!hd_order_check(http, q, "q") || !hd_guard_spend(&http->service->guard, http, n_texts))
        return;
    struct hd_fleet *fleet = hd_fleets_use(&http->service->fleets);
    json_t *list = json_array();
    for (size_t i = 0; i < n_texts; i++) {
        struct hd_detected guesses[MOST];
        const char *text = json_string_value(json_is_array(q) ? json_array_get(q, i) : q);
        const int n = hd_language_guess(fleet, text ? text : "", guesses, MOST);
        for (int k = 0; k < n && (k == 0 || guesses[k].confidence >= LEAST_PERCENT); k++)
            json_array_append_new(list, detected(guesses[k]));
    }
    hd_fleets_leave(&http->service->fleets, fleet);
    hd_http_say_json(http, MHD_HTTP_OK, list);
}

static bool contains(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
            return true;
    return false;
}

static json_t *targets_of(const struct hd_fleet *f, const char *from)
{
    json_t *targets = json_array();
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->at[i].from, from) == 0 && !contains(targets, f->at[i].to))
            json_array_append_new(targets, json_string(f->at[i].to));
    if (!contains(targets, from))
        json_array_append_new(targets, json_string(from));
    return targets;
}

void hd_libre_languages(struct hd_http *http)
{
    struct hd_fleet *f = hd_fleets_use(&http->service->fleets);
    json_t *list = json_array(), *seen = json_array();
    for (size_t i = 0; i < 2 * f->n; i++) {
        const char *code = i < f->n ? f->at[i].from : f->at[i - f->n].to;
        if (contains(seen, code))
            continue;
        json_array_append_new(seen, json_string(code));
        json_array_append_new(list,
                              json_pack("{s: s, s: s, s: o}", "code", code, "name",
                                        hd_language_name(code), "targets", targets_of(f, code)));
    }
    json_decref(seen);
    hd_fleets_leave(&http->service->fleets, f);
    hd_http_say_json(http, MHD_HTTP_OK, list);
}

/* ---- about the server ------------------------------------------------------------------------------------------------ */

void hd_libre_settings(struct hd_http *http)
{
    const struct hd_serve_settings *s = http->service->settings;
    struct hd_fleet *f = hd_fleets_use(&http->service->fleets);
    json_t *formats = json_array();
    for (size_t i = 0; s->has_files && hd_files_ending(i); i++)
        json_array_append_new(formats, json_string(hd_files_ending(i)));
    hd_http_say_json(
        http, MHD_HTTP_OK,
        json_pack(
            "{s: i, s: i, s: b, s: b, s: b, s: b, s: o, s: {s: {s: s, s: s}, s: {s: s, s: s}}}",
            "charLimit", s->max_characters, "frontendTimeout", 500, "apiKeys", s->api_keys != NULL,
            "keyRequired", s->api_keys != NULL, "suggestions", s->memory != NULL,
            "filesTranslation", s->has_files, "supportedFilesFormat", formats, "language", "source",
            "code", "auto", "name", "Auto Detect", "target", "code", f->at[0].to, "name",
            hd_language_name(f->at[0].to)));
    hd_fleets_leave(&http->service->fleets, f);
}

void hd_libre_health(struct hd_http *http)
{
    if (atomic_load(&http->service->is_draining)) {
        http->retry_after = 5;
        hd_http_say(http, MHD_HTTP_SERVICE_UNAVAILABLE, "application/json",
                    "{\"status\": \"stopping\"}");
    } else
        hd_http_say(http, MHD_HTTP_OK, "application/json", "{\"status\": \"ok\"}");
}

void hd_libre_metrics(struct hd_http *http)
{
    struct hd_service *s = http->service;
    if (!s->settings->has_metrics) {
        hd_http_refuse(http, MHD_HTTP_NOT_FOUND, "this server tells no numbers");
        return;
    }
    struct hd_fleet *f = hd_fleets_use(&s->fleets);
    const struct hd_metrics_now now = {.n_waiting = hd_desk_size(&s->desk),
                                       .n_connections = hd_links_size(&s->links),
                                       .n_directions = f->n,
                                       .is_draining = atomic_load(&s->is_draining)};
    hd_fleets_leave(&s->fleets, f);
    hd_metrics_write(&s->metrics, &now, &http->answer);
    http->status = MHD_HTTP_OK;
    http->type = "text/plain; version=0.0.4; charset=utf-8";
}
