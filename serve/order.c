/* order.c -- from fields to units of work, and from results to texts. */
#include "serve/order.h"

#include "base/error.h"
#include "base/language.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "serve/service.h"

#include <stdio.h>
#include <string.h>

void hd_order_free(void *order)
{
    struct hd_order *o = order;
    if (!o)
        return;
    for (size_t i = 0; o->texts && i < o->n; i++)
        hd_pieces_release(&o->texts[i]);
    hd_free(o->texts);
    hd_free(o->first);
    hd_free(o->extra);
    heed_file_free(o->file);
    hd_free(o);
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* A file may be as long as a request. */
static bool check_text(struct hd_http *http, const json_t *text, const char *name)
{
    const struct hd_serve_settings *s = http->service->settings;
    const size_t most = (size_t)(strcmp(name, "file") == 0 ? s->max_body : s->max_characters);
    if (!json_is_string(text)) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: %s must be text", name);
        return false;
    }
    const size_t n = hd_utf8_count(json_string_value(text), json_string_length(text));
    http->n_characters += n;
    if (n <= most)
        return true;
    hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                   "Invalid request: request (%zu) exceeds text limit (%zu)", n, most);
    return false;
}

bool hd_order_check(struct hd_http *http, const json_t *field, const char *name)
{
    const size_t n = json_is_array(field) ? json_array_size(field) : 1,
                 most = (size_t)http->service->settings->max_texts;
    if (!field || json_is_null(field) || n == 0 ||
        (json_is_string(field) && json_string_length(field) == 0)) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: missing %s parameter", name);
        return false;
    }
    if (n > most) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "Invalid request: request (%zu) exceeds text limit (%zu)", n, most);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!check_text(http, json_is_array(field) ? json_array_get(field, i) : field, name))
            return false;
    http->n_texts = n;
    return true;
}

/* With room for n texts, which are empty. */
static struct hd_order *order_new(size_t n)
{
    struct hd_order *o = hd_new(struct hd_order, NULL);
    if (!o)
        return NULL;
    *o = (struct hd_order){.n = n,
                           .texts = hd_alloc(n + 1, sizeof *o->texts, NULL),
                           .first = hd_alloc(n + 1, sizeof *o->first, NULL)};
    if (o->texts && o->first)
        return o;
    hd_order_free(o);
    return NULL;
}

static struct hd_order *order_or_refusal(struct hd_http *http, struct hd_order *o, bool ok)
{
    if (ok)
        return o;
    hd_order_free(o);
    hd_http_refuse(http, MHD_HTTP_INTERNAL_SERVER_ERROR, "there is not enough memory");
    return NULL;
}

struct hd_order *hd_order_new(struct hd_http *http, const json_t *field, const char *name,
                              const char *markup)
{
    if (!hd_order_check(http, field, name))
        return NULL;
    const bool is_list = json_is_array(field);
    const size_t n = is_list ? json_array_size(field) : 1;
    struct hd_order *o = order_new(n);
    bool ok = o != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = hd_pieces_init(&o->texts[i],
                            json_string_value(is_list ? json_array_get(field, i) : field), markup);
    if (ok) {
        o->is_list = is_list;
        o->markup = markup;
    }
    return order_or_refusal(http, o, ok);
}

struct hd_order *hd_order_new_file(struct hd_http *http, const json_t *field, const char *name,
                                   const char *format)
{
    heed_error err = {0};
    if (!hd_order_check(http, field, name))
        return NULL;
    heed_file *file =
        heed_file_read(json_string_value(field), json_string_length(field), format, NULL, &err);
    if (!file) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: %.600s", err.message);
        return NULL;
    }
    const size_t n = heed_file_size(file);
    struct hd_order *o = order_new(n);
    bool ok = o != NULL;
    if (ok)
        o->file = file;
    else
        heed_file_free(file);
    for (size_t i = 0; ok && i < n; i++)
        ok = hd_pieces_init(&o->texts[i], heed_file_text(file, i), true);
    return order_or_refusal(http, o, ok);
}

/* ---- languages ---------------------------------------------------------------------------------------------------- */

/* What is looked at to tell the language: all texts, as far as that takes no time; without tags, which look like English. */
static char *text_to_tell(const struct hd_order *o)
{
    enum { ENOUGH = 4000 };
    struct hd_bytes text = {0};
    bool is_tag = false;
    hd_bytes_add(&text, "", 0);
    for (size_t i = 0; i < o->n && text.n < ENOUGH; i++) {
        for (const char *c = o->texts[i].whole; *c && text.n < ENOUGH; c++) {
            is_tag = o->markup && (*c == '<' || is_tag);
            if (!is_tag)
                hd_bytes_add(&text, c, 1);
            is_tag = is_tag && *c != '>';
        }
        hd_bytes_text(&text, " ");
    }
    if (!text.has_failed)
        return text.at;
    hd_free(text.at);
    return NULL;
}

static struct hd_detected detect(const struct hd_order *o, const struct hd_fleet *fleet,
                                 const char *to)
{
    char *text = text_to_tell(o);
    const struct hd_detected d = hd_language_detect(fleet, text ? text : "", to);
    hd_free(text);
    return d;
}

struct hd_served *hd_order_direction(struct hd_http *http, struct hd_order *o,
                                     const struct hd_fleet *fleet, const char *source,
                                     const char *target, bool *is_same)
{
    *is_same = false;
    const char *from = NULL, *to = target ? hd_language_known(fleet, target) : NULL;
    if (!source || strcmp(source, "auto") == 0) {
        o->is_detected = true;
        o->detected = detect(o, fleet, to);
        from = o->detected.code;
    } else
        from = hd_language_known(fleet, source);
    if (!from || !to) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%.100s is not supported",
                       from ? target : source);
        return NULL;
    }
    struct hd_served *d = hd_fleet_find(fleet, from, to);
    *is_same = strcmp(from, to) == 0;
    if (!d && !*is_same)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "%s (%s) is not available as a target language from %s (%s)",
                       hd_language_name(to), to, hd_language_name(from), from);
    return d;
}

/* ---- out and back ------------------------------------------------------------------------------------------------- */

/* Words alone are wanted, and so many of the best. */
static heed_options *options_for(const struct hd_served *d, const struct hd_order *order,
                                 const char *markup, heed_error *err)
{
    char n_best[16];
    snprintf(n_best, sizeof n_best, "%d", markup ? 1 : order->alternatives + 1);
    heed_options *o = heed_options_new(d->engine->translator, err);
    if (o && hd_served_choose(d, o, err) && heed_options_set(o, "attention", "none", err) &&
        heed_options_set(o, "n-best", n_best, err) &&
        heed_options_set(o, "scores", order->alternatives > 0 ? "yes" : "no", err) &&
        (!markup || heed_options_set(o, "markup", markup, err)))
        return o;
    heed_options_free(o);
    return NULL;
}

/* Of a file some texts may have tags, and some not; all others are alike. */
static void give_texts(struct hd_desk *desk, struct hd_work *w, const struct hd_order *o)
{
    const char **texts = hd_alloc(w->n_units + 1, sizeof *texts, &w->err);
    heed_options **chosen = hd_alloc(w->n_units + 1, sizeof *chosen, &w->err);
    const bool is_sent = w->direction != NULL;
    heed_options *plain = is_sent ? options_for(w->direction, o, o->markup, &w->err) : NULL,
                 *tagged =
                     is_sent && o->file ? options_for(w->direction, o, "html", &w->err) : NULL;
    if (!texts || !chosen || (is_sent && (!plain || (o->file && !tagged))))
        hd_http_refuse_for(w->http, &w->err);
    else {
        size_t n = 0;
        for (size_t i = 0; i < o->n; i++)
            for (size_t k = 0; w->n_units > 0 && k < o->texts[i].n; k++)
                if (o->texts[i].at[k].text) {
                    chosen[n] = o->file && heed_file_has_tags(o->file, i) ? tagged : plain;
                    texts[n++] = o->texts[i].at[k].text;
                }
        hd_desk_submit(desk, w, texts, chosen, false);
    }
    heed_options_free(plain);
    heed_options_free(tagged);
    hd_free(chosen);
    hd_free(texts);
}

void hd_order_submit(struct hd_http *http, struct hd_order *o, struct hd_fleet *fleet,
                     struct hd_served *direction,
                     void (*finish)(struct hd_http *http, struct hd_work *work))
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++) {
        o->first[i] = n;
        n += o->texts[i].n_translated;
    }
    struct hd_fleets *fleets = &http->service->fleets;
    const bool may = hd_guard_spend(&http->service->guard, http, o->file ? 1 : o->n);
    struct hd_work *w = may ? hd_work_new(http, fleet, direction, direction ? n : 0) : NULL;
    if (!w) {
        hd_fleets_leave(fleets, fleet);
        hd_order_free(o);
        return;
    }
    w->finish = finish;
    w->data = o;
    w->most_quick = 100000; /* they are only put together */
    w->free_data = hd_order_free;
    give_texts(&http->service->desk, w, o);
}

void hd_order_write(struct hd_bytes *out, const struct hd_order *o, const struct hd_work *w,
                    size_t i, size_t rank)
{
    const struct hd_pieces *p = &o->texts[i];
    const char **texts = hd_alloc(p->n_translated + 1, sizeof *texts, NULL);
    if (!texts) {
        out->has_failed = true;
        return;
    }
    for (size_t k = 0, unit = 0; k < p->n; k++) {
        if (!p->at[k].text)
            continue;
        const heed_result *r = w->direction ? w->units[o->first[i] + unit].result : NULL;
        const size_t n = r ? r->n_translations : 0;
        texts[unit++] = n > 0 ? r->translations[rank < n ? rank : n - 1]->text : p->at[k].text;
    }
    hd_pieces_join(out, p, texts);
    hd_free(texts);
}

json_t *hd_order_text(const struct hd_order *o, const struct hd_work *w, size_t i, size_t rank)
{
    struct hd_bytes out = {0};
    hd_order_write(&out, o, w, i, rank);
    json_t *text = out.has_failed ? NULL : json_stringn(out.at, out.n);
    hd_free(out.at);
    return text;
}

bool hd_order_write_file(struct hd_bytes *out, const struct hd_order *o, const struct hd_work *w,
                         heed_error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && w->direction && i < o->n; i++) {
        struct hd_bytes text = {0};
        hd_order_write(&text, o, w, i, 0);
        hd_bytes_add(&text, "", 1); /* the end of a string */
        ok = text.has_failed ? hd_fail(err, HEED_NO_MEMORY, "there is not enough memory")
                             : heed_file_put(o->file, i, text.at, err);
        hd_free(text.at);
    }
    char *whole = ok ? heed_file_write(o->file, err) : NULL;
    if (whole)
        hd_bytes_text(out, whole);
    heed_free(whole);
    return whole && !out->has_failed;
}
