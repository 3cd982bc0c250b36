/* config.c -- a configuration from text and JSON, and back to JSON, by the table in fields.c.
 *
 * Here each value is only what its field takes; which values go together is told by hd_config_check(). */
#include "model/config.h"

#include "base/error.h"
#include "base/quote.h"
#include "base/real.h"
#include "model/fields.h"
#include "model/presets.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One field being set. */
struct setting {
    struct hd_config *config;
    const struct hd_field *field;
    char name[32];       /* as the person knows it: dashes in options, underscores in JSON */
    enum heed_code code; /* of its errors */
    heed_error *err;
    struct hd_quoted given; /* the value, for errors: what was typed, or what it is in JSON */
};

static struct setting setting_of(struct hd_config *config, const struct hd_field *field,
                                 bool is_json, heed_error *err)
{
    struct setting s = {.config = config,
                        .field = field,
                        .code = is_json ? HEED_BAD_MODEL : HEED_BAD_OPTION,
                        .err = err};
    snprintf(s.name, sizeof s.name, "%s", field->name);
    for (char *c = s.name; is_json && *c; c++)
        *c = *c == '-' ? '_' : *c;
    return s;
}

static bool refuse(const struct setting *s)
{
    return hd_fail(s->err, s->code, "%s must be %s, not %s", s->name, hd_field_range(s->field).s,
                   s->given.text);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool put_number(const struct setting *s, long long n)
{
    if (n < s->field->min || n > s->field->max)
        return refuse(s);
    if (s->field->type == HD_FIELD_LAYERS)
        s->config->encoder_layers = s->config->decoder_layers = (int)n;
    else
        *hd_field_int(s->field, s->config) = (int)n;
    return true;
}

static bool put_real(const struct setting *s, double x)
{
    if (!((float)x > 0 && x <= s->field->max)) /* a NaN is refused, too */
        return refuse(s);
    *hd_field_float(s->field, s->config) = (float)x;
    return true;
}

static bool put_choice(const struct setting *s, const char *text)
{
    int i = hd_field_value_index(s->field, text);
    if (i < 0) {
        const struct hd_value_name near = hd_field_value_nearest(s->field, text);
        return hd_fail(s->err, s->code, "%s must be %s, not %s%s%s%s", s->name,
                       hd_field_range(s->field).s, s->given.text,
                       near.s[0] ? "; did you mean " : "", near.s, near.s[0] ? "?" : "");
    }
    if (i >= s->field->max) { /* score local-m, local-p */
        s->config->local = i == s->field->max ? HD_LOCAL_M : HD_LOCAL_P;
        i = HD_SCORE_BILINEAR;
    }
    *hd_field_int(s->field, s->config) = i;
    return true;
}

static bool put_yes_no(const struct setting *s, bool yes)
{
    if (s->field->type == HD_FIELD_MAYBE)
        *hd_field_int(s->field, s->config) = yes;
    else
        *hd_field_bool(s->field, s->config) = yes;
    return true;
}

/* One more head at the end of the list. */
static bool put_head(const struct setting *s, long long head)
{
    struct hd_config *c = s->config;
    bool is_new = head >= s->field->min && head <= s->field->max;
    for (int i = 0; i < c->n_alignment_heads; i++)
        is_new = is_new && c->alignment_heads[i] != head;
    if (!is_new)
        return refuse(s);
    c->alignment_heads[c->n_alignment_heads++] = (int)head; /* there is room: no head comes twice */
    return true;
}

static void put_no_heads(struct hd_config *c)
{
    c->n_alignment_heads = 0;
    memset(c->alignment_heads, 0, sizeof c->alignment_heads);
}

/* ---- from text ------------------------------------------------------------------------------- */

/* A whole number, all of the text up to `end` ('\0' or ','). */
static bool read_whole(const char *text, char end, long long *n, const char **rest)
{
    char *after;
    errno = 0;
    *n = strtoll(text, &after, 10);
    *rest = after;
    const bool begins_well = (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
    return begins_well && after > text && errno == 0 && (*after == '\0' || *after == end);
}

static bool set_heads(const struct setting *s, const char *text)
{
    struct hd_config before = *s->config;
    put_no_heads(s->config);
    if (strcmp(text, "none") == 0)
        return true;
    for (const char *at = text;; at++) {
        long long head;
        if (!read_whole(at, ',', &head, &at) || !put_head(s, head)) {
            *s->config = before;
            return refuse(s);
        }
        if (*at == '\0')
            return true;
    }
}

/* Through the JSON reader, which knows no locale. */
static bool set_real(const struct setting *s, const char *text)
{
    json_t *number = json_loads(text, JSON_DECODE_ANY, NULL);
    const bool ok = json_is_number(number) ? put_real(s, json_number_value(number)) : refuse(s);
    json_decref(number);
    return ok;
}

static bool set_yes_no(const struct setting *s, const char *text)
{
    if (strcmp(text, "yes") == 0 || strcmp(text, "true") == 0)
        return put_yes_no(s, true);
    if (strcmp(text, "no") == 0 || strcmp(text, "false") == 0)
        return put_yes_no(s, false);
    return refuse(s);
}

static bool unknown(const char *name, bool is_json, heed_error *err)
{
    const char *near = hd_field_nearest(name);
    struct setting s = {.name = ""};
    if (near)
        s = setting_of(NULL, hd_field_find(near), is_json, NULL);
    return hd_fail(err, is_json ? HEED_BAD_MODEL : HEED_BAD_OPTION,
                   "a configuration has no field %s%s%s%s", hd_quote(name).text,
                   near ? "; did you mean " : "", s.name, near ? "?" : "");
}

static bool of_another_kind(const struct setting *s)
{
    return hd_fail(s->err, s->code, "%s is for %s, but arch is %s", s->name,
                   s->field->kind == HD_OF_TRANSFORMER ? "the transformer" : "recurrent models",
                   hd_presets[s->config->arch].name);
}

bool hd_config_set(struct hd_config *config, const char *name, const char *value, heed_error *err)
{
    const struct hd_field *field = hd_field_find(name);
    if (!field)
        return unknown(name, false, err);
    struct setting s = setting_of(config, field, false, err);
    s.given = hd_quote(value);
    if (!hd_field_applies(field, config))
        return of_another_kind(&s);
    const char *rest;
    long long n;
    switch (field->type) {
    case HD_FIELD_NUMBER:
    case HD_FIELD_LAYERS:
        return read_whole(value, '\0', &n, &rest) ? put_number(&s, n) : refuse(&s);
    case HD_FIELD_REAL:
        return set_real(&s, value);
    case HD_FIELD_YES_NO:
    case HD_FIELD_MAYBE:
        return set_yes_no(&s, value);
    case HD_FIELD_HEADS:
        return set_heads(&s, value);
    case HD_FIELD_CHOICE:
        break;
    }
    if (field == &hd_fields[0])
        return hd_fail(err, HEED_BAD_OPTION,
                       "arch fills all the other fields, so it is chosen first and cannot be set "
                       "afterwards; begin with the preset %s",
                       s.given.text);
    return put_choice(&s, value);
}

/* ---- from JSON ------------------------------------------------------------------------------- */

/* A value, for sentences: a number or text itself, of others what they are. */
static struct hd_quoted say_json(const json_t *value)
{
    struct hd_quoted said = {""};
    const char *kind = json_is_object(value)  ? "an object"
                       : json_is_array(value) ? "a list"
                       : json_is_true(value)  ? "true"
                       : json_is_false(value) ? "false"
                                              : "null";
    if (json_is_string(value))
        return hd_quote(json_string_value(value));
    if (json_is_integer(value))
        snprintf(said.text, sizeof said.text, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(said.text, sizeof said.text, "%#g", json_real_value(value)); /* 128.000 */
    else
        snprintf(said.text, sizeof said.text, "%s", kind);
    return said;
}

static bool read_heads(struct setting *s, const json_t *list)
{
    put_no_heads(s->config);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *head = json_array_get(list, i);
        s->given = say_json(head);
        if (!json_is_integer(head) || !put_head(s, json_integer_value(head)))
            return refuse(s);
    }
    return true;
}

static bool read_field(struct setting *s, const json_t *value)
{
    s->given = say_json(value);
    switch (s->field->type) {
    case HD_FIELD_NUMBER:
        return json_is_integer(value) ? put_number(s, json_integer_value(value)) : refuse(s);
    case HD_FIELD_REAL:
        return json_is_number(value) ? put_real(s, json_number_value(value)) : refuse(s);
    case HD_FIELD_CHOICE:
        return json_is_string(value) ? put_choice(s, json_string_value(value)) : refuse(s);
    case HD_FIELD_HEADS:
        return json_is_array(value) ? read_heads(s, value) : refuse(s);
    case HD_FIELD_YES_NO:
    case HD_FIELD_MAYBE:
        if (json_is_boolean(value))
            return put_yes_no(s, json_is_true(value));
        break;
    case HD_FIELD_LAYERS:
        return refuse(s);
    }
    return hd_fail(s->err, s->code, "%s must be true or false, not %s", s->name, s->given.text);
}

bool hd_config_from_json(struct hd_config *config, const json_t *json, heed_error *err)
{
    if (!json_is_object(json))
        return hd_fail(err, HEED_BAD_MODEL, "a configuration must be a JSON object");
    struct hd_config c = hd_config_default;
    const json_t *arch = json_object_get(json, "arch");
    struct setting first = setting_of(&c, &hd_fields[0], true, err);
    if (!arch)
        return hd_fail(err, HEED_BAD_MODEL,
                       "a configuration must have a field arch that names its preset: %s",
                       hd_field_range(first.field).s);
    if (!read_field(&first, arch))
        return false;
    c = hd_config_preset((enum hd_arch)c.arch, HD_SIZE_BASE);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value)
    {
        const struct hd_field *field = strchr(key, '-') ? NULL : hd_field_find(key);
        if (!field || field->type == HD_FIELD_LAYERS)
            return unknown(key, true, err);
        struct setting s = setting_of(&c, field, true, err);
        if (!hd_field_applies(field, &c))
            return of_another_kind(&s);
        if (!read_field(&s, value))
            return false;
    }
    *config = c;
    return true;
}

/* ---- to JSON --------------------------------------------------------------------------------- */

static json_t *write_field(const struct hd_field *f, const struct hd_config *c)
{
    json_t *list;
    char text[32];
    switch (f->type) {
    case HD_FIELD_NUMBER:
        return json_integer(*hd_field_int(f, c));
    case HD_FIELD_REAL:
        return json_real(strtod(hd_real_text(text, *hd_field_float(f, c)), NULL));
    case HD_FIELD_YES_NO:
        return json_boolean(*hd_field_bool(f, c));
    case HD_FIELD_MAYBE:
        return json_boolean(*hd_field_int(f, c));
    case HD_FIELD_CHOICE:
        return json_string(hd_field_value(f, *hd_field_int(f, c)).s);
    case HD_FIELD_HEADS:
        list = json_array();
        for (int i = 0; i < c->n_alignment_heads; i++)
            if (json_array_append_new(list, json_integer(c->alignment_heads[i])) != 0) {
                json_decref(list);
                return NULL;
            }
        return list;
    case HD_FIELD_LAYERS:
        break;
    }
    return NULL;
}

json_t *hd_config_to_json(const struct hd_config *config)
{
    json_t *json = json_object();
    for (const struct hd_field *f = hd_fields; json && f < hd_fields + hd_n_fields; f++) {
        const bool is_unset = f->may_be_unset && *hd_field_int(f, config) == HD_UNSET;
        if (f->type == HD_FIELD_LAYERS || is_unset || !hd_field_applies(f, config))
            continue;
        const struct setting s = setting_of(NULL, f, true, NULL);
        if (json_object_set_new(json, s.name, write_field(f, config)) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}
