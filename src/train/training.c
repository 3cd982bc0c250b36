/* training.c -- names and values become a recipe and settings of a model. */
#include "train/training.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "model/config.h"
#include "text/lines.h"

#include <stdio.h>
#include <string.h>

heed_training *hd_training_new(heed_error *err)
{
    heed_training *t = hd_new(heed_training, err);
    if (!t)
        return NULL;
    hd_recipe_init(&t->recipe);
    t->is_given = hd_alloc((size_t)hd_n_recipe_fields, sizeof *t->is_given, err);
    if (t->is_given)
        return t;
    hd_training_free(t);
    return NULL;
}

void hd_training_free(heed_training *t)
{
    if (!t)
        return;
    hd_recipe_release(&t->recipe);
    for (size_t i = 0; i < t->n_settings; i++) {
        hd_free(t->settings[i].name);
        hd_free(t->settings[i].value);
    }
    hd_free(t->settings);
    hd_free(t->is_given);
    hd_free(t->arch);
    hd_free(t->size);
    hd_free(t);
}

/* ---- names --------------------------------------------------------------------------------------- */

/* The fields of a model that a person may choose. */
static bool is_model_field(const char *name)
{
    for (int i = 0; i < hd_config_fields(); i++) {
        const struct hd_config_field f = hd_config_field(i);
        if (f.is_option && strcmp(f.name, name) == 0)
            return true;
    }
    return false;
}

/* Those in front of the model's fields: presets are options, too. */
static const heed_training_option presets[] = {
    {"arch", "seq2seq|bahdanau|luong|wang|ferreira|transformer",
     "the model: a paper's or lecture's choices", "", .is_of_model = true, .is_fixed = true},
    {"size", "tiny|small|base", "its sizes, all at once", "", .is_of_model = true,
     .is_fixed = true},
};
enum { N_PRESETS = 2 };

bool hd_training_option_at(int i, heed_training_option *option)
{
    if (i < 0)
        return false;
    if (i < hd_n_recipe_fields) {
        const struct hd_recipe_field *f = &hd_recipe_fields[i];
        *option = (heed_training_option){.name = f->name,
                                         .values = f->values,
                                         .meaning = f->meaning,
                                         .fallback = f->fallback,
                                         .is_list = f->type == HD_R_LIST,
                                         .is_fixed = f->change == HD_FIXED,
                                         .least = f->min,
                                         .most = f->max};
        return true;
    }
    i -= hd_n_recipe_fields;
    if (i < N_PRESETS) {
        *option = presets[i];
        return true;
    }
    i -= N_PRESETS;
    for (int k = 0; k < hd_config_fields(); k++) {
        const struct hd_config_field f = hd_config_field(k);
        if (!f.is_option || i-- > 0)
            continue;
        *option = (heed_training_option){.name = f.name,
                                         .values = f.values,
                                         .meaning = f.meaning,
                                         .fallback = f.fallback,
                                         .is_of_model = true,
                                         .is_fixed = true,
                                         .least = f.least,
                                         .most = f.most};
        return true;
    }
    return false;
}

static bool unknown(const char *name, heed_error *err)
{
    const char *names[256];
    int n = 0;
    heed_training_option option;
    for (; n < 256 && hd_training_option_at(n, &option); n++)
        names[n] = option.name;
    const char *near = hd_nearest(name, names, n);
    return hd_fail(err, HEED_BAD_OPTION, "there is no option %s%s%s%s", hd_quote(name).text,
                   near ? "; did you mean " : "; heed train --help lists them all",
                   near ? near : "", near ? "?" : "");
}

bool hd_training_has_setting(const heed_training *t, const char *name)
{
    if (strcmp(name, "arch") == 0)
        return t->arch != NULL;
    if (strcmp(name, "size") == 0)
        return t->size != NULL;
    for (size_t i = 0; i < t->n_settings; i++)
        if (strcmp(t->settings[i].name, name) == 0)
            return true;
    return false;
}

bool hd_training_is_yes(const heed_training *t, const char *name)
{
    const struct hd_recipe_field *f = hd_recipe_find(name);
    char text[64];
    return f && f->type == HD_R_YES_NO && strcmp(hd_recipe_text(&t->recipe, f, text), "yes") == 0;
}

/* ---- setting ------------------------------------------------------------------------------------- */

static bool add_setting(heed_training *t, const char *name, const char *value, heed_error *err)
{
    struct hd_model_setting *s =
        hd_grow(t->settings, &t->settings_capacity, t->n_settings + 1, sizeof *t->settings, err);
    if (!s)
        return false;
    t->settings = s;
    s += t->n_settings++;
    *s = (struct hd_model_setting){hd_copy_string(name, err), hd_copy_string(value, err)};
    return s->name && s->value;
}

static bool set_preset(heed_training *t, const char *name, const char *value, heed_error *err)
{
    const bool is_arch = strcmp(name, "arch") == 0;
    struct hd_config c;
    if (!hd_config_preset_named(&c, is_arch ? value : "transformer", is_arch ? NULL : value, err))
        return false;
    char **place = is_arch ? &t->arch : &t->size;
    char *copy = hd_copy_string(value, err);
    if (!copy)
        return false;
    hd_free(*place);
    *place = copy;
    return true;
}

bool hd_training_set(heed_training *t, const char *name, const char *value, heed_error *err)
{
    const struct hd_recipe_field *f = hd_recipe_find(name);
    if (f) {
        if (!hd_recipe_set(&t->recipe, f, value, err))
            return false;
        t->is_given[f - hd_recipe_fields] = true;
        return true;
    }
    if (strcmp(name, "arch") == 0 || strcmp(name, "size") == 0)
        return set_preset(t, name, value, err);
    if (!is_model_field(name))
        return unknown(name, err);
    /* Some fields are for recurrent models and some for others; which it will be may not have been said yet. */
    static const char *const kinds[] = {"luong", "transformer"};
    heed_error why[2] = {{0}, {0}};
    bool is_fine = false;
    for (int i = 0; i < 2 && !is_fine; i++) {
        struct hd_config any;
        is_fine = hd_config_preset_named(&any, kinds[i], NULL, &why[i]) &&
                  hd_config_set(&any, name, value, &why[i]);
    }
    if (!is_fine) {
        const heed_error *told = &why[strstr(why[0].message, "but arch is") != NULL];
        return hd_fail(err, told->code, "%s", told->message);
    }
    return add_setting(t, name, value, err);
}

/* ---- files of settings ---------------------------------------------------------------------------- */

/* Cut spaces off both ends. */
static struct hd_text trim(struct hd_text t)
{
    while (t.n > 0 && (t.at[0] == ' ' || t.at[0] == '\t'))
        t.at++, t.n--;
    while (t.n > 0 && (t.at[t.n - 1] == ' ' || t.at[t.n - 1] == '\t'))
        t.n--;
    return t;
}

/* What had been said before the file was opened. */
struct earlier {
    const bool *is_given;
    bool has_arch, has_size;
    size_t n_settings;
};

static bool was_said(const heed_training *t, const struct earlier *e, const char *name)
{
    const struct hd_recipe_field *f = hd_recipe_find(name);
    if (f)
        return e->is_given[f - hd_recipe_fields];
    if (strcmp(name, "arch") == 0)
        return e->has_arch;
    if (strcmp(name, "size") == 0)
        return e->has_size;
    for (size_t i = 0; i < e->n_settings; i++)
        if (strcmp(t->settings[i].name, name) == 0)
            return true;
    return false;
}

static bool read_line(heed_training *t, const struct earlier *e, struct hd_text line,
                      heed_error *err)
{
    line = trim(line);
    if (line.n == 0 || line.at[0] == '#')
        return true;
    const char *equals = memchr(line.at, '=', line.n);
    if (!equals)
        return hd_fail(err, HEED_BAD_OPTION, "%s is not of the form name = value",
                       hd_quote_n(line.at, line.n).text);
    const struct hd_text name = trim((struct hd_text){line.at, (size_t)(equals - line.at)});
    const struct hd_text value =
        trim((struct hd_text){equals + 1, line.n - (size_t)(equals + 1 - line.at)});
    char *words = hd_alloc(name.n + value.n + 2, 1, err);
    if (!words)
        return false;
    memcpy(words, name.at, name.n);
    memcpy(words + name.n + 1, value.at, value.n);
    const bool ok = was_said(t, e, words) || hd_training_set(t, words, words + name.n + 1, err);
    hd_free(words);
    return ok;
}

bool hd_training_read(heed_training *t, const char *path, heed_error *err)
{
    struct hd_lines lines = {0};
    bool *is_given = hd_alloc((size_t)hd_n_recipe_fields, sizeof *is_given, err);
    bool ok = is_given && hd_lines_read(&lines, path, err);
    if (ok)
        memcpy(is_given, t->is_given, (size_t)hd_n_recipe_fields * sizeof *is_given);
    const struct earlier e = {is_given, t->arch != NULL, t->size != NULL, t->n_settings};
    for (size_t i = 0; ok && i < lines.n; i++) {
        heed_error why = {0};
        ok = read_line(t, &e, lines.at[i], &why);
        if (!ok)
            hd_fail(err, why.code, "%s:%zu: %s", path, i + 1, why.message);
    }
    hd_lines_release(&lines);
    hd_free(is_given);
    return ok;
}
