/* fleet.c -- models are read, used and put away. */
#include "serve/fleet.h"

#include "base/error.h"
#include "base/memory.h"
#include "serve/desk.h"
#include "serve/language_codes.h"

#include <stdio.h>
#include <string.h>

/* ---- one direction ---------------------------------------------------------------------------------------- */

static void release_direction(struct hd_served *d)
{
    atomic_store(&d->is_ending, true);
    if (d->has_taker)
        pthread_join(d->taker, NULL);
    heed_translator_free(d->translator);
    for (int i = 0; i < d->n_models; i++)
        heed_model_free(d->models[i]);
    hd_free(d->models);
    hd_free(d->name);
    hd_free(d->from);
    hd_free(d->to);
}

static bool load_models(struct hd_served *d, const char *list, const struct hd_serve_settings *s,
                        heed_error *err)
{
    size_t most = 1;
    for (const char *c = list; *c; c++)
        most += *c == ',';
    char *copy = hd_copy_string(list, err), *rest = copy;
    d->models = hd_alloc(most, sizeof *d->models, err);
    bool ok = copy && d->models;
    for (const char *path; ok && (path = strsep(&rest, ","));) {
        const bool is_inside = strcmp(path, "default") == 0 && s->inside.data;
        heed_model *m =
            is_inside ? heed_model_load_memory(s->inside.name, s->inside.data, s->inside.size, err)
                      : heed_model_load(path, err);
        ok = m != NULL;
        if (ok)
            d->models[d->n_models++] = m;
        /* What clients send would be names of files of this machine. */
        if (ok && strcmp(heed_model_source(m), "vectors") == 0)
            ok = hd_fail(err, HEED_BAD_OPTION,
                         "%s reads sound, pictures or vectors, and only models of text are served",
                         path);
    }
    hd_free(copy);
    return ok;
}

/* What translators are told, and then that no result has attention unless it is asked for. */
static bool set_translator(heed_translator *t, const struct hd_serve_settings *s, heed_error *err)
{
    for (size_t i = 0; i < s->translator.n; i++) {
        char name[64];
        const char *equals = strchr(s->translator.at[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - s->translator.at[i]),
                 s->translator.at[i]);
        if (!heed_translator_set(t, name, equals + 1, err))
            return false;
    }
    return true;
}

/* "en-fr=file,file", or "file,file" of a model that says so itself. */
static bool load_direction(struct hd_served *d, const char *text, const struct hd_serve_settings *s,
                           heed_error *err)
{
    char languages[64] = "";
    const char *equals = strchr(text, '='), *files = text;
    if (equals && equals - text < 40 && !memchr(text, '/', (size_t)(equals - text))) {
        snprintf(languages, sizeof languages, "%.*s", (int)(equals - text), text);
        files = equals + 1;
    }
    const char *slash = strrchr(files, '/'); /* where it lies is nobody's business */
    d->name = hd_copy_string(slash ? slash + 1 : files, err);
    if (!d->name || !load_models(d, files, s, err))
        return false;
    char *recorded = hd_languages_of(d->models[0]);
    if (!languages[0] && recorded)
        snprintf(languages, sizeof languages, "%s", recorded);
    hd_free(recorded);
    const char *dash = strchr(languages, '-');
    if (!dash || dash == languages || !dash[1])
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s: the model does not say from which language it translates to which; "
                       "write it in front, as in -m en-fr=%s",
                       files, files);
    languages[dash - languages] = '\0';
    d->from = hd_language_code(languages, err);
    d->to = hd_language_code(dash + 1, err);
    d->translator = d->from && d->to ? heed_translator_new((const heed_model *const *)d->models,
                                                           d->n_models, err)
                                     : NULL;
    return d->translator && set_translator(d->translator, s, err);
}

static bool start_taker(struct hd_served *d, struct hd_desk *desk, heed_error *err)
{
    d->desk = desk;
    const int failure = pthread_create(&d->taker, NULL, hd_desk_take, d);
    d->has_taker = failure == 0;
    return failure == 0 ||
           hd_fail(err, HEED_NO_MEMORY, "a thread could not be started (%s)", strerror(failure));
}

/* ---- a fleet ---------------------------------------------------------------------------------------------- */

static void free_fleet(struct hd_fleet *f)
{
    for (size_t i = 0; f && i < f->n; i++)
        release_direction(&f->at[i]);
    if (f)
        hd_free(f->at);
    hd_free(f);
}

struct hd_served *hd_fleet_find(const struct hd_fleet *f, const char *from, const char *to)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->at[i].from, from) == 0 && strcmp(f->at[i].to, to) == 0)
            return &f->at[i];
    return NULL;
}

bool hd_fleet_knows(const struct hd_fleet *f, const char *code)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->at[i].from, code) == 0 || strcmp(f->at[i].to, code) == 0)
            return true;
    return false;
}

static bool load_fleet(struct hd_fleet *f, const struct hd_serve_settings *s, struct hd_desk *desk,
                       heed_error *err)
{
    static char *inside = "default";
    char *const *names = s->models.n > 0 ? s->models.at : &inside;
    const size_t n = s->models.n > 0 ? s->models.n : 1;
    if (s->models.n == 0 && !s->inside.data)
        return hd_fail(err, HEED_BAD_OPTION,
                       "no model is embedded in this heed; name one with -m MODEL");
    f->at = hd_alloc(n, sizeof *f->at, err);
    for (size_t i = 0; f->at && i < n; i++) {
        f->n++;
        if (!load_direction(&f->at[i], names[i], s, err) || !start_taker(&f->at[i], desk, err))
            return false;
    }
    return f->at != NULL;
}

/* ---- fleets ------------------------------------------------------------------------------------------------ */

void hd_fleets_init(struct hd_fleets *fleets)
{
    *fleets = (struct hd_fleets){0};
    pthread_mutex_init(&fleets->lock, NULL);
}

void hd_fleets_release(struct hd_fleets *fleets)
{
    free_fleet(fleets->current);
    for (struct hd_fleet *f = fleets->retired, *next; f; f = next) {
        next = f->next;
        free_fleet(f);
    }
    pthread_mutex_destroy(&fleets->lock);
}

bool hd_fleets_load(struct hd_fleets *fleets, const struct hd_serve_settings *s,
                    struct hd_desk *desk, heed_error *err)
{
    struct hd_fleet *f = hd_new(struct hd_fleet, err);
    if (!f || !load_fleet(f, s, desk, err)) {
        free_fleet(f);
        return false;
    }
    pthread_mutex_lock(&fleets->lock);
    if (fleets->current) {
        fleets->current->next = fleets->retired;
        fleets->retired = fleets->current;
    }
    fleets->current = f;
    pthread_mutex_unlock(&fleets->lock);
    return true;
}

void hd_fleets_tidy(struct hd_fleets *fleets)
{
    struct hd_fleet *idle = NULL;
    pthread_mutex_lock(&fleets->lock);
    for (struct hd_fleet **at = &fleets->retired; *at;) {
        struct hd_fleet *f = *at;
        if (f->n_users == 0) {
            *at = f->next;
            f->next = idle;
            idle = f;
        } else
            at = &f->next;
    }
    pthread_mutex_unlock(&fleets->lock);
    for (struct hd_fleet *next; idle; idle = next) {
        next = idle->next;
        free_fleet(idle);
    }
}

struct hd_fleet *hd_fleets_use(struct hd_fleets *fleets)
{
    pthread_mutex_lock(&fleets->lock);
    struct hd_fleet *f = fleets->current;
    f->n_users++;
    pthread_mutex_unlock(&fleets->lock);
    return f;
}

void hd_fleets_leave(struct hd_fleets *fleets, struct hd_fleet *f)
{
    pthread_mutex_lock(&fleets->lock);
    if (f)
        f->n_users--;
    pthread_mutex_unlock(&fleets->lock);
}
