/* training.c -- names and values become a recipe and settings of a model. */
#include "train/training.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "model/fields.h"
#include "text/lines.h"

#include <string.h>

heed_training *heed_training_new(heed_error *err)
{
    heed_training *t = hd_new(heed_training, err);
    if (!t)
        return NULL;
    hd_recipe_init(&t->recipe);
    (void)heed_option_defaults(hd_preset_options, &t->preset, NULL);
    return t;
}

void heed_training_free(heed_training *t)
{
    if (!t)
        return;
    hd_recipe_release(&t->recipe);
    for (size_t i = 0; i < t->n_settings; i++)
        hd_free(t->settings[i].text);
    hd_free(t->settings);
    hd_paths_release(&t->read);
    hd_free(t);
}

/* ---- names --------------------------------------------------------------------------------------- */

/* The recipe's, those of presets, and those of the model that are to be chosen. */
const heed_option *heed_training_option_at(int i)
{
    static const heed_option *const tables[] = {hd_recipe_options, hd_preset_options,
                                                hd_config_options};
    for (size_t k = 0; i >= 0 && k < sizeof tables / sizeof *tables; k++)
        for (const heed_option *o = tables[k]; o->name; o++)
            if (!(o->flags & HEED_OPTION_FACT) && i-- == 0)
                return o;
    return NULL;
}

static const heed_option *find(const char *name, heed_error *err)
{
    const char *names[256];
    const heed_option *o;
    int n = 0;
    for (; n < 256 && (o = heed_training_option_at(n)); n++) {
        if (hd_option_same_name(o->name, name))
            return o;
        names[n] = o->name;
    }
    heed_option_unknown(name, names, n, "'heed train --help' lists them all", err);
    return NULL;
}

static bool is_among(const struct hd_setting *settings, size_t n, const heed_option *option)
{
    for (size_t i = 0; i < n; i++)
        if (settings[i].option == option)
            return true;
    return false;
}

bool hd_training_is_given(const heed_training *t, const char *name)
{
    return is_among(t->settings, t->n_settings, find(name, NULL));
}

bool heed_training_is_yes(const heed_training *t, const char *name)
{
    const heed_option *o = heed_option_find(hd_recipe_options, name);
    char text[64];
    return t && o && o->kind == HEED_OPTION_FLAG &&
           strcmp(heed_option_text(o, &t->recipe, text, sizeof text), "yes") == 0;
}

/* ---- setting ------------------------------------------------------------------------------------- */

static bool is_row_of(const heed_option *options, const heed_option *option)
{
    return heed_option_find(options, option->name) == option;
}

static bool set(heed_training *t, const heed_option *option, const char *value, heed_error *err)
{
    struct hd_config any =
        hd_config_defaults(); /* whether the model has it is seen when its preset is known */
    void *values = is_row_of(hd_recipe_options, option)   ? (void *)&t->recipe
                   : is_row_of(hd_preset_options, option) ? (void *)&t->preset
                                                          : (void *)&any;
    if (!heed_option_set(option, values, value, err))
        return false;
    struct hd_setting *s =
        hd_grow(t->settings, &t->capacity, t->n_settings + 1, sizeof *t->settings, err);
    if (!s)
        return false;
    t->settings = s;
    s += t->n_settings++;
    *s = (struct hd_setting){option, hd_copy_string(value, err)};
    return s->text != NULL;
}

bool heed_training_set(heed_training *t, const char *name, const char *value, heed_error *err)
{
    if (!hd_is_given(t, "training", err) || !hd_is_given(name, "name of an option", err) ||
        !hd_is_given(value, "value", err))
        return false;
    const heed_option *option = find(name, err);
    return option && set(t, option, value, err);
}

/* What goes in and what comes out decides which other fields there are. */
static bool is_of_task(const heed_option *option)
{
    return strcmp(option->name, "task") == 0 || strcmp(option->name, "source") == 0;
}

bool hd_training_configure(const heed_training *t, struct hd_config *config, heed_error *err)
{
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < t->n_settings; i++) {
            const struct hd_setting *s = &t->settings[i];
            if (is_row_of(hd_config_options, s->option) && is_of_task(s->option) == (round == 0) &&
                !hd_config_set(config, s->option->name, s->text, err))
                return false;
        }
    return true;
}

static struct hd_config task_and_source(const heed_training *t)
{
    struct hd_config c = hd_config_defaults();
    for (size_t i = 0; i < t->n_settings; i++)
        if (is_row_of(hd_config_options, t->settings[i].option) &&
            is_of_task(t->settings[i].option))
            (void)heed_option_set(t->settings[i].option, &c, t->settings[i].text, NULL);
    return c;
}

enum hd_task hd_training_task(const heed_training *t)
{
    return (enum hd_task)task_and_source(t).task;
}

enum hd_source_type hd_training_source(const heed_training *t)
{
    return (enum hd_source_type)task_and_source(t).source;
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

/* What was said before the file, the first n_before settings, wins. */
static bool read_line(heed_training *t, size_t n_before, struct hd_text line, heed_error *err)
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
    const heed_option *option = find(words, err);
    const bool ok = option && (is_among(t->settings, n_before, option) ||
                               set(t, option, words + name.n + 1, err));
    hd_free(words);
    return ok;
}

bool heed_training_read(heed_training *t, const char *path, heed_error *err)
{
    if (!hd_is_given(t, "training", err) || !hd_is_given(path, "path", err))
        return false;
    struct hd_lines lines = {0};
    const size_t n_before = t->n_settings;
    bool ok = hd_lines_read(&lines, path, err);
    for (size_t i = 0; ok && i < lines.n; i++) {
        heed_error why = {0};
        ok = read_line(t, n_before, lines.at[i], &why);
        if (!ok)
            hd_fail(err, why.code, "%s:%zu: %s", path, i + 1, why.message);
    }
    hd_lines_release(&lines);
    return ok && hd_paths_add(&t->read, path, err);
}
