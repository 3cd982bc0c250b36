/* deepl.c -- the part of DeepL's interface that its libraries and plug-ins use. */
#include "base/language.h"
#include "base/utf8.h"
#include "serve/form.h"
#include "serve/order.h"
#include "serve/routes.h"
#include "serve/service.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Codes are in capitals here. */
static json_t *capital_code(const char *code)
{
    char text[32];
    size_t n = 0;
    for (; code[n] && n < sizeof text - 1; n++)
        text[n] = (char)toupper((unsigned char)code[n]);
    return json_stringn(text, n);
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static void finish_deepl(struct hd_http *http, struct hd_work *w)
{
    const struct hd_order *o = w->data;
    const char *from = o->is_detected ? o->detected.code
                       : w->direction ? w->direction->from
                                      : hd_form_text(http->form, "source_lang");
    json_t *list = json_array();
    for (size_t i = 0; i < o->n; i++) { /* DeepL's own library wants a number of characters */
        const size_t n = hd_utf8_count(o->texts[i].whole, strlen(o->texts[i].whole));
        json_array_append_new(list, json_pack("{s: o, s: o, s: I}", "detected_source_language",
                                              capital_code(from), "text", hd_order_text(o, w, i, 0),
                                              "billed_characters", (json_int_t)n));
    }
    hd_http_say_json(http, MHD_HTTP_OK, json_pack("{s: o}", "translations", list));
}

/* What DeepL has and heed has not is refused where the translation would be another one, in DeepL's manner. */
static bool check_wishes(struct hd_http *http)
{
    static const char *const tag_kinds[] = {"html", "xml", "", NULL};
    static const char *const formalities[] = {"default", "prefer_more", "prefer_less", "", NULL};
    const char *tags = hd_form_text(http->form, "tag_handling"),
               *formality = hd_form_text(http->form, "formality"),
               *glossary = hd_form_text(http->form, "glossary_id");
    if (tags && !is_among(tag_kinds, tags))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Value for 'tag_handling' not supported.");
    else if (formality && (strcmp(formality, "more") == 0 || strcmp(formality, "less") == 0))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "'formality' is not supported for given 'target_lang'.");
    else if (formality && !is_among(formalities, formality))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Value for 'formality' not supported.");
    else if (glossary && *glossary)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "Value for 'glossary_id' not supported; the server has the glossary that it "
                       "was started with (--glossary).");
    return http->status == 0;
}

void hd_deepl_translate(struct hd_http *http)
{
    const char *target = hd_form_text(http->form, "target_lang"),
               *source = hd_form_text(http->form, "source_lang"),
               *tags = hd_form_text(http->form, "tag_handling");
    const char *markup = !tags                       ? NULL
                         : strcmp(tags, "html") == 0 ? "html"
                         : strcmp(tags, "xml") == 0  ? "xml"
                                                     : NULL;
    if (!target) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Value for 'target_lang' not supported.");
        return;
    }
    struct hd_order *o =
        check_wishes(http) ? hd_order_new(http, json_object_get(http->form, "text"), "text", markup)
                           : NULL;
    if (!o)
        return;
    struct hd_fleet *fleet = hd_fleets_use(&http->service->fleets);
    bool is_same;
    struct hd_served *d = hd_order_direction(http, o, fleet, source, target, &is_same);
    if (d || is_same)
        hd_order_submit(http, o, fleet, d, finish_deepl);
    else {
        hd_fleets_leave(&http->service->fleets, fleet);
        hd_order_free(o);
    }
}

void hd_deepl_languages(struct hd_http *http)
{
    const char *type = hd_form_text(http->form, "type");
    const bool is_target = type && strcmp(type, "target") == 0;
    struct hd_fleet *f = hd_fleets_use(&http->service->fleets);
    json_t *list = json_array();
    for (size_t i = 0; i < f->n; i++) {
        const char *code = is_target ? f->at[i].to : f->at[i].from;
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && strcmp(is_target ? f->at[k].to : f->at[k].from, code) != 0;
        if (!is_new)
            continue;
        json_t *one = json_pack("{s: o, s: s}", "language", capital_code(code), "name",
                                hd_language_name(code));
        if (is_target)
            json_object_set_new(one, "supports_formality", json_false());
        json_array_append_new(list, one);
    }
    hd_fleets_leave(&http->service->fleets, f);
    hd_http_say_json(http, MHD_HTTP_OK, list);
}

/* There is no limit but that of a request; clients want a number. */
void hd_deepl_usage(struct hd_http *http)
{
    hd_http_say_json(http, MHD_HTTP_OK,
                     json_pack("{s: I, s: I}", "character_count",
                               (json_int_t)hd_metrics_characters(&http->service->metrics),
                               "character_limit", (json_int_t)1000000000000));
}
