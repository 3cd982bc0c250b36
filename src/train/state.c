/* state.c -- the state of a run as tensors and notes of one safetensors file. */
#include "train/state.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const FORMAT = "heed-state-1";
static const char *const GOOD = "good."; /* before the names of the last good state */

void hd_run_state_release(struct hd_run_state *state)
{
    for (int i = 0; i < HD_MOST_KEPT; i++)
        hd_free(state->kept[i]);
    hd_map_close(&state->before);
    *state = (struct hd_run_state){0};
}

/* ---- progress as JSON -------------------------------------------------------------------------- */

static json_t *progress_to_json(const struct hd_learner *l, const struct hd_progress *p)
{
    json_t *scores = json_array();
    for (int i = 0; i < p->n_kept; i++)
        json_array_append_new(scores, json_real(p->kept_score[i]));
    return json_pack("{sI si si si sI sf si sI sI sb sf sI si si sI sb sf sI sI so sf sf sf}",
                     "update", (json_int_t)p->update, "epoch", p->place.epoch, "pool",
                     p->place.pool, "batch", p->place.batch, "tokens", (json_int_t)p->n_tokens,
                     "factor", p->factor, "bad", p->n_bad, "skipped", (json_int_t)p->n_skipped,
                     "returns", (json_int_t)p->n_returns, "has_best", p->has_best, "best", p->best,
                     "best_update", (json_int_t)p->best_update, "stale", p->n_stale,
                     "stale_plateau", p->n_stale_plateau, "validations",
                     (json_int_t)p->n_validations, "closed", p->is_closed, "closed_best",
                     p->closed_best, "closed_best_update", (json_int_t)p->closed_best_update,
                     "looked", (json_int_t)p->looked_update, "kept", scores, "power1", l->power1,
                     "power2", l->power2, "best_ce", p->best_ce);
}

static bool progress_from_json(const json_t *json, struct hd_learner *l, struct hd_progress *p)
{
    json_int_t update, tokens, skipped, returns, best_update, validations, closed_best_update,
        looked;
    json_t *scores;
    int has_best, is_closed;
    *p = (struct hd_progress){0};
    if (!json ||
        json_unpack((json_t *)json,
                    "{sI si si si sI sF si sI sI sb sF sI si si sI sb sF sI sI so sF sF sF}",
                    "update", &update, "epoch", &p->place.epoch, "pool", &p->place.pool, "batch",
                    &p->place.batch, "tokens", &tokens, "factor", &p->factor, "bad", &p->n_bad,
                    "skipped", &skipped, "returns", &returns, "has_best", &has_best, "best",
                    &p->best, "best_update", &best_update, "stale", &p->n_stale, "stale_plateau",
                    &p->n_stale_plateau, "validations", &validations, "closed", &is_closed,
                    "closed_best", &p->closed_best, "closed_best_update", &closed_best_update,
                    "looked", &looked, "kept", &scores, "power1", &l->power1, "power2", &l->power2,
                    "best_ce", &p->best_ce) != 0)
        return false;
    p->update = (long)update;
    p->n_tokens = (long)tokens;
    p->n_skipped = (long)skipped;
    p->n_returns = (long)returns;
    p->has_best = has_best;
    p->best_update = (long)best_update;
    p->n_validations = (long)validations;
    p->is_closed = is_closed;
    p->closed_best_update = (long)closed_best_update;
    p->looked_update = (long)looked;
    const size_t n = json_array_size(scores);
    if (p->place.epoch < 0 || p->place.pool < 0 || p->place.batch < 0 || n > HD_MOST_KEPT)
        return false;
    for (size_t i = 0; i < n; i++)
        p->kept_score[i] = json_number_value(json_array_get(scores, i));
    p->n_kept = (int)n;
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

bool hd_state_save(const char *path, const struct hd_learner *l, const struct hd_run_state *state,
                   const struct hd_identity *identity, bool is_good, heed_error *err)
{
    struct hd_safetensors *old = NULL;
    if (!is_good && access(path, F_OK) == 0 && !(old = hd_safetensors_open(path, err)))
        return false;
    struct hd_saver s = {0};
    add_block(&s, "params", hd_params_values(l->net->params), l->size);
    add_block(&s, "m", l->m, l->size);
    add_block(&s, "v", l->v, l->size);
    add_block(&s, "ema", l->ema, l->size);
    for (int i = 0; i < state->progress.n_kept; i++) {
        char name[32];
        snprintf(name, sizeof name, "kept.%d", i);
        add_block(&s, name, state->kept[i], l->size);
    }
    if (old)
        add_good(&s, old);
    if (state->before.data)
        hd_saver_add(&s, hd_tensor_of("before", HD_U8, state->before.data, &state->before.size, 1),
                     HD_U8);
    add_vocab(&s, "vocab.source", identity->source);
    if (identity->target != identity->source)
        add_vocab(&s, "vocab.target", identity->target);
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, identity->fingerprint);
    hd_saver_note(&s, "format", FORMAT);
    hd_saver_note(&s, "config", identity->config);
    hd_saver_note(&s, "recipe", identity->recipe);
    hd_saver_note(&s, "text", text);
    json_t *json = progress_to_json(l, &state->progress);
    char *progress = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    if (progress)
        hd_saver_note(&s, "progress", progress);
    const bool ok = progress ? hd_saver_write(&s, path, err)
                             : hd_fail(err, HEED_NO_MEMORY, "there is no memory to save the state");
    free(progress);
    hd_saver_release(&s);
    hd_safetensors_close(old);
    return ok;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool broken(const struct hd_safetensors *file, const char *what, heed_error *err)
{
    return hd_fail(
        err, HEED_BAD_MODEL,
        "%s: this state of a training run has no usable %s; remove it or start over with --fresh",
        file->path, what);
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

struct hd_saved_state *hd_state_open(const char *path, heed_error *err)
{
    if (access(path, F_OK) != 0)
        return NULL;
    struct hd_safetensors *file = hd_safetensors_open(path, err);
    struct hd_saved_state *s = file ? hd_new(struct hd_saved_state, err) : NULL;
    if (!s) {
        hd_safetensors_close(file);
        return NULL;
    }
    s->file = file;
    s->config = read_json(file, "config");
    s->recipe = read_json(file, "recipe");
    const char *format = hd_safetensors_metadata(file, "format");
    const char *text = hd_safetensors_metadata(file, "text");
    bool ok = format && strcmp(format, FORMAT) == 0 && text &&
              sscanf(text, "%" SCNx64, &s->fingerprint) == 1 && s->config && s->recipe;
    if (!ok)
        broken(file, "description", err);
    ok = ok && (s->source = read_vocab(file, "vocab.source", err)) != NULL;
    if (ok && hd_safetensors_find(file, "vocab.target"))
        ok = (s->target = read_vocab(file, "vocab.target", err)) != NULL;
    else
        s->target = s->source;
    if (ok)
        return s;
    hd_state_close(s);
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
    json_t *json = read_json(file, is_apart ? "good.progress" : "progress");
    bool ok = progress_from_json(json, l, &state->progress) || broken(file, "progress", err);
    json_decref(json);
    ok = ok && read_block(file, prefix, "params", hd_params_values(l->net->params), l->size, err) &&
         read_block(file, prefix, "m", l->m, l->size, err) &&
         read_block(file, prefix, "v", l->v, l->size, err) &&
         read_block(file, prefix, "ema", l->ema, l->size, err);
    for (int i = 0; ok && i < state->progress.n_kept; i++) {
        char name[32];
        snprintf(name, sizeof name, "kept.%d", i);
        if (!state->kept[i])
            state->kept[i] = hd_alloc(l->size, sizeof(float), err);
        ok = state->kept[i] && read_block(file, prefix, name, state->kept[i], l->size, err);
    }
    if (ok)
        hd_learner_repack(l);
    return ok;
}
