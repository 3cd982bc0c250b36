/* option_json.c -- JSON values become fields by their rows, and JSON again. */
#include "option/option_json.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/real.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value, for sentences: a number or text itself, of others what they are. */
static struct hd_quoted quote_json(const json_t *value)
{
    struct hd_quoted given = {""};
    const char *kind = json_is_object(value)  ? "an object"
                       : json_is_array(value) ? "a list"
                       : json_is_true(value)  ? "true"
                       : json_is_false(value) ? "false"
                                              : "null";
    if (json_is_string(value))
        return hd_quote(json_string_value(value));
    if (json_is_integer(value))
        snprintf(given.text, sizeof given.text, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(given.text, sizeof given.text, "%#g", json_real_value(value)); /* 128.000 */
    else
        snprintf(given.text, sizeof given.text, "%s", kind);
    return given;
}

/* A row with a setter of its own takes text; numbers and booleans are given to it as they would be typed. */
static bool set_as_text(const heed_option *o, void *values, const json_t *json, heed_error *err)
{
    const bool is_right = json_is_string(json) ||
                          (json_is_boolean(json) && o->kind == HEED_OPTION_YES_NO) ||
                          (json_is_number(json) && o->kind != HEED_OPTION_CHOICE);
    if (!is_right ||
        (json_is_string(json) && o->kind != HEED_OPTION_TEXT && o->kind != HEED_OPTION_CHOICE))
        return hd_option_refuse_given(o, quote_json(json).text, err);
    if (json_is_string(json))
        return heed_option_set(o, values, json_string_value(json), err);
    char *text = json_dumps(json, JSON_ENCODE_ANY);
    const bool ok = text ? heed_option_set(o, values, text, err)
                         : hd_fail(err, HEED_NO_MEMORY, "there is no memory left");
    free(text);
    return ok;
}

/* As "0,3" through the text, so that both are refused for the same reasons. */
static bool set_numbers(const heed_option *o, void *values, const json_t *list, heed_error *err)
{
    char text[512] = "none";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_integer(item) || used + 24 > sizeof text)
            return hd_option_refuse_given(o, quote_json(item).text, err);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i > 0 ? "," : "",
                                 (long long)json_integer_value(item));
    }
    return heed_option_set(o, values, text, err);
}

static bool set_list(const heed_option *o, void *values, const json_t *list, heed_error *err)
{
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item)
    {
        if (!json_is_string(item))
            return hd_option_refuse_given(o, quote_json(item).text, err);
        if (!heed_option_set(o, values, json_string_value(item), err))
            return false;
    }
    return true;
}

bool hd_option_from_json(const heed_option *o, void *values, const json_t *json, heed_error *err)
{
    const struct hd_quoted given = quote_json(json);
    if (o->set)
        return set_as_text(o, values, json, err);
    switch (o->kind) {
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        if (!json_is_boolean(json))
            return hd_fail(err, HEED_BAD_OPTION, "%s must be true or false, not %s", o->name,
                           given.text);
        hd_option_put_bool(o, values, json_is_true(json));
        return true;
    case HEED_OPTION_INT:
        if (json_is_integer(json))
            return hd_option_put_whole(o, values, json_integer_value(json), given.text, err);
        break;
    case HEED_OPTION_FLOAT:
        if (json_is_number(json))
            return hd_option_put_number(o, values, json_number_value(json), given.text, err);
        break;
    case HEED_OPTION_CHOICE:
    case HEED_OPTION_TEXT:
        if (json_is_string(json))
            return heed_option_set(o, values, json_string_value(json), err);
        break;
    case HEED_OPTION_NUMBERS:
        if (json_is_array(json))
            return set_numbers(o, values, json, err);
        break;
    case HEED_OPTION_LIST:
        if (json_is_array(json))
            return set_list(o, values, json, err);
        break;
    }
    return hd_option_refuse_given(o, given.text, err);
}

bool hd_options_from_json(const heed_option *options, void *values, const json_t *object,
                          bool (*may_set)(const heed_option *, const void *, heed_error *),
                          heed_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        const heed_option *o = heed_option_find(options, name);
        if (!o)
            return heed_option_set_named(options, values, name, "", err); /* says what is near */
        if ((may_set && !may_set(o, values, err)) || !hd_option_from_json(o, values, value, err))
            return false;
    }
    return true;
}

/* ---- and back -------------------------------------------------------------------------------- */

static json_t *numbers_to_json(const int *field)
{
    json_t *list = json_array();
    for (int i = 1; list && i <= field[0]; i++)
        if (json_array_append_new(list, json_integer(field[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static json_t *list_to_json(const heed_option_list *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < texts->n; i++)
        if (json_array_append_new(list, json_string(texts->at[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

json_t *hd_option_to_json(const heed_option *o, const void *values)
{
    const void *field = (const char *)values + o->offset;
    char text[512];
    double x;
    if (hd_option_is_open(o, values))
        return json_null();
    if (o->print)
        return json_string(heed_option_text(o, values, text, sizeof text));
    switch (o->kind) {
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        return json_boolean(o->size == sizeof(bool) ? *(const bool *)field
                                                    : *(const int *)field != 0);
    case HEED_OPTION_INT:
        return json_integer(*(const int *)field);
    case HEED_OPTION_FLOAT: /* the shortest decimal number that is this float */
        x = o->size == sizeof(double) ? *(const double *)field : (double)*(const float *)field;
        return json_real(strtod(hd_real_text(text, (float)x), NULL));
    case HEED_OPTION_NUMBERS:
        return numbers_to_json(field);
    case HEED_OPTION_LIST:
        return list_to_json(field);
    case HEED_OPTION_CHOICE:
    case HEED_OPTION_TEXT:
        break;
    }
    return json_string(heed_option_text(o, values, text, sizeof text));
}
