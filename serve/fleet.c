/* fleet.c -- models are read, used and put away. */
#include "serve/fleet.h"

#include "base/error.h"
#include "base/memory.h"
#include "serve/desk.h"
#include "serve/language_codes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- an engine ---------------------------------------------------------------------------------------------- */

static void release_engine(struct hd_engine *e)
{
    atomic_store(&e->is_ending, true);
    if (e->has_taker)
        pthread_join(e->taker, NULL);
    heed_translator_free(e->translator);
    for (int i = 0; i < e->n_models; i++)
        heed_model_free(e->models[i]);
    hd_free(e->models);
    hd_free(e->name);
}

static bool load_models(struct hd_engine *e, const char *list, const struct hd_serve_settings *s,
                        heed_error *err)
{
    size_t most = 1;
    for (const char *c = list; *c; c++)
        most += *c == ',';
    char *copy = hd_copy_string(list, err), *rest = copy;
    e->models = hd_alloc(most, sizeof *e->models, err);
    bool ok = copy && e->models;
    for (const char *path; ok && (path = strsep(&rest, ","));) {
        const bool is_inside = strcmp(path, "default") == 0 && s->inside.data;
        heed_model *m =
            is_inside ? heed_model_load_memory(s->inside.name, s->inside.data, s->inside.size, err)
                      : heed_model_load(path, err);
        ok = m != NULL;
        if (ok)
            e->models[e->n_models++] = m;
        /* What clients send would be names of files of this machine. */
        if (ok && strcmp(heed_model_source(m), "vectors") == 0)
            ok = hd_fail(err, HEED_BAD_OPTION,
                         "%s reads sound, pictures or vectors, and only models of text are served",
                         path);
        if (ok && strcmp(heed_model_task(m), "span") == 0)
            ok = hd_fail(err, HEED_BAD_OPTION,
                         "%s answers questions about documents, for which no interface of the "
                         "server has a place; heed translate takes both",
                         path);
    }
    hd_free(copy);
    return ok;
}

/* What translators are told; the memory comes last (suggestions.c). */
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

static bool start_taker(struct hd_engine *e, struct hd_desk *desk, heed_error *err)
{
    e->desk = desk;
    const int failure = pthread_create(&e->taker, NULL, hd_desk_take, e);
    e->has_taker = failure == 0;
    return failure == 0 ||
           hd_fail(err, HEED_NO_MEMORY, "a thread could not be started (%s)", strerror(failure));
}

static bool load_engine(struct hd_engine *e, const char *files, const struct hd_serve_settings *s,
                        struct hd_desk *desk, heed_error *err)
{
    const char *slash = strrchr(files, '/'); /* where it lies is nobody's business */
    e->name = hd_copy_string(slash ? slash + 1 : files, err);
    if (!e->name || !load_models(e, files, s, err))
        return false;
    e->translator = heed_translator_new((const heed_model *const *)e->models, e->n_models, err);
    return e->translator && set_translator(e->translator, s, err) && start_taker(e, desk, err);
}

/* ---- its directions ------------------------------------------------------------------------------------------- */

static bool add_direction(struct hd_fleet *f, struct hd_engine *e, const char *from, const char *to,
                          heed_error *err)
{
    struct hd_served *grown = hd_grow(f->at, &f->capacity, f->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    f->at = grown;
    struct hd_served *d = &f->at[f->n++];
    *d = (struct hd_served){
        .engine = e, .from = hd_language_code(from, err), .to = hd_language_code(to, err)};
    const char *own_from, *own_to;
    const bool has_several = heed_model_direction(e->models[0], 1, NULL, NULL);
    for (int i = 0; has_several && heed_model_direction(e->models[0], i, &own_from, &own_to); i++)
        if (strcasecmp(own_from, from) == 0 && strcasecmp(own_to, to) == 0) {
            d->own_from = own_from;
            d->own_to = own_to;
        }
    return d->from && d->to;
}

/* "en-fr=file,file", or "file,file" of a model that says so itself. */
static bool load_directions(struct hd_fleet *f, struct hd_engine *e, const char *text,
                            const struct hd_serve_settings *s, struct hd_desk *desk,
                            heed_error *err)
{
    char languages[64] = "";
    const char *equals = strchr(text, '='), *files = text, *from, *to;
    if (equals && equals - text < 40 && !memchr(text, '/', (size_t)(equals - text))) {
        snprintf(languages, sizeof languages, "%.*s", (int)(equals - text), text);
        files = equals + 1;
    }
    if (!load_engine(e, files, s, desk, err))
        return false;
    char *dash = strchr(languages, '-');
    if (dash && dash > languages && dash[1]) {
        *dash = '\0';
        return add_direction(f, e, languages, dash + 1, err);
    }
    int n = 0;
    for (; !languages[0] && heed_model_direction(e->models[0], n, &from, &to); n++)
        if (!add_direction(f, e, from, to, err))
            return false;
    return n > 0 || hd_fail(err, HEED_BAD_OPTION,
                            "%s: the model does not say from which language it translates to "
                            "which; write it in front, as in -m en-fr=%s",
                            files, files);
}

bool hd_served_choose(const struct hd_served *d, heed_options *options, heed_error *err)
{
    return heed_options_set(options, "memory-from", d->from, err) &&
           heed_options_set(options, "memory-to", d->to, err) &&
           (!d->own_from || (heed_options_set(options, "from", d->own_from, err) &&
                             heed_options_set(options, "to", d->own_to, err)));
}

/* ---- a fleet ---------------------------------------------------------------------------------------------- */

void hd_fleet_free(struct hd_fleet *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_engines; i++)
        release_engine(&f->engines[i]);
    for (size_t i = 0; i < f->n; i++) {
        hd_free(f->at[i].from);
        hd_free(f->at[i].to);
    }
    heed_model_free(f->lent);
    hd_free(f->engines);
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

/* How many languages a model tells apart. */
static int n_told_apart(const heed_model *model)
{
    return heed_model_detect(model, "", NULL, 0);
}

/* Where there is more than one language to translate from, the model that tells most of them apart; where none can, the one inside. */
static bool find_detector(struct hd_fleet *f, const struct hd_serve_settings *s, heed_error *err)
{
    bool has_several = false;
    for (size_t i = 1; i < f->n; i++)
        has_several = has_several || strcmp(f->at[i].from, f->at[0].from) != 0;
    int most = 1;
    for (size_t i = 0; has_several && i < f->n_engines; i++)
        if (n_told_apart(f->engines[i].models[0]) > most) {
            f->detector = f->engines[i].models[0];
            most = n_told_apart(f->detector);
        }
    if (!has_several || f->detector || !s->inside.data)
        return true;
    f->lent = heed_model_load_memory(s->inside.name, s->inside.data, s->inside.size, err);
    f->detector = n_told_apart(f->lent) > 1 ? f->lent : NULL;
    return f->lent != NULL;
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
    f->engines = hd_alloc(n, sizeof *f->engines, err);
    for (size_t i = 0; f->engines && i < n; i++) {
        f->n_engines++;
        if (!load_directions(f, &f->engines[i], names[i], s, desk, err))
            return false;
    }
    return f->engines && find_detector(f, s, err);
}

struct hd_fleet *hd_fleet_load(const struct hd_serve_settings *s, struct hd_desk *desk,
                               heed_error *err)
{
    struct hd_fleet *f = hd_new(struct hd_fleet, err);
    if (f && load_fleet(f, s, desk, err))
        return f;
    hd_fleet_free(f);
    return NULL;
}

/* ---- fleets ------------------------------------------------------------------------------------------------ */

void hd_fleets_init(struct hd_fleets *fleets)
{
    *fleets = (struct hd_fleets){0};
    pthread_mutex_init(&fleets->lock, NULL);
}

void hd_fleets_release(struct hd_fleets *fleets)
{
    hd_fleet_free(fleets->current);
    for (struct hd_fleet *f = fleets->retired, *next; f; f = next) {
        next = f->next;
        hd_fleet_free(f);
    }
    pthread_mutex_destroy(&fleets->lock);
}

void hd_fleets_put(struct hd_fleets *fleets, struct hd_fleet *f)
{
    pthread_mutex_lock(&fleets->lock);
    if (fleets->current) {
        fleets->current->next = fleets->retired;
        fleets->retired = fleets->current;
    }
    fleets->current = f;
    pthread_mutex_unlock(&fleets->lock);
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
        hd_fleet_free(idle);
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
