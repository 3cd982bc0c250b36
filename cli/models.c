/* models.c -- models from the command line, and progress at work with them. */
#include "models.h"

#include "embedded.h"
#include "terminal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const DEFAULT = "default";
static const char *const NO_MODEL = "no model is embedded in this heed; name one with -m MODEL";

const char *default_model(void)
{
    size_t size;
    return embedded_model(&size) ? DEFAULT : NULL;
}

const char *model_or_default(const char *name)
{
    if (!name && !default_model())
        complain("%s", NO_MODEL);
    return name ? name : default_model();
}

/* `compute` is how translators will, or NULL. */
static heed_model *load_as(const char *name, const char *compute, heed_error *err)
{
    size_t size;
    if (strcmp(name, DEFAULT) != 0)
        return compute ? heed_model_load_as(name, compute, err) : heed_model_load(name, err);
    const void *bytes = embedded_model(&size);
    if (bytes)
        return heed_model_load_memory("the embedded model", bytes, size, err);
    *err = (heed_error){.code = HEED_BAD_FILE};
    snprintf(err->message, sizeof err->message, "%s", NO_MODEL);
    return NULL;
}

bool is_one_file(const char *list)
{
    return access(list, F_OK) == 0;
}

heed_model *model_load(const char *name, heed_error *err)
{
    return load_as(name, NULL, err);
}

bool models_load(struct models *models, const char *list, const struct invocation *invocation)
{
    const char *compute = setting_of(invocation, "compute");
    *models = (struct models){0};
    const char *between = is_one_file(list) ? "" : ",";
    int most = 1;
    for (const char *c = list; *c; c++)
        most += *c == ',';
    models->at = need_memory((size_t)most, sizeof *models->at);
    char *copy = need_memory(strlen(list) + 1, 1), *rest = copy;
    strcpy(copy, list);
    bool ok = true;
    for (const char *path; ok && (path = strsep(&rest, between)) != NULL;) {
        heed_error err = {0};
        heed_model *model = load_as(path, compute, &err);
        ok = model != NULL;
        if (ok)
            models->at[models->n++] = model;
        else
            complain("%s", err.message);
    }
    free(copy);
    return ok;
}

void models_free(struct models *models)
{
    for (int i = 0; i < models->n; i++)
        heed_model_free(models->at[i]);
    free(models->at);
    *models = (struct models){0};
}

heed_translator *models_translator(const struct models *models)
{
    heed_error err = {0};
    heed_translator *t =
        heed_translator_new((const heed_model *const *)models->at, models->n, &err);
    if (!t)
        complain("%s", err.message);
    return t;
}

/* ---- options of translators ---------------------------------------------------------------------------- */

static bool is_among(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return !names || *names;
}

const heed_option *translator_option(const heed_option *own, const char *const *names, int i)
{
    const heed_option *o;
    for (int k = 0; (o = heed_translator_option_at(k)); k++)
        if (!(o->flags & HEED_OPTION_PROGRAM) && !heed_option_find(own, o->name) &&
            is_among(names, o->name) && i-- == 0)
            return o;
    return NULL;
}

const char *setting_of(const struct invocation *invocation, const char *name)
{
    for (int i = invocation->n_settings - 1; i >= 0; i--)
        if (strcmp(invocation->settings[i].option->name, name) == 0)
            return invocation->settings[i].text;
    return NULL;
}

bool check_setting(const char *name, const char *value)
{
    heed_error err = {0};
    heed_options *o = heed_options_new(NULL, &err);
    const bool ok = o && heed_options_set(o, name, value, &err);
    if (!ok)
        complain("%s", err.message);
    heed_options_free(o);
    return ok;
}

bool check_settings(const struct invocation *invocation)
{
    for (int i = 0; i < invocation->n_settings; i++)
        if (!check_setting(invocation->settings[i].option->name, invocation->settings[i].text))
            return false;
    return true;
}

bool set_option_of(heed_translator *translator, const char *name, const char *value)
{
    heed_error err = {0};
    if (!value || heed_translator_set(translator, name, value, &err))
        return true;
    complain("%s", err.message);
    return false;
}

bool set_translator(heed_translator *translator, const struct invocation *invocation)
{
    for (int i = 0; i < invocation->n_settings; i++)
        if (!set_option_of(translator, invocation->settings[i].option->name,
                           invocation->settings[i].text))
            return false;
    return true;
}

bool models_attend(const struct models *models, const char *list)
{
    for (int i = 0; i < models->n; i++)
        if (!heed_model_has_attention(models->at[i])) {
            complain("%s: the model has no attention, so there is nothing to tell which words "
                     "belong together",
                     list);
            return false;
        }
    return true;
}

bool same_lines(const char *path, const heed_lines *lines, const char *other_path,
                const heed_lines *others)
{
    if (lines->n == others->n)
        return true;
    complain(
        "%s has %zu line%s, but %s has %zu; every line must have its partner at the same place",
        path, lines->n, lines->n == 1 ? "" : "s", other_path, others->n);
    return false;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(struct progress *p, bool is_quiet)
{
    *p = (struct progress){.is_shown = !is_quiet && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO),
                           .begin = seconds()};
}

bool progress_show(void *data, size_t n_done, size_t n)
{
    struct progress *p = data;
    (void)n;
    if (!p->is_shown)
        return true;
    const double now = seconds();
    if (now - p->begin > 0.5 && now - p->last > 0.2) {
        fprintf(stderr, "\r%zu sentences, %.0f a second\033[K", p->n_before + n_done,
                (double)(p->n_before + n_done) / (now - p->begin));
        p->last = now;
        p->is_there = true;
    }
    return true;
}

bool progress_share(struct progress *p, const char *what, size_t n_done, size_t n)
{
    if (!p->is_shown)
        return true;
    const double now = seconds();
    if (now - p->begin > 0.5 && now - p->last > 0.2) {
        fprintf(stderr, "\r%s: %.0f %%\033[K", what,
                n > 0 ? 100. * (double)n_done / (double)n : 0.);
        p->last = now;
        p->is_there = true;
    }
    return true;
}

void progress_clear(struct progress *p)
{
    if (p->is_there)
        fputs("\r\033[K", stderr);
    p->is_there = false;
}

bool read_sources(heed_lines *lines, const char *path, heed_error *err)
{
    return heed_is_vectors(path) ? heed_vector_names(lines, path, err)
                                 : heed_lines_read(lines, path, err);
}

bool may_write_tensors(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    unsigned char begin[9];
    const bool is_other = file && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) &&
                          about.st_size > 0 &&
                          (fread(begin, 1, sizeof begin, file) < sizeof begin || begin[8] != '{');
    if (file)
        fclose(file);
    if (is_other)
        complain("%s is there already and is another kind of file; move it away or choose another "
                 "name",
                 path);
    return !is_other;
}
