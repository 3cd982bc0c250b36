/* own.c -- heed's own interface: results whole, with words, scores and attention, and the options of `heed translate` by name.
 *
 * The answer to a text is the JSON of its result, as `heed translate --json` prints it; to a list of texts, a list of these. */
#include "base/error.h"
#include "base/memory.h"
#include "serve/form.h"
#include "serve/language_codes.h"
#include "serve/order.h"
#include "serve/routes.h"
#include "serve/service.h"
#include "serve/stream.h"

#include <heed_draw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- options ---------------------------------------------------------------------------------------------------- */

/* A field's value as it would be typed; NULL: it cannot be. */
static const char *typed(const json_t *value, char *text, size_t size)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, size, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    else
        return NULL;
    return text;
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Does a number stay below what one client may ask for? */
static bool is_modest(struct hd_http *http, const char *name, const char *value)
{
    const int most = http->service->settings->max_beam;
    if ((strcmp(name, "beam") != 0 && strcmp(name, "n-best") != 0) || atoi(value) <= most)
        return true;
    hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%s must be at most %d on this server", name, most);
    return false;
}

/* Is this an option that is yes or no? */
static bool is_yes_or_no(const char *name)
{
    const heed_option *o;
    for (int i = 0; (o = heed_translator_option_at(i)); i++)
        if (strcmp(o->name, name) == 0)
            return o->kind == HEED_OPTION_YES_NO || o->kind == HEED_OPTION_FLAG;
    return false;
}

/* Options of the search and of what is reported; how the server works, and which files it reads, is its own affair. That there be no
 * memory can be asked for. */
static bool set_option(struct hd_http *http, heed_options *options, const char *field,
                       const json_t *value)
{
    static const char *const fields[] = {"q",      "from",   "to",      "source", "prefix",
                                         "target", "stream", "api_key", "model",  "format",
                                         "dark",   "layers", "heads",   "force",  NULL};
    static const char *const ours[] = {"threads",     "batch",      "compute",      "keep",
                                       "max-source",  "max-length", "glossary",     "memory",
                                       "memory-from", "memory-to",  "memory-cache", NULL};
    char text[64], name[64];
    heed_error err = {0};
    if (is_among(fields, field) || json_is_null(value))
        return true;
    snprintf(name, sizeof name, "%s", field);
    for (char *c = name; *c; c++) /* as the option engine reads names */
        *c = *c == '_' ? '-' : *c;
    const int truth = hd_form_truth_of(value);
    const bool is_memory = strcmp(name, "memory") == 0 && truth >= 0;
    const char *said = is_memory                          ? "none"
                       : truth >= 0 && is_yes_or_no(name) ? (truth ? "yes" : "no")
                                                          : typed(value, text, sizeof text);
    if (is_memory && truth == 1) /* as without the field */
        return true;
    if (is_among(ours, name) && !is_memory)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%s is the server's own choice", name);
    else if (!said)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%.64s must be text, a number, true or false",
                       field);
    else if (is_modest(http, name, said) && !heed_options_set(options, field, said, &err))
        hd_http_refuse_for(http, &err);
    return http->status == 0;
}

/* A field that is yes or no, and no where it is not there. False with the request refused: it is neither. */
static bool read_truth(struct hd_http *http, const char *name, bool *is_true)
{
    const json_t *value = json_object_get(http->form, name);
    const int truth = hd_form_truth_of(value);
    *is_true = truth == 1;
    if (truth >= 0 || !value || json_is_null(value))
        return true;
    hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%s must be true or false", name);
    return false;
}

static bool set_options(struct hd_http *http, heed_options *options)
{
    const char *name;
    json_t *value;
    json_object_foreach(http->form, name, value)
    {
        if (!set_option(http, options, name, value))
            return false;
    }
    return true;
}

/* Of a model of several directions: the languages that were asked for. What was left open is told from each text. */
static bool choose_languages(const struct hd_http *http, const struct hd_served *d, heed_options *o,
                             heed_error *err)
{
    const char *from = hd_form_text(http->form, "from"), *to = hd_form_text(http->form, "to");
    const bool is_told = from && strcmp(from, "auto") != 0;
    if (!d->own_from) /* the memory has to know which languages these are */
        return heed_options_set(o, "memory-from", d->from, err) &&
               heed_options_set(o, "memory-to", d->to, err);
    return ((!is_told || heed_options_set(o, "from", d->own_from, err)) &&
            (!to || heed_options_set(o, "to", d->own_to, err)));
}

/* [[step, subword], [step, subword, weight], ...] as the option has it. */
static bool set_force(struct hd_http *http, heed_options *o, heed_error *err)
{
    const json_t *force = json_object_get(http->form, "force");
    if (!force || json_is_null(force))
        return true;
    struct hd_bytes text = {0};
    hd_bytes_text(&text, json_is_string(force) ? json_string_value(force) : "");
    for (size_t i = 0; i < json_array_size(force); i++) {
        const json_t *one = json_array_get(force, i);
        const size_t n = json_array_size(one);
        for (size_t k = 0; k < n; k++) {
            char number[40];
            snprintf(number, sizeof number, "%s%.9g",
                     k > 0   ? ":"
                     : i > 0 ? ","
                             : "",
                     json_number_value(json_array_get(one, k)));
            hd_bytes_text(&text, number);
        }
        if (n < 2 || n > 3)
            hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                           "force must be a list of [step, subword] or [step, subword, weight]");
    }
    const bool ok = http->status == 0 && !text.has_failed &&
                    heed_options_set(o, "force", text.at ? text.at : "", err);
    hd_free(text.at);
    return ok;
}

/* The options of the i-th text: those of all, and how its translation begins or what it is. */
static heed_options *options_of(struct hd_http *http, const struct hd_served *d, size_t i,
                                const char *attention)
{
    static const char *const of_texts[] = {"prefix", "target"};
    heed_error err = {0};
    heed_options *o = heed_options_new(d->engine->translator, &err);
    bool ok = o && choose_languages(http, d, o, &err) && set_force(http, o, &err) &&
              (!attention || heed_options_set(o, "attention", attention, &err)) &&
              set_options(http, o);
    for (int k = 0; ok && k < 2; k++) {
        const json_t *field = json_object_get(http->form, of_texts[k]),
                     *value = json_is_array(field) ? json_array_get(field, i) : field;
        if (value && !json_is_null(value) && !json_is_string(value)) {
            hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%s must be text", of_texts[k]);
            ok = false;
        } else if (json_is_string(value))
            ok = heed_options_set(o, of_texts[k], json_string_value(value), &err);
    }
    if (ok)
        return o;
    heed_options_free(o);
    if (http->status == 0)
        hd_http_refuse_for(http, &err);
    return NULL;
}

/* ---- which model -------------------------------------------------------------------------------------------------- */

static bool is_of(const struct hd_served *d, const char *model, const char *from, const char *to)
{
    return (!model || strcmp(d->engine->name, model) == 0) &&
           (!from || strcmp(d->from, from) == 0) && (!to || strcmp(d->to, to) == 0);
}

/* The language of the first text. */
static const char *detect(const struct hd_http *http, const struct hd_fleet *f, const char *to)
{
    const json_t *q = json_object_get(http->form, "q");
    const char *text = json_string_value(json_is_array(q) ? json_array_get(q, 0) : q);
    return f->detector ? hd_language_detect(f, text ? text : "", to).code : NULL;
}

/* By its name, by the languages, or the first. NULL with the request refused. */
static struct hd_served *direction_of(struct hd_http *http, const struct hd_fleet *f)
{
    const char *model = hd_form_text(http->form, "model"), *from = hd_form_text(http->form, "from"),
               *to = hd_form_text(http->form, "to");
    const char *source = from && strcmp(from, "auto") != 0 ? hd_language_known(f, from) : NULL,
               *target = to ? hd_language_known(f, to) : NULL;
    const char *unknown = to && !target                                  ? to
                          : from && strcmp(from, "auto") != 0 && !source ? from
                                                                         : NULL;
    const char *told = source || unknown ? source : detect(http, f, target);
    for (size_t i = 0; !unknown && i < f->n; i++)
        if (is_of(&f->at[i], model, told, target))
            return &f->at[i];
    for (size_t i = 0; !unknown && i < f->n; i++) /* what is only a guess may be wrong */
        if (is_of(&f->at[i], model, source, target))
            return &f->at[i];
    if (unknown)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%.100s is not supported", unknown);
    else if (model)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "there is no model %.100s for this; GET /heed/model lists what there is",
                       model);
    else
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "no model translates from %s to %s; GET /heed/model lists what there is",
                       source ? source : "it", target ? target : "it");
    return NULL;
}

/* ---- /heed/translate, align, score ---------------------------------------------------------------------------------- */

static void finish_own(struct hd_http *http, struct hd_work *w)
{
    const bool is_list = json_is_array(json_object_get(http->form, "q"));
    http->answer.n = 0;
    hd_bytes_text(&http->answer, is_list ? "[" : "");
    for (size_t i = 0; i < w->n_units; i++) {
        char *json = heed_result_json(w->units[i].result, NULL);
        hd_bytes_text(&http->answer, i > 0 ? ", " : "");
        hd_bytes_text(&http->answer, json ? json : "null");
        heed_free(json);
    }
    hd_bytes_text(&http->answer, is_list ? "]" : "");
    http->status = MHD_HTTP_OK;
    http->type = "application/json";
}

struct own {
    int n_heads; /* of each layer, where layers and heads were asked for */
    const char **texts;
    heed_options **options;
    size_t n, n_options;
};

static void release_own(struct own *own)
{
    for (size_t i = 0; own->options && i < own->n_options; i++)
        heed_options_free(own->options[i]);
    hd_free(own->options);
    hd_free(own->texts);
}

/* The texts, and options of each where they differ. False with the request refused, or without memory. */
static bool read_own(struct own *own, struct hd_http *http, const struct hd_served *d,
                     const char *attention)
{
    const json_t *q = json_object_get(http->form, "q");
    const bool differ = json_is_array(json_object_get(http->form, "prefix")) ||
                        json_is_array(json_object_get(http->form, "target"));
    own->n = json_is_array(q) ? json_array_size(q) : 1;
    own->texts = hd_alloc(own->n, sizeof *own->texts, NULL);
    own->options = hd_alloc(own->n, sizeof *own->options, NULL);
    for (size_t i = 0; own->texts && own->options && i < own->n; i++) {
        own->texts[i] = json_string_value(json_is_array(q) ? json_array_get(q, i) : q);
        if (i > 0 && !differ)
            continue;
        if (!(own->options[i] = options_of(http, d, i, attention)))
            return false;
        own->n_options++;
    }
    return own->texts && own->options;
}

/* ---- all heads ------------------------------------------------------------------------------------------------------ */

/* How many layers have the attention that is asked for. */
static int n_layers_of(const struct hd_http *http, const heed_model *model)
{
    const char *kind = hd_form_text(http->form, "attention");
    return (int)heed_model_size(
        model, kind && strcmp(kind, "encoder") == 0   ? HEED_MODEL_ENCODER_SELF_LAYERS
               : kind && strcmp(kind, "decoder") == 0 ? HEED_MODEL_DECODER_SELF_LAYERS
                                                      : HEED_MODEL_CROSS_LAYERS);
}

/* "all", a number or a list of numbers from `least`, as `numbers`; -1 with the request refused. */
static int read_numbers(struct hd_http *http, const char *name, int least, int n, int *numbers)
{
    const json_t *field = json_object_get(http->form, name);
    const char *text = json_string_value(field);
    const bool is_list = json_is_array(field),
               is_all = !field || json_is_null(field) || (text && strcmp(text, "all") == 0);
    const size_t n_told = is_all ? (size_t)n : is_list ? json_array_size(field) : 1;
    bool ok = n_told >= 1 && n_told <= (size_t)n;
    for (size_t i = 0; ok && i < n_told; i++) {
        const json_t *one = is_list ? json_array_get(field, i) : field;
        char told[32], *end = NULL;
        const char *digits = is_all ? NULL : typed(one, told, sizeof told);
        const long x = digits ? strtol(digits, &end, 10) : least + (long)i;
        ok = is_all || (digits && end != digits && !*end && x >= least && x < least + n);
        numbers[i] = (int)x;
    }
    if (ok)
        return (int)n_told;
    hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%s must be all, or different numbers from %d to %d",
                   name, least, least + n - 1);
    return -1;
}

/* The same text once for each layer and head. */
static bool read_pairs(struct own *own, struct hd_http *http, const struct hd_served *d,
                       const int *layers, int n_layers, const int *heads, int n_heads)
{
    own->n = (size_t)n_layers * (size_t)n_heads;
    own->texts = hd_alloc(own->n, sizeof *own->texts, NULL);
    own->options = hd_alloc(own->n, sizeof *own->options, NULL);
    for (size_t i = 0; own->texts && own->options && i < own->n; i++) {
        char layer[16], head[16];
        heed_error err = {0};
        snprintf(layer, sizeof layer, "%d", layers[i / (size_t)n_heads]);
        snprintf(head, sizeof head, "%d", heads[i % (size_t)n_heads]);
        own->texts[i] = hd_form_text(http->form, "q");
        if (!(own->options[i] = options_of(http, d, 0, NULL)))
            return false;
        own->n_options++;
        if (!heed_options_set(own->options[i], "layer", layer, &err) ||
            !heed_options_set(own->options[i], "head", head, &err)) {
            hd_http_refuse_for(http, &err);
            return false;
        }
    }
    return own->texts && own->options;
}

static bool read_heads(struct own *own, struct hd_http *http, const struct hd_served *d)
{
    const heed_model *model = d->engine->models[0];
    const char *kind = hd_form_text(http->form, "attention");
    const int most_layers = n_layers_of(http, model),
              most_heads = (int)heed_model_size(model, HEED_MODEL_HEADS);
    if (most_layers < 1 || most_heads < 1 || (kind && strcmp(kind, "none") == 0)) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "the model has no such attention");
        return false;
    }
    int *layers = hd_alloc((size_t)most_layers, sizeof *layers, NULL),
        *heads = hd_alloc((size_t)most_heads, sizeof *heads, NULL);
    const int n_layers = layers ? read_numbers(http, "layers", 1, most_layers, layers) : -1,
              n_heads =
                  heads && n_layers > 0 ? read_numbers(http, "heads", 0, most_heads, heads) : -1;
    const bool ok = n_heads > 0 && read_pairs(own, http, d, layers, n_layers, heads, n_heads);
    own->n_heads = n_heads;
    hd_free(layers);
    hd_free(heads);
    return ok;
}

/* {"layers": L, "heads": H, "rows": ..., "columns": ..., "attention": [layer][head][row][column]}, between subwords. */
static void write_heads(struct hd_http *http, struct hd_work *w, bool has_result)
{
    const heed_translation *first = w->units[0].result->translations[0];
    const int n_heads = *(const int *)w->data;
    char text[160];
    http->answer.n = 0;
    hd_bytes_text(&http->answer, "{");
    if (has_result) {
        char *json = heed_result_json(w->units[0].result, NULL);
        hd_bytes_text(&http->answer, "\"result\": ");
        hd_bytes_text(&http->answer, json ? json : "null");
        hd_bytes_text(&http->answer, ", ");
        heed_free(json);
    }
    snprintf(text, sizeof text,
             "\"layers\": %d, \"heads\": %d, \"rows\": %zu, \"columns\": %zu, \"attention\": [",
             (int)w->n_units / n_heads, n_heads, first->n_subword_rows, first->n_subword_columns);
    hd_bytes_text(&http->answer, text);
    for (size_t i = 0; i < w->n_units; i++) {
        const heed_translation *t = w->units[i].result->translations[0];
        const size_t n = t->n_subword_columns, head = i % (size_t)n_heads;
        hd_bytes_text(&http->answer, head > 0 ? ", [" : i > 0 ? "], [[" : "[[");
        for (size_t k = 0; t->subword_attention && k < t->n_subword_rows * n; k++) {
            snprintf(text, sizeof text, "%s%.4g%s",
                     k % n > 0 ? ", "
                     : k > 0   ? ", ["
                               : "[",
                     (double)t->subword_attention[k], k % n == n - 1 ? "]" : "");
            hd_bytes_text(&http->answer, text);
        }
        hd_bytes_text(&http->answer, "]");
    }
    hd_bytes_text(&http->answer, "]]}");
    http->status = MHD_HTTP_OK;
    http->type = "application/json";
}

static void finish_heads(struct hd_http *http, struct hd_work *w)
{
    write_heads(http, w, false);
}

static void finish_result_and_heads(struct hd_http *http, struct hd_work *w)
{
    write_heads(http, w, true);
}

static bool is_of_heads(void (*finish)(struct hd_http *http, struct hd_work *work))
{
    return finish == finish_heads || finish == finish_result_and_heads;
}

/* The answer grows with the square of the text, and a picture takes long to draw in any case. */
static size_t most_quick(void (*finish)(struct hd_http *http, struct hd_work *work))
{
    return finish == finish_own ? 1000 : is_of_heads(finish) ? 100 : 0;
}

static void translate_own(struct hd_http *http, const char *attention,
                          void (*finish)(struct hd_http *http, struct hd_work *work))
{
    if (!hd_order_check(http, json_object_get(http->form, "q"), "q"))
        return;
    bool is_stream;
    if (!read_truth(http, "stream", &is_stream))
        return;
    if (is_stream && finish != finish_own) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "this answer comes as a whole; leave out stream");
        return;
    }
    struct hd_fleets *fleets = &http->service->fleets;
    struct hd_fleet *f = hd_fleets_use(fleets);
    struct hd_served *d = direction_of(http, f);
    struct own own = {0};
    struct hd_work *w = NULL;
    const bool is_read =
        d && (is_of_heads(finish) ? read_heads(&own, http, d) : read_own(&own, http, d, attention));
    if (is_read && hd_guard_spend(&http->service->guard, http, own.n) &&
        (w = hd_work_new(http, f, d, own.n)) && (!is_stream || hd_stream_begin(http))) {
        w->finish = finish;
        w->most_quick = most_quick(finish);
        w->free_data = hd_free;
        int *n_heads = w->data = hd_new(int, NULL);
        if (n_heads) {
            *n_heads = own.n_heads;
            hd_desk_submit(&http->service->desk, w, own.texts, own.options, own.n_options == 1);
        }
    }
    if (!w)
        hd_fleets_leave(fleets, f);
    release_own(&own);
}

static bool has_field(const struct hd_http *http, const char *name)
{
    const json_t *field = json_object_get(http->form, name);
    return field && !json_is_null(field);
}

/* Are weights of several layers and heads wanted, and of one text? */
static bool wants_heads(struct hd_http *http)
{
    const bool wants = has_field(http, "layers") || has_field(http, "heads");
    if (wants && json_is_array(json_object_get(http->form, "q")))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "layers and heads are of one text; send q as text");
    return wants;
}

void hd_own_translate(struct hd_http *http)
{
    const bool with_heads = wants_heads(http);
    if (http->status == 0)
        translate_own(http, NULL, with_heads ? finish_result_and_heads : finish_own);
}

/* Given translations: what belongs to what, and how likely it is. */
static void force(struct hd_http *http, const char *attention,
                  void (*finish)(struct hd_http *http, struct hd_work *work))
{
    if (!json_object_get(http->form, "target"))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: missing target parameter");
    else
        translate_own(http, attention, finish);
}

void hd_own_align(struct hd_http *http)
{
    const bool with_heads = wants_heads(http);
    if (http->status == 0)
        force(http, NULL, with_heads ? finish_heads : finish_own);
}

/* Where one answer has no place for several layers and heads. */
static bool check_no_heads(struct hd_http *http)
{
    if (has_field(http, "layers") || has_field(http, "heads"))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "layers and heads are for /heed/translate and /heed/align; layer and head "
                       "choose one");
    return http->status == 0;
}

void hd_own_score(struct hd_http *http)
{
    if (check_no_heads(http))
        force(http, "none", finish_own);
}

/* ---- /heed/model ---------------------------------------------------------------------------------------------------- */

void hd_own_model(struct hd_http *http)
{
    struct hd_fleet *f = hd_fleets_use(&http->service->fleets);
    json_t *list = json_array();
    for (size_t i = 0; i < f->n; i++) {
        const struct hd_served *d = &f->at[i];
        const struct hd_engine *e = d->engine;
        char *info = heed_model_info(e->models[0], true, NULL);
        json_t *about = info ? json_loads(info, 0, NULL) : NULL;
        json_array_append_new(
            list,
            json_pack("{s: s, s: s, s: s, s: i, s: I, s: I, s: I, s: I, s: I, s: o}", "model",
                      e->name, "from", d->from, "to", d->to, "models", e->n_models, "heads",
                      (json_int_t)heed_model_size(e->models[0], HEED_MODEL_HEADS), "cross_layers",
                      (json_int_t)heed_model_size(e->models[0], HEED_MODEL_CROSS_LAYERS),
                      "encoder_layers",
                      (json_int_t)heed_model_size(e->models[0], HEED_MODEL_ENCODER_SELF_LAYERS),
                      "decoder_layers",
                      (json_int_t)heed_model_size(e->models[0], HEED_MODEL_DECODER_SELF_LAYERS),
                      "parameters",
                      (json_int_t)heed_model_size(e->models[0], HEED_MODEL_PARAMETERS), "info",
                      about ? about : json_null()));
        heed_free(info);
    }
    hd_fleets_leave(&http->service->fleets, f);
    hd_http_say_json(http, MHD_HTTP_OK, list);
}

/* ---- /heed/plot ------------------------------------------------------------------------------------------------------ */

/* The picture that `heed translate --plot` draws. */
static void finish_plot(struct hd_http *http, struct hd_work *w)
{
    enum { N_TYPES = 4 };
    static const char *const types[N_TYPES][2] = {{"svg", "image/svg+xml"},
                                                  {"png", "image/png"},
                                                  {"pdf", "application/pdf"},
                                                  {"tex", "application/x-tex"}};
    const heed_result *r = w->units[0].result;
    const heed_translation *t = r->translations[0];
    const char *format = hd_form_text(http->form, "format");
    heed_error err = {0};
    size_t size = 0, kind = 0;
    while (kind < N_TYPES && format && strcasecmp(format, types[kind][0]) != 0)
        kind++;
    heed_picture_attention *picture = heed_result_picture(r, t, t->links, t->n_links, &err);
    const bool is_dark = hd_form_truth(http->form, "dark") == 1;
    char *bytes = picture
                      ? heed_draw_bytes(&(heed_picture){.attention = picture, .is_dark = is_dark},
                                        kind < N_TYPES ? types[kind][0] : format, &size, &err)
                      : NULL;
    if (bytes) {
        http->answer.n = 0;
        hd_bytes_add(&http->answer, bytes, size);
        http->status = MHD_HTTP_OK;
        http->type = types[kind][1];
    } else
        hd_http_refuse_for(http, &err);
    heed_free(bytes);
    heed_free(picture);
}

void hd_own_plot(struct hd_http *http)
{
    bool is_dark;
    if (json_is_array(json_object_get(http->form, "q")))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "a picture is of one text; send q as text");
    else if (read_truth(http, "dark", &is_dark) && check_no_heads(http))
        translate_own(http, NULL, finish_plot);
}
