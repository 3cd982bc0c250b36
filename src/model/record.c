/* record.c -- the recipe of a model as lines that can be given to a training run again. */
#include "model/model_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "model/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "encoder_dim" is typed as "encoder-dim". */
static void print_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == '_' ? '-' : *name, out);
}

static void print_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", out);
    else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
        fputs(text ? text : "", out);
        free(text);
    }
}

/* One line; a list of a recipe has one for each, one of the configuration is typed with commas. */
static void print_setting(FILE *out, const char *name, const json_t *value, bool is_recipe)
{
    const size_t n = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || is_recipe) {
            print_name(out, name);
            fputs(" = ", out);
        }
        print_value(out, json_is_array(value) ? json_array_get(value, i) : value);
        fputs(is_recipe || i + 1 == n ? "\n" : ",", out);
    }
}

/* Vocabularies' sizes and the like follow from elsewhere; the architecture does not. */
static bool is_chosen(const char *name)
{
    const heed_option *option = heed_option_find(hd_config_options, name);
    return option && (!(option->flags & HEED_OPTION_FACT) || strcmp(name, "arch") == 0);
}

char *heed_model_recipe(const heed_model *model, heed_error *err)
{
    if (!hd_is_given(model, "model", err))
        return NULL;
    const json_t *recipe = json_object_get(model->record, "recipe");
    json_t *value, *config = hd_config_to_json(&model->net->config);
    if (!json_is_object(recipe)) {
        json_decref(config);
        hd_fail(err, HEED_BAD_MODEL,
                "the model does not say how it was trained: it has no recipe in its record, as "
                "models of other toolkits have none");
        return NULL;
    }
    char *text = NULL, *copy = NULL;
    size_t size;
    FILE *out = config ? open_memstream(&text, &size) : NULL;
    const char *name;
    if (out) {
        json_object_foreach((json_t *)recipe, name, value) print_setting(out, name, value, true);
        json_object_foreach(config, name,
                            value) if (is_chosen(name) && !json_object_get(recipe, name))
            print_setting(out, name, value, false);
        if (fclose(out) == 0)
            copy = hd_copy_string(text, err);
    }
    if (!copy)
        hd_fail(err, HEED_NO_MEMORY, "there is no memory to tell the recipe");
    free(text);
    json_decref(config);
    return copy;
}
