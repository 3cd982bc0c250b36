/* state.c -- the state of a run as tensors and notes of one safetensors file. */
#include "train/state.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/safetensors.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const FORMAT = "heed-state-2";
static const char *const FORMAT_1 = "heed-state-1"; /* without checksums */
static const char *const GOOD = "good.";            /* before the names of the last good state */

void hd_run_state_release(struct hd_run_state *state)
{
    for (int i = 0; i < HD_MOST_KEPT; i++)
        hd_free(state->kept[i]);
    hd_map_close(&state->before);
    *state = (struct hd_run_state){0};
}

/* ---- progress as JSON -------------------------------------------------------------------------- */

/* All numbers of a state but its weights and the scores of those that are kept. */
struct numbers {
    struct hd_progress progress;
    double power1, power2; /* the learner's */
};

static const struct field {
    const char *name;
    enum { INT, LONG, REAL, BOOL } kind;
    size_t at;
} fields[] = {
#define FIELD(kind, name, member)                    \
    {                                                \
        name, kind, offsetof(struct numbers, member) \
    }
    FIELD(LONG, "update", progress.update),
    FIELD(INT, "epoch", progress.place.epoch),
    FIELD(INT, "pool", progress.place.pool),
    FIELD(INT, "batch", progress.place.batch),
    FIELD(LONG, "tokens", progress.n_tokens),
    FIELD(REAL, "factor", progress.factor),
    FIELD(INT, "bad", progress.n_bad),
    FIELD(LONG, "skipped", progress.n_skipped),
    FIELD(LONG, "returns", progress.n_returns),
    FIELD(BOOL, "has_best", progress.has_best),
    FIELD(REAL, "best", progress.best),
    FIELD(REAL, "best_ce", progress.best_ce),
    FIELD(LONG, "best_update", progress.best_update),
    FIELD(REAL, "lowest_ce", progress.lowest_ce),
    FIELD(INT, "stale", progress.n_stale),
    FIELD(INT, "stale_plateau", progress.n_stale_plateau),
    FIELD(LONG, "validations", progress.n_validations),
    FIELD(LONG, "looked", progress.looked_update),
    FIELD(BOOL, "closed", progress.is_closed),
    FIELD(LONG, "closed_update", progress.closed_update),
    FIELD(REAL, "closed_best", progress.closed_best),
    FIELD(LONG, "closed_best_update", progress.closed_best_update),
    FIELD(REAL, "power1", power1),
    FIELD(REAL, "power2", power2),
#undef FIELD
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static json_t *number_to_json(const struct field *f, const struct numbers *all)
{
    const void *at = (const char *)all + f->at;
    switch (f->kind) {
    case INT:
        return json_integer(*(const int *)at);
    case LONG:
        return json_integer(*(const long *)at);
    case REAL:
        return json_real(*(const double *)at);
    case BOOL:
        return json_boolean(*(const bool *)at);
    }
    return NULL;
}

static bool number_from_json(const struct field *f, struct numbers *all, const json_t *json)
{
    void *at = (char *)all + f->at;
    const json_int_t whole = json_integer_value(json);
    switch (f->kind) {
    case INT:
        *(int *)at = (int)whole;
        return json_is_integer(json) && whole >= 0 && whole <= INT_MAX;
    case LONG:
        *(long *)at = (long)whole;
        return json_is_integer(json) && whole >= 0 && whole <= LONG_MAX;
    case REAL:
        *(double *)at = json_number_value(json);
        return json_is_number(json);
    case BOOL:
        *(bool *)at = json_is_true(json);
        return json_is_boolean(json);
    }
    return false;
}

/* To be given to free(). */
static char *progress_to_text(const struct hd_learner *l, const struct hd_progress *p)
{
    const struct numbers all = {*p, l->power1, l->power2};
    json_t *json = json_object(), *scores = json_array();
    bool ok = true;
    for (int i = 0; i < N_FIELDS; i++)
        ok = ok && json_object_set_new(json, fields[i].name, number_to_json(&fields[i], &all)) == 0;
    for (int i = 0; i < p->n_kept; i++)
        ok = ok && json_array_append_new(scores, json_real(p->kept_score[i])) == 0;
    ok = json_object_set_new(json, "kept", scores) == 0 && ok;
    char *text = ok ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    return text;
}

/* States of the first kind lack what was not known then: validations were counted by the score alone. */
static void add_missing(json_t *json)
{
    if (!json_object_get(json, "lowest_ce"))
        json_object_set(json, "lowest_ce", json_object_get(json, "best_ce"));
    if (!json_object_get(json, "closed_update"))
        json_object_set(json, "closed_update", json_object_get(json, "update"));
}

static bool progress_from_json(const json_t *json, struct hd_learner *l, struct hd_progress *p)
{
    struct numbers all = {0};
    const json_t *scores = json_object_get(json, "kept");
    const size_t n = json_array_size(scores);
    for (int i = 0; i < N_FIELDS; i++)
        if (!number_from_json(&fields[i], &all, json_object_get(json, fields[i].name)))
            return false;
    if (!json_is_array(scores) || n > HD_MOST_KEPT)
        return false;
    for (size_t i = 0; i < n; i++)
        all.progress.kept_score[i] = json_number_value(json_array_get(scores, i));
    all.progress.n_kept = (int)n;
    *p = all.progress;
    l->power1 = all.power1;
    l->power2 = all.power2;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void add_block(struct hd_saver *s, const char *name, const float *block, size_t size)
{
    if (block)
        hd_saver_add(s, hd_tensor_of(name, HD_F32, block, &size, 1), HD_F32);
}

static void add_vocab(struct hd_saver *s, const char *name, const struct hd_vocab *vocab)
{
    size_t size;
    const void *bytes = hd_vocab_bytes(vocab, &size);
    hd_saver_add(s, hd_tensor_of(name, HD_U8, bytes, &size, 1), HD_U8);
    hd_saver_note(s, name, hd_vocab_kind_name(hd_vocab_kind(vocab)));
}

/* The last good state of the file that is there: it is its good.*, or, without any, the file itself. */
static void add_good(struct hd_saver *s, const struct hd_safetensors *old)
{
    const size_t n = strlen(GOOD);
    const bool has_good = hd_safetensors_metadata(old, "good.progress") != NULL;
    for (size_t i = 0; i < old->tensors.n; i++) {
        struct hd_tensor t = old->tensors.at[i];
        const bool is_good = strncmp(t.name, GOOD, n) == 0;
        char name[64];
        if (t.dtype != HD_F32 || is_good != has_good)
            continue;
        snprintf(name, sizeof name, "%s%s", GOOD, is_good ? t.name + n : t.name);
        t.name = name;
        hd_saver_add(s, t, HD_F32);
    }
    const char *progress = hd_safetensors_metadata(old, has_good ? "good.progress" : "progress");
    if (progress)
        hd_saver_note(s, "good.progress", progress);
}

/* Contents of the model's file before the closing validation: new ones, or those already in the state. */
static void add_before(struct hd_saver *s, const struct hd_run_state *state,
                       const struct hd_safetensors *old)
{
    const struct hd_tensor *kept =
        old && state->has_before ? hd_safetensors_find(old, "before") : NULL;
    if (state->before.data)
        hd_saver_add(s, hd_tensor_of("before", HD_U8, state->before.data, &state->before.size, 1),
                     HD_U8);
    else if (kept && kept->dtype == HD_U8)
        hd_saver_add(s, *kept, HD_U8);
}

static void add_identity(struct hd_saver *s, const struct hd_identity *identity)
{
    char text[32];
    add_vocab(s, "vocab.source", identity->source);
    if (identity->target != identity->source)
        add_vocab(s, "vocab.target", identity->target);
    snprintf(text, sizeof text, "%016" PRIx64, identity->fingerprint);
    hd_saver_note(s, "format", FORMAT);
    hd_saver_note(s, "config", identity->config);
    hd_saver_note(s, "recipe", identity->recipe);
    hd_saver_note(s, "text", text);
    if (identity->shift)
        hd_saver_note(s, "alignment_shift", json_integer_value(identity->shift) ? "1" : "0");
}

/* A file with nothing damaged; NULL where there is none. Why the system does not let it be read now goes to `err`. */
static struct hd_safetensors *open_whole(const char *path, heed_error *err)
{
    heed_error why = {0};
    struct hd_safetensors *old = access(path, F_OK) == 0 ? hd_safetensors_open(path, &why) : NULL;
    if (old && hd_safetensors_check(old, &why))
        return old;
    hd_safetensors_close(old);
    if (why.code == HEED_NO_MEMORY || why.code == HEED_BAD_FILE)
        hd_fail(err, why.code, "%s", why.message);
    return NULL;
}

/* Give the file that is about to be replaced its second name. Without one (no room, no links) only the way back is missing. */
static void keep_previous(const char *path, const char *previous)
{
    char beside[4100];
    if ((size_t)snprintf(beside, sizeof beside, "%s.new", previous) >= sizeof beside)
        return;
    (void)unlink(beside);
    if (linkat(AT_FDCWD, path, AT_FDCWD, beside, AT_SYMLINK_FOLLOW) == 0)
        (void)rename(beside, previous);
    (void)unlink(beside); /* rename() leaves both names when they are one file already */
}

/* Is the state that is there a good one, of this very update? Then this one is as good. */
static bool is_still_good(const struct hd_safetensors *old, const struct hd_progress *p)
{
    const bool is_good = !hd_safetensors_metadata(old, "good.progress");
    const char *text = is_good ? hd_safetensors_metadata(old, "progress") : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    const bool is_same =
        json && json_integer_value(json_object_get(json, "update")) == p->update && p->n_bad == 0;
    json_decref(json);
    return is_same;
}

bool hd_state_previous(char previous[HD_STATE_PATH], const char *path)
{
    return (size_t)snprintf(previous, HD_STATE_PATH, "%s.previous", path) < HD_STATE_PATH;
}

bool hd_state_save(const char *path, const struct hd_learner *l, const struct hd_run_state *state,
                   const struct hd_identity *identity, bool is_good, heed_error *err)
{
    char previous[HD_STATE_PATH];
    heed_error why = {0};
    struct hd_safetensors *old = open_whole(path, &why); /* a damaged one is simply replaced */
    char *progress = progress_to_text(l, &state->progress);
    if (hd_failed(&why) || !progress) {
        hd_safetensors_close(old);
        free(progress);
        return hd_failed(&why)
                   ? hd_fail(err, why.code, "%s", why.message)
                   : hd_fail(err, HEED_NO_MEMORY, "there is no memory to save the state");
    }
    struct hd_saver s = {.has_checksums = true};
    add_block(&s, "params", hd_params_values(l->net->params), l->size);
    add_block(&s, "m", l->m, l->size);
    add_block(&s, "v", l->v, l->size);
    add_block(&s, "ema", l->ema, l->size);
    for (int i = 0; i < state->progress.n_kept; i++) {
        char name[32];
        snprintf(name, sizeof name, "kept.%d", i);
        add_block(&s, name, state->kept[i], l->size);
    }
    if (old && !is_good && !is_still_good(old, &state->progress))
        add_good(&s, old);
    add_before(&s, state, old);
    add_identity(&s, identity);
    hd_saver_note(&s, "progress", progress);
    if (old && hd_state_previous(previous, path))
        keep_previous(path, previous);
    const bool ok = hd_saver_write(&s, path, err);
    free(progress);
    hd_saver_release(&s);
    hd_safetensors_close(old);
    return ok;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool broken(const struct hd_safetensors *file, const char *what, heed_error *err)
{
    return hd_fail(err, HEED_BAD_MODEL, "%s: this state of a training run has no usable %s",
                   file->path, what);
}

/* Tell why a state cannot be used, and what to do: take the one before it, if that is whole. */
static bool fail_with_advice(const char *path, const heed_error *why, heed_error *err)
{
    char previous[HD_STATE_PATH];
    struct hd_safetensors *other =
        hd_state_previous(previous, path) ? open_whole(previous, NULL) : NULL;
    const char *format = other ? hd_safetensors_metadata(other, "format") : NULL;
    const bool is_state = format && strncmp(format, FORMAT, strlen(FORMAT) - 1) == 0;
    hd_safetensors_close(other);
    if (why->code == HEED_NO_MEMORY)
        return hd_fail(err, why->code, "%s", why->message);
    if (is_state)
        return hd_fail(err, why->code,
                       "%s; the state before it is whole: to go on from there, type mv '%s' '%s'",
                       why->message, previous, path);
    return hd_fail(err, why->code, "%s; remove it or start over with --fresh", why->message);
}

static json_t *read_json(const struct hd_safetensors *file, const char *key)
{
    const char *text = hd_safetensors_metadata(file, key);
    return text ? json_loads(text, 0, NULL) : NULL;
}

static struct hd_vocab *read_vocab(const struct hd_safetensors *file, const char *name,
                                   heed_error *err)
{
    const struct hd_tensor *t = hd_safetensors_find(file, name);
    const char *kind_name = hd_safetensors_metadata(file, name);
    enum hd_vocab_kind kind;
    if (!t || t->dtype != HD_U8 || !kind_name || !hd_vocab_kind_by_name(&kind, kind_name)) {
        broken(file, "vocabulary", err);
        return NULL;
    }
    return hd_vocab_from_memory(kind, t->data, t->bytes, err);
}

/* Adam's weight decay was AdamW's when states were of the first kind. */
static void name_old_rule(json_t *recipe)
{
    const char *rule = json_string_value(json_object_get(recipe, "optimizer")),
               *decay = json_string_value(json_object_get(recipe, "weight-decay"));
    if (rule && decay && strcmp(rule, "adam") == 0 && strcmp(decay, "0") != 0)
        json_object_set_new(recipe, "optimizer", json_string("adamw"));
}

static bool read_description(struct hd_saved_state *s, heed_error *err)
{
    const struct hd_safetensors *file = s->file;
    s->config = read_json(file, "config");
    s->recipe = read_json(file, "recipe");
    const char *shift = hd_safetensors_metadata(file, "alignment_shift");
    s->shift = shift ? json_integer(strcmp(shift, "1") == 0) : NULL;
    const char *format = hd_safetensors_metadata(file, "format");
    const char *text = hd_safetensors_metadata(file, "text");
    const bool is_old = format && strcmp(format, FORMAT_1) == 0;
    if (!format || (!is_old && strcmp(format, FORMAT) != 0) ||
        (!is_old && !hd_safetensors_metadata(file, HD_CHECKSUMS)) || !text ||
        sscanf(text, "%" SCNx64, &s->fingerprint) != 1 || !s->config || !s->recipe)
        return broken(file, "description", err);
    if (is_old)
        name_old_rule(s->recipe);
    s->source = s->target = read_vocab(file, "vocab.source", err);
    if (s->source && hd_safetensors_find(file, "vocab.target"))
        s->target = read_vocab(file, "vocab.target", err);
    return s->target != NULL;
}

struct hd_saved_state *hd_state_open(const char *path, heed_error *err)
{
    if (access(path, F_OK) != 0)
        return NULL;
    heed_error why = {0};
    struct hd_saved_state *s = hd_new(struct hd_saved_state, err);
    if (!s)
        return NULL;
    s->file = hd_safetensors_open(path, &why);
    if (s->file && hd_safetensors_check(s->file, &why) && read_description(s, &why))
        return s;
    hd_state_close(s);
    fail_with_advice(path, &why, err);
    return NULL;
}

void hd_state_close(struct hd_saved_state *s)
{
    if (!s)
        return;
    if (s->target != s->source)
        hd_vocab_free(s->target);
    hd_vocab_free(s->source);
    json_decref(s->config);
    json_decref(s->recipe);
    json_decref(s->shift);
    hd_safetensors_close(s->file);
    hd_free(s);
}

const struct hd_tensor *hd_state_before(const struct hd_saved_state *saved)
{
    const struct hd_tensor *t = hd_safetensors_find(saved->file, "before");
    return t && t->dtype == HD_U8 ? t : NULL;
}

static bool read_block(const struct hd_safetensors *file, const char *prefix, const char *name,
                       float *block, size_t size, heed_error *err)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    const struct hd_tensor *t = hd_safetensors_find(file, full);
    if (!block)
        return true;
    if (!t || t->dtype != HD_F32 || t->n != size)
        return broken(file, full, err);
    return hd_read_f32(block, t, size, err);
}

bool hd_state_restore(const struct hd_saved_state *saved, bool to_good, struct hd_learner *l,
                      struct hd_run_state *state, heed_error *err)
{
    const struct hd_safetensors *file = saved->file;
    const bool is_apart = to_good && hd_safetensors_metadata(file, "good.progress");
    const char *prefix = is_apart ? GOOD : "";
    heed_error why = {0};
    json_t *json = read_json(file, is_apart ? "good.progress" : "progress");
    add_missing(json);
    bool ok = progress_from_json(json, l, &state->progress) || broken(file, "progress", &why);
    json_decref(json);
    ok = ok &&
         read_block(file, prefix, "params", hd_params_values(l->net->params), l->size, &why) &&
         read_block(file, prefix, "m", l->m, l->size, &why) &&
         read_block(file, prefix, "v", l->v, l->size, &why) &&
         read_block(file, prefix, "ema", l->ema, l->size, &why);
    for (int i = 0; ok && i < state->progress.n_kept; i++) {
        char name[32];
        snprintf(name, sizeof name, "kept.%d", i);
        if (!state->kept[i])
            state->kept[i] = hd_alloc(l->size, sizeof(float), &why);
        ok = state->kept[i] && read_block(file, prefix, name, state->kept[i], l->size, &why);
    }
    if (!ok)
        return fail_with_advice(file->path, &why, err);
    state->has_before = hd_state_before(saved) != NULL;
    hd_learner_repack(l);
    return true;
}
