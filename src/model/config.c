/* config.c -- a configuration from text and JSON, and back to JSON, by the table in fields.c.
 *
 * Here each value is only what its field takes; which values go together is told by hd_config_check(). */
#include "model/config.h"

#include "base/error.h"
#include "base/quote.h"
#include "model/fields.h"
#include "option/option_json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Does this kind of model have the field? */
static bool may_set(const heed_option *option, const void *values, heed_error *err)
{
    const struct hd_config *c = values;
    const bool is_of_task = hd_config_has_encoder(c) && hd_config_has_decoder(c);
    if (!hd_config_has(c, option) && !is_of_task &&
        option->flags & (HEED_OPTION_ENCODER | HEED_OPTION_DECODER))
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s is for models that have %s, but task is %s; leave it out", option->name,
                       hd_config_has_decoder(c) ? "an encoder" : "a decoder",
                       hd_config_choice("task", c->task).text);
    return hd_config_has(c, option) ||
           hd_fail(err, HEED_BAD_OPTION, "%s is for %s, but arch is %s", option->name,
                   option->flags & HEED_OPTION_TRANSFORMER ? "the transformer" : "recurrent models",
                   hd_config_choice("arch", c->arch).text);
}

bool hd_config_set(struct hd_config *config, const char *name, const char *value, heed_error *err)
{
    const heed_option *option = heed_option_find(hd_config_options, name);
    if (option == &hd_config_options[0])
        return hd_fail(err, HEED_BAD_OPTION,
                       "arch fills all the other fields, so it is chosen first and cannot be set "
                       "afterwards; begin with the preset %s",
                       hd_quote(value).text);
    return (!option || may_set(option, config, err)) &&
           heed_option_set_named(hd_config_options, config, name, value, err);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Files have the fields themselves, not what is short for several. */
static bool may_read(const heed_option *option, const void *values, heed_error *err)
{
    if (option->flags & HEED_OPTION_SHORTHAND)
        return heed_option_unknown(option->name, NULL, 0, NULL, err);
    return may_set(option, values, err);
}

static bool read_json(struct hd_config *config, const json_t *json, heed_error *err)
{
    const heed_option *arch = &hd_config_options[0];
    const json_t *name = json_object_get(json, "arch");
    if (!json_is_object(json))
        return hd_fail(err, HEED_BAD_MODEL, "a configuration must be a JSON object");
    if (!name)
        return hd_fail(err, HEED_BAD_MODEL,
                       "a configuration must have a field arch that names its preset: %s",
                       hd_option_range(arch).text);
    if (!hd_option_from_json(arch, config, name, err))
        return false;
    *config = hd_config_preset((enum hd_arch)config->arch, HD_SIZE_BASE);
    return hd_options_from_json(hd_config_options, config, json, may_read, err);
}

bool hd_config_from_json(struct hd_config *config, const json_t *json, heed_error *err)
{
    struct hd_config c = {0};
    heed_error why = {0};
    if (!read_json(&c, json, &why))
        return hd_fail(err, why.code == HEED_NO_MEMORY ? why.code : HEED_BAD_MODEL, "%s",
                       why.message);
    *config = c;
    return true;
}

/* As it would be without it. */
static bool is_left_out(const heed_option *o, const struct hd_config *config)
{
    const struct hd_config nothing_said = hd_config_defaults();
    char now[64], before[64];
    return o->flags & HEED_OPTION_IF_SET &&
           strcmp(heed_option_text(o, config, now, sizeof now),
                  heed_option_text(o, &nothing_said, before, sizeof before)) == 0;
}

json_t *hd_config_to_json(const struct hd_config *config)
{
    json_t *json = json_object();
    for (const heed_option *o = hd_config_options; json && o->name; o++) {
        char name[32];
        if (o->flags & HEED_OPTION_SHORTHAND || hd_option_is_open(o, config) ||
            !hd_config_has(config, o) || is_left_out(o, config))
            continue;
        snprintf(name, sizeof name, "%s", o->name);
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
        if (json_object_set_new(json, name, hd_option_to_json(o, config)) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

bool hd_config_is_same(const struct hd_config *one, const struct hd_config *other)
{
    json_t *a = hd_config_to_json(one), *b = hd_config_to_json(other);
    const bool is_same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return is_same;
}
